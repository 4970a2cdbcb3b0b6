//! Reads a line of a tool by a table of patterns (`matchers.tsv`): whether it
//! says what went wrong, only announces it, repeats it for a wrapper, or says it
//! in words that another tool has others for. Rows are data, because every tool
//! has its own wording and none deserves code of its own.

use std::sync::LazyLock;

use super::normal::plain_quote;

/// Prefixes that are taken off one line.
const MAX_STRIPS: usize = 6;
/// Bytes of a line that are read.
const MAX_LINE_BYTES: usize = 1_000;

/// What the table calls two fractions that should be equal and nearly are.
const ROUNDING: &str = "compare:rounding";
/// Decimals that nobody writes by hand, and how near two such numbers are.
const ROUNDED_DECIMALS: usize = 11;
const ROUNDING_SHARE: f64 = 1e-9;

/// What a line is for whoever wants to know the error again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// No row knows it.
    Unknown,
    /// A wrapper, a summary, a hint.
    Noise,
    /// The next line that says something is the message.
    Head,
    /// The error.
    Says,
    /// The cause of whatever else was printed.
    Root,
    /// It says nothing outside its own place.
    Local,
    /// The name of a test that failed.
    Test,
}

/// A line as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Essence {
    pub(super) role: Role,
    /// What it says, in the words of the table where a row has some.
    pub(super) text: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// Lower case.
    Literal(&'static str),
    /// Any text, also none.
    Any,
    /// Text that is kept.
    Message,
    /// A name without blanks.
    Name,
    Digits,
}

#[derive(Debug)]
struct Matcher {
    /// `None` takes a prefix off.
    role: Option<Role>,
    pattern: Vec<Piece>,
    /// The pairs of letters that a line must hold to fit.
    pairs: u64,
    /// What it says, with marks of the pattern in their order.
    says: &'static str,
}

static MATCHERS: LazyLock<Vec<Matcher>> =
    LazyLock::new(|| parse_table(include_str!("matchers.tsv")));

fn parse_table(table: &'static str) -> Vec<Matcher> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let mut matchers: Vec<Matcher> = rows.filter_map(parse_row).collect();
    // What is known as a whole is not taken apart.
    matchers.sort_by_key(|matcher| matcher.role.is_none());
    matchers
}

fn parse_row(row: &'static str) -> Option<Matcher> {
    let mut columns = row.split('\t');
    let role = match columns.next()? {
        "strip" => None,
        "noise" => Some(Role::Noise),
        "head" => Some(Role::Head),
        "says" => Some(Role::Says),
        "root" => Some(Role::Root),
        "local" => Some(Role::Local),
        "test" => Some(Role::Test),
        _ => return None,
    };
    let pattern = parse_pattern(columns.next()?);
    let pairs = pattern.iter().map(|piece| match piece {
        Piece::Literal(literal) => pairs_of(literal),
        _ => 0,
    });
    Some(Matcher {
        role,
        pairs: pairs.fold(0, |all, pairs| all | pairs),
        pattern,
        says: columns.next().unwrap_or_default(),
    })
}

/// The pairs of neighbouring bytes of a text, each as one of 64 bits. Nearly all
/// rows want a pair that a line has not, which is seen without comparing text.
fn pairs_of(text: &str) -> u64 {
    let bit = |pair: &[u8]| {
        let mixed = u32::from(pair[0]) * 37 + u32::from(pair[1]) * 11;
        1_u64 << (mixed % 64)
    };
    text.as_bytes()
        .windows(2)
        .map(bit)
        .fold(0, |all, bit| all | bit)
}

fn parse_pattern(pattern: &'static str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let marks = [
            ("*", Piece::Any),
            ("{m}", Piece::Message),
            ("{n}", Piece::Name),
            ("{#}", Piece::Digits),
        ];
        let found = marks
            .into_iter()
            .filter_map(|(mark, piece)| Some((rest.find(mark)?, mark, piece)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, mark, piece)) = found else {
            pieces.push(Piece::Literal(rest));
            break;
        };
        if at > 0 {
            pieces.push(Piece::Literal(&rest[..at]));
        }
        pieces.push(piece);
        rest = &rest[at + mark.len()..];
    }
    pieces
}

/// Reads a line: its prefixes off, then by the first row that fits.
pub(super) fn read_line(line: &str) -> Essence {
    let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut text: String = words.join(" ").chars().map(plain_quote).collect();
    if is_written(&text) {
        return Essence {
            role: Role::Says,
            text,
        };
    }
    if differs_by_rounding(&text) {
        ROUNDING.clone_into(&mut text);
    }
    for _ in 0..=MAX_STRIPS {
        // Offsets in both are the same.
        let lower = text.to_ascii_lowercase();
        let pairs = pairs_of(&lower);
        let may_fit = |matcher: &&Matcher| matcher.pairs & !pairs == 0;
        let found = MATCHERS.iter().filter(may_fit).find_map(|matcher| {
            let kept = fit(&matcher.pattern, &lower, 0)?;
            Some((matcher, kept))
        });
        let Some((matcher, kept)) = found else {
            break;
        };
        let said = write_says(matcher, &kept, &text);
        match matcher.role {
            Some(role) => return Essence { role, text: said },
            None if said.is_empty() || said == text => break,
            None => text = said,
        }
    }
    Essence {
        role: Role::Unknown,
        text,
    }
}

/// Whether a line compares two fractions that only the arithmetic of a machine
/// tells apart: `0.30000000000000004` and `0.3`.
fn differs_by_rounding(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    let decimals = |word: &str| word.split_once('.').map_or(0, |(_, digits)| digits.len());
    let fractions: Vec<(f64, usize)> = words
        .filter(|word| decimals(word) > 0)
        .filter_map(|word| Some((word.parse().ok()?, decimals(word))))
        .collect();
    let is_pair = |pair: &[(f64, usize)]| {
        let [(one, digits), (other, more)] = *pair else {
            return false;
        };
        digits.max(more) >= ROUNDED_DECIMALS
            && digits != more
            && (one - other).abs() <= ROUNDING_SHARE * one.abs().max(1.0)
    };
    fractions.windows(2).any(is_pair)
}

/// Whether a row wrote this text: what is stored was read before.
fn is_written(text: &str) -> bool {
    text.starts_with("named: ") || text.split(' ').next().is_some_and(is_written_code)
}

fn is_written_code(word: &str) -> bool {
    static CODES: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let codes = MATCHERS.iter().filter_map(|m| m.says.split(' ').next());
        let codes = codes.filter(|code| code.contains(':') && !code.contains('{'));
        codes.filter(|code| *code != "named:").collect()
    });
    word.contains(':') && CODES.contains(&word)
}

/// Where the kept parts lie, if the pattern fits the whole text from here on.
fn fit(pattern: &[Piece], text: &str, from: usize) -> Option<Vec<(char, usize, usize)>> {
    let Some((piece, rest)) = pattern.split_first() else {
        return (from == text.len()).then(Vec::new);
    };
    let here = &text[from..];
    let kind = match piece {
        Piece::Literal(literal) => {
            return here
                .starts_with(*literal)
                .then(|| fit(rest, text, from + literal.len()))?;
        }
        Piece::Any => '*',
        Piece::Message => 'm',
        Piece::Name => 'n',
        Piece::Digits => '#',
    };
    let least = usize::from(kind != '*');
    let most = match piece {
        Piece::Name => here.find(' ').unwrap_or(here.len()),
        Piece::Digits => here.bytes().take_while(u8::is_ascii_digit).count(),
        _ => here.len(),
    };
    let mut ends: Vec<usize> = match rest.first() {
        None => vec![here.len()],
        Some(Piece::Literal(literal)) => here
            .match_indices(*literal)
            .map(|(at, _)| at)
            .take_while(|at| *at <= most)
            .collect(),
        // Two marks beside each other: digits and names know their own end.
        Some(_) => vec![most],
    };
    // The end of the text is where a last literal must stand.
    if let [Piece::Literal(literal)] = rest {
        ends = here
            .strip_suffix(*literal)
            .map(str::len)
            .into_iter()
            .collect();
    }
    let mut ends = ends.into_iter().filter(|end| (least..=most).contains(end));
    let (end, mut kept) = ends.find_map(|end| Some((end, fit(rest, text, from + end)?)))?;
    if kind != '*' {
        kept.insert(0, (kind, from, from + end));
    }
    Some(kept)
}

/// What a row says of a line. Digits get a letter in front, since free numbers
/// are taken for accidents: status 401 is not status 502.
fn write_says(matcher: &Matcher, kept: &[(char, usize, usize)], text: &str) -> String {
    let mut out = String::new();
    let mut used: Vec<usize> = Vec::new();
    let mut rest = matcher.says;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let kind = rest[open + 1..].chars().next().unwrap_or_default();
        let fits =
            |(at, part): &(usize, &(char, usize, usize))| part.0 == kind && !used.contains(at);
        let next = kept.iter().enumerate().find(fits);
        if let Some((at, (_, start, end))) = next {
            used.push(at);
            if kind == '#' {
                out.push('n');
            }
            out.push_str(&text[*start..*end]);
        }
        rest = rest.get(open + 3..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{MATCHERS, Role, read_line};

    #[test]
    fn every_row_of_the_table_is_read() {
        let table = include_str!("matchers.tsv");
        let rows = table
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'));
        assert_eq!(MATCHERS.len(), rows.count());
        for matcher in MATCHERS.iter() {
            let wants = matches!(
                matcher.role,
                None | Some(Role::Says | Role::Root | Role::Test)
            );
            assert_eq!(wants, !matcher.says.is_empty(), "{matcher:?}");
        }
    }

    #[test]
    fn lines_are_read_by_their_rows() {
        for (line, role, text) in [
            (
                "Error: connect ECONNREFUSED 127.0.0.1:6379",
                Role::Says,
                "named: connection refused 'n6379'",
            ),
            (
                "psql:a.sql:14: ERROR:  relation \"orders\" does not exist",
                Role::Root,
                "named: no table 'orders'",
            ),
            (
                "error: Your local changes would be lost",
                Role::Unknown,
                "Your local changes would be lost",
            ),
            (
                "collect2: error: ld returned 1 exit status",
                Role::Noise,
                "",
            ),
            (
                "OSError: [Errno 28] No space left on device: 'a'",
                Role::Root,
                "system:disk-full",
            ),
            (
                "panic: runtime error: index out of range [3] with length 3",
                Role::Local,
                "",
            ),
            (
                "src/a.cpp:3:1: error: expected ';'",
                Role::Unknown,
                "expected ';'",
            ),
        ] {
            let read = read_line(line);
            assert_eq!((read.role, read.text.as_str()), (role, text), "{line}");
        }
    }
}
