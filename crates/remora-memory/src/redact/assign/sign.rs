//! What joins a name to its value: finds the sign behind the name, whatever
//! the language, and stops where the value begins.

use super::Name;

/// Blanks between a name, its sign and its value.
const MOST_BLANKS: usize = 64;

/// What joins the name and the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `=` or `:` without blanks before it, or at the beginning of a line.
    Tight,
    /// `=`, `:`, `=>` in code.
    Sign,
    /// A blank behind a flag.
    Flag,
    /// Part of an address.
    Query,
    /// `>` of an element.
    Element,
    /// A comma or an opening bracket.
    List,
    /// `is`, or nothing.
    Prose,
}

pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// Whether the value stands between quotes.
    pub(super) quoted: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn behind(text: &'a str, name: &Name) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: name.range.end,
            quoted: false,
        }
    }

    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn eat(&mut self, word: &[u8]) -> bool {
        let there =
            self.rest().len() >= word.len() && self.rest()[..word.len()].eq_ignore_ascii_case(word);
        if there {
            self.at += word.len();
        }
        there
    }

    pub(super) fn blanks(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') && self.at - start < MOST_BLANKS {
            self.at += 1;
        }
        self.at - start
    }

    /// A quote with the backslashes before it.
    pub(super) fn quote(&mut self) -> Option<(u8, usize)> {
        let mut at = self.at;
        while self.bytes.get(at) == Some(&b'\\') && at - self.at < 8 {
            at += 1;
        }
        let quote = *self.bytes.get(at)?;
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        let slashes = at - self.at;
        self.at = at + 1;
        Some((quote, slashes))
    }

    pub(super) fn link(&mut self, name: &Name) -> Option<Link> {
        let opened = name.range.start.checked_sub(1).map(|at| self.bytes[at]);
        if opened == Some(b'<') && self.eat(b">") {
            return Some(Link::Element);
        }
        // `${NAME:-value}`: what holds when nothing is set.
        if opened == Some(b'{') && self.eat(b":-") {
            return Some(Link::Query);
        }
        let quoted = self.quote().is_some();
        if quoted {
            self.eat(b"]");
        }
        if self.eat(b"%22") {
            self.blanks();
        }
        if self.eat(b"%3d") || self.eat(b"%3a") {
            self.eat(b"%22");
            return Some(Link::Query);
        }
        while matches!(self.peek(), b'?' | b'!') && !quoted {
            self.at += 1;
        }
        let before = self.blanks();
        if quoted && self.hop() {
            self.blanks();
            return Some(Link::Tight);
        }
        let link = match self.peek() {
            b'=' | b':' => {
                // `&signature::NAME` is a path in code.
                let path = self.rest().starts_with(b"::");
                let query = matches!(opened, Some(b'?' | b'&' | b';')) && before == 0 && !path;
                self.at += 1;
                while matches!(self.peek(), b'=' | b'>' | b':' | b'~') {
                    self.at += 1;
                }
                if query {
                    Link::Query
                } else if before == 0 {
                    Link::Tight
                } else {
                    Link::Sign
                }
            }
            b'+' | b'|' if self.rest().get(1) == Some(&b'=') => {
                self.at += 2;
                Link::Sign
            }
            b'!' if self.rest().get(1) == Some(&b'=') => {
                self.at += 2;
                while self.peek() == b'=' {
                    self.at += 1;
                }
                Link::Sign
            }
            b',' if quoted => {
                self.at += 1;
                Link::List
            }
            b'(' if !quoted && before == 0 => {
                self.at += 1;
                Link::List
            }
            b'\n' | b'\r' | b'\\' if self.hop() => Link::Tight,
            _ if name.flag && before > 0 => Link::Flag,
            _ if before > 0 || quoted => Link::Prose,
            _ => return None,
        };
        self.blanks();
        Some(link)
    }

    /// From `name: X` to its `value:` on the same or the next line.
    pub(super) fn hop(&mut self) -> bool {
        let start = self.at;
        self.eat(b",");
        let mut blanks = 0;
        while blanks < MOST_BLANKS {
            if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
                self.at += 1;
            } else if self.rest().starts_with(b"\\n") || self.rest().starts_with(b"\\r") {
                self.at += 2;
            } else {
                break;
            }
            blanks += 1;
        }
        self.quote();
        if self.eat(b"value") {
            self.quote();
            self.blanks();
            if matches!(self.peek(), b'=' | b':') {
                self.at += 1;
                return true;
            }
        }
        self.at = start;
        false
    }
}
