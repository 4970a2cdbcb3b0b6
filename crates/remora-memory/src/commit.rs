//! What a commit says of itself becomes an item: the reason that its message
//! gives, what it reverts, which pull request it came from. Subjects alone say
//! what, and git tells that better; a body says why.
//!
//! Pure: knows neither git nor the store.

mod message;
mod revert;
#[cfg(test)]
mod tests;

use remora_core::detail::{DetailList, DetailText, ItemDetail};
use remora_core::ids::{AgentId, ItemUid, ProjectKey, SessionId};
use remora_core::record::{Item, Kind};
use remora_core::tokens;

pub use message::{CommitMessage, read_message, reverted_hashes};
pub use revert::{mark_reverts, reverted_by};

/// Bytes of a commit's text.
const MAX_TEXT_BYTES: usize = 4 * 1024;
/// Bytes of its title.
const MAX_TITLE_BYTES: usize = 300;
/// Files of a commit that are named.
pub const MAX_FILES: usize = 20;
/// Digits of a hash that are shown.
const SHORT_HASH_CHARS: usize = 10;
/// How the keys of commits begin.
const COMMIT_KEY_PREFIX: &str = "commit:";

/// A commit as git tells it. Who wrote it is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The whole hash.
    pub hash: String,
    /// When it was written, in milliseconds since 1970.
    pub time: i64,
    /// Whether it joins branches.
    pub is_merge: bool,
    /// Subject and body, as they are.
    pub message: String,
}

/// The key that makes storing a commit idempotent.
pub fn commit_key(hash: &str) -> String {
    format!("{COMMIT_KEY_PREFIX}{hash}")
}

/// The hash in a key.
pub fn hash_of_key(key: &str) -> Option<&str> {
    key.strip_prefix(COMMIT_KEY_PREFIX)
}

/// The item of a commit whose message was read and redacted. `reverts` are the
/// hashes that the message named before that. Files are for the caller to add.
pub fn commit_item(
    commit: &Commit,
    message: CommitMessage,
    reverts: &[String],
    project: &ProjectKey,
    uid: ItemUid,
) -> Item {
    let title = truncate_text(message.title, MAX_TITLE_BYTES);
    let text = truncate_text(message.text, MAX_TEXT_BYTES);
    let short = &commit.hash[..commit.hash.floor_char_boundary(SHORT_HASH_CHARS)];
    let mut detail = ItemDetail::new().with_text(DetailText::CommitHash, Some(short));
    if !reverts.is_empty() {
        detail.set_list(DetailList::Reverts, reverts);
    }
    let facts = message
        .facts
        .iter()
        .map(|fact| tokens::estimate_tokens(fact));
    Item {
        id: 0,
        uid,
        external_id: None,
        key: Some(commit_key(&commit.hash)),
        kind: Kind::Commit,
        raw_tokens: tokens::estimate_tokens(&commit.message),
        digest_tokens: tokens::estimate_tokens(&title)
            + tokens::estimate_tokens(&text)
            + facts.fold(0, u32::saturating_add),
        title,
        text,
        facts: message.facts,
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        time: commit.time,
        last_time: commit.time,
        seen: 1,
        project: project.clone(),
        session: SessionId::default(),
        agent: AgentId::default(),
        prompt: None,
        branch: None,
        subagent: None,
        speaker: None,
        tool: None,
        tool_use_id: None,
        detail: Some(detail),
    }
}

/// The short hash of a commit's item.
pub fn short_hash(item: &Item) -> Option<&str> {
    commit_text(item, DetailText::CommitHash)
}

fn commit_text(item: &Item, field: DetailText) -> Option<&str> {
    item.detail_text(field)
        .filter(|_| item.kind == Kind::Commit)
}

fn truncate_text(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}
