//! Normalisation: removes from an error text what differs between two runs of the
//! same error: directories, locations, numbers, hashes, times, temporary names,
//! quotes. Fingerprints are computed from the result, so it must not change.

use remora_core::text::truncate_bytes;

/// Bytes of a text that are read.
const MAX_SCANNED_BYTES: usize = 2_000;

/// The last part of a path or URL.
pub(super) fn file_name(path: &str) -> &str {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Normalises the name of a test or function, which keeps its digits: `case_2` is
/// not `case_3`.
pub(super) fn normalise_subject(name: &str) -> String {
    let name: String = name.chars().take(300).collect();
    // A documentation test is named after its line, which moves.
    let name = match name.split_once(" (line ") {
        Some((head, _)) => head.to_owned(),
        None => name,
    };
    name.split_whitespace()
        .map(|w| {
            if w.contains('/') && w.contains('.') {
                file_name(w)
            } else {
                w
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The text in a form that is the same for the same error.
pub(super) fn normalise_text(text: &str) -> String {
    let mut out = String::new();
    for raw in truncate_bytes(text, MAX_SCANNED_BYTES).split_whitespace() {
        let word = normalise_word(raw);
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
    }
    if !out.contains('<') {
        return out;
    }
    // The count also changes the word after it.
    out.replace("<n> error(s)", "<n> errors")
        .replace("<n> error ", "<n> errors ")
}

/// One word between spaces, with its punctuation.
fn normalise_word(raw: &str) -> String {
    let open = |c: char| matches!(c, '(' | '[' | '{' | '<' | ',' | ';') || is_quote(c);
    let close = |c: char| {
        matches!(c, ')' | ']' | '}' | '>' | ',' | ';' | ':' | '.' | '!' | '?') || is_quote(c)
    };
    let core = raw.trim_start_matches(open).trim_end_matches(close);
    if core.is_empty() {
        return raw.chars().map(plain_quote).collect();
    }
    let start = raw.find(core).unwrap_or(0);
    let before = &raw[..start];
    let after = &raw[start + core.len()..];
    let mut out: String = before.chars().map(plain_quote).collect();
    out.push_str(&normalise_core(core));
    out.extend(after.chars().map(plain_quote));
    out
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`' | '‘' | '’' | '“' | '”' | '«' | '»')
}

pub(super) fn plain_quote(c: char) -> char {
    if is_quote(c) { '\'' } else { c }
}

fn normalise_core(core: &str) -> String {
    if is_uuid(core) {
        return "<id>".to_owned();
    }
    // Dates, times, addresses, percentages: digits and their separators.
    if core.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && core
            .bytes()
            .all(|b| b.is_ascii_digit() || b"-+:.,/TZ%".contains(&b))
        && core.bytes().any(|b| b.is_ascii_digit())
    {
        return "<n>".to_owned();
    }
    if is_path(core) {
        return normalise_path(core);
    }
    if let Some(file) = normalise_location(core) {
        return file;
    }
    normalise_pieces(core)
}

/// `a.rs:12:5`: the file without line and column.
fn normalise_location(core: &str) -> Option<String> {
    let (file, rest) = core.split_once(':')?;
    let numbers = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b':');
    (numbers && file.contains('.') && file.chars().any(char::is_alphabetic))
        .then(|| pieces_of_name(file))
}

fn is_path(core: &str) -> bool {
    if let Some((scheme, _)) = core.split_once("://") {
        return scheme.len() <= 10;
    }
    let slashes = core.bytes().filter(|b| *b == b'/' || *b == b'\\').count();
    let drive =
        core.len() > 2 && core.as_bytes()[1] == b':' && matches!(core.as_bytes()[2], b'\\' | b'/');
    drive || slashes > 0 && (core.starts_with(['/', '~', '.']) || core.contains('.') || slashes > 1)
}

fn normalise_path(core: &str) -> String {
    let temporary = ["/tmp/", "/var/folders/", "/T/", "\\Temp\\"]
        .iter()
        .any(|t| core.contains(t));
    let name = file_name(core.trim_end_matches(['/', '\\']));
    let name = normalise_location(name).unwrap_or_else(|| pieces_of_name(name));
    // The name of a temporary file is random unless it has an extension.
    if temporary && !name.contains('.') {
        return "<tmp>".to_owned();
    }
    name
}

/// Normalises a file name: digits in it mean something unless they are many or part
/// of a hash.
fn pieces_of_name(name: &str) -> String {
    map_runs(name, |run| {
        if is_hex_name(run)
            || is_random(run)
            || run.len() >= 5 && run.bytes().all(|b| b.is_ascii_digit())
        {
            "<id>".into()
        } else {
            run.into()
        }
    })
}

/// Normalises any other word: identifiers stay whole, free numbers go.
fn normalise_pieces(core: &str) -> String {
    let out = map_runs(core, |run| {
        if is_hex_name(run) || is_address(run) {
            return "<id>".into();
        }
        let digits = run.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return run.into();
        }
        // 12, 12ms, 3rd, 10T; but not 2fa_token.
        let unit = &run[digits..];
        if unit.len() <= 4 && unit.chars().all(char::is_alphabetic) || unit.is_empty() {
            return if is_time_unit(unit) {
                "<n>".into()
            } else {
                format!("<n>{unit}").into()
            };
        }
        run.into()
    });
    // Most words have no number in them.
    if !out.contains('<') {
        return out;
    }
    out.replace("<n>.<n>.<n>.<n>", "<n>")
        .replace("<n>.<n>.<n>", "<n>")
        .replace("<n>.<n>", "<n>")
        .replace("<n>,<n>", "<n>")
        .replace("<n>:<n>:<n>", "<n>")
        .replace("<n>:<n>", "<n>")
        .replace("<n>-<n>-<n>", "<n>")
}

fn is_time_unit(unit: &str) -> bool {
    matches!(
        unit,
        "s" | "ms"
            | "us"
            | "µs"
            | "ns"
            | "m"
            | "h"
            | "sec"
            | "secs"
            | "min"
            | "B"
            | "KB"
            | "MB"
            | "GB"
            | "kB"
            | "KiB"
            | "MiB"
            | "GiB"
    )
}

/// Applies `name` to each run of letters, digits and underscores.
fn map_runs<'a>(text: &'a str, name: impl Fn(&'a str) -> std::borrow::Cow<'a, str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = None;
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() || c == '_' || c == 'µ' {
            from.get_or_insert(at);
        } else {
            if let Some(start) = from.take() {
                out.push_str(&name(&text[start..at]));
            }
            out.push(plain_quote(c));
        }
    }
    if let Some(start) = from {
        out.push_str(&name(&text[start..]));
    }
    out
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| {
            if matches!(at, 8 | 13 | 18 | 23) {
                b == b'-'
            } else {
                b.is_ascii_hexdigit()
            }
        })
}

fn is_address(run: &str) -> bool {
    run.strip_prefix("0x")
        .is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Seven or more hexadecimal digits with both letters and digits among them.
fn is_hex_name(run: &str) -> bool {
    run.len() >= 7
        && run.bytes().all(|b| b.is_ascii_hexdigit())
        && run.bytes().any(|b| b.is_ascii_digit())
        && (run.bytes().any(|b| b.is_ascii_alphabetic()) || run.len() >= 16)
}

/// `tmpx3k9q`: letters and digits mixed as only generators do.
fn is_random(run: &str) -> bool {
    run.len() >= 7 && run.starts_with("tmp") && run.bytes().any(|b| b.is_ascii_digit())
}
