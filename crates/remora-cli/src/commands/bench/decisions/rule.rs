//! What was decided in a chat, and how much of it a text says. The decision is
//! what the agent's last message says in prose: code and questions are left out.

use std::collections::BTreeSet;

use remora_memory::words::{TermSplitter, is_stop};

/// The share of its words with which a rule counts as said; recall itself takes
/// something for said from the same share on.
pub(super) const MIN_RULE_SHARE: f64 = 0.7;
/// The share of the words that only the old rule has with which it counts as
/// given.
pub(super) const MIN_OLD_RULE_SHARE: f64 = 0.5;

/// What was decided.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecisionRule {
    pub(super) text: String,
    words: BTreeSet<String>,
}

impl DecisionRule {
    pub(super) fn from_message(message: &str) -> Self {
        let mut in_code = false;
        let mut told: Vec<&str> = Vec::new();
        for line in message.lines() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            } else if !in_code {
                let said = split_sentences(line);
                told.extend(said.filter(|one| !one.ends_with('?')));
            }
        }
        let text = told.join(" ");
        Self {
            words: words_of(&text),
            text,
        }
    }

    /// The same with those words only that the other does not have.
    pub(super) fn without_words(mut self, other: &Self) -> Self {
        self.words.retain(|word| !other.words.contains(word));
        self
    }

    /// The share of its words that a text has.
    #[expect(clippy::cast_precision_loss, reason = "a few hundred words")]
    pub(super) fn share_in(&self, text: &str) -> f64 {
        let there = words_of(text);
        let held = self.words.intersection(&there).count();
        held as f64 / self.words.len().max(1) as f64
    }
}

/// The sentences of a line, as far as a full stop and a space tell them.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        let ends = [". ", "! ", "? "].iter().filter_map(|end| rest.find(end));
        let (one, after) = rest.split_at(ends.min().map_or(rest.len(), |at| at + 1));
        rest = after.trim_start();
        (!one.is_empty()).then_some(one)
    })
}

fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    TermSplitter::default().for_each_term(text, |term, _| {
        if !is_stop(term) {
            words.insert(term.to_owned());
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_the_prose_of_the_last_message() {
        let rule = DecisionRule::from_message(
            "Settled: at most 4 tries. Shall I commit?\n```\nlet x = 9;\n```\nNever on 404.",
        );
        assert_eq!(rule.text, "Settled: at most 4 tries. Never on 404.");
        assert!((rule.share_in("never on 404, 4 tries at most, settled") - 1.0).abs() < 1e-9);
        assert!(rule.share_in("something else") < MIN_RULE_SHARE);
    }

    #[test]
    fn what_both_rules_say_does_not_tell_the_old_one() {
        let old = DecisionRule::from_message("Retries stop after 4 tries, with jitter off.");
        let new = DecisionRule::from_message("Retries stop after 4 tries, with full jitter.");
        let old = old.without_words(&new);
        assert!(old.share_in(&new.text) < MIN_OLD_RULE_SHARE);
    }
}
