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

pub use encoder::{Effort, EmbedError, Encoder, EncoderSource, MAX_TOKENS};
pub use gist::{StaticEmbedder, embed_static, is_word};
pub use meaning::{Embedding, EmbeddingView};
pub use on_demand::LazyEncoder;

/// What made a vector of the encoder: recorded beside it, and to be changed
/// whenever the same text would give another vector.
pub const MODEL_ID: &str = "all-minilm-l6-v2-int8/1";
/// How many dimensions a vector of the encoder has.
pub const EMBEDDING_DIMS: usize = 384;
/// How many dimensions a gist has.
pub const STATIC_EMBEDDING_DIMS: usize = 128;
