//! The derived record of a folder: what lives in it, and what was added,
//! changed, moved or removed by which session.

mod shell;

use remora_core::agent_event::{EventKind, WatchedChange};
use remora_core::record::{FileRecord, FileState, Item};
use remora_core::tool_call::{FileChange, FileEdit, OutputDetail, ToolCall, ToolOutcome, ToolUse};

use self::shell::PathChange;
use crate::capture::CapturedEvent;
use crate::symbols::{self, Symbol};

/// Symbols that are named of a file.
const MAX_SYMBOLS: usize = 10;
/// Text that is looked through for them.
const MAX_SCANNED_BYTES: usize = 256 * 1024;

/// A path as seen from the project's root, where it lies in it.
pub(crate) fn relative_to_root(path: &str, root: &str) -> String {
    let inside = path
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'))
        // Some tools join paths with a slash too many.
        .map(|rest| rest.trim_start_matches('/'))
        .filter(|rest| !root.is_empty() && !rest.is_empty());
    inside.unwrap_or(path).to_owned()
}

/// What a call did to files; `row` is the first that came of it, and `holds` what a
/// file that was read holds, if that is known already.
pub(crate) fn collect_file_records(
    event: &CapturedEvent,
    tool: &ToolUse,
    outcome: &ToolOutcome,
    row: &Item,
    holds: Option<String>,
) -> Vec<FileRecord> {
    let ToolOutcome::Done(output) = outcome else {
        return Vec::new();
    };
    let modified = row.files_modified.first();
    match &tool.call {
        ToolCall::Shell(shell) => moved_or_removed(&shell.command, event, row),
        // A read of the whole file also tells what is in it, without another
        // look at the disk.
        ToolCall::ReadFile(read) if !read.is_notebook_tool => {
            let content = match &output.detail {
                OutputDetail::File(file) if holds.is_none() => file.content.as_deref(),
                _ => None,
            };
            let path = row.files_read.first();
            let mut records = build_file_records(path, row, FileState::Seen, content);
            if let (Some(record), Some(holds)) = (records.first_mut(), holds) {
                record.holds = holds;
            }
            records
        }
        ToolCall::EditFiles(files) => files
            .iter()
            .flat_map(|edit| record_file_edit(edit, row, event.root()))
            .collect(),
        _ => build_file_records(modified, row, FileState::Changed, None),
    }
}

/// What an edit did to its file, if the call named it.
fn record_file_edit(edit: &FileEdit, row: &Item, root: &str) -> Vec<FileRecord> {
    // Only what the call itself named: a path guessed from its answer would
    // attach records to the wrong file.
    if !edit.is_named {
        return Vec::new();
    }
    let path = relative_to_root(&edit.path, root);
    let content = edit.new.as_deref().filter(|_| edit.is_whole_file);
    let state = match &edit.change {
        // A creation that does not show the whole file may have overwritten one
        // that was there.
        FileChange::Created if edit.is_whole_file => FileState::Added,
        FileChange::Created | FileChange::Updated => FileState::Changed,
        FileChange::Deleted => FileState::Removed,
        FileChange::Moved { from } => {
            let from = relative_to_root(from, root);
            let mut records = build_file_records(Some(&from), row, FileState::Removed, None);
            let moved = build_file_records(Some(&path), row, FileState::Moved, content);
            records.extend(moved.into_iter().map(|record| FileRecord {
                from: Some(from.clone()),
                ..record
            }));
            return records;
        }
    };
    build_file_records(Some(&path), row, state, content)
}

/// A file that changed outside the agent's hands.
pub(crate) fn changed_outside(event: &CapturedEvent) -> Option<FileRecord> {
    let EventKind::FileChanged { path, change } = &event.event.kind else {
        return None;
    };
    let state = match change {
        WatchedChange::Added => FileState::Added,
        WatchedChange::Removed => FileState::Removed,
        WatchedChange::Changed => FileState::Changed,
    };
    let path = relative_to_root(path, event.root());
    let (folder, name) = split_path(&path)?;
    Some(FileRecord {
        project: event.project().into(),
        folder,
        name,
        holds: String::new(),
        state,
        from: None,
        session: event.session().to_owned(),
        time: event.envelope.at,
        anchor: None,
    })
}

fn build_file_records(
    path: Option<&String>,
    row: &Item,
    state: FileState,
    content: Option<&str>,
) -> Vec<FileRecord> {
    let Some((path, (folder, name))) = path.and_then(|p| Some((p, split_path(p)?))) else {
        return Vec::new();
    };
    let holds = content.map_or_else(String::new, |text| format_main_symbols(path, text));
    vec![FileRecord {
        project: row.project.clone(),
        folder,
        name,
        holds,
        state,
        from: None,
        session: row.session.clone(),
        time: row.time,
        anchor: None,
    }]
}

/// The main symbols of a file.
fn format_main_symbols(path: &str, text: &str) -> String {
    // Generated files run to megabytes, and ten symbols stand near the top.
    let end = text.floor_char_boundary(MAX_SCANNED_BYTES);
    join_first_names(&symbols::list_symbols(path, &text[..end]))
}

/// The same of a text whose symbols are known; nothing if a part of it would do.
pub(crate) fn join_main_symbols(text: &str, symbols: &[Symbol]) -> Option<String> {
    (text.len() <= MAX_SCANNED_BYTES).then(|| join_first_names(symbols))
}

/// In the order in which they stand.
fn join_first_names(symbols: &[Symbol]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for symbol in symbols {
        if !names.contains(&symbol.name.as_str()) {
            names.push(&symbol.name);
        }
        if names.len() == MAX_SYMBOLS {
            break;
        }
    }
    names.join(", ")
}

/// Folder and name of a path inside the project; a path outside belongs to no
/// record.
fn split_path(path: &str) -> Option<(String, String)> {
    if path.is_empty() || path.starts_with(['/', '~']) || path.starts_with("..") {
        return None;
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    Some(match path.rsplit_once('/') {
        Some((folder, name)) => (folder.to_owned(), name.to_owned()),
        None => (String::new(), path.to_owned()),
    })
}

/// What a command line moved or removed.
fn moved_or_removed(command: &str, event: &CapturedEvent, row: &Item) -> Vec<FileRecord> {
    let root = event.root();
    let resolve = |word: &str| resolve_path(word, &event.event.cwd, root);
    let record = |path: &str, state: FileState, from: Option<String>| {
        let records = build_file_records(Some(&path.to_owned()), row, state, None);
        records
            .into_iter()
            .map(move |record| FileRecord {
                from: from.clone(),
                ..record
            })
            .collect::<Vec<_>>()
    };
    let changes = shell::list_path_changes(command, &event.event.cwd);
    let records = changes.iter().flat_map(|change| match change {
        PathChange::Removed(path) => record(&resolve(path), FileState::Removed, None),
        PathChange::Moved { from, to } => {
            let from = resolve(from);
            let mut records = record(&from, FileState::Removed, None);
            records.extend(record(&resolve(to), FileState::Moved, Some(from)));
            records
        }
    });
    records.collect()
}

/// A word of a command line as a path from the project's root, where it lies in it.
fn resolve_path(word: &str, cwd: &str, root: &str) -> String {
    // What the shell expands to a home directory is outside.
    if word.starts_with('~') {
        return word.to_owned();
    }
    let path = if word.starts_with('/') {
        word.to_owned()
    } else {
        format!("{cwd}/{word}")
    };
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    relative_to_root(&format!("/{}", names.join("/")), root)
}
