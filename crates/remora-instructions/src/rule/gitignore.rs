//! One list of gitignore patterns, read the way the client reads them, which
//! is not in every corner how git does. Case does not matter. Pure.

use super::machine::{self, CaseSensitivity, CharSet, Node, PatternMachine};

/// Patterns longer than this never match; no path is that long.
const MAX_PATTERN_BYTES: usize = 16 * 1024;

/// A list of patterns; the last one that fits decides.
#[derive(Debug, Clone)]
pub(super) struct IgnorePatterns(Vec<IgnorePattern>);

#[derive(Debug, Clone)]
struct IgnorePattern {
    kind: PatternKind,
    machine: PatternMachine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternKind {
    Take,
    GiveBack,
}

/// Why a pattern fits nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeverMatchReason {
    /// A `#` in front makes it a comment.
    Comment,
    /// It names nothing.
    Empty,
    /// It ends in a backslash that escapes nothing.
    Backslash,
    /// A `[` that no `]` closes.
    Bracket,
    /// Longer than any path.
    Long,
}

impl IgnorePatterns {
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(
            texts
                .into_iter()
                .filter_map(|t| compile_pattern(t).ok())
                .collect(),
        )
    }

    /// Whether a path below the base is selected. Nothing in a directory that is selected
    /// can be excluded again.
    pub(super) fn matches(&self, relative: &str) -> bool {
        let relative = relative.strip_suffix('/').unwrap_or(relative);
        let names = || relative.split('/');
        if names().any(|name| matches!(name, "" | "." | "..")) {
            return false;
        }
        let path: Vec<char> = relative.chars().collect();
        self.may_take(&path) && self.takes_any(&path)
    }

    /// Whether one of the patterns is worth trying.
    pub(super) fn may_take(&self, path: &[char]) -> bool {
        let folded: Vec<char> = path.iter().map(|c| machine::fold_case(*c)).collect();
        let mut takers = self.0.iter().filter(|p| p.kind == PatternKind::Take);
        takers.any(|p| p.machine.may_fit(&folded))
    }

    /// Tries the path and all directories above it.
    pub(super) fn takes_any(&self, path: &[char]) -> bool {
        let ends = path
            .iter()
            .enumerate()
            .filter_map(|(at, c)| (*c == '/').then_some(at + 1));
        ends.chain([path.len()])
            .any(|end| self.matches_path(&path[..end]))
    }

    fn matches_path(&self, path: &[char]) -> bool {
        let mut selected = false;
        for pattern in &self.0 {
            // A pattern that would change nothing need not be tried.
            if selected != (pattern.kind == PatternKind::Take) && pattern.machine.fits_text(path) {
                selected = !selected;
            }
        }
        selected
    }
}

/// Why a pattern can never fit, if that shows in its text.
pub(super) fn find_never_match_reason(text: &str) -> Option<NeverMatchReason> {
    compile_pattern(text).err()
}

fn compile_pattern(text: &str) -> Result<IgnorePattern, NeverMatchReason> {
    if text.len() > MAX_PATTERN_BYTES {
        return Err(NeverMatchReason::Long);
    }
    if text.starts_with('#') {
        return Err(NeverMatchReason::Comment);
    }
    let (kind, text) = match text.strip_prefix('!') {
        Some(rest) => (PatternKind::GiveBack, rest),
        None => (PatternKind::Take, text),
    };
    let chars: Vec<char> = trim_end(text).chars().collect();
    if chars.ends_with(&['\\']) && !chars.ends_with(&['\\', '\\']) {
        return Err(NeverMatchReason::Backslash);
    }
    if chars == ['/'] || (chars.is_empty() && kind == PatternKind::Take) {
        return Err(NeverMatchReason::Empty);
    }
    let node = translate_pattern(&chars)?;
    Ok(IgnorePattern {
        kind,
        machine: PatternMachine::new(&node, CaseSensitivity::Folded),
    })
}

/// Blanks at the end go, but for one that a backslash keeps.
fn trim_end(text: &str) -> &str {
    let trimmed = text.trim_end_matches(crate::frontmatter::is_blank);
    let slashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
    match text[trimmed.len()..].chars().next() {
        Some(blank) if slashes % 2 == 1 => &text[..trimmed.len() + blank.len_utf8()],
        _ => trimmed,
    }
}

fn translate_pattern(chars: &[char]) -> Result<Node, NeverMatchReason> {
    if chars.is_empty() {
        // A lone `!` matches everything and excludes it.
        return Ok(Node::Seq(Vec::new()));
    }
    let inner = chars.strip_suffix(&['/']).unwrap_or(chars);
    let mut nodes = Vec::new();
    let mut rest = chars;
    if inner.contains(&'/') {
        nodes.push(Node::Start);
    } else {
        nodes.push(below_any());
    }
    if let Some(after) = rest.strip_prefix(&['/']) {
        rest = after;
    }
    let mut tail = ' ';
    if let Some(after) = rest.strip_prefix(&['*', '*', '/']) {
        nodes.push(below_any());
        tail = '/';
        rest = after;
    }
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        tail = c;
        match c {
            '/' => {
                let mut deep = false;
                while rest.len() > 2 && rest.starts_with(&['*', '*', '/']) {
                    deep = true;
                    rest = &rest[3..];
                }
                if deep {
                    let name = Node::Seq(vec![Node::Char('/'), Node::name_char().one_or_more()]);
                    nodes.push(name.zero_or_more());
                }
                nodes.push(Node::Char('/'));
                if rest == ['*', '*'] {
                    nodes.push(Node::any_char().one_or_more());
                    return Ok(Node::Seq(nodes));
                }
            }
            '*' => {
                let run = rest.iter().take_while(|c| **c == '*').count();
                rest = &rest[run..];
                let whole = matches!(nodes.last(), Some(Node::Char('/')));
                if rest.is_empty() && whole && run == 0 {
                    nodes.push(Node::name_char());
                }
                nodes.push(Node::name_char().zero_or_more());
            }
            '?' => nodes.push(Node::name_char()),
            '[' => {
                let (set, after) = parse_bracket(rest)?;
                nodes.push(set);
                rest = after;
            }
            // A slash cannot be escaped.
            '\\' if rest.first() == Some(&'/') => nodes.push(Node::Char('\\')),
            '\\' => {
                let Some((&c, after)) = rest.split_first() else {
                    return Err(NeverMatchReason::Backslash);
                };
                rest = after;
                // At the very end the client's matcher ignores a backslash before a star.
                nodes.push(if c == '*' && rest.is_empty() {
                    Node::name_char().zero_or_more()
                } else {
                    Node::Char(c)
                });
            }
            c => nodes.push(Node::Char(c)),
        }
    }
    if tail != '/' {
        nodes.push(Node::Char('/').zero_or_one());
    }
    nodes.push(Node::End);
    Ok(Node::Seq(nodes))
}

/// The beginning, or behind any slash.
fn below_any() -> Node {
    Node::Seq(vec![Node::any_char().zero_or_more(), Node::Char('/')]).zero_or_one()
}

/// A set in brackets; `chars` begins behind the `[`. There is no negation: a
/// `!` or `^` is one of the characters, as the client has it.
fn parse_bracket(chars: &[char]) -> Result<(Node, &[char]), NeverMatchReason> {
    let close = chars
        .iter()
        .position(|c| matches!(c, ']' | '/' | '*' | '?'))
        .filter(|&at| chars[at] == ']')
        .ok_or(NeverMatchReason::Bracket)?;
    let (mut inner, rest) = (&chars[..close], &chars[close + 1..]);
    let mut ranges = Vec::new();
    while let Some((from, after)) = set_char(inner)? {
        inner = after;
        let to = match inner.strip_prefix(&['-']) {
            Some(after) => set_char(after)?,
            None => None,
        };
        if let Some((to, after)) = to {
            inner = after;
            // A range that runs backwards holds nothing.
            if from <= to {
                ranges.push((from, to));
            }
        } else {
            ranges.push((from, from));
        }
    }
    Ok((Node::Set(CharSet::from_ranges(ranges)), rest))
}

/// The next character of a set, without the backslash in front of it.
fn set_char(inner: &[char]) -> Result<Option<(char, &[char])>, NeverMatchReason> {
    match inner {
        [] => Ok(None),
        ['\\'] => Err(NeverMatchReason::Bracket),
        ['\\', c, rest @ ..] | [c, rest @ ..] => Ok(Some((*c, rest))),
    }
}
