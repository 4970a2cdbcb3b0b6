//! Repairs a JSON text whose end is missing, or that a strict reader refuses
//! for what JavaScript writes. One pass, linear; it repairs and does not judge:
//! whether the result is valid JSON is for the reader to say.

use std::fmt::Write as _;

use crate::spec::Truncation;

/// Ends a string that was cut off.
pub const TRUNCATION_MARK: &str = "… [cut off]";

/// Stands for lists and objects nested deeper than [`MAX_NESTING_LEVELS`].
const NESTING_MARK: &str = "\"[nested too deep]\"";

/// The JSON reader gives up at 128 levels; the caller may wrap the value.
const MAX_NESTING_LEVELS: usize = 120;

/// A list or an object that is still open.
struct Frame {
    close: char,
    /// Length of the output after the last complete member.
    complete: usize,
    /// In an object: the key of the next value was read.
    has_key: bool,
}

struct JsonRepairer {
    out: String,
    open: Vec<Frame>,
    /// Levels below [`MAX_NESTING_LEVELS`] that are open and not copied.
    skipped: usize,
    cut: Truncation,
}

/// The text with lone surrogates replaced, control characters in strings
/// escaped, too deep parts left out, and everything open closed. Of what was
/// begun at the end a string value is kept with [`TRUNCATION_MARK`]; a number, a word
/// or a key is dropped, because it cannot be known to be complete.
pub(crate) fn repair_json(text: &str) -> (String, Truncation) {
    let mut mender = JsonRepairer {
        out: String::with_capacity(text.len() + 64),
        open: Vec::new(),
        skipped: 0,
        cut: Truncation::Whole,
    };
    mender.run(text);
    (mender.out, mender.cut)
}

impl JsonRepairer {
    fn run(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = match c {
                '"' => self.copy_string(&rest[1..]),
                '{' | '[' => {
                    self.open_frame(if c == '{' { '}' } else { ']' });
                    self.copy_char(rest, c)
                }
                '}' | ']' => {
                    let after = self.copy_char(rest, c);
                    self.close_frame();
                    after
                }
                ':' => {
                    if let Some(frame) = self.current_frame() {
                        frame.has_key = true;
                    }
                    self.copy_char(rest, c)
                }
                ',' => self.copy_char(rest, c),
                c if c.is_whitespace() => self.copy_char(rest, c),
                _ => self.copy_word(rest),
            };
        }
        self.close();
    }

    /// The innermost open frame that is copied.
    fn current_frame(&mut self) -> Option<&mut Frame> {
        if self.skipped > 0 {
            return None;
        }
        self.open.last_mut()
    }

    fn copy_char<'a>(&mut self, rest: &'a str, c: char) -> &'a str {
        if self.skipped == 0 {
            self.out.push(c);
        }
        &rest[c.len_utf8()..]
    }

    fn open_frame(&mut self, close: char) {
        if self.skipped > 0 || self.open.len() >= MAX_NESTING_LEVELS {
            if self.skipped == 0 {
                self.out.push_str(NESTING_MARK);
                self.cut = Truncation::Cut;
            }
            self.skipped += 1;
            return;
        }
        self.open.push(Frame {
            close,
            // The bracket itself is pushed after this.
            complete: self.out.len() + 1,
            has_key: false,
        });
    }

    fn close_frame(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else {
            self.open.pop();
        }
        self.value_done();
    }

    fn value_done(&mut self) {
        let length = self.out.len();
        if let Some(frame) = self.current_frame() {
            frame.complete = length;
            frame.has_key = false;
        }
    }

    /// A number, `true`, `false`, `null`, or something that is no JSON.
    fn copy_word<'a>(&mut self, rest: &'a str) -> &'a str {
        let end = rest
            .find(|c: char| {
                c.is_whitespace() || matches!(c, ',' | ':' | '{' | '}' | '[' | ']' | '"')
            })
            .unwrap_or(rest.len());
        if self.skipped == 0 {
            self.out.push_str(&rest[..end]);
        }
        // At the very end a number or word may have lost its rest: `12` of
        // `123`.
        if end < rest.len() {
            self.value_done();
        }
        &rest[end..]
    }

    /// `rest` starts after the opening quote.
    fn copy_string<'a>(&mut self, rest: &'a str) -> &'a str {
        let copy = self.skipped == 0;
        let is_key = self
            .current_frame()
            .is_some_and(|frame| frame.close == '}' && !frame.has_key);
        let begin = self.out.len();
        self.out.push('"');
        let mut at = 0;
        let closed = loop {
            let tail = &rest[at..];
            let plain = tail
                .find(|c: char| matches!(c, '"' | '\\') || c < ' ')
                .unwrap_or(tail.len());
            self.out.push_str(&tail[..plain]);
            at += plain;
            let tail = &rest[at..];
            match tail.as_bytes().first() {
                None => break false,
                Some(b'"') => {
                    at += 1;
                    break true;
                }
                Some(b'\\') => {
                    let Some((length, text)) = parse_escape(tail) else {
                        at = rest.len();
                        break false;
                    };
                    self.out.push_str(text);
                    at += length;
                }
                Some(control) => {
                    let _ = write!(self.out, "\\u{control:04x}");
                    at += 1;
                }
            }
        };
        if !closed && !is_key {
            self.out.push_str(TRUNCATION_MARK);
        }
        self.out.push('"');
        // A key without its end names nothing, and its value is missing anyway.
        if !copy || (!closed && is_key) {
            self.out.truncate(begin);
        }
        if !is_key {
            self.value_done();
        }
        if !closed {
            self.cut = Truncation::Cut;
        }
        &rest[at..]
    }

    fn close(&mut self) {
        if self.skipped > 0 {
            self.skipped = 0;
            self.value_done();
        }
        if let Some(frame) = self.open.last() {
            // Back to the last complete member: a dangling comma or key goes
            // with it.
            self.out.truncate(frame.complete);
            self.cut = Truncation::Cut;
        }
        while let Some(frame) = self.open.pop() {
            self.out.push(frame.close);
        }
    }
}

/// The escape at the start of `tail`: its length and its replacement.
/// `None` when the text ends within it.
fn parse_escape(tail: &str) -> Option<(usize, &str)> {
    const REPLACEMENT_ESCAPE: &str = "\\ufffd";
    let kind = tail[1..].chars().next()?;
    if kind != 'u' {
        let length = 1 + kind.len_utf8();
        return Some((length, &tail[..length]));
    }
    let Some(unit) = parse_unit(tail) else {
        // Fewer than four digits: either the end, or no JSON at all.
        let short = tail.len() < 6 && tail[2..].bytes().all(|b| b.is_ascii_hexdigit());
        return (!short).then_some((2, "\\u"));
    };
    match unit {
        0xd800..=0xdbff => {
            let next = &tail[6..];
            if matches!(self::parse_unit(next), Some(0xdc00..=0xdfff)) {
                return Some((12, &tail[..12]));
            }
            // The second half may be what was cut off.
            let ended = next.len() < 6
                && (next.is_empty()
                    || next == "\\"
                    || (next.starts_with("\\u")
                        && next[2..].bytes().all(|b| b.is_ascii_hexdigit())));
            (!ended).then_some((6, REPLACEMENT_ESCAPE))
        }
        // JavaScript writes lone surrogates, which UTF-8 cannot hold.
        0xdc00..=0xdfff => Some((6, REPLACEMENT_ESCAPE)),
        _ => Some((6, &tail[..6])),
    }
}

/// The value of a complete `\uXXXX` at the start.
fn parse_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;
