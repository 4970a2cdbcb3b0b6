//! What a text is about, roughly, with nothing to load: the sum of the static
//! rows of its pieces. Rare pieces weigh more than common ones, because the
//! table was made so.

use std::ops::ControlFlow;

use crate::embedding::Embedding;
use crate::table::Table;
use crate::wordpiece::{PieceCache, PieceFinder, visit_word_pieces};

#[cfg(test)]
mod tests;

/// How much of a text is looked at, in bytes.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// What a text is about; `None` if it has no known word. Builds nothing that
/// outlives the call: for one text in a process. For many, see [`StaticEmbedder`].
pub fn embed_static(text: &str) -> Option<Embedding> {
    let table = Table::built_in();
    sum_pieces(text, table, &mut { table })
}

/// How many letters a word has at least: most shorter strings are pieces.
const MIN_WORD_CHARS: usize = 3;

/// Whether this is a word that the vocabulary holds as a whole. Of any other
/// string only fragments are known, and what they mean together is chance.
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

/// The same as [`embed_static`] for many texts: remembers the words that it has met, up
/// to a bound.
#[derive(Debug)]
pub struct StaticEmbedder {
    table: Table,
    memo: PieceCache,
}

impl StaticEmbedder {
    /// One that has met no word.
    pub fn new() -> Self {
        let table = Table::built_in();
        Self {
            table,
            memo: PieceCache::new(table),
        }
    }

    /// What a text is about; `None` if it has no known word.
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
    let meaning = Embedding::from_vector(&total);
    (!meaning.is_blank()).then_some(meaning)
}
