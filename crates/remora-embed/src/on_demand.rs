//! An encoder that is loaded on first use and dropped after a while without use:
//! it takes some 90 MB. The time is passed in by the caller.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::embedding::Embedding;
use crate::encoder::{Effort, EmbedError, Encoder, EncoderSource};

#[cfg(test)]
mod tests;

/// How long an unused encoder is kept, unless the caller says otherwise.
const DEFAULT_IDLE_DELAY: Duration = Duration::from_mins(1);
/// An encoder that could not be loaded is tried again after this, then later and
/// later: its file may be back, or memory free.
const MIN_RETRY_DELAY: Duration = Duration::from_mins(1);
const MAX_RETRY_DELAY: Duration = Duration::from_hours(1);

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
    /// It could not be loaded. Remembered for a while, because another attempt
    /// would delay every search.
    Broken {
        error: EmbedError,
        tried: Instant,
        retry_delay: Duration,
    },
}

impl EncoderState {
    /// How long an attempt that fails now is remembered.
    fn next_retry_delay(&self) -> Duration {
        match self {
            Self::Broken { retry_delay, .. } => (*retry_delay * 2).min(MAX_RETRY_DELAY),
            Self::Absent | Self::Loaded { .. } => MIN_RETRY_DELAY,
        }
    }
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

    /// Sets how long it is kept after its last use.
    #[must_use]
    pub fn kept_for(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// The embeddings of texts for a caller who waits; see [`Encoder::encode`].
    /// Loads the encoder if need be.
    pub fn encode(&self, texts: &[&str], now: Instant) -> Result<Vec<Embedding>, EmbedError> {
        self.encode_with(texts, Effort::Full, now)
    }

    /// The same with a choice of how much of the machine to use.
    pub fn encode_with(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        // The lock is not held while the network runs, so that a prompt does not wait
        // for background work.
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

    /// Why the encoder could not be loaded, if loading was tried and failed.
    pub fn load_error(&self) -> Option<String> {
        match &*self.lock() {
            EncoderState::Broken { error, .. } => Some(error.to_string()),
            EncoderState::Absent | EncoderState::Loaded { .. } => None,
        }
    }

    fn get_or_load_encoder(&self, now: Instant) -> Result<Arc<Encoder>, EmbedError> {
        let mut state = self.lock();
        match &mut *state {
            EncoderState::Loaded { encoder, used } => {
                // Another thread may have taken its time later and the lock earlier.
                *used = now.max(*used);
                return Ok(Arc::clone(encoder));
            }
            EncoderState::Broken {
                error,
                tried,
                retry_delay,
            } => {
                // What the build does not have, time does not bring.
                let is_final = matches!(error, EmbedError::NotBuiltIn);
                if is_final || now.saturating_duration_since(*tried) < *retry_delay {
                    return Err(error.clone());
                }
            }
            EncoderState::Absent => {}
        }
        let loaded = Encoder::load(&self.source).map(Arc::new);
        *state = match &loaded {
            Ok(encoder) => EncoderState::Loaded {
                encoder: Arc::clone(encoder),
                used: now,
            },
            Err(error) => EncoderState::Broken {
                error: error.clone(),
                tried: now,
                retry_delay: state.next_retry_delay(),
            },
        };
        loaded
    }

    fn lock(&self) -> MutexGuard<'_, EncoderState> {
        // The state is replaced whole, so a panic of another thread left a valid one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
