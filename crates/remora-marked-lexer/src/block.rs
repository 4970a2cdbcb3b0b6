//! Blocks: cuts a text into paragraphs, headings, code, HTML, quotes and
//! lists, in the order and with the oddities of the lexer.

use std::collections::HashSet;

use super::chars::{count_utf16_units, ends_line, is_space, units_to_bytes};
use super::line::{self, RuleGaps};
use super::view::{Chunk, View};
use super::{definition, html};

/// Containers deeper than this are not opened. The lexer itself has no limit
/// but its stack; no text written by hand comes close.
const MAX_CONTAINER_DEPTH: usize = 48;

/// A block and the exact text it was made from.
#[derive(Debug)]
pub(super) struct Block {
    pub kind: BlockKind,
    /// The source text that it stands for in the joined text.
    pub raw: String,
    /// What is read for inline marks; of HTML, quotes and lists the raw text.
    pub text: Chunk,
}

#[derive(Debug)]
pub(super) enum BlockKind {
    Space,
    Code,
    Rule,
    Html,
    Heading,
    Paragraph,
    /// Lines in a list item that form no paragraph of their own.
    Text,
    Quote(Vec<Block>),
    List(Vec<Vec<Block>>),
}

impl Block {
    pub(super) fn new(kind: BlockKind, raw: &str, text: Chunk) -> Block {
        let raw = raw.to_owned();
        Block { kind, raw, text }
    }

    fn from_view(kind: BlockKind, raw: View<'_>) -> Block {
        Block::new(kind, raw.text, raw.to_chunk())
    }

    fn is_text(&self) -> bool {
        matches!(self.kind, BlockKind::Paragraph | BlockKind::Text)
    }

    fn join(&mut self, raw: &str, text: View<'_>) {
        self.raw.push('\n');
        self.raw.push_str(raw);
        self.text.push(text);
    }
}

/// Where lines of text become paragraphs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockContext {
    Top,
    Item,
}

/// Reads the blocks of one file.
pub(super) struct BlockParser {
    /// The names of all link definitions, folded.
    pub links: HashSet<String>,
    pub(super) place: BlockContext,
    depth: usize,
    /// Bytes that may still be read. Quotes are read again when a line
    /// continues them, so hostile nesting would cost more than its length.
    left: usize,
}

impl BlockParser {
    pub(super) fn new(len: usize) -> BlockParser {
        BlockParser {
            links: HashSet::new(),
            place: BlockContext::Top,
            depth: 0,
            // Generous for real texts, in which little is read twice, and linear for hostile ones.
            left: len.saturating_mul(16).saturating_add(1 << 20),
        }
    }

    /// Takes the cost of reading `bytes` more, if there is enough left.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> bool {
        let enough = self.left >= bytes;
        self.left = if enough { self.left - bytes } else { 0 };
        enough
    }

    /// Reads what is inside a container.
    pub(super) fn parse_container(
        &mut self,
        src: View<'_>,
        blocks: &mut Vec<Block>,
        joins: ParagraphJoin,
    ) {
        // Beyond a limit the container stays a block without content: its text is kept, its
        // pieces are not found.
        if self.depth < MAX_CONTAINER_DEPTH && self.spend_bytes(src.text.len()) {
            self.depth += 1;
            self.parse_blocks(src, blocks, joins);
            self.depth -= 1;
        }
        // The lexer keeps one flag for all levels and resets it after each container, so what
        // follows a nested list is read as if it were at the top.
        self.place = BlockContext::Top;
    }

    /// Reads `src` and appends its blocks.
    pub(super) fn parse_blocks(
        &mut self,
        mut src: View<'_>,
        blocks: &mut Vec<Block>,
        mut joins: ParagraphJoin,
    ) {
        // Behind this many bytes from the end no underlined heading was found.
        let mut plain_until = usize::MAX;
        while !src.text.is_empty() {
            // The order of these tests is the lexer's; several of them accept the same line.
            let len = if let Some(len) = blank_lines_len(src.text) {
                match blocks.last_mut() {
                    // A single line end belongs to the block before it, or the joined text would
                    // lose or gain lines.
                    Some(last) if len == 1 => last.raw.push('\n'),
                    _ => blocks.push(Block::from_view(BlockKind::Space, src.take_bytes(len))),
                }
                len
            } else if line::is_indented(line::first_line(src.text)) {
                let len = indented_code_len(src.text);
                match blocks.last_mut() {
                    // Indented code cannot interrupt a paragraph.
                    Some(last) if last.is_text() => {
                        let code = unindent_code(src.take_bytes(len));
                        last.join(&src.text[..len], code.as_view());
                    }
                    _ => blocks.push(Block::from_view(BlockKind::Code, src.take_bytes(len))),
                }
                len
            } else if let Some(block) = self.parse_block(src) {
                let len = covered_len(src.text, &block.raw);
                blocks.push(block);
                len
            } else if let Some(found) = definition::parse_definition(src.text) {
                let raw = src.take_bytes(found.len);
                match blocks.last_mut() {
                    Some(last) if last.is_text() => last.join(raw.text, raw),
                    _ => {
                        // No block: this is why definitions vanish from a joined text.
                        self.links.insert(found.name);
                    }
                }
                found.len
            } else if let Some(block) = parse_underlined_heading(src, &mut plain_until) {
                let len = block.raw.len();
                blocks.push(block);
                len
            } else {
                let (kind, len) = match self.place {
                    BlockContext::Top => (BlockKind::Paragraph, paragraph_len(src.text)),
                    BlockContext::Item => (BlockKind::Text, line::first_line(src.text).len()),
                };
                let raw = src.take_bytes(len);
                let join = joins.can_join(&kind, blocks.last());
                match blocks.last_mut() {
                    Some(last) if join => last.join(raw.text, raw),
                    _ => blocks.push(Block::from_view(kind, raw)),
                }
                len
            };
            src = src.skip_bytes(len);
        }
        self.place = BlockContext::Top;
    }

    /// The blocks that do not depend on the preceding block.
    fn parse_block(&mut self, src: View<'_>) -> Option<Block> {
        let text = src.text;
        let first = line::first_line(text);
        if let Some(marks) = line::parse_fence(first) {
            let raw = src.take_bytes(fenced_code_len(text, marks));
            return Some(Block::from_view(BlockKind::Code, raw));
        }
        if let Some(content) = line::heading_text(first) {
            let end = first.len() + line::count_marks(&text[first.len()..], b'\n');
            let content = Chunk {
                text: content.to_owned(),
                lines: vec![src.line_number(0)],
            };
            return Some(Block::new(BlockKind::Heading, &text[..end], content));
        }
        if line::is_rule(first, 3, RuleGaps::BlanksAndTabs) {
            return Some(Block::from_view(
                BlockKind::Rule,
                src.take_bytes(first.len()),
            ));
        }
        if line::is_quote(first) {
            return Some(self.parse_quote(src));
        }
        self.parse_list(src).or_else(|| {
            html::block_len(text).map(|len| Block::from_view(BlockKind::Html, src.take_bytes(len)))
        })
    }
}

/// Whether a paragraph may join the one before it: in a quote, once, after a
/// line that continued it. Text in list items always joins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ParagraphJoin {
    FirstParagraph,
    Text,
}

impl ParagraphJoin {
    fn can_join(&mut self, kind: &BlockKind, last: Option<&Block>) -> bool {
        let last = last.map(|last| &last.kind);
        if !matches!(kind, BlockKind::Paragraph) {
            return matches!(last, Some(BlockKind::Text));
        }
        let first = *self == ParagraphJoin::FirstParagraph;
        *self = ParagraphJoin::Text;
        first && matches!(last, Some(BlockKind::Paragraph))
    }
}

/// How much of the source a block covers. Its raw text can differ from the
/// source (see `quote`); the lexer then skips as many UTF-16 units as the raw
/// text has, and may split a line in two.
fn covered_len(src: &str, raw: &str) -> usize {
    if src.starts_with(raw) {
        return raw.len();
    }
    let first = src.chars().next().map_or(0, char::len_utf8);
    units_to_bytes(src, count_utf16_units(raw)).max(first)
}

/// Blank lines at the start.
fn blank_lines_len(text: &str) -> Option<usize> {
    let mut end = 0;
    while end < text.len() {
        let rest = &text[end..];
        if !line::is_blank(line::first_line(rest)) {
            break;
        }
        end += line::first_len(rest);
    }
    (end > 0).then_some(end)
}

/// The length of the indented code at the start, with the blank lines in and
/// behind it.
fn indented_code_len(text: &str) -> usize {
    let mut end = 0;
    while end < text.len() {
        let line = line::first_line(&text[end..]);
        if !line::is_indented(line) && !line::is_blank(line) {
            break;
        }
        end += line::first_len(&text[end..]);
    }
    end
}

/// Indented code as lines of a paragraph.
fn unindent_code(raw: View<'_>) -> Chunk {
    let mut code = Chunk::default();
    for (line, number) in raw.numbered_lines() {
        let rest = match line::count_spaces(line) {
            0 => line.strip_prefix('\t').unwrap_or(line),
            spaces => &line[spaces.min(4)..],
        };
        code.push_line(rest, number);
    }
    code.text.truncate(code.text.trim_end_matches('\n').len());
    let lines = super::view::count_newlines(&code.text) + 1;
    code.lines.truncate(lines);
    code
}

/// The length of the fenced code at the start.
fn fenced_code_len(text: &str, marks: &str) -> usize {
    let mut at = line::first_len(text);
    while at < text.len() {
        let line = line::first_line(&text[at..]);
        if line::closes_fence(line, marks) {
            return at + line.len();
        }
        at += line::first_len(&text[at..]);
    }
    text.len()
}

/// The length of the paragraph at the start, without its last line end.
pub(super) fn paragraph_len(text: &str) -> usize {
    let mut end = line::first_line(text).len();
    while end < text.len() {
        let next = &text[end + 1..];
        let line = line::first_line(next);
        let closed = line.len() < next.len();
        if line.is_empty() || line::interrupts_paragraph(line, closed) {
            break;
        }
        end += 1 + line.len();
    }
    end
}

/// A heading of the underlined kind. `plain_until` remembers, as bytes from
/// the end of the source, how far a search came that found nothing.
fn parse_underlined_heading(src: View<'_>, plain_until: &mut usize) -> Option<Block> {
    let text = src.text;
    if *plain_until < text.len() {
        return None;
    }
    let first = line::first_line(text);
    if line::stops_underlined(first, first.len() < text.len()) {
        return None;
    }
    let mut line = first;
    let mut end = first.len();
    loop {
        if line.contains(ends_line) || end >= text.len() {
            break;
        }
        let next = &text[end + 1..];
        let under = line::first_line(next);
        if line::is_underline(under) {
            let content = src.take_bytes(end);
            let raw = end + 1 + under.len();
            let raw = raw + line::count_marks(&text[raw..], b'\n');
            return Some(Block::new(
                BlockKind::Heading,
                &text[..raw],
                content.to_chunk(),
            ));
        }
        let closed = under.len() < next.len();
        let blank = closed && under.chars().all(is_space);
        if blank || line::stops_underlined(under, closed) {
            break;
        }
        line = under;
        end += 1 + under.len();
    }
    *plain_until = text.len() - end;
    None
}
