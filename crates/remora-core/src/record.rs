//! What memory stores and returns, as values: items, sessions, projects, file
//! records and the ledger of events. Everything that people can see with
//! `--json` or `export` has its shape here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::detail::{DetailFlag, DetailList, DetailNumber, DetailText, ItemDetail};
use crate::ids::{AgentId, ItemUid, ProjectKey, SessionId};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// What an item is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Kind { $($(#[$doc])* $name,)* }

        impl Kind {
            /// All kinds, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word for it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

kinds! {
    /// Something was chosen, with its reason if one was given.
    Decision = "decision";
    /// How the user wants things done.
    Preference = "preference";
    /// The user put something right.
    Correction = "correction";
    /// A fault was fixed.
    Bugfix = "bugfix";
    /// Something new was built.
    Feature = "feature";
    /// The same behaviour in another shape.
    Refactor = "refactor";
    /// Any other modification of a file.
    Change = "change";
    /// Something was read, searched or learned.
    Discovery = "discovery";
    /// A call that failed.
    Failure = "failure";
    /// A command that ran.
    Command = "command";
    /// What a subagent brought back, or a task of the agent's own list.
    Task = "task";
    /// The user's own words.
    Prompt = "prompt";
    /// A message of an imported conversation.
    Message = "message";
    /// A checkpoint of the work.
    Summary = "summary";
    /// An error and what fixed it.
    Fix = "fix";
    /// A saved memory; the file is the truth, this is its index.
    Memory = "memory";
    /// What a commit says of itself; git is the truth, this is its index.
    Commit = "commit";
}

impl Kind {
    /// The kind with this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == text)
    }

    /// Whether it tells what was done or found, as opposed to words, summaries,
    /// fixes, memories and commits.
    pub fn is_observation(self) -> bool {
        !matches!(
            self,
            Self::Prompt | Self::Message | Self::Summary | Self::Fix | Self::Memory | Self::Commit
        )
    }

    /// Whether it holds what somebody said or concluded, as opposed to a single
    /// deed on the way.
    pub fn is_said(self) -> bool {
        let is_statement = matches!(self, Self::Decision | Self::Preference | Self::Correction);
        is_statement || !self.is_observation()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One row of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The short number people and models use; given by the store, 0 before.
    pub id: i64,
    /// The name that never changes: the event's id, with `/n` for its nth item.
    pub uid: ItemUid,
    /// The name it has where it was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Two items of a project and kind with the same key are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// One line that a user can read on its own.
    pub title: String,
    /// The compact form: diff, output, prompt, message.
    #[serde(default)]
    pub text: String,
    /// Short statements, one line each.
    #[serde(default)]
    pub facts: Vec<String>,
    /// A few words that say what it is about.
    #[serde(default)]
    pub concepts: Vec<String>,
    /// Files looked at, relative to the project where possible.
    #[serde(default)]
    pub files_read: Vec<String>,
    /// Files changed, relative to the project where possible.
    #[serde(default)]
    pub files_modified: Vec<String>,
    /// When it happened, in milliseconds since 1970.
    pub time: i64,
    /// When it happened last, if it happened again.
    #[serde(default)]
    pub last_time: i64,
    /// How often it happened.
    #[serde(default = "once")]
    pub seen: u32,
    /// The project's key.
    pub project: ProjectKey,
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentId,
    /// The number of the prompt it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u32>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The subagent that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Estimated tokens of what it was made from.
    #[serde(default)]
    pub raw_tokens: u32,
    /// Estimated tokens of title, facts and text.
    #[serde(default)]
    pub digest_tokens: u32,
    /// The structured part, by its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<ItemDetail>,
}

impl Item {
    /// A field of the detail that holds one text.
    pub fn detail_text(&self, field: DetailText) -> Option<&str> {
        self.detail.as_ref()?.read_text(field)
    }

    /// The entries of a field of the detail that holds a list of texts.
    pub fn detail_list(&self, field: DetailList) -> impl DoubleEndedIterator<Item = &str> {
        let detail = self.detail.iter();
        detail.flat_map(move |detail| detail.list_entries(field))
    }

    /// Whether a list of the detail has entries.
    pub fn has_listed(&self, field: DetailList) -> bool {
        self.detail_list(field).next().is_some()
    }

    /// A field of the detail that counts or measures.
    pub fn detail_count(&self, field: DetailNumber) -> Option<u64> {
        self.detail.as_ref()?.read_count(field)
    }

    /// Whether a field of the detail is true; `None` if it does not say.
    pub fn detail_flag(&self, field: DetailFlag) -> Option<bool> {
        self.detail.as_ref()?.read_flag(field)
    }

    /// The key that makes two runs the same command: of a command, a failure or a
    /// fix.
    pub fn command(&self) -> Option<&str> {
        self.detail_text(DetailText::Command)
    }
}

fn once() -> u32 {
    1
}

/// A working session of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The id that the client resumes it by.
    pub id: SessionId,
    /// The agent.
    pub agent: AgentId,
    /// The project's key.
    pub project: ProjectKey,
    /// The directory it began in.
    pub cwd: String,
    /// The branch seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The first event, in milliseconds since 1970.
    pub started: i64,
    /// The last event.
    pub last: i64,
    /// Why it ended; absent while it is open. `clear` does not end the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// How many prompts the user submitted.
    #[serde(default)]
    pub prompts: u32,
    /// What it was about: the first prompt, shortened.
    #[serde(default)]
    pub title: String,
}

/// A project: one repository, whatever its checkouts are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The normalised remote, else the root of the main checkout.
    pub key: ProjectKey,
    /// A short name for people.
    pub name: String,
    /// The root that was seen last.
    pub root: String,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// It was read.
    Seen,
    /// It is new.
    Added,
    /// Its contents changed.
    Changed,
    /// It came from elsewhere.
    Moved,
    /// It is gone.
    Removed,
}

/// One file in the derived record of its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The project's key.
    pub project: ProjectKey,
    /// The folder, relative to the project; empty for its root.
    pub folder: String,
    /// The name in the folder.
    pub name: String,
    /// What lives there: its main symbols.
    pub holds: String,
    /// What became of it last.
    pub state: FileState,
    /// Where it came from, if it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The session that did it.
    pub session: SessionId,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What it was like when it was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<FileFingerprint>,
}

/// What a file was like: enough to see whether it still is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFingerprint {
    /// Its bytes.
    pub size: u64,
    /// When it was written, in nanoseconds since 1970.
    pub modified: i64,
    /// Of its contents.
    pub hash: u64,
    /// Since when it holds this, in milliseconds since 1970: a file that is
    /// written again with the same contents has not changed.
    pub since: i64,
}

/// One item that was put into a session's context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The session.
    pub session: SessionId,
    /// Its line in the injection log of the session.
    pub line: u32,
    /// `#12` for an item, `memory://…` for a saved memory.
    pub item: String,
    /// The subagent whose context it was, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The recall trigger: `start`, `prompt`, `read`, `failure` and so on.
    #[serde(rename = "moment")]
    pub trigger: String,
    /// Why it was selected.
    pub why: String,
    /// What it cost, estimated.
    pub tokens: u32,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<InjectionUse>,
}

/// Evidence that an injection was of use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectionUse {
    /// How: `fetched`, `opened`, `edited` or `run`.
    pub how: String,
    /// When, in milliseconds since 1970.
    pub time: i64,
}

/// One captured event in the ledger: that it came, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedEvent {
    /// The event's id.
    pub id: String,
    /// The same call told twice has the same key, whoever told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The event's name.
    pub name: String,
    /// The session.
    pub session: SessionId,
    /// When it was captured, in milliseconds since 1970.
    pub time: i64,
    /// A few words for the timeline.
    #[serde(default)]
    pub label: String,
}

/// What a user has said of an item. It outlives the item: a rebuild, an import
/// or the same statement captured again cannot undo it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// The item's uid.
    pub uid: ItemUid,
    /// The project's key.
    pub project: ProjectKey,
    /// What the item states, normalised: other spellings of the same statement
    /// have the same key.
    pub statement: String,
    /// Since when it comes first at a session's start and is never pruned, in
    /// milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<i64>,
    /// That it is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Rejection>,
    /// The user's own words instead of the extracted ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<ItemEdit>,
}

impl Override {
    /// Whether it says nothing any more.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_none() && self.rejected.is_none() && self.edit.is_none()
    }
}

/// A user's word that an item is wrong: a tombstone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// Why, if the user gave a reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What the item is: only claims are looked for where others quote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
}

/// Words that replace those of an item; what is absent stays as extracted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemEdit {
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Vec<String>>,
    /// The words before the first edit, for taking it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Box<OriginalWords>>,
}

/// The words of an item as they were extracted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalWords {
    /// The title.
    pub title: String,
    /// The text.
    #[serde(default)]
    pub text: String,
    /// The facts.
    #[serde(default)]
    pub facts: Vec<String>,
    /// The parts of a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<ItemDetail>,
}

/// The part of a failure's or a fix's detail that tells its error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ErrorDetail {
    /// The command that failed.
    pub command: Option<String>,
    /// What it said.
    pub says: Option<Vec<String>>,
}

/// What is deleted for good, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasePlan {
    /// Items by uid, with everything that hangs on them and the record that
    /// they were injected.
    pub items: Vec<ItemUid>,
    /// Rows of the ledger of events, by id.
    pub events: Vec<String>,
    /// Sessions with the record of what was injected into them; their items and
    /// events are named above.
    pub sessions: Vec<SessionId>,
    /// Sessions that lose their title.
    pub untitled: Vec<SessionId>,
    /// Files by project, folder and name.
    pub files: Vec<(ProjectKey, String, String)>,
    /// Projects; their items, sessions and files are named above.
    pub projects: Vec<ProjectKey>,
}
