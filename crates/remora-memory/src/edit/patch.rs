//! Brings any form of edit to one: changed lines, each with what it declares,
//! what holds it and what it is. Linear in the patch, not in the file.

use std::borrow::Cow;

use super::{EditInput, FileOrigin, Hunk, diff};
use crate::symbols::{Language, Symbol, SymbolKind, SymbolScope, start_of};

/// Lines of one side that are looked at.
const MAX_SIDE_LINES: usize = 1_000;
/// Lines of a new file that are looked at; its outline tells the rest.
const MAX_NEW_FILE_LINES: usize = 200;
/// Bytes of one line that are looked at.
const MAX_LINE_BYTES: usize = 2_000;
/// A gap between two hunks that is read through rather than walked anew.
const MAX_GAP_LINES: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffSide {
    Gone,
    Come,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineRole {
    Code,
    Comment,
    /// A comment that tells about what is declared next, or a doc string.
    Doc,
    Import,
    /// An attribute or decorator.
    Mark,
}

#[derive(Debug, Clone)]
pub(super) struct PatchLine<'a> {
    pub(super) side: DiffSide,
    pub(super) text: &'a str,
    pub(super) role: LineRole,
    pub(super) declares: Option<Symbol>,
    pub(super) holder: Option<Symbol>,
    /// Lines changed without an unchanged one between share a number.
    pub(super) run: usize,
}

pub(super) struct Patch<'a> {
    pub(super) language: Language,
    pub(super) lines: Vec<PatchLine<'a>>,
    gone: usize,
    come: usize,
}

/// The hunks of an edit, made from its texts when the client gave none.
pub(super) fn collect_hunks<'a>(input: &EditInput<'a>) -> Cow<'a, [Hunk]> {
    if !input.hunks.is_empty() {
        return Cow::Borrowed(input.hunks);
    }
    // Of a new file every line is an addition: a diff of its head is enough,
    // the outline has the rest.
    if input.origin == FileOrigin::Created {
        let new = input.new.unwrap_or("");
        let head = start_of(new, MAX_NEW_FILE_LINES + 1).map_or(new, |end| &new[..end]);
        return Cow::Owned(diff::diff_texts("", head, 1));
    }
    let (old, new) = (input.old.unwrap_or(""), input.new.unwrap_or(""));
    Cow::Owned(diff_replacement(input.original, old, new))
}

/// The patch of one text put in place of another. Where the whole file is
/// known the pieces are brought to whole lines first.
pub(super) fn diff_replacement(original: Option<&str>, old: &str, new: &str) -> Vec<Hunk> {
    let found = original
        .filter(|_| !old.is_empty())
        .and_then(|text| text.find(old).map(|at| (text, at)));
    let Some((text, at)) = found else {
        return diff::diff_texts(old, new, 1);
    };
    let end = at + old.len();
    let from = text[..at].rfind('\n').map_or(0, |b| b + 1);
    let to = text[end..].find('\n').map_or(text.len(), |b| end + b);
    let first = text[..from].bytes().filter(|b| *b == b'\n').count() + 1;
    // Whole lines already; otherwise the pieces are completed, since half a
    // line declares nothing.
    if from == at && (to == end || old.ends_with('\n')) {
        return diff::diff_texts(old, new, first);
    }
    let (head, tail) = (&text[from..at], &text[end..to]);
    diff::diff_texts(
        &format!("{head}{old}{tail}"),
        &format!("{head}{new}{tail}"),
        first,
    )
}

impl<'a> Patch<'a> {
    pub(super) fn from_hunks(input: &EditInput<'_>, hunks: &'a [Hunk]) -> Self {
        let language = Language::from_path(input.path);
        let mut patch = Self {
            language,
            lines: Vec::new(),
            gone: 0,
            come: 0,
        };
        let mut places = ScopeStack {
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
                .map_or_else(|| SymbolScope::new(language), |p| p.scope.clone());
            let end = patch.add_hunk(hunk, seed, &mut run);
            places.remember_end(start, end);
            if patch.gone + patch.come >= 2 * MAX_SIDE_LINES {
                break;
            }
        }
        patch
    }

    /// Reads a hunk; gives what is open after it on the old side.
    fn add_hunk(
        &mut self,
        hunk: &'a Hunk,
        seed: SymbolScope,
        run: &mut usize,
    ) -> (SymbolScope, usize) {
        // Each side has its own scope: a removed brace must not close a block
        // of the new text.
        let mut old = SideParser::new(seed.clone());
        let mut new = SideParser::new(seed);
        let mut passed = 0;
        for line in &hunk.lines {
            let Some(sign) = line.chars().next() else {
                // A context line whose blank was cut off.
                old.skip_line("", &mut self.lines);
                new.skip_line("", &mut self.lines);
                passed += 1;
                continue;
            };
            let text = truncate_line(&line[sign.len_utf8()..]).trim_end();
            match sign {
                '-' => {
                    passed += 1;
                    self.gone += 1;
                    // Counted on: only the reading is bounded, the sum decides
                    // when to stop.
                    if self.gone <= MAX_SIDE_LINES {
                        old.read_line(text, DiffSide::Gone, *run, self.language, &mut self.lines);
                    }
                }
                '+' => {
                    self.come += 1;
                    if self.come <= MAX_SIDE_LINES {
                        new.read_line(text, DiffSide::Come, *run, self.language, &mut self.lines);
                    }
                }
                '\\' => {}
                _ => {
                    passed += 1;
                    old.skip_line(text, &mut self.lines);
                    new.skip_line(text, &mut self.lines);
                    *run += 1;
                }
            }
        }
        (old.scope, passed)
    }
}

fn truncate_line(text: &str) -> &str {
    if text.len() <= MAX_LINE_BYTES {
        return text;
    }
    let end = (0..=MAX_LINE_BYTES)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// One side of a hunk.
struct SideParser {
    scope: SymbolScope,
    /// Comments that may belong to what is declared next.
    waiting: Vec<usize>,
    imports: bool,
}

impl SideParser {
    fn new(scope: SymbolScope) -> Self {
        Self {
            scope,
            waiting: Vec::new(),
            imports: false,
        }
    }

    fn skip_line(&mut self, text: &str, lines: &mut [PatchLine<'_>]) {
        let declares = self.scope.feed_line(text);
        self.assign_comments(text, declares, lines);
    }

    /// Gives the comments above a declaration to it.
    fn assign_comments(&mut self, text: &str, declares: bool, lines: &mut [PatchLine<'_>]) {
        let trimmed = text.trim();
        if declares {
            let symbol = self.scope.innermost_symbol();
            for at in self.waiting.drain(..) {
                if let (Some(line), Some(symbol)) = (lines.get_mut(at), &symbol) {
                    line.holder = Some(symbol.clone());
                    if line.role == LineRole::Comment {
                        line.role = LineRole::Doc;
                    }
                }
            }
        } else if trimmed.is_empty() || !self.scope.was_aside(trimmed) {
            // A blank line or code between a comment and a declaration
            // separates the two.
            self.waiting.clear();
        }
    }

    fn read_line<'a>(
        &mut self,
        text: &'a str,
        side: DiffSide,
        run: usize,
        language: Language,
        lines: &mut Vec<PatchLine<'a>>,
    ) {
        let unplaced = self.scope.is_empty();
        let declares = self.scope.feed_line(text);
        self.assign_comments(text, declares, lines);
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        let mut symbol = if declares {
            self.scope.innermost_symbol()
        } else {
            None
        };
        // Cut out of its surroundings, an indented constant may be local.
        let indented = text.starts_with([' ', '\t']);
        if unplaced
            && indented
            && language.file_purpose() == crate::symbols::FilePurpose::Code
            && symbol
                .as_ref()
                .is_some_and(|s| s.kind == SymbolKind::Constant)
        {
            symbol = None;
        }
        let role = self.classify_line(trimmed, language);
        let holder = self.scope.enclosing_symbol();
        lines.push(PatchLine {
            side,
            text,
            role,
            declares: symbol,
            holder,
            run,
        });
        if role == LineRole::Comment || role == LineRole::Mark {
            self.waiting.push(lines.len() - 1);
        }
    }

    fn classify_line(&mut self, trimmed: &str, language: Language) -> LineRole {
        if language != Language::Markdown && self.scope.was_prose() {
            return if language == Language::Python {
                LineRole::Doc
            } else {
                LineRole::Comment
            };
        }
        if language != Language::Markdown && language.is_comment(trimmed) {
            let doc = trimmed.starts_with("//!");
            return if doc {
                LineRole::Doc
            } else {
                LineRole::Comment
            };
        }
        if language == Language::Go {
            if trimmed.starts_with("import (") {
                self.imports = true;
            } else if trimmed == ")" {
                self.imports = false;
            }
        }
        if self.imports || super::imports::is_import(language, trimmed) {
            return LineRole::Import;
        }
        if self.scope.is_mark(trimmed) {
            return LineRole::Mark;
        }
        LineRole::Code
    }
}

/// A line of the file before the edit, and what is open there.
struct EnclosingScope {
    line: usize,
    byte: usize,
    scope: SymbolScope,
}

/// Finds hunks in the file before the edit.
struct ScopeStack<'t> {
    language: Language,
    text: Option<&'t str>,
    /// Just below the hunk before.
    last: Option<EnclosingScope>,
}

impl ScopeStack<'_> {
    /// What is open just above a hunk, when the hunk is found in the text.
    fn find(&mut self, hunk: &Hunk) -> Option<EnclosingScope> {
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
            return Some(self.scope_above(text, line, start.unwrap_or(text.len())));
        };
        // The first line with text confirms the number, which a client may get
        // wrong.
        let wanted = first.get(1..)?.trim_end();
        if let Some(start) = start
            && let Some(at) = start_of(&text[start..], skipped + 1)
            && text[start + at..]
                .lines()
                .next()
                .is_some_and(|l| l.trim_end() == wanted)
        {
            return Some(self.scope_above(text, line, start));
        }
        // The numbers are wrong: look for the line itself.
        // A lone bracket is found in many places, and the first of them would
        // be a guess.
        if wanted.trim().len() < 4 {
            return None;
        }
        let byte = text
            .match_indices(wanted)
            .map(|(at, _)| at)
            // A line that repeats all over a large file must not cost quadratic
            // time.
            .take(50)
            .find(|at| {
                let tail = text[at + wanted.len()..].trim_start_matches([' ', '\t', '\r']);
                (*at == 0 || text.as_bytes()[at - 1] == b'\n')
                    && (tail.is_empty() || tail.starts_with('\n'))
            })?;
        let line = text[..byte].bytes().filter(|b| *b == b'\n').count() + 1;
        self.last = None;
        Some(self.scope_above(text, line, byte))
    }

    fn scope_above(&mut self, text: &str, line: usize, byte: usize) -> EnclosingScope {
        let near = self.last.take().filter(|last| {
            // Going on from the last hunk saves reading the file from its start
            // for each of many hunks.
            last.line <= line && line - last.line <= MAX_GAP_LINES && last.byte <= byte
        });
        let scope = match near {
            Some(mut last) => {
                for each in text[last.byte..byte].lines() {
                    last.scope.feed_line(each);
                }
                last.scope
            }
            None => SymbolScope::above_line(self.language, text, byte, line),
        };
        EnclosingScope { line, byte, scope }
    }

    /// Remembers where a hunk ended.
    fn remember_end(
        &mut self,
        start: Option<EnclosingScope>,
        (scope, passed): (SymbolScope, usize),
    ) {
        self.last = start.zip(self.text).and_then(|(place, text)| {
            let byte = place.byte + start_of(&text[place.byte..], passed + 1)?;
            Some(EnclosingScope {
                line: place.line + passed,
                byte,
                scope,
            })
        });
    }
}
