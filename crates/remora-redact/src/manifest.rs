//! The values of a Kubernetes `Secret`, in YAML and in JSON, whatever their
//! keys are called: base64 is no cover.

use std::ops::Range;

use super::header::count_bytes_while;
use super::{Finding, FindingRank, MARK_PREFIX, value};

/// What says that a manifest is one.
pub(super) const SECRET_KIND_LITERALS: &[&str] = &[
    "kind: Secret",
    "\"kind\":\"Secret\"",
    "\"kind\": \"Secret\"",
    "\\\"kind\\\":\\\"Secret\\\"",
    "\\\"kind\\\": \\\"Secret\\\"",
];

/// How far around that the values are looked for.
const MAX_DISTANCE_BYTES: usize = 16 * 1024;

/// Adds the values under `data` and `stringData` of the manifest whose kind is
/// here, and returns how far it has read; nothing before `from` is read.
pub(super) fn find_manifest_secrets(
    text: &str,
    hit: Range<usize>,
    from: usize,
    found: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    // `kind: SecretStore` is another thing.
    if bytes.get(hit.end).is_some_and(u8::is_ascii_alphanumeric) {
        return from;
    }
    let first = super::assign::floor_boundary(
        bytes,
        hit.start.saturating_sub(MAX_DISTANCE_BYTES).max(from),
    );
    let last = super::assign::floor_boundary(bytes, hit.end + MAX_DISTANCE_BYTES);
    let quoted = bytes[hit.clone()].contains(&b'"');
    // A list holds manifests of other kinds, too; each begins with its version.
    let begin = if quoted {
        "apiVersion\""
    } else {
        "apiVersion:"
    };
    let before = text.get(first..hit.start).unwrap_or_default();
    let start = before.rfind(begin).map_or(first, |at| first + at);
    let behind = text.get(hit.end..last).unwrap_or_default();
    let end = behind.find(begin).map_or(last, |at| hit.end + at);
    if quoted {
        find_json_values(text, start..end, found);
    } else {
        find_yaml_values(text, start..end, found);
    }
    end
}

/// The end of the line and the beginning of the next, escaped or not.
fn line_end(text: &str, at: usize, limit: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut end = at;
    while end < limit {
        if bytes[end] == b'\n' {
            return (end, end + 1);
        }
        if bytes[end] == b'\\' && bytes.get(end + 1) == Some(&b'n') {
            return (end, end + 2);
        }
        end += 1;
    }
    (limit, limit)
}

/// The values of the blocks `data` and `stringData` in this range.
fn find_yaml_values(text: &str, range: Range<usize>, found: &mut Vec<Finding>) {
    let (mut at, limit) = (range.start, range.end);
    // How far the keys of the block under `data:` must be set in.
    let mut block: Option<usize> = None;
    while at < limit {
        let (end, next) = line_end(text, at, limit);
        let Some(line) = text.get(at..end) else {
            break;
        };
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let own = line.trim();
        if own == "data:" || own == "stringData:" {
            block = Some(indent);
        } else if let Some(least) = block {
            let entry = own.split_once(':').filter(|_| indent > least);
            if let Some((_, word)) = entry {
                let quotes: &[char] = &['"', '\'', ' ', '\\'];
                let word = word.trim_matches(quotes);
                // From the right: a key may be spelled like its value.
                let place = line.rfind(word).unwrap_or(0);
                add_if_secret(text, at + place..at + place + word.len(), found);
            } else if !own.is_empty() && indent <= least {
                block = None;
            }
        }
        at = next;
    }
}

/// The values of the objects `data` and `stringData` in this range.
fn find_json_values(text: &str, range: Range<usize>, found: &mut Vec<Finding>) {
    let Some(own) = text.get(range.clone()) else {
        return;
    };
    for (at, key) in own
        .match_indices("ata\\\":")
        .chain(own.match_indices("ata\":"))
    {
        let named = own[..at].ends_with("\"d") || own[..at].ends_with("\"stringD");
        let open = range.start + at + key.len();
        let open = open + count_bytes_while(text, open, |b| b == b' ');
        if named && text.as_bytes().get(open) == Some(&b'{') {
            find_object_values(text, open + 1, range.end, found);
        }
    }
}

/// `"key": "value"` up to the end of the object.
fn find_object_values(text: &str, at: usize, limit: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut at = at;
    let mut behind_colon = false;
    while at < limit {
        match bytes[at] {
            b'}' | b'{' => return,
            b':' => behind_colon = true,
            b',' => behind_colon = false,
            b'"' => {
                let length =
                    count_bytes_while(text, at + 1, |b| !matches!(b, b'"' | b'\\' | b'\n'));
                if behind_colon {
                    add_if_secret(text, at + 1..at + 1 + length, found);
                }
                at += 1 + length;
                at += usize::from(bytes.get(at) == Some(&b'\\'));
            }
            _ => {}
        }
        at += 1;
    }
}

fn add_if_secret(text: &str, range: Range<usize>, found: &mut Vec<Finding>) {
    let Some(word) = text.get(range.clone()) else {
        return;
    };
    // Every value counts, whatever it looks like: the manifest says that it is
    // secret.
    let plain = word.bytes().all(|b| b.is_ascii_graphic());
    if word.len() >= 4 && plain && !word.contains(MARK_PREFIX) && !value::stands_for_another(word) {
        found.push(Finding::new("secret", range, FindingRank::Place));
    }
}
