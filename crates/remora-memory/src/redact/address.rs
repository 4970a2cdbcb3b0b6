//! Credentials in addresses: `scheme://user:password@host`, a token alone
//! before the `@`, and the keys of error collectors.

use std::ops::Range;

use super::shape::{self, Mix};
use super::{Finding, Rank, value};

/// Longest part before the `@`.
const LONGEST: usize = 1024;

/// Looks at the address whose `://` stands here, and says how far it has read.
pub(super) fn credentials(text: &str, sign: Range<usize>, found: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let start = sign.end;
    let limit = bytes.len().min(start + LONGEST);
    let mut last = None;
    let mut colon = None;
    let mut read = start;
    for (at, byte) in bytes[..limit].iter().enumerate().skip(start) {
        read = at;
        match byte {
            b'@' => last = Some(at),
            b':' if colon.is_none() && last.is_none() => colon = Some(at),
            b'/' | b'?' | b'#' if last.is_some() || colon.is_none() => break,
            // A port and a path: no credentials before this.
            b'/' if colon.is_some_and(|c| digits(&bytes[c + 1..at])) => break,
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|' => {
                break;
            }
            b',' if last.is_some() => break,
            _ => {}
        }
    }
    if let Some(at) = last {
        judge(text, start, colon, at, found);
    }
    read
}

fn judge(text: &str, start: usize, colon: Option<usize>, at: usize, found: &mut Vec<Finding>) {
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
        let strong =
            word.len() >= 16 && (shape::random(word) || (shape::hex(word) && word.len() >= 32));
        if strong && !value::stands_for_another(word) {
            found.push(Finding::new(kind, secret, Rank::Place));
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
        found.push(Finding::new(kind, range, Rank::Place));
    }
    if !word.is_empty() && !harmless(user, word) {
        found.push(Finding::new("url-credentials", secret, Rank::Place));
    }
}

/// A token in the user's place, with an empty or well-known password.
fn secret_user(user: &str, start: usize) -> Option<Range<usize>> {
    let long = user.len() >= 24 && (shape::random(user) || shape::hex(user));
    (long && !value::stands_for_another(user)).then(|| start..start + user.len())
}

/// What documentation and local set-ups write: no secret to anyone.
fn harmless(user: &str, word: &str) -> bool {
    let mix = Mix::of(word);
    let variable = word.starts_with(['$', '{', '<', '%', '[', '*'])
        && !shape::random(word)
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

fn digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}
