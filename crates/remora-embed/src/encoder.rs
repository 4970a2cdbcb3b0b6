//! The encoder: texts become meanings through a small network. What it costs to
//! load and to run is the caller's to weigh; see [`crate::LazyEncoder`].
//!
//! A build without the feature `model` has the same types, and says so when one
//! tries to load.

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
    /// The binary.
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

/// How much of the machine may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// One thread: work that nobody waits for.
    Quiet,
    /// Two threads: somebody waits.
    Full,
}

/// Why there is no meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The feature `model` is off.
    #[error("this build has no encoder")]
    NotBuiltIn,
    /// The file cannot be read.
    #[error("cannot read the encoder {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It was read and is no such encoder.
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
        /// What it said.
        reason: String,
    },
}

/// A loaded encoder.
#[derive(Debug)]
pub struct Encoder {
    network: Network,
}

impl Encoder {
    /// Loads the encoder. One from a file is tried on a word.
    pub fn load(source: &EncoderSource) -> Result<Self, EmbedError> {
        let network = Network::load(source)?;
        Ok(Self { network })
    }

    /// What the texts mean, in their order. A text without any word has a
    /// meaning too: that of silence.
    ///
    /// Each text runs by itself. The network rounds its numbers to what is
    /// largest in a run, so that in a batch the meaning of a text would depend
    /// on its neighbours; and a batch of long texts saves nothing.
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
