//! The item of one saved memory: redacted and truncated like every other.

use std::path::Path;

use remora_agents::field_roles;
use remora_core::detail::DetailText;
use remora_core::hash::stable_hash;
use remora_core::ids::{AgentId, SessionId};
use remora_core::record::{Item, Kind};
use remora_core::text::{collapse_controls, truncate_bytes};
use remora_core::tokens;
use remora_redact::private;
use remora_redact::{RedactionCounts, Redactor};

use super::SavedMemory;

/// Bytes of an item's text.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Bytes of its title.
const MAX_TITLE_BYTES: usize = 300;
/// Files of an item.
const MAX_FILES: usize = 20;
/// The scheme of saved memories' addresses. Items of the same kind without it have
/// no file and must not be removed for that.
const URI_SCHEME: &str = "memory://";
/// The addresses of a team's memories begin with this.
const TEAM_URI_PREFIX: &str = "memory://team/";

/// Whether an item with this key is the index of a file.
pub(crate) fn is_address(key: &str) -> bool {
    key.starts_with(URI_SCHEME)
}

/// Whether the item is of a file that lies in another checkout than this one
/// and still exists: each checkout has its own files of the team.
pub(super) fn is_of_another(item: &Item, root: Option<&Path>) -> bool {
    let path = item.detail_text(DetailText::Path);
    let is_team = item
        .key
        .as_deref()
        .is_some_and(|key| key.starts_with(TEAM_URI_PREFIX));
    let (Some(root), Some(path), true) = (root, path.map(Path::new), is_team) else {
        return false;
    };
    let real = root.canonicalize();
    let inside = path.starts_with(root) || real.is_ok_and(|real| path.starts_with(real));
    !inside && path.is_file()
}

/// The item; `None` for a file that must not be stored.
pub(super) fn item_from_memory(
    memory: SavedMemory,
    project: &str,
    redactor: &Redactor,
) -> Option<Item> {
    let path = memory.detail.read_text(DetailText::Path);
    if !is_address(&memory.uri) || path.is_some_and(|path| redactor.denies_path(path)) {
        return None;
    }
    let mut marks = RedactionCounts::default();
    let raw_tokens = tokens::estimate_tokens(&memory.title) + tokens::estimate_tokens(&memory.text);
    let mut clean = |text: &str, most: usize| {
        let text = private::strip_private(text);
        let text = private::strip_injected(&text);
        // Truncated only after redaction: half a secret would not be recognised.
        let text = redactor.redact_text(&text, &mut marks);
        truncate_bytes(&text, most).to_owned()
    };
    let title = clean(&collapse_controls(&memory.title), MAX_TITLE_BYTES);
    let text = clean(&memory.text, MAX_TEXT_BYTES);
    let mut detail = memory.detail;
    redactor.redact_detail(&mut detail, field_roles(""), &mut marks);
    let name = stable_hash(format!("{project}\0{}", memory.uri).as_bytes());
    let mut files = memory.files;
    files.truncate(MAX_FILES);
    Some(Item {
        id: 0,
        uid: format!("memory-{name:016x}").into(),
        external_id: None,
        key: Some(memory.uri),
        kind: Kind::Memory,
        raw_tokens,
        digest_tokens: tokens::estimate_tokens(&title) + tokens::estimate_tokens(&text),
        title,
        text,
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: files,
        files_modified: Vec::new(),
        time: memory.time,
        last_time: memory.time,
        seen: 1,
        project: project.into(),
        session: SessionId::default(),
        agent: AgentId::default(),
        prompt: None,
        branch: None,
        subagent: None,
        speaker: memory.speaker,
        tool: None,
        tool_use_id: None,
        detail: Some(detail),
    })
}

/// Whether the store has this item already, under whatever id and uid.
pub(super) fn is_same_item(item: &Item, there: &Item) -> bool {
    let there = Item {
        id: item.id,
        uid: item.uid.clone(),
        ..there.clone()
    };
    *item == there
}
