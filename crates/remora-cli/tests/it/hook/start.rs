//! What a session is told at its start: of its own project, of the last
//! session, and not too much.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::den::Den;

/// A repository without a remote, as far as files tell.
fn repository(den: &Den, name: &str) -> PathBuf {
    den.sandbox
        .write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
    den.sandbox.path(name)
}

#[test]
fn there_is_nothing_to_tell_at_first() {
    let den = Den::new();
    let folder = repository(&den, "work/app");
    assert_eq!(den.begin("s1", &folder).context, None);
    den.drain();
    assert_eq!(den.begin("s2", &folder).context, None);
}

#[test]
fn a_project_hears_of_itself_alone() {
    let den = Den::new();
    let ours = repository(&den, "work/app");
    let theirs = repository(&den, "other/app");
    let plain = den.sandbox.path("plain/app");
    fs::create_dir_all(&plain).unwrap();
    fs::create_dir_all(ours.join("src/deep")).unwrap();
    let pointer = format!("gitdir: {}/.git/worktrees/w\n", ours.display());
    den.sandbox.write("trees/w/.git", pointer);
    den.sandbox
        .write("work/app/.git/worktrees/w/commondir", "../..\n");
    den.ran("s1", &ours, "ourword");
    den.ran("s2", &theirs, "theirword");
    den.drain();
    for (n, (place, word, other)) in [
        (ours.clone(), "ourword", "theirword"),
        (ours.join("src/deep"), "ourword", "theirword"),
        (den.sandbox.path("trees/w"), "ourword", "theirword"),
        (theirs, "theirword", "ourword"),
    ]
    .into_iter()
    .enumerate()
    {
        let context = den.begin(&format!("new{n}"), &place).context.unwrap();
        assert!(context.contains(word), "{}: {context}", place.display());
        assert!(!context.contains(other), "{}: {context}", place.display());
    }
    assert_eq!(den.begin("s9", &plain).context, None);
}

#[test]
fn earlier_sessions_are_told_and_not_the_one_that_goes_on() {
    let den = Den::new();
    let folder = repository(&den, "app");
    den.ran("s1", &folder, "oldest");
    den.ran("s2", &folder, "latest");
    den.drain();
    let told = den.begin("s3", &folder).context.unwrap();
    assert!(told.contains("latest") && told.contains("oldest"), "{told}");
    let told = den.begin("s2", &folder).context.unwrap();
    assert!(
        told.contains("oldest") && !told.contains("latest"),
        "{told}"
    );
}

#[test]
fn a_long_session_is_told_within_the_clients_limit() {
    let den = Den::new();
    let folder = repository(&den, "app");
    for n in 0..60 {
        let word = format!("word{n}-{}", "ünd weiter ".repeat(400));
        den.ran("s1", &folder, &word);
    }
    den.tell(&json!({
        "session_id": "s1",
        "cwd": folder,
        "hook_event_name": "Stop",
        "stop_hook_active": false,
        "last_assistant_message": "Everything is done. ".repeat(3000),
    }));
    den.drain();
    let context = den.begin("s2", &folder).context.unwrap();
    let length = context.encode_utf16().count();
    assert!((200..=10_000).contains(&length), "{length}");
    assert!(context.ends_with("</remora-context>"), "{context}");
}
