//! An encoder that is loaded when it is needed and dropped when it has not been
//! needed for a while. The time comes from the caller.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::embedding::Embedding;
use crate::encoder::{Effort, EmbedError, Encoder, EncoderSource};

#[cfg(test)]
mod tests;

/// How long an encoder is kept that nobody uses, unless somebody says otherwise.
const DEFAULT_IDLE_DELAY: Duration = Duration::from_mins(1);

/// An encoder that may or may not be in memory. Shared between threads.
#[derive(Debug)]
pub struct LazyEncoder {
    source: EncoderSource,
    idle: Duration,
    state: Mutex<EncoderState>,
}

#[derive(Debug)]
enum EncoderState {
    Absent,
    Loaded {
        encoder: Arc<Encoder>,
        used: Instant,
    },
    /// It could not be loaded. Kept, because a broken encoder does not mend
    /// itself and to try costs time in every search.
    Broken(EmbedError),
}

impl LazyEncoder {
    /// Loads nothing yet.
    pub fn new(source: EncoderSource) -> Self {
        Self {
            source,
            idle: DEFAULT_IDLE_DELAY,
            state: Mutex::new(EncoderState::Absent),
        }
    }

    /// The same, kept for so long after its last use.
    #[must_use]
    pub fn kept_for(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// What the texts mean, for somebody who waits; see [`Encoder::encode`].
    /// Loads the encoder if it is not there.
    pub fn encode(&self, texts: &[&str], now: Instant) -> Result<Vec<Embedding>, EmbedError> {
        self.encode_with(texts, Effort::Full, now)
    }

    /// The same with a say in how much of the machine is used.
    pub fn encode_with(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        // The lock is not held while the network runs: somebody who waits does
        // not wait for work in the background.
        self.get_or_load_encoder(now)?.encode(texts, effort)
    }

    /// Drops the encoder if it has not been used for a minute, or for as long
    /// as [`LazyEncoder::kept_for`] says.
    pub fn unload_if_idle(&self, now: Instant) {
        let mut state = self.lock();
        if let EncoderState::Loaded { used, .. } = &*state
            && now.saturating_duration_since(*used) >= self.idle
        {
            *state = EncoderState::Absent;
        }
    }

    /// Whether the encoder is in memory.
    pub fn is_loaded(&self) -> bool {
        matches!(&*self.lock(), EncoderState::Loaded { .. })
    }

    /// Why there is no encoder, if one was tried for and could not be loaded.
    pub fn load_error(&self) -> Option<String> {
        match &*self.lock() {
            EncoderState::Broken(error) => Some(error.to_string()),
            EncoderState::Absent | EncoderState::Loaded { .. } => None,
        }
    }

    fn get_or_load_encoder(&self, now: Instant) -> Result<Arc<Encoder>, EmbedError> {
        let mut state = self.lock();
        match &mut *state {
            EncoderState::Loaded { encoder, used } => {
                *used = now.max(*used);
                Ok(Arc::clone(encoder))
            }
            EncoderState::Broken(error) => Err(error.clone()),
            EncoderState::Absent => match Encoder::load(&self.source) {
                Ok(encoder) => {
                    let encoder = Arc::new(encoder);
                    *state = EncoderState::Loaded {
                        encoder: Arc::clone(&encoder),
                        used: now,
                    };
                    Ok(encoder)
                }
                Err(error) => {
                    *state = EncoderState::Broken(error.clone());
                    Err(error)
                }
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, EncoderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
