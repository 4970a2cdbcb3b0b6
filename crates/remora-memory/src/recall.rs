//! Recall: for one trigger, a few items worth injecting and one text for the
//! model. Pure: it reads the store, asks about files through a port, and records
//! for every item why it was selected or rejected. The hook, `remora context` and
//! the benchmarks call the same function, so a preview is what a session gets.

mod candidates;
mod card;
mod change;
mod compact;
mod context_block;
mod failure;
mod freshness;
mod holding_turns;
mod intent;
mod item_line;
mod memories;
mod missing;
mod pins;
mod prompt;
mod prompt_search;
mod read;
mod reader;
mod receipt;
mod recent;
mod refused;
mod relevance;
mod sanitize;
mod silent;
mod start;
mod subagent_start;
mod subject;
mod succession;
mod suggest;
pub(crate) mod supersession;
mod weigh;
pub(crate) mod word_set;
mod work;

use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::{FileFingerprint, Item, Kind};

use crate::prompt_embedding::PromptEmbedding;
use crate::store::{Filter, PageRequest as Part, Result, Store};

pub use context_block::CONTEXT_TAG;
pub use failure::error_print;
pub use freshness::Freshness;
pub use intent::{PromptIntent, classify_intent};
pub use prompt_search::PromptSearch;
use reader::RecallReader;
pub use receipt::save_confirmation;
pub use sanitize::{sanitize_block, sanitize_line};
pub use silent::fails_silently;
pub use succession::StatementSuccession;
pub use suggest::{guard_stop, render_compaction_instructions, suggest_save};
pub use weigh::{WeighedCandidate, WeighedPrompt, weigh_prompt};

/// What happens in a session when something may be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallTrigger<'a> {
    /// It begins with an empty context.
    Start,
    /// It is resumed with its whole context.
    Resume,
    /// The client has compacted the context; its summary, if it is known.
    Compact(Option<&'a str>),
    /// The user submits a prompt.
    Prompt(&'a str),
    /// A file is read; relative to the project's root.
    Read(&'a str),
    /// A command has failed.
    Failure {
        /// The command line.
        command: &'a str,
        /// What it printed.
        error: &'a str,
    },
    /// A command has exited with 0 although its output reports a failure.
    SilentFailure {
        /// The command line.
        command: &'a str,
        /// What it printed.
        printed: &'a str,
    },
    /// A file that was to be read or changed does not exist; relative to the
    /// project's root.
    Missing(&'a str),
    /// A subagent starts; its task, if it is known.
    Subagent(Option<&'a str>),
}

impl RecallTrigger<'_> {
    /// Its name in the injection log.
    pub fn name(&self) -> &'static str {
        // Stored with every injection and grouped by in reports: never rename one.
        match self {
            Self::Start | Self::Resume => "start",
            Self::Compact(_) => "compact",
            Self::Prompt(_) => "prompt",
            Self::Read(_) => "read",
            Self::Failure { .. } | Self::SilentFailure { .. } | Self::Missing(_) => "failure",
            Self::Subagent(_) => "subagent",
        }
    }
}

/// The budgets, from the user's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecallLimits {
    /// Tokens at a session's start.
    pub start_tokens: u32,
    /// Lines about earlier turns at a session's start.
    pub index_rows: usize,
    /// Sessions whose last work is considered there.
    pub summaries: usize,
    /// Tokens at a prompt.
    pub prompt_tokens: u32,
}

/// A file compared with its fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// Unchanged.
    Same,
    /// Other contents, written at this time in milliseconds since 1970.
    Changed(i64),
    /// It does not exist.
    Gone,
}

/// The files of the project, as recall asks about them.
pub trait ProjectFiles {
    /// Whether the caller's deadline leaves no time for another file.
    fn is_late(&self) -> bool {
        false
    }
    /// Compares a file with its fingerprint; the path is relative to the
    /// project's root.
    fn file_status(&self, path: &str, anchor: &FileFingerprint) -> FileStatus;
    /// Whether the file exists.
    fn exists(&self, path: &str) -> bool;
    /// The text of a saved memory if its file has changed, since the file is the
    /// source and the item only its index. `Some(None)` if the file is gone.
    fn read_changed_memory(&self, path: &str, size: u64, modified: i64) -> Option<Option<String>>;
}

/// How much of an item the session has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Nothing.
    None,
    /// The title only.
    TitleOnly,
    /// The full text.
    Full,
}

/// What was injected into this session before.
pub trait InjectionHistory {
    /// How much the session has seen of this item: `#12` or `memory://…`.
    fn exposure(&self, item: &str) -> Exposure;
    /// Whether this note was left before: `folder src`, `first prompt`. Notes are
    /// for what is no item and still needs no second mention.
    fn has_noted(&self, what: &str) -> bool;
}

/// Everything that recall depends on besides the store and the trigger.
#[derive(Clone, Copy)]
pub struct RecallContext<'a> {
    /// The project's key.
    pub project: &'a ProjectKey,
    /// The branch that is checked out.
    pub branch: Option<&'a str>,
    /// The session.
    pub session: &'a SessionId,
    /// The time in milliseconds since 1970; statements past their end date are
    /// not in force.
    pub now: i64,
    /// Files that git reports as changed, relative to the project's root.
    pub changed: &'a [String],
    /// How the model fetches more of an item, in a few words.
    pub details: &'a str,
    /// The files of the project.
    pub disk: &'a dyn ProjectFiles,
    /// What was injected before.
    pub given: &'a dyn InjectionHistory,
    /// The budgets.
    pub limits: RecallLimits,
    /// The encoder's embedding of the prompt, if one was requested.
    pub embedding: Option<&'a PromptEmbedding>,
}

/// An item that is part of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// `#12` or `memory://…`.
    pub item: String,
    /// Its kind.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// Whether the text has all of it or only its title.
    pub seen: Exposure,
    /// Why it was selected.
    pub why: String,
    /// The features behind its relevance, by name.
    pub parts: Vec<(&'static str, f64)>,
    /// Whether it still holds.
    pub truth: Freshness,
    /// Its cost in tokens.
    pub tokens: u32,
}

/// An item that was considered and left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// `#12` or `memory://…`.
    pub item: String,
    /// Its title.
    pub title: String,
    /// Why it was left out.
    pub why: String,
    /// The features behind its relevance, by name.
    pub parts: Vec<(&'static str, f64)>,
}

/// The result of a recall.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallResult {
    /// The text for the model; `None` when there is nothing to say.
    pub text: Option<String>,
    /// The items in it.
    pub given: Vec<Selected>,
    /// The best of the items that are not in it.
    pub passed: Vec<Rejected>,
    /// Notes to leave for [`InjectionHistory::has_noted`].
    pub told: Vec<String>,
}

/// How many rejected items `remora context` can show.
const MAX_REJECTED_ITEMS: usize = 40;

impl RecallResult {
    /// Records why an item is left out.
    fn reject_item(&mut self, item: &Item, why: &str, parts: Vec<(&'static str, f64)>) {
        if self.passed.len() < MAX_REJECTED_ITEMS {
            self.passed.push(Rejected {
                item: name_of(item),
                title: sanitize_line(&item.title, 160),
                why: why.to_owned(),
                parts,
            });
        }
    }
}

/// Recalls for one trigger.
pub fn recall(
    store: &dyn Store,
    scene: &RecallContext<'_>,
    moment: &RecallTrigger<'_>,
) -> Result<RecallResult> {
    // Every trigger reads through this reader, so none can inject what the user
    // rejected (docs/design/0023).
    let store = RecallReader::new(store, Some(scene.project), scene.now)?;
    let mut recall = recall_corrected(&store, scene, moment)?;
    recall.passed.splice(0..0, store.into_left_out());
    Ok(recall)
}

fn recall_corrected(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    moment: &RecallTrigger<'_>,
) -> Result<RecallResult> {
    match moment {
        RecallTrigger::Start => start::recall_at_start(store, scene, start::SessionStart::Empty),
        RecallTrigger::Resume => start::recall_at_start(store, scene, start::SessionStart::Full),
        RecallTrigger::Compact(summary) => compact::recall_after_compaction(store, scene, *summary),
        RecallTrigger::Prompt(text) => prompt::recall_for_prompt(store, scene, text),
        RecallTrigger::Read(path) => read::recall_for_file_read(store, scene, path),
        RecallTrigger::Failure { command, error } => {
            failure::recall_for_failure(store, scene, command, error)
        }
        RecallTrigger::SilentFailure { command, printed } => {
            silent::silent_failure(store, scene, command, printed)
        }
        RecallTrigger::Missing(path) => missing::recall_for_missing_file(store, scene, path),
        RecallTrigger::Subagent(task) => subagent_start::recall_for_subagent(store, scene, *task),
    }
}

/// Items of a session, the newest first; of all kinds if none is named.
fn of_session(
    store: &RecallReader<'_>,
    session: &SessionId,
    kinds: &[Kind],
    limit: usize,
) -> Result<Vec<Item>> {
    let filter = Filter {
        session: Some(session.clone()),
        kinds: kinds.to_vec(),
        ..Filter::default()
    };
    store.list_items(&filter, Part::newest(limit))
}

/// How an item is cited: `#12`, or the address of a saved memory, which unlike
/// an id is the same on every machine.
fn name_of(item: &Item) -> String {
    match (item.kind, &item.key) {
        (Kind::Memory, Some(key)) => sanitize_line(key, 200),
        _ => format!("#{}", item.id),
    }
}

/// The speaker of an agent's words.
pub const ASSISTANT_SPEAKER: &str = "assistant";

/// Whether its text is untrusted: a tool printed it, a file contains it or an
/// agent said it. What the user said, saved or accepted is their own word.
pub fn is_untrusted(item: &Item) -> bool {
    let is_users = match item.kind {
        Kind::Prompt => item.speaker.as_deref().is_none_or(|by| by == "user"),
        Kind::Memory => item.key.is_some() && !memories::is_foreign(item),
        kind => supersession::is_stated(kind) && item.speaker.as_deref() == Some("user"),
    };
    !is_users
}

/// The item's branch, if it is not the one that is checked out.
fn other_branch<'a>(item: &'a Item, scene: &RecallContext<'_>) -> Option<&'a str> {
    let branch = item.branch.as_deref()?;
    scene.branch.filter(|here| *here != branch).map(|_| branch)
}

#[cfg(test)]
mod tests;
