//! What is computed of an item before a store writes it: its words with their
//! weights, and its static embedding. A backend only stores, and its transaction
//! is as short as writing takes.

use remora_core::record::Item;
use remora_embed::{Embedding, StaticEmbedder};

use crate::embedding_text;
use crate::store::{Batch, ItemWrite};
use crate::term_weights::compute_term_weights;
use crate::words::TermSplitter;

/// What is computed of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedItem {
    /// Every term of the lead once, separated by spaces; then, marked as such,
    /// those that stand only beyond it.
    pub terms: String,
    /// Their weights; see [`crate::term_weights::PackedWeights`].
    pub weights: Vec<u8>,
    /// How many words there are, by weight.
    pub words: u16,
    /// The static embedding; `None` if there is no known word.
    pub gist: Option<Embedding>,
}

/// A batch with all that is computed of its items.
#[derive(Debug)]
pub struct PreparedBatch<'a> {
    /// The batch.
    pub batch: &'a Batch,
    /// One for each of its items; none for what only happened again.
    items: Vec<Option<PreparedItem>>,
}

impl PreparedBatch<'_> {
    /// The writes of the batch, each with what was computed of its item.
    pub fn writes(&self) -> impl Iterator<Item = (&ItemWrite, Option<&PreparedItem>)> {
        let prepared = self.items.iter().map(Option::as_ref);
        self.batch.items.iter().zip(prepared)
    }
}

/// Prepares items, one after the other: it caches the word pieces that it has seen.
#[derive(Debug, Default)]
pub struct ItemPreparer {
    splitter: TermSplitter,
    embedder: StaticEmbedder,
}

impl ItemPreparer {
    /// Prepares all items of a batch.
    pub fn prepare_batch<'a>(&mut self, batch: &'a Batch) -> PreparedBatch<'a> {
        let items = batch.items.iter().map(|write| match write {
            ItemWrite::Add(item) | ItemWrite::Keep(item) | ItemWrite::Put(item) => {
                Some(self.prepare_item(item))
            }
            ItemWrite::Again { .. } => None,
        });
        PreparedBatch {
            items: items.collect(),
            batch,
        }
    }

    /// Prepares one item.
    pub fn prepare_item(&mut self, item: &Item) -> PreparedItem {
        let weighted = compute_term_weights(item, &mut self.splitter);
        PreparedItem {
            terms: weighted.terms,
            weights: weighted.vec,
            words: weighted.words,
            gist: self.embed_gist(item),
        }
    }

    /// The terms of an item alone.
    pub fn list_terms(&mut self, item: &Item) -> String {
        compute_term_weights(item, &mut self.splitter).terms
    }

    /// The static embedding of an item alone.
    pub fn embed_gist(&mut self, item: &Item) -> Option<Embedding> {
        self.embedder.embed_static(&embedding_text::gist_of(item))
    }
}
