//! What was said in a turn, stored as it was said: the prompts and the agent's last
//! message as lines of plain text, and which of its sentences conclude something.
//! The checkpoint of a turn stores it, and recall injects from it.

mod about;
mod amend;
mod conclusion;
mod lines;
mod spoken;

pub(crate) use about::WantedWords;
pub(crate) use amend::{
    ComparedTurn, amends_stated, amends_turn, drops_by_name, given_up, goes_on, replaces_work,
    takes_turn,
};
pub(crate) use conclusion::{
    CharBudget, extract_conclusions, join_sentences, rank_sentences, weigh_sentence,
};
pub(crate) use lines::{ChangedLines, changed_lines};
pub(crate) use spoken::{read_message, read_prompts};
