//! Values beside a telling name: assignments, keys and values, flags, query
//! strings, elements, sentences. Reads the text around the name by hand, so
//! that a name costs a few comparisons and no more.

use std::ops::Range;

use super::names::{self, Class};
use super::value::{self, Place};
use super::{Finding, Rank, header};

/// Longest value that is read to its end.
const LONGEST: usize = 4096;
/// Blanks between a name, its sign and its value.
const MOST_BLANKS: usize = 64;

/// A name in the text and where it stands.
pub(super) struct Name {
    pub(super) range: Range<usize>,
    
    flag: bool,
}

/// The whole name around a hit.
pub(super) fn name_at(text: &str, hit: Range<usize>) -> Name {
    let bytes = text.as_bytes();
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let mut start = hit.start;
    let floor = hit.start.saturating_sub(80);
    while start > floor && part(bytes[start - 1]) {
        start -= 1;
    }
    // Some words are only worth a look with their sign.
    let mut end = hit.end - usize::from(bytes[hit.end - 1] == b'=');
    let least = end;
    let ceiling = bytes.len().min(hit.end + 80);
    while end < ceiling && part(bytes[end]) {
        end += 1;
    }
    // `\ntoken` in escaped text is a line end and a token.
    let escaped = start > 0 && bytes[start - 1] == b'\\' && start < hit.start;
    if escaped && matches!(bytes[start], b'n' | b'r' | b't') {
        start += 1;
    }
    while end > least && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let mut flag = false;
    while start < hit.start && matches!(bytes[start], b'-' | b'.') {
        flag |= bytes[start] == b'-';
        start += 1;
    }
    
    Name {
        range: start..end,
        flag,
    }
}

/// Adds the secret that stands beside this name, if one does, and says how far
/// an unquoted value was read.
pub(super) fn beside(text: &str, name: &Name, found: &mut Vec<Finding>) -> usize {
    let mut cursor = Cursor {
        bytes: text.as_bytes(),
        at: name.range.end,
        quoted: false,
    };
    let Some(link) = cursor.link(name) else {
        return 0;
    };
    let own = text.get(name.range.clone()).unwrap_or_default();
    let Some(class) = names::class(own) else {
        return 0;
    };
    if class == Class::Cookie {
        return header::cookies(text, cursor.at, found);
    }
    let Some((range, place)) = cursor.value(name, link, class) else {
        return 0;
    };
    let read = if cursor.quoted { 0 } else { range.end };
    if let Some(finding) = judge(text, range, own, class, link, place) {
        found.push(finding);
    }
    read
}

fn judge(text: &str, range: Range<usize>, name: &str, class: Class, link: Link, place: Place) -> Option<Finding> {
    let value = text.get(range.clone())?;
    if class == Class::Authorization {
        let skip = header::scheme(value)?;
        let inner = value[skip..].trim_end();
        let start = range.start + skip;
        return value::secret(inner, class, place)
            .then(|| Finding::new("authorization", start..start + inner.len(), Rank::Word));
    }
    if class == Class::Signature && link != Link::Query {
        return None;
    }
    let blanks = value.len() - value.trim_start().len();
    let trimmed = value.trim();
    let start = range.start + blanks;
    value::secret(trimmed, class, place).then(|| {
        Finding::new(names::kind(name, class), start..start + trimmed.len(), Rank::Word)
    })
}

/// What joins the name and the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
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

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether the value stands between quotes.
    quoted: bool,
}

impl Cursor<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, word: &[u8]) -> bool {
        let there =
            self.rest().len() >= word.len() && self.rest()[..word.len()].eq_ignore_ascii_case(word);
        if there {
            self.at += word.len();
        }
        there
    }

    fn blanks(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') && self.at - start < MOST_BLANKS {
            self.at += 1;
        }
        self.at - start
    }

    /// A quote with the backslashes before it.
    fn quote(&mut self) -> Option<(u8, usize)> {
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

    fn link(&mut self, name: &Name) -> Option<Link> {
        let opened = name.range.start.checked_sub(1).map(|at| self.bytes[at]);
        if opened == Some(b'<') && self.eat(b">") {
            return Some(Link::Element);
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
                let query = matches!(opened, Some(b'?' | b'&' | b';')) && before == 0;
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
    fn hop(&mut self) -> bool {
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

    fn value(&mut self, name: &Name, link: Link, class: Class) -> Option<(Range<usize>, Place)> {
        let mut sentence = false;
        match link {
            Link::Prose => {
                sentence = true;
                self.filler(class)?;
            }
            Link::Tight | Link::Sign => {
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
            let place = match link {
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
        if link == Link::Element && !self.bytes[end..].starts_with(b"</") {
            return None;
        }
        let place = match link {
            _ if sentence => Place::Loose,
            Link::Flag => Place::Flag,
            Link::Query | Link::Element => Place::Config,
            _ if config => Place::Config,
            _ => Place::Bare,
        };
        (end > start).then_some((start..end, place))
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

    /// The few words between "token" and the token in a sentence.
    fn filler(&mut self, class: Class) -> Option<()> {
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
        let start = self.at;
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
        // A password without a verb is only a word beside another.
        (class != Class::Password || words > 0 || self.at > start + 1).then_some(())
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
        if shell(self.bytes, name) {
            return true;
        }
        if link == Link::Sign && !self.ini(name) {
            return false;
        }
        // `name: value` and `name=value`, alone on the line.
        let line = line_start(self.bytes, name.range.start);
        let alone = self.bytes[line..name.range.start].iter().all(|b| {
            matches!(
                b,
                b' ' | b'\t' | b'-' | b'+' | b'"' | b'\'' | b'>' | b'#' | b';'
            )
        });
        let rest = self.rest();
        let length = rest
            .iter()
            .take(256)
            .take_while(|b| !b.is_ascii_whitespace() && **b != b'\\')
            .count();
        let tail = &rest[length..];
        let ended = tail
            .iter()
            .take(2)
            .all(|b| matches!(b, b'\n' | b'\r' | b' ' | b'#'))
            || tail.starts_with(b"\\n")
            || tail.starts_with(b"\\r");
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
        let mut at = self.at;
        while at < limit {
            let byte = self.bytes[at];
            let stop = match byte {
                b'\n' | b'\r' | b'"' | b'`' => true,
                b' ' | b'\t' => class != Class::Authorization,
                b'\'' | b'<' => true,
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
        if before == b'\n' || escaped {
            break;
        }
        start -= 1;
    }
    start
}

/// The character boundary at or before this place.
pub(super) fn floor(bytes: &[u8], mut at: usize) -> usize {
    at = at.min(bytes.len());
    while at > 0 && at < bytes.len() && (bytes[at] & 0xC0) == 0x80 {
        at -= 1;
    }
    at
}
