//! The derived record of a folder: what lives in it, and what was added,
//! changed, moved or removed by which session.

use remora_core::record::{FileRecord, FileState, Item};
use serde_json::Value;

use crate::capture::CapturedEvent;
use crate::symbols;

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

/// What a call did to files.
pub(crate) fn collect_file_records(event: &CapturedEvent, row: &Item) -> Vec<FileRecord> {
    if event.event.fields.contains_key("error") {
        return Vec::new();
    }
    let input = event.json_field("tool_input");
    let response = event.json_field("tool_response");
    let text = |value: Option<&Value>, path: &[&str]| -> Option<String> {
        let mut value = value?;
        for name in path {
            value = value.get(name)?;
        }
        value.as_str().map(str::to_owned)
    };
    match event.text_field("tool_name") {
        "Bash" => {
            let command = text(input, &["command"]).unwrap_or_default();
            moved_or_removed(&command, event, row)
        }
        "Read" => {
            let content = text(response, &["file", "content"]);
            build_file_records(
                row.files_read.first(),
                row,
                FileState::Seen,
                content.as_deref(),
            )
        }
        "Write" => {
            let state = match text(response, &["type"]).as_deref() {
                Some("create") => FileState::Added,
                _ => FileState::Changed,
            };
            let content = text(input, &["content"]);
            build_file_records(row.files_modified.first(), row, state, content.as_deref())
        }
        _ => build_file_records(row.files_modified.first(), row, FileState::Changed, None),
    }
}

/// A file that changed outside the agent's hands.
pub(crate) fn changed_outside(event: &CapturedEvent) -> Option<FileRecord> {
    let state = match event.text_field("event") {
        "add" => FileState::Added,
        "unlink" => FileState::Removed,
        _ => FileState::Changed,
    };
    let path = relative_to_root(event.text_field("file_path"), event.root());
    let (folder, name) = split_path(&path)?;
    Some(FileRecord {
        project: project_key(event),
        folder,
        name,
        holds: String::new(),
        state,
        from: None,
        session: event.session().into_owned(),
        time: event.envelope.at,
        anchor: None,
    })
}

fn project_key(event: &CapturedEvent) -> String {
    match &event.envelope.project {
        Some(project) => project.key.clone(),
        None => event.text_field("cwd").to_owned(),
    }
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

/// The main symbols of a file, in the order in which they stand.
fn format_main_symbols(path: &str, text: &str) -> String {
    let end = text.floor_char_boundary(MAX_SCANNED_BYTES);
    let mut names: Vec<String> = Vec::new();
    for symbol in symbols::list_symbols(path, &text[..end]) {
        if !names.contains(&symbol.name) {
            names.push(symbol.name);
        }
        if names.len() == MAX_SYMBOLS {
            break;
        }
    }
    names.join(", ")
}

/// Folder and name of a path inside the project; anything else is nobody's.
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

/// `mv`, `git mv`, `rm` and `git rm` of plain paths. Patterns, variables and
/// options that change the meaning are left alone: better nothing than wrong.
fn moved_or_removed(command: &str, event: &CapturedEvent, row: &Item) -> Vec<FileRecord> {
    let base = relative_to_root(event.text_field("cwd"), event.root());
    let inside = if base.starts_with('/') {
        ""
    } else {
        base.as_str()
    };
    let path = |word: &str| match (word.starts_with('/'), inside) {
        (true, _) => relative_to_root(word, event.root()),
        (false, "") => word.to_owned(),
        (false, inside) => format!("{inside}/{word}"),
    };
    let mut records = Vec::new();
    let mut push = |word: &str, state: FileState, from: Option<String>| {
        if let Some((folder, name)) = split_path(path(word).trim_end_matches('/')) {
            records.push(FileRecord {
                project: row.project.clone(),
                folder,
                name,
                holds: String::new(),
                state,
                from,
                session: row.session.clone(),
                time: row.time,
                anchor: None,
            });
        }
    };
    // Not by the reader of command lines: a part with anything that a shell would
    // expand or quote is passed over whole, and words no longer show that.
    for part in command.split(['\n', ';']).flat_map(|line| line.split("&&")) {
        if part.contains(['*', '?', '$', '`', '|', '>', '<', '"', '\'', '{', '\\']) {
            continue;
        }
        let mut words = part.split_whitespace().skip_while(|w| *w == "git");
        let verb = words.next().unwrap_or("");
        let words: Vec<&str> = words.filter(|w| !w.starts_with('-')).collect();
        match (verb, words.as_slice()) {
            ("rm", files) => files
                .iter()
                .for_each(|file| push(file, FileState::Removed, None)),
            ("mv", [from, to]) => {
                push(from, FileState::Removed, None);
                let name = from.rsplit('/').next().unwrap_or(from);
                let to = match to.strip_suffix('/') {
                    Some(folder) => format!("{folder}/{name}"),
                    None => (*to).to_owned(),
                };
                push(&to, FileState::Moved, Some(path(from)));
            }
            _ => {}
        }
    }
    records
}
