//! Reads a value from its beginning to its end, and reports its context:
//! between quotes, on a line of settings, in code or in a sentence.

use std::ops::Range;

use super::sign::{Cursor, ValueLink};
use super::{NameMatch, floor_boundary};
use crate::names::SecretClass;
use crate::shape;
use crate::value::ValueContext;

/// Longest value that is read to its end.
const MAX_VALUE_BYTES: usize = 4096;
/// Length of four groups of four letters.
const FOUR_GROUPS_BYTES: usize = 19;
/// How far behind the name of a variable its default value is looked for.
const MAX_BLOCK_BYTES: usize = 400;

impl Cursor<'_> {
    /// `{value: ..}`: the value is inside.
    fn enter_inner_value(&mut self) {
        let start = self.at;
        if self.eat_word(b"{") && self.skip_to_value() {
            self.skip_blanks();
        } else {
            self.at = start;
        }
    }

    /// `string =` behind a colon: a type, and the value is yet to come.
    fn skip_type_annotation(&mut self) -> bool {
        let rest = self.rest_bytes();
        let mut at = 0;
        while at < rest.len().min(48)
            && (rest[at].is_ascii_alphanumeric()
                || matches!(
                    rest[at],
                    b'&' | b'\''
                        | b'_'
                        | b'<'
                        | b'>'
                        | b'['
                        | b']'
                        | b'|'
                        | b' '
                        | b'?'
                        | b':'
                        | b'.'
                ))
        {
            at += 1;
        }
        let there = at > 0
            && rest.get(at) == Some(&b'=')
            && !matches!(rest.get(at + 1), Some(b'=' | b'>'))
            && rest[at - 1] == b' ';
        if there {
            self.at += at + 1;
            self.skip_blanks();
        }
        there
    }

    pub(super) fn read_value(
        &mut self,
        name: &NameMatch,
        link: ValueLink,
        class: SecretClass,
    ) -> Option<(Range<usize>, ValueContext)> {
        let mut sentence = false;
        let mut verbless = false;
        match link {
            ValueLink::Prose => {
                sentence = true;
                verbless = self.skip_filler_words() == 0;
            }
            ValueLink::Tight | ValueLink::Sign => {
                self.enter_inner_value();
                self.skip_type_annotation();
                self.enter_block_scalar();
            }
            ValueLink::Flag | ValueLink::Query | ValueLink::Element | ValueLink::List => {}
        }
        let prefix = self.at;
        // `b"`, `r"`, `f"`, `&"` and the like.
        for _ in 0..2 {
            let next = self.rest_bytes().get(1).copied().unwrap_or(0);
            if matches!(self.peek(), b'b' | b'r' | b'f' | b'u' | b'@' | b'&' | b'L')
                && matches!(next, b'"' | b'\'' | b'r')
            {
                self.at += 1;
            }
        }
        if let Some((quote, slashes)) = self.eat_quote() {
            self.quoted = true;
            // Triple quotes of Python and the like.
            while self.peek() == quote && self.rest_bytes().get(1) == Some(&quote) {
                self.at += 2;
            }
            let start = self.at;
            let end = self.find_closing_quote(quote, slashes);
            // `"password=" + value`: that quote closed the text with the name.
            let rest = self.bytes[start..end].trim_ascii_start();
            if rest.first() == Some(&b'+')
                && rest
                    .get(1)
                    .is_some_and(|b| b.is_ascii_alphabetic() || *b == b' ')
            {
                return None;
            }
            if verbless && self.only_a_word(start..end, class) {
                return None;
            }
            let place = match link {
                _ if verbless && class == SecretClass::Password => ValueContext::Flag,
                _ if sentence && !verbless => ValueContext::Said,
                _ if sentence => ValueContext::Loose,
                ValueLink::List if class != SecretClass::Password => ValueContext::Loose,
                ValueLink::Flag => ValueContext::Flag,
                _ if is_shell_assignment(self.bytes, name) => ValueContext::Config,
                _ => ValueContext::Quoted,
            };
            return Some((start..end, place));
        }
        self.at = prefix;
        if matches!(link, ValueLink::Tight | ValueLink::Sign)
            && let Some((quote, slashes)) = self.enter_call()
        {
            self.quoted = true;
            let start = self.at;
            let place = if class == SecretClass::Password {
                ValueContext::Loose
            } else {
                ValueContext::Quoted
            };
            return Some((start..self.find_closing_quote(quote, slashes), place));
        }
        if link == ValueLink::List {
            return None;
        }
        // Decides how little a value must show: on a line of settings even a
        // plain word is a password.
        let config = self.is_config_line(name, link);
        let start = self.at;
        let end = self.find_bare_end(link, config, class);
        if verbless && self.only_a_word(start..end, class) {
            return None;
        }
        // An element that holds others is structure, not a value.
        if link == ValueLink::Element && !self.bytes[end..].starts_with(b"</") {
            return None;
        }
        let place = match link {
            _ if verbless && class == SecretClass::Password => ValueContext::Flag,
            _ if sentence && !verbless => ValueContext::Said,
            _ if sentence => ValueContext::Loose,
            ValueLink::Flag => ValueContext::Flag,
            ValueLink::Query | ValueLink::Element => ValueContext::Config,
            _ if config => ValueContext::Config,
            _ => ValueContext::Bare,
        };
        (end > start).then_some((start..end, place))
    }

    /// `variable "name" { .. default = ".."`: passes on to the value.
    pub(super) fn skip_to_default(&mut self, name: &NameMatch) -> bool {
        if !is_block_head(self.bytes, name) {
            return false;
        }
        let limit = self.bytes.len().min(self.at + MAX_BLOCK_BYTES);
        let block = &self.bytes[self.at..limit];
        let block = &block[..block.iter().position(|b| *b == b'}').unwrap_or(block.len())];
        let word = b"default";
        let Some(at) = block.windows(word.len()).position(|own| own == word) else {
            return false;
        };
        self.at += at + word.len();
        self.skip_blanks();
        let there = self.eat_word(b"=");
        self.skip_blanks();
        there
    }

    /// Four groups of four letters up to the end of the line, as mail providers
    /// hand them out.
    fn four_fours(&self) -> bool {
        let rest = self.rest_bytes();
        let own = rest.get(..FOUR_GROUPS_BYTES).unwrap_or_default();
        let shape = own.iter().enumerate().all(|(at, b)| {
            if at % 5 == 4 {
                *b == b' '
            } else {
                b.is_ascii_lowercase()
            }
        });
        !own.is_empty()
            && shape
            && matches!(
                rest.get(FOUR_GROUPS_BYTES),
                None | Some(b'\n' | b'\r' | b'\\' | b'"')
            )
    }

    /// Whether the parts of a connection stand around the name, as `libpq` reads
    /// them: `host=.. dbname=.. password=..`.
    fn is_in_connection_string(&self, name: &NameMatch) -> bool {
        let start = name.range.start.saturating_sub(120);
        let end = self.bytes.len().min(name.range.end + 120);
        let word = b"dbname=";
        self.bytes[start..end]
            .windows(word.len())
            .any(|own| own == word)
    }

    /// A password without a verb is only a word next to another, unless it
    /// looks random.
    fn only_a_word(&self, range: Range<usize>, class: SecretClass) -> bool {
        let value = String::from_utf8_lossy(&self.bytes[range]);
        class == SecretClass::Weak || (class == SecretClass::Password && !shape::is_random(&value))
    }

    /// `[]byte("`, `String::from("`: the value is the first argument.
    fn enter_call(&mut self) -> Option<(u8, usize)> {
        let start = self.at;
        let length = self
            .rest_bytes()
            .iter()
            .take(48)
            .take_while(|b| {
                b.is_ascii_alphanumeric()
                    || matches!(
                        b,
                        b'_' | b'.' | b':' | b'[' | b']' | b'<' | b'>' | b'&' | b' '
                    )
            })
            .count();
        self.at += length;
        if length > 1 && self.eat_word(b"(") {
            self.skip_blanks();
            if let Some(quote) = self.eat_quote() {
                return Some(quote);
            }
        }
        self.at = start;
        None
    }

    /// A block scalar: the value is the next line.
    fn enter_block_scalar(&mut self) {
        let rest = self.rest_bytes();
        let mut at = 0;
        if !matches!(rest.first(), Some(b'|' | b'>')) {
            return;
        }
        while matches!(rest.get(at), Some(b'|' | b'>' | b'-' | b'+')) {
            at += 1;
        }
        let line = matches!(rest.get(at), Some(b'\n' | b'\r'));
        let escaped = rest.get(at..at + 2).is_some_and(|two| two == b"\\n");
        if line || escaped {
            self.at += at + 1 + usize::from(escaped);
            while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
                self.at += 1;
            }
        }
    }

    /// Passes the few words between "token" and the token in a sentence, and says
    /// how many there were.
    fn skip_filler_words(&mut self) -> usize {
        const WORDS: &[&[u8]] = &[
            b"is",
            b"was",
            b"to",
            b"this",
            b"the",
            b"here",
            b"as",
            b"value",
            b"be",
            b"key",
            b"for",
            b"following",
            b"with",
            b"set",
            b"of",
            b"now",
            b"prod",
            b"staging",
            b"are",
        ];
        let mut words = 0;
        loop {
            self.skip_blanks();
            let length = self
                .rest_bytes()
                .iter()
                .take(12)
                .take_while(|b| b.is_ascii_lowercase())
                .count();
            let word = &self.rest_bytes()[..length];
            if words < 5 && WORDS.contains(&word) {
                words += 1;
                self.at += length;
                if matches!(self.peek(), b':' | b'=') {
                    self.at += 1;
                    self.skip_blanks();
                    break;
                }
            } else {
                break;
            }
        }
        words
    }

    fn find_closing_quote(&self, quote: u8, slashes: usize) -> usize {
        let limit = self.bytes.len().min(self.at + MAX_VALUE_BYTES);
        let mut at = self.at;
        let mut row = 0;
        while at < limit {
            match self.bytes[at] {
                b'\\' => row += 1,
                // A quote that never closes must not swallow the rest of the
                // text.
                b'\n' => return at,
                byte => {
                    // Quotes inside escaped text carry more backslashes than
                    // the one that opened.
                    if byte == quote && row <= slashes {
                        return at - row;
                    }
                    row = 0;
                }
            }
            at += 1;
        }
        floor_boundary(self.bytes, limit)
    }

    /// Whether name and value have a line to themselves, as in a file of
    /// settings, or stand in a shell's assignment.
    fn is_config_line(&self, name: &NameMatch, link: ValueLink) -> bool {
        if link != ValueLink::Tight && link != ValueLink::Sign {
            return false;
        }
        if is_shell_assignment(self.bytes, name) || self.is_in_connection_string(name) {
            return true;
        }
        if link == ValueLink::Sign && !self.is_ini_line(name) {
            return false;
        }
        // `name: value` and `name=value`, alone on the line.
        let begin = line_start(self.bytes, name.range.start);
        let alone = self.bytes[begin..name.range.start].iter().all(|b| {
            matches!(
                b,
                b' ' | b'\t' | b'-' | b'+' | b'"' | b'\'' | b'>' | b'#' | b';'
            )
        });
        let rest = self.rest_bytes();
        let length = rest
            .iter()
            .take(256)
            .take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'\\' | b'"'))
            .count();
        let tail = &rest[length..];
        let blanks = tail
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        let ended = match tail.get(blanks) {
            None | Some(b'\n' | b'\r') => true,
            Some(b'#') => blanks > 0,
            Some(b'\\') => matches!(tail.get(blanks + 1), Some(b'n' | b'r')),
            // The end of a JSON string.
            Some(b'"') => matches!(tail.get(blanks + 1), None | Some(b'}' | b',' | b']')),
            Some(_) => false,
        };
        let tail_code = matches!(
            rest.get(length.wrapping_sub(1)),
            Some(b',' | b';' | b'{' | b'(' | b')')
        );
        let separated = matches!(
            name.range.start.checked_sub(1).map(|at| self.bytes[at]),
            Some(b';')
        );
        (alone && ended && !tail_code) || separated
    }

    /// `name = value` in lower case and without code on the line.
    fn is_ini_line(&self, name: &NameMatch) -> bool {
        let line = line_start(self.bytes, name.range.start);
        line == name.range.start
            && self.bytes[name.range.clone()]
                .iter()
                .all(|b| !b.is_ascii_uppercase())
            && self
                .rest_bytes()
                .iter()
                .take(256)
                .take_while(|b| **b != b'\n')
                .all(|b| !matches!(b, b'(' | b'[' | b'{' | b';' | b'.' | b',' | b' '))
    }

    fn find_bare_end(&self, link: ValueLink, config: bool, class: SecretClass) -> usize {
        let limit = self.bytes.len().min(self.at + MAX_VALUE_BYTES);
        if config && class == SecretClass::Password && self.four_fours() {
            return self.at + FOUR_GROUPS_BYTES;
        }
        let mut at = self.at;
        while at < limit {
            let byte = self.bytes[at];
            let stop = match byte {
                b'\n' | b'\r' | b'"' | b'`' | b'\'' | b'<' => true,
                b' ' | b'\t' => class != SecretClass::Authorization,
                b'\\' => matches!(
                    self.bytes.get(at + 1),
                    Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u') | None
                ),
                b'&' => link == ValueLink::Query,
                b';' | b',' | b')' | b']' | b'}' | b'|' | b'>' => {
                    let last = self
                        .bytes
                        .get(at + 1)
                        .is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''));
                    !config || last || matches!(byte, b';')
                }
                _ => false,
            };
            if stop {
                break;
            }
            at += 1;
        }
        let mut end = floor_boundary(self.bytes, at);
        if !config && link != ValueLink::Element {
            // The full stop belongs to the sentence; in settings it may end the
            // password.
            while end > self.at && matches!(self.bytes[end - 1], b'.' | b':' | b'!' | b'?') {
                end -= 1;
            }
        }
        end
    }
}

/// Whether the name is the head of a block that describes it.
fn is_block_head(bytes: &[u8], name: &NameMatch) -> bool {
    bytes[..name.range.start].ends_with(b"variable \"")
        || bytes[..name.range.start].ends_with(b"variable \\\"")
}

/// Whether the name is assigned as a shell assigns it: in capitals and without
/// blanks.
fn is_shell_assignment(bytes: &[u8], name: &NameMatch) -> bool {
    let own = &bytes[name.range.clone()];
    let capitals = own
        .iter()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let tight = bytes.get(name.range.end) == Some(&b'=')
        && bytes
            .get(name.range.end + 1)
            .is_some_and(|b| !b.is_ascii_whitespace() && *b != b'=');
    capitals && tight
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    // Lines of minified code are endless; a name deep inside one is not alone
    // on its line anyway.
    let floor = at.saturating_sub(200);
    let mut start = at;
    while start > floor {
        let before = bytes[start - 1];
        let escaped = start >= 2 && bytes[start - 2] == b'\\' && matches!(before, b'n' | b'r');
        // The beginning of a JSON string.
        let opening = before == b'"' && start >= 2 && bytes[start - 2] == b':';
        if before == b'\n' || escaped || opening {
            break;
        }
        start -= 1;
    }
    start
}
