//! What was said in a turn, kept as it was said: the prompt and the agent's last
//! message as lines of plain text, and which of its sentences conclude something.
//! The checkpoint of a turn is filled from it, and recall hands it over.

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

/// Fields of a checkpoint's detail that hold what was said.
pub(crate) mod field {
    /// The prompts of the turn, one entry each.
    pub(crate) const ASKED: &str = "asked";
    /// The agent's last message, one entry a line.
    pub(crate) const SAID: &str = "said";
    /// The sentences of it that conclude something, in their order.
    pub(crate) const CONCLUSION: &str = "conclusion";
    /// What the turn gives up by name.
    pub(crate) const GIVES_UP: &str = "gives_up";
    /// Whether what is asked for is to be otherwise than before.
    pub(crate) const TURNS: &str = "turns";
    /// Prints of the lines that its edits put in.
    pub(crate) const ADDED_LINES: &str = "added_lines";
    /// Prints of the lines that they took out.
    pub(crate) const REMOVED_LINES: &str = "removed_lines";
}
