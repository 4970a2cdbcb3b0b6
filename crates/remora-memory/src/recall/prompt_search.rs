//! What a prompt is searched for, which its words and what the session was told
//! decide before anything is looked up; and the search.

use remora_core::record::Kind;

use super::change::proposes_change;
use super::intent::PromptIntent;
use super::reader::RecallReader;
use super::relevance::is_common;
use super::subject::{find_names, is_reply};
use super::{InjectionHistory, RecallContext};
use crate::store::{Filter, Hit, LookupItems, PageRequest, Result};
use crate::words::{self, Query};

/// Bytes of a prompt that are searched for.
const MAX_QUERY_BYTES: usize = 1_000;
/// Hits that are looked at.
const MAX_HITS: usize = 40;
/// Told once a session: its first prompt was answered.
pub(super) const FIRST_PROMPT_NOTE: &str = "first prompt";

/// What was ruled and still counts, whatever the work is.
pub(super) const RULE_KINDS: &[Kind] = &[
    Kind::Decision,
    Kind::Preference,
    Kind::Correction,
    Kind::Memory,
];

/// Kinds that may come.
pub(super) const RECALLED_KINDS: &[Kind] = &[
    Kind::Decision,
    Kind::Preference,
    Kind::Correction,
    Kind::Memory,
    Kind::Summary,
    Kind::Fix,
    Kind::Bugfix,
    Kind::Feature,
    Kind::Refactor,
    Kind::Change,
    Kind::Discovery,
    Kind::Task,
    Kind::Message,
    Kind::Prompt,
    Kind::Commit,
];

/// Whether it is something that was ruled, whatever the work is.
pub(super) fn is_rule(kind: Kind) -> bool {
    RULE_KINDS.contains(&kind)
}

/// What a prompt is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSearch {
    /// It says too little.
    Nothing,
    /// What was ruled and still counts. Most later prompts go on with the talk of
    /// their session, and bring other turns only where they name something.
    Rules,
    /// All that may come. Only this is worth waiting for the encoder.
    Everything,
}

impl PromptSearch {
    /// By what a session was told, and what its prompt says.
    pub fn for_prompt(given: &dyn InjectionHistory, intent: PromptIntent, text: &str) -> Self {
        let is_first = !given.has_noted(FIRST_PROMPT_NOTE);
        if intent == PromptIntent::Trivial {
            Self::Nothing
        } else if is_first || intent == PromptIntent::Past {
            Self::Everything
        } else if is_reply(text) {
            Self::Nothing
        } else if proposes_change(text) || !find_names(bounded_query(text)).is_empty() {
            Self::Everything
        } else {
            Self::Rules
        }
    }
}

/// As much of a prompt as is searched for.
pub(super) fn bounded_query(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_QUERY_BYTES)]
}

/// Hits of the project, and of what the user saved for all projects.
pub(super) fn find_hits(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    text: &str,
    kinds: &[Kind],
) -> Result<Vec<Hit>> {
    let query = Query::parse(bounded_query(text))
        .without_common_words(is_common)
        .with_embedding(scene.embedding)
        .with_quick_effort();
    let filter = Filter {
        project: Some(scene.project.to_owned()),
        kinds: kinds.to_vec(),
        // That a file was read or a word looked for answers nothing.
        looks: LookupItems::LeftOut,
        ..Filter::default()
    };
    let mut hits = store.search(&query, &filter, MAX_HITS)?;
    let own = Filter {
        project: Some(String::new()),
        kinds: vec![Kind::Memory],
        ..Filter::default()
    };
    // Most people have saved nothing there, which is quickly seen.
    if !store.list_items(&own, PageRequest::newest(1))?.is_empty() {
        hits.extend(store.search(&query, &own, MAX_HITS / 4)?);
    }
    // The session has its own words in mind, and the same words asked before are
    // no answer; a turn that answered them comes by what was said in it.
    let asked = words::split_terms(text);
    hits.retain(|hit| {
        let item = &hit.item;
        let is_own = !item.session.is_empty() && item.session == scene.session;
        !is_own && (item.kind != Kind::Prompt || words::split_terms(&item.text) != asked)
    });
    Ok(hits)
}

#[cfg(test)]
mod tests {
    use super::super::intent::classify_intent;
    use super::super::{Exposure, InjectionHistory};
    use super::PromptSearch;

    /// A session whose first prompt was answered, or was not.
    struct Answered(bool);

    impl InjectionHistory for Answered {
        fn exposure(&self, _: &str) -> Exposure {
            Exposure::Not
        }

        fn has_noted(&self, _: &str) -> bool {
            self.0
        }
    }

    #[test]
    fn later_prompts_are_searched_for_as_far_as_they_can_bring_something() {
        use PromptSearch::{Everything, Nothing, Rules};
        for (prompt, at_first, later) in [
            ("thanks", Nothing, Nothing),
            ("can you commit it?", Everything, Nothing),
            ("let's do 2", Everything, Nothing),
            ("add tests for the gateway client too", Everything, Rules),
            (
                "add tests for GatewayClient::send too",
                Everything,
                Everything,
            ),
            (
                "raise the retry limit of the client",
                Everything,
                Everything,
            ),
            ("why did we pin the parser?", Everything, Everything),
        ] {
            let choose = |answered| {
                PromptSearch::for_prompt(&Answered(answered), classify_intent(prompt), prompt)
            };
            assert_eq!((choose(false), choose(true)), (at_first, later), "{prompt}");
        }
    }
}
