//! `remora uninstall --purge`: what Remora put into its data directory goes,
//! after a yes; what it did not put there stays.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{Call, Sandbox};

fn purge<'s>(sandbox: &'s Sandbox, flags: &[&str]) -> Call<'s> {
    let agent = remora_agents::known_names()[0];
    sandbox.remora(&["uninstall", agent, "--purge"]).args(flags)
}

fn filled() -> Sandbox {
    let sandbox = Sandbox::new();
    let done = sandbox.remora(&["remember", "--user", "Ask Ann."]).go();
    assert_eq!(done.code, Some(0), "{done}");
    sandbox
}

#[test]
fn without_a_terminal_it_needs_a_yes_and_says_how_much_there_is() {
    let sandbox = filled();
    let done = purge(&sandbox, &[]).go();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(done.stderr.contains("files, "), "{done}");
    assert!(
        done.stderr
            .contains("add --yes to do it; nothing was changed"),
        "{done}"
    );
    assert!(sandbox.path("home/.remora/memory/ask-ann.md").exists());
    let done = purge(&sandbox, &["--yes"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stdout.contains("removed "), "{done}");
    assert!(!sandbox.path("home/.remora").exists());
}

#[test]
fn files_of_others_stay_and_are_named() {
    let sandbox = filled();
    sandbox.write("home/.remora/thesis.txt", "mine");
    sandbox.write("home/.remora/photos/a.jpg", "mine");
    let (done, told) = purge(&sandbox, &["--yes"]).json();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(
        told["purge"]["kept"],
        serde_json::json!(["photos", "thesis.txt"])
    );
    for file in ["thesis.txt", "photos/a.jpg"] {
        let path = sandbox.path("home/.remora").join(file);
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    }
    assert_eq!(
        fs::read_dir(sandbox.path("home/.remora")).unwrap().count(),
        2
    );
}

#[test]
fn links_go_and_what_they_lead_to_stays() {
    let sandbox = filled();
    let notes = sandbox.path("home/notes");
    fs::rename(sandbox.path("home/.remora/memory"), &notes).unwrap();
    symlink(&notes, sandbox.path("home/.remora/memory")).unwrap();
    // The data directory itself may be a link too.
    fs::rename(sandbox.path("home/.remora"), sandbox.path("home/disk")).unwrap();
    symlink("disk", sandbox.path("home/.remora")).unwrap();
    let done = purge(&sandbox, &["--yes"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(notes.join("ask-ann.md").exists());
    assert!(!sandbox.path("home/disk").exists());
    assert!(!sandbox.path("home/.remora").is_symlink());
}

#[test]
fn a_folder_that_is_not_ours_is_refused() {
    let sandbox = Sandbox::new();
    for folder in ["spool", "run", "archive"] {
        sandbox.write(&format!("home/.remora/{folder}/letter.txt"), "mine");
    }
    sandbox.write("home/.remora/thesis.txt", "mine");
    let done = purge(&sandbox, &["--yes"]).go();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(sandbox.path("home/.remora/spool/letter.txt").exists());
}
