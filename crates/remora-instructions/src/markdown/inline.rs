//! Inline marks: cuts the text of a block into plain text, code, HTML,
//! escapes, emphasis and links, and hands each piece to a sink. Every step
//! has a price, so that hostile text costs no more than its length.

use std::collections::HashSet;

use super::chars::{is_punctuation, is_space, is_word, trim_end};
use super::emphasis::Runs;
use super::link::{self, Link};
use super::mask::mask;
use super::view::{View, count};
use super::{html, line};

/// Emphasis and links deeper than this are plain text.
const DEPTH: usize = 48;

/// A part of a text.
pub(super) enum Piece<'a> {
    /// Plain text, and what stands behind it.
    Text(&'a str, &'a str),
    /// The whole text of lines in a list item, marks and all. The client
    /// looks for imports in it too, before it looks into its parts.
    Lines(&'a str),
    Code(&'a str),
    Html(&'a str),
    /// A backslash and its character, and what stands behind it.
    Escape(&'a str, &'a str),
    Image(&'a str),
}

/// Takes the pieces in order, each with the numbers of its lines in the file
/// (the list may be longer than the piece).
pub(super) trait Sink {
    fn piece(&mut self, piece: Piece<'_>, lines: &[usize]);
}

/// Reads the inline marks of one block.
pub(super) struct Inline<'a, S> {
    links: &'a HashSet<String>,
    lines: &'a [usize],
    sink: &'a mut S,
    /// Steps that may still be taken.
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
    fn rest(&self) -> &'s str {
        &self.src[self.at..]
    }

    /// The line of a place; places only move on.
    fn line(&mut self, at: usize) -> usize {
        self.line += count(&self.src[self.counted..at]);
        self.counted = at;
        self.line
    }

    fn plain(&mut self, len: usize) {
        self.text.get_or_insert(self.at);
        self.at += len;
    }
}

impl<'a, S: Sink> Inline<'a, S> {
    /// Reads a block's text.
    pub(super) fn block(src: View<'a>, links: &'a HashSet<String>, sink: &'a mut S) {
        let mut inline = Inline {
            links,
            lines: src.lines,
            sink,
            fuel: src.text.len().saturating_mul(32).saturating_add(1 << 18),
        };
        inline.read(src.text, 0, 0);
    }

    fn emit(&mut self, piece: Piece<'_>, line: usize) {
        let from = line.min(self.lines.len().saturating_sub(1));
        self.sink.piece(piece, &self.lines[from..]);
    }

    /// Hands the plain text over and gives the line of what follows it.
    fn flush(&mut self, cursor: &mut Cursor<'_>) -> usize {
        if let Some(from) = cursor.text.take() {
            let line = cursor.line(from);
            let (text, after) = (&cursor.src[from..cursor.at], &cursor.src[cursor.at..]);
            self.emit(Piece::Text(text, after), line);
        }
        cursor.line(cursor.at)
    }

    /// Takes the price of `steps` steps, if there is enough left.
    fn pay(&mut self, steps: usize) -> bool {
        let enough = self.fuel > steps;
        self.fuel = if enough { self.fuel - steps } else { 0 };
        enough
    }

    /// Reads `src`, whose first line has the index `line`.
    fn read(&mut self, src: &str, line: usize, depth: usize) {
        let mut cursor = Cursor {
            src,
            at: 0,
            text: None,
            line,
            counted: 0,
        };
        // Without an import mark nothing below can matter.
        if !src.contains('@') || depth > DEPTH || !self.pay(src.len()) {
            cursor.plain(src.len());
            self.flush(&mut cursor);
            return;
        }
        let runs = src
            .contains(['*', '_'])
            .then(|| Runs::new(mask(src, self.links)));
        let last = trim_end(src).len();
        let mut before = None;
        while cursor.at < src.len() {
            if self.fuel == 0 {
                cursor.plain(src.len() - cursor.at);
                break;
            }
            let prev = std::mem::take(&mut before);
            if let Some(len) = self.special(&mut cursor, prev, runs.as_ref(), depth, last) {
                cursor.at += len;
                continue;
            }
            if cursor.rest().starts_with(['[', '!']) && link::is_reference(cursor.rest()) {
                cursor.plain(1);
                continue;
            }
            let len = text_len(cursor.rest());
            let end = cursor.rest()[..len].chars().next_back();
            before = if end == Some('_') { prev } else { end };
            cursor.plain(len);
        }
        self.flush(&mut cursor);
    }

    /// Reads anything but plain text at the cursor and gives its length.
    fn special(
        &mut self,
        cursor: &mut Cursor<'_>,
        before: Option<char>,
        runs: Option<&Runs>,
        depth: usize,
        last: usize,
    ) -> Option<usize> {
        let rest = cursor.rest();
        match rest.bytes().next()? {
            b'\\' => {
                if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) {
                    let line = self.flush(cursor);
                    let piece = Piece::Escape(&rest[..2], &rest[2..]);
                    self.emit(piece, line);
                    return Some(2);
                }
                let breaks = rest[1..].starts_with('\n') && cursor.at + 2 < last;
                breaks.then(|| {
                    self.flush(cursor);
                    2
                })
            }
            b' ' => {
                let len = line::spaces(rest);
                let breaks =
                    len >= 2 && rest[len..].starts_with('\n') && cursor.at + len + 1 < last;
                breaks.then(|| {
                    self.flush(cursor);
                    len + 1
                })
            }
            b'<' => {
                let found = html::inline(rest).or_else(|| html::address(rest));
                if found.is_none() && rest[1..].starts_with(['!', '?']) {
                    // Something that never ends was searched to the end.
                    self.pay(rest.len() / 4);
                }
                let len = found?;
                let line = self.flush(cursor);
                self.emit(Piece::Html(&rest[..len]), line);
                Some(len)
            }
            b'[' | b'!' => {
                let found = link::link(rest, &mut |steps| self.pay(steps))
                    .or_else(|| link::reference(rest, self.links))?;
                Some(self.link(cursor, &found, depth))
            }
            b'*' | b'_' => self.emphasis(cursor, before, runs?, depth),
            b'`' => {
                let Some(len) = code_len(rest) else {
                    self.pay(rest.len());
                    return None;
                };
                let line = self.flush(cursor);
                self.emit(Piece::Code(&rest[..len]), line);
                Some(len)
            }
            _ => None,
        }
    }

    fn link(&mut self, cursor: &mut Cursor<'_>, found: &Link<'_>, depth: usize) -> usize {
        let rest = cursor.rest();
        let line = self.flush(cursor);
        if rest.starts_with('!') {
            self.emit(Piece::Image(found.label), line);
        } else {
            let label = found.label.replace("\\[", "[").replace("\\]", "]");
            self.read(&label, line, depth + 1);
        }
        found.len
    }

    fn emphasis(
        &mut self,
        cursor: &mut Cursor<'_>,
        before: Option<char>,
        runs: &Runs,
        depth: usize,
    ) -> Option<usize> {
        let rest = cursor.rest();
        let mark = rest.bytes().next()?;
        let open = line::run(rest, mark);
        // Each mark of a long run that opens nothing is tried.
        if !self.pay(open) {
            return None;
        }
        let next = rest[open..].chars().next().filter(|c| !is_space(*c))?;
        if is_punctuation(next) {
            let free = |c: char| is_space(c) || (is_punctuation(c) && c != '*' && c != '_');
            if !before.is_none_or(|c| c.len_utf16() == 1 && free(c)) {
                return None;
            }
        } else if mark == b'_' && before.is_some_and(|c| c.len_utf16() == 1 && is_word(c)) {
            return None;
        }
        let (end, close) =
            runs.close(mark, cursor.at + open, open, &mut |steps| self.pay(steps))?;
        let inset = if open.min(close) % 2 == 1 { 1 } else { 2 };
        let inner = &cursor.src[cursor.at + inset..end - inset];
        let line = self.flush(cursor);
        self.read(inner, line, depth + 1);
        Some(end - cursor.at)
    }
}

/// The length of the code span at the start.
fn code_len(text: &str) -> Option<usize> {
    let open = line::run(text, b'`');
    let mut at = open;
    loop {
        at += text[at..].find('`')?;
        let close = line::run(&text[at..], b'`');
        at += close;
        if close == open {
            return Some(at);
        }
    }
}

/// How much plain text there is before the next thing that could be a mark.
fn text_len(text: &str) -> usize {
    let breaks = |at: usize| {
        let spaces = line::spaces(&text[at..]);
        spaces >= 2 && text[at + spaces..].starts_with('\n')
    };
    let ticks = line::run(text, b'`');
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
