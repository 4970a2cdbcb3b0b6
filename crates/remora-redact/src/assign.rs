//! Values next to a telling name: assignments, keys and values, flags, query
//! strings, elements, sentences. Reads the text around the name by hand, so
//! that a name costs a few comparisons and no more.

mod reading;
mod sign;

use std::ops::Range;

use sign::{Cursor, ValueLink};

use super::names::{self, SecretClass};
use super::value::{self, ValueContext};
use super::{Finding, FindingRank, header};

/// A name in the text and its place.
pub(super) struct NameMatch {
    pub(super) range: Range<usize>,

    flag: bool,
}

/// The whole name around a hit.
pub(super) fn name_at(text: &str, hit: Range<usize>) -> NameMatch {
    let bytes = text.as_bytes();
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let mut start = hit.start;
    // Longer runs are data, not names; the bound keeps many hits in one run
    // cheap.
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

    NameMatch {
        range: start..end,
        flag,
    }
}

/// Adds the secret next to this name, if there is one, and returns how far an
/// unquoted value was read.
pub(super) fn find_assigned_secret(
    text: &str,
    name: &NameMatch,
    found: &mut Vec<Finding>,
) -> usize {
    let mut cursor = Cursor::after_name(text, name);
    let Some(mut link) = cursor.read_link(name) else {
        return 0;
    };
    let own = text.get(name.range.clone()).unwrap_or_default();
    // After the sign: most words such as "token" in prose have none, and
    // splitting a name costs more.
    let Some(class) = names::classify_name(own) else {
        return 0;
    };
    if own.eq_ignore_ascii_case("pass") && is_test_verdict(text, name, link) {
        return 0;
    }
    if cursor.skip_to_default(name) {
        link = ValueLink::Sign;
    }
    if class == SecretClass::Cookie {
        return header::find_cookie_values(text, cursor.at, found);
    }
    let Some((range, place)) = cursor.read_value(name, link, class) else {
        return 0;
    };
    // A quoted value ends soon; only unquoted runs can be read over and over.
    let read = if cursor.quoted { 0 } else { range.end };
    if let Some(finding) = check_value(text, range, own, class, link, place) {
        found.push(finding);
    }
    read
}

/// Whether "pass" is what became of a test, or what one does with a value.
fn is_test_verdict(text: &str, name: &NameMatch, link: ValueLink) -> bool {
    let own = &text[name.range.clone()];
    let before = text[..name.range.start].trim_end_matches([' ', '\t']);
    match link {
        ValueLink::Prose => true,
        // Test runners put it in capitals before the name of the test.
        ValueLink::Tight | ValueLink::Sign => {
            own == "PASS"
                && text.as_bytes().get(name.range.end) == Some(&b':')
                && (before.is_empty()
                    || before.ends_with(['\n', '\r', '-', ']', '*', '"'])
                    || before.ends_with("\\n")
                    || before.ends_with("\\t"))
        }
        ValueLink::Flag | ValueLink::Query | ValueLink::Element | ValueLink::List => false,
    }
}

fn check_value(
    text: &str,
    range: Range<usize>,
    name: &str,
    class: SecretClass,
    link: ValueLink,
    place: ValueContext,
) -> Option<Finding> {
    let value = text.get(range.clone())?;
    if class == SecretClass::Authorization {
        let skip = header::find_credentials_start(value)?;
        let inner = value[skip..].trim_end();
        let start = range.start + skip;
        return value::is_secret(inner, class, place).then(|| {
            Finding::new(
                "authorization",
                start..start + inner.len(),
                FindingRank::Word,
            )
        });
    }
    // Signatures of commits and files are public; one in an address grants
    // access.
    if class == SecretClass::Signature && link != ValueLink::Query {
        return None;
    }
    let blanks = value.len() - value.trim_start().len();
    let trimmed = value.trim();
    let start = range.start + blanks;
    value::is_secret(trimmed, class, place).then(|| {
        Finding::new(
            names::find_mark_kind(name, class),
            start..start + trimmed.len(),
            FindingRank::Word,
        )
    })
}

/// The character boundary at or before this place.
pub(super) fn floor_boundary(bytes: &[u8], mut at: usize) -> usize {
    at = at.min(bytes.len());
    while at > 0 && at < bytes.len() && (bytes[at] & 0xC0) == 0x80 {
        at -= 1;
    }
    at
}
