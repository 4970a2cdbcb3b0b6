//! A text as the token ids that the network reads: a marker, the pieces, a
//! marker.

use std::ops::ControlFlow;

use crate::table::Table;
use crate::wordpiece::visit_word_pieces;

const UNKNOWN_TOKEN: u16 = 100;
const BEGIN_TOKEN: u16 = 101;
const END_TOKEN: u16 = 102;

/// How much of a text is read, in bytes. 128 tokens take far less; the bound is
/// for text that is nearly all white space.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The token ids of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tokens(Vec<u16>);

impl Tokens {
    /// At most `limit` of them, the markers included.
    pub(super) fn from_text(text: &str, limit: usize) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        let limit = limit.saturating_sub(1).max(1);
        let table = Table::built_in();
        let mut tokens = vec![BEGIN_TOKEN];
        visit_word_pieces(text, &mut { table }, |pieces| {
            if pieces.is_empty() {
                tokens.push(UNKNOWN_TOKEN);
            }
            tokens.extend(pieces.iter().filter_map(|at| table.id(usize::from(*at))));
            if tokens.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        tokens.truncate(limit);
        tokens.push(END_TOKEN);
        Self(tokens)
    }

    /// How many there are.
    #[cfg(feature = "model")]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// One after the other.
    #[cfg(feature = "model")]
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests;
