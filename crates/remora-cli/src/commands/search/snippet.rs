//! The part of a row's text around the words that were searched for.

use std::collections::HashSet;
use std::ops::Range;

use remora_memory::words::{self, Group, Query};
use remora_protocol::record::Item;

use crate::commands::show::lines::flat;

/// Characters of a snippet for programs.
pub(crate) const LONGEST: usize = 240;
/// Characters before the first word.
const BEFORE: usize = 40;
/// No more of a text is looked at, in bytes.
const LOOKED_AT: usize = 64 * 1024;
const MORE: &str = "…";

/// A part of a text, with the words in it that were searched for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    /// Where they are, in bytes, in order.
    pub(crate) words: Vec<Range<usize>>,
}

impl Snippet {
    /// The text with every word put through `mark`.
    pub(crate) fn marked(&self, mark: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        let mut from = 0;
        for word in &self.words {
            out.push_str(&self.text[from..word.start]);
            out.push_str(&mark(&self.text[word.clone()]));
            from = word.end;
        }
        out.push_str(&self.text[from..]);
        out
    }
}

/// The terms of a query, for looking them up.
#[derive(Debug)]
pub(crate) struct Wanted {
    terms: HashSet<String>,
    beginnings: Vec<String>,
}

impl Wanted {
    pub(crate) fn new(query: &Query) -> Self {
        let groups = query.groups();
        let ways = groups.iter().flat_map(Group::ways);
        Self {
            terms: ways.flatten().cloned().collect(),
            beginnings: groups
                .iter()
                .filter_map(|group| group.prefix().map(str::to_owned))
                .collect(),
        }
    }

    /// The term that this stretch of text holds.
    fn term(&self, text: &str) -> Option<String> {
        let mut found = None;
        words::each(text, |term, _| {
            let begins = |start: &String| term.starts_with(start.as_str());
            if found.is_none() && (self.terms.contains(term) || self.beginnings.iter().any(begins))
            {
                found = Some(term.to_owned());
            }
        });
        found
    }
}

/// The part that holds most of the words: of the text, else of the facts; the
/// beginning when no word is in either.
pub(crate) fn snippet(item: &Item, wanted: &Wanted, longest: usize) -> Snippet {
    let text = flat(&item.text[..item.text.floor_char_boundary(LOOKED_AT)]);
    let facts = flat(&item.facts.join(" · "));
    let facts = &facts[..facts.floor_char_boundary(LOOKED_AT)];
    let in_text = part(&text, wanted, longest);
    let in_facts = part(facts, wanted, longest);
    match (in_text, in_facts) {
        (Some((many, text)), Some((more, facts))) => {
            if more > many {
                facts
            } else {
                text
            }
        }
        (Some((_, found)), None) | (None, Some((_, found))) => found,
        (None, None) => {
            let source = if text.is_empty() { facts } else { &text };
            cut(source, 0..0, &[], longest)
        }
    }
}

/// The best part of a text, and how many different words it holds.
fn part(text: &str, wanted: &Wanted, longest: usize) -> Option<(usize, Snippet)> {
    let hits = hits(text, wanted);
    let mut best: Option<(usize, usize)> = None;
    for (at, (first, _)) in hits.iter().enumerate() {
        // At most a window's worth of words is looked at from each.
        let near: HashSet<&str> = hits[at..]
            .iter()
            .take(longest / 2)
            .take_while(|(word, _)| word.end - first.start <= longest.saturating_sub(BEFORE + 2))
            .map(|(_, term)| term.as_str())
            .collect();
        if best.is_none_or(|(many, _)| near.len() > many) {
            best = Some((near.len(), at));
        }
    }
    let (many, at) = best?;
    let marks: Vec<Range<usize>> = hits[at..].iter().map(|(word, _)| word.clone()).collect();
    Some((many, cut(text, hits[at].0.clone(), &marks, longest)))
}

/// Where the words stand, and which each is.
fn hits(text: &str, wanted: &Wanted) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    for word in stretches(text) {
        let word = unquoted(text, word);
        if let Some(term) = wanted.term(&text[word.clone()]) {
            // Overlapping pairs of a script without blanks become one mark.
            match found.last_mut() {
                Some((last, _)) if word.start < last.end => last.end = word.end,
                _ => found.push((word, term)),
            }
        }
    }
    found
}

/// The word without apostrophes around it.
fn unquoted(text: &str, word: Range<usize>) -> Range<usize> {
    let inner = text[word.clone()].trim_start_matches('\'');
    let start = word.end - inner.len();
    start..start + inner.trim_end_matches('\'').len()
}

/// Words, and overlapping pairs of characters where words have no blanks
/// between them.
fn stretches(text: &str) -> Vec<Range<usize>> {
    let dense =
        |c: char| matches!(u32::from(c), 0x2e80..=0xd7a3 | 0xf900..=0xfaff | 0x20000..=0x3fffd);
    let mut out = Vec::new();
    let mut word: Option<usize> = None;
    let mut before: Option<usize> = None;
    for (at, c) in text.char_indices() {
        if dense(c) {
            let end = at + c.len_utf8();
            out.extend(word.take().map(|from| from..at));
            out.push(before.unwrap_or(at)..end);
            before = Some(at);
            continue;
        }
        before = None;
        if c.is_alphanumeric() || c == '_' || c == '\'' {
            word.get_or_insert(at);
        } else {
            out.extend(word.take().map(|from| from..at));
        }
    }
    out.extend(word.map(|from| from..text.len()));
    out
}

/// At most `longest` characters from a little before the focus on.
fn cut(text: &str, focus: Range<usize>, marks: &[Range<usize>], longest: usize) -> Snippet {
    let back = text[..focus.start].char_indices().rev().take(BEFORE);
    let mut from = back.map(|(at, _)| at).last().unwrap_or(focus.start);
    // Short of the beginning, a part begins with a whole word.
    if from > 0 {
        let blank = text[from..focus.start].find(' ');
        from = blank.map_or(from, |blank| from + blank + 1);
    }
    let head = if from > 0 { MORE } else { "" };
    let room = longest - head.chars().count();
    let rest = &text[from..];
    let (body, tail) = if rest.chars().count() <= room {
        (rest, "")
    } else {
        let end = rest
            .char_indices()
            .nth(room - 1)
            .map_or(rest.len(), |(at, _)| at);
        let whole = rest[..end].rfind(' ').filter(|blank| *blank > end / 2);
        (&rest[..whole.unwrap_or(end)], MORE)
    };
    let inside = |mark: &Range<usize>| {
        let moved = |at: usize| (at - from) + head.len();
        (mark.start >= from && mark.end <= from + body.len())
            .then(|| moved(mark.start)..moved(mark.end))
    };
    Snippet {
        text: format!("{head}{body}{tail}"),
        words: marks.iter().filter_map(inside).collect(),
    }
}

#[cfg(test)]
mod tests;
