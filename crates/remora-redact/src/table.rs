//! Columns of secrets: a telling name in the head of a table, and the values
//! under it. Tables of bars, of commas and tabs, and of aligned words.

use std::ops::Range;

use super::names::{self, SecretClass};
use super::value::{self, ValueContext};
use super::{Finding, FindingRank, MARK_PREFIX};

/// Longest line that may be part of a table.
const MAX_LINE_BYTES: usize = 2048;
/// How many rows are read.
const MAX_ROWS: usize = 200;
/// More columns than this are no table.
const MAX_COLUMNS: usize = 64;

/// How the cells of a row are separated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableForm {
    /// `| a | b |` and `a | b`, with a line of hyphens under the head.
    Bars,
    /// `a,b`
    Signs(u8),
    /// `A    B`, each value under its head.
    Aligned,
}

/// If the name is in the head of a table, adds the values under all the telling
/// names of that head and returns where the table ends.
pub(super) fn find_table_secrets(
    text: &str,
    name: &Range<usize>,
    found: &mut Vec<Finding>,
) -> Option<usize> {
    let form = form_at(text, name)?;
    // One look at a line is enough, whatever it shows.
    let Some(head) = line_around(text, name.start) else {
        return Some(name.start + MAX_LINE_BYTES);
    };
    let line = text.get(head.clone())?;
    if form == TableForm::Aligned && !aligned_head(line) {
        return Some(head.end);
    }
    let columns = split_cells(line, form);
    if !(2..=MAX_COLUMNS).contains(&columns.len()) {
        return Some(head.end);
    }
    let telling: Vec<(usize, Range<usize>, SecretClass, &'static str)> = columns
        .iter()
        .enumerate()
        .filter_map(|(at, cell)| {
            let name = line.get(cell.clone())?;
            let secret = names::parse_secret_name(name)?;
            // Weak names head too many columns: `key` is most often an entry's
            // name.
            matches!(secret.class, SecretClass::Password | SecretClass::Secret)
                .then(|| (at, cell.clone(), secret.class, secret.kind))
        })
        .collect();
    if telling.is_empty() || !has_only_names(line, &columns, form) {
        return Some(head.end);
    }
    let mut at = next_line(text, head.end);
    if form == TableForm::Bars {
        // Without that line it may be a row as well as a head.
        let Some(rule) =
            line_from(text, at).filter(|rule| text.get(rule.clone()).is_some_and(is_rule))
        else {
            return Some(head.end);
        };
        at = next_line(text, rule.end);
    }
    for _ in 0..MAX_ROWS {
        let Some(row) = line_from(text, at).filter(|row| !row.is_empty()) else {
            break;
        };
        let own = text.get(row.clone())?;
        let values = split_cells(own, form);
        let fits = match form {
            TableForm::Aligned => values.len() > 1,
            TableForm::Bars | TableForm::Signs(_) => values.len() == columns.len(),
        };
        // The first row of another shape ends the table; what follows is other
        // text.
        if !fits && !is_rule(own) {
            break;
        }
        for (number, column, class, kind) in &telling {
            let cell = match form {
                // An empty cell leaves no trace there, so the position counts
                // and not the number.
                TableForm::Aligned => values.iter().find(|cell| cell.start == column.start),
                TableForm::Bars | TableForm::Signs(_) => values.get(*number),
            };
            let Some(cell) = cell.filter(|_| fits) else {
                continue;
            };
            let word = own.get(cell.clone()).unwrap_or_default();
            let place = if form == TableForm::Aligned {
                ValueContext::Loose
            } else {
                ValueContext::Quoted
            };
            if !word.contains(MARK_PREFIX) && value::is_secret(word, *class, place) {
                let range = row.start + cell.start..row.start + cell.end;
                found.push(Finding::new(*kind, range, FindingRank::Word));
            }
        }
        at = next_line(text, row.end);
    }
    Some(at)
}

/// The characters around the name tell the form, before a line is read.
fn form_at(text: &str, name: &Range<usize>) -> Option<TableForm> {
    let bytes = text.as_bytes();
    let mut before = name.start;
    while before > 0 && bytes[before - 1] == b' ' && name.start - before < 64 {
        before -= 1;
    }
    let mut behind = name.end;
    while bytes.get(behind) == Some(&b' ') && behind - name.end < 64 {
        behind += 1;
    }
    let gaps = (name.start - before, behind - name.end);
    let left = before.checked_sub(1).map_or(b'\n', |at| bytes[at]);
    let right = bytes.get(behind).copied().unwrap_or(b'\n');
    // A line may end as it does inside a JSON string.
    let ends = |b: u8| matches!(b, b'\n' | b'\r' | b'\\' | b'"');
    let begins = ends(left) || (left == b'n' && before > 1 && bytes[before - 2] == b'\\');
    if left == b'|' || right == b'|' {
        return ((left == b'|' || begins) && (right == b'|' || ends(right)))
            .then_some(TableForm::Bars);
    }
    for sign in [b',', b'\t', b';'] {
        let set = (left == sign || begins) && (right == sign || ends(right));
        if gaps == (0, 0) && set && (left == sign || right == sign) {
            return Some(TableForm::Signs(sign));
        }
    }
    // Two blanks at least, on one side if the other is the end of the line.
    let wide = (gaps.0 >= 2 || begins) && (gaps.1 >= 2 || ends(right));
    // Aligned text is also prose and code; commands write such heads in
    // capitals.
    let capitals = bytes[name.clone()].iter().all(|b| !b.is_ascii_lowercase());
    (wide && capitals && (gaps.0 >= 2 || gaps.1 >= 2)).then_some(TableForm::Aligned)
}

/// Only capitals, as commands write the heads of their lists.
fn aligned_head(line: &str) -> bool {
    !line.bytes().any(|b| b.is_ascii_lowercase()) && line.contains("  ")
}

/// Whether every cell of the head is a name and no value.
fn has_only_names(line: &str, columns: &[Range<usize>], form: TableForm) -> bool {
    columns.iter().all(|cell| {
        let name = line.get(cell.clone()).unwrap_or_default();
        let plain = |b: u8| {
            b.is_ascii_alphanumeric()
                || matches!(
                    b,
                    b'_' | b'-' | b'.' | b' ' | b'#' | b'*' | b'(' | b')' | b'/'
                )
        };
        let free = form == TableForm::Bars && !name.is_ascii();
        free || (name.bytes().all(plain) && !super::shape::is_random(name))
    })
}

/// Only the signs that draw a line.
fn is_rule(line: &str) -> bool {
    line.contains('-')
        && line
            .bytes()
            .all(|b| matches!(b, b'-' | b'+' | b'|' | b':' | b' ' | b'='))
}

/// The cells of a row, without the blanks and quotes around them.
fn split_cells(line: &str, form: TableForm) -> Vec<Range<usize>> {
    let mut list = Vec::new();
    if form == TableForm::Aligned {
        let mut at = 0;
        for piece in line.split("  ") {
            let own = piece.trim();
            if !own.is_empty() {
                let start = at + (piece.len() - piece.trim_start().len());
                list.push(start..start + own.len());
            }
            at += piece.len() + 2;
        }
        return list;
    }
    let sign = match form {
        TableForm::Signs(sign) => char::from(sign),
        TableForm::Bars | TableForm::Aligned => '|',
    };
    let mut at = 0;
    for piece in line.split(sign) {
        let own = piece.trim().trim_matches(['"', '\'', '`']);
        let start = at + piece.find(own).unwrap_or(0);
        list.push(start..start + own.len());
        at += piece.len() + 1;
    }
    if form == TableForm::Bars {
        // The bars at both ends make no cells.
        let outer = list.len() > 2 && line.trim_start().starts_with('|');
        if outer {
            list.remove(0);
            if line.trim_end().ends_with('|') {
                list.pop();
            }
        }
    }
    list
}

fn ends_line(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'\n' | b'\r' => true,
        b'\\' => matches!(bytes.get(at + 1), Some(b'n' | b'r')),
        // The end of a JSON string that holds the table.
        b'"' => matches!(bytes.get(at + 1), Some(b'}' | b']') | None),
        _ => false,
    }
}

/// The line from here on, if it is not too long.
fn line_from(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut end = at;
    while end < bytes.len() && !ends_line(bytes, end) {
        end += 1;
        if end - at > MAX_LINE_BYTES {
            return None;
        }
    }
    (at < bytes.len()).then_some(at..end)
}

/// The beginning of the line behind this end of one.
fn next_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    if bytes.get(at) == Some(&b'\\') && bytes.get(at + 1) == Some(&b'r') {
        at += 2;
    }
    if bytes.get(at) == Some(&b'\r') {
        at += 1;
    }
    match bytes.get(at) {
        Some(b'\n') => at + 1,
        Some(b'\\') if bytes.get(at + 1) == Some(&b'n') => at + 2,
        _ => bytes.len(),
    }
}

fn line_around(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = at;
    while start > 0 {
        let before = bytes[start - 1];
        let escaped = start > 1 && bytes[start - 2] == b'\\' && matches!(before, b'n' | b'r');
        // A JSON string that holds the table begins here.
        let opening = before == b'"' && start > 1 && bytes[start - 2] == b':';
        if before == b'\n' || escaped || opening {
            break;
        }
        start -= 1;
        if at - start > MAX_LINE_BYTES {
            return None;
        }
    }
    let end = line_from(text, at)?.end;
    Some(start..end)
}
