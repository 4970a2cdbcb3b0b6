//! A text as pieces of the vocabulary, the way the encoder was taught to read:
//! lower case without accents, punctuation and Chinese characters apart, then
//! the longest known pieces from left to right. The markers of the vocabulary
//! (`[SEP]` and so on) mean nothing when they stand in a text.
//!
//! Must build nothing that is not asked for: a hook reads ten words and exits.

use std::collections::HashMap;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::kinds::CharClass;
use crate::table::{PiecePosition, Table};

#[cfg(test)]
mod tests;

/// A word with more characters than this is not looked at.
const MAX_WORD_CHARS: usize = 100;
/// How many words are remembered.
const MAX_CACHED_WORDS: usize = 16 * 1024;

/// A piece of a text, as the place of its word in the table.
pub(crate) type Piece = u16;

/// Finds the pieces of words.
pub(crate) trait PieceFinder {
    /// Replaces what is in `pieces` by the pieces of the word: none at all if
    /// some part of it is not known.
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

/// Remembers the words that it has met, for reading many texts.
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
        // Common words come back soon; to forget all is cheaper than to keep an
        // order of use.
        if self.known.len() >= MAX_CACHED_WORDS {
            self.known.clear();
        }
        self.known.insert(word.into(), pieces.as_slice().into());
    }
}

/// Gives the pieces of each word of a text in turn; an unknown word has none.
/// Stops when told to.
pub(crate) fn visit_word_pieces(
    text: &str,
    find: &mut impl PieceFinder,
    mut each: impl FnMut(&[Piece]) -> ControlFlow<()>,
) {
    let mut pieces = Vec::new();
    let mut word = Word::default();
    let mut found = |word: &mut Word| {
        if word.letters == 0 {
            return ControlFlow::Continue(());
        }
        if word.letters > MAX_WORD_CHARS {
            pieces.clear();
        } else {
            find.find(&word.text, &mut pieces);
        }
        word.text.clear();
        word.letters = 0;
        each(&pieces)
    };
    // A gap ends a word whatever stands beside it, and most runs between gaps
    // are plain ASCII, which needs no decomposing.
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
    letters: usize,
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
        self.letters += 1;
        if self.letters <= MAX_WORD_CHARS {
            self.text.push(c);
        }
    }
}

/// Lower case without accents. Chinese characters get gaps around them before
/// anything is decomposed, accents go after it.
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
