//! Cuts a line into words, numbers, strings and marks, and tells two versions
//! of a line apart by what was swapped in it.

use crate::symbols::lexing::is_name;

/// More tokens than this are another line, not a swap.
const MAX_SWAPPED_TOKENS: usize = 8;
const MAX_LINE_TOKENS: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    Text,
    Mark,
    Several,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodeToken<'a> {
    pub(super) text: &'a str,
    pub(super) sort: TokenKind,
    start: usize,
}

/// What differs between two versions of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenSwap<'a> {
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) sort: TokenKind,
    /// What the swapped value belongs to.
    pub(super) label: Option<&'a str>,
    /// Whether the swapped word is called.
    pub(super) called: bool,
}

const OPERATORS: &[&str] = &[
    "===", "!==", "...", "..=", "==", "!=", "<=", ">=", "->", "=>", "&&", "||", "::", "+=", "-=",
    "*=", "/=", "..", "?.", "??", ":=", "<<", ">>", "//", "**",
];

pub(super) fn split_tokens(line: &str) -> Vec<CodeToken<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() && found.len() < MAX_LINE_TOKENS {
        let rest = &line[at..];
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (len, sort) = measure_token(rest, c, found.last());
        found.push(CodeToken {
            text: &rest[..len],
            sort,
            start: at,
        });
        at += len;
    }
    found
}

fn measure_token(rest: &str, c: char, before: Option<&CodeToken<'_>>) -> (usize, TokenKind) {
    if c.is_ascii_digit() {
        let end = rest
            .char_indices()
            .find(|(at, d)| {
                let dot = *d == '.' && rest[at + 1..].starts_with(|n: char| n.is_ascii_digit());
                !(d.is_ascii_alphanumeric() || *d == '_' || dot)
            })
            .map_or(rest.len(), |(at, _)| at);
        return (end, TokenKind::Number);
    }
    if is_name(c) {
        let end = rest.find(|d| !is_name(d)).unwrap_or(rest.len());
        return (end, TokenKind::Word);
    }
    // Rust's `'a` opens no text, and would swallow the rest of the line.
    let lifetime = c == '\'' && before.is_some_and(|t| matches!(t.text, "<" | "&"));
    if matches!(c, '"' | '\'' | '`') && !lifetime {
        let mut escaped = false;
        for (at, d) in rest.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if d == '\\' {
                escaped = true;
            } else if d == c {
                return (at + 1, TokenKind::Text);
            }
        }
    }
    let long = OPERATORS.iter().find(|m| rest.starts_with(**m));
    (long.map_or(c.len_utf8(), |m| m.len()), TokenKind::Mark)
}

/// How alike two lines are, in hundredths.
pub(super) fn line_similarity(old: &str, new: &str) -> usize {
    let (a, b) = (split_tokens(old), split_tokens(new));
    let longest = a.len().max(b.len());
    if longest == 0 {
        return 100;
    }
    let (head, tail) = count_shared_ends(&a, &b);
    let weight = |list: &[CodeToken<'_>]| {
        list.iter()
            // Brackets and commas are shared by lines that have nothing to do
            // with each other.
            .map(|t| if t.sort == TokenKind::Mark { 1 } else { 3 })
            .sum::<usize>()
    };
    let shared = weight(&a[..head]) + weight(&a[a.len() - tail..]);
    shared * 100 / weight(&a).max(weight(&b)).max(1)
}

/// How many tokens two lines share at their start and at their end.
fn count_shared_ends(a: &[CodeToken<'_>], b: &[CodeToken<'_>]) -> (usize, usize) {
    let head = a
        .iter()
        .zip(b)
        .take_while(|(x, y)| x.text == y.text)
        .count();
    let tail = a[head..]
        .iter()
        .rev()
        .zip(b[head..].iter().rev())
        .take_while(|(x, y)| x.text == y.text)
        .count();
    (head, tail)
}

/// What was swapped between two versions of a line; `None` when they have too
/// little in common, or nothing differs.
pub(super) fn find_swap<'a>(old: &'a str, new: &'a str) -> Option<TokenSwap<'a>> {
    let (a, b) = (split_tokens(old), split_tokens(new));
    let (head, tail) = count_shared_ends(&a, &b);
    let (gone, come) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    if gone.is_empty() && come.is_empty()
        || gone.len() > MAX_SWAPPED_TOKENS
        || come.len() > MAX_SWAPPED_TOKENS
    {
        return None;
    }
    // Nothing shared but brackets is no version of the same line.
    let shared = a[..head].iter().chain(&a[a.len() - tail..]);
    if a.len() > 1 && shared.filter(|t| t.sort != TokenKind::Mark).count() == 0 {
        return None;
    }
    let sort = match (gone, come) {
        ([x], [y]) if x.sort == y.sort => x.sort,
        _ => TokenKind::Several,
    };
    let called = b.get(head + come.len()).is_some_and(|t| t.text == "(");
    Some(TokenSwap {
        before: span_text(old, gone),
        after: span_text(new, come),
        sort,
        label: find_label(&b, head),
        called,
    })
}

fn span_text<'a>(line: &'a str, list: &[CodeToken<'_>]) -> &'a str {
    match (list.first(), list.last()) {
        (Some(first), Some(end)) => &line[first.start..end.start + end.text.len()],
        _ => "",
    }
}

/// Calls that only wrap a value, so that the name it is assigned to says more.
const WRAPPER_CALLS: &[&str] = &[
    "from_millis",
    "from_secs",
    "from_micros",
    "from_mins",
    "from",
    "new",
    "Some",
    "Ok",
    "Err",
    "String",
    "str",
    "int",
    "float",
    "Duration",
    "Box",
    "Arc",
    "Rc",
    "Vec",
    "vec",
    "format",
    "Number",
    "timedelta",
    "range",
    "Integer",
    "Date",
    "into",
    "list",
    "tuple",
    "set",
    "dict",
    "len",
    "path",
];

const KEYWORDS: &[&str] = &[
    "let", "mut", "const", "var", "static", "pub", "if", "while", "for", "in", "and", "or", "not",
    "fn", "def", "final", "public", "private", "val", "else", "elif", "match", "return", "export",
    "self", "this", "await", "async", "new",
];

/// What the token at a place belongs to: the key it is the value of, the call
/// it is an argument of, what it is compared with.
fn find_label<'a>(list: &[CodeToken<'a>], at: usize) -> Option<&'a str> {
    let word = |i: usize| {
        list.get(i)
            .filter(|t| {
                t.sort == TokenKind::Word && !KEYWORDS.contains(&t.text)
                    || t.sort == TokenKind::Text
            })
            .map(|t| t.text.trim_matches(['"', '\'']))
    };
    let direct = [
        "=", ":", ":=", "<", ">", "<=", ">=", "==", "!=", "===", "!==", "+=", "-=", "=>",
    ];
    if at >= 2
        && direct.contains(&list[at - 1].text)
        && let Some(found) = word(at - 2)
    {
        // In `limit: u32 = 5` the name precedes its type.
        if at >= 4
            && list[at - 1].text == "="
            && list[at - 3].text == ":"
            && let Some(typed) = word(at - 4)
        {
            return Some(typed);
        }
        return Some(found);
    }
    let mut depth = 0usize;
    let mut wrapper = None;
    for i in (0..at.min(list.len())).rev() {
        match list[i].text {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "(" | "[" if i > 0 => {
                // A macro has a mark between its name and its bracket.
                let name = if list[i - 1].text == "!" {
                    i.checked_sub(2)
                } else {
                    Some(i - 1)
                };
                if let Some(found) = name.and_then(word) {
                    // `timeout: Duration::from_secs(5)` is about the timeout,
                    // not about the call around the number.
                    if !WRAPPER_CALLS.contains(&found) {
                        return Some(found);
                    }
                    wrapper = wrapper.or(Some(found));
                }
            }
            "=" | ":" | ":=" if depth == 0 && i > 0 => {
                if let Some(found) = word(i - 1) {
                    if list[i].text == "=" && i >= 3 && list[i - 2].text == ":" {
                        return word(i - 3).or(Some(found));
                    }
                    return Some(found);
                }
            }
            "return" => return wrapper.or(Some("return")),
            _ => {}
        }
    }
    wrapper
}

/// The name that was replaced by another throughout a line, and nothing else.
pub(super) fn find_renaming<'a>(old: &'a str, new: &'a str) -> Option<(&'a str, &'a str)> {
    let (a, b) = (split_tokens(old), split_tokens(new));
    if a.len() != b.len() {
        return None;
    }
    let mut found = None;
    for (x, y) in a.iter().zip(&b).filter(|(x, y)| x.text != y.text) {
        let pair = (x.text, y.text);
        if x.sort != TokenKind::Word
            || y.sort != TokenKind::Word
            || found.is_some_and(|f| f != pair)
        {
            return None;
        }
        found = Some(pair);
    }
    found
}

/// How many bytes two lines share at their start, back to a blank.
pub(super) fn common_lead(old: &str, new: &str) -> usize {
    let shared = old
        .char_indices()
        .zip(new.chars())
        .find(|((_, a), b)| a != b)
        .map_or(old.len().min(new.len()), |((at, _), _)| at);
    // Back to a blank, so that a word is quoted whole.
    old[..shared].rfind(' ').map_or(0, |at| at + 1)
}
