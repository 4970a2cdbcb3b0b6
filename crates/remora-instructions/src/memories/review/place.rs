//! Where a memory would be better kept than in one person's folder.

use super::super::{Memory, Scope, Secrets, Type, personal};
use super::facts::Facts;
use super::{Action, Draft, Material, Plan, Target, named};

/// How rules begin.
const RULES: &[&str] = &[
    "always", "never", "use", "do", "don't", "dont", "prefer", "avoid", "run", "keep", "write",
    "no", "all", "every", "ask", "put", "name", "make", "add", "only", "commit", "test", "mock",
    "must", "when", "before", "after",
];

/// Words that make a rule one person's.
const OWN: &[&str] = &[
    "i", "me", "my", "mine", "user", "user's", "prefers", "likes", "dislikes", "wants",
];

pub(super) fn promotions(
    material: &Material<'_>,
    facts: &Facts,
    secrets: Secrets<'_>,
) -> Vec<Draft> {
    let mut found = Vec::new();
    for (at, saved) in material.saved.iter().enumerate() {
        let memory = saved.memory;
        // What is not a statement at all cannot be put into words elsewhere.
        if memory.uri.scope != Scope::Project || facts.of_memory(at).is_empty() {
            continue;
        }
        let Some((target, why)) = better(material, memory, secrets) else {
            continue;
        };
        found.push(Draft {
            about: Some(at),
            action: Action::Promote(target),
            what: named(memory),
            why: why.to_owned(),
            plan: Plan::Promote(target),
        });
    }
    found
}

fn better(
    material: &Material<'_>,
    memory: &Memory,
    secrets: Secrets<'_>,
) -> Option<(Target, &'static str)> {
    let may_be_shared = || {
        let whole = format!("{}\n{}", memory.title, memory.body);
        personal::reasons(&whole, secrets).is_empty() && !is_own(&whole)
    };
    match memory.kind? {
        Type::Feedback if is_rule(&memory.body) && may_be_shared() => Some((
            Target::Shared,
            "it is a rule for everyone who works here, and a rule in the project's file is always read",
        )),
        Type::Feedback if is_rule(&memory.body) => Some((
            Target::Own,
            "it is a rule of your own for this project, and a rule in your own file is always read",
        )),
        Type::User if memory.is_core() => Some((
            Target::Own,
            "it matters in every session of this project, and your own file is always read",
        )),
        Type::Project | Type::Reference
            if material
                .folder(Scope::Team)
                .is_some_and(super::Folder::exists)
                && may_be_shared() =>
        {
            Some((
                Target::Team,
                "it is a fact that everyone who works here can use",
            ))
        }
        _ => None,
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
            .replace('\u{2019}', "'")
    })
}

fn is_rule(body: &str) -> bool {
    words(body)
        .find(|word| !word.is_empty())
        .is_some_and(|first| RULES.contains(&first.as_str()))
}

fn is_own(text: &str) -> bool {
    words(text).any(|word| OWN.contains(&word.as_str()))
}
