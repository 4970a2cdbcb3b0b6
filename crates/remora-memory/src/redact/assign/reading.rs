//! Reads a value from its beginning to its end, and tells how it stands there:
//! between quotes, on a line of settings, in code or in a sentence.

use std::ops::Range;

use super::sign::{Cursor, Link};
use super::{Name, floor};
use crate::redact::names::Class;
use crate::redact::shape;
use crate::redact::value::Place;

/// Longest value that is read to its end.
const LONGEST: usize = 4096;
/// Length of four groups of four letters.
const FOUR_FOURS: usize = 19;
/// How far behind the name of a variable its default value is looked for.
const BLOCK: usize = 400;

impl Cursor<'_> {
    /// `{value: ..}`: the value is inside.
    fn inner(&mut self) {
        let start = self.at;
        if self.eat(b"{") && self.hop() {
            self.blanks();
        } else {
            self.at = start;
        }
    }

    /// `string =` behind a colon: a type, and the value is yet to come.
    fn annotation(&mut self) -> bool {
        let rest = self.rest();
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
            self.blanks();
        }
        there
    }

    pub(super) fn value(
        &mut self,
        name: &Name,
        link: Link,
        class: Class,
    ) -> Option<(Range<usize>, Place)> {
        let mut sentence = false;
        let mut verbless = false;
        match link {
            Link::Prose => {
                sentence = true;
                verbless = self.filler() == 0;
            }
            Link::Tight | Link::Sign => {
                self.inner();
                self.annotation();
                self.block();
            }
            Link::Flag | Link::Query | Link::Element | Link::List => {}
        }
        let prefix = self.at;
        // `b"`, `r"`, `f"`, `&"` and the like.
        for _ in 0..2 {
            let next = self.rest().get(1).copied().unwrap_or(0);
            if matches!(self.peek(), b'b' | b'r' | b'f' | b'u' | b'@' | b'&' | b'L')
                && matches!(next, b'"' | b'\'' | b'r')
            {
                self.at += 1;
            }
        }
        if let Some((quote, slashes)) = self.quote() {
            self.quoted = true;
            while self.peek() == quote && self.rest().get(1) == Some(&quote) {
                self.at += 2;
            }
            let start = self.at;
            let end = self.closing(quote, slashes);
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
                _ if verbless && class == Class::Password => Place::Flag,
                _ if sentence && !verbless => Place::Said,
                _ if sentence => Place::Loose,
                Link::List if class != Class::Password => Place::Loose,
                Link::Flag => Place::Flag,
                _ if shell(self.bytes, name) => Place::Config,
                _ => Place::Quoted,
            };
            return Some((start..end, place));
        }
        self.at = prefix;
        if matches!(link, Link::Tight | Link::Sign)
            && let Some((quote, slashes)) = self.call()
        {
            self.quoted = true;
            let start = self.at;
            let place = if class == Class::Password {
                Place::Loose
            } else {
                Place::Quoted
            };
            return Some((start..self.closing(quote, slashes), place));
        }
        if link == Link::List {
            return None;
        }
        let config = self.config(name, link);
        let start = self.at;
        let end = self.bare(link, config, class);
        if verbless && self.only_a_word(start..end, class) {
            return None;
        }
        if link == Link::Element && !self.bytes[end..].starts_with(b"</") {
            return None;
        }
        let place = match link {
            _ if verbless && class == Class::Password => Place::Flag,
            _ if sentence && !verbless => Place::Said,
            _ if sentence => Place::Loose,
            Link::Flag => Place::Flag,
            Link::Query | Link::Element => Place::Config,
            _ if config => Place::Config,
            _ => Place::Bare,
        };
        (end > start).then_some((start..end, place))
    }

    /// `variable "name" { .. default = ".."`: passes on to the value.
    pub(super) fn describe(&mut self, name: &Name) -> bool {
        if !described(self.bytes, name) {
            return false;
        }
        let limit = self.bytes.len().min(self.at + BLOCK);
        let block = &self.bytes[self.at..limit];
        let block = &block[..block.iter().position(|b| *b == b'}').unwrap_or(block.len())];
        let word = b"default";
        let Some(at) = block.windows(word.len()).position(|own| own == word) else {
            return false;
        };
        self.at += at + word.len();
        self.blanks();
        let there = self.eat(b"=");
        self.blanks();
        there
    }

    /// Four groups of four letters up to the end of the line, as mail providers
    /// hand them out.
    fn four_fours(&self) -> bool {
        let rest = self.rest();
        let own = rest.get(..FOUR_FOURS).unwrap_or_default();
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
                rest.get(FOUR_FOURS),
                None | Some(b'\n' | b'\r' | b'\\' | b'"')
            )
    }

    /// Whether the parts of a connection stand around the name, as `libpq` reads
    /// them: `host=.. dbname=.. password=..`.
    fn connection(&self, name: &Name) -> bool {
        let start = name.range.start.saturating_sub(120);
        let end = self.bytes.len().min(name.range.end + 120);
        let word = b"dbname=";
        self.bytes[start..end]
            .windows(word.len())
            .any(|own| own == word)
    }

    /// A password without a verb is only a word beside another, unless it is
    /// no word at all.
    fn only_a_word(&self, range: Range<usize>, class: Class) -> bool {
        let value = String::from_utf8_lossy(&self.bytes[range]);
        class == Class::Weak || (class == Class::Password && !shape::random(&value))
    }

    /// `[]byte("`, `String::from("`: the value is the first argument.
    fn call(&mut self) -> Option<(u8, usize)> {
        let start = self.at;
        let length = self
            .rest()
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
        if length > 1 && self.eat(b"(") {
            self.blanks();
            if let Some(quote) = self.quote() {
                return Some(quote);
            }
        }
        self.at = start;
        None
    }

    /// A block scalar: the value is the next line.
    fn block(&mut self) {
        let rest = self.rest();
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
    fn filler(&mut self) -> usize {
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
            self.blanks();
            let length = self
                .rest()
                .iter()
                .take(12)
                .take_while(|b| b.is_ascii_lowercase())
                .count();
            let word = &self.rest()[..length];
            if words < 5 && WORDS.contains(&word) {
                words += 1;
                self.at += length;
                if matches!(self.peek(), b':' | b'=') {
                    self.at += 1;
                    self.blanks();
                    break;
                }
            } else {
                break;
            }
        }
        words
    }

    fn closing(&self, quote: u8, slashes: usize) -> usize {
        let limit = self.bytes.len().min(self.at + LONGEST);
        let mut at = self.at;
        let mut row = 0;
        while at < limit {
            match self.bytes[at] {
                b'\\' => row += 1,
                b'\n' => return at,
                byte => {
                    if byte == quote && row <= slashes {
                        return at - row;
                    }
                    row = 0;
                }
            }
            at += 1;
        }
        floor(self.bytes, limit)
    }

    /// Whether name and value have a line to themselves, as in a file of
    /// settings, or stand in a shell's assignment.
    fn config(&self, name: &Name, link: Link) -> bool {
        if link != Link::Tight && link != Link::Sign {
            return false;
        }
        if shell(self.bytes, name) || self.connection(name) {
            return true;
        }
        if link == Link::Sign && !self.ini(name) {
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
        let rest = self.rest();
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
    fn ini(&self, name: &Name) -> bool {
        let line = line_start(self.bytes, name.range.start);
        line == name.range.start
            && self.bytes[name.range.clone()]
                .iter()
                .all(|b| !b.is_ascii_uppercase())
            && self
                .rest()
                .iter()
                .take(256)
                .take_while(|b| **b != b'\n')
                .all(|b| !matches!(b, b'(' | b'[' | b'{' | b';' | b'.' | b',' | b' '))
    }

    fn bare(&self, link: Link, config: bool, class: Class) -> usize {
        let limit = self.bytes.len().min(self.at + LONGEST);
        if config && class == Class::Password && self.four_fours() {
            return self.at + FOUR_FOURS;
        }
        let mut at = self.at;
        while at < limit {
            let byte = self.bytes[at];
            let stop = match byte {
                b'\n' | b'\r' | b'"' | b'`' | b'\'' | b'<' => true,
                b' ' | b'\t' => class != Class::Authorization,
                b'\\' => matches!(
                    self.bytes.get(at + 1),
                    Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u') | None
                ),
                b'&' => link == Link::Query,
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
        let mut end = floor(self.bytes, at);
        if !config && link != Link::Element {
            while end > self.at && matches!(self.bytes[end - 1], b'.' | b':' | b'!' | b'?') {
                end -= 1;
            }
        }
        end
    }
}

/// Whether the name is the head of a block that describes it.
fn described(bytes: &[u8], name: &Name) -> bool {
    bytes[..name.range.start].ends_with(b"variable \"")
        || bytes[..name.range.start].ends_with(b"variable \\\"")
}

/// Whether the name is assigned as a shell assigns it: capitals, no blanks, or
/// `export` before it.
fn shell(bytes: &[u8], name: &Name) -> bool {
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
