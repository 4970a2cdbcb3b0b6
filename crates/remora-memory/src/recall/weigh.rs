//! What recall weighs for a prompt, with what it would inject for each: what the
//! weights of relevance are fitted to and judged by. Hooks never ask for it.

use super::candidates;
use super::holding_turns::HoldingTurns;
use super::intent::{PromptIntent, classify_intent};
use super::prompt_search::{RECALLED_KINDS, bounded_query, find_hits, is_rule};
use super::reader::RecallReader;
use super::relevance::is_question;
use super::subject::is_only_process;
use super::supersession::Supersessions;
use super::{RecallContext, name_of};
use crate::store::{Result, Store};

/// What is weighed for a prompt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WeighedPrompt {
    /// Whether less probability is enough, because the prompt asks about the project.
    pub is_question: bool,
    /// The candidates, the most probable first; none where the prompt is answered
    /// without them, with the state of the work or with nothing.
    pub candidates: Vec<WeighedCandidate>,
}

/// A candidate for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedCandidate {
    /// The item that represents it, as it is cited.
    pub item: String,
    /// The item that would be injected for it: itself, or what holds in its place.
    pub injected: String,
    /// Whether it is left out however probable it is.
    pub is_refused: bool,
    /// The features behind its relevance, by name.
    pub features: Vec<(&'static str, f64)>,
    /// The probability that it is useful.
    pub probability: f64,
}

/// What is weighed for the first prompt of a session.
pub fn weigh_prompt(
    store: &dyn Store,
    scene: &RecallContext<'_>,
    text: &str,
) -> Result<WeighedPrompt> {
    let intent = classify_intent(text);
    if matches!(intent, PromptIntent::Trivial | PromptIntent::Continue) {
        return Ok(WeighedPrompt::default());
    }
    let store = RecallReader::new(store, Some(scene.project), scene.now)?;
    let found = find_hits(&store, scene, text, RECALLED_KINDS)?;
    let all = candidates::rank_candidates(&store, scene, (text, intent), found)?;
    let only_rules = intent != PromptIntent::Past && is_only_process(text);
    let later = Supersessions::of_project(&store, scene)?;
    let turns = HoldingTurns {
        store: &store,
        project: scene.project,
        prompt: bounded_query(text),
        later: &later,
    };
    let mut weighed = Vec::with_capacity(all.len());
    for candidate in &all {
        let Some(lead) = candidate.lead_item() else {
            continue;
        };
        let holds = turns.find_what_holds(lead, &all)?;
        weighed.push(WeighedCandidate {
            item: name_of(lead),
            injected: holds.map_or_else(|| name_of(lead), |(item, _)| name_of(&item)),
            is_refused: only_rules && candidate.best_of(is_rule).is_none(),
            features: candidate.features.by_name(),
            probability: candidate.probability,
        });
    }
    Ok(WeighedPrompt {
        is_question: is_question(text, intent),
        candidates: weighed,
    })
}
