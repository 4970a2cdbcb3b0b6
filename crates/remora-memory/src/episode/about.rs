//! What a prompt wants of an earlier turn. A turn is often about several things, and
//! a later one that changes one of them leaves the others as they are.

use std::cell::RefCell;

use remora_core::detail::DetailList;
use remora_core::record::{Item, Kind};

use super::amend::{asked_of, words_of};
use crate::sentence::split_sentences;
use crate::words::{TermSplitter, WordHashes};

/// Sentences that a prompt may want of a turn.
const MAX_WANTED_SENTENCES: usize = 2;
/// The share of the words of those sentences that a later turn must have in common
/// with them to speak of them, and how many words; and the same of a statement, which
/// is no more than a few words.
const MIN_SHARED_WANTED: (f64, usize) = (0.2, 3);
const MIN_SHARED_STATED: (f64, usize) = (0.3, 1);

/// What a prompt wants of an earlier turn: of its sentences those that share most
/// words with the prompt. Read once and compared with every later turn.
pub(crate) struct WantedWords<'a> {
    words: WordHashes,
    splitter: &'a RefCell<TermSplitter>,
}

impl<'a> WantedWords<'a> {
    pub(crate) fn of_turn(
        earlier: &Item,
        prompt: &str,
        splitter: &'a RefCell<TermSplitter>,
    ) -> Self {
        let mut split = splitter.borrow_mut();
        let prompt = words_of([prompt], &mut split);
        let said = earlier.detail_list(DetailList::Said).map(str::to_owned);
        let lines: Vec<String> = std::iter::once(asked_of(earlier)).chain(said).collect();
        let sentences = lines.iter().flat_map(|line| split_sentences(line));
        let mut weighed: Vec<(usize, WordHashes)> = sentences
            .map(|sentence| words_of([sentence], &mut split))
            .map(|words| (words.count_shared(&prompt), words))
            .filter(|(shared, _)| *shared > 0)
            .collect();
        // The sort is stable: of equal sentences the first one is wanted.
        weighed.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        let most = weighed.first().map_or(0, |(shared, _)| *shared);
        let words = weighed
            .into_iter()
            .take_while(|(shared, _)| shared * 10 >= most * 7)
            .take(MAX_WANTED_SENTENCES)
            .fold(WordHashes::default(), |all, (_, words)| words.with(&all));
        Self { words, splitter }
    }

    /// Whether the later turn speaks of it, or says by name that it goes.
    pub(crate) fn are_discussed_in(&self, later: &Item) -> bool {
        let names_wanted = |thing: &str| thing.split(' ').all(|word| self.words.contains(word));
        if later.detail_list(DetailList::GivesUp).any(names_wanted) {
            return true;
        }
        let said = later.detail_list(DetailList::Said).map(str::to_owned);
        let said = std::iter::once(asked_of(later)).chain(said);
        let words = words_of(said, &mut self.splitter.borrow_mut());
        let is_stated = later.kind != Kind::Summary;
        self.words.shares(&words, MIN_SHARED_WANTED)
            || is_stated && self.words.shares(&words, MIN_SHARED_STATED)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::item;

    fn turn(asked: &str, said: &str) -> Item {
        Item {
            kind: Kind::Summary,
            detail: Some(json!({ "asked": [asked], "said": [said] }).into()),
            ..item("t", "")
        }
    }

    #[test]
    fn a_later_turn_speaks_of_one_thing_and_not_of_another() {
        let mails = turn(
            "sign in without a password",
            "Links in mails are valid for 15 minutes. Paths of mails had no host in tests; the default options have one now.",
        );
        let hour = turn(
            "her provider holds mails back, make it one hour",
            "Links in mails are valid for an hour.",
        );
        let of_links = "how long is a link in our mails valid?";
        let splitter = RefCell::default();
        let wanted = |prompt: &str| WantedWords::of_turn(&mails, prompt, &splitter);
        assert!(wanted(of_links).are_discussed_in(&hour));
        let of_paths = "mails have no host before their paths on my laptop";
        assert!(!wanted(of_paths).are_discussed_in(&hour));
    }
}
