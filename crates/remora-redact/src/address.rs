//! Credentials in addresses: `scheme://user:password@host`, a token alone
//! before the `@`, and the keys of error collectors.

use std::ops::Range;

use super::shape::{self, CharMix};
use super::{Finding, FindingRank, value};

/// Longest part before the `@`.
const MAX_USERINFO_BYTES: usize = 1024;

/// Looks at the address whose `://` is here, and returns how far it has read.
pub(super) fn find_credentials(text: &str, sign: Range<usize>, found: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let start = sign.end;
    // Bounded, since a text may be made of nothing but `://`.
    let limit = bytes.len().min(start + MAX_USERINFO_BYTES);
    let mut last = None;
    let mut colon = None;
    let mut read = start;
    for (at, byte) in bytes[..limit].iter().enumerate().skip(start) {
        read = at;
        match byte {
            // The last one counts: a password may hold an `@` of its own.
            b'@' => last = Some(at),
            b':' if colon.is_none() && last.is_none() => colon = Some(at),
            b'/' | b'?' | b'#' if last.is_some() || colon.is_none() => break,
            // A port and a path: no credentials before this.
            b'/' if colon.is_some_and(|c| is_digits(&bytes[c + 1..at])) => break,
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|' => {
                break;
            }
            // Connection strings list several hosts behind one user.
            b',' if last.is_some() => break,
            _ => {}
        }
    }
    if let Some(at) = last {
        check_userinfo(text, start, colon, at, found);
    }
    read
}

fn check_userinfo(
    text: &str,
    start: usize,
    colon: Option<usize>,
    at: usize,
    found: &mut Vec<Finding>,
) {
    let host = text.get(at + 1..).unwrap_or_default();
    let host = &host[..host
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')))
        .unwrap_or(host.len())];
    let sentry = host.contains("sentry") || host.contains("ingest.");
    let (secret, alone) = match colon {
        Some(colon) if colon < at => (colon + 1..at, false),
        _ => (start..at, true),
    };
    let Some(word) = text.get(secret.clone()) else {
        return;
    };
    if alone {
        let kind = if sentry {
            "sentry-dsn"
        } else {
            "url-credentials"
        };
        // A lone user name is no secret, so a single word must look like a
        // token.
        let strong = word.len() >= 16
            && (shape::is_random(word) || (shape::is_hex(word) && word.len() >= 32));
        if strong && !value::stands_for_another(word) {
            found.push(Finding::new(kind, secret, FindingRank::Place));
        }
        return;
    }
    let user = text.get(start..secret.start - 1).unwrap_or_default();
    if let Some(range) = secret_user(user, start) {
        let kind = if sentry {
            "sentry-dsn"
        } else {
            "url-credentials"
        };
        found.push(Finding::new(kind, range, FindingRank::Place));
    }
    if !word.is_empty() && !is_harmless(user, word) {
        found.push(Finding::new("url-credentials", secret, FindingRank::Place));
    }
}

/// A token in the user's place, with an empty or well-known password.
fn secret_user(user: &str, start: usize) -> Option<Range<usize>> {
    let long = user.len() >= 24 && (shape::is_random(user) || shape::is_hex(user));
    (long && !value::stands_for_another(user)).then(|| start..start + user.len())
}

/// What documentation and local set-ups write: no secret to anyone.
fn is_harmless(user: &str, word: &str) -> bool {
    let mix = CharMix::from_text(word);
    let variable = word.starts_with(['$', '{', '<', '%', '[', '*'])
        && !shape::is_random(word)
        && (word.ends_with(['}', '>', '%', ']', '*', ')'])
            || word[1..]
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    word.eq_ignore_ascii_case(user)
        || word.len() < 3
        || variable
        || value::stands_for_another(word)
        || (mix.digits == word.len() && word.len() <= 5)
}

fn is_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}
