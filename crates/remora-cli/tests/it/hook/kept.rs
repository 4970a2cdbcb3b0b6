//! What is kept of the events, who may read it, and what is never kept.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use remora_core::EVENTS;
use serde_json::{Value, json};

use super::den::{Den, call, files_below};

/// Everything an agent has been seen to send, by the event's name: the first
/// recording of each.
fn recorded() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/claude-code");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let mut found = BTreeMap::new();
    for file in files {
        let event: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let name = event["hook_event_name"].as_str().unwrap().to_owned();
        found.entry(name).or_insert(event);
    }
    found
}

#[test]
fn every_event_is_taken_and_stands_in_the_ledger_once() {
    let den = Den::new();
    let events = recorded();
    assert_eq!(events.len(), EVENTS.len());
    for (name, event) in &events {
        let said = den.hook(event.to_string()).raw;
        // What a summary should keep is only said once something was stored.
        if name == "PreCompact" {
            continue;
        }
        let silent = ["PostCompact", "WorktreeCreate"].contains(&name.as_str());
        assert_eq!(said.is_empty(), silent, "{name}: {said}");
    }
    den.drain();
    let mut names: Vec<String> = den.events().into_iter().map(|row| row.name).collect();
    names.sort_unstable();
    assert_eq!(names, events.into_keys().collect::<Vec<_>>());
    assert_eq!(remora_server::dead_letters(&den.paths).unwrap(), []);
}

#[test]
fn what_is_private_or_ours_is_never_stored() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    let prompt = "publicword <private>hiddenword one</private> \
                  <remora-context>echoedword</remora-context> more";
    den.tell(&json!({
        "session_id": "s", "cwd": folder, "hook_event_name": "UserPromptSubmit",
        "permission_mode": "default", "prompt": prompt,
    }));
    let mut ran = call("s", &folder, "other");
    ran["tool_response"]["stdout"] = json!(format!("{prompt} <private>hiddenword without an end"));
    den.tell(&ran);
    den.tell(&json!({
        "session_id": "s", "cwd": folder, "hook_event_name": "Stop",
        "stop_hook_active": false, "last_assistant_message": prompt,
    }));
    // Also in what could not be understood.
    den.hook(format!("no event {prompt}"));
    den.drain();
    den.stop();
    let mut archived = String::new();
    for file in files_below(&den.paths.archive_dir()) {
        remora_server::archive::read_events(&file, |event| {
            archived.push_str(&serde_json::to_string(&event).unwrap());
        })
        .unwrap();
    }
    let mut all = vec![archived.into_bytes()];
    all.extend(
        files_below(den.paths.home())
            .iter()
            .filter_map(|f| fs::read(f).ok()),
    );
    let holds = |word: &str| {
        let found = |bytes: &Vec<u8>| bytes.windows(word.len()).any(|w| w == word.as_bytes());
        all.iter().filter(|bytes| found(bytes)).count()
    };
    // The archive, the database and the dead letter.
    assert!(holds("publicword") >= 3);
    assert_eq!((holds("hiddenword"), holds("echoedword")), (0, 0));
}

#[test]
fn everything_is_for_the_owner_alone_whatever_the_mask() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "masked").to_string();
    let file = den.sandbox.write("event.json", event);
    let run = |ear: bool| {
        let line = "umask 000; exec \"$1\" hook claude-code < \"$2\"";
        let ear =
            ear.then(|| std::os::unix::net::UnixListener::bind(den.paths.socket_file()).unwrap());
        let done = den
            .command("/bin/sh")
            .args(["-c", line, "sh", env!("CARGO_BIN_EXE_remora")])
            .arg(&file)
            .output()
            .unwrap();
        assert!(done.status.success());
        ear
    };
    // Made by the hook.
    run(false);
    den.worker();
    den.drain();
    open_to_others(den.paths.home());
    den.stop();
    // And while an event waits.
    let _ear = run(true);
    assert_eq!(den.spooled().len(), 1);
    open_to_others(&den.paths.spool_dir());
}

/// Fails when anybody but the owner may do anything here.
fn open_to_others(folder: &Path) {
    let mut all = files_below(folder);
    assert!(!all.is_empty());
    all.push(folder.to_path_buf());
    for path in all {
        let meta = fs::metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o777;
        // A folder that nobody else enters keeps its files; those that hold
        // what was captured are closed all the same.
        let run = path.parent().is_some_and(|p| p.ends_with("run"));
        if meta.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
        } else if !run {
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
}
