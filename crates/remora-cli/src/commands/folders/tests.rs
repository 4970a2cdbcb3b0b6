//! What the worker does in spare time, on a project outside git.

use remora_client::{PauseEntry, PauseScope};
use remora_core::record::{Item, Kind, Project, Session};
use remora_memory::store::{Batch, ItemWrite};

use super::*;

/// A data directory and a project in which a file was changed just now.
fn worked(dir: &Path) -> (DataPaths, PathBuf, String) {
    let dir = dir.canonicalize().unwrap();
    let root = dir.join("shop");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/cart.rs"), "x").unwrap();
    let paths = DataPaths::new(dir.join("data"));
    paths.prepare_data_dir().unwrap();
    let key = remora_client::locate_project(&paths, &root, None)
        .project
        .key;
    let now = clock::now_ms();
    let store = remora_server::open_database(&paths.database_file(), Access::Write).unwrap();
    let item: Item = serde_json::from_value(json!({
        "id": 0, "uid": "u1", "kind": Kind::Change, "title": "Changed total",
        "files_modified": ["src/cart.rs"], "time": now, "project": key, "session": "s",
        "agent": "a",
    }))
    .unwrap();
    let session: Session = serde_json::from_value(json!({
        "id": "s", "agent": "a", "project": key, "cwd": root, "started": now, "last": now,
    }))
    .unwrap();
    let project = Project {
        key: key.clone(),
        name: "shop".to_owned(),
        root: root.display().to_string(),
    };
    let batch = Batch {
        projects: vec![project],
        sessions: vec![session],
        items: vec![ItemWrite::Add(item)],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    (paths, root, key.into_string())
}

#[test]
fn projects_with_work_today_are_renewed_once() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, root, _) = worked(dir.path());
    assert_eq!(
        refresh_notes(&paths).as_deref(),
        Some("folders: 1 file renewed")
    );
    let text = fs::read_to_string(root.join("src/CLAUDE.md")).unwrap();
    assert!(text.contains("| Changed total | change | #1 |"), "{text}");
    assert_eq!(refresh_notes(&paths), None);
}

#[test]
fn what_is_wrong_stands_in_no_table() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, root, key) = worked(dir.path());
    let store = remora_server::open_database(&paths.database_file(), Access::Write).unwrap();
    let said = json!({
        "uid": "u1", "project": key, "statement": "changedtotal", "rejected": {"time": 1},
    });
    let batch = Batch {
        overrides: vec![serde_json::from_value(said).unwrap()],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    assert_eq!(refresh_notes(&paths), None);
    assert!(!root.join("src/CLAUDE.md").exists());
}

#[test]
fn a_paused_project_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, root, key) = worked(dir.path());
    let mark = PauseEntry {
        what: PauseScope::Project(key),
        stops: remora_client::PauseEffect::Everything,
        since: 0,
        until: None,
    };
    Pause::for_data_dir(&paths).set_pause(&mark).unwrap();
    assert_eq!(refresh_notes(&paths), None);
    assert!(!root.join("src/CLAUDE.md").exists());
}

#[test]
fn trouble_is_one_line_for_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, root, _) = worked(dir.path());
    fs::write(paths.home().join("folders.json"), "{").unwrap();
    let said = refresh_notes(&paths).unwrap();
    assert!(
        said.contains("folders.json") && !said.contains('\n'),
        "{said}"
    );
    assert!(!root.join("src/CLAUDE.md").exists());
}
