//! One way to choose what is given, and whether sessions made use of it: by a
//! deed as the ledger has it, or by saying its rare words.

use std::collections::{HashMap, HashSet};

use remora_core::detail::DetailList;
use remora_core::record::{self, Item};
use remora_memory::CapturedEvent;
use remora_memory::injection_use::UseDetector;
use remora_memory::store::Store;
use remora_memory::words::{TermSplitter, is_stop};

use super::figures::ArmStats;
use crate::error::CliError;

/// Rare words of an item that a later message must say.
const MIN_SHARED_WORDS: usize = 2;
/// Messages that may hold a rare word: this many, or this share of all.
const MAX_RARE_MESSAGES: usize = 2;
const RARE_MESSAGES_DIVISOR: usize = 50;
/// Characters of the shortest word that counts.
const MIN_WORD_CHARS: usize = 4;

/// Something that is given at a prompt.
#[derive(Debug)]
pub(super) struct InjectedItem {
    item: String,
    words: HashSet<String>,
    is_first: bool,
    line: u32,
    deed: bool,
    echo: bool,
}

impl InjectedItem {
    pub(super) fn new(item: &Item, words: HashSet<String>, is_first: bool) -> Self {
        Self {
            item: format!("#{}", item.id),
            words,
            is_first,
            line: 0,
            deed: false,
            echo: false,
        }
    }
}

/// One way to choose.
#[derive(Debug, Default)]
pub(super) struct Arm {
    uses: UseDetector,
    line: u32,
    /// What the session was given.
    given: Vec<InjectedItem>,
}

impl Arm {
    /// Looks at an event of the session.
    pub(super) fn observe_event(
        &mut self,
        store: &dyn Store,
        event: &CapturedEvent,
    ) -> Result<(), CliError> {
        // The session is known before the store has anything that it was given.
        self.uses.add_injections(store, event, Vec::new())?;
        for (_, line, _) in self.uses.detect_uses(event) {
            for given in self.given.iter_mut().filter(|given| given.line == line) {
                given.deed = true;
            }
        }
        Ok(())
    }

    /// Gives this at the event.
    pub(super) fn inject_item(
        &mut self,
        store: &dyn Store,
        event: &CapturedEvent,
        mut given: InjectedItem,
    ) -> Result<(), CliError> {
        self.line += 1;
        given.line = self.line;
        let row = record::Injection {
            session: event.session().to_owned(),
            line: self.line,
            item: given.item.clone(),
            subagent: None,
            trigger: "prompt".to_owned(),
            why: String::new(),
            tokens: 0,
            time: event.envelope.at,
            used: None,
        };
        self.uses.add_injections(store, event, vec![row])?;
        self.given.push(given);
        Ok(())
    }

    /// Hears what the agent says.
    pub(super) fn match_message_words(&mut self, words: &HashSet<String>) {
        for given in &mut self.given {
            given.echo |= given.words.intersection(words).count() >= MIN_SHARED_WORDS;
        }
    }

    /// The session is over.
    pub(super) fn end_session(&mut self, figures: &mut ArmStats) {
        for given in self.given.drain(..) {
            figures.count(given.is_first, given.deed, given.echo);
        }
        // Lines count anew in every session.
        self.line = 0;
    }
}

/// Adds the words of a text.
pub(super) fn split_words(text: &str, words: &mut HashSet<String>) {
    TermSplitter::default().for_each_term(text, |term, _| {
        if term.chars().count() >= MIN_WORD_CHARS && !is_stop(term) {
            words.insert(term.to_owned());
        }
    });
}

/// In how many messages of the project a word stood.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    messages: usize,
    counts: HashMap<String, usize>,
}

impl Vocabulary {
    pub(super) fn add_message(&mut self, words: &HashSet<String>) {
        self.messages += 1;
        for word in words {
            *self.counts.entry(word.clone()).or_default() += 1;
        }
    }

    /// The rare words of what an item concludes that the session has not said.
    pub(super) fn rare_words(&self, item: &Item, said: &HashSet<String>) -> HashSet<String> {
        let mut text: Vec<&str> = item.detail_list(DetailList::Conclusion).collect();
        if text.is_empty() {
            text = vec![&item.title, &item.text];
        }
        let mut words = HashSet::new();
        split_words(&text.join("\n"), &mut words);
        let most = MAX_RARE_MESSAGES.max(self.messages / RARE_MESSAGES_DIVISOR);
        let is_rare = |word: &String| self.counts.get(word).is_none_or(|count| *count <= most);
        words.retain(|word| is_rare(word) && !said.contains(word));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> HashSet<String> {
        let mut words = HashSet::new();
        split_words(text, &mut words);
        words
    }

    #[test]
    fn words_count_that_are_rare_and_new_to_the_session() {
        let mut vocabulary = Vocabulary::default();
        for _ in 0..3 {
            vocabulary.add_message(&words("the uploader works"));
        }
        let item: Item = serde_json::from_value(serde_json::json!({
            "id": 7, "uid": "u", "kind": "summary", "title": "t", "text": "", "time": 1,
            "last_time": 1, "project": "p", "session": "s", "agent": "a", "digest_tokens": 1,
            "detail": { "conclusion": ["The uploader keeps leftovers in a quarantine bucket."] },
        }))
        .unwrap();
        let rare = vocabulary.rare_words(&item, &words("empty the bucket"));
        assert!(words("quarantine").is_subset(&rare), "{rare:?}");
        assert!(words("uploader bucket").is_disjoint(&rare), "{rare:?}");
        let mut arm = Arm::default();
        arm.given.push(InjectedItem::new(&item, rare, true));
        arm.match_message_words(&words("It went into quarantine."));
        assert!(!arm.given[0].echo);
        arm.match_message_words(&words("The leftovers went into quarantine."));
        assert!(arm.given[0].echo);
    }
}
