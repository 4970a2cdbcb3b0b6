//! A call that changes several files: a row and a record for each.

use remora_core::agent_event::EventKind;
use remora_core::record::{FileRecord, FileState, Item};
use remora_core::tool_call::{
    CallTarget, FileChange, FileEdit, Hunk, ToolCall, ToolFailure, ToolOutcome, ToolOutput, ToolUse,
};

use super::*;
use crate::store::Batch;

/// What a call that makes these edits comes to.
fn extract_edits(edits: Vec<FileEdit>, outcome: ToolOutcome) -> Batch {
    let fields = json!({ "hook_event_name": "PostToolUse" });
    let mut event = captured(7, fields.as_object().unwrap().clone());
    let tool = ToolUse {
        id: Some("call_1".into()),
        name: "patch".to_owned(),
        rule: None,
        target: CallTarget::Arguments(Value::Null),
        call: ToolCall::EditFiles(edits),
    };
    event.event.kind = EventKind::ToolFinished(tool, outcome);
    let digest = Extractor::new(CapturePolicy::default())
        .extract_items(&MemoryStore::default(), &[&event])
        .unwrap();
    digest.batch
}

fn done() -> ToolOutcome {
    ToolOutcome::Done(ToolOutput::default())
}

fn added_items(batch: &Batch) -> Vec<&Item> {
    let items = batch.items.iter().map(|write| match write {
        ItemWrite::Add(item) => item,
        other => panic!("no new row but {other:?}"),
    });
    items.collect()
}

fn edit(path: &str, change: FileChange) -> FileEdit {
    FileEdit::new(&format!("{ROOT}/{path}"), change)
}

fn moved(from: &str, path: &str) -> FileEdit {
    let from = format!("{ROOT}/{from}");
    edit(path, FileChange::Moved { from })
}

fn replaced_line() -> Vec<Hunk> {
    vec![Hunk {
        lines: vec!["-let a = 1;".to_owned(), "+let a = 2;".to_owned()],
        ..Hunk::default()
    }]
}

fn file_states(files: &[FileRecord]) -> Vec<(String, FileState, Option<&str>)> {
    let states = files.iter().map(|file| {
        let path = format!("{}/{}", file.folder, file.name);
        (path, file.state, file.from.as_deref())
    });
    states.collect()
}

#[test]
fn every_file_of_a_call_has_a_row_and_a_record() {
    let mut created = edit("src/new.rs", FileChange::Created);
    created.new = Some("pub fn fresh() {}\n".to_owned());
    created.is_whole_file = true;
    let mut updated = edit("src/main.rs", FileChange::Updated);
    updated.hunks = replaced_line();
    let batch = extract_edits(
        vec![
            created,
            updated,
            edit("src/x.rs", FileChange::Deleted),
            moved("src/a.rs", "src/b.rs"),
        ],
        done(),
    );
    let items = added_items(&batch);
    let uids: Vec<&str> = items.iter().map(|item| item.uid.as_str()).collect();
    assert_eq!(uids, ["e7", "e7/1", "e7/2", "e7/3"]);
    let files: Vec<&[String]> = items.iter().map(|item| &*item.files_modified).collect();
    assert_eq!(
        files,
        [
            &["src/new.rs".to_owned()][..],
            &["src/main.rs".to_owned()],
            &["src/x.rs".to_owned()],
            &["src/b.rs".to_owned(), "src/a.rs".to_owned()],
        ]
    );
    assert_eq!(items[2].title, "Deleted src/x.rs");
    assert_eq!(items[3].title, "Moved src/a.rs to src/b.rs");
    assert_eq!(items[3].kind, Kind::Refactor);
    assert!(items.iter().all(|item| {
        item.tool.as_deref() == Some("patch") && item.tool_use_id.as_deref() == Some("call_1")
    }));
    assert_eq!(
        file_states(&batch.files),
        [
            ("src/new.rs".to_owned(), FileState::Added, None),
            ("src/main.rs".to_owned(), FileState::Changed, None),
            ("src/x.rs".to_owned(), FileState::Removed, None),
            ("src/a.rs".to_owned(), FileState::Removed, None),
            ("src/b.rs".to_owned(), FileState::Moved, Some("src/a.rs")),
        ]
    );
    assert_eq!(batch.files[0].holds, "fresh");
}

#[test]
fn a_file_that_moved_and_changed_says_how() {
    let mut both = moved("src/a.rs", "src/b.rs");
    both.hunks = replaced_line();
    let batch = extract_edits(vec![both], done());
    let items = added_items(&batch);
    assert_eq!(items[0].title, "Moved src/a.rs to src/b.rs");
    assert!(
        items[0].facts[0].contains("src/b.rs"),
        "{:?}",
        items[0].facts
    );
    assert!(items[0].text.contains("+let a = 2;"), "{}", items[0].text);
}

#[test]
fn files_beyond_the_rows_of_a_call_are_named_in_the_last() {
    let edits = |count: usize| -> Vec<FileEdit> {
        (0..count)
            .map(|n| edit(&format!("src/f{n}.rs"), FileChange::Deleted))
            .collect()
    };
    let batch = extract_edits(edits(20), done());
    assert!(added_items(&batch)[19].facts.is_empty());
    let batch = extract_edits(edits(22), done());
    let items = added_items(&batch);
    assert_eq!(items.len(), 20);
    assert_eq!(
        items[19].facts,
        ["and 2 more files: src/f20.rs, src/f21.rs"]
    );
    assert!(items[18].facts.is_empty());
    assert_eq!(batch.files.len(), 22);
}

#[test]
fn a_call_that_failed_changed_nothing() {
    let failure = ToolFailure {
        text: "no such file".to_owned(),
        plain_text: "no such file".to_owned(),
        ..ToolFailure::default()
    };
    let edits = vec![
        edit("src/a.rs", FileChange::Updated),
        edit("src/b.rs", FileChange::Deleted),
    ];
    let batch = extract_edits(edits, ToolOutcome::Failed(failure));
    let items = added_items(&batch);
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].kind, Kind::Failure);
    assert!(batch.files.is_empty());
}
