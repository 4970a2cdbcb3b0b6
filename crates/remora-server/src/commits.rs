//! Commit items: commits whose messages give a reason are read, redacted and
//! stored, each once, by a user's import or by the worker while idle.
//!
//! Git remains the source, so nothing of it is archived: a lost database is
//! filled again from the checkout (docs/design/0026).

pub(crate) mod feed;
mod history;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use remora_core::hash::stable_hash;
use remora_core::record::{Item, Kind, Project};
use remora_git::{CancelToken, CheckoutSearch, Git, GitOutcome};
use remora_memory::commit::{
    Commit, MAX_FILES, commit_item, hash_of_key, mark_reverts, read_message, reverted_by,
    reverted_hashes,
};
use remora_memory::store::{Batch, Filter, ItemWrite, PageRequest, SortOrder, Store};
use remora_redact::private;
use remora_redact::{RedactionCounts, Redactor};

use crate::ServerError;
use crate::forgotten::DeletionLog;
use crate::ignore::ProjectIgnores;

/// Items of one transaction.
const BATCH_ITEMS: usize = 256;
/// Commits whose files are listed by one command; their hashes are arguments, and
/// a command line has a limit.
const MAX_COMMITS_PER_QUERY: usize = 100;

/// Whether the worker reads commits by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitCapture {
    /// While idle.
    On,
    /// Only a user's import reads them.
    Off,
}

/// How much of a history is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitLimits {
    /// Commits that are walked, whether they say something or not.
    pub walked: usize,
    /// The newest so many whose messages say something.
    pub telling: usize,
    /// How many of them become items at a time.
    pub items: usize,
    /// Only commits since then, in milliseconds since 1970.
    pub since: Option<i64>,
}

impl CommitLimits {
    /// For a user's import.
    pub const IMPORT: Self = Self {
        walked: 100_000,
        telling: 2_000,
        items: usize::MAX,
        since: None,
    };
    /// For the worker, which comes back every hour.
    pub(crate) const BACKGROUND: Self = Self {
        walked: 20_000,
        items: 200,
        ..Self::IMPORT
    };
}

/// What decides about a commit besides its own words.
#[derive(Debug)]
pub struct CommitRules {
    redactor: Redactor,
    ignores: ProjectIgnores,
    forgotten: DeletionLog,
}

impl CommitRules {
    /// With the user's ignore patterns and deletions.
    pub fn new(redactor: Redactor, ignore: Vec<String>, forgotten: DeletionLog) -> Self {
        Self {
            redactor,
            ignores: ProjectIgnores::new(ignore),
            forgotten,
        }
    }
}

/// What was read of a history.
#[derive(Debug, Default)]
pub struct CommitScan {
    /// The items, the newest commit first.
    pub items: Vec<Item>,
    /// Commits that say something, among them those that are known.
    pub telling: usize,
    /// Those that users deleted. They are never stored, but what they revert
    /// stays reverted.
    pub forgotten: Vec<Item>,
    /// Those that changed only ignored files.
    pub ignored: usize,
    /// What was redacted in them.
    pub marks: RedactionCounts,
    /// Whether git was stopped before it was done.
    pub is_cut: bool,
}

/// Reads the history of the checkout at `project.root`, the newest first, without
/// commits whose hash `is_known`. `None` where git finds no checkout.
pub fn gather_commits(
    git: &Git,
    cancel: &CancelToken,
    project: &Project,
    rules: &mut CommitRules,
    limits: CommitLimits,
    is_known: &dyn Fn(&str) -> bool,
) -> Option<CommitScan> {
    let root = Path::new(&project.root);
    let checkout = git.open(root, CheckoutSearch::Here, cancel).ok()?;
    let mut gathered = CommitScan::default();
    let mut fresh: Vec<Item> = Vec::new();
    let end = history::read_messages(&checkout, limits, |commit| {
        gathered.telling += 1;
        if !is_known(&commit.hash)
            && let Some(item) = clean_item(rules, &commit, project, &mut gathered.marks)
        {
            if rules.forgotten.covers_item(&item) {
                gathered.forgotten.push(item);
            } else {
                fresh.push(item);
            }
        }
    });
    gathered.is_cut = end != GitOutcome::Complete && end != GitOutcome::Enough;
    // Files are asked for afterwards and only for new commits: messages need no
    // diff, and diffs are what makes `git log` slow.
    let mut fresh = fresh.into_iter().peekable();
    while gathered.items.len() < limits.items && fresh.peek().is_some() {
        let some: Vec<Item> = fresh.by_ref().take(MAX_COMMITS_PER_QUERY).collect();
        let hashes: Vec<String> = some.iter().map(|item| hash_of(item).to_owned()).collect();
        let (mut files, end) = history::read_files(&checkout, &hashes);
        if end == GitOutcome::Cancelled {
            return None;
        }
        gathered.is_cut |= end != GitOutcome::Complete;
        for (mut item, hash) in some.into_iter().zip(hashes) {
            let files = files.remove(&hash).unwrap_or_default();
            if !keep_files(&mut item, &files, rules, root, &mut gathered.marks) {
                gathered.ignored += 1;
            } else if gathered.items.len() < limits.items {
                gathered.items.push(item);
            }
        }
    }
    Some(gathered)
}

/// The redacted item of a commit, without its files.
fn clean_item(
    rules: &CommitRules,
    commit: &Commit,
    project: &Project,
    marks: &mut RedactionCounts,
) -> Option<Item> {
    let text = private::strip_private(&commit.message);
    let text = private::strip_injected(&text);
    let text = rules.redactor.redact_text(&text, marks);
    let message = read_message(&text, commit.is_merge)?;
    // The uid comes from project and hash, so that what users said about a commit
    // still applies after another import.
    let name = stable_hash(format!("{}\0{}", project.key, commit.hash).as_bytes());
    Some(commit_item(
        commit,
        message,
        &reverted_hashes(&commit.message),
        &project.key,
        format!("commit-{name:016x}").into(),
    ))
}

/// Adds the files that a commit changed, without ignored ones; `false` if it
/// changed no others.
fn keep_files(
    item: &mut Item,
    files: &[String],
    rules: &mut CommitRules,
    root: &Path,
    marks: &mut RedactionCounts,
) -> bool {
    for file in files {
        if item.files_modified.len() == MAX_FILES {
            break;
        }
        if !rules.ignores.ignores_file(root, file) {
            let file = rules.redactor.redact_text(file, marks).into_owned();
            item.files_modified.push(file);
        }
    }
    files.is_empty() || !item.files_modified.is_empty()
}

/// The result of storing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct StoredCommits {
    /// New commits.
    pub added: u64,
    /// Stored commits whose item is different now.
    pub updated: u64,
    /// Stored commits that stay as they are.
    pub unchanged: u64,
    /// Reverted commits, of all in the project.
    pub reverted: u64,
}

/// Hashes of the commits that the store has of a project.
pub(crate) fn known_commits(
    store: &dyn Store,
    project: &str,
) -> Result<HashSet<String>, ServerError> {
    let items = stored_commits(store, project)?;
    Ok(items.iter().map(|item| hash_of(item).to_owned()).collect())
}

/// Stores the commits of a scan, and marks which ones of the project are reverted
/// now. The caller must hold the worker's lock.
pub fn store_commits(
    store: &dyn Store,
    project: &Project,
    gathered: &CommitScan,
) -> Result<StoredCommits, ServerError> {
    let mut stored = StoredCommits::default();
    let overrides = store.list_overrides(Some(&project.key))?;
    let is_edited = |uid: &str| overrides.iter().any(|o| o.uid == uid && o.edit.is_some());
    let mut all = stored_commits(store, &project.key)?;
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, item) in all.iter().enumerate() {
        places.extend(item.key.clone().map(|key| (key, at)));
    }
    let mut changed: HashSet<usize> = HashSet::new();
    for item in &gathered.items {
        let key = item.key.clone().unwrap_or_default();
        match places.get(&key) {
            // What the user reworded stays, whatever the message says.
            Some(at) if is_same(item, &all[*at]) || is_edited(&all[*at].uid) => {
                stored.unchanged += 1;
            }
            Some(at) => {
                stored.updated += 1;
                all[*at] = item.clone();
                changed.insert(*at);
            }
            None => {
                stored.added += 1;
                changed.insert(all.len());
                places.insert(key, all.len());
                all.push(item.clone());
            }
        }
    }
    let stays = all.len();
    all.extend(gathered.forgotten.iter().cloned());
    changed.extend(mark_reverts(&mut all).into_iter().filter(|at| *at < stays));
    all.truncate(stays);
    let is_reverted = |item: &&Item| reverted_by(item).is_some();
    stored.reverted = all.iter().filter(is_reverted).count() as u64;
    // The oldest first, so that ids follow time within one import.
    let mut changed: Vec<&Item> = changed.into_iter().map(|at| &all[at]).collect();
    changed.sort_by(|a, b| (a.time, &a.uid).cmp(&(b.time, &b.uid)));
    for some in changed.chunks(BATCH_ITEMS) {
        store.apply(&Batch {
            projects: vec![project.clone()],
            items: some
                .iter()
                .map(|item| ItemWrite::Put((*item).clone()))
                .collect(),
            ..Batch::default()
        })?;
    }
    Ok(stored)
}

/// Whether the store has this commit as it is. The detail is not compared: it holds
/// the revert, which is computed each time.
fn is_same(item: &Item, there: &Item) -> bool {
    item.title == there.title
        && item.text == there.text
        && item.facts == there.facts
        && item.files_modified == there.files_modified
        && item.time == there.time
}

fn stored_commits(store: &dyn Store, project: &str) -> Result<Vec<Item>, ServerError> {
    let filter = Filter {
        project: Some(project.into()),
        kinds: vec![Kind::Commit],
        ..Filter::default()
    };
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: usize::MAX,
    };
    let mut items = store.list_items(&filter, page)?;
    items.retain(|item| !hash_of(item).is_empty());
    Ok(items)
}

/// The full hash of a commit's item; empty for other items.
fn hash_of(item: &Item) -> &str {
    let key = item.key.as_deref().unwrap_or_default();
    hash_of_key(key).unwrap_or_default()
}
