//! A text as pieces of the vocabulary, the way the encoder was taught to read:
//! lower case without accents, punctuation and Chinese characters apart, then
//! the longest known pieces from left to right. The markers of the vocabulary
//! (`[SEP]` and so on) mean nothing when they stand in a text.
//!
//! Must build nothing that is not asked for: a hook reads ten words and exits.

use std::collections::HashMap;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::kinds::Kind;
use crate::table::{Place, Table};

#[cfg(test)]
mod tests;

/// A word with more characters than this is not looked at.
const MAX_WORD: usize = 100;
/// How many words are remembered.
const MAX_KNOWN: usize = 16 * 1024;

/// A piece of a text, as the place of its word in the table.
pub(crate) type Piece = u16;

/// Finds the pieces of words.
pub(crate) trait Find {
    /// Replaces what is in `pieces` by the pieces of the word: none at all if
    /// some part of it is not known.
    fn find(&mut self, word: &str, pieces: &mut Vec<Piece>);
}

impl Find for Table {
    fn find(&mut self, word: &str, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let mut rest = word;
        let mut place = Place::First;
        while !rest.is_empty() {
            let known = self.longest(rest, place).and_then(|(at, length)| {
                let piece = Piece::try_from(at).ok()?;
                Some((piece, rest.get(length..)?))
            });
            let Some((piece, after)) = known else {
                pieces.clear();
                return;
            };
            pieces.push(piece);
            rest = after;
            place = Place::Later;
        }
    }
}

/// Remembers the words that it has met, for reading many texts.
#[derive(Debug)]
pub(crate) struct Memo {
    table: Table,
    known: HashMap<Box<str>, Box<[Piece]>>,
}

impl Memo {
    pub(crate) fn new(table: Table) -> Self {
        Self {
            table,
            known: HashMap::new(),
        }
    }
}

impl Find for Memo {
    fn find(&mut self, word: &str, pieces: &mut Vec<Piece>) {
        if let Some(known) = self.known.get(word) {
            pieces.clear();
            pieces.extend_from_slice(known);
            return;
        }
        self.table.find(word, pieces);
        // Common words come back soon; to forget all is cheaper than to keep an
        // order of use.
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(word.into(), pieces.as_slice().into());
    }
}

/// Gives the pieces of each word of a text in turn; an unknown word has none.
/// Stops when told to.
pub(crate) fn read(
    text: &str,
    find: &mut impl Find,
    mut each: impl FnMut(&[Piece]) -> ControlFlow<()>,
) {
    let mut pieces = Vec::new();
    let mut word = Word::default();
    let mut found = |word: &mut Word| {
        if word.letters == 0 {
            return ControlFlow::Continue(());
        }
        if word.letters > MAX_WORD {
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
                .filter(|c| Kind::of(*c) != Kind::Dropped)
                .map(|c| c.to_ascii_lowercase())
                .try_for_each(|c| word.take(c, &mut found))
        } else {
            folded(run).try_for_each(|c| word.take(c, &mut found))
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
    fn take(
        &mut self,
        c: char,
        found: &mut impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match Kind::of(c) {
            Kind::White => found(self),
            Kind::Punctuation => {
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
        if self.letters <= MAX_WORD {
            self.text.push(c);
        }
    }
}

/// Lower case without accents. Chinese characters get gaps around them before
/// anything is decomposed, accents go after it.
fn folded(run: &str) -> impl Iterator<Item = char> {
    run.chars()
        .flat_map(|c| {
            let (before, c, after) = match Kind::of(c) {
                Kind::Dropped => (None, None, None),
                Kind::White => (None, Some(' '), None),
                Kind::Ideograph => (Some(' '), Some(c), Some(' ')),
                _ => (None, Some(c), None),
            };
            before.into_iter().chain(c).chain(after)
        })
        .nfd()
        .filter(|c| Kind::of(*c) != Kind::Mark)
        .flat_map(char::to_lowercase)
}
