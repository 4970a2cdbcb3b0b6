//! What a text says, in whatever order of words.

use std::cell::RefCell;
use std::collections::HashSet;

use remora_protocol::record::Item;

use crate::words::{Splitter, is_stop};

/// Share of its words that must be there for something to be said.
const SAID: f64 = 0.7;

/// The words of a text that say something, for those who ask many whether they
/// say it.
pub(super) fn telling_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    Splitter::default().each(text, |term, _| {
        if !is_stop(term) {
            words.push(term.to_owned());
        }
    });
    words
}

/// Texts as one set of words.
#[derive(Debug, Default)]
pub(crate) struct Said {
    terms: HashSet<String>,
    splitter: RefCell<Splitter>,
}

impl Said {
    pub(crate) fn of(text: &str) -> Self {
        let mut said = Self::default();
        said.add(text);
        said
    }

    /// What rows say, with their reasons.
    pub(super) fn of_rows<'a>(rows: impl IntoIterator<Item = &'a Item>) -> Self {
        let mut said = Self::default();
        for row in rows {
            said.add(&row.title);
            for fact in &row.facts {
                said.add(fact);
            }
        }
        said
    }

    /// Says this as well.
    pub(super) fn add(&mut self, text: &str) {
        let terms = &mut self.terms;
        self.splitter.borrow_mut().each(text, |term, _| {
            if !terms.contains(term) {
                terms.insert(term.to_owned());
            }
        });
    }

    /// Whether this is said, in about these words.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.share(text).is_some_and(|share| share >= SAID)
    }

    /// Whether at least this share of these words is said; never of none.
    pub(super) fn says_share(&self, words: &[String], least: f64) -> bool {
        let held = words.iter().filter(|word| self.terms.contains(*word));
        #[expect(clippy::cast_precision_loss, reason = "the words of a sentence")]
        let share = held.count() as f64 / words.len() as f64;
        !words.is_empty() && share >= least
    }

    /// Whether each of these words is said; never of none.
    pub(super) fn says_all(&self, words: &[String]) -> bool {
        !words.is_empty() && words.iter().all(|word| self.terms.contains(word))
    }

    /// The share of the words that are said; `None` if there are none.
    fn share(&self, text: &str) -> Option<f64> {
        let (mut held, mut all) = (0_u32, 0_u32);
        self.splitter.borrow_mut().each(text, |term, _| {
            if !is_stop(term) {
                all += 1;
                held += u32::from(self.terms.contains(term));
            }
        });
        (all > 0).then(|| f64::from(held) / f64::from(all))
    }
}
