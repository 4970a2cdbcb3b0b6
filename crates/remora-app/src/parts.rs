//! What a number is made of, as an object in the order of its parts.

use serde::{Serialize, Serializer};

/// Names and values; each name is there once.
#[derive(Debug, Clone)]
pub(crate) struct NamedParts(pub(crate) Vec<(&'static str, f64)>);

impl Serialize for NamedParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
