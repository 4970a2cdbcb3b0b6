//! Block quotes, and the lines that continue one without a mark. The client's
//! reader first reads the marked lines, then reads the last thing in them
//! again together with the lines behind; the raw text it notes for that can
//! differ from the source, which shows in the cleaned text, so it is repeated
//! here faithfully.

use super::block::{Block, Blocks, Joins, Kind, Place, paragraph};
use super::chars::{units, units_to_bytes};
use super::line;
use super::view::{Chunk, View, count};

impl Blocks {
    /// The quote that `src` starts with; its first line has the mark.
    pub(super) fn quote(&mut self, src: View<'_>) -> Block {
        let whole = &src.text[..extent(src.text)];
        let whole = src.take(whole.trim_end_matches('\n').len());
        let mut raw = String::new();
        let mut blocks = Vec::new();
        let mut pending = whole.to_chunk();
        let mut done = false;
        while !done {
            let marked = marked_len(&pending.text);
            let current = pending.view().take(marked.min(pending.text.len()));
            add(&mut raw, current.text);
            let inner = unmark(current);
            let place = self.place;
            self.place = Place::Top;
            self.inside(inner.view(), &mut blocks, Joins::FirstParagraph);
            self.place = place;
            if marked >= pending.text.len() {
                break;
            }
            let rest = pending.view().skip(marked + 1);
            if !self.pay(pending.text.len()) {
                // Too much has been read again: the rest is taken as it is.
                add(&mut raw, rest.text);
                break;
            }
            let rest = rest.to_chunk();
            (pending, done) = self.go_on(&mut blocks, &mut raw, rest);
        }
        let lines = src.lines.get(..=count(&raw)).unwrap_or(src.lines);
        let text = Chunk {
            text: raw.clone(),
            lines: lines.to_vec(),
        };
        Block {
            kind: Kind::Quote(blocks),
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
            Kind::Code => return (rest, true),
            Kind::Quote(_) => true,
            Kind::List(_) => false,
            _ => return (rest, false),
        };
        let mut all = Chunk {
            text: last.raw.clone(),
            lines: last.text.lines.clone(),
        };
        all.lines.resize(count(&all.text) + 1, 0);
        all.push(rest.view());
        let again = if nested {
            Some(self.quote(all.view()))
        } else {
            self.list(all.view())
        };
        let Some(again) = again else {
            return (rest, true);
        };
        let keep = units(raw).saturating_sub(units(&last.raw));
        raw.truncate(units_to_bytes(raw, keep));
        raw.push_str(&again.raw);
        let taken = again.raw.len().min(all.text.len());
        *last = again;
        if nested || !all.text.is_char_boundary(taken) {
            return (rest, true);
        }
        (all.view().skip(taken).to_chunk(), false)
    }
}

fn add(raw: &mut String, more: &str) {
    if !raw.is_empty() {
        raw.push('\n');
    }
    raw.push_str(more);
}

/// How far a quote and the lines that continue its paragraphs reach.
fn extent(text: &str) -> usize {
    let mut at = 0;
    while at < text.len() && line::is_quote(line::first(&text[at..])) {
        let line = line::first(&text[at..]);
        let mark = line::spaces(line) + 1;
        let mark = mark + usize::from(line[mark..].starts_with(' '));
        let mut end = at + line.len();
        if mark < line.len() {
            end = at + mark + paragraph(&text[at + mark..]);
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
fn unmark(raw: View<'_>) -> Chunk {
    let mut inner = Chunk::default();
    for (index, (line, number)) in raw.each().enumerate() {
        if line::is_quote(line) {
            let rest = &line[line::spaces(line) + 1..];
            inner.push_line(rest.strip_prefix([' ', '\t']).unwrap_or(rest), number);
        } else if index > 0 && line::is_underline(line) {
            inner.push_line(&format!("    {}", &line[line::spaces(line)..]), number);
        } else {
            inner.push_line(line, number);
        }
    }
    inner
}
