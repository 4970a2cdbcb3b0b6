//! What a prompt wants of an earlier turn. A turn is often about several things, and
//! a later one that changes one of them leaves the others as they are.

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

/// Whether the later turn speaks of what the prompt wants of the earlier one, or says
/// by name that it goes: of the sentences that share most words with the prompt.
pub(crate) fn speaks_of_wanted(later: &Item, earlier: &Item, prompt: &str) -> bool {
    let mut splitter = TermSplitter::default();
    let prompt = words_of([prompt], &mut splitter);
    let said = earlier.detail_list(DetailList::Said).map(str::to_owned);
    let lines: Vec<String> = std::iter::once(asked_of(earlier)).chain(said).collect();
    let sentences = lines.iter().flat_map(|line| split_sentences(line));
    let mut weighed: Vec<(usize, WordHashes)> = sentences
        .map(|sentence| words_of([sentence], &mut splitter))
        .map(|words| (words.count_shared(&prompt), words))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    // The sort is stable: of equal sentences the first one is wanted.
    weighed.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let most = weighed.first().map_or(0, |(shared, _)| *shared);
    let wanted = weighed
        .into_iter()
        .take_while(|(shared, _)| shared * 10 >= most * 7)
        .take(MAX_WANTED_SENTENCES)
        .fold(WordHashes::default(), |all, (_, words)| words.with(&all));
    let names_wanted = |thing: &str| thing.split(' ').all(|word| wanted.contains(word));
    if later.detail_list(DetailList::GivesUp).any(names_wanted) {
        return true;
    }
    let said = later.detail_list(DetailList::Said).map(str::to_owned);
    let words = words_of(std::iter::once(asked_of(later)).chain(said), &mut splitter);
    let is_stated = later.kind != Kind::Summary;
    wanted.shares(&words, MIN_SHARED_WANTED)
        || is_stated && wanted.shares(&words, MIN_SHARED_STATED)
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
        assert!(speaks_of_wanted(&hour, &mails, of_links));
        let of_paths = "mails have no host before their paths on my laptop";
        assert!(!speaks_of_wanted(&hour, &mails, of_paths));
    }
}
