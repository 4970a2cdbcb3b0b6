//! The static embedding of a text, with nothing to load: the sum of the table's
//! rows for its pieces. Rare pieces weigh more than common ones; the weights are
//! part of the table.

use std::ops::ControlFlow;

use crate::embedding::Embedding;
use crate::table::Table;
use crate::wordpiece::{PieceCache, PieceFinder, visit_word_pieces};

#[cfg(test)]
mod tests;

/// How much of a text is read, in bytes.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// The static embedding of a text; `None` if it has no known word. Caches
/// nothing: for one text in a process. For many, see [`StaticEmbedder`].
pub fn embed_static(text: &str) -> Option<Embedding> {
    let table = Table::built_in();
    sum_pieces(text, table, &mut { table })
}

/// How many letters a word must have: most shorter strings are pieces themselves,
/// whatever they are.
const MIN_WORD_CHARS: usize = 3;

/// Whether the vocabulary has this word as a whole. Of any other string it knows
/// only fragments, and their sum is chance: a search for one finds nothing rather
/// than what happens to be near.
pub fn is_word(word: &str) -> bool {
    if word.chars().filter(|c| c.is_alphabetic()).count() < MIN_WORD_CHARS {
        return false;
    }
    let mut is_whole = false;
    visit_word_pieces(word, &mut { Table::built_in() }, |pieces| {
        is_whole = pieces.len() == 1;
        ControlFlow::Break(())
    });
    is_whole
}

/// The same as [`embed_static`] for many texts: remembers the words it has seen,
/// up to a bound.
#[derive(Debug)]
pub struct StaticEmbedder {
    table: Table,
    memo: PieceCache,
}

impl StaticEmbedder {
    /// One with an empty cache.
    pub fn new() -> Self {
        let table = Table::built_in();
        Self {
            table,
            memo: PieceCache::new(table),
        }
    }

    /// The static embedding of a text; `None` if it has no known word.
    pub fn embed_static(&mut self, text: &str) -> Option<Embedding> {
        sum_pieces(text, self.table, &mut self.memo)
    }
}

impl Default for StaticEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

fn sum_pieces(text: &str, table: Table, find: &mut impl PieceFinder) -> Option<Embedding> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let mut total = vec![0.0_f32; table.dims()];
    visit_word_pieces(text, find, |pieces| {
        for row in pieces
            .iter()
            .filter_map(|at| table.row_at(usize::from(*at)))
        {
            for (sum, step) in total.iter_mut().zip(row.steps) {
                *sum += row.scale * f32::from(step.cast_signed());
            }
        }
        ControlFlow::Continue(())
    });
    let embedding = Embedding::from_vector(&total);
    (!embedding.is_blank()).then_some(embedding)
}
