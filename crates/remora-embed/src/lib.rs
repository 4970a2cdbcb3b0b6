//! What a text means, as a vector: quickly from a static table of word pieces
//! ([`gist`]), and better from a small encoder ([`OnDemand`]).
//!
//! Pure functions over tables that are part of the binary; only an encoder that
//! is not built in is read from a file. No environment, clock or printing.
#![forbid(unsafe_code)]

mod encoder;
mod gist;
mod kinds;
mod meaning;
mod on_demand;
mod table;
mod wordpiece;

pub use encoder::{Effort, EmbedError, Encoder, MAX_TOKENS, Source};
pub use gist::{Gister, gist, is_word};
pub use meaning::{Meaning, View};
pub use on_demand::OnDemand;

/// What made a vector of the encoder: recorded beside it, and to be changed
/// whenever the same text would give another vector.
pub const MODEL: &str = "all-minilm-l6-v2-int8/1";
/// How many dimensions a vector of the encoder has.
pub const DIMS: usize = 384;
/// How many dimensions a gist has.
pub const GIST_DIMS: usize = 128;
