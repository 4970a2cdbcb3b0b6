//! Brings any form of edit to one: changed lines, each with what it declares,
//! what holds it and what it is. Linear in the patch, not in the file.

use std::borrow::Cow;

use super::{EditInput, Hunk, Origin, diff};
use crate::symbols::{Language, Scope, Symbol, SymbolKind, start_of};

/// Lines of one side that are looked at.
const LINE_CAP: usize = 1_000;
/// Lines of a new file that are looked at; its outline tells the rest.
const NEW_CAP: usize = 200;
/// Bytes of one line that are looked at.
const WIDTH_CAP: usize = 2_000;
/// A gap between two hunks that is read through rather than walked anew.
const GAP_CAP: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Gone,
    Come,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Code,
    Comment,
    /// A comment that tells about what is declared next, or a doc string.
    Doc,
    Import,
    /// An attribute or decorator.
    Mark,
}

#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) side: Side,
    pub(super) text: &'a str,
    pub(super) role: Role,
    pub(super) declares: Option<Symbol>,
    pub(super) holder: Option<Symbol>,
    /// Lines changed without an unchanged one between share a number.
    pub(super) run: usize,
}

pub(super) struct Patch<'a> {
    pub(super) language: Language,
    pub(super) lines: Vec<Line<'a>>,
    gone: usize,
    come: usize,
}

/// The hunks of an edit, made from its texts when the client gave none.
pub(super) fn hunks<'a>(input: &EditInput<'a>) -> Cow<'a, [Hunk]> {
    if !input.hunks.is_empty() {
        return Cow::Borrowed(input.hunks);
    }
    if input.origin == Origin::Created {
        let new = input.new.unwrap_or("");
        let head = start_of(new, NEW_CAP + 1).map_or(new, |end| &new[..end]);
        return Cow::Owned(diff::hunks("", head, 1));
    }
    let (old, new) = (input.old.unwrap_or(""), input.new.unwrap_or(""));
    Cow::Owned(replacement(input.original, old, new))
}

/// The patch of one text put in place of another. Where the whole file is
/// known the pieces are brought to whole lines first.
pub(super) fn replacement(original: Option<&str>, old: &str, new: &str) -> Vec<Hunk> {
    let found = original
        .filter(|_| !old.is_empty())
        .and_then(|text| text.find(old).map(|at| (text, at)));
    let Some((text, at)) = found else {
        return diff::hunks(old, new, 1);
    };
    let end = at + old.len();
    let from = text[..at].rfind('\n').map_or(0, |b| b + 1);
    let to = text[end..].find('\n').map_or(text.len(), |b| end + b);
    let first = text[..from].bytes().filter(|b| *b == b'\n').count() + 1;
    if from == at && (to == end || old.ends_with('\n')) {
        return diff::hunks(old, new, first);
    }
    let (head, tail) = (&text[from..at], &text[end..to]);
    diff::hunks(
        &format!("{head}{old}{tail}"),
        &format!("{head}{new}{tail}"),
        first,
    )
}

impl<'a> Patch<'a> {
    pub(super) fn of(input: &EditInput<'_>, hunks: &'a [Hunk]) -> Self {
        let language = Language::of(input.path);
        let mut patch = Self {
            language,
            lines: Vec::new(),
            gone: 0,
            come: 0,
        };
        let mut places = Places {
            language,
            text: input.original,
            last: None,
        };
        let mut run = 0;
        for hunk in hunks {
            let start = places.find(hunk);
            run += 1;
            let seed = start
                .as_ref()
                .map_or_else(|| Scope::new(language), |p| p.scope.clone());
            let end = patch.take(hunk, seed, &mut run);
            places.leave(start, end);
            if patch.gone + patch.come >= 2 * LINE_CAP {
                break;
            }
        }
        patch
    }

    /// Reads a hunk; gives what is open after it on the old side.
    fn take(&mut self, hunk: &'a Hunk, seed: Scope, run: &mut usize) -> (Scope, usize) {
        let mut old = Reader::new(seed.clone());
        let mut new = Reader::new(seed);
        let mut passed = 0;
        for line in &hunk.lines {
            let Some(sign) = line.chars().next() else {
                // A context line whose blank was cut off.
                old.pass("", &mut self.lines);
                new.pass("", &mut self.lines);
                passed += 1;
                continue;
            };
            let text = narrow(&line[sign.len_utf8()..]).trim_end();
            match sign {
                '-' => {
                    passed += 1;
                    self.gone += 1;
                    if self.gone <= LINE_CAP {
                        old.read(text, Side::Gone, *run, self.language, &mut self.lines);
                    }
                }
                '+' => {
                    self.come += 1;
                    if self.come <= LINE_CAP {
                        new.read(text, Side::Come, *run, self.language, &mut self.lines);
                    }
                }
                '\\' => {}
                _ => {
                    passed += 1;
                    old.pass(text, &mut self.lines);
                    new.pass(text, &mut self.lines);
                    *run += 1;
                }
            }
        }
        (old.scope, passed)
    }
}

fn narrow(text: &str) -> &str {
    if text.len() <= WIDTH_CAP {
        return text;
    }
    let end = (0..=WIDTH_CAP).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// One side of a hunk.
struct Reader {
    scope: Scope,
    /// Comments that may belong to what is declared next.
    waiting: Vec<usize>,
    imports: bool,
}

impl Reader {
    fn new(scope: Scope) -> Self {
        Self {
            scope,
            waiting: Vec::new(),
            imports: false,
        }
    }

    fn pass(&mut self, text: &str, lines: &mut [Line<'_>]) {
        let declares = self.scope.feed(text);
        self.settle(text, declares, lines);
    }

    /// Gives the comments above a declaration to it.
    fn settle(&mut self, text: &str, declares: bool, lines: &mut [Line<'_>]) {
        let trimmed = text.trim();
        if declares {
            let symbol = self.scope.innermost();
            for at in self.waiting.drain(..) {
                if let (Some(line), Some(symbol)) = (lines.get_mut(at), &symbol) {
                    line.holder = Some(symbol.clone());
                    if line.role == Role::Comment {
                        line.role = Role::Doc;
                    }
                }
            }
        } else if trimmed.is_empty() || !self.scope.was_aside(trimmed) {
            self.waiting.clear();
        }
    }

    fn read<'a>(
        &mut self,
        text: &'a str,
        side: Side,
        run: usize,
        language: Language,
        lines: &mut Vec<Line<'a>>,
    ) {
        let unplaced = self.scope.is_empty();
        let declares = self.scope.feed(text);
        self.settle(text, declares, lines);
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        let mut symbol = if declares {
            self.scope.innermost()
        } else {
            None
        };
        // Cut out of its surroundings, an indented constant may be local.
        let indented = text.starts_with([' ', '\t']);
        if unplaced
            && indented
            && language.nature() == crate::symbols::Nature::Code
            && symbol
                .as_ref()
                .is_some_and(|s| s.kind == SymbolKind::Constant)
        {
            symbol = None;
        }
        let role = self.role(trimmed, language);
        let holder = self.scope.holder();
        lines.push(Line {
            side,
            text,
            role,
            declares: symbol,
            holder,
            run,
        });
        if role == Role::Comment || role == Role::Mark {
            self.waiting.push(lines.len() - 1);
        }
    }

    fn role(&mut self, trimmed: &str, language: Language) -> Role {
        if language != Language::Markdown && self.scope.was_prose() {
            return if language == Language::Python {
                Role::Doc
            } else {
                Role::Comment
            };
        }
        if language != Language::Markdown && language.is_comment(trimmed) {
            let doc = trimmed.starts_with("//!");
            return if doc { Role::Doc } else { Role::Comment };
        }
        if language == Language::Go {
            if trimmed.starts_with("import (") {
                self.imports = true;
            } else if trimmed == ")" {
                self.imports = false;
            }
        }
        if self.imports || super::imports::is_import(language, trimmed) {
            return Role::Import;
        }
        if self.scope.is_mark(trimmed) {
            return Role::Mark;
        }
        Role::Code
    }
}

/// A line of the file before the edit, and what is open there.
struct Place {
    line: usize,
    byte: usize,
    scope: Scope,
}

/// Finds hunks in the file before the edit.
struct Places<'t> {
    language: Language,
    text: Option<&'t str>,
    /// Just below the hunk before.
    last: Option<Place>,
}

impl Places<'_> {
    /// What is open just above a hunk, when the hunk is found in the text.
    fn find(&mut self, hunk: &Hunk) -> Option<Place> {
        let text = self.text?;
        let line = hunk.old_start.max(1);
        let (known_line, known_byte) = match &self.last {
            Some(last) if last.line <= line => (last.line, last.byte),
            _ => (1, 0),
        };
        let start = start_of(&text[known_byte..], line - known_line + 1).map(|at| known_byte + at);
        let mut old = hunk.lines.iter().filter(|l| !l.starts_with(['+', '\\']));
        let skipped = old.clone().take_while(|l| l.len() <= 1).count();
        let Some(first) = old.find(|l| l.len() > 1) else {
            // Nothing but additions: the line number is all there is.
            return Some(self.above(text, line, start.unwrap_or(text.len())));
        };
        let wanted = first.get(1..)?.trim_end();
        if let Some(start) = start
            && let Some(at) = start_of(&text[start..], skipped + 1)
            && text[start + at..]
                .lines()
                .next()
                .is_some_and(|l| l.trim_end() == wanted)
        {
            return Some(self.above(text, line, start));
        }
        // The numbers are wrong: look for the line itself.
        if wanted.trim().len() < 4 {
            return None;
        }
        let byte = text
            .match_indices(wanted)
            .map(|(at, _)| at)
            .take(50)
            .find(|at| {
                let tail = text[at + wanted.len()..].trim_start_matches([' ', '\t', '\r']);
                (*at == 0 || text.as_bytes()[at - 1] == b'\n')
                    && (tail.is_empty() || tail.starts_with('\n'))
            })?;
        let line = text[..byte].bytes().filter(|b| *b == b'\n').count() + 1;
        self.last = None;
        Some(self.above(text, line, byte))
    }

    fn above(&mut self, text: &str, line: usize, byte: usize) -> Place {
        let near = self
            .last
            .take()
            .filter(|last| last.line <= line && line - last.line <= GAP_CAP && last.byte <= byte);
        let scope = match near {
            Some(mut last) => {
                for each in text[last.byte..byte].lines() {
                    last.scope.feed(each);
                }
                last.scope
            }
            None => Scope::above(self.language, text, byte, line),
        };
        Place { line, byte, scope }
    }

    /// Remembers where a hunk ended.
    fn leave(&mut self, start: Option<Place>, (scope, passed): (Scope, usize)) {
        self.last = start.zip(self.text).and_then(|(place, text)| {
            let byte = place.byte + start_of(&text[place.byte..], passed + 1)?;
            Some(Place {
                line: place.line + passed,
                byte,
                scope,
            })
        });
    }
}
