//! What a user types into the one search box: words and "phrases" as
//! everywhere, `-word` for what must not be there, and filters such as
//! `file:src/cart.rs`, `kind:fix` or `since:7d`. Nothing that is typed is an
//! error: what cannot be read is searched as words, and a note says so.
//!
//! Only for texts that were meant as a search. Prompts go to `Query::parse`.

mod command;
mod error;
mod kinds;
mod scan;

use std::ops::Range;

use remora_core::record::Kind;
use remora_core::text::cut_chars;

use crate::fingerprint::ErrorFingerprint;
use crate::words::{ExcludedText, MAX_QUERY_BYTES, Query, TermGroup};
use scan::{FilterKey, Operator, Token, TokenScan};

/// How many notes there are at most.
const MAX_NOTES: usize = 8;
/// How much of a term a note repeats, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// What was asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchInput {
    /// The words, and what must not be there.
    pub query: Query,
    /// Which rows are meant.
    pub filter: SearchFilter,
    /// What was read otherwise than it may have been meant, for the user.
    pub notes: Vec<String>,
}

/// The filters as typed: names and paths still have to be looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFilter {
    /// `file:`, a path or the end of one, or a folder.
    pub file: Option<String>,
    /// `kind:`, any of these; empty means all.
    pub kinds: Vec<Kind>,
    /// `project:`.
    pub project: Option<ProjectSelection>,
    /// `since:` and `after:`, not before this, in milliseconds since 1970.
    pub since: Option<i64>,
    /// `until:` and `before:`, before this.
    pub until: Option<i64>,
    /// `session:`, an id or the beginning of one.
    pub session: Option<String>,
    /// `agent:`.
    pub agent: Option<String>,
    /// `error:`. Narrows nothing: its words are part of the query, which favours
    /// fixes and failures.
    pub error: Option<SearchInputError>,
}

/// Which projects `project:` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectSelection {
    /// `project:*`
    All,
    /// A key, a name or a path.
    Named(String),
}

/// An error as it was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchInputError {
    /// All of it.
    pub text: String,
    /// The names under which a failure with this output of a tool that nobody
    /// can read, or a fix of it, is stored; the likeliest first.
    pub fingerprints: Vec<ErrorFingerprint>,
}

impl SearchInput {
    /// Reads the box. `time` gives the stretch of time that a text names, its
    /// first moment and the first one after it (a moment is both), in
    /// milliseconds since 1970.
    pub fn parse(text: &str, time: impl Fn(&str) -> Option<(i64, i64)>) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let scan = scan::scan_tokens(text);
        let mut reader = SearchInputParser {
            text,
            time: &time,
            filter: SearchFilter::default(),
            other_kinds: Vec::new(),
            cuts: Vec::new(),
            notes: Vec::new(),
        };
        for found in &scan.found {
            if let Operator::Filter { key, value, .. } = &found.sign {
                reader.filter(found, *key, value);
            }
        }
        reader.leave_out_kinds();
        let without = reader.parse_exclusions(&scan);
        reader.into_search_input(without)
    }
}

struct SearchInputParser<'t> {
    text: &'t str,
    time: &'t dyn Fn(&str) -> Option<(i64, i64)>,
    filter: SearchFilter,
    other_kinds: Vec<Kind>,
    /// What is not words, with the words that take its place.
    cuts: Vec<(Range<usize>, String)>,
    notes: Vec<String>,
}

impl<'t> SearchInputParser<'t> {
    fn filter(&mut self, found: &Token<'t>, key: FilterKey, value: &'t str) {
        let typed = shorten_typed(&self.text[found.span.clone()]);
        if value.trim().is_empty() {
            return self.add_note(format!(
                "`{typed}` has nothing right behind it, so it is searched as a word"
            ));
        }
        if found.negated && key != FilterKey::Kind {
            return self.add_note(format!(
                "`{typed}` cannot be turned round, so it is searched as words"
            ));
        }
        let before = match key {
            FilterKey::Kind => return self.parse_kinds(found, value),
            FilterKey::Since | FilterKey::After | FilterKey::Until | FilterKey::Before => {
                return self.parse_time(found, key);
            }
            FilterKey::Error => {
                self.filter.error = Some(error::parse_error(value));
                self.add_cut(found.span.clone(), String::new());
                return;
            }
            FilterKey::File => match parse_path(value) {
                Some(path) => self.filter.file.replace(path),
                None => {
                    return self.add_note(format!(
                        "`{typed}` is a pattern, not a path, so it is searched as words"
                    ));
                }
            },
            FilterKey::Project => {
                let project = if value == "*" {
                    ProjectSelection::All
                } else {
                    ProjectSelection::Named(value.to_owned())
                };
                self.filter.project.replace(project).map(|old| match old {
                    ProjectSelection::All => "*".to_owned(),
                    ProjectSelection::Named(name) => name,
                })
            }
            FilterKey::Session => self.filter.session.replace(value.to_owned()),
            FilterKey::Agent => self.filter.agent.replace(value.to_owned()),
        };
        self.add_cut(found.span.clone(), String::new());
        if let Some(before) = before.filter(|before| before != value) {
            let name = key.name();
            self.add_note(format!(
                "only one `{name}:` counts, the last; `{name}:{}` does not",
                shorten_typed(&before)
            ));
        }
    }

    fn parse_kinds(&mut self, found: &Token<'t>, value: &str) {
        let names = value.split(',').map(str::trim).filter(|n| !n.is_empty());
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for name in names {
            match kinds::parse_kind(name) {
                Some(kind) => known.push(kind),
                None => unknown.push(name),
            }
        }
        if let Some(first) = unknown.first() {
            let all: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            self.add_note(format!(
                "`{}` is not a kind, so it is searched as a word; kinds are {}",
                shorten_typed(first),
                all.join(", ")
            ));
        }
        if known.is_empty() {
            return;
        }
        self.add_cut(found.span.clone(), unknown.join(" "));
        let list = if found.negated {
            &mut self.other_kinds
        } else {
            &mut self.filter.kinds
        };
        for kind in known {
            if !list.contains(&kind) {
                list.push(kind);
            }
        }
    }

    /// `-kind:prompt` means every other kind.
    fn leave_out_kinds(&mut self) {
        if self.other_kinds.is_empty() {
            return;
        }
        let asked = std::mem::take(&mut self.filter.kinds);
        let from = if asked.is_empty() { Kind::ALL } else { &asked };
        let others = &self.other_kinds;
        let left = from.iter().copied().filter(|kind| !others.contains(kind));
        self.filter.kinds = left.collect();
        if self.filter.kinds.is_empty() {
            self.filter.kinds = asked;
            self.add_note("every kind is left out, so none is".to_owned());
        }
    }

    /// A time may have blanks: `since:last week`, `since:2026-11-15 14:30`.
    fn parse_time(&mut self, found: &Token<'t>, key: FilterKey) {
        let Operator::Filter { value, longer, .. } = &found.sign else {
            return;
        };
        let spans = longer.iter().rev().copied().chain([*value]);
        for text in spans {
            let Some((first, after)) = (self.time)(text) else {
                continue;
            };
            let end = found.span.end + (text.len() - value.len().min(text.len()));
            self.add_cut(found.span.start..end, String::new());
            let (place, moment) = match key {
                FilterKey::Since => (&mut self.filter.since, first),
                FilterKey::After => (&mut self.filter.since, after),
                FilterKey::Until => (&mut self.filter.until, after),
                _ => (&mut self.filter.until, first),
            };
            if place.replace(moment).is_some_and(|old| old != moment) {
                let which = match key {
                    FilterKey::Since | FilterKey::After => "`since:` or `after:`",
                    _ => "`until:` or `before:`",
                };
                self.add_note(format!("only one {which} counts, the last"));
            }
            return;
        }
        let name = key.name();
        self.add_note(format!(
            "`{name}:{}` is not a time, so it is searched as words; \
             try {name}:2026-11-15, {name}:yesterday or {name}:7d",
            shorten_typed(value)
        ));
    }

    /// What must not be there, or words after all.
    fn parse_exclusions(&mut self, scan: &TokenScan<'t>) -> Vec<TermGroup> {
        let signs = scan.found.iter().filter_map(|found| match found.sign {
            Operator::Without { text, quoted } => Some((found, text, quoted)),
            _ => None,
        });
        let signs: Vec<(&Token<'t>, &str, bool)> = signs.collect();
        if signs.is_empty() {
            return Vec::new();
        }
        let listed = |quoted: bool| {
            let some = signs.iter().filter(|sign| quoted || !sign.2);
            let typed = some.map(|(found, ..)| shorten_typed(&self.text[found.span.clone()]));
            let typed: Vec<String> = typed.take(3).map(|typed| format!("`{typed}`")).collect();
            typed.join(", ")
        };
        if scan.lines > 1 {
            self.add_note(format!(
                "a text of several lines leaves nothing out, so these are words: {}",
                listed(true)
            ));
            return Vec::new();
        }
        let command = command::looks_so(self.text, scan);
        if command && signs.iter().any(|sign| !sign.2) {
            let first = signs.iter().find(|sign| !sign.2);
            let example = first.map_or("word", |(_, text, _)| text);
            self.add_note(format!(
                "the text looks like a command, so these are words: {}; \
                 write -\"{}\" to leave it out",
                listed(false),
                shorten_typed(example)
            ));
        }
        let mut groups = Vec::new();
        let mut cuts = Vec::new();
        let mut too_common = Vec::new();
        for (found, text, quoted) in &signs {
            if command && !quoted {
                continue;
            }
            match ExcludedText::from_text(text) {
                ExcludedText::Group(group) => {
                    groups.push(group);
                    cuts.push((found.span.clone(), String::new()));
                }
                ExcludedText::Stop => too_common.push(*text),
                ExcludedText::Nothing => {}
            }
        }
        for text in too_common {
            self.add_note(format!(
                "`{}` is too common to be left out",
                shorten_typed(text)
            ));
        }
        let spans = self.cuts.iter().chain(&cuts).map(|cut| cut.0.clone());
        let words = remove_spans(self.text, spans.collect());
        let something = !self.cuts.is_empty() || words.chars().any(char::is_alphanumeric);
        if !groups.is_empty() && !something {
            self.add_note(format!(
                "nothing else is asked for, so these are words: {}",
                listed(true)
            ));
            return Vec::new();
        }
        self.cuts.append(&mut cuts);
        groups
    }

    fn into_search_input(mut self, without: Vec<TermGroup>) -> SearchInput {
        let literal = self.filter.error.as_ref().map(error::extract_search_words);
        let favours = match literal {
            Some(_) => vec![Kind::Fix, Kind::Failure],
            None => Vec::new(),
        };
        self.cuts.sort_by_key(|cut| cut.0.start);
        let mut words = remove_spans(self.text, self.cuts.iter().map(|c| c.0.clone()).collect());
        for (_, instead) in self.cuts.iter().filter(|cut| !cut.1.is_empty()) {
            words.push(' ');
            words.push_str(instead);
        }
        let query = Query::parse_with_literal(&words, &literal.unwrap_or_default());
        SearchInput {
            query: query.leaving_out(without).with_favoured_kinds(favours),
            filter: self.filter,
            notes: self.notes,
        }
    }

    fn add_cut(&mut self, span: Range<usize>, instead: String) {
        self.cuts.push((span, instead));
    }

    fn add_note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The text without these stretches. Untouched when there are none.
fn remove_spans(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let mut parts = Vec::new();
    let mut from = 0;
    for cut in cuts {
        parts.push(text.get(from..cut.start).unwrap_or_default().trim());
        from = cut.end.max(from);
    }
    parts.push(text.get(from..).unwrap_or_default().trim());
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// The path without the line that tools put behind it. Patterns are not paths,
/// except that everything in a folder is the folder.
fn parse_path(value: &str) -> Option<String> {
    let mut path = value;
    for _ in 0..2 {
        if let Some((head, line)) = path.rsplit_once(':')
            && !head.is_empty()
            && line.bytes().all(|b| b.is_ascii_digit())
        {
            path = head;
        }
    }
    while let Some(folder) = path.strip_suffix("/*").or(path.strip_suffix("/**")) {
        path = folder;
    }
    let plain = !path.is_empty() && !path.contains(['*', '?']);
    plain.then(|| path.to_owned())
}

/// What was typed, short and on one line.
fn shorten_typed(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words.take(MAX_SHOWN_CHARS) {
        out.push(' ');
        out.push_str(word);
    }
    if let Some(start) = cut_chars(&out, MAX_SHOWN_CHARS) {
        out.truncate(start.len());
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
