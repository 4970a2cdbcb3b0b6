//! What a line can be: rule, heading, fence, bullet, the start of HTML. Every
//! question looks at one line only (without its line end).

use super::chars::{ends_line, is_space};

/// The line at the start of `text`, without its line end.
pub(super) fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// Bytes of the first line and its line end.
pub(super) fn first_len(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |at| at + 1)
}

/// Nothing but blanks and tabs.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|b| b == b' ' || b == b'\t')
}

pub(super) fn count_spaces(line: &str) -> usize {
    line.bytes().take_while(|b| *b == b' ').count()
}

/// The line behind its indent, when that is at most `most` blanks.
pub(super) fn strip_indent(line: &str, most: usize) -> Option<&str> {
    let indent = count_spaces(line);
    (indent <= most).then(|| &line[indent..])
}

/// How many of `mark` the text starts with.
pub(super) fn count_marks(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|b| *b == mark).count()
}

/// A line of code by its indent.
pub(super) fn is_indented(line: &str) -> bool {
    let indent = count_spaces(line);
    indent >= 4 || line[indent..].starts_with('\t')
}

/// What is allowed between the marks of a rule. The lexer uses two expressions.
#[derive(Clone, Copy)]
pub(super) enum RuleGaps {
    BlanksAndTabs,
    Blanks,
}

pub(super) fn is_rule(line: &str, indent: usize, gaps: RuleGaps) -> bool {
    let Some(line) = strip_indent(line, indent) else {
        return false;
    };
    let Some(mark) = line.chars().next().filter(|c| "-_*".contains(*c)) else {
        return false;
    };
    let gap = |c: char| c == ' ' || (c == '\t' && matches!(gaps, RuleGaps::BlanksAndTabs));
    line.chars().all(|c| c == mark || gap(c)) && line.chars().filter(|c| *c == mark).count() >= 3
}

/// The content behind the marks of a heading.
pub(super) fn strip_heading_marks(line: &str) -> Option<&str> {
    let line = strip_indent(line, 3)?;
    let marks = count_marks(line, b'#');
    let rest = &line[marks..];
    let ends = rest.chars().next().is_none_or(is_space);
    ((1..=6).contains(&marks) && ends).then_some(rest)
}

pub(super) fn is_quote(line: &str) -> bool {
    strip_indent(line, 3).is_some_and(|line| line.starts_with('>'))
}

/// The marks that open a fence.
pub(super) fn parse_fence(line: &str) -> Option<&str> {
    let line = strip_indent(line, 3)?;
    let ticks = count_marks(line, b'`');
    if ticks >= 3 {
        return (!line[ticks..].contains('`')).then(|| &line[..ticks]);
    }
    let tildes = count_marks(line, b'~');
    (tildes >= 3).then(|| &line[..tildes])
}

/// Whether the line closes the fence that these marks opened.
pub(super) fn closes_fence(line: &str, marks: &str) -> bool {
    strip_indent(line, 3)
        .and_then(|line| line.strip_prefix(marks))
        .is_some_and(|rest| {
            let rest = rest.trim_start_matches(['~', '`']);
            rest.bytes().all(|b| b == b' ')
        })
}

/// A list mark: its length, and what sort it is (a list goes on only with
/// marks of its own sort).
pub(super) fn parse_bullet(text: &str) -> Option<(usize, char)> {
    let c = text.chars().next()?;
    if matches!(c, '*' | '+' | '-') {
        return Some((1, c));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = text[digits..].chars().next()?;
    ((1..=9).contains(&digits) && matches!(mark, '.' | ')')).then_some((digits + 1, mark))
}

/// A list mark that is followed by a blank, a tab or nothing.
pub(super) fn is_bullet(line: &str, indent: usize) -> bool {
    let Some(line) = strip_indent(line, indent) else {
        return false;
    };
    parse_bullet(line).is_some_and(|(len, _)| {
        let rest = &line[len..];
        rest.is_empty() || rest.starts_with([' ', '\t'])
    })
}

/// The underline of a heading.
pub(super) fn is_underline(line: &str) -> bool {
    let Some(line) = strip_indent(line, 3) else {
        return false;
    };
    let marks = count_marks(line, b'=').max(count_marks(line, b'-'));
    marks > 0 && line[marks..].bytes().all(|b| b == b' ')
}

/// Whether the line cannot be part of an underlined heading. `closed` says
/// whether a line end follows it.
pub(super) fn stops_underlined(line: &str, closed: bool) -> bool {
    if is_indented(line) {
        return true;
    }
    let text = &line[count_spaces(line)..];
    let tag = || {
        let inner = text.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
        closed && inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('>'))
    };
    parse_bullet(line).is_some_and(|(len, _)| line[len..].starts_with(' '))
        || text.starts_with("```")
        || text.starts_with("~~~")
        || text.starts_with(['>', '#'])
        || tag()
}

/// Whether the line ends a paragraph above it. `closed` says whether a line
/// end follows it: some starts of blocks count only then.
pub(super) fn interrupts_paragraph(line: &str, closed: bool) -> bool {
    let indent = count_spaces(line);
    if indent == line.len() {
        return closed || line.is_empty();
    }
    if indent > 3 {
        return false;
    }
    let text = &line[indent..];
    // Only a list that starts at 1 interrupts a paragraph: a sentence may begin a line with
    // "1986. ".
    let list = || {
        let rest = text.strip_prefix(['*', '+', '-']);
        let rest = rest.or_else(|| text.strip_prefix('1')?.strip_prefix(['.', ')']));
        rest.is_some_and(|rest| rest.starts_with(' '))
    };
    match text.as_bytes()[0] {
        b'#' => strip_heading_marks(line).is_some(),
        b'>' => true,
        b'`' | b'~' => closed && parse_fence(line).is_some(),
        // The lexer's expression for this case allows no indent, unlike the others.
        b'<' => indent == 0 && super::html::interrupts_paragraph(line, closed),
        b'-' | b'*' => is_rule(line, 3, RuleGaps::BlanksAndTabs) || list(),
        b'_' => is_rule(line, 3, RuleGaps::BlanksAndTabs),
        b'+' | b'1' => list(),
        _ => false,
    }
}

/// Whether HTML starts here that a list item does not take in.
pub(super) fn is_html(line: &str, indent: usize) -> bool {
    let Some(rest) = strip_indent(line, indent).and_then(|line| line.strip_prefix('<')) else {
        return false;
    };
    if rest.starts_with("!--") {
        return true;
    }
    let end = rest.find(ends_line);
    let rest = &rest[..end.unwrap_or(rest.len())];
    rest.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains('>')
}

/// The text of a heading: trimmed, the closing marks taken off.
pub(super) fn heading_text(line: &str) -> Option<&str> {
    if line.contains(ends_line) {
        return None;
    }
    let text = super::chars::trim(strip_heading_marks(line)?);
    let bare = text.trim_end_matches('#');
    if bare.len() < text.len() && (bare.is_empty() || bare.ends_with(' ')) {
        return Some(super::chars::trim(bare));
    }
    Some(text)
}
