//! Which failures are worth a fix: not those whose message is the solution, nor
//! those that occur only once.

use remora_core::detail::{DetailList, DetailText};
use remora_core::record::Item;

/// What tools say about unused names: the message is the solution.
const UNUSED_PHRASES: &[&str] = &[
    "imported and not used",
    "imported but unused",
    "declared and not used",
    "declared but not used",
    "never used",
    "never read",
    "unused import",
    "unused variable",
    "no-unused-vars",
    "no-unused-imports",
    "unused-import",
    "unused-variable",
    "f401",
    "f841",
    "ts6133",
    "ts6192",
    "ts6196",
];
/// What git says about a merge conflict, which never occurs twice alike.
const CONFLICT_PHRASES: &[&str] = &["conflict in ", "conflicts in ", "automatic merge failed"];

/// Whether the fix could be useful when this failure occurs again.
pub(super) fn has_lesson(failure: &Item) -> bool {
    let has = |text: &str, phrases: &[&str]| {
        let lower = text.to_lowercase();
        phrases.iter().any(|phrase| lower.contains(phrase))
    };
    let is_git = failure
        .detail_text(DetailText::Tool)
        .is_some_and(|tool| tool.starts_with("git "));
    if is_git && has(&failure.title, CONFLICT_PHRASES) {
        return false;
    }
    let mut says = failure.detail_list(DetailList::Says).peekable();
    says.peek().is_none() || !says.all(|said| has(said, UNUSED_PHRASES))
}
