//! What a text says, in whatever order of words.

use std::cell::RefCell;

use remora_core::record::Item;

use crate::words::{TermSplitter, WordHashes, is_stop, word_number};

/// Share of its words that must be there for something to be said.
const MIN_COVERED_SHARE: f64 = 0.7;

/// The words of a text that say something, each as often as it stands there, for
/// those who ask many whether they say it.
#[derive(Debug)]
pub(super) struct TellingWords(Vec<u64>);

pub(super) fn telling_words(text: &str) -> TellingWords {
    let mut words = Vec::new();
    TermSplitter::default().for_each_term(text, |term, _| {
        if !is_stop(term) {
            words.push(word_number(term));
        }
    });
    TellingWords(words)
}

/// Texts as one set of words.
#[derive(Debug, Default)]
pub(crate) struct WordSet {
    terms: WordHashes,
    splitter: RefCell<TermSplitter>,
}

impl WordSet {
    pub(crate) fn from_text(text: &str) -> Self {
        let mut said = Self::default();
        said.add_text(text);
        said
    }

    /// What rows say, with their reasons.
    pub(super) fn of_rows<'a>(rows: impl IntoIterator<Item = &'a Item>) -> Self {
        let mut said = Self::default();
        for row in rows {
            said.add_text(&row.title);
            for fact in &row.facts {
                said.add_text(fact);
            }
        }
        said
    }

    /// Says this as well.
    pub(super) fn add_text(&mut self, text: &str) {
        let terms = &mut self.terms;
        self.splitter
            .borrow_mut()
            .for_each_term(text, |term, _| terms.insert_number(word_number(term)));
    }

    /// Whether this is said, in about these words.
    pub(crate) fn covers_text(&self, text: &str) -> bool {
        self.says_words(&telling_words(text))
    }

    /// The same of its words.
    pub(super) fn says_words(&self, words: &TellingWords) -> bool {
        self.says_share(words, MIN_COVERED_SHARE)
    }

    /// Whether at least this share of these words is said; never of none.
    pub(super) fn says_share(&self, TellingWords(words): &TellingWords, least: f64) -> bool {
        let held = words.iter().filter(|word| self.holds(**word));
        #[expect(clippy::cast_precision_loss, reason = "the words of a sentence")]
        let share = held.count() as f64 / words.len() as f64;
        !words.is_empty() && share >= least
    }

    /// Whether each of these words is said; never of none.
    pub(super) fn says_all(&self, TellingWords(words): &TellingWords) -> bool {
        !words.is_empty() && words.iter().all(|word| self.holds(*word))
    }

    fn holds(&self, word: u64) -> bool {
        self.terms.contains_number(word)
    }
}
