//! The `Store` port: where memory lives, as duties. One contract suite
//! (`testing::contract`) holds every backend to them.

use remora_core::ids::{AgentId, ItemUid, ProjectKey, SessionId};
use remora_core::record::{
    FileRecord, Injection, InjectionUse, Item, Kind, LoggedEvent, Override, Project, Session,
};
use remora_embed::Embedding;

pub use remora_core::record::ErasePlan;

use crate::prepare::{ItemPreparer, PreparedBatch};
use crate::rank::{MatchStrength, ScoreParts};
use crate::words::Query;

/// Why a store could not do its duty.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Someone else holds it, or the disk is full: worth another try later.
    #[error("the store is busy or full: {0}")]
    Again(String),
    /// The data is damaged: move it aside and rebuild.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A newer version wrote it: reading works, writing does not.
    #[error(
        "the store was written by a newer version (schema {found}, this one knows {known}); update remora to write to it"
    )]
    Newer {
        /// The schema found.
        found: u32,
        /// The newest schema this version knows.
        known: u32,
    },
    /// Nothing was ever stored in it, as while it is being made.
    #[error("the store is empty")]
    Empty,
    /// Anything else.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, StoreError>;

/// How an item is written.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemWrite {
    /// A new row; when the uid is there already, the old row is replaced and
    /// keeps its number. An item whose key is taken by a row with another uid is
    /// put instead; when both its uid and its key are there, the two rows become
    /// one, under the uid's number.
    Add(Item),
    /// As `Add`, but the number is fixed: rebuild and import keep old numbers.
    /// When another row has the number, a new one is given.
    Keep(Item),
    /// The row with this project, kind and key is replaced (it keeps its number
    /// and its uid), or added.
    Put(Item),
    /// It happened again: counts up `seen` and moves `last_time` forward. The
    /// number of an unknown row is 0.
    Again {
        /// The row.
        uid: ItemUid,
        /// When.
        time: i64,
    },
}

/// Everything that comes from one batch of events; all of it is stored, or
/// nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The ledger's new rows.
    pub events: Vec<LoggedEvent>,
    /// Projects seen; known ones get the new root.
    pub projects: Vec<Project>,
    /// Sessions as they are now; replaces what is known of each.
    pub sessions: Vec<Session>,
    /// Items.
    pub items: Vec<ItemWrite>,
    /// Files by folder; replaces what is known of each file, except that an
    /// empty `holds`, a missing anchor and a missing `from` of a file that was not
    /// removed keep the old one, `Seen` never replaces another state, and an
    /// anchor with the old contents keeps its `since`.
    pub files: Vec<FileRecord>,
    /// What was injected into sessions. A session's line that is there already
    /// stays as it is.
    pub injections: Vec<Injection>,
    /// Which of it was of use: session, line and how. The first use counts.
    pub uses: Vec<(SessionId, u32, InjectionUse)>,
    /// What users said of items; replaces what was said of each before, and an
    /// empty one takes it back. Counts for the items of the same batch already.
    pub overrides: Vec<Override>,
}

/// What names an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventKey<'a> {
    /// Its id.
    pub id: &'a str,
    /// The call it tells of.
    pub call: Option<&'a str>,
}

/// Which rows are meant. Everything given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The project's key.
    pub project: Option<ProjectKey>,
    /// Any of these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// A file, read or modified.
    pub file: Option<FileMatch>,
    /// Not before, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Before.
    pub until: Option<i64>,
    /// The session.
    pub session: Option<SessionId>,
    /// The agent.
    pub agent: Option<AgentId>,
    /// Whether looks count.
    pub looks: LookupItems,
}

/// Whether rows count that only say that something was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LookupItems {
    /// They count like others.
    #[default]
    Kept,
    /// They do not.
    LeftOut,
}

/// Tools that only look: what they found is [`Kind::Discovery`]. They are named
/// as their clients name them, because that is what rows hold; whoever opens a
/// store says which they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LookTools(pub &'static [&'static str]);

impl LookTools {
    /// Whether a row only says that something was looked at.
    pub fn is_look(self, item: &Item) -> bool {
        let tool = item.tool.as_deref().unwrap_or_default();
        item.kind == Kind::Discovery && self.0.contains(&tool)
    }
}

/// Which paths of files are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileMatch {
    /// This very path, as rows hold it: one look-up, however many paths there
    /// are.
    Exactly(String),
    /// What a user types: a path, the end of one after a `/`, or a folder
    /// above.
    Like(String),
}

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortOrder {
    /// The oldest row first.
    Oldest,
    /// The newest row first.
    Newest,
}

/// A part of a list in the order of time, then number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Which end first.
    pub order: SortOrder,
    /// Only rows beyond this number, in the order's direction; for the ledger,
    /// beyond this moment.
    pub beyond: Option<i64>,
    /// How many at most.
    pub limit: usize,
}

impl PageRequest {
    /// The newest of them.
    pub const fn newest(limit: usize) -> Self {
        Self {
            order: SortOrder::Newest,
            beyond: None,
            limit,
        }
    }
}

/// A row by either of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemRef {
    /// The short number.
    Id(i64),
    /// The name that never changes, or the one it was imported under.
    Uid(ItemUid),
}

/// A candidate of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The row.
    pub item: Item,
    /// How well it fits; larger is better; comparable within one search.
    pub score: f64,
    /// Whether every word of the query is in it.
    pub all_words: bool,
    /// Whether any word of the query is in it; otherwise it stands beside a row
    /// that has one, or means the like.
    pub any_words: bool,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// How well it fits whatever else there is; comparable between searches.
    pub fit: MatchStrength,
    /// Rows of the same project that say the very same, told by this one.
    pub same: Vec<i64>,
}

/// The part of a row that tells whether the rest of it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailRow {
    /// The number of the row.
    pub id: i64,
    /// When it was last seen, in milliseconds since 1970.
    pub last_time: i64,
    /// Its detail as JSON; empty if it has none.
    pub detail: String,
}

/// Where a row stands among others: enough to choose the one that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemHeader {
    /// The number of the row.
    pub id: i64,
    /// The number of the prompt in its session.
    pub prompt: Option<u32>,
    /// When it happened, in milliseconds since 1970.
    pub time: i64,
}

impl ItemHeader {
    /// The header of a row.
    pub fn from_item(item: &Item) -> Self {
        Self {
            id: item.id,
            prompt: item.prompt,
            time: item.time,
        }
    }
}

/// What is remembered of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectStats {
    /// The project.
    pub project: Project,
    /// Items.
    pub items: u64,
    /// Sessions.
    pub sessions: u64,
    /// When it was last worked on, in milliseconds since 1970.
    pub last: Option<i64>,
}

/// How much there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Events in the ledger.
    pub events: u64,
    /// Items by kind, only kinds that occur.
    pub items: Vec<(Kind, u64)>,
    /// Sessions.
    pub sessions: u64,
    /// Sessions of each agent, by its name.
    pub agents: Vec<(AgentId, u64)>,
    /// Projects.
    pub projects: u64,
    /// Size on disk.
    pub bytes: u64,
}

/// What may go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PruneRequest {
    /// Rows older than this, in milliseconds since 1970; what happened again
    /// is as old as the last time. Without it nothing may go.
    pub before: Option<i64>,
    /// Kinds that stay whatever their age.
    pub keep: Vec<Kind>,
    /// Only this project.
    pub project: Option<ProjectKey>,
}

/// Where memories live.
///
/// Blocking by design: callers choose the thread. One process writes (the
/// worker's lock sees to that), many may read at the same time, and a reader
/// never waits for the writer.
pub trait Store: Send {
    /// For each key whether the event, or its call, is in the ledger.
    fn are_known(&self, events: &[EventKey<'_>]) -> Result<Vec<bool>>;
    /// Writes a batch: atomic, durable when it returns, and idempotent: an event
    /// id or a uid that comes twice is there once. Returns the numbers of the
    /// rows written, in the order of the batch's items. Nothing is computed of an
    /// item here that was computed before, except of one that a user has edited:
    /// which words it has is only known where it is written.
    fn store_batch(&self, batch: &PreparedBatch<'_>) -> Result<Vec<i64>>;
    /// Prepares a batch and writes it. For many batches, see [`ItemPreparer`].
    fn apply(&self, batch: &Batch) -> Result<Vec<i64>> {
        self.store_batch(&ItemPreparer::default().prepare_batch(batch))
    }
    /// The rows that fit best within the filter, best first, as `rank` says: by
    /// their words and those of rows beside them, by what they are about, and
    /// by what they mean if the query carries a meaning. Nothing a user types
    /// is an error. An empty query gives the newest rows; one without any word,
    /// such as `***`, none.
    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>>;
    /// Rows by name, in the order asked for; unknown names are left out.
    fn find_items(&self, names: &[ItemRef]) -> Result<Vec<Item>>;
    /// Rows in the order of time.
    fn list_items(&self, filter: &Filter, page: PageRequest) -> Result<Vec<Item>>;
    /// The same rows without their texts, for whoever needs one of many.
    fn list_headers(&self, filter: &Filter, page: PageRequest) -> Result<Vec<ItemHeader>> {
        let items = self.list_items(filter, page)?;
        Ok(items.iter().map(ItemHeader::from_item).collect())
    }
    /// Sessions, the one that was used last first; of the filter only project,
    /// since, until, session and agent count, and it is enough that one moment
    /// of a session lies in the time.
    fn list_sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>>;
    /// How many sessions that would list.
    fn count_sessions(&self, filter: &Filter, limit: usize) -> Result<usize> {
        Ok(self.list_sessions(filter, limit)?.len())
    }
    /// The ledger in the order of time; the same parts of the filter count, and
    /// project and agent are those of the session.
    fn list_events(&self, filter: &Filter, page: PageRequest) -> Result<Vec<LoggedEvent>>;
    /// All projects that batches told of, by name; not those that only items
    /// mention.
    fn list_projects(&self) -> Result<Vec<Project>>;
    /// Files of a folder, or of the whole project, by folder and name.
    fn list_files(&self, project: &str, folder: Option<&str>) -> Result<Vec<FileRecord>>;
    /// One file of a folder.
    fn find_file(&self, project: &str, folder: &str, name: &str) -> Result<Option<FileRecord>>;
    /// What sessions were given, in the order of time, then line; of the filter
    /// project, since, until, session and agent count.
    fn list_injections(&self, filter: &Filter, limit: usize) -> Result<Vec<Injection>>;
    /// The row of a project, kind and key.
    fn find_by_key(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>>;
    /// The details of a project's rows of one kind, the newest first. With a
    /// query only of rows that hold all of its words, or all but one if there are
    /// three or more.
    fn details(
        &self,
        project: &str,
        kind: Kind,
        holding: Option<&Query>,
        limit: usize,
    ) -> Result<Vec<DetailRow>>;
    /// How much there is.
    fn count_contents(&self) -> Result<StoreStats>;
    /// What is remembered of each project, in the order of [`Store::list_projects`].
    fn project_activity(&self) -> Result<Vec<ProjectStats>> {
        let activity = |project: Project| {
            let filter = Filter {
                project: Some(project.key.clone()),
                ..Filter::default()
            };
            let items = self.list_items(&filter, PageRequest::newest(usize::MAX))?;
            let sessions = self.list_sessions(&filter, usize::MAX)?;
            let times = items.iter().map(|item| item.time);
            Ok(ProjectStats {
                project,
                items: items.len() as u64,
                sessions: sessions.len() as u64,
                last: times.chain(sessions.iter().map(|s| s.last)).max(),
            })
        };
        self.list_projects()?.into_iter().map(activity).collect()
    }
    /// Rows that have no meaning of this model yet, the newest first.
    fn list_unembedded(&self, model: &str, limit: usize) -> Result<Vec<Item>>;
    /// How many there are.
    fn unembedded_count(&self, model: &str) -> Result<u64>;
    /// What rows mean, by number; those that are gone are left out. Meanings of
    /// another model are forgotten with the first of a new one.
    fn store_embeddings(&self, model: &str, meanings: &[(i64, Embedding)]) -> Result<()>;
    /// Forgets all meanings; every row waits for a new one.
    fn forget_meanings(&self) -> Result<()>;
    /// Brings together what many batches wrote apart, so that searches get
    /// cheaper: a little at a time, and no reader waits. Changes nothing that
    /// can be read.
    fn optimize_index(&self) -> Result<IndexState>;
    /// Removes rows by name; unknown names are left out.
    fn remove(&self, names: &[ItemRef]) -> Result<()>;
    /// What users said of items of a project, or of all.
    fn list_overrides(&self, project: Option<&str>) -> Result<Vec<Override>>;
    /// Deletes for good: when it returns, no byte of what went is left in the
    /// store's files. What is not there is no error, so that it can be repeated.
    fn erase(&self, erase: &ErasePlan) -> Result<()>;
    /// Removes what may go, items and rows of the ledgers, and returns how many
    /// items and events went or would go. Items that users pinned, rejected or
    /// edited stay.
    fn prune(&self, prune: &PruneRequest, run: PruneMode) -> Result<u64>;
}

/// How far a store is with bringing together what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// There is more to be done.
    Partly,
    /// There is nothing to be done until something is written.
    Wholly,
}

/// Whether pruning is only asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneMode {
    /// Count only.
    Dry,
    /// Do it.
    Real,
}
