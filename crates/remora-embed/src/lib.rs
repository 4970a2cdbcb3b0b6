//! What a text means, as a vector: quickly from a static table of word pieces
//! ([`embed_static`]), and better from a small encoder ([`LazyEncoder`]).
//!
//! Pure functions over tables that are part of the binary; only an encoder that
//! is not built in is read from a file. No environment, clock or printing.
#![forbid(unsafe_code)]

mod embedding;
mod encoder;
mod kinds;
mod on_demand;
mod static_embedding;
mod table;
mod wordpiece;

pub use embedding::{Embedding, EmbeddingView};
pub use encoder::{Effort, EmbedError, Encoder, EncoderSource, MAX_TOKENS};
pub use on_demand::LazyEncoder;
pub use static_embedding::{StaticEmbedder, embed_static, is_word};

/// What made a vector of the encoder: recorded beside it, and to be changed
/// whenever the same text would give another vector.
pub const MODEL_ID: &str = "all-minilm-l6-v2-int8/1";
/// How many dimensions a vector of the encoder has.
pub const EMBEDDING_DIMS: usize = 384;
/// How many dimensions a gist has.
pub const STATIC_EMBEDDING_DIMS: usize = 128;
