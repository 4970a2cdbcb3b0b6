//! Reads a line of a tool by a table of patterns (`matchers.tsv`): whether it
//! says what went wrong, only announces it, repeats it for a wrapper, or says it
//! in words that another tool has others for. Rows are data, because every tool
//! has its own wording and none deserves code of its own.

use super::normal::plain_quote;
use super::pairs::BytePairs;
use super::table::{MATCHERS, Matcher, Placeholder, mark_at};

/// Prefixes that are taken off one line.
const MAX_STRIPPED_PREFIXES: usize = 6;
/// Bytes of a line that are read.
const MAX_LINE_BYTES: usize = 1_000;

/// What the table calls two fractions that should be equal and nearly are.
const ROUNDING_TEXT: &str = "compare:rounding";
/// Decimals that nobody writes by hand, and how near two such numbers are.
const MIN_ROUNDED_DECIMALS: usize = 11;
const MAX_ROUNDING_SHARE: f64 = 1e-9;

/// What a line is for whoever wants to know the error again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorLineRole {
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
pub(super) struct ErrorLine {
    pub(super) role: ErrorLineRole,
    /// What it says, in the words of the table where a row has some.
    pub(super) text: String,
}

/// Reads a line: its prefixes off, then by the first row that fits.
pub(super) fn read_line(line: &str) -> ErrorLine {
    let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut text: String = words.join(" ").chars().map(plain_quote).collect();
    if is_written(&text) {
        return ErrorLine {
            role: ErrorLineRole::Says,
            text,
        };
    }
    if differs_by_rounding(&text) {
        ROUNDING_TEXT.clone_into(&mut text);
    }
    for _ in 0..=MAX_STRIPPED_PREFIXES {
        // Offsets in both are the same.
        let lower = text.to_ascii_lowercase();
        let pairs = BytePairs::from_text(&lower);
        let may_fit = |matcher: &&Matcher| pairs.may_hold(matcher.pairs);
        let found = MATCHERS.iter().filter(may_fit).find_map(|matcher| {
            let kept = match_pattern(matcher.pattern, &lower, 0)?;
            Some((matcher, kept))
        });
        let Some((matcher, kept)) = found else {
            break;
        };
        let said = write_says(matcher, &kept, &text);
        match matcher.role {
            Some(role) => return ErrorLine { role, text: said },
            None if said.is_empty() || said == text => break,
            None => text = said,
        }
    }
    ErrorLine {
        role: ErrorLineRole::Unknown,
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
        digits.max(more) >= MIN_ROUNDED_DECIMALS
            && digits != more
            && (one - other).abs() <= MAX_ROUNDING_SHARE * one.abs().max(1.0)
    };
    fractions.windows(2).any(is_pair)
}

/// Whether a row wrote this text: what is stored was read before.
fn is_written(text: &str) -> bool {
    text.starts_with("named: ") || text.split(' ').next().is_some_and(is_written_code)
}

fn is_written_code(word: &str) -> bool {
    let begins = |matcher: &Matcher| {
        let rest = matcher.says.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let is_code = word.contains(':') && !word.contains('{') && word != "named:";
    is_code && MATCHERS.iter().any(begins)
}

/// A part of a pattern.
enum PatternPiece {
    /// Lower case.
    Literal(&'static str),
    Mark(Placeholder),
}

/// The first piece of a pattern, and the rest. Patterns are taken apart here
/// and not beforehand: hardly any are looked at.
fn split_piece(pattern: &'static str) -> Option<(PatternPiece, &'static str)> {
    if let Some(mark) = mark_at(pattern.as_bytes(), 0) {
        return Some((PatternPiece::Mark(mark), &pattern[mark.length()..]));
    }
    let is_mark = |at: &usize| mark_at(pattern.as_bytes(), *at).is_some();
    let end = (0..pattern.len()).find(is_mark).unwrap_or(pattern.len());
    let (literal, rest) = pattern.split_at(end);
    (end > 0).then_some((PatternPiece::Literal(literal), rest))
}

/// A part of a text that is kept: of which mark, and where it lies.
type KeptSpan = (Placeholder, usize, usize);

/// Where the kept parts lie, if the pattern fits the whole text from here on.
fn match_pattern(pattern: &'static str, text: &str, from: usize) -> Option<Vec<KeptSpan>> {
    let Some((piece, rest)) = split_piece(pattern) else {
        return (from == text.len()).then(Vec::new);
    };
    let here = &text[from..];
    let mark = match piece {
        PatternPiece::Literal(literal) => {
            return here
                .starts_with(literal)
                .then(|| match_pattern(rest, text, from + literal.len()))?;
        }
        PatternPiece::Mark(mark) => mark,
    };
    let least = usize::from(mark != Placeholder::Any);
    let most = match mark {
        Placeholder::Name => here.find(' ').unwrap_or(here.len()),
        Placeholder::Digits => here.bytes().take_while(u8::is_ascii_digit).count(),
        Placeholder::Any | Placeholder::Message => here.len(),
    };
    let fit_rest = |end: usize| {
        let kept = (least..=most)
            .contains(&end)
            .then(|| match_pattern(rest, text, from + end));
        Some((end, kept??))
    };
    let (end, mut kept) = match split_piece(rest) {
        None => fit_rest(here.len()),
        // The end of the text is where a last literal must stand.
        Some((PatternPiece::Literal(literal), "")) => fit_rest(here.strip_suffix(literal)?.len()),
        Some((PatternPiece::Literal(literal), _)) => {
            let ends = here.match_indices(literal).map(|(at, _)| at);
            ends.take_while(|at| *at <= most).find_map(fit_rest)
        }
        // Two marks beside each other: digits and names know their own end.
        Some((PatternPiece::Mark(_), _)) => fit_rest(most),
    }?;
    if mark != Placeholder::Any {
        kept.insert(0, (mark, from, from + end));
    }
    Some(kept)
}

/// What a row says of a line. Digits get a letter in front, since free numbers
/// are taken for accidents: status 401 is not status 502.
fn write_says(matcher: &Matcher, kept: &[KeptSpan], text: &str) -> String {
    let mut out = String::new();
    let mut used: Vec<usize> = Vec::new();
    let mut rest = matcher.says;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let mark = mark_at(rest.as_bytes(), open);
        let fits = |(at, part): &(usize, &KeptSpan)| Some(part.0) == mark && !used.contains(at);
        let next = kept.iter().enumerate().find(fits);
        if let Some((at, (_, start, end))) = next {
            used.push(at);
            if mark == Some(Placeholder::Digits) {
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
    use super::{ErrorLineRole, MATCHERS, read_line};

    #[test]
    fn every_row_of_the_table_is_read() {
        let table = include_str!("matchers.tsv");
        let rows = table
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'));
        assert_eq!(MATCHERS.len(), rows.count());
        for matcher in &MATCHERS {
            let wants = matches!(
                matcher.role,
                None | Some(ErrorLineRole::Says | ErrorLineRole::Root | ErrorLineRole::Test)
            );
            assert_eq!(wants, !matcher.says.is_empty(), "{matcher:?}");
        }
    }

    #[test]
    fn lines_are_read_by_their_rows() {
        for (line, role, text) in [
            (
                "Error: connect ECONNREFUSED 127.0.0.1:6379",
                ErrorLineRole::Says,
                "named: connection refused 'n6379'",
            ),
            (
                "psql:a.sql:14: ERROR:  relation \"orders\" does not exist",
                ErrorLineRole::Root,
                "named: no table 'orders'",
            ),
            (
                "error: Your local changes would be lost",
                ErrorLineRole::Unknown,
                "Your local changes would be lost",
            ),
            (
                "collect2: error: ld returned 1 exit status",
                ErrorLineRole::Noise,
                "",
            ),
            (
                "OSError: [Errno 28] No space left on device: 'a'",
                ErrorLineRole::Root,
                "system:disk-full",
            ),
            (
                "panic: runtime error: index out of range [3] with length 3",
                ErrorLineRole::Local,
                "",
            ),
            (
                "src/a.cpp:3:1: error: expected ';'",
                ErrorLineRole::Unknown,
                "expected ';'",
            ),
        ] {
            let read = read_line(line);
            assert_eq!((read.role, read.text.as_str()), (role, text), "{line}");
        }
    }
}
