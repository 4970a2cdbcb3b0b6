//! Which failures are worth a fix: not those that every reader mends at once, nor
//! those that come once.

use remora_core::record::Item;

use super::{detail_texts, field};

/// What tools say of a name that is there for nothing: the message is the mend.
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
/// What git says of two changes that meet in one place.
const CONFLICT_PHRASES: &[&str] = &["conflict in ", "conflicts in ", "automatic merge failed"];

/// Whether somebody who meets this failure again could need what mended it.
pub(super) fn has_lesson(failure: &Item) -> bool {
    let has = |text: &str, phrases: &[&str]| {
        let lower = text.to_lowercase();
        phrases.iter().any(|phrase| lower.contains(phrase))
    };
    let is_git =
        super::detail_text(failure, field::TOOL).is_some_and(|tool| tool.starts_with("git "));
    if is_git && has(&failure.title, CONFLICT_PHRASES) {
        return false;
    }
    let mut says = detail_texts(failure, field::SAYS).peekable();
    says.peek().is_none() || !says.all(|said| has(said, UNUSED_PHRASES))
}
