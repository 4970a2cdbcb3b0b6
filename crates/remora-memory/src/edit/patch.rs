//! Brings any form of edit to one: changed lines, each with what it declares,
//! what holds it and what it is. Linear in the patch, not in the file.

use std::borrow::Cow;

use super::{EditInput, Hunk, Origin, diff};
use crate::symbols::{Language, Scope, Symbol, SymbolKind, start_of};

/// Lines of one edit that are looked at; the rest is only counted.
const LINE_CAP: usize = 4_000;

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
}

/// The hunks of an edit, made from its texts when the client gave none.
pub(super) fn hunks<'a>(input: &EditInput<'a>) -> Cow<'a, [Hunk]> {
    if !input.hunks.is_empty() {
        return Cow::Borrowed(input.hunks);
    }
    if input.origin == Origin::Created {
        return Cow::Owned(diff::hunks("", input.new.unwrap_or(""), 1));
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
        };
        let mut run = 0;
        for hunk in hunks {
            let seed = input
                .original
                .and_then(|text| seed(language, text, hunk))
                .unwrap_or_else(|| Scope::new(language));
            run += 1;
            patch.take(hunk, seed, &mut run);
            if patch.lines.len() >= LINE_CAP {
                break;
            }
        }
        patch
    }

    fn take(&mut self, hunk: &'a Hunk, seed: Scope, run: &mut usize) {
        let mut old = Reader::new(seed.clone());
        let mut new = Reader::new(seed);
        for line in &hunk.lines {
            let Some(sign) = line.chars().next() else {
                // A context line whose blank was cut off.
                old.pass("", &mut self.lines);
                new.pass("", &mut self.lines);
                continue;
            };
            let text = line[sign.len_utf8()..].trim_end();
            match sign {
                '-' => old.read(text, Side::Gone, *run, self.language, &mut self.lines),
                '+' => new.read(text, Side::Come, *run, self.language, &mut self.lines),
                '\\' => {}
                _ => {
                    old.pass(text, &mut self.lines);
                    new.pass(text, &mut self.lines);
                    *run += 1;
                }
            }
            if self.lines.len() >= LINE_CAP {
                return;
            }
        }
    }
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

/// What is open just above a hunk, when the hunk is found in the text.
fn seed(language: Language, text: &str, hunk: &Hunk) -> Option<Scope> {
    let first = hunk
        .lines
        .iter()
        .enumerate()
        .filter(|(_, l)| !l.starts_with(['+', '\\']))
        .find(|(_, l)| l.len() > 1);
    let Some((_, line)) = first else {
        // Nothing but additions: the line number is all there is.
        let start = start_of(text, hunk.old_start.max(1)).unwrap_or(text.len());
        return Some(Scope::above(language, text, start, hunk.old_start.max(1)));
    };
    let wanted = line.get(1..)?.trim_end();
    let skipped = hunk
        .lines
        .iter()
        .filter(|l| !l.starts_with(['+', '\\']))
        .take_while(|l| l.len() <= 1)
        .count();
    if let Some(start) = start_of(text, hunk.old_start.max(1)) {
        let here = start_of(&text[start..], skipped + 1).map(|at| start + at);
        if let Some(here) = here
            && text[here..]
                .lines()
                .next()
                .is_some_and(|l| l.trim_end() == wanted)
        {
            return Some(Scope::above(language, text, start, hunk.old_start.max(1)));
        }
    }
    // The numbers are wrong: look for the line itself.
    if wanted.trim().len() < 4 {
        return None;
    }
    let at = text
        .match_indices(wanted)
        .map(|(at, _)| at)
        .take(50)
        .find(|at| {
            (*at == 0 || text.as_bytes()[at - 1] == b'\n')
                && text[at + wanted.len()..]
                    .trim_start_matches([' ', '\t', '\r'])
                    .starts_with('\n')
        })?;
    let number = text[..at].bytes().filter(|b| *b == b'\n').count() + 1;
    Some(Scope::above(language, text, at, number))
}
