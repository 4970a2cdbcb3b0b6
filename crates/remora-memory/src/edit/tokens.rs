//! Cuts a line into words, numbers, strings and marks, and tells two versions
//! of a line apart by what was swapped in it.

use crate::symbols::lexing::is_name;

/// More tokens than this are another line, not a swap.
const SWAP_CAP: usize = 8;
const LINE_CAP: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Word,
    Number,
    Text,
    Mark,
    Several,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) sort: Sort,
    start: usize,
}

/// What differs between two versions of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Swap<'a> {
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) sort: Sort,
    /// What the swapped value belongs to.
    pub(super) label: Option<&'a str>,
    /// Whether the swapped word is called.
    pub(super) called: bool,
}

const MARKS: &[&str] = &[
    "===", "!==", "...", "..=", "==", "!=", "<=", ">=", "->", "=>", "&&", "||", "::", "+=", "-=",
    "*=", "/=", "..", "?.", "??", ":=", "<<", ">>", "//", "**",
];

pub(super) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() && found.len() < LINE_CAP {
        let rest = &line[at..];
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (len, sort) = measure(rest, c, found.last());
        found.push(Token {
            text: &rest[..len],
            sort,
            start: at,
        });
        at += len;
    }
    found
}

fn measure(rest: &str, c: char, before: Option<&Token<'_>>) -> (usize, Sort) {
    if c.is_ascii_digit() {
        let end = rest
            .char_indices()
            .find(|(at, d)| {
                let dot = *d == '.' && rest[at + 1..].starts_with(|n: char| n.is_ascii_digit());
                !(d.is_ascii_alphanumeric() || *d == '_' || dot)
            })
            .map_or(rest.len(), |(at, _)| at);
        return (end, Sort::Number);
    }
    if is_name(c) {
        let end = rest.find(|d| !is_name(d)).unwrap_or(rest.len());
        return (end, Sort::Word);
    }
    let lifetime = c == '\'' && before.is_some_and(|t| matches!(t.text, "<" | "&"));
    if matches!(c, '"' | '\'' | '`') && !lifetime {
        let mut escaped = false;
        for (at, d) in rest.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if d == '\\' {
                escaped = true;
            } else if d == c {
                return (at + 1, Sort::Text);
            }
        }
    }
    let long = MARKS.iter().find(|m| rest.starts_with(**m));
    (long.map_or(c.len_utf8(), |m| m.len()), Sort::Mark)
}

/// How alike two lines are, in hundredths.
pub(super) fn likeness(old: &str, new: &str) -> usize {
    let (a, b) = (tokens(old), tokens(new));
    let longest = a.len().max(b.len());
    if longest == 0 {
        return 100;
    }
    let (head, tail) = frame(&a, &b);
    let weight = |list: &[Token<'_>]| {
        list.iter()
            .map(|t| if t.sort == Sort::Mark { 1 } else { 3 })
            .sum::<usize>()
    };
    let shared = weight(&a[..head]) + weight(&a[a.len() - tail..]);
    shared * 100 / weight(&a).max(weight(&b)).max(1)
}

/// How many tokens two lines share at their start and at their end.
fn frame(a: &[Token<'_>], b: &[Token<'_>]) -> (usize, usize) {
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
pub(super) fn swap<'a>(old: &'a str, new: &'a str) -> Option<Swap<'a>> {
    let (a, b) = (tokens(old), tokens(new));
    let (head, tail) = frame(&a, &b);
    let (gone, come) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    if gone.is_empty() && come.is_empty() || gone.len() > SWAP_CAP || come.len() > SWAP_CAP {
        return None;
    }
    // Nothing shared but brackets is no version of the same line.
    let shared = a[..head].iter().chain(&a[a.len() - tail..]);
    if a.len() > 1 && shared.filter(|t| t.sort != Sort::Mark).count() == 0 {
        return None;
    }
    let sort = match (gone, come) {
        ([x], [y]) if x.sort == y.sort => x.sort,
        _ => Sort::Several,
    };
    let called = b.get(head + come.len()).is_some_and(|t| t.text == "(");
    Some(Swap {
        before: span(old, gone),
        after: span(new, come),
        sort,
        label: label(&b, head),
        called,
    })
}

fn span<'a>(line: &'a str, list: &[Token<'_>]) -> &'a str {
    match (list.first(), list.last()) {
        (Some(first), Some(end)) => &line[first.start..end.start + end.text.len()],
        _ => "",
    }
}

/// Calls that only wrap a value, so that what they are given to says more.
const WRAPPERS: &[&str] = &[
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

/// What the token at a place belongs to: the key it is given, the call it is
/// an argument of, what it is compared with.
fn label<'a>(list: &[Token<'a>], at: usize) -> Option<&'a str> {
    let word = |i: usize| {
        list.get(i)
            .filter(|t| t.sort == Sort::Word && !KEYWORDS.contains(&t.text) || t.sort == Sort::Text)
            .map(|t| t.text.trim_matches(['"', '\'']))
    };
    let direct = [
        "=", ":", ":=", "<", ">", "<=", ">=", "==", "!=", "===", "!==", "+=", "-=", "=>",
    ];
    if at >= 2
        && direct.contains(&list[at - 1].text)
        && let Some(found) = word(at - 2)
    {
        // In `limit: u32 = 5` the name stands before its type.
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
                // A macro's mark stands between its name and its bracket.
                let name = if list[i - 1].text == "!" {
                    i.checked_sub(2)
                } else {
                    Some(i - 1)
                };
                if let Some(found) = name.and_then(word) {
                    if !WRAPPERS.contains(&found) {
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
pub(super) fn renaming<'a>(old: &'a str, new: &'a str) -> Option<(&'a str, &'a str)> {
    let (a, b) = (tokens(old), tokens(new));
    if a.len() != b.len() {
        return None;
    }
    let mut found = None;
    for (x, y) in a.iter().zip(&b).filter(|(x, y)| x.text != y.text) {
        let pair = (x.text, y.text);
        if x.sort != Sort::Word || y.sort != Sort::Word || found.is_some_and(|f| f != pair) {
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
    old[..shared].rfind(' ').map_or(0, |at| at + 1)
}
