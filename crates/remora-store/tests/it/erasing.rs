//! What is erased leaves no byte in the store's files: not in rows, the word
//! index, pages that were freed, or the journal.

use std::fs;

use remora_core::record::{FileRecord, FileState, Item};
use remora_memory::store::{Batch, ErasePlan, Filter, ItemWrite, PageRequest, Store};
use remora_memory::testing::{LOOK_TOOLS, event, item, session};
use remora_store::Access;

/// One word, so that the index holds it as a term of its own.
const MARKER: &str = "qzxjvkwplorem7731";

fn holding(folder: &std::path::Path, needle: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    files
        .filter(|path| {
            let bytes = fs::read(path).unwrap();
            let mut windows = bytes.windows(needle.len());
            windows.any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        })
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

fn row(n: usize, text: &str) -> Item {
    Item {
        session: format!("session-{}", n % 3).into(),
        text: format!("{text} {}", "filler words of a row ".repeat(20)),
        facts: vec![text.to_owned()],
        files_read: vec![format!("src/{text}.rs")],
        branch: Some(format!("feature/{text}")),
        ..item(&format!("e{n}/0"), &format!("row {n} {text}"))
    }
}

#[test]
fn no_byte_of_what_was_erased_is_left() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("remora.db");
    let store = remora_store::open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    for n in 0..300 {
        let text = if n == 150 { MARKER } else { "usual" };
        let mut first = session("session-0", 9);
        first.title = format!("about {MARKER}");
        let mut label = event(&format!("e{n}"), 1_000);
        label.label = format!("label {text}");
        store
            .apply(&Batch {
                events: vec![label],
                sessions: vec![first],
                items: vec![ItemWrite::Add(row(n, text))],
                files: vec![FileRecord {
                    project: "project".into(),
                    folder: "src".to_owned(),
                    name: format!("{text}.rs"),
                    holds: text.to_owned(),
                    state: FileState::Changed,
                    from: None,
                    session: "session-0".into(),
                    time: 1,
                    anchor: None,
                }],
                ..Batch::default()
            })
            .unwrap();
    }
    // An older version of a row, which its page may still hold.
    store
        .apply(&Batch {
            items: vec![
                ItemWrite::Add(row(7, MARKER)),
                ItemWrite::Add(row(7, "usual")),
            ],
            ..Batch::default()
        })
        .unwrap();
    assert!(!holding(home.path(), MARKER).is_empty());
    store
        .erase(&ErasePlan {
            items: vec!["e150/0".into()],
            events: vec!["e150".to_owned()],
            untitled: vec!["session-0".into()],
            files: vec![("project".into(), "src".to_owned(), format!("{MARKER}.rs"))],
            ..ErasePlan::default()
        })
        .unwrap();
    // The index leaves out what a term shares with the one before.
    for part in [MARKER, &MARKER[3..], &MARKER[MARKER.len() - 8..]] {
        assert_eq!(holding(home.path(), part), Vec::<String>::new(), "{part}");
    }
    let left = store
        .list_items(&Filter::default(), PageRequest::newest(999))
        .unwrap();
    assert_eq!(left.len(), 299);
    assert_eq!(store.check_integrity().unwrap(), Vec::<String>::new());
    let again = remora_store::open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    assert_eq!(again.count_contents().unwrap().events, 299);
}
