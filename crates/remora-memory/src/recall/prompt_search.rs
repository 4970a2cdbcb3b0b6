//! What a prompt is searched for, which its words and what the session was told
//! decide before anything is looked up.

use super::InjectionHistory;
use super::change::proposes_change;
use super::intent::PromptIntent;
use super::prompt::bounded_query;
use super::subject::{find_names, is_reply};

/// Told once a session: its first prompt was answered.
pub(super) const FIRST_PROMPT_NOTE: &str = "first prompt";

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
