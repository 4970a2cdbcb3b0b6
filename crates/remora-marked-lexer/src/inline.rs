//! Inline marks: cuts the text of a block into plain text, code, HTML, escapes,
//! emphasis and links, and passes each piece to a sink. Every step has a price,
//! so that hostile text costs time in proportion to its length.

use std::collections::HashSet;

use super::chars::{is_punctuation, is_space, is_word, trim_end};
use super::emphasis::EmphasisRuns;
use super::link::{self, Link};
use super::mask::mask_text;
use super::view::{View, count_newlines};
use super::{html, line};

/// Emphasis and links deeper than this are plain text.
const MAX_INLINE_DEPTH: usize = 48;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Plain text, and the text that follows it.
    Text(&'a str, &'a str),
    /// The whole text of lines in a list item, marks and all; its parts follow. The
    /// lexer has a token for it, and a program that walks over tokens sees it.
    Lines(&'a str),
    /// A code span, a fence or indented code, with its marks.
    Code(&'a str),
    /// An HTML block or tag, or a link in angle brackets.
    Html(&'a str),
    /// A backslash and its character, and the text that follows it.
    Escape(&'a str, &'a str),
    /// The text of an image.
    Image(&'a str),
}

/// Takes the pieces in order, each with the numbers of its lines in the file
/// (the list may be longer than the piece).
pub trait PieceSink {
    /// Takes one piece.
    fn accept_piece(&mut self, piece: Piece<'_>, lines: &[usize]);

    /// Whether it matters where this text has marks. Text that is not wanted comes as one
    /// plain piece, which saves most of the work.
    fn wants_marks(&self, _text: &str) -> bool {
        true
    }
}

/// Reads the inline marks of one block.
pub(super) struct InlineParser<'a, S> {
    links: &'a HashSet<String>,
    lines: &'a [usize],
    sink: &'a mut S,
    /// Steps that are left in the budget.
    fuel: usize,
}

/// How far the text has been read.
struct Cursor<'s> {
    src: &'s str,
    at: usize,
    /// Where the plain text that is being collected started.
    text: Option<usize>,
    /// The line of `counted`.
    line: usize,
    counted: usize,
}

impl<'s> Cursor<'s> {
    fn remaining_text(&self) -> &'s str {
        &self.src[self.at..]
    }

    /// The line of a place; places only move on.
    fn line_at(&mut self, at: usize) -> usize {
        self.line += count_newlines(&self.src[self.counted..at]);
        self.counted = at;
        self.line
    }

    fn push_plain(&mut self, len: usize) {
        self.text.get_or_insert(self.at);
        self.at += len;
    }
}

impl<'a, S: PieceSink> InlineParser<'a, S> {
    /// Reads a block's text.
    pub(super) fn parse_block(src: View<'a>, links: &'a HashSet<String>, sink: &'a mut S) {
        let mut inline = InlineParser {
            links,
            lines: src.lines,
            sink,
            // Real text uses a few steps a byte. When fuel runs out, the rest counts as plain text.
            fuel: src.text.len().saturating_mul(32).saturating_add(1 << 18),
        };
        inline.parse_text(src.text, 0, 0);
    }

    fn emit_piece(&mut self, piece: Piece<'_>, line: usize) {
        let from = line.min(self.lines.len().saturating_sub(1));
        self.sink.accept_piece(piece, &self.lines[from..]);
    }

    /// Emits the plain text and returns the line of what follows it.
    fn flush_text(&mut self, cursor: &mut Cursor<'_>) -> usize {
        if let Some(from) = cursor.text.take() {
            let line = cursor.line_at(from);
            let (text, after) = (&cursor.src[from..cursor.at], &cursor.src[cursor.at..]);
            self.emit_piece(Piece::Text(text, after), line);
        }
        cursor.line_at(cursor.at)
    }

    /// Takes the price of `steps` steps, if there is enough left.
    fn spend_fuel(&mut self, steps: usize) -> bool {
        let enough = self.fuel > steps;
        self.fuel = if enough { self.fuel - steps } else { 0 };
        enough
    }

    /// Reads `src`, whose first line has the index `line`.
    fn parse_text(&mut self, src: &str, line: usize, depth: usize) {
        let mut cursor = Cursor {
            src,
            at: 0,
            text: None,
            line,
            counted: 0,
        };
        if !self.sink.wants_marks(src) || depth > MAX_INLINE_DEPTH || !self.spend_fuel(src.len()) {
            cursor.push_plain(src.len());
            self.flush_text(&mut cursor);
            return;
        }
        let runs = src
            .contains(['*', '_'])
            .then(|| EmphasisRuns::new(mask_text(src, self.links)));
        // A hard break at the very end of a text is no break.
        let last = trim_end(src).len();
        let mut before = None;
        while cursor.at < src.len() {
            if self.fuel == 0 {
                cursor.push_plain(src.len() - cursor.at);
                break;
            }
            let prev = std::mem::take(&mut before);
            if let Some(len) = self.parse_mark(&mut cursor, prev, runs.as_ref(), depth, last) {
                cursor.at += len;
                continue;
            }
            if cursor.remaining_text().starts_with(['[', '!'])
                && link::is_reference(cursor.remaining_text())
            {
                cursor.push_plain(1);
                continue;
            }
            let len = text_len(cursor.remaining_text());
            let end = cursor.remaining_text()[..len].chars().next_back();
            // The lexer does not remember an underscore as the preceding character.
            before = if end == Some('_') { prev } else { end };
            cursor.push_plain(len);
        }
        self.flush_text(&mut cursor);
    }

    /// Reads anything but plain text at the cursor and returns its length.
    fn parse_mark(
        &mut self,
        cursor: &mut Cursor<'_>,
        before: Option<char>,
        runs: Option<&EmphasisRuns>,
        depth: usize,
        last: usize,
    ) -> Option<usize> {
        let rest = cursor.remaining_text();
        match rest.bytes().next()? {
            b'\\' => {
                if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) {
                    let line = self.flush_text(cursor);
                    let piece = Piece::Escape(&rest[..2], &rest[2..]);
                    self.emit_piece(piece, line);
                    return Some(2);
                }
                let breaks = rest[1..].starts_with('\n') && cursor.at + 2 < last;
                breaks.then(|| {
                    self.flush_text(cursor);
                    2
                })
            }
            b' ' => {
                let len = line::count_spaces(rest);
                let breaks =
                    len >= 2 && rest[len..].starts_with('\n') && cursor.at + len + 1 < last;
                breaks.then(|| {
                    self.flush_text(cursor);
                    len + 1
                })
            }
            b'<' => {
                let found = html::inline_len(rest).or_else(|| html::autolink_len(rest));
                if found.is_none() && rest[1..].starts_with(['!', '?']) {
                    // A search to the end of the text found nothing; many of them would be
                    // quadratic.
                    self.spend_fuel(rest.len() / 4);
                }
                let len = found?;
                let line = self.flush_text(cursor);
                self.emit_piece(Piece::Html(&rest[..len]), line);
                Some(len)
            }
            b'[' | b'!' => {
                let found = link::parse_inline_link(rest, &mut |steps| self.spend_fuel(steps))
                    .or_else(|| link::resolve_reference(rest, self.links))?;
                Some(self.parse_link(cursor, &found, depth))
            }
            b'*' | b'_' => self.parse_emphasis(cursor, before, runs?, depth),
            b'`' => {
                let Some(len) = code_len(rest) else {
                    self.spend_fuel(rest.len());
                    return None;
                };
                let line = self.flush_text(cursor);
                self.emit_piece(Piece::Code(&rest[..len]), line);
                Some(len)
            }
            _ => None,
        }
    }

    fn parse_link(&mut self, cursor: &mut Cursor<'_>, found: &Link<'_>, depth: usize) -> usize {
        let rest = cursor.remaining_text();
        let line = self.flush_text(cursor);
        if rest.starts_with('!') {
            self.emit_piece(Piece::Image(found.label), line);
        } else {
            let label = found.label.replace("\\[", "[").replace("\\]", "]");
            self.parse_text(&label, line, depth + 1);
        }
        found.len
    }

    fn parse_emphasis(
        &mut self,
        cursor: &mut Cursor<'_>,
        before: Option<char>,
        runs: &EmphasisRuns,
        depth: usize,
    ) -> Option<usize> {
        let rest = cursor.remaining_text();
        let mark = rest.bytes().next()?;
        let open = line::count_marks(rest, mark);
        // Each mark of a long run that opens nothing is tried again, one by one.
        if !self.spend_fuel(open) {
            return None;
        }
        let next = rest[open..].chars().next().filter(|c| !is_space(*c))?;
        if is_punctuation(next) {
            // The rule of left-flanking runs, on the preceding UTF-16 unit: half of a surrogate
            // pair is neither punctuation nor a letter to the lexer.
            let free = |c: char| is_space(c) || (is_punctuation(c) && c != '*' && c != '_');
            if !before.is_none_or(|c| c.len_utf16() == 1 && free(c)) {
                return None;
            }
        } else if mark == b'_' && before.is_some_and(|c| c.len_utf16() == 1 && is_word(c)) {
            return None;
        }
        let (end, close) = runs.close(mark, cursor.at + open, open, &mut |steps| {
            self.spend_fuel(steps)
        })?;
        let inset = if open.min(close) % 2 == 1 { 1 } else { 2 };
        let inner = &cursor.src[cursor.at + inset..end - inset];
        let line = self.flush_text(cursor);
        self.parse_text(inner, line, depth + 1);
        Some(end - cursor.at)
    }
}

/// The length of the code span at the start.
fn code_len(text: &str) -> Option<usize> {
    let open = line::count_marks(text, b'`');
    let mut at = open;
    loop {
        at += text[at..].find('`')?;
        let close = line::count_marks(&text[at..], b'`');
        at += close;
        if close == open {
            return Some(at);
        }
    }
}

/// How much plain text there is before the next thing that could be a mark.
fn text_len(text: &str) -> usize {
    let breaks = |at: usize| {
        let spaces = line::count_spaces(&text[at..]);
        spaces >= 2 && text[at + spaces..].starts_with('\n')
    };
    let ticks = line::count_marks(text, b'`');
    let first = text.chars().next().map_or(0, char::len_utf8);
    let at = ticks.max(first);
    if breaks(at) {
        return at;
    }
    for (step, c) in text[at..].char_indices() {
        if matches!(c, '\\' | '<' | '!' | '[' | '`' | '*' | '_') {
            return at + step;
        }
        let next = at + step + c.len_utf8();
        if c != ' ' && text[next..].starts_with("  ") && breaks(next) {
            return next;
        }
    }
    text.len()
}
