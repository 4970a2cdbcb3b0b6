//! Finds what may be more than words in the box: filters and signs of leaving
//! out, at the beginning of a token and outside of quotes. Decides nothing that
//! needs the rest of the text.

use std::ops::Range;

use crate::words::is_quote;

/// How long a value may be, in bytes: paths and ids are shorter.
const MAX_FILTER_VALUE_BYTES: usize = 1024;
/// How many words a time has at most.
const MAX_TIME_WORDS: usize = 3;

/// The name before the colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterKey {
    File,
    Kind,
    Project,
    Since,
    After,
    Until,
    Before,
    Session,
    Agent,
    Error,
}

const FILTER_KEYS: [(&str, FilterKey); 10] = [
    ("file", FilterKey::File),
    ("kind", FilterKey::Kind),
    ("project", FilterKey::Project),
    ("since", FilterKey::Since),
    ("after", FilterKey::After),
    ("until", FilterKey::Until),
    ("before", FilterKey::Before),
    ("session", FilterKey::Session),
    ("agent", FilterKey::Agent),
    ("error", FilterKey::Error),
];

impl FilterKey {
    pub(super) fn name(self) -> &'static str {
        FILTER_KEYS
            .iter()
            .find(|(_, key)| *key == self)
            .map_or("", |(name, _)| name)
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Since | Self::After | Self::Until | Self::Before)
    }
}

/// What stands in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operator<'t> {
    /// `key:value`
    Filter {
        key: FilterKey,
        value: &'t str,
        /// The value with the next word, and with the next two: for times.
        longer: Vec<&'t str>,
    },
    /// `-word` or `-"a phrase"`
    Without { text: &'t str, quoted: bool },
    /// `--flag`, `-x`, `-O2`, `|`: what only commands have.
    Command,
}

/// A sign and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) span: Range<usize>,
    pub(super) negated: bool,
    pub(super) sign: Operator<'t>,
}

/// All signs of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenScan<'t> {
    pub(super) found: Vec<Token<'t>>,
    /// How many lines it has before an error's own text.
    pub(super) lines: usize,
}

/// Looks at every token once.
pub(super) fn scan_tokens(text: &str) -> TokenScan<'_> {
    let mut scan = TokenScan {
        found: Vec::new(),
        lines: 1,
    };
    let mut at = text.len() - text.trim_start().len();
    let mut fresh = true;
    let mut broken = false;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            broken |= c == '\n';
            fresh = true;
            at += c.len_utf8();
            continue;
        }
        scan.lines += usize::from(std::mem::take(&mut broken));
        if std::mem::take(&mut fresh)
            && let Some(found) = parse_operator(text, at)
            && (scan.lines == 1 || found.may_be_pasted())
        {
            at = found.span.end;
            scan.found.push(found);
            continue;
        }
        at += c.len_utf8();
        if is_quote(c) {
            at = find_closing_quote(text, at).map_or(at, |(_, end)| end);
        }
    }
    scan
}

impl Token<'_> {
    /// What stands further down was not typed: an error may well begin there,
    /// but `file:x` is part of somebody's log.
    fn may_be_pasted(&self) -> bool {
        !matches!(self.sign, Operator::Filter { .. }) || self.is_error()
    }

    fn is_error(&self) -> bool {
        matches!(
            self.sign,
            Operator::Filter {
                key: FilterKey::Error,
                ..
            }
        )
    }
}

/// Where the quote that was opened before this place closes: from where to
/// where, in bytes.
fn find_closing_quote(text: &str, from: usize) -> Option<(usize, usize)> {
    let at = from + text[from..].find(is_quote)?;
    let quote = text[at..].chars().next()?;
    Some((at, at + quote.len_utf8()))
}

/// The end of the token that begins here.
fn token_end(text: &str, from: usize) -> usize {
    let token = &text[from..];
    from + token.find(char::is_whitespace).unwrap_or(token.len())
}

fn parse_operator(text: &str, at: usize) -> Option<Token<'_>> {
    let end = token_end(text, at);
    let token = &text[at..end];
    let whole = |sign| Token {
        span: at..end,
        negated: false,
        sign,
    };
    let Some(rest) = token.strip_prefix('-') else {
        let operators = [
            "|", "||", "&&", ";", "<", ">", ">>", "2>&1", "$", ".", "..", "\\",
        ];
        if operators.contains(&token) {
            return Some(whole(Operator::Command));
        }
        return parse_filter(text, at);
    };
    if let Some(long) = rest.strip_prefix('-') {
        let named = long.starts_with(char::is_alphanumeric);
        return named.then(|| whole(Operator::Command));
    }
    let first = rest.chars().next()?;
    if is_quote(first) {
        let from = at + 1 + first.len_utf8();
        let (close, end) = find_closing_quote(text, from)?;
        return Some(Token {
            span: at..end,
            negated: true,
            sign: Operator::Without {
                text: &text[from..close],
                quoted: true,
            },
        });
    }
    // An error has no end of its own, so `-error:x` is two words left out.
    if let Some(mut found) = parse_filter(text, at + 1).filter(|found| !found.is_error()) {
        found.span.start = at;
        found.negated = true;
        return Some(found);
    }
    if !(first.is_alphanumeric() || first == '_') || !rest.contains(char::is_alphabetic) {
        return None;
    }
    if is_flag(rest) {
        return Some(whole(Operator::Command));
    }
    Some(Token {
        span: at..end,
        negated: true,
        sign: Operator::Without {
            text: rest,
            quoted: false,
        },
    })
}

/// `x`, `O2`, `count=1`, `I/usr/include`: behind a hyphen never a word.
fn is_flag(rest: &str) -> bool {
    if rest.contains('=') {
        return true;
    }
    let mut chars = rest.chars();
    if !chars.next().is_some_and(|c| c.is_ascii_alphabetic()) {
        return false;
    }
    let value = chars.as_str();
    value.bytes().all(|b| b.is_ascii_digit())
        || value
            .trim_end_matches(|c: char| c.is_ascii_punctuation())
            .is_empty()
        || value.starts_with(['/', ':', '\'', '"', '$', '(', '{', '@'])
}

/// `key:value` from here on.
fn parse_filter(text: &str, at: usize) -> Option<Token<'_>> {
    let rest = &text[at..];
    let longest = FILTER_KEYS.iter().map(|(name, _)| name.len()).max()?;
    let colon = rest.bytes().take(longest + 1).position(|b| b == b':')?;
    let name = rest.get(..colon)?;
    let (_, key) = FILTER_KEYS
        .iter()
        .find(|(k, _)| k.eq_ignore_ascii_case(name))?;
    let from = at + colon + 1;
    // `error::Error`, `file:///home`
    if text[from..].starts_with(':') || text[from..].starts_with("//") {
        return None;
    }
    let (value, end) = match text[from..].chars().next().filter(|c| is_quote(*c)) {
        Some(quote) => parse_quoted_value(text, from + quote.len_utf8()),
        None if *key == FilterKey::Error => (&text[from..], text.len()),
        None => {
            let end = token_end(text, from);
            (&text[from..end], end)
        }
    };
    // A quote in an error's own words is one of them.
    let within = end < text.len() && !text[end..].starts_with(char::is_whitespace);
    let (value, end) = if *key == FilterKey::Error && within {
        (&text[from..], text.len())
    } else {
        (value, end)
    };
    if value.len() > MAX_FILTER_VALUE_BYTES && *key != FilterKey::Error {
        return None;
    }
    let trimmed = value.trim_end_matches([',', ';']);
    let longer = if key.is_time() && from + value.len() == end && trimmed == value {
        collect_longer_values(text, from, end)
    } else {
        Vec::new()
    };
    let value = if *key == FilterKey::Error {
        value
    } else {
        trimmed
    };
    Some(Token {
        span: at..end,
        negated: false,
        sign: Operator::Filter {
            key: *key,
            value,
            longer,
        },
    })
}

/// The value in quotes, and where it ends; without a closing quote one token.
fn parse_quoted_value(text: &str, from: usize) -> (&str, usize) {
    if let Some((close, end)) = find_closing_quote(text, from) {
        return (&text[from..close], end);
    }
    let end = token_end(text, from);
    (&text[from..end], end)
}

/// The value with the words behind it on the same line, one more each time.
fn collect_longer_values(text: &str, from: usize, end: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = end;
    while found.len() + 1 < MAX_TIME_WORDS && at > from {
        let gap = text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        let next = token_end(text, at + gap);
        if gap == 0 || next == at + gap || next - from > MAX_FILTER_VALUE_BYTES {
            break;
        }
        found.push(&text[from..next]);
        at = next;
    }
    found
}
