//! Notes for the worker that a memory was saved in a project. No session may ever
//! have worked there, so that no event would inform the worker.

use std::fs;
use std::io;
use std::path::PathBuf;

use remora_client::{DataPaths, make_our_folder, replace_our_file};
use remora_core::hash::stable_hash;
use remora_core::record::Project;

/// Notes that are read at once.
const MAX_HINTS: usize = 50;
/// A larger file is no note of ours.
const MAX_NOTE_BYTES: u64 = 64 * 1024;

fn hint_dir(paths: &DataPaths) -> PathBuf {
    paths.run_dir().join("saved")
}

/// Leaves a note for the worker, which reads it at its next notification.
pub fn write_hint(paths: &DataPaths, project: &Project) -> io::Result<()> {
    let folder = hint_dir(paths);
    make_our_folder(&folder)?;
    let name = stable_hash(project.key.as_bytes());
    let draft = format!(".{name:016x}-{}", std::process::id());
    let file = folder.join(format!("{name:016x}.json"));
    replace_our_file(draft.as_ref(), &file, &serde_json::to_vec(project)?)
}

/// Reads and removes the notes.
pub(super) fn drain_hints(paths: &DataPaths) -> Vec<Project> {
    let files = fs::read_dir(hint_dir(paths))
        .into_iter()
        .flatten()
        .flatten();
    let mut projects = Vec::new();
    for file in files.take(MAX_HINTS) {
        let path = file.path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let small = file.metadata().is_ok_and(|m| m.len() <= MAX_NOTE_BYTES);
        let text = small.then(|| fs::read(&path).unwrap_or_default());
        projects.extend(text.and_then(|text| serde_json::from_slice::<Project>(&text).ok()));
        let _ = fs::remove_file(&path);
    }
    projects
}
