//! What a session is told at its start: of its own project, of the last
//! session, and not too much.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
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
    let back = format!("{}\n", den.sandbox.text("trees/w/.git"));
    den.sandbox.write("work/app/.git/worktrees/w/gitdir", back);
    den.decided("s1", &ours, "ourword");
    den.decided("s2", &theirs, "theirword");
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

/// Gives it a remote, or another one.
fn remote(den: &Den, name: &str, url: &str) {
    let config = format!("[remote \"origin\"]\nurl = {url}\n");
    den.sandbox.write(&format!("{name}/.git/config"), config);
}

#[test]
fn a_folder_that_gets_a_remote_is_the_same_project() {
    let den = Den::new();
    let app = repository(&den, "work/app");
    den.decided("s1", &app, "oldword");
    den.drain();
    remote(&den, "work/app", "git@h.org:acme/app.git");
    for session in ["s2", "s3"] {
        let context = den.begin(session, &app).context.unwrap();
        assert!(context.contains("oldword"), "{session}: {context}");
        den.drain();
    }
    let keys = |den: &Den| {
        let items = den.items().into_iter();
        items.map(|item| item.project).collect::<Vec<_>>()
    };
    assert_eq!(keys(&den), ["h.org/acme/app"; 2]);
    den.stop();
    assert_eq!(den.remora(&["rebuild"]).go().code, Some(0));
    assert_eq!(
        keys(&den),
        ["h.org/acme/app"; 2],
        "made anew from the archive"
    );
}

#[test]
fn a_remote_that_changes_is_told_once_and_joined_when_asked() {
    let den = Den::new();
    let app = repository(&den, "project");
    remote(&den, "project", "git@h.org:acme/old.git");
    den.decided("s1", &app, "oldword");
    den.drain();
    remote(&den, "project", "git@h.org:acme/new.git");
    let begin = |session: &str| {
        let event = json!({"session_id": session, "transcript_path": "/t", "cwd": app,
            "hook_event_name": "SessionStart", "source": "startup"});
        let call = den
            .remora(&["hook", "claude-code"])
            .environment("CLAUDE_CODE_SESSION_ATTENDED", "1");
        let answer = call.stdin(event.to_string()).go().raw;
        den.drain();
        answer
    };
    let told = begin("s2");
    assert!(
        told.contains("`remora projects join h.org/acme/old`"),
        "{told}"
    );
    assert!(!told.contains("oldword"), "{told}");
    let told = begin("s3");
    assert!(!told.contains("projects join"), "said once: {told}");
    den.stop();
    let call = |args: &[&str]| den.remora(args).go();
    let doctor = call(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("-> `remora projects join h.org/acme/old`"),
        "{doctor}"
    );
    let join = ["projects", "join", "h.org/acme/old"];
    assert_snapshot!(call(&[&join[..], &["--dry-run"]].concat()), @"
    $ remora projects join h.org/acme/old --dry-run
    2 items and 1 session would go from h.org/acme/old to h.org/acme/new
    exit 0
    ");
    assert_snapshot!(call(&join), @"
    $ remora projects join h.org/acme/old
    2 items and 1 session went from h.org/acme/old to h.org/acme/new
    exit 0
    ");
    assert!(begin("s4").contains("oldword"));
    let lived = call(&["projects", "join", "h.org/acme/new", "h.org/acme/old"]);
    assert_snapshot!(lived.stderr, @"remora: `h.org/acme/new` is still the project of [PROJECT]; only one that no folder has any more can be joined");
}

#[test]
fn a_session_of_before_is_told_what_a_new_one_is() {
    let den = Den::new();
    let app = repository(&den, "work/app");
    den.decided("s1", &app, "oldword");
    den.drain();
    let resumed = |session: &str| {
        let event = json!({"session_id": session, "transcript_path": "/t", "cwd": app,
            "hook_event_name": "SessionStart", "source": "resume"});
        den.tell(&event).to_string()
    };
    assert!(resumed("before").contains("oldword"));
    assert!(!resumed("s1").contains("oldword"), "it has it in mind");
}

#[test]
fn earlier_sessions_are_told_and_not_the_one_that_goes_on() {
    let den = Den::new();
    let folder = repository(&den, "app");
    den.decided("s1", &folder, "oldest");
    den.decided("s2", &folder, "latest");
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
        den.decided("s1", &folder, &word);
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
