//! Words as hashes: two texts share a word if they share its hash, which shows
//! without comparing letters.

use remora_core::hash::stable_hash;

/// The hash of a word. Two words with the same hash would be taken for one, which
/// happens to one pair in some 2^64.
pub(crate) fn word_number(word: &str) -> u64 {
    stable_hash(word.as_bytes())
}

/// Sorted hashes of words, so that two sets are compared in one pass.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WordHashes(Vec<u64>);

impl<S: AsRef<str>> FromIterator<S> for WordHashes {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let words = words.into_iter();
        Self::of_numbers(words.map(|word| word_number(word.as_ref())).collect())
    }
}

impl WordHashes {
    pub(crate) fn of_numbers(mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }

    pub(crate) fn insert_number(&mut self, number: u64) {
        if let Err(at) = self.0.binary_search(&number) {
            self.0.insert(at, number);
        }
    }

    /// The union of both sets.
    pub(crate) fn with(mut self, others: &Self) -> Self {
        self.0.extend_from_slice(&others.0);
        Self::of_numbers(self.0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.contains_number(word_number(word))
    }

    pub(crate) fn contains_number(&self, number: u64) -> bool {
        self.0.binary_search(&number).is_ok()
    }

    /// How many words both contain.
    pub(crate) fn count_shared(&self, other: &Self) -> usize {
        let (mut ours, mut theirs) = (self.0.as_slice(), other.0.as_slice());
        let mut count = 0;
        while let ([one, our_rest @ ..], [other, their_rest @ ..]) = (ours, theirs) {
            count += usize::from(one == other);
            if one <= other {
                ours = our_rest;
            }
            if other <= one {
                theirs = their_rest;
            }
        }
        count
    }

    /// Whether both have so many words in common, and this share of the smaller
    /// set.
    pub(crate) fn shares(&self, other: &Self, (least, words): (f64, usize)) -> bool {
        let shared = self.count_shared(other);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred words")]
        let share = shared as f64 / self.0.len().min(other.0.len()).max(1) as f64;
        shared >= words && share >= least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_grows_word_by_word_to_what_it_is_at_once() {
        let words = ["reader", "writer", "reader", "queue", "lock"];
        let mut grown = WordHashes::default();
        for word in words {
            grown.insert_number(word_number(word));
        }
        assert_eq!(grown, words.iter().collect());
        assert!(grown.contains("queue") && !grown.contains("wal"));
        assert_eq!(grown.count_shared(&["lock", "wal"].iter().collect()), 1);
        let (first, rest) = words.split_at(2);
        assert_eq!(
            WordHashes::from_iter(rest).with(&first.iter().collect()),
            grown
        );
    }
}
