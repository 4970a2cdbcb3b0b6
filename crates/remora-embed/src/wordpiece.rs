//! A text as pieces of the vocabulary, tokenized as the encoder was trained:
//! lower case without accents, punctuation and Chinese characters apart, then
//! the longest known pieces from left to right. The markers of the vocabulary
//! (`[SEP]` and so on) have no meaning when they occur in a text.
//!
//! Must not build a vocabulary in memory: a hook reads ten words and exits.

use std::collections::HashMap;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::kinds::CharClass;
use crate::table::{PiecePosition, Table};

#[cfg(test)]
mod tests;

/// A word with more characters than this counts as unknown, as in training.
const MAX_WORD_CHARS: usize = 100;
/// How many words a [`PieceCache`] remembers.
const MAX_CACHED_WORDS: usize = 16 * 1024;

/// A piece of a text, as its index in the table.
pub(crate) type Piece = u16;

/// Finds the pieces of words.
pub(crate) trait PieceFinder {
    /// Replaces the contents of `pieces` by the pieces of the word: none at all if
    /// some part of it is unknown.
    fn find(&mut self, word: &str, pieces: &mut Vec<Piece>);
}

impl PieceFinder for Table {
    fn find(&mut self, word: &str, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let mut rest = word;
        let mut place = PiecePosition::First;
        while !rest.is_empty() {
            let known = self
                .find_longest_prefix(rest, place)
                .and_then(|(at, length)| {
                    let piece = Piece::try_from(at).ok()?;
                    Some((piece, rest.get(length..)?))
                });
            let Some((piece, after)) = known else {
                pieces.clear();
                return;
            };
            pieces.push(piece);
            rest = after;
            place = PiecePosition::Later;
        }
    }
}

/// Remembers the words it has seen, for reading many texts.
#[derive(Debug)]
pub(crate) struct PieceCache {
    table: Table,
    known: HashMap<Box<str>, Box<[Piece]>>,
}

impl PieceCache {
    pub(crate) fn new(table: Table) -> Self {
        Self {
            table,
            known: HashMap::new(),
        }
    }
}

impl PieceFinder for PieceCache {
    fn find(&mut self, word: &str, pieces: &mut Vec<Piece>) {
        if let Some(known) = self.known.get(word) {
            pieces.clear();
            pieces.extend_from_slice(known);
            return;
        }
        self.table.find(word, pieces);
        // Common words come back soon; clearing everything is cheaper than keeping
        // an order of use.
        if self.known.len() >= MAX_CACHED_WORDS {
            self.known.clear();
        }
        self.known.insert(word.into(), pieces.as_slice().into());
    }
}

/// Calls `each` with the pieces of each word of a text in turn, none for an
/// unknown word, until it breaks.
pub(crate) fn visit_word_pieces(
    text: &str,
    find: &mut impl PieceFinder,
    mut each: impl FnMut(&[Piece]) -> ControlFlow<()>,
) {
    let mut pieces = Vec::new();
    let mut word = Word::default();
    let mut found = |word: &mut Word| {
        if word.chars == 0 {
            return ControlFlow::Continue(());
        }
        if word.chars > MAX_WORD_CHARS {
            pieces.clear();
        } else {
            find.find(&word.text, &mut pieces);
        }
        word.text.clear();
        word.chars = 0;
        each(&pieces)
    };
    // White space always ends a word, and most runs between it are plain ASCII,
    // which needs no decomposition.
    for run in text.split([' ', '\n', '\t', '\r']) {
        let flow = if run.is_ascii() {
            run.chars()
                .filter(|c| CharClass::from_char(*c) != CharClass::Dropped)
                .map(|c| c.to_ascii_lowercase())
                .try_for_each(|c| word.push_char(c, &mut found))
        } else {
            fold_chars(run).try_for_each(|c| word.push_char(c, &mut found))
        };
        if flow.is_break() || found(&mut word).is_break() {
            return;
        }
    }
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    chars: usize,
}

impl Word {
    /// Adds a folded character, or ends the word before it.
    fn push_char(
        &mut self,
        c: char,
        found: &mut impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match CharClass::from_char(c) {
            CharClass::White => found(self),
            CharClass::Punctuation => {
                found(self)?;
                self.push(c);
                found(self)
            }
            _ => {
                self.push(c);
                ControlFlow::Continue(())
            }
        }
    }

    fn push(&mut self, c: char) {
        // Counted beyond the limit but not kept, so that a megabyte of base64 takes no
        // memory.
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.text.push(c);
        }
    }
}

/// Lower case without accents. Chinese characters are set apart before anything
/// is decomposed, accents are removed after it: the order of the tokenizer that
/// the encoder was trained with.
fn fold_chars(run: &str) -> impl Iterator<Item = char> {
    run.chars()
        .flat_map(|c| {
            let (before, c, after) = match CharClass::from_char(c) {
                CharClass::Dropped => (None, None, None),
                CharClass::White => (None, Some(' '), None),
                CharClass::Ideograph => (Some(' '), Some(c), Some(' ')),
                _ => (None, Some(c), None),
            };
            before.into_iter().chain(c).chain(after)
        })
        .nfd()
        .filter(|c| CharClass::from_char(*c) != CharClass::Mark)
        .flat_map(char::to_lowercase)
}
