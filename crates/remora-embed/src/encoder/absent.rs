//! Replaces the network in a build without the feature `model`.

use super::tokens::Tokens;
use super::{Effort, EmbedError, EncoderSource};

/// Has no values: `load` always fails, so `run` can never be called.
#[derive(Debug)]
pub(super) enum Network {}

impl Network {
    pub(super) fn load(_: &EncoderSource) -> Result<Self, EmbedError> {
        Err(EmbedError::NotBuiltIn)
    }

    pub(super) fn run(&self, _: &Tokens, _: Effort) -> Result<Vec<f32>, EmbedError> {
        match *self {}
    }
}
