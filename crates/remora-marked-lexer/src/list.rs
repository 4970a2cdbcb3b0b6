//! Lists: cuts a run of list items into the texts of its items. Which lines
//! belong to an item is decided line by line, as the lexer does.

use super::block::{Block, BlockContext, BlockKind, BlockParser, ParagraphJoin};
use super::chars::{trim, trim_end, units_to_bytes};
use super::line::{self, RuleGaps};
use super::view::{Chunk, View};

impl BlockParser {
    /// The list that `src` starts with.
    pub(super) fn parse_list(&mut self, src: View<'_>) -> Option<Block> {
        let sort = parse_list_start(line::first_line(src.text))?;
        let mut rest = src;
        let mut items = Vec::new();
        while !rest.text.is_empty() && item_mark(line::first_line(rest.text), sort).is_some() {
            let (item, len) = parse_item(rest);
            items.push(item);
            rest = rest.skip_bytes(len);
        }
        let last = items.last_mut()?;
        // Only the last item is trimmed; blank lines between items stay with the item above.
        last.text.truncate(trim_end(&last.text).len());
        let raw = src.take_bytes(src.text.len() - rest.text.len());
        let raw = raw.take_bytes(trim_end(raw.text).len());
        let mut blocks = Vec::with_capacity(items.len());
        for item in &items {
            let mut inner = Vec::new();
            self.place = BlockContext::Item;
            self.parse_container(item.as_view(), &mut inner, ParagraphJoin::Text);
            blocks.push(inner);
        }
        Some(Block::new(
            BlockKind::List(blocks),
            raw.text,
            raw.to_chunk(),
        ))
    }
}

/// The sort of list that this line can start.
fn parse_list_start(line: &str) -> Option<(char, bool)> {
    let text = line::strip_indent(line, 3)?;
    let (len, mark) = line::parse_bullet(text)?;
    let rest = &text[len..];
    // A mark with a single blank and nothing else continues a list, but starts none.
    let good = rest.is_empty() || (rest.starts_with([' ', '\t']) && rest.chars().nth(1).is_some());
    let sort = (mark, len > 1);
    (good && item_mark(line, sort).is_some()).then_some(sort)
}

/// The length of the mark, with its indent, if the line is an item of a list
/// of this sort.
fn item_mark(line: &str, sort: (char, bool)) -> Option<usize> {
    let text = line::strip_indent(line, 3)?;
    let (len, mark) = line::parse_bullet(text)?;
    let rest = &text[len..];
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    let same = (mark, len > 1) == sort;
    (ends && same && !line::is_rule(line, 3, RuleGaps::BlanksAndTabs))
        .then(|| line.len() - text.len() + len)
}

/// The text of the item that `src` starts with, and how much of `src` it took.
fn parse_item(src: View<'_>) -> (Chunk, usize) {
    let first = line::first_line(src.text);
    let text = line::strip_indent(first, 3).unwrap_or(first);
    let mark = first.len() - text.len() + line::parse_bullet(text).map_or(0, |(len, _)| len);
    let rest = &first[mark..];
    let tabs = line::count_marks(rest, b'\t');
    // The lexer turns leading tabs into three blanks here and into four below.
    let mut line = " ".repeat(3 * tabs) + &rest[tabs..];
    let mut blank = trim(&line).is_empty();
    let mut content = Chunk::default();
    let indent = if blank {
        content.push_line("", src.line_number(0));
        mark + 1
    } else {
        let indent = line::count_spaces(rest);
        let indent = if indent > 4 { 1 } else { indent };
        content.push_line(&line[indent..], src.line_number(0));
        indent + mark
    };
    let mut at = line::first_len(src.text);
    let mut number = 1;
    if blank && line::is_blank(line::first_line(&src.text[at..])) {
        return (content, at + line::first_len(&src.text[at..]));
    }
    let outdent = (indent - 1).min(3);
    while at < src.text.len() {
        let next = line::first_line(&src.text[at..]);
        if ends_item(next, outdent) {
            break;
        }
        let expanded = next.replace('\t', "    ");
        // The lexer cuts by UTF-16 units, which may be inside a character outside the BMP.
        let inner = &expanded[units_to_bytes(&expanded, indent)..];
        let next_blank = trim(next).is_empty();
        let deep = line::count_spaces(&expanded);
        if (deep >= indent && deep < expanded.len()) || next_blank {
            content.push_line(inner, src.line_number(number));
        // A lazy line continues a paragraph only, and not after a blank line.
        } else if blank || ends_text(&line, outdent) {
            break;
        } else {
            content.push_line(next, src.line_number(number));
        }
        blank |= next_blank;
        inner.clone_into(&mut line);
        at += line::first_len(&src.text[at..]);
        number += 1;
    }
    (content, at)
}

/// Whether this line starts something that an item does not take in.
fn ends_item(line: &str, indent: usize) -> bool {
    is_fence(line, indent)
        || is_hash(line, indent)
        || line::is_html(line, indent)
        || line::is_bullet(line, indent)
        || line::is_rule(line, indent, RuleGaps::Blanks)
}

/// Whether no line can lazily continue this one.
fn ends_text(line: &str, indent: usize) -> bool {
    let expanded = line.replace('\t', "    ");
    let deep = line::count_spaces(&expanded);
    (deep >= 4 && deep < expanded.len())
        || is_fence(line, indent)
        || is_hash(line, indent)
        || line::is_rule(line, indent, RuleGaps::Blanks)
}

fn is_fence(line: &str, indent: usize) -> bool {
    line::strip_indent(line, indent).is_some_and(|t| t.starts_with("```") || t.starts_with("~~~"))
}

fn is_hash(line: &str, indent: usize) -> bool {
    line::strip_indent(line, indent).is_some_and(|text| text.starts_with('#'))
}
