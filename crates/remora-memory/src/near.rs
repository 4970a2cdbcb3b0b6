//! Near-duplicates: an observation that repeats a recent one in nearly the same
//! words is not stored again; the first one's counter goes up.

use std::cmp::Ordering;
use std::collections::VecDeque;

use remora_core::hash::stable_hash;
use remora_core::ids::ItemUid;
use remora_core::record::{Item, Kind};

/// How many items back a repetition is searched for.
const MAX_RECENT_ITEMS: usize = 48;
/// The share of words that two texts must have in common.
const MIN_COMMON_SHARE: f64 = 0.85;

/// The last items of a session.
#[derive(Debug, Default)]
pub(crate) struct RecentItems(VecDeque<ItemTrace>);

/// What of an item decides whether another one repeats it. Made once of each.
#[derive(Debug)]
pub(crate) struct ItemTrace {
    uid: ItemUid,
    kind: Kind,
    head: u64,
    /// What makes two runs the same command, if it was one.
    command: Option<u64>,
    /// In order and each once: cheaper to make and to compare than a set.
    words: Vec<u64>,
}

impl RecentItems {
    /// The uid of the item that already says this, if one does.
    pub(crate) fn find_duplicate(&self, new: &ItemTrace) -> Option<&str> {
        let same = |old: &&ItemTrace| old.head == new.head && is_similar(&old.words, &new.words);
        // Only the last outcome of a command can repeat: what failed, passed and fails
        // again is news.
        let last = |old: &&ItemTrace| new.command.is_some() && old.command == new.command;
        let old = self.0.iter().rev().find(|old| same(old) || last(old))?;
        same(&old).then_some(old.uid.as_str())
    }

    /// The turn is over. An error that occurs again in the next turn has to be an
    /// item of that turn, or its summary would not list it as open.
    pub(crate) fn end_turn(&mut self) {
        self.0.retain(|old| old.kind != Kind::Failure);
    }

    pub(crate) fn record_trace(&mut self, trace: ItemTrace) {
        self.0.push_back(trace);
        if self.0.len() > MAX_RECENT_ITEMS {
            self.0.pop_front();
        }
    }
}

impl ItemTrace {
    pub(crate) fn from_item(item: &Item) -> Self {
        let command = item.command();
        // Of the same command, numbers in the title are counts and timings:
        // another count is not another thing.
        let counted = |c: &char| command.is_none() || !c.is_ascii_digit();
        let title: String = item.title.chars().filter(counted).collect();
        let files = (&item.files_read, &item.files_modified);
        let head = format!(
            "{} {:?} {command:?} {title} {files:?}",
            item.kind, item.tool
        );
        // The head must be equal, the rest only similar: titles and files say what
        // happened, texts and facts how it looked this time.
        let texts = item.facts.iter().chain([&item.text]);
        let mut words: Vec<u64> = texts
            .flat_map(|text| text.split_whitespace())
            // Line numbers, timings and counts differ between equal runs.
            .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
            .map(|word| stable_hash(word.as_bytes()))
            .collect();
        words.sort_unstable();
        words.dedup();
        Self {
            uid: item.uid.clone(),
            kind: item.kind,
            head: stable_hash(head.as_bytes()),
            command: command.map(|key| stable_hash(key.as_bytes())),
            words,
        }
    }
}

fn is_similar(a: &[u64], b: &[u64]) -> bool {
    let both = count_common(a, b);
    let all = a.len() + b.len() - both;
    #[expect(clippy::cast_precision_loss, reason = "word counts are small")]
    let share = if all == 0 {
        1.0
    } else {
        both as f64 / all as f64
    };
    share >= MIN_COMMON_SHARE
}

/// How many elements two sorted lists have in common.
fn count_common(mut a: &[u64], mut b: &[u64]) -> usize {
    let mut both = 0;
    while let ([first, rest @ ..], [other, others @ ..]) = (a, b) {
        match first.cmp(other) {
            Ordering::Less => a = rest,
            Ordering::Greater => b = others,
            Ordering::Equal => {
                both += 1;
                (a, b) = (rest, others);
            }
        }
    }
    both
}
