//! The encoder: a small network that computes embeddings. When to load and run
//! it is up to the caller; see [`crate::LazyEncoder`].
//!
//! A build without the feature `model` has the same types, and loading fails
//! with [`EmbedError::NotBuiltIn`].

use std::path::PathBuf;

use crate::embedding::Embedding;
use tokens::Tokens;

#[cfg(not(feature = "model"))]
mod absent;
#[cfg(feature = "model")]
mod network;
#[cfg(test)]
#[cfg(feature = "model")]
mod tests;
mod tokens;

#[cfg(not(feature = "model"))]
use absent::Network;
#[cfg(feature = "model")]
use network::Network;

/// How many tokens of a text are read, the two markers included.
pub const MAX_TOKENS: usize = 128;

/// Where the encoder comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderSource {
    /// The weights in the binary.
    BuiltIn,
    /// An ONNX file with the inputs `input_ids` and `attention_mask` and the
    /// output `emb`.
    File(PathBuf),
}

impl std::fmt::Display for EncoderSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("the built-in encoder"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// How much of the machine a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// One thread: background work.
    Quiet,
    /// Two threads: a user or a hook waits for the result.
    Full,
}

/// Why there is no embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The feature `model` is off.
    #[error("this build has no encoder")]
    NotBuiltIn,
    /// The file cannot be read.
    #[error("cannot read the encoder {}: {reason}", path.display())]
    Read {
        /// The file that was to be loaded.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// It was read and is not a usable encoder.
    #[error("{source_name} is not an encoder that can be used: {reason}")]
    Unusable {
        /// Where it came from.
        source_name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It was loaded and failed on a text.
    #[error("the encoder failed: {reason}")]
    Run {
        /// The engine's error.
        reason: String,
    },
}

/// A loaded encoder.
#[derive(Debug)]
pub struct Encoder {
    network: Network,
}

impl Encoder {
    /// Loads the encoder. One from a file is tried on a word, so that a wrong file
    /// fails here and not at the first item.
    pub fn load(source: &EncoderSource) -> Result<Self, EmbedError> {
        let network = Network::load(source)?;
        Ok(Self { network })
    }

    /// The embeddings of the texts, in their order. A text without any word has
    /// one too: that of the two markers alone.
    ///
    /// Each text runs by itself. The network quantises by the largest number of a
    /// run, so in a batch the embedding of a text would depend on the others; and
    /// a batch of long texts saves no time.
    pub fn encode(&self, texts: &[&str], effort: Effort) -> Result<Vec<Embedding>, EmbedError> {
        texts
            .iter()
            .map(|text| {
                let tokens = Tokens::from_text(text, MAX_TOKENS);
                let vector = self.network.run(&tokens, effort)?;
                Ok(Embedding::from_vector(&vector))
            })
            .collect()
    }
}
