//! Classifies a line of a tool by a table of patterns (`matchers.tsv`): whether it
//! says what went wrong, only announces it, or repeats it for a wrapper; and puts
//! it into words that are the same for all tools. Rows are data, because every tool
//! has its own wording and none deserves code of its own.

use super::normal::plain_quote;
use super::pairs::BytePairs;
use super::table::{MATCHERS, Matcher, Placeholder, mark_at};

/// Prefixes that are stripped from one line, such as time, runner and file.
const MAX_STRIPPED_PREFIXES: usize = 6;
/// Bytes of a line that are read.
const MAX_LINE_BYTES: usize = 1_000;

/// What the table calls a comparison that fails by rounding.
const ROUNDING_TEXT: &str = "compare:rounding";
/// More decimals than people write, and how close two such numbers must be.
const MIN_ROUNDED_DECIMALS: usize = 11;
const MAX_ROUNDING_SHARE: f64 = 1e-9;

/// What a line contributes to recognising an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorLineRole {
    /// No row matches it.
    Unknown,
    /// A wrapper, a summary or a hint.
    Noise,
    /// A headline: the next line that says something is the message.
    Head,
    /// The error.
    Says,
    /// The root cause of everything else that was printed.
    Root,
    /// An error that means nothing outside its own code, such as an index out of
    /// range.
    Local,
    /// The name of a test that failed.
    Test,
}

/// A line as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorLine {
    pub(super) role: ErrorLineRole,
    /// The message, in the words of the table where a row has some.
    pub(super) text: String,
}

/// Classifies a line by the first row that matches, after stripping its prefixes.
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
        // ASCII only, so that offsets are the same in both strings.
        let lower = text.to_ascii_lowercase();
        let pairs = BytePairs::from_text(&lower);
        let may_fit = |matcher: &&Matcher| pairs.may_hold(matcher.pairs);
        let found = MATCHERS.iter().filter(may_fit).find_map(|matcher| {
            let kept = match_pattern(matcher.pattern, &lower, 0)?;
            Some((matcher, kept))
        });
        let Some((matcher, kept)) = found else {
            // The innermost exception is the error; those around it only hand it on. Where
            // it is says nothing of what it is.
            match strip_outer_class(&text).or_else(|| strip_location(&text)) {
                Some(inner) => text = String::from(inner),
                None => break,
            }
            continue;
        };
        let said = write_says(matcher, &kept, &text);
        // A row without a role strips a prefix, and the rest is classified again.
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

/// What follows the class of an outer exception: another class, or a code in
/// capitals.
fn strip_outer_class(text: &str) -> Option<&str> {
    let (outer, inner) = text.split_once(": ")?;
    let head = inner.split([':', ' ']).next().unwrap_or(inner);
    let is_class = |word: &str| {
        let name = word.rsplit(['.', '$']).next().unwrap_or(word);
        let is_error = name.ends_with("Exception") || name.ends_with("Error");
        is_error && word.contains('.') && !word.contains(char::is_whitespace)
    };
    let is_code = |word: &str| {
        let is_capital = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        word.contains('_') && word.bytes().all(is_capital)
    };
    (is_class(outer) && (is_class(head) || is_code(head))).then_some(inner)
}

/// What follows a location: `bill.proto:5:1: Import ..`.
fn strip_location(text: &str) -> Option<&str> {
    let (place, rest) = text.split_once(": ")?;
    let (file, at) = place.split_once(':')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_file = file.contains('.') && !file.contains(char::is_whitespace);
    (is_file && at.split(':').all(is_number)).then_some(rest)
}

/// Whether a line compares two fractions that differ by rounding alone:
/// `0.30000000000000004` and `0.3`.
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

/// Whether the text is already in the words of the table: stored messages are, and
/// must not be classified a second time.
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

/// The first piece of a pattern, and the rest. Patterns are split here and not
/// beforehand, because the pairs of letters rule out nearly all of them.
fn split_piece(pattern: &'static str) -> Option<(PatternPiece, &'static str)> {
    if let Some(mark) = mark_at(pattern.as_bytes(), 0) {
        return Some((PatternPiece::Mark(mark), &pattern[mark.length()..]));
    }
    let is_mark = |at: &usize| mark_at(pattern.as_bytes(), *at).is_some();
    let end = (0..pattern.len()).find(is_mark).unwrap_or(pattern.len());
    let (literal, rest) = pattern.split_at(end);
    (end > 0).then_some((PatternPiece::Literal(literal), rest))
}

/// A part of a text that is kept: by which placeholder, and where it is.
type KeptSpan = (Placeholder, usize, usize);

/// The kept parts, if the pattern matches the whole text from here on.
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
        // A last literal can only be at the end of the text.
        Some((PatternPiece::Literal(literal), "")) => fit_rest(here.strip_suffix(literal)?.len()),
        Some((PatternPiece::Literal(literal), _)) => {
            let ends = here.match_indices(literal).map(|(at, _)| at);
            ends.take_while(|at| *at <= most).find_map(fit_rest)
        }
        // Of two adjacent placeholders the first takes all it can; digits and names
        // have an end of their own.
        Some((PatternPiece::Mark(_), _)) => fit_rest(most),
    }?;
    if mark != Placeholder::Any {
        kept.insert(0, (mark, from, from + end));
    }
    Some(kept)
}

/// The message of a row for a line. Digits get a letter in front, because
/// normalisation would remove free numbers: status 401 is not status 502.
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
