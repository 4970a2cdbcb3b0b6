//! The row of one saved memory: redacted, capped, weighed like every other.

use std::path::Path;

use remora_agents::field_roles;
use remora_core::hash::stable_hash;
use remora_core::record::{Item, Kind};
use remora_core::text::{collapse_controls, truncate_bytes};
use remora_core::tokens;
use remora_memory::private;
use remora_memory::redact::{RedactionCounts, Redactor};
use serde_json::Value;

use super::SavedMemory;

/// Bytes of a row's text.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Bytes of its title.
const MAX_TITLE_BYTES: usize = 300;
/// Files of a row.
const MAX_FILES: usize = 20;
/// How the addresses of saved memories begin; other rows of the same kind are
/// nobody's index.
const URI_SCHEME: &str = "memory://";
/// How the addresses of a team's memories begin.
const TEAM_URI_PREFIX: &str = "memory://team/";

/// Whether a row with this key stands for a file.
pub(crate) fn is_address(key: &str) -> bool {
    key.starts_with(URI_SCHEME)
}

/// Whether the row stands for a file that lies in another checkout than this,
/// and is still there: each has its own files of the team.
pub(super) fn is_of_another(item: &Item, root: Option<&Path>) -> bool {
    let detail = item.detail.as_ref();
    let path = detail.and_then(|detail| detail.get("path")?.as_str());
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

/// The row; nothing of a file that must not be kept.
pub(super) fn item_from_memory(
    memory: SavedMemory,
    project: &str,
    redactor: &Redactor,
) -> Option<Item> {
    let path = memory.detail.get("path").and_then(Value::as_str);
    if !is_address(&memory.uri) || path.is_some_and(|path| redactor.denies_path(path)) {
        return None;
    }
    let mut marks = RedactionCounts::default();
    let raw_tokens = tokens::estimate_tokens(&memory.title) + tokens::estimate_tokens(&memory.text);
    let mut clean = |text: &str, most: usize| {
        let text = private::strip_private(text);
        let text = private::strip_injected(&text);
        // Cut only now: half a secret would not be seen for one.
        let text = redactor.redact_text(&text, &mut marks);
        truncate_bytes(&text, most).to_owned()
    };
    let title = clean(&collapse_controls(&memory.title), MAX_TITLE_BYTES);
    let text = clean(&memory.text, MAX_TEXT_BYTES);
    let mut detail = memory.detail;
    redactor.redact_json(&mut detail, field_roles(""), &mut marks);
    let name = stable_hash(format!("{project}\0{}", memory.uri).as_bytes());
    let mut files = memory.files;
    files.truncate(MAX_FILES);
    Some(Item {
        id: 0,
        uid: format!("memory-{name:016x}"),
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
        project: project.to_owned(),
        session: String::new(),
        agent: String::new(),
        prompt: None,
        branch: None,
        subagent: None,
        speaker: memory.speaker,
        tool: None,
        tool_use_id: None,
        detail: Some(detail),
    })
}

/// Whether the store has this row already, by whatever name.
pub(super) fn is_same_item(item: &Item, there: &Item) -> bool {
    let there = Item {
        id: item.id,
        uid: item.uid.clone(),
        ..there.clone()
    };
    *item == there
}
