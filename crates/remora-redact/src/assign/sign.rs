//! What joins a name to its value: finds the sign behind the name, whatever
//! the language, and stops where the value begins.

use super::NameMatch;

/// Blanks between a name, its sign and its value.
const MAX_BLANK_CHARS: usize = 64;

/// What joins the name and the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueLink {
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
    /// Whether the value is between quotes.
    pub(super) quoted: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn after_name(text: &'a str, name: &NameMatch) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: name.range.end,
            quoted: false,
        }
    }

    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    pub(super) fn rest_bytes(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn eat_word(&mut self, word: &[u8]) -> bool {
        let there = self.rest_bytes().len() >= word.len()
            && self.rest_bytes()[..word.len()].eq_ignore_ascii_case(word);
        if there {
            self.at += word.len();
        }
        there
    }

    pub(super) fn skip_blanks(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') && self.at - start < MAX_BLANK_CHARS {
            self.at += 1;
        }
        self.at - start
    }

    /// A quote with the backslashes before it.
    pub(super) fn eat_quote(&mut self) -> Option<(u8, usize)> {
        let mut at = self.at;
        // JSON inside JSON doubles the backslashes at every level.
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

    pub(super) fn read_link(&mut self, name: &NameMatch) -> Option<ValueLink> {
        let opened = name.range.start.checked_sub(1).map(|at| self.bytes[at]);
        if opened == Some(b'<') && self.eat_word(b">") {
            return Some(ValueLink::Element);
        }
        // `${NAME:-value}`: what holds when nothing is set.
        if opened == Some(b'{') && self.eat_word(b":-") {
            return Some(ValueLink::Query);
        }
        let quoted = self.eat_quote().is_some();
        if quoted {
            self.eat_word(b"]");
        }
        if self.eat_word(b"%22") {
            self.skip_blanks();
        }
        // Percent-encoded, as in the query of another address.
        if self.eat_word(b"%3d") || self.eat_word(b"%3a") {
            self.eat_word(b"%22");
            return Some(ValueLink::Query);
        }
        // Optional members of TypeScript and Swift.
        while matches!(self.peek(), b'?' | b'!') && !quoted {
            self.at += 1;
        }
        let before = self.skip_blanks();
        if quoted && self.skip_to_value() {
            self.skip_blanks();
            return Some(ValueLink::Tight);
        }
        let link = match self.peek() {
            b'=' | b':' => {
                // `&signature::NAME` is a path in code.
                let path = self.rest_bytes().starts_with(b"::");
                let query = matches!(opened, Some(b'?' | b'&' | b';')) && before == 0 && !path;
                self.at += 1;
                while matches!(self.peek(), b'=' | b'>' | b':' | b'~') {
                    self.at += 1;
                }
                if query {
                    ValueLink::Query
                } else if before == 0 {
                    ValueLink::Tight
                } else {
                    ValueLink::Sign
                }
            }
            b'+' | b'|' if self.rest_bytes().get(1) == Some(&b'=') => {
                self.at += 2;
                ValueLink::Sign
            }
            b'!' if self.rest_bytes().get(1) == Some(&b'=') => {
                self.at += 2;
                while self.peek() == b'=' {
                    self.at += 1;
                }
                ValueLink::Sign
            }
            // `("password", "secret")`: arguments and pairs; without quotes a
            // comma is prose.
            b',' if quoted => {
                self.at += 1;
                ValueLink::List
            }
            b'(' if !quoted && before == 0 => {
                self.at += 1;
                ValueLink::List
            }
            b'\n' | b'\r' | b'\\' if self.skip_to_value() => ValueLink::Tight,
            _ if name.flag && before > 0 => ValueLink::Flag,
            _ if before > 0 || quoted => ValueLink::Prose,
            _ => return None,
        };
        self.skip_blanks();
        Some(link)
    }

    /// From `name: X` to its `value:` on the same or the next line.
    pub(super) fn skip_to_value(&mut self) -> bool {
        let start = self.at;
        self.eat_word(b",");
        let mut blanks = 0;
        while blanks < MAX_BLANK_CHARS {
            if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
                self.at += 1;
            } else if self.rest_bytes().starts_with(b"\\n") || self.rest_bytes().starts_with(b"\\r")
            {
                self.at += 2;
            } else {
                break;
            }
            blanks += 1;
        }
        self.eat_quote();
        if self.eat_word(b"value") {
            self.eat_quote();
            self.skip_blanks();
            if matches!(self.peek(), b'=' | b':') {
                self.at += 1;
                return true;
            }
        }
        self.at = start;
        false
    }
}
