//! Whether the user approved imports from outside the project. The client's own
//! record is read, never written: approving there is the client's dialog.

use std::path::Path;

use serde_json::Value;

use crate::disk;
use crate::names::{self, key};
use crate::paths::InstructionPaths;

/// Whether the client has recorded an approval for a project.
pub(crate) fn in_client(places: &InstructionPaths, root: &Path) -> bool {
    let folder = places.config_dir.as_ref().unwrap_or(&places.home);
    // Without a readable record nothing is approved: that is the safe answer.
    let Ok(bytes) = disk::read_bytes(&folder.join(names::CLIENT_STATE_FILE)) else {
        return false;
    };
    let book: Option<Value> = serde_json::from_slice(&bytes).ok();
    book.as_ref()
        .and_then(|b| b.get(key::CLIENT_STATE_PROJECTS)?.get(root.to_str()?))
        .and_then(|p| p.get(key::EXTERNAL_APPROVED))
        .is_some_and(|v| v == true)
}
