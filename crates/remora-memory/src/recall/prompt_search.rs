//! What is searched for a prompt, decided by its words and by what the session has
//! seen before anything is looked up; and the search itself.

use remora_core::ids::ProjectKey;
use remora_core::record::Kind;

use super::change::proposes_change;
use super::intent::PromptIntent;
use super::reader::RecallReader;
use super::relevance::is_common;
use super::subject::{find_names, is_reply};
use super::{InjectionHistory, RecallContext};
use crate::store::{Filter, Hit, LookupItems, PageRequest, Result};
use crate::words::{self, Query};

/// Bytes of a prompt that are searched for; a pasted log has thousands of words.
const MAX_QUERY_BYTES: usize = 1_000;
/// Hits that are ranked.
const MAX_HITS: usize = 40;
/// The note that the session's first prompt was answered.
pub(super) const FIRST_PROMPT_NOTE: &str = "first prompt";

/// Kinds of rules, which count whatever the work is.
pub(super) const RULE_KINDS: &[Kind] = &[
    Kind::Decision,
    Kind::Preference,
    Kind::Correction,
    Kind::Memory,
];

/// Kinds that a prompt may bring. The store serves exactly these sets by injectable
/// terms; another set would be searched the slow way.
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

/// Whether it is a kind of rule.
pub(super) fn is_rule(kind: Kind) -> bool {
    RULE_KINDS.contains(&kind)
}

/// What a prompt is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSearch {
    /// Nothing: it says too little.
    Nothing,
    /// Rules only. Most later prompts continue the conversation of their session,
    /// and bring other turns only where they name something.
    Rules,
    /// Everything. Only this is worth waiting for the encoder.
    Everything,
}

impl PromptSearch {
    /// Decides by the session's notes and the words of its prompt.
    pub fn for_prompt(history: &dyn InjectionHistory, intent: PromptIntent, text: &str) -> Self {
        let is_first = !history.has_noted(FIRST_PROMPT_NOTE);
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
        project: Some(scene.project.clone()),
        kinds: kinds.to_vec(),
        // That a file was read or searched answers nothing.
        looks: LookupItems::LeftOut,
        ..Filter::default()
    };
    let mut hits = store.search(&query, &filter, MAX_HITS)?;
    let own = Filter {
        project: Some(ProjectKey::default()),
        kinds: vec![Kind::Memory],
        ..Filter::default()
    };
    // Most users have saved nothing for all projects; a list of one shows that for
    // less than a search.
    if !store.list_items(&own, PageRequest::newest(1))?.is_empty() {
        hits.extend(store.search(&query, &own, MAX_HITS / 4)?);
    }
    // The session has its own items in its context, and the same question asked
    // before is no answer; a turn that answered it is found by what it said.
    let asked = words::split_terms(text);
    hits.retain(|hit| {
        let item = &hit.item;
        let is_own = !item.session.is_empty() && item.session == *scene.session;
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
            Exposure::None
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
