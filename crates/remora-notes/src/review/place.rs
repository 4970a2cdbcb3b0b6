//! Where a memory would be better kept than in one user's folder.

use super::super::{Memory, MemoryScope, MemoryType, SecretFinder, personal};
use super::facts::ReviewStatements;
use super::{EditPlan, PromotionTarget, ProposalAction, ProposalDraft, ReviewInput, format_memory};

/// How rules begin.
const RULE_OPENING_WORDS: &[&str] = &[
    "always", "never", "use", "do", "don't", "dont", "prefer", "avoid", "run", "keep", "write",
    "no", "all", "every", "ask", "put", "name", "make", "add", "only", "commit", "test", "mock",
    "must", "when", "before", "after",
];

/// Words that make a rule personal.
const PERSONAL_WORDS: &[&str] = &[
    "i", "me", "my", "mine", "user", "user's", "prefers", "likes", "dislikes", "wants",
];

pub(super) fn find_promotions(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
    secrets: SecretFinder<'_>,
) -> Vec<ProposalDraft> {
    let mut found = Vec::new();
    for (at, saved) in material.saved.iter().enumerate() {
        let memory = saved.memory;
        // A memory without a statement has nothing that could be put elsewhere.
        if memory.uri.scope != MemoryScope::Project || facts.of_memory(at).is_empty() {
            continue;
        }
        let Some((target, why)) = find_better_target(material, memory, secrets) else {
            continue;
        };
        found.push(ProposalDraft {
            about: Some(at),
            action: ProposalAction::Promote(target),
            what: format_memory(memory),
            why: why.to_owned(),
            plan: EditPlan::Promote(target),
        });
    }
    found
}

fn find_better_target(
    material: &ReviewInput<'_>,
    memory: &Memory,
    secrets: SecretFinder<'_>,
) -> Option<(PromotionTarget, &'static str)> {
    let may_be_shared = || {
        let whole = format!("{}\n{}", memory.title, memory.body);
        personal::list_sharing_obstacles(&whole, secrets).is_empty() && !is_own(&whole)
    };
    match memory.kind? {
        MemoryType::Feedback if is_rule(&memory.body) && may_be_shared() => Some((
            PromotionTarget::Shared,
            "it is a rule for everyone who works here, and a rule in the project's file is always read",
        )),
        MemoryType::Feedback if is_rule(&memory.body) => Some((
            PromotionTarget::Own,
            "it is a rule of your own for this project, and a rule in your own file is always read",
        )),
        MemoryType::User if memory.is_core() => Some((
            PromotionTarget::Own,
            "it matters in every session of this project, and your own file is always read",
        )),
        MemoryType::Project | MemoryType::Reference
            if material
                .find_folder(MemoryScope::Team)
                .is_some_and(super::MemoryFolder::exists)
                && may_be_shared() =>
        {
            Some((
                PromotionTarget::Team,
                "it is a fact that everyone who works here can use",
            ))
        }
        _ => None,
    }
}

fn split_words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
            .replace('\u{2019}', "'")
    })
}

fn is_rule(body: &str) -> bool {
    split_words(body)
        .find(|word| !word.is_empty())
        .is_some_and(|first| RULE_OPENING_WORDS.contains(&first.as_str()))
}

fn is_own(text: &str) -> bool {
    split_words(text).any(|word| PERSONAL_WORDS.contains(&word.as_str()))
}
