//! What comes back, and when: a moment of a session becomes a few rows, chosen
//! for it, and one text that a model can read. Pure: reads the store, asks about
//! files through a port, and says of everything why it was chosen.

mod candidates;
mod card;
mod change;
mod compact;
mod context_block;
mod failure;
mod freshness;
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
mod suggest;
pub(crate) mod supersession;
pub(crate) mod word_set;
mod work;

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
pub use suggest::{guard_stop, render_compaction_instructions, suggest_save};

/// What happens in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallTrigger<'a> {
    /// It begins, with nothing in the model's mind.
    Start,
    /// It goes on with everything still there.
    Resume,
    /// The client has summed up what it dropped; its summary, if it is known.
    Compact(Option<&'a str>),
    /// The person speaks.
    Prompt(&'a str),
    /// A file is about to be read; as seen from the project's root.
    Read(&'a str),
    /// A command has failed.
    Failure {
        /// The command line.
        command: &'a str,
        /// What it printed.
        error: &'a str,
    },
    /// A command has exited with 0, and what it printed tells of a failure.
    SilentFailure {
        /// The command line.
        command: &'a str,
        /// What it printed.
        printed: &'a str,
    },
    /// A file that was to be read or changed is not there; as seen from the
    /// project's root.
    Missing(&'a str),
    /// A subagent begins; the task that it was given, if it is known.
    Subagent(Option<&'a str>),
}

impl RecallTrigger<'_> {
    /// The word for it in the ledger.
    pub fn name(&self) -> &'static str {
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

/// How much may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecallLimits {
    /// Tokens at a session's start.
    pub start_tokens: u32,
    /// Rows of the index there.
    pub index_rows: usize,
    /// Summaries there.
    pub summaries: usize,
    /// Tokens at a prompt.
    pub prompt_tokens: u32,
}

/// What a file is like now, against what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// As it was.
    Same,
    /// Other contents, written at this moment, in milliseconds since 1970.
    Changed(i64),
    /// It is not there.
    Gone,
}

/// Asks about files of the project.
pub trait ProjectFiles {
    /// Whether there is no time left to look at any.
    fn is_late(&self) -> bool {
        false
    }
    /// What the file is like now; the path is as seen from the project's root.
    fn file_status(&self, path: &str, anchor: &FileFingerprint) -> FileStatus;
    /// Whether it is there.
    fn exists(&self, path: &str) -> bool;
    /// The text of a saved memory, if its file is no longer as it was: the file
    /// is the truth. `None` in it when the file is gone.
    fn read_changed_memory(&self, path: &str, size: u64, modified: i64) -> Option<Option<String>>;
}

/// What the model was given before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Nothing of it.
    Not,
    /// Its title.
    Named,
    /// What there is to say.
    Told,
}

/// Remembers what was given.
pub trait InjectionHistory {
    /// What the model has of this item: `#12` or `memory://…`.
    fn exposure(&self, item: &str) -> Exposure;
    /// Whether this was told before, such as `folder src`.
    fn has_noted(&self, what: &str) -> bool;
}

/// Where the session stands.
#[derive(Clone, Copy)]
pub struct RecallContext<'a> {
    /// The project's key.
    pub project: &'a str,
    /// What is checked out.
    pub branch: Option<&'a str>,
    /// The session.
    pub session: &'a str,
    /// The time, in milliseconds since 1970: what has ended is not in force.
    pub now: i64,
    /// Files that git says have changed, as seen from the project's root.
    pub changed: &'a [String],
    /// How more of a row is fetched, in a few words.
    pub details: &'a str,
    /// The files.
    pub disk: &'a dyn ProjectFiles,
    /// What was given.
    pub given: &'a dyn InjectionHistory,
    /// How much may be given.
    pub limits: RecallLimits,
    /// The encoder's embedding of the prompt, if one was asked for.
    pub embedding: Option<&'a PromptEmbedding>,
}

/// One thing that is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// `#12` or `memory://…`.
    pub item: String,
    /// What it is.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// Whether only its title is given.
    pub seen: Exposure,
    /// Why it was chosen.
    pub why: String,
    /// What the choice is made of.
    pub parts: Vec<(&'static str, f64)>,
    /// Whether it still holds.
    pub truth: Freshness,
    /// What it costs.
    pub tokens: u32,
}

/// Something that was looked at and is not given.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// `#12` or `memory://…`.
    pub item: String,
    /// Its title.
    pub title: String,
    /// Why not.
    pub why: String,
    /// What the choice is made of.
    pub parts: Vec<(&'static str, f64)>,
}

/// What a moment brings back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallResult {
    /// The text for the model; `None` when there is nothing to say.
    pub text: Option<String>,
    /// What is in it.
    pub given: Vec<Selected>,
    /// What is not, the best of it.
    pub passed: Vec<Rejected>,
    /// Things that need no second telling, for [`InjectionHistory::has_noted`].
    pub told: Vec<String>,
}

/// Misses that are told to whoever asks why.
const MAX_REJECTED_ITEMS: usize = 40;

impl RecallResult {
    /// Says why something is not given.
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

/// What this moment brings back.
pub fn recall(
    store: &dyn Store,
    scene: &RecallContext<'_>,
    moment: &RecallTrigger<'_>,
) -> Result<RecallResult> {
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

/// Rows of a session, the newest first; of all kinds when none is named.
fn of_session(
    store: &RecallReader<'_>,
    session: &str,
    kinds: &[Kind],
    limit: usize,
) -> Result<Vec<Item>> {
    let filter = Filter {
        session: Some(session.to_owned()),
        kinds: kinds.to_vec(),
        ..Filter::default()
    };
    store.list_items(&filter, Part::newest(limit))
}

/// The name of a row: its number, or the address of a saved memory.
fn name_of(item: &Item) -> String {
    match (item.kind, &item.key) {
        (Kind::Memory, Some(key)) => sanitize_line(key, 200),
        _ => format!("#{}", item.id),
    }
}

/// What an agent is called as a speaker.
pub const ASSISTANT_SPEAKER: &str = "assistant";

/// Whether its words may be anybody's: a tool's, a file's, an agent's. What the
/// user said, saved or accepted is theirs.
pub fn is_untrusted(item: &Item) -> bool {
    let person = match item.kind {
        Kind::Prompt => item.speaker.as_deref().is_none_or(|by| by == "user"),
        Kind::Memory => item.key.is_some() && !memories::is_foreign(item),
        kind => supersession::is_stated(kind) && item.speaker.as_deref() == Some("user"),
    };
    !person
}

/// Whether a row was made on another branch than the one that is checked out.
fn other_branch<'a>(item: &'a Item, scene: &RecallContext<'_>) -> Option<&'a str> {
    let branch = item.branch.as_deref()?;
    scene.branch.filter(|here| *here != branch).map(|_| branch)
}

#[cfg(test)]
mod tests;
