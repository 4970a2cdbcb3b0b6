//! The rows of `matchers.tsv`, parsed at compile time: a hook that matches a dozen
//! lines would take longer to parse the table.

use super::matchers::ErrorLineRole;
use super::pairs::BytePairs;

const MATCHER_TABLE: &str = include_str!("matchers.tsv");

/// All rows; those that strip a prefix come last, since a line that is known as a
/// whole is not taken apart.
pub(super) static MATCHERS: [Matcher; count_rows(MATCHER_TABLE)] = read_table(MATCHER_TABLE);

/// One row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matcher {
    /// `None` strips a prefix.
    pub(super) role: Option<ErrorLineRole>,
    pub(super) pattern: &'static str,
    /// The pairs of letters that a line must contain to match.
    pub(super) pairs: BytePairs,
    /// The message, with the placeholders of the pattern in their order.
    pub(super) says: &'static str,
}

/// A placeholder of a pattern for text that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// Any text, also empty.
    Any,
    /// Text that is kept.
    Message,
    /// A name without blanks.
    Name,
    Digits,
}

impl Placeholder {
    /// Its length in a pattern, in bytes.
    pub(super) const fn length(self) -> usize {
        match self {
            Self::Any => 1,
            Self::Message | Self::Name | Self::Digits => 3,
        }
    }
}

/// The placeholder at this position.
pub(super) const fn mark_at(pattern: &[u8], at: usize) -> Option<Placeholder> {
    match pattern.split_at(at).1 {
        [b'*', ..] => Some(Placeholder::Any),
        [b'{', b'm', b'}', ..] => Some(Placeholder::Message),
        [b'{', b'n', b'}', ..] => Some(Placeholder::Name),
        [b'{', b'#', b'}', ..] => Some(Placeholder::Digits),
        _ => None,
    }
}

const fn is_row(line: &str) -> bool {
    !matches!(line.as_bytes(), [] | [b'#', ..])
}

const fn count_rows(table: &'static str) -> usize {
    let (mut rest, mut count) = (table, 0);
    while !rest.is_empty() {
        let (line, after) = split_once(rest, b'\n');
        if is_row(line) {
            count += 1;
        }
        rest = after;
    }
    count
}

const fn read_table<const N: usize>(table: &'static str) -> [Matcher; N] {
    let rows = [Matcher {
        role: None,
        pattern: "",
        pairs: BytePairs::NONE,
        says: "",
    }; N];
    let (rows, count) = append_rows(rows, 0, table, false);
    append_rows(rows, count, table, true).0
}

/// Appends the rows that strip prefixes, or all others; also returns how many rows
/// there are then.
const fn append_rows<const N: usize>(
    mut rows: [Matcher; N],
    mut count: usize,
    table: &'static str,
    prefixes: bool,
) -> ([Matcher; N], usize) {
    let mut rest = table;
    while !rest.is_empty() {
        let (line, after) = split_once(rest, b'\n');
        rest = after;
        if is_row(line) && read_row(line).role.is_none() == prefixes {
            rows[count] = read_row(line);
            count += 1;
        }
    }
    (rows, count)
}

const fn read_row(line: &'static str) -> Matcher {
    let (role, columns) = split_once(line, b'\t');
    let (pattern, says) = split_once(columns, b'\t');
    let role = match role.as_bytes() {
        b"strip" => None,
        b"noise" => Some(ErrorLineRole::Noise),
        b"head" => Some(ErrorLineRole::Head),
        b"says" => Some(ErrorLineRole::Says),
        b"root" => Some(ErrorLineRole::Root),
        b"local" => Some(ErrorLineRole::Local),
        b"test" => Some(ErrorLineRole::Test),
        _ => panic!("a row of matchers.tsv begins with an unknown word"),
    };
    Matcher {
        role,
        pattern,
        pairs: pairs_of_literals(pattern.as_bytes()),
        says,
    }
}

/// The pairs of the text between the placeholders of a pattern.
const fn pairs_of_literals(pattern: &[u8]) -> BytePairs {
    let mut pairs = BytePairs::NONE;
    let (mut at, mut before) = (0, None);
    while at < pattern.len() {
        if let Some(mark) = mark_at(pattern, at) {
            before = None;
            at += mark.length();
            continue;
        }
        if let Some(before) = before {
            pairs = pairs.with_pair(before, pattern[at]);
        }
        before = Some(pattern[at]);
        at += 1;
    }
    pairs
}

/// The text before and after the first such byte.
const fn split_once(text: &'static str, byte: u8) -> (&'static str, &'static str) {
    let mut at = 0;
    while at < text.len() {
        if text.as_bytes()[at] == byte {
            let (head, rest) = text.split_at(at);
            return (head, rest.split_at(1).1);
        }
        at += 1;
    }
    (text, "")
}
