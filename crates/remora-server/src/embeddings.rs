//! What rows mean, worked out a few rows at a time, the newest first. Safe to
//! stop anywhere: what is done is in the store, and the rest waits there.
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

/// What turns texts into meanings.
pub trait TextEncoder: fmt::Debug + Send + Sync {
    /// What the texts mean, in their order.
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Embedding>, EmbedError>;
    /// Lets go of what has not been used for a while.
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

/// How much is done in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingBudget {
    effort: Effort,
    /// Rows of one step.
    rows: usize,
    /// Rows that are encoded together; between two such groups the time is
    /// looked at.
    group: usize,
    time: Duration,
}

impl EmbeddingBudget {
    /// For work that nobody waits for: about a sixth of a second on one core.
    pub const BACKGROUND: Self = Self {
        effort: Effort::Quiet,
        rows: 32,
        group: 4,
        time: Duration::from_millis(100),
    };
    /// For somebody who waits and wants to see how far it is.
    pub const FULL: Self = Self {
        effort: Effort::Full,
        rows: 256,
        group: 16,
        time: Duration::from_millis(250),
    };

    /// The same for at most so many rows.
    #[must_use]
    pub fn at_most(self, rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Self {
            rows: self.rows.min(rows),
            ..self
        }
    }
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingStep {
    /// Rows that have their meaning now.
    pub done: u64,
    /// Whether more may wait.
    pub more: bool,
}

/// Works out what some of the rows that wait mean, and stores it.
pub fn run_embedding_step(
    store: &dyn Store,
    encoder: &dyn TextEncoder,
    budget: EmbeddingBudget,
) -> Result<EmbeddingStep, ServerError> {
    let started = Instant::now();
    let items = store.list_unembedded(MODEL_ID, budget.rows)?;
    let mut meanings: Vec<(i64, Embedding)> = Vec::with_capacity(items.len());
    for group in items.chunks(budget.group) {
        if !meanings.is_empty() && started.elapsed() >= budget.time {
            break;
        }
        match encode_items(encoder, group, budget.effort) {
            Ok(found) => {
                meanings.extend(group.iter().map(|item| item.id).zip(found));
            }
            // What is done is kept; the next step meets the same fault.
            Err(_) if !meanings.is_empty() => break,
            Err(e) => return Err(e.into()),
        }
    }
    if !meanings.is_empty() {
        store.store_embeddings(MODEL_ID, &meanings)?;
    }
    Ok(EmbeddingStep {
        done: meanings.len() as u64,
        more: meanings.len() < items.len() || items.len() == budget.rows,
    })
}

/// What the rows mean. A row that the encoder cannot have means nothing, so that
/// it does not stand in the way of all others for ever.
fn encode_items(
    encoder: &dyn TextEncoder,
    items: &[Item],
    effort: Effort,
) -> Result<Vec<Embedding>, EmbedError> {
    let texts: Vec<String> = items
        .iter()
        .map(embedding_text::build_embedding_text)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match encoder.encode(&texts, effort, Instant::now()) {
        Err(EmbedError::Run { .. }) => {}
        other => return other,
    }
    texts
        .iter()
        .map(
            |text| match into_single_embedding(encoder.encode(&[text], effort, Instant::now())) {
                Err(EmbedError::Run { .. }) => {
                    into_single_embedding(encoder.encode(&["word"], effort, Instant::now()))
                        .map(|_| Embedding::from_vector(&[0.0; EMBEDDING_DIMS]))
                }
                other => other,
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
