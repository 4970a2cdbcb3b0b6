//! Embedding of stored items, a few at a time, the newest first. Safe to stop
//! anywhere: what is done is in the store, and the rest waits in its queue.
//!
//! Does not know where the encoder comes from, or when it is a good time.

mod spare;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::{Duration, Instant};

use remora_core::record::Item;
use remora_embed::{EMBEDDING_DIMS, Effort, EmbedError, Embedding, LazyEncoder, MODEL_ID};
use remora_memory::embedding_text;
use remora_memory::store::Store;

use crate::ServerError;

pub use spare::BackgroundEmbedding;
pub(crate) use spare::{IdleEmbedding, step_back};

/// The port to an encoder.
pub trait TextEncoder: fmt::Debug + Send + Sync {
    /// The embeddings of the texts, in their order.
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Embedding>, EmbedError>;
    /// Unloads the encoder if it has not been used for a while.
    fn release_idle(&self, now: Instant);
    /// Whether it can encode without loading anything first.
    fn is_loaded(&self) -> bool {
        true
    }
}

impl TextEncoder for LazyEncoder {
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        self.encode_with(texts, effort, now)
    }

    fn release_idle(&self, now: Instant) {
        LazyEncoder::unload_if_idle(self, now);
    }

    fn is_loaded(&self) -> bool {
        LazyEncoder::is_loaded(self)
    }
}

/// How much one step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingBudget {
    effort: Effort,
    /// Items of one step.
    rows: usize,
    /// Items that are encoded together; the time is checked between two groups.
    group: usize,
    time: Duration,
}

impl EmbeddingBudget {
    /// For background work: about a sixth of a second on one core, for which a new
    /// event may have to wait.
    pub const BACKGROUND: Self = Self {
        effort: Effort::Quiet,
        rows: 32,
        group: 4,
        time: Duration::from_millis(100),
    };
    /// For a command whose user watches the progress.
    pub const FULL: Self = Self {
        effort: Effort::Full,
        rows: 256,
        group: 16,
        time: Duration::from_millis(250),
    };

    /// The same for at most so many items.
    #[must_use]
    pub fn at_most(self, rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Self {
            rows: self.rows.min(rows),
            ..self
        }
    }
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingStep {
    /// Items that left the queue.
    pub done: u64,
    /// Those among them that the encoder failed on.
    pub unembeddable: u64,
    /// Whether the queue may hold more.
    pub more: bool,
}

/// Embeds some of the items in the queue and stores the result.
pub fn run_embedding_step(
    store: &dyn Store,
    encoder: &dyn TextEncoder,
    budget: EmbeddingBudget,
) -> Result<EmbeddingStep, ServerError> {
    let started = Instant::now();
    let items = store.list_unembedded(MODEL_ID, budget.rows)?;
    let mut embeddings: Vec<(i64, Embedding)> = Vec::with_capacity(items.len());
    let mut unembeddable = 0;
    for group in items.chunks(budget.group) {
        if !embeddings.is_empty() && started.elapsed() >= budget.time {
            break;
        }
        match encode_items(encoder, group, budget.effort) {
            Ok(found) => {
                unembeddable += found.iter().filter(|found| found.is_none()).count() as u64;
                // A zero vector takes an item out of the queue, so that it does not
                // block all others for ever; it is similar to nothing.
                let found = found.into_iter().map(|found| {
                    found.unwrap_or_else(|| Embedding::from_vector(&[0.0; EMBEDDING_DIMS]))
                });
                embeddings.extend(group.iter().map(|item| item.id).zip(found));
            }
            // What is done is stored; the next step meets the same error first.
            Err(_) if !embeddings.is_empty() => break,
            Err(e) => return Err(e.into()),
        }
    }
    if !embeddings.is_empty() {
        store.store_embeddings(MODEL_ID, &embeddings)?;
    }
    Ok(EmbeddingStep {
        done: embeddings.len() as u64,
        unembeddable,
        more: embeddings.len() < items.len() || items.len() == budget.rows,
    })
}

/// The embeddings of items; `None` for one that the encoder failed on twice, among
/// others and alone. A failure that is not the text's is an error.
fn encode_items(
    encoder: &dyn TextEncoder,
    items: &[Item],
    effort: Effort,
) -> Result<Vec<Option<Embedding>>, EmbedError> {
    let texts: Vec<String> = items
        .iter()
        .map(embedding_text::build_embedding_text)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match encoder.encode(&texts, effort, Instant::now()) {
        Err(EmbedError::Run { .. }) => {}
        Ok(found) => return Ok(found.into_iter().map(Some).collect()),
        Err(e) => return Err(e),
    }
    texts
        .iter()
        .map(
            |text| match into_single_embedding(encoder.encode(&[text], effort, Instant::now())) {
                // Only if the encoder still works on a plain word is the text to blame.
                Err(EmbedError::Run { .. }) => {
                    into_single_embedding(encoder.encode(&["word"], effort, Instant::now()))
                        .map(|_| None)
                }
                other => other.map(Some),
            },
        )
        .collect()
}

fn into_single_embedding(
    found: Result<Vec<Embedding>, EmbedError>,
) -> Result<Embedding, EmbedError> {
    found?.into_iter().next().ok_or_else(|| EmbedError::Run {
        reason: "it gave nothing".to_owned(),
    })
}
