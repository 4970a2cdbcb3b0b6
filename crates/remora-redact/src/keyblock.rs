//! Private keys in armour: PEM of every sort, OpenSSH, PGP, `PuTTY`. Whole
//! blocks, blocks cut off at either end, and blocks in escaped text.

use std::ops::Range;

use super::assign::floor_boundary;

/// Longest block that is looked for its end.
const MAX_KEY_BLOCK_BYTES: usize = 64 * 1024;
/// Longest line of a body that was cut off at its beginning.
const MAX_KEY_LINE_BYTES: usize = 8192;
/// Longest number of lines, with the space around it.
const MAX_COUNT_BYTES: usize = 32;
/// Fewer characters of base64 than this are an illustration.
const MIN_BASE64_CHARS: usize = 24;

/// The block that begins here, if it is a private key with a body.
pub(super) fn find_key_block(text: &str, start: usize) -> Option<Range<usize>> {
    let limit = floor_boundary(text.as_bytes(), start + MAX_KEY_BLOCK_BYTES);
    let rest = text.get(start..limit)?;
    let head = find_label_end(rest, "-----BEGIN")?;
    let body = rest.get(head..)?;
    // Even if the block never ends: truncated output is where keys would slip
    // through.
    let close = body.find("-----");
    if let Some(close) = close
        && body[close..].starts_with("-----END")
    {
        let tail = &body[close..];
        let end = find_label_end(tail, "-----END").unwrap_or("-----END".len());
        return (count_base64_chars(&body[..close]) >= MIN_BASE64_CHARS)
            .then(|| start..start + head + close + end);
    }
    // The end is missing: take what still looks like the body. Dashes end it
    // in any case, so a text full of heads is read once and not once a head.
    let body = close.map_or(body, |close| &body[..close]);
    let length = body_length(body);
    (count_base64_chars(&body[..length]) >= MIN_BASE64_CHARS).then(|| start..start + head + length)
}

/// The body before an end whose beginning was cut off.
pub(super) fn find_key_tail(text: &str, end: usize, from: usize) -> Option<Range<usize>> {
    let rest = text.get(end..)?;
    let foot = find_label_end(&rest[..floor_boundary(rest.as_bytes(), 128)], "-----END")?;
    let begin = floor_boundary(
        text.as_bytes(),
        // Never into an earlier block, so that a text full of ends is read
        // once.
        end.saturating_sub(MAX_KEY_BLOCK_BYTES).max(from),
    );
    let before = text.get(begin..end)?;
    let mut start = before.len();
    for line in lines_back(before) {
        if !body_line(line.0) {
            // The first line may stand behind something else.
            let own = line.0.trim_end_matches(['\n', '\r', 'n', 'r', '\\']);
            let run = own
                .bytes()
                .rev()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
                .count();
            if run >= 16 {
                start = line.1 + own.len() - run;
            }
            break;
        }
        start = line.1;
    }
    (count_base64_chars(&before[start..]) >= MIN_BASE64_CHARS).then(|| begin + start..end + foot)
}

/// The lines of a `PuTTY` key, whose number is here.
pub(super) fn find_putty_key(text: &str, at: usize) -> Option<Range<usize>> {
    let limit = floor_boundary(text.as_bytes(), at + MAX_KEY_BLOCK_BYTES);
    let rest = text.get(at..limit)?;
    // A number ends soon; without a look at the rest, many heads cost little.
    let (length, gap) = line_end(&rest[..floor_boundary(rest.as_bytes(), MAX_COUNT_BYTES)]);
    rest[..length].trim().parse::<u16>().ok()?;
    let start = length + gap;
    let mut end = start;
    while end < rest.len() {
        let (length, gap) = line_end(&rest[end..]);
        if !body_line(&rest[end..end + length]) {
            break;
        }
        end += length + gap;
    }
    (count_base64_chars(&rest[start..end]) >= MIN_BASE64_CHARS).then(|| at + start..at + end)
}

/// Length of `-----BEGIN .. PRIVATE KEY ..-----`.
fn find_label_end(text: &str, begin: &str) -> Option<usize> {
    let rest = text.strip_prefix(begin)?;
    let close = rest.as_bytes().iter().take(80).position(|b| *b == b'-')?;
    let name = rest.get(..close)?;
    let dashes = rest[close..].bytes().take_while(|b| *b == b'-').count();
    let private =
        name.contains("PRIVATE KEY") || name.contains("SECRET KEY") || name.contains("PRIVATE-KEY");
    (private && dashes >= 4).then(|| begin.len() + close + dashes)
}

/// How many characters of base64 in long runs.
fn count_base64_chars(body: &str) -> usize {
    body.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')))
        // Words of prose between two lines of dashes are no key.
        .filter(|run| run.len() >= 12)
        .map(str::len)
        .sum()
}

/// How far the lines of a body go.
fn body_length(body: &str) -> usize {
    let mut at = 0;
    let mut first = true;
    while at < body.len() {
        let rest = &body[at..];
        let (length, gap) = line_end(rest);
        let line = &rest[..length];
        if !first && !body_line(line) && !header_line(line) {
            // A cut may fall inside a line: what begins as base64 goes.
            let own = line.trim_start();
            let run = own
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
                .count();
            return if run >= 16 {
                at + (line.len() - own.len()) + run
            } else {
                at
            };
        }
        if first && !line.trim().is_empty() {
            let run = line
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b' '))
                .count();
            if run < line.len() {
                return at + run;
            }
        }
        first = false;
        at += length + gap;
    }
    body.len()
}

/// Where a line ends, and how long its ending is: real or escaped.
fn line_end(text: &str) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => return (at, 1),
            b'\\' => {
                let slashes = bytes[at..].iter().take_while(|b| **b == b'\\').count();
                if matches!(bytes.get(at + slashes), Some(b'n' | b'r')) {
                    return (at, slashes + 1);
                }
                at += slashes;
            }
            _ => at += 1,
        }
    }
    (bytes.len(), 0)
}

/// The lines of a text from the last to the first, with their offsets.
fn lines_back(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let bytes = text.as_bytes();
    let mut end = text.len();
    std::iter::from_fn(move || {
        if end == 0 {
            return None;
        }
        let floor_at = floor_boundary(bytes, end.saturating_sub(MAX_KEY_LINE_BYTES));
        // The ending itself belongs to the line before it.
        let mut start = end - 1;
        while start > floor_at {
            let before = bytes[start - 1];
            let escaped = start >= 2 && bytes[start - 2] == b'\\' && matches!(before, b'n' | b'r');
            if before == b'\n' || escaped {
                break;
            }
            start -= 1;
        }
        let line = text.get(start..end)?;
        end = start;
        Some((line, start))
    })
}

/// Base64 and nothing else, after what tools put at the beginning of a line.
fn body_line(line: &str) -> bool {
    let own = strip_decoration(line);
    own.is_empty()
        || (own
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
            && own.len() <= 4096)
}

/// `Proc-Type: 4,ENCRYPTED` and its kin.
fn header_line(line: &str) -> bool {
    let own = strip_decoration(line);
    own.split_once(':').is_some_and(|(name, _)| {
        (3..=24).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && (name.contains('-') || matches!(name, "Version" | "Comment" | "Hash" | "Charset"))
    })
}

/// Without numbers, signs of a diff, quotes and other furniture.
fn strip_decoration(line: &str) -> &str {
    let line = line.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '\\' | ';' | '+')
    });
    let line = line.trim_end_matches("\\n").trim_end_matches("\\r");
    let numbered = line.trim_start();
    let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &numbered[digits..];
    let line = if (1..=6).contains(&digits) && rest.starts_with(['\u{2192}', '\t', '|', ':']) {
        rest.trim_start_matches(['\u{2192}', '\t', '|', ':'])
    } else {
        numbered
    };
    line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '|' | '>' | '#' | '*' | '-' | '\\')
    })
    .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
}
