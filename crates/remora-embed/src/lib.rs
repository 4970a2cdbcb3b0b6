//! Embeddings of texts: a coarse one from a static table of word pieces in
//! microseconds ([`embed_static`]), a better one from a small encoder
//! ([`LazyEncoder`]).
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

/// The model that made a vector, stored with it. Change it whenever the same
/// text would give another vector: stores then embed all items again.
pub const MODEL_ID: &str = "all-minilm-l6-v2-int8/1";
/// How many dimensions a vector of the encoder has.
pub const EMBEDDING_DIMS: usize = 384;
/// How many dimensions a static embedding has: the first 128 of the table's 256
/// were as good as all.
pub const STATIC_EMBEDDING_DIMS: usize = 128;
