//! A bounded list of single lines without repetitions.

use std::collections::HashSet;

use super::{MAX_ENTRIES, MAX_ENTRY_CHARS};
use crate::sentence::cut_sentence;

/// Collects entries; of nearly equal ones the first is kept, and further ones than
/// fit are dropped.
#[derive(Debug, Default)]
pub(super) struct SummaryEntries {
    list: Vec<String>,
    keys: Vec<HashSet<String>>,
}

impl SummaryEntries {
    /// Adds an entry; returns whether it is new and there was room.
    pub(super) fn add_entry(&mut self, text: &str) -> bool {
        if self.list.len() >= MAX_ENTRIES {
            return false;
        }
        let line = cut_sentence(
            text.trim_matches(|c: char| c.is_whitespace() || ",;，；".contains(c)),
            MAX_ENTRY_CHARS,
        );
        let key = collect_key_words(&line);
        if key.is_empty() || self.keys.iter().any(|k| are_near_equal(k, &key)) {
            return false;
        }
        self.list.push(line);
        self.keys.push(key);
        true
    }

    pub(super) fn extend(&mut self, texts: &[String]) {
        for text in texts {
            self.add_entry(text);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// The words of a line, or its pairs of characters where words have no spaces.
fn collect_key_words(line: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    let lower = line.to_lowercase();
    for word in lower
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
    {
        if word.chars().any(crate::sentence::is_wide) {
            let chars: Vec<char> = word.chars().collect();
            if chars.len() == 1 {
                words.insert(word.to_owned());
            }
            words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if !matches!(
            word,
            "the"
                | "a"
                | "an"
                | "i"
                | "ve"
                | "have"
                | "now"
                | "is"
                | "was"
                | "and"
                | "to"
                | "in"
                | "of"
        ) {
            words.insert(stem_word(word).to_owned());
        }
    }
    words
}

/// A rough stem: "added" and "adds" are the same.
fn stem_word(word: &str) -> &str {
    let stems = ["ing", "ed", "es", "s", "e"];
    stems
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= 3))
        .unwrap_or(word)
}

/// Whether two lines say the same: nearly all words are shared.
fn are_near_equal(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    // Short lines must be equal, and numbers always: two versions or counts differ
    // in one word where all others are the same.
    shared == all
        || (all >= 6 && shared * 10 >= all * 8 && collect_numbers(a) == collect_numbers(b))
}

fn collect_numbers(words: &HashSet<String>) -> HashSet<&String> {
    words
        .iter()
        .filter(|w| w.bytes().any(|b| b.is_ascii_digit()))
        .collect()
}
