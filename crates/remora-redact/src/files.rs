//! Texts whose sensitivity is known from the file they come from.

use std::borrow::Cow;

use super::paths::PathSensitivity;
use super::{MARK_PREFIX, RedactionCounts, shape};

/// Longest value over several lines.
const MAX_VALUE_BYTES: usize = 8192;

/// How much of a file the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueExtent {
    /// The file or a piece of it, so that even a bare word is a piece of a value.
    File,
    /// What a command printed, which may be about anything.
    Output,
}

/// The text as a file of this nature is kept; other rules come after.
pub(super) fn redact_file_text<'a>(
    text: &'a str,
    nature: PathSensitivity,
    extent: ValueExtent,
    marks: &mut RedactionCounts,
) -> Cow<'a, str> {
    match nature {
        PathSensitivity::Plain => Cow::Borrowed(text),
        PathSensitivity::Settings => redact_settings(text, extent, marks),
        PathSensitivity::Key => redact_key_material(text, extent, marks),
        PathSensitivity::Denied => {
            // Redacting twice must change nothing: imports and audits read
            // stored text again.
            if text.trim().is_empty() || text.starts_with(MARK_PREFIX) {
                Cow::Borrowed(text)
            } else {
                Cow::Owned(record_mark("denied-path", marks))
            }
        }
    }
}

fn record_mark(kind: &'static str, marks: &mut RedactionCounts) -> String {
    marks.increment_kind(Cow::Borrowed(kind));
    format!("{MARK_PREFIX}{kind}]")
}

/// `NAME=value` becomes `NAME=[redacted:env-value]`.
fn redact_settings<'a>(
    text: &'a str,
    extent: ValueExtent,
    marks: &mut RedactionCounts,
) -> Cow<'a, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let mut named = false;
    while at < text.len() {
        let rest = &text[at..];
        let length = rest.find('\n').map_or(rest.len(), |n| n + 1);
        let line = &rest[..length];
        let Some(offset) = value_offset(line) else {
            at += length;
            continue;
        };
        named = true;
        let value = line[offset..].trim_end();
        let start = at + offset;
        let mut end = start + value.len();
        at += length;
        let bare = value.trim_matches(['"', '\'']);
        if bare.is_empty() && value.len() != 1 || bare.starts_with(MARK_PREFIX) {
            continue;
        }
        // Private keys stand in `.env` files over many quoted lines.
        if let Some(close) = open_quote(value, &text[start..]) {
            end = start + close;
            let after = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
            at = at.max(after);
        }
        out.push_str(&text[kept..start]);
        out.push_str(&record_mark("env-value", marks));
        kept = end;
    }
    let word = text.trim();
    let comment = word.is_empty() || word.starts_with('#') || word.starts_with(MARK_PREFIX);
    // An edit shows pieces of a file: a piece without a name is part of
    // somebody's value.
    if !named && extent == ValueExtent::File && !comment && !word.contains(MARK_PREFIX) {
        return Cow::Owned(record_mark("env-value", marks));
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Where a quoted value that goes over several lines ends.
fn open_quote(value: &str, rest: &str) -> Option<usize> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    if value.len() > 1 && value[1..].contains(quote) {
        return None;
    }
    let within = rest.get(1..)?;
    let close = within.find(quote)?;
    (close < MAX_VALUE_BYTES).then_some(close + 2)
}

/// Where the value begins in a line that sets one.
fn value_offset(line: &str) -> Option<usize> {
    let mut rest = line;
    // Numbers that a reading tool adds, then the sign of a diff.
    let trimmed = rest.trim_start();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &trimmed[digits..];
    if digits > 0 && behind.starts_with(['\u{2192}', '\t', '|', ':', '-']) {
        rest = behind.trim_start_matches(['\u{2192}', '\t', '|', ':', '-']);
    }
    // A setting that is commented out is still a secret.
    rest = rest.trim_start_matches(['+', '-', ' ', '\t', '#', '>']);
    for word in [
        "export ",
        "set ",
        "setenv ",
        "$env:",
        "declare -x ",
        "echo \"",
        "echo '",
        "echo ",
    ] {
        if let Some(behind) = rest.strip_prefix(word) {
            rest = behind.trim_start();
        }
    }
    let name = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        .count();
    let first = rest.bytes().next()?;
    if name == 0 || !(first.is_ascii_alphabetic() || first == b'_') {
        return None;
    }
    let behind = rest[name..].trim_start_matches([' ', '\t']);
    let value = behind.strip_prefix('=')?.trim_start_matches([' ', '\t']);
    Some(line.len() - value.len())
}

/// Long runs of base64 go, unless the file says that it is public.
fn redact_key_material<'a>(
    text: &'a str,
    extent: ValueExtent,
    marks: &mut RedactionCounts,
) -> Cow<'a, str> {
    // The endings are shared by public files; private blocks among them are
    // found by their armour.
    if text.contains("BEGIN CERTIFICATE") || text.contains("PUBLIC KEY") || text.contains("ssh-") {
        return Cow::Borrowed(text);
    }
    let part = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'$')
    };
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|b| part(**b)).count();
        let solid = bytes[at..at + length].iter().any(u8::is_ascii_alphanumeric)
            && !bytes[at..at + length].starts_with(b"-----");
        // A command that names a key's file may print anything: paths, for one.
        let printed = extent == ValueExtent::Output;
        let own = text.get(at..at + length).unwrap_or_default();
        let plain = printed && (shape::is_path(own) || !shape::is_random(own));
        if length >= 20 && solid && !plain {
            out.push_str(&text[kept..at]);
            out.push_str(&record_mark("private-key", marks));
            kept = at + length;
        }
        at += length.max(1);
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}
