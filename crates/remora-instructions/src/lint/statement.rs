//! The sentences of an instruction text, with their line and what the
//! headings above them say they are about. Code, tables and questions are not
//! statements. English only.

use std::collections::BTreeSet;

use super::words::{self, AREAS, PLAIN_HEADINGS};

/// A sentence longer than this is an essay, not a rule.
const LONGEST: usize = 300;
/// Sentences of one text that are looked at.
const MOST: usize = 5_000;

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// Of the body, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) scope: Scope,
}

/// What a sentence is about, by its headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// Languages and parts of a project.
    pub(super) areas: BTreeSet<String>,
    /// Other words of the headings, below the title.
    pub(super) topics: BTreeSet<String>,
    /// The headings themselves.
    headings: Vec<String>,
}

impl Scope {
    /// Whether two sentences speak of the same thing, as far as headings tell.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let topics = |scope: &Self| scope.topics.is_empty();
        self.areas == other.areas
            && (topics(self) || topics(other) || !self.topics.is_disjoint(&other.topics))
    }

    /// Whether they stand under the same headings.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.headings == other.headings
    }
}

/// Reads a text. `name` is the file's, which may name a language too.
pub(super) fn read(body: &str, name: &str) -> Vec<Statement> {
    let mut reader = Reader {
        base: words::stems(name)
            .into_iter()
            .filter(|w| is_area(w))
            .collect(),
        ..Reader::default()
    };
    for (at, line) in body.lines().enumerate() {
        reader.line(at + 1, line);
        if reader.found.len() >= MOST {
            break;
        }
    }
    reader.flush();
    reader.found
}

fn is_area(word: &str) -> bool {
    AREAS.has(word)
}

#[derive(Default)]
struct Reader {
    base: BTreeSet<String>,
    headings: Vec<(usize, String)>,
    fence: Option<(char, usize)>,
    /// The lines of the block that is open, with their numbers.
    block: Vec<(usize, String)>,
    found: Vec<Statement>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if let Some((mark, count)) = self.fence {
            if text.chars().all(|c| c == mark) && text.len() >= count {
                self.fence = None;
            }
            return;
        }
        let mark = text.chars().next().unwrap_or(' ');
        let run = text.chars().take_while(|c| *c == mark).count();
        if matches!(mark, '`' | '~') && run >= 3 {
            self.flush();
            self.fence = Some((mark, run));
            return;
        }
        if text.is_empty() || mark == '|' || mark == '<' {
            self.flush();
            return;
        }
        if mark == '#' && run <= 6 && text[run..].starts_with(' ') {
            self.flush();
            self.headings.retain(|(level, _)| *level < run);
            self.headings.push((run, text[run..].trim().to_owned()));
            return;
        }
        if !self.block.is_empty() && matches!(mark, '=' | '-') && run == text.len() {
            // A line of these under a text makes it a heading.
            self.block.clear();
            return;
        }
        // Badges and pictures say nothing.
        if text.starts_with("[![") || text.starts_with("![") {
            self.flush();
            return;
        }
        let text = text.trim_start_matches(['>', ' ']);
        let item = item(text);
        if item.is_some() || (self.block.is_empty() && indent >= 4) {
            self.flush();
        }
        // An indented block that belongs to no paragraph or item is code.
        if item.is_none() && self.block.is_empty() && indent >= 4 {
            return;
        }
        self.block.push((number, item.unwrap_or(text).to_owned()));
    }

    fn flush(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.is_empty() {
            return;
        }
        let mut text = String::new();
        let mut starts = Vec::new();
        for (number, line) in block {
            starts.push((text.len(), number));
            text.push_str(&line);
            text.push(' ');
        }
        let scope = self.scope();
        for (at, sentence) in sentences(&text) {
            let line = starts.iter().rev().find(|(start, _)| *start <= at);
            if sentence.len() <= LONGEST
                && !sentence.ends_with('?')
                && sentence.contains(char::is_alphabetic)
            {
                self.found.push(Statement {
                    line: line.map_or(1, |(_, line)| *line),
                    text: sentence.to_owned(),
                    scope: scope.clone(),
                });
            }
        }
    }

    fn scope(&self) -> Scope {
        let mut scope = Scope {
            areas: self.base.clone(),
            ..Scope::default()
        };
        for (level, heading) in &self.headings {
            for word in words::stems(heading) {
                if is_area(&word) {
                    scope.areas.insert(word);
                } else if *level > 1 && !PLAIN_HEADINGS.has(&word) {
                    scope.topics.insert(word);
                }
            }
            scope.headings.push(heading.clone());
        }
        scope
    }
}

/// What stands behind the mark of a list item.
fn item(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(['-', '*', '+']) {
        let rest = rest.strip_prefix(' ')?.trim_start();
        let task = ["[ ] ", "[x] ", "[X] "]
            .iter()
            .find_map(|mark| rest.strip_prefix(mark));
        return Some(task.unwrap_or(rest));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..]
        .strip_prefix(['.', ')'])
        .filter(|_| (1..4).contains(&digits))?;
    rest.strip_prefix(' ').map(str::trim_start)
}

/// The sentences of a block, with the place each begins at.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut code = false;
    let mut push = |from: usize, to: usize| {
        let part = &text[from..to];
        let skipped = part.len() - part.trim_start().len();
        if !part.trim().is_empty() {
            out.push((from + skipped, part.trim()));
        }
    };
    for (at, c) in text.char_indices() {
        match c {
            '`' => code = !code,
            '.' | '!' | '?' | ';' if !code && text[at + 1..].starts_with([' ', '*', '_']) => {
                let before = text[start..at].rsplit(' ').next().unwrap_or_default();
                if !matches!(
                    before.to_ascii_lowercase().as_str(),
                    "e.g" | "i.e" | "etc" | "vs" | "(e.g" | "(i.e"
                ) {
                    push(start, at + usize::from(c == '?'));
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    push(start, text.len());
    out
}
