//! Whether the user refused the change that fixed an error: a command that
//! passed afterwards proves that the change works, not that it is wanted.

use remora_core::detail::DetailText;
use remora_core::record::{Item, Kind};

use super::reader::RecallReader;
use crate::fix::{self};
use crate::store::{Filter, ItemRef, PageRequest, Result, SortOrder};

/// Prompts after a failure that are read.
const MAX_PROMPTS: usize = 12;
/// How many words after a word of refusal may name the refused thing.
const MAX_DISTANCE_WORDS: usize = 4;
/// From this length on a plain word counts as a name; shorter ones occur in
/// prompts by chance.
const MIN_LONG_WORD_BYTES: usize = 9;

/// Words of refusal, without apostrophes.
const REFUSAL_WORDS: &[&str] = &[
    "no", "not", "dont", "doesnt", "never", "stop", "undo", "revert", "without", "avoid",
];

/// The prompt in which the user refused the change of this fix, if there is one:
/// in the session that learned it, after the failure.
pub(super) fn refusal_of(store: &RecallReader<'_>, fix: &Item) -> Result<Option<Item>> {
    let failure = match fix.detail_text(DetailText::Error) {
        Some(uid) => store.find_items(&[ItemRef::Uid(uid.into())])?.pop(),
        None => None,
    };
    let filter = Filter {
        project: Some(fix.project.clone()),
        session: Some(fix.session.clone()),
        kinds: vec![Kind::Prompt],
        since: Some(failure.map_or(fix.time, |failure| failure.time)),
        ..Filter::default()
    };
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: MAX_PROMPTS,
    };
    let mut prompts = store.list_items(&filter, page)?.into_iter();
    Ok(prompts.find(|prompt| refuses_change(&prompt.text, fix::change_title(fix))))
}

/// Whether a text refuses what a change did and names it.
fn refuses_change(text: &str, change: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let bare = |word: &str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            word.replace(['\'', '’'], "").to_lowercase()
        };
        text.split_whitespace().map(bare).collect()
    };
    let is_name = |word: &&String| {
        let is_joined = word.trim_matches('-').contains(['-', '_']) && word.len() > 4;
        (is_joined || word.len() >= MIN_LONG_WORD_BYTES)
            && !word.contains(['/', '='])
            && word.contains(char::is_alphabetic)
    };
    let changed = words(change);
    let names: Vec<&String> = changed.iter().filter(is_name).collect();
    let said = words(text);
    said.iter().enumerate().any(|(at, word)| {
        let end = said.len().min(at + 1 + MAX_DISTANCE_WORDS);
        REFUSAL_WORDS.contains(&word.as_str())
            && said[at + 1..end].iter().any(|w| names.contains(&w))
    })
}

#[cfg(test)]
mod tests {
    use super::refuses_change;

    #[test]
    fn a_change_is_refused_by_its_name() {
        let change = "Ran `cd infra && terraform force-unlock -force 17`";
        for (text, refused) in [
            ("STOP. dont force-unlock!! someone is applying", true),
            ("never run force-unlock without asking", true),
            ("force-unlock worked, go on", false),
            ("no tests for this yet please", false),
        ] {
            assert_eq!(refuses_change(text, change), refused, "{text}");
        }
    }
}
