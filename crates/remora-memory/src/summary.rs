//! The summary written at every checkpoint: what was requested, investigated,
//! learned and completed, and which steps are open. Extractive: every entry is
//! quoted from the prompts, the agent's message, the steps or the statements, after
//! a fixed short label at most. Nothing is generated.

mod entries;
mod message;
pub(crate) mod request;
mod steps;

use std::borrow::Cow;

use self::entries::SummaryEntries;
pub(crate) use self::message::phrases::reports_red_run;
pub(crate) use self::steps::STILL_FAILING_PREFIX;
use crate::episode;
use crate::fix::REVERTED_PREFIX;
use crate::sentence::{cut_sentence, one_line};
use crate::statement::{Statement, StatementKind, options};
use crate::words::split_terms;

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepResult {
    /// It did what it should.
    Passed,
    /// It reported an error.
    Failed,
}

/// Whether a step's change is still in place at the end of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeStatus {
    /// It is, as far as is known.
    Stands,
    /// It was reverted.
    Tried,
    /// It reverted a change of the same turn.
    Reversal,
}

/// One observation of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// The observation's kind, such as `change`, `discovery` or `command`.
    pub kind: &'a str,
    /// What was done to what, in one line.
    pub title: &'a str,
    /// The files it read.
    pub files_read: &'a [String],
    /// The files it changed.
    pub files_modified: &'a [String],
    /// What it found, the most important first.
    pub facts: &'a [String],
    /// The key that makes two runs the same command, if it was one.
    pub command: Option<&'a str>,
    /// Whether its change is still in place.
    pub standing: ChangeStatus,
    /// How it went.
    pub result: StepResult,
}

/// All that happened since the last checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn<'a> {
    /// The user's prompts, oldest first.
    pub prompts: &'a [&'a str],
    /// The same, with what was chosen in place of a bare choice such as "b".
    pub requests: &'a [&'a str],
    /// The assistant's last message, in Markdown.
    pub last_message: Option<&'a str>,
    /// The observations in order.
    pub steps: &'a [Step<'a>],
    /// What was stated in prompts and message.
    pub statements: &'a [Statement],
}

/// The checkpoint. Entries are single lines of at most 200 characters, lists
/// hold at most eight of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The request and the first result, at most 100 characters.
    pub title: String,
    /// What the user asked for, at most 300 characters; may be empty.
    pub request: String,
    /// What was read and searched.
    pub investigated: Vec<String>,
    /// What was found out.
    pub learned: Vec<String>,
    /// What was done.
    pub completed: Vec<String>,
    /// Open steps: commands that still fail first, then what was named as left.
    pub next_steps: Vec<String>,
    /// The commands of the first of the open steps, in the same order: recall reads
    /// the two lists in parallel to see whether a later run closed a step.
    pub failing: Vec<String>,
    /// The commands that passed when they were last run.
    pub passed: Vec<String>,
    /// The files concerned, changed ones first.
    pub files: Vec<String>,
    /// How many of them were changed.
    pub changed: usize,
    /// Decisions, preferences and corrections, and warnings.
    pub notes: Vec<String>,
    /// The prompts as they were written, one entry each, bounded.
    pub asked: Vec<String>,
    /// The assistant's last message as lines of plain text, bounded.
    pub said: Vec<String>,
    /// The sentences of it that conclude something.
    pub conclusion: Vec<String>,
}

/// The most characters of a title.
pub const MAX_TITLE_CHARS: usize = 100;
/// The most characters of the request.
pub const MAX_REQUEST_CHARS: usize = 300;
/// The most characters of an entry.
pub const MAX_ENTRY_CHARS: usize = 200;
/// The most entries of a list.
pub const MAX_ENTRIES: usize = 8;

/// Summarises a turn; `None` if there is nothing worth an item.
pub fn summarise_turn(turn: &Turn) -> Option<Summary> {
    // Options that the user has still to choose from conclude nothing.
    let concluded = turn.last_message.map(options::without_offered);
    let said = concluded
        .as_deref()
        .map(message::extract_message_entries)
        .unwrap_or_default();
    let mut request = request::extract_request(turn.prompts);
    // For a bare choice such as "b" the message says what came of it; if it does
    // not, the chosen option is the request.
    if request.is_empty() && said.completed.is_empty() && said.learned.is_empty() {
        request = request::extract_request(turn.requests);
    }
    let done = steps::extract_step_entries(turn.steps);
    let spoken = turn.last_message.map(episode::read_message);
    let spoken = spoken.unwrap_or_default();
    let changed = done.changed > 0 || !done.open.is_empty();
    // Something was read or run without a request and without a word about it: no
    // work to come back to.
    if request.is_empty() && !changed && turn.statements.is_empty() && said.is_trivial() {
        return None;
    }
    let mut notes = SummaryEntries::default();
    for statement in turn.statements {
        notes.add_entry(&format_note(statement));
    }
    notes.extend(&done.tried);
    notes.extend(&said.notes);

    let mut completed = SummaryEntries::default();
    completed.extend(&said.completed);
    completed.extend(&done.completed);
    let mut learned = SummaryEntries::default();
    // A statement is listed in the notes, with its reason, and not here again.
    let stated = |line: &String| {
        let mut all = turn.statements.iter();
        all.find(|s| line.starts_with(&s.text))
    };
    for line in said.learned.iter().filter(|l| stated(l).is_none()) {
        learned.add_entry(line);
    }
    for line in &done.learned {
        // Without the subject in parentheses, which the request names already.
        learned.add_entry(stated(line).map_or(line, |s| &s.text));
    }
    // A plain answer fits no list; its first sentences are what was learned.
    if learned.is_empty() && completed.is_empty() {
        learned.extend(&said.answer);
    }
    // However short, an answer to a question is what was asked for.
    if learned.is_empty()
        && completed.is_empty()
        && request.ends_with(['?', '？'])
        && let Some(answer) = turn.last_message.and_then(message::extract_short_answer)
    {
        learned.add_entry(&answer);
    }
    let mut next_steps = SummaryEntries::default();
    let mut failing = Vec::new();
    for (step, command) in done.open {
        if next_steps.add_entry(&step) {
            failing.push(command);
        }
    }
    // What the message says about failures counts only if no command shows them.
    if failing.is_empty() {
        for line in &said.failing {
            next_steps.add_entry(&format!("{STILL_FAILING_PREFIX}{line}"));
        }
    }
    next_steps.extend(&said.next_steps);
    let mut investigated = SummaryEntries::default();
    investigated.extend(&done.investigated);

    let mut summary = Summary {
        title: String::new(),
        request,
        investigated: investigated.into_list(),
        learned: learned.into_list(),
        completed: completed.into_list(),
        next_steps: next_steps.into_list(),
        failing,
        passed: done.passed,
        changed: done.changed,
        files: done.files,
        notes: notes.into_list(),
        // Stored as it was said: a summary alone kept a third of it, and the rest was
        // lost to search and recall (docs/design/0027).
        asked: episode::read_prompts(turn.prompts),
        conclusion: match &concluded {
            Some(Cow::Owned(rest)) => episode::extract_conclusions(&episode::read_message(rest)),
            _ => episode::extract_conclusions(&spoken),
        },
        said: spoken,
    };
    summary.title = render_title(&summary);
    (!summary.title.is_empty()).then_some(summary)
}

/// The request of prompts in a few words.
pub(crate) fn request_of(prompts: &[&str]) -> String {
    one_line(
        request::find_subject(&request::extract_request(prompts)),
        MAX_TITLE_CHARS,
    )
}

fn format_note(statement: &Statement) -> String {
    let label = match statement.kind {
        StatementKind::Decision => "Decision",
        StatementKind::Preference => "Preference",
        StatementKind::Correction => "Correction",
    };
    match &statement.reason {
        Some(reason) => format!("{label}: {} ({reason})", statement.text),
        None => format!("{label}: {}", statement.text),
    }
}

/// Whether a text begins with the words of the other.
fn begins_with(text: &str, other: &str) -> bool {
    let (text, other) = (split_terms(text), split_terms(other));
    let rest = text.strip_prefix(&other);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Beginnings of a message about a task that was not done.
const REFUSAL_OPENINGS: &[&str] = &[
    "i couldn't",
    "i could not",
    "i was unable",
    "i wasn't able",
    "i was not able",
    "无法",
    "未能",
    "没能",
];

/// The request and the first result in one line; each may use the space that the
/// other leaves.
fn render_title(summary: &Summary) -> String {
    const ARROW: &str = " → ";
    let refused = |line: &&String| {
        let lower = line.to_lowercase();
        REFUSAL_OPENINGS.iter().any(|r| lower.starts_with(r))
    };
    let failed = |line: &&String| line.starts_with(steps::FAILED_PREFIX);
    // If nothing was changed, what fails is the result.
    let failing = summary.next_steps.first();
    let failing =
        failing.filter(|step| summary.changed == 0 && step.starts_with(STILL_FAILING_PREFIX));
    let mut notes = summary.notes.iter();
    let tried = notes.find(|note| summary.changed == 0 && note.starts_with(REVERTED_PREFIX));
    let failure = failing
        .or(tried)
        .or(summary.completed.first())
        .or_else(|| summary.next_steps.iter().find(refused))
        .or(summary.learned.first())
        .or(summary.next_steps.first())
        .or_else(|| summary.investigated.iter().find(failed));
    // That something was read is no result; it only serves as the title of a turn
    // without a request.
    let seen = summary.investigated.first().or(summary.notes.first());
    let result = failure.or(seen.filter(|_| summary.request.is_empty()));
    let asked = request::find_subject(&summary.request);
    let Some(result) = result else {
        return one_line(asked, MAX_TITLE_CHARS);
    };
    let result = result.trim_end_matches(['.', '。']);
    // A reverted change names what was tried first, so its beginning is kept; other
    // results keep the word that reverses their meaning.
    let cut_result = if result.starts_with(REVERTED_PREFIX) {
        one_line
    } else {
        cut_sentence
    };
    if asked.is_empty() || begins_with(result, asked) {
        return cut_result(result, MAX_TITLE_CHARS);
    }
    if begins_with(asked, result) {
        return one_line(asked, MAX_TITLE_CHARS);
    }
    let room = MAX_TITLE_CHARS - ARROW.chars().count();
    let asked_share = room
        .saturating_sub(result.chars().count())
        .max(room * 2 / 5);
    let asked = one_line(asked, asked_share);
    let result = cut_result(result, room - asked.chars().count());
    format!("{asked}{ARROW}{result}")
}

#[cfg(test)]
mod tests;
