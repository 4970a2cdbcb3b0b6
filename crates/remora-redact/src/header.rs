//! Secrets in headers: bearer and basic credentials, other schemes, cookies.

use super::shape::{self, CharMix};
use super::{Finding, FindingRank, value};

const AUTH_SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "key",
    "ssws",
    "digest",
    "negotiate",
    "ntlm",
    "bot",
    "geniekey",
    "splunk",
    "oauth",
    "sso-key",
    "pve",
    "hawk",
    "jwt",
    "sharedkey",
];

/// Attributes of a cookie, which are no values of it.
const COOKIE_ATTRIBUTES: &[&str] = &[
    "path", "domain", "expires", "max-age", "samesite", "version", "priority", "comment",
];

/// How much of a header is read.
const MAX_HEADER_BYTES: usize = 8192;

/// Where the credentials begin in the value of an authorization header.
pub(super) fn find_credentials_start(value: &str) -> Option<usize> {
    let lead = value.len() - value.trim_start().len();
    let rest = &value[lead..];
    let Some((word, tail)) = rest.split_once(' ') else {
        return Some(lead);
    };
    if AUTH_SCHEMES.iter().any(|s| word.eq_ignore_ascii_case(s)) {
        let gap = tail.len() - tail.trim_start().len();
        return Some(lead + word.len() + 1 + gap);
    }
    None
}

/// `Bearer` and what follows, wherever it occurs.
pub(super) fn find_bearer_token(text: &str, at: usize, found: &mut Vec<Finding>) {
    // A shell may need a backslash before the blank, JSON doubles it.
    let escaped = count_bytes_while(text, at, |b| b == b'\\').min(2);
    let Some(start) = skip_blanks(text, at + escaped) else {
        return;
    };
    let length = count_bytes_while(text, start, |b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b'|' | b':' | b'%'
            )
    });
    let mut end = start + length;
    while end > start && matches!(text.as_bytes()[end - 1], b'.' | b':' | b'|') {
        end -= 1;
    }
    let Some(word) = text.get(start..end) else {
        return;
    };
    let mix = CharMix::from_text(word);
    // "bearer of bad news" and names of types follow the word as well.
    let strong = shape::is_random(word)
        || shape::is_uuid(word)
        || (mix.digits > 1 && mix.count_letters() > 3 && mix.switches > 1);
    if word.len() >= 12 && strong && !value::stands_for_another(word) {
        found.push(Finding::new("bearer-token", start..end, FindingRank::Place));
    }
}

/// `Basic` and a user with a password in base64; nothing else decodes so.
pub(super) fn find_basic_auth(text: &str, at: usize, found: &mut Vec<Finding>) {
    let Some(start) = skip_blanks(text, at - 1) else {
        return;
    };
    let length = count_bytes_while(text, start, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_')
    });
    let Some(word) = text.get(start..start + length) else {
        return;
    };
    if user_and_password(word) {
        found.push(Finding::new(
            "basic-auth",
            start..start + length,
            FindingRank::Place,
        ));
    }
}

/// Whether this base64 decodes to printable text with a colon in it.
pub(super) fn user_and_password(word: &str) -> bool {
    let body = word.trim_end_matches('=');
    if body.len() < 6 || body.len() > 1024 {
        return false;
    }
    let mut bits = 0u32;
    let mut held = 0;
    let mut colon = false;
    for byte in body.bytes() {
        let Some(six) = decode_sextet(byte) else {
            return false;
        };
        // Each byte is checked and dropped, so that no decoded copy of the
        // credentials exists.
        bits = ((bits << 6) | u32::from(six)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            let decoded = (bits >> held) & 0xFF;
            if !(0x20..0x7F).contains(&decoded) {
                return false;
            }
            colon |= decoded == u32::from(b':');
        }
    }
    colon
}

fn decode_sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Adds the values of a cookie header, which begins here, and says where it
/// ends.
pub(super) fn find_cookie_values(text: &str, at: usize, found: &mut Vec<Finding>) -> usize {
    let Some(rest) = text.get(at..) else {
        return at;
    };
    let lead = rest.len() - rest.trim_start_matches([' ', '"', '\'', '\\']).len();
    let rest = &rest[lead..];
    let end = rest
        .bytes()
        .take(MAX_HEADER_BYTES)
        // Headers come inside command lines, JSON and code, and end with their
        // quotes.
        .position(|b| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'))
        .unwrap_or_else(|| super::assign::floor_boundary(rest.as_bytes(), MAX_HEADER_BYTES));
    let mut offset = at + lead;
    for piece in rest[..end].split_inclusive(';') {
        let pair = piece.trim_end_matches(';');
        if let Some((name, word)) = pair.split_once('=') {
            let start = offset + name.len() + 1;
            let plain = name
                .trim()
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
            let named = !name.trim().is_empty() && plain;
            let word = word.trim_end();
            if named
                && !COOKIE_ATTRIBUTES.contains(&name.trim().to_ascii_lowercase().as_str())
                && is_value(word)
            {
                found.push(Finding::new(
                    "cookie",
                    start..start + word.len(),
                    FindingRank::Place,
                ));
            }
        }
        offset += piece.len();
    }
    offset
}

pub(super) fn is_value(word: &str) -> bool {
    let mix = CharMix::from_text(word);
    let enough = shape::is_random(word)
        || shape::is_uuid(word)
        || (word.len() >= 16 && mix.digits > 2 && mix.count_letters() > 2);
    word.len() >= 8
        && mix.spaces == 0
        && enough
        && !value::stands_for_another(word)
        && !word.contains('(')
}

/// The first place behind the blanks; there must be some.
fn skip_blanks(text: &str, at: usize) -> Option<usize> {
    let count = count_bytes_while(text, at, |b| matches!(b, b' ' | b'\t'));
    (1..=8).contains(&count).then_some(at + count)
}

/// How many bytes from here on are of a sort.
pub(super) fn count_bytes_while(text: &str, at: usize, sort: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(MAX_HEADER_BYTES)
        .take_while(|b| sort(**b))
        .count()
}
