//! A text as a set of words: whether it says something, whatever the word order.

use std::cell::RefCell;

use remora_core::record::Item;

use crate::words::{TermSplitter, WordHashes, is_stop, word_number};

/// The share of a text's words that a set must contain to say the same.
const MIN_COVERED_SHARE: f64 = 0.7;

/// The words of a text without stop words, each as often as it occurs: split
/// once and compared with many sets.
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

/// The words of one or more texts as one set.
#[derive(Debug, Default)]
pub(crate) struct WordSet {
    terms: WordHashes,
    splitter: RefCell<TermSplitter>,
}

impl WordSet {
    pub(crate) fn from_text(text: &str) -> Self {
        let mut numbers = Vec::new();
        let mut splitter = TermSplitter::default();
        splitter.for_each_term(text, |term, _| numbers.push(word_number(term)));
        Self {
            terms: WordHashes::of_numbers(numbers),
            splitter: RefCell::new(splitter),
        }
    }

    /// The titles and facts of items.
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

    /// Adds the words of a text.
    pub(super) fn add_text(&mut self, text: &str) {
        let terms = &mut self.terms;
        self.splitter
            .borrow_mut()
            .for_each_term(text, |term, _| terms.insert_number(word_number(term)));
    }

    /// Whether the set says this text, in about the same words.
    pub(crate) fn covers_text(&self, text: &str) -> bool {
        self.says_words(&telling_words(text))
    }

    /// The same for words that were split before.
    pub(super) fn says_words(&self, words: &TellingWords) -> bool {
        self.says_share(words, MIN_COVERED_SHARE)
    }

    /// Whether the set contains at least this share of the words. A text without
    /// any is said by nothing; otherwise it would count as known and be dropped.
    pub(super) fn says_share(&self, TellingWords(words): &TellingWords, least: f64) -> bool {
        let held = words.iter().filter(|word| self.holds(**word));
        #[expect(clippy::cast_precision_loss, reason = "the words of a sentence")]
        let share = held.count() as f64 / words.len() as f64;
        !words.is_empty() && share >= least
    }

    /// Whether the set contains each of the words; false if there are none.
    pub(super) fn says_all(&self, TellingWords(words): &TellingWords) -> bool {
        !words.is_empty() && words.iter().all(|word| self.holds(*word))
    }

    fn holds(&self, word: u64) -> bool {
        self.terms.contains_number(word)
    }
}
