//! Block quotes, and the lines that continue one without a mark. The
//! lexer first reads the marked lines, then reads the last thing in them
//! again together with the lines behind; the raw text it notes for that can
//! differ from the source, which shows in the joined text, so it is repeated
//! here faithfully.

use super::block::{Block, BlockContext, BlockKind, BlockParser, ParagraphJoin, paragraph_len};
use super::chars::{count_utf16_units, units_to_bytes};
use super::line;
use super::view::{Chunk, View, count_newlines};

impl BlockParser {
    /// The quote that `src` starts with; its first line has the mark.
    pub(super) fn parse_quote(&mut self, src: View<'_>) -> Block {
        let whole = &src.text[..quote_len(src.text)];
        let whole = src.take_bytes(whole.trim_end_matches('\n').len());
        let mut raw = String::new();
        let mut blocks = Vec::new();
        let mut pending = whole.to_chunk();
        let mut done = false;
        while !done {
            let marked = marked_len(&pending.text);
            let current = pending.as_view().take_bytes(marked.min(pending.text.len()));
            append_line(&mut raw, current.text);
            let inner = strip_quote_marks(current);
            // A quote inside a list item has paragraphs of its own.
            let place = self.place;
            self.place = BlockContext::Top;
            self.parse_container(inner.as_view(), &mut blocks, ParagraphJoin::FirstParagraph);
            self.place = place;
            if marked >= pending.text.len() {
                break;
            }
            let rest = pending.as_view().skip_bytes(marked + 1);
            if !self.spend_bytes(pending.text.len()) {
                // Too much has been read again: the rest is taken as it is.
                append_line(&mut raw, rest.text);
                break;
            }
            let rest = rest.to_chunk();
            (pending, done) = self.go_on(&mut blocks, &mut raw, rest);
        }
        let lines = src.lines.get(..=count_newlines(&raw)).unwrap_or(src.lines);
        let text = Chunk {
            text: raw.clone(),
            lines: lines.to_vec(),
        };
        Block {
            kind: BlockKind::Quote(blocks),
            raw,
            text,
        }
    }

    /// Reads the last block again together with the lines that continue it.
    /// Gives the lines that are left, and whether the quote is over.
    fn go_on(&mut self, blocks: &mut [Block], raw: &mut String, rest: Chunk) -> (Chunk, bool) {
        let Some(last) = blocks.last_mut() else {
            return (rest, false);
        };
        let nested = match last.kind {
            // A lazy line cannot continue code.
            BlockKind::Code => return (rest, true),
            BlockKind::Quote(_) => true,
            BlockKind::List(_) => false,
            _ => return (rest, false),
        };
        let mut all = Chunk {
            text: last.raw.clone(),
            lines: last.text.lines.clone(),
        };
        all.lines.resize(count_newlines(&all.text) + 1, 0);
        all.push(rest.as_view());
        let again = if nested {
            Some(self.parse_quote(all.as_view()))
        } else {
            self.parse_list(all.as_view())
        };
        let Some(again) = again else {
            return (rest, true);
        };
        // The lexer replaces the end of its raw text by length, not by content; that is where
        // the raw text departs from the source.
        let keep = count_utf16_units(raw).saturating_sub(count_utf16_units(&last.raw));
        raw.truncate(units_to_bytes(raw, keep));
        raw.push_str(&again.raw);
        let consumed = again.raw.len().min(all.text.len());
        *last = again;
        if nested || !all.text.is_char_boundary(consumed) {
            return (rest, true);
        }
        (all.as_view().skip_bytes(consumed).to_chunk(), false)
    }
}

fn append_line(raw: &mut String, more: &str) {
    if !raw.is_empty() {
        raw.push('\n');
    }
    raw.push_str(more);
}

/// How far a quote and the lines that continue its paragraphs reach.
fn quote_len(text: &str) -> usize {
    let mut at = 0;
    while at < text.len() && line::is_quote(line::first_line(&text[at..])) {
        let line = line::first_line(&text[at..]);
        let mark = line::count_spaces(line) + 1;
        let mark = mark + usize::from(line[mark..].starts_with(' '));
        let mut end = at + line.len();
        if mark < line.len() {
            end = at + mark + paragraph_len(&text[at + mark..]);
        }
        at = (end + 1).min(text.len());
    }
    at
}

/// The length of the lines up to the first one without a mark that follows
/// one with a mark, without the last line end.
fn marked_len(text: &str) -> usize {
    let mut inside = false;
    let mut at = 0;
    for line in text.split('\n') {
        let marked = line::is_quote(line);
        if inside && !marked {
            return at - 1;
        }
        inside |= marked;
        at += line.len() + 1;
    }
    text.len()
}

/// Takes the marks off. A line without one that would underline a heading is
/// indented, since a lazy line never does.
fn strip_quote_marks(raw: View<'_>) -> Chunk {
    let mut inner = Chunk::default();
    for (index, (line, number)) in raw.numbered_lines().enumerate() {
        if line::is_quote(line) {
            let rest = &line[line::count_spaces(line) + 1..];
            inner.push_line(rest.strip_prefix([' ', '\t']).unwrap_or(rest), number);
        } else if index > 0 && line::is_underline(line) {
            inner.push_line(
                &format!("    {}", &line[line::count_spaces(line)..]),
                number,
            );
        } else {
            inner.push_line(line, number);
        }
    }
    inner
}
