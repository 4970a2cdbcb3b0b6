//! A data directory that is not ours, or that leads elsewhere: a hook writes
//! nothing there, and every other command says why.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use super::den::{Den, call};

/// Everything below a folder, by name.
fn tree(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            found.push(entry.path().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_folder_of_someone_else_is_left_alone() {
    let den = Den::new();
    let home = den.paths.home();
    for folder in ["spool/letters", "run/off", "logs"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in ["thesis.txt", "spool/letters/a.txt", "logs/hook.log"] {
        fs::write(home.join(file), "mine").unwrap();
    }
    fs::set_permissions(home, fs::Permissions::from_mode(0o755)).unwrap();
    let before = tree(home);
    let project = den.sandbox.path("project");
    let done = den.hook(call("s", &project, "word").to_string());
    assert_eq!(done.raw, "");
    let start = den.hook("not an event at all");
    assert_eq!(start.raw, "");
    assert_eq!(tree(home), before);
    assert_eq!(
        fs::read_to_string(home.join("logs/hook.log")).unwrap(),
        "mine"
    );
    assert_eq!(
        fs::metadata(home).unwrap().permissions().mode() & 0o777,
        0o755
    );
    assert_eq!(den.workers(), Vec::<u32>::new());
    for args in [
        &["search", "word"][..],
        &["worker", "drain"],
        &["pause"],
        &["doctor", "--json"],
    ] {
        let done = den.remora(args).go();
        assert_ne!(done.code, Some(0), "{done}");
        let said = format!("{}{}", done.raw, done.stderr);
        assert!(
            said.contains("not a data directory of Remora"),
            "{args:?}: {said}"
        );
    }
    let status = den.remora(&["status", "--json"]).go();
    let status: Value = serde_json::from_str(&status.raw).unwrap();
    let trouble = status["data_dir_trouble"].as_str().unwrap();
    assert!(trouble.contains("`thesis.txt`"), "{trouble}");
    assert_eq!(tree(home), before);
}

#[test]
fn a_hook_follows_no_linked_folder() {
    let den = Den::new();
    den.paths.prepare_data_dir().unwrap();
    let documents = den.sandbox.path("tmp/documents");
    fs::create_dir(&documents).unwrap();
    let project = den.sandbox.path("project");
    for folder in [den.paths.run_dir(), den.paths.spool_dir()] {
        fs::remove_dir(&folder).unwrap();
        symlink(&documents, &folder).unwrap();
        let done = den.hook(call("s", &project, "word").to_string());
        assert_eq!(done.code, Some(0), "{done}");
        assert_eq!(
            tree(&documents),
            Vec::<String>::new(),
            "{}",
            folder.display()
        );
        let doctor = den.remora(&["doctor", "--json"]).go();
        assert!(doctor.raw.contains("is a link"), "{doctor}");
        fs::remove_file(&folder).unwrap();
        den.paths.prepare_data_dir().unwrap();
    }
}
