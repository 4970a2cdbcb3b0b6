//! The part of an item's text around the words that were searched for.

use std::collections::HashSet;
use std::ops::Range;

use remora_core::record::Item;
use remora_memory::words::{self, Query, TermGroup};

use crate::text::flatten_text;

/// Characters of a snippet for programs.
pub(super) const MAX_SNIPPET_CHARS: usize = 240;
/// Characters before the first word.
const MAX_LEAD_CHARS: usize = 40;
/// No more of a text is read, in bytes.
const MAX_SCANNED_BYTES: usize = 64 * 1024;
const ELLIPSIS: &str = "…";

/// A part of a text, with the words in it that were searched for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The part.
    pub text: String,
    /// Where they are, in bytes, in order.
    pub words: Vec<Range<usize>>,
}

impl Snippet {
    /// The text with every word put through `mark`.
    pub fn highlight_words(&self, mark: impl Fn(&str) -> String) -> String {
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
pub struct SearchTerms {
    terms: HashSet<String>,
    beginnings: Vec<String>,
}

impl SearchTerms {
    /// The terms of this query.
    pub fn new(query: &Query) -> Self {
        let groups = query.groups();
        let ways = groups.iter().flat_map(TermGroup::ways);
        Self {
            terms: ways.flatten().cloned().collect(),
            beginnings: groups
                .iter()
                .filter_map(|group| group.prefix().map(str::to_owned))
                .collect(),
        }
    }

    /// The term that this stretch of text holds.
    fn find_term(&self, text: &str) -> Option<String> {
        let mut found = None;
        words::for_each_term(text, |term, _| {
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
pub fn build_snippet(item: &Item, wanted: &SearchTerms, longest: usize) -> Snippet {
    let text = flatten_text(&item.text[..item.text.floor_char_boundary(MAX_SCANNED_BYTES)]);
    let facts = flatten_text(&item.facts.join(" · "));
    let facts = &facts[..facts.floor_char_boundary(MAX_SCANNED_BYTES)];
    let in_text = find_best_part(&text, wanted, longest);
    let in_facts = find_best_part(facts, wanted, longest);
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
            truncate_around(source, 0..0, &[], longest)
        }
    }
}

/// The best part of a text, and how many different words it holds.
fn find_best_part(text: &str, wanted: &SearchTerms, longest: usize) -> Option<(usize, Snippet)> {
    let hits = find_matches(text, wanted);
    let mut best: Option<(usize, usize)> = None;
    for (at, (first, _)) in hits.iter().enumerate() {
        // At most a window's worth of words is read from each.
        let near: HashSet<&str> = hits[at..]
            .iter()
            .take(longest / 2)
            .take_while(|(word, _)| {
                word.end - first.start <= longest.saturating_sub(MAX_LEAD_CHARS + 2)
            })
            .map(|(_, term)| term.as_str())
            .collect();
        // Different words count, not occurrences; of equals the first.
        if best.is_none_or(|(many, _)| near.len() > many) {
            best = Some((near.len(), at));
        }
    }
    let (many, at) = best?;
    let marks: Vec<Range<usize>> = hits[at..].iter().map(|(word, _)| word.clone()).collect();
    Some((
        many,
        truncate_around(text, hits[at].0.clone(), &marks, longest),
    ))
}

/// Where the words are, and which each is.
fn find_matches(text: &str, wanted: &SearchTerms) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    for word in split_words(text) {
        let word = trim_apostrophes(text, word);
        if let Some(term) = wanted.find_term(&text[word.clone()]) {
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
fn trim_apostrophes(text: &str, word: Range<usize>) -> Range<usize> {
    let inner = text[word.clone()].trim_start_matches('\'');
    let start = word.end - inner.len();
    start..start + inner.trim_end_matches('\'').len()
}

/// Words, and overlapping pairs of characters where words have no blanks
/// between them.
fn split_words(text: &str) -> Vec<Range<usize>> {
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
fn truncate_around(
    text: &str,
    focus: Range<usize>,
    marks: &[Range<usize>],
    longest: usize,
) -> Snippet {
    let back = text[..focus.start]
        .char_indices()
        .rev()
        .take(MAX_LEAD_CHARS);
    let mut from = back.map(|(at, _)| at).last().unwrap_or(focus.start);
    // Short of the beginning, a part begins with a whole word.
    if from > 0 {
        let blank = text[from..focus.start].find(' ');
        from = blank.map_or(from, |blank| from + blank + 1);
    }
    let head = if from > 0 { ELLIPSIS } else { "" };
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
        (&rest[..whole.unwrap_or(end)], ELLIPSIS)
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
