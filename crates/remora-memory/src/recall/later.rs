//! Statements that a later one has replaced: told again they would mislead.

use remora_protocol::record::{Item, Kind};

use crate::words::{self, is_stop};

/// How somebody takes back what was said.
const REVERSALS: &[&str] = &[
    "instead",
    "no longer",
    "not any more",
    "anymore",
    "drop ",
    "dropped",
    "switch",
    "replace",
    "rather than",
    "stop using",
    "stopped using",
    "away from",
    "moved to",
    "move to",
    "moving to",
    "moved from",
    "move from",
    "moving from",
    "decided to move",
    "back to",
    "revert",
    "goes away",
    "get rid of",
    "remove",
    "不再",
    "改用",
    "换成",
    "改为",
    "换回",
    "弃用",
    "去掉",
];

/// Where a statement's detail says what it takes back.
pub(crate) const TAKES_BACK: &str = "takes_back";
/// Characters of it.
const SENTENCE: usize = 200;

/// The sentence that takes something back, if one does.
pub(crate) fn reversal(text: &str) -> Option<String> {
    let ends = ['.', '!', '?', '\n', '。', '！', '？'];
    let takes_back = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        REVERSALS.iter().any(|word| lower.contains(word))
    };
    let sentence = text.split(ends).find(takes_back)?;
    Some(sentence.trim().chars().take(SENTENCE).collect())
}

/// Whether it is something that somebody said should be so.
pub(super) fn is_stated(kind: Kind) -> bool {
    matches!(kind, Kind::Decision | Kind::Preference | Kind::Correction)
}

/// A statement and what it is about.
#[derive(Debug)]
pub(super) struct Statement {
    time: i64,
    /// Of the statement itself.
    words: Vec<String>,
    /// Of its reason and of what it takes back as well.
    all: Vec<String>,
    reverses: bool,
}

impl Statement {
    /// Of a row; `None` if it states nothing.
    pub(super) fn of(item: &Item) -> Option<Self> {
        if !is_stated(item.kind) {
            return None;
        }
        let detail = item.detail.as_ref();
        let taken_back = detail.and_then(|detail| detail.get(TAKES_BACK)?.as_str());
        let said = taken_back.unwrap_or_default();
        let text = format!("{} {} {said}", item.title, item.facts.join(" "));
        let lower = text.to_lowercase();
        Some(Self {
            time: item.time,
            words: telling(&item.title),
            all: telling(&text),
            reverses: REVERSALS.iter().any(|word| lower.contains(word)),
        })
    }

    /// Whether this one, being later, leaves nothing of the other.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        let shared = other
            .words
            .iter()
            .filter(|word| self.words.contains(word))
            .count();
        let least = self.words.len().min(other.words.len()).max(1);
        let alike = least >= 3 && shared * 2 >= least;
        // One name is enough for somebody who says that it goes.
        let named = |word: &&String| word.chars().count() >= 5 && self.all.contains(word);
        let taken_back = self.reverses && other.words.iter().any(|word| named(&word));
        self.time > other.time && (alike || taken_back)
    }
}

/// The words of a text that say something.
fn telling(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    words::each(text, |term, _| {
        if !is_stop(term) && !found.iter().any(|word| word == term) {
            found.push(term.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::item;

    #[test]
    fn a_reversal_replaces_what_it_names() {
        let said = |title: &str, time| {
            let row = Item {
                kind: Kind::Decision,
                time,
                ..item(title, title)
            };
            Statement::of(&row).unwrap()
        };
        let old = said("Let's use tantivy for it", 1);
        let new = said("We drop tantivy and write our own index", 9);
        assert!(new.replaces(&old) && !old.replaces(&new));
        let other = said("Tests go next to the module", 9);
        assert!(!other.replaces(&old));
        let again = said("Use Redis for the job queue with one worker", 9);
        assert!(again.replaces(&said("Use Postgres for the job queue", 1)));
    }
}
