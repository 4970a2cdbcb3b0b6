//! Blocks: cuts a text into paragraphs, headings, code, HTML, quotes and
//! lists, in the order and with the oddities of the client's reader. Knows
//! nothing about imports.

use std::collections::HashSet;

use super::chars::{ends_line, is_space, units, units_to_bytes};
use super::line::{self, Gaps};
use super::view::{Chunk, View};
use super::{definition, html};

/// Containers deeper than this are not opened. The client's reader has no
/// limit but its stack; nobody writes such text by hand.
const DEPTH: usize = 48;

/// A block and the exact text it was made from.
#[derive(Debug)]
pub(super) struct Block {
    pub kind: Kind,
    /// What it stands for in the cleaned text.
    pub raw: String,
    /// What is read for inline marks; of HTML, quotes and lists the raw text.
    pub text: Chunk,
}

#[derive(Debug)]
pub(super) enum Kind {
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
    pub(super) fn new(kind: Kind, raw: &str, text: Chunk) -> Block {
        let raw = raw.to_owned();
        Block { kind, raw, text }
    }

    fn bare(kind: Kind, raw: View<'_>) -> Block {
        Block::new(kind, raw.text, raw.to_chunk())
    }

    fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Paragraph | Kind::Text)
    }

    fn join(&mut self, raw: &str, text: View<'_>) {
        self.raw.push('\n');
        self.raw.push_str(raw);
        self.text.push(text);
    }
}

/// Where lines of text become paragraphs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Top,
    Item,
}

/// Reads the blocks of one file.
pub(super) struct Blocks {
    /// The names of all link definitions, folded.
    pub links: HashSet<String>,
    pub(super) place: Place,
    depth: usize,
    /// Bytes that may still be read. Quotes are read again when a line
    /// continues them, so hostile nesting would cost more than its length.
    left: usize,
}

impl Blocks {
    pub(super) fn new(len: usize) -> Blocks {
        Blocks {
            links: HashSet::new(),
            place: Place::Top,
            depth: 0,
            left: len.saturating_mul(16).saturating_add(1 << 20),
        }
    }

    /// Takes the cost of reading `bytes` more, if there is enough left.
    pub(super) fn pay(&mut self, bytes: usize) -> bool {
        let enough = self.left >= bytes;
        self.left = if enough { self.left - bytes } else { 0 };
        enough
    }

    /// Reads what is inside a container.
    pub(super) fn inside(&mut self, src: View<'_>, blocks: &mut Vec<Block>, joins: Joins) {
        if self.depth < DEPTH && self.pay(src.text.len()) {
            self.depth += 1;
            self.read(src, blocks, joins);
            self.depth -= 1;
        }
        self.place = Place::Top;
    }

    /// Reads `src` and appends its blocks.
    pub(super) fn read(&mut self, mut src: View<'_>, blocks: &mut Vec<Block>, mut joins: Joins) {
        // Behind this many bytes from the end no underlined heading was found.
        let mut plain_until = usize::MAX;
        while !src.text.is_empty() {
            let len = if let Some(len) = space(src.text) {
                match blocks.last_mut() {
                    Some(last) if len == 1 => last.raw.push('\n'),
                    _ => blocks.push(Block::bare(Kind::Space, src.take(len))),
                }
                len
            } else if line::is_indented(line::first(src.text)) {
                let len = indented(src.text);
                match blocks.last_mut() {
                    Some(last) if last.is_text() => {
                        let code = unindent(src.take(len));
                        last.join(&src.text[..len], code.view());
                    }
                    _ => blocks.push(Block::bare(Kind::Code, src.take(len))),
                }
                len
            } else if let Some(block) = self.block(src) {
                let len = covered(src.text, &block.raw);
                blocks.push(block);
                len
            } else if let Some(found) = definition::definition(src.text) {
                let raw = src.take(found.len);
                match blocks.last_mut() {
                    Some(last) if last.is_text() => last.join(raw.text, raw),
                    _ => {
                        self.links.insert(found.name);
                    }
                }
                found.len
            } else if let Some(block) = underlined(src, &mut plain_until) {
                let len = block.raw.len();
                blocks.push(block);
                len
            } else {
                let (kind, len) = match self.place {
                    Place::Top => (Kind::Paragraph, paragraph(src.text)),
                    Place::Item => (Kind::Text, line::first(src.text).len()),
                };
                let raw = src.take(len);
                let join = joins.take(&kind, blocks.last());
                match blocks.last_mut() {
                    Some(last) if join => last.join(raw.text, raw),
                    _ => blocks.push(Block::bare(kind, raw)),
                }
                len
            };
            src = src.skip(len);
        }
        self.place = Place::Top;
    }

    /// The blocks that need no look at what stands before them.
    fn block(&mut self, src: View<'_>) -> Option<Block> {
        let text = src.text;
        let first = line::first(text);
        if let Some(marks) = line::fence(first) {
            let raw = src.take(fenced(text, marks));
            return Some(Block::bare(Kind::Code, raw));
        }
        if let Some(content) = line::heading_text(first) {
            let end = first.len() + line::run(&text[first.len()..], b'\n');
            let content = Chunk {
                text: content.to_owned(),
                lines: vec![src.line(0)],
            };
            return Some(Block::new(Kind::Heading, &text[..end], content));
        }
        if line::is_rule(first, 3, Gaps::BlanksAndTabs) {
            return Some(Block::bare(Kind::Rule, src.take(first.len())));
        }
        if line::is_quote(first) {
            return Some(self.quote(src));
        }
        self.list(src)
            .or_else(|| html::block(text).map(|len| Block::bare(Kind::Html, src.take(len))))
    }
}

/// Whether a paragraph may join the one before it: in a quote, once, after a
/// line that continued it. Text in list items always joins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joins {
    FirstParagraph,
    Text,
}

impl Joins {
    fn take(&mut self, kind: &Kind, last: Option<&Block>) -> bool {
        let last = last.map(|last| &last.kind);
        if !matches!(kind, Kind::Paragraph) {
            return matches!(last, Some(Kind::Text));
        }
        let first = *self == Joins::FirstParagraph;
        *self = Joins::Text;
        first && matches!(last, Some(Kind::Paragraph))
    }
}

/// How much of the source a block stands for. Its raw text can differ from
/// the source (see `quote`); then its length counts, in UTF-16 units.
fn covered(src: &str, raw: &str) -> usize {
    if src.starts_with(raw) {
        return raw.len();
    }
    let first = src.chars().next().map_or(0, char::len_utf8);
    units_to_bytes(src, units(raw)).max(first)
}

/// Blank lines at the start.
fn space(text: &str) -> Option<usize> {
    let mut end = 0;
    while end < text.len() {
        let rest = &text[end..];
        if !line::is_blank(line::first(rest)) {
            break;
        }
        end += line::first_len(rest);
    }
    (end > 0).then_some(end)
}

/// The length of the indented code at the start, with the blank lines in and
/// behind it.
fn indented(text: &str) -> usize {
    let mut end = 0;
    while end < text.len() {
        let line = line::first(&text[end..]);
        if !line::is_indented(line) && !line::is_blank(line) {
            break;
        }
        end += line::first_len(&text[end..]);
    }
    end
}

/// Indented code as lines of a paragraph.
fn unindent(raw: View<'_>) -> Chunk {
    let mut code = Chunk::default();
    for (line, number) in raw.each() {
        let rest = match line::spaces(line) {
            0 => line.strip_prefix('\t').unwrap_or(line),
            spaces => &line[spaces.min(4)..],
        };
        code.push_line(rest, number);
    }
    code.text.truncate(code.text.trim_end_matches('\n').len());
    let lines = super::view::count(&code.text) + 1;
    code.lines.truncate(lines);
    code
}

/// The length of the fenced code at the start.
fn fenced(text: &str, marks: &str) -> usize {
    let mut at = line::first_len(text);
    while at < text.len() {
        let line = line::first(&text[at..]);
        if line::closes_fence(line, marks) {
            return at + line.len();
        }
        at += line::first_len(&text[at..]);
    }
    text.len()
}

/// The length of the paragraph at the start, without its last line end.
pub(super) fn paragraph(text: &str) -> usize {
    let mut end = line::first(text).len();
    while end < text.len() {
        let next = &text[end + 1..];
        let line = line::first(next);
        let closed = line.len() < next.len();
        if line.is_empty() || line::interrupts(line, closed) {
            break;
        }
        end += 1 + line.len();
    }
    end
}

/// A heading of the underlined kind. `plain_until` remembers, as bytes from
/// the end of the source, how far a search came that found nothing.
fn underlined(src: View<'_>, plain_until: &mut usize) -> Option<Block> {
    let text = src.text;
    if *plain_until < text.len() {
        return None;
    }
    let first = line::first(text);
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
        let under = line::first(next);
        if line::is_underline(under) {
            let content = src.take(end);
            let raw = end + 1 + under.len();
            let raw = raw + line::run(&text[raw..], b'\n');
            return Some(Block::new(Kind::Heading, &text[..raw], content.to_chunk()));
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
