//! What stands in for the network in a build without it.

use super::tokens::Tokens;
use super::{Effort, EmbedError, EncoderSource};

/// Nothing: there is no value of this type.
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
