//! What was said in a turn, stored as it was said: the prompts and the agent's last
//! message as lines of plain text, and which of its sentences conclude something.
//! The checkpoint of a turn stores it, and recall injects from it.

mod amend;
mod conclusion;
mod lines;
mod spoken;

pub(crate) use amend::{
    ComparedTurn, amends_stated, amends_turn, drops_by_name, given_up, goes_on, takes_turn,
};
pub(crate) use conclusion::{
    CharBudget, extract_conclusions, join_sentences, rank_sentences, weigh_sentence,
};
pub(crate) use lines::{ChangedLines, changed_lines};
pub(crate) use spoken::{read_message, read_prompts};

/// Fields of a checkpoint's detail. They are stored: never rename one.
pub(crate) mod field {
    /// The prompts of the turn, one entry each.
    pub(crate) const ASKED: &str = "asked";
    /// The agent's last message, one entry per line.
    pub(crate) const SAID: &str = "said";
    /// The sentences of it that conclude something, in order.
    pub(crate) const CONCLUSION: &str = "conclusion";
    /// What the turn gives up by name.
    pub(crate) const GIVES_UP: &str = "gives_up";
    /// Whether the turn asks for something to be different than before.
    pub(crate) const TURNS: &str = "turns";
    /// Hashes of the lines that its edits added.
    pub(crate) const ADDED_LINES: &str = "added_lines";
    /// Hashes of the lines that they removed.
    pub(crate) const REMOVED_LINES: &str = "removed_lines";
}
