//! Markdown as the lexer of the JavaScript library `marked` 15.0 cuts it up
//! with GFM off, odd cases included.
//!
//! Use it to predict what a program sees that reads its texts with that lexer.
//! To render Markdown, or to read it as `CommonMark` does, take another crate:
//! this one knows no tables, loses link definitions, and repeats the mistakes
//! of its model faithfully; `docs/design/0010` has the measurements.
//!
//! [`MarkedDocument::parse`] finds the blocks of a text;
//! [`MarkedDocument::walk_pieces`] cuts their text at inline marks and passes
//! each piece on with the lines it came from. Where links lead, what entities
//! mean and how lists are numbered is not kept.
//!
//! No text costs more than time in proportion to its length: containers and
//! inline marks are followed 48 deep, where the model follows them as far as
//! its stack allows, and what is read twice is paid from a budget.
//! `cases/marked.json` holds answers of `marked` 15.0.12.
//!
//! It is a crate of its own because it emulates a published program and knows
//! nothing of the texts it is used on. Pure.
#![forbid(unsafe_code)]

mod block;
mod chars;
mod definition;
mod emphasis;
mod html;
mod inline;
mod line;
mod link;
mod list;
mod mask;
mod quote;
#[cfg(test)]
mod tests;
mod view;

use std::collections::HashSet;

use block::{Block, BlockKind, BlockParser, ParagraphJoin};
use inline::InlineParser;

pub use chars::{is_space, trim, trim_start};
pub use inline::{Piece, PieceSink};
pub use view::{Chunk, View, count_newlines};

/// The blocks of a text.
#[derive(Debug)]
pub struct MarkedDocument {
    blocks: Vec<Block>,
    links: HashSet<String>,
}

/// A block that is in no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopBlock<'a> {
    /// The source it stands for. Joined, these are the text without its link
    /// definitions, except where the model misjudges a quote.
    pub raw: &'a str,
    /// Whether it is raw HTML.
    pub is_html: bool,
}

impl MarkedDocument {
    /// Finds the blocks of a text, whose lines end with line feeds.
    pub fn parse(body: &str) -> Self {
        let lines: Vec<usize> = (1..=count_newlines(body) + 1).collect();
        let src = View {
            text: body,
            lines: &lines,
        };
        let mut reader = BlockParser::new(body.len());
        let mut blocks = Vec::new();
        reader.parse_blocks(src, &mut blocks, ParagraphJoin::Text);
        Self {
            blocks,
            links: reader.links,
        }
    }

    /// The outermost blocks in order.
    pub fn top_blocks(&self) -> impl Iterator<Item = TopBlock<'_>> {
        self.blocks.iter().map(|block| TopBlock {
            raw: &block.raw,
            is_html: matches!(block.kind, BlockKind::Html),
        })
    }

    /// Passes on what the blocks hold, in order.
    pub fn walk_pieces(&self, sink: &mut impl PieceSink) {
        walk_blocks(&self.blocks, &self.links, sink);
    }
}

fn walk_blocks(blocks: &[Block], links: &HashSet<String>, sink: &mut impl PieceSink) {
    for block in blocks {
        let text = block.text.as_view();
        match &block.kind {
            BlockKind::Space | BlockKind::Rule => {}
            BlockKind::Code => sink.accept_piece(Piece::Code(text.text), text.lines),
            BlockKind::Html => sink.accept_piece(Piece::Html(text.text), text.lines),
            BlockKind::Text => {
                sink.accept_piece(Piece::Lines(text.text), text.lines);
                InlineParser::parse_block(text, links, sink);
            }
            BlockKind::Heading | BlockKind::Paragraph => {
                InlineParser::parse_block(text, links, sink);
            }
            BlockKind::Quote(inner) => walk_blocks(inner, links, sink),
            BlockKind::List(items) => {
                for item in items {
                    walk_blocks(item, links, sink);
                }
            }
        }
    }
}
