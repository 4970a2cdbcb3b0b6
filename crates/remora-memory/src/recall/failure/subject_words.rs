//! The words of a failure by which it is about something.

use std::collections::HashSet;

use crate::words::{TermSplitter, is_stop};

/// From this length on a shared word counts twice: it is the name of something.
const MIN_LONG_NAME_BYTES: usize = 14;

/// Words that show that a sentence and a failure are about the same thing.
#[derive(Default)]
pub(super) struct SubjectWords(HashSet<String>);

impl SubjectWords {
    fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
        let mut splitter = TermSplitter::default();
        splitter.for_each_term(text, |term, _| {
            if term.len() > 2 && !is_stop(term) && !COMMON_FAILURE_WORDS.contains(&term) {
                take(term);
            }
        });
    }

    pub(super) fn add_text(&mut self, text: &str) {
        Self::for_each_word(text, |term| {
            self.0.insert(term.to_owned());
        });
    }

    /// Whether a word of a text is among them.
    pub(super) fn holds(&self, term: &str) -> bool {
        self.0.contains(term)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// How many different ones a text contains.
    pub(super) fn count_shared(&self, text: &str) -> usize {
        let mut shared: HashSet<String> = HashSet::new();
        Self::for_each_word(text, |term| {
            if self.0.contains(term) {
                shared.insert(term.to_owned());
            }
        });
        // The name of a library is not shared by chance.
        let weight = |term: &String| 1 + usize::from(term.len() >= MIN_LONG_NAME_BYTES);
        shared.iter().map(weight).sum()
    }
}

/// Words that occur in most failures and commands.
const COMMON_FAILURE_WORDS: &[&str] = &[
    "error", "fail", "failed", "test", "run", "cargo", "npm", "pnpm", "python", "pytest", "make",
    "build", "src", "code", "exit",
];
