//! A repository is a stranger: whatever its files say, it neither reads nor
//! writes the memory of another checkout until the user joins them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;

use super::den::Den;

const KEY: &str = "h.org/acme/app";
const URL: &str = "git@h.org:acme/app.git";

/// A checkout of a remote, as far as files tell.
fn checkout(den: &Den, name: &str, url: &str) {
    let config = format!("[remote \"origin\"]\n\turl = {url}\n");
    den.sandbox.write(&format!("{name}/.git/config"), config);
    den.sandbox
        .write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
}

/// What `git worktree add` leaves in both places.
fn worktree(den: &Den, of: &str, at: &str) {
    let own = format!("{of}/.git/worktrees/w");
    den.sandbox.write(&format!("{own}/commondir"), "../..\n");
    let back = format!("{}/.git\n", den.sandbox.text(at));
    den.sandbox.write(&format!("{own}/gitdir"), back);
    let pointer = format!("gitdir: {}\n", den.sandbox.text(&own));
    den.sandbox.write(&format!("{at}/.git"), pointer);
}

/// The keys of rows that hold a word.
fn keys_with(den: &Den, word: &str) -> Vec<String> {
    let items = den.items().into_iter();
    let mut keys: Vec<String> = items
        .filter(|item| format!("{} {}", item.title, item.text).contains(word))
        .map(|item| item.project.into_string())
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

type Forge = fn(&Den, &str);

/// Ways to look like another checkout, each in a folder of its own.
const STRANGERS: &[(&str, Forge)] = &[
    ("an address that ends early", |den, evil| {
        checkout(den, evil, "http://evil.example?@h.org/acme/app");
    }),
    ("an escaped slash before the host", |den, evil| {
        checkout(den, evil, "ssh://evil.example%2F@h.org/acme/app");
    }),
    ("a true address, never fetched from", |den, evil| {
        checkout(den, evil, URL);
    }),
    ("an address that is rewritten", |den, evil| {
        checkout(den, evil, "https://evil.example/x");
        let config =
            "[remote \"origin\"]\nurl = x:app\n[url \"git@h.org:acme/\"]\ninsteadOf = x:\n";
        den.sandbox.write(&format!("{evil}/.git/config"), config);
    }),
    ("the victim's folder as an address", |den, evil| {
        checkout(den, evil, &den.sandbox.text("work/app"));
    }),
    (
        "the folder of one without a remote as an address",
        |den, evil| {
            checkout(den, evil, &den.sandbox.text("work/plain"));
        },
    ),
    ("a linked config", |den, evil| {
        checkout(den, evil, URL);
        let config = den.sandbox.path(&format!("{evil}/.git/config"));
        fs::remove_file(&config).unwrap();
        symlink(den.sandbox.path("work/app/.git/config"), config).unwrap();
    }),
    ("a linked git folder", |den, evil| {
        symlink(
            den.sandbox.path("work/app/.git"),
            den.sandbox.path(evil).join(".git"),
        )
        .unwrap();
    }),
    ("a pointer to the repository", |den, evil| {
        let pointer = format!("gitdir: {}\n", den.sandbox.text("work/app/.git"));
        den.sandbox.write(&format!("{evil}/.git"), pointer);
    }),
    ("a pointer to one without a remote", |den, evil| {
        let pointer = format!("gitdir: {}\n", den.sandbox.text("work/plain/.git"));
        den.sandbox.write(&format!("{evil}/.git"), pointer);
    }),
    ("a pointer to a worktree of it", |den, evil| {
        let pointer = format!(
            "gitdir: {}\n",
            den.sandbox.text("work/app/.git/worktrees/w")
        );
        den.sandbox.write(&format!("{evil}/.git"), pointer);
    }),
    ("commondir in a git folder", |den, evil| {
        checkout(den, evil, "x");
        let common = format!("{}\n", den.sandbox.text("work/app/.git"));
        den.sandbox.write(&format!("{evil}/.git/commondir"), common);
    }),
    ("commondir in a worktree of its own", |den, evil| {
        den.sandbox
            .write(&format!("{evil}/.git"), "gitdir: own/worktrees/w\n");
        let own = format!("{evil}/own/worktrees/w");
        let common = format!("{}\n", den.sandbox.text("work/app/.git"));
        den.sandbox.write(&format!("{own}/commondir"), common);
        den.sandbox
            .write(&format!("{own}/gitdir"), "../../../.git\n");
    }),
    ("commondir to one without a remote", |den, evil| {
        den.sandbox
            .write(&format!("{evil}/.git"), "gitdir: own/worktrees/w\n");
        let own = format!("{evil}/own/worktrees/w");
        let common = format!("{}\n", den.sandbox.text("work/plain/.git"));
        den.sandbox.write(&format!("{own}/commondir"), common);
        den.sandbox
            .write(&format!("{own}/gitdir"), "../../../.git\n");
    }),
    (
        "a repository of its own whose tree is the victim's",
        |den, evil| {
            den.sandbox
                .write(&format!("{evil}/.git"), "gitdir: own/worktrees/w\n");
            let own = format!("{evil}/own/worktrees/w");
            den.sandbox.write(&format!("{own}/commondir"), "../..\n");
            den.sandbox
                .write(&format!("{own}/gitdir"), "../../../.git\n");
            let tree = den.sandbox.text("work/plain");
            let config = format!("[core]\nworktree = {tree}\n");
            den.sandbox.write(&format!("{evil}/own/config"), config);
        },
    ),
];

#[test]
fn no_stranger_reads_or_poisons_a_memory() {
    let den = Den::new();
    checkout(&den, "work/app", URL);
    worktree(&den, "work/app", "work/tree");
    den.sandbox
        .write("work/plain/.git/HEAD", "ref: refs/heads/main\n");
    let app = den.sandbox.path("work/app");
    let plain = den.sandbox.path("work/plain");
    den.decided("s1", &app, "victimword");
    den.decided("s2", &plain, "plainword");
    den.drain();
    let told = |session: &str, folder: &Path| {
        let context = den.begin(session, folder).context;
        context.unwrap_or_default()
    };
    assert!(told("tree", &den.sandbox.path("work/tree")).contains("victimword"));
    for (n, (what, forge)) in STRANGERS.iter().enumerate() {
        let evil = format!("strangers/{n}");
        fs::create_dir_all(den.sandbox.path(&evil)).unwrap();
        forge(&den, &evil);
        let folder = den.sandbox.path(&evil);
        let context = told(&format!("evil{n}"), &folder);
        assert!(
            !context.contains("victimword") && !context.contains("plainword"),
            "{what}: {context}"
        );
        den.decided(&format!("evil{n}"), &folder, &format!("poison{n}x"));
    }
    den.drain();
    let (of_app, of_plain) = (told("s3", &app), told("s4", &plain));
    assert!(
        of_app.contains("victimword") && !of_app.contains("poison"),
        "{of_app}"
    );
    assert!(
        of_plain.contains("plainword") && !of_plain.contains("poison"),
        "{of_plain}"
    );
    for (n, (what, _)) in STRANGERS.iter().enumerate() {
        let keys = keys_with(&den, &format!("poison{n}x"));
        assert_eq!(keys.len(), 1, "{what}: {keys:?}");
        assert!(
            keys[0] != KEY && keys[0] != plain.to_string_lossy(),
            "{what}"
        );
    }
}

/// A session that somebody watches begins in `project`.
fn watch(den: &Den, session: &str, folder: &Path) -> String {
    let event = json!({"session_id": session, "transcript_path": "/t", "cwd": folder,
        "hook_event_name": "SessionStart", "source": "startup"});
    let call = den
        .remora(&["hook", "claude-code"])
        .environment("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let answer = call.stdin(event.to_string()).go().raw;
    den.drain();
    answer
}

#[test]
fn a_second_clone_says_once_how_to_share_and_then_shares() {
    let den = Den::new();
    checkout(&den, "work/app", URL);
    checkout(&den, "project", "https://h.org/acme/app");
    let (first, second) = (den.sandbox.path("work/app"), den.sandbox.path("project"));
    den.decided("s1", &first, "firstword");
    den.drain();
    let answer = watch(&den, "s2", &second);
    assert!(!answer.contains("firstword"), "{answer}");
    let line = format!(
        "Remora: this checkout says it is {KEY}, which is the project of {}. It has a memory of \
         its own; if they are the same project, `remora projects join` here makes them share one.",
        first.display()
    );
    assert!(answer.contains(&line), "{answer}");
    den.decided("s2", &second, "secondword");
    den.drain();
    let again = watch(&den, "s3", &second);
    assert!(!again.contains("projects join"), "said once: {again}");
    assert!(again.contains("secondword"), "{again}");
    den.stop();
    let list = den.remora(&["projects", "--json"]).go().raw;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let of = |key: &str| {
        let all = list["projects"].as_array().unwrap().iter();
        all.clone().find(|p| p["key"] == key).unwrap().clone()
    };
    let mut held = of(KEY);
    assert!(held["last"].take().is_string());
    assert_eq!(
        held,
        json!({"key": KEY, "name": "app", "roots": [first], "waiting": [second],
            "waits_for": null, "items": 2, "sessions": 1, "last": null})
    );
    assert_eq!(of(&second.display().to_string())["waits_for"], KEY);
    assert_snapshot!(den.remora(&["projects", "join", "--dry-run"]).go(), @"
    $ remora projects join --dry-run
    2 items and 2 sessions would go from [PROJECT] to h.org/acme/app
    [PROJECT] would share the memory of h.org/acme/app
    exit 0
    ");
    assert_snapshot!(den.remora(&["projects", "join"]).go(), @"
    $ remora projects join
    2 items and 2 sessions went from [PROJECT] to h.org/acme/app
    [PROJECT] shares the memory of h.org/acme/app; `remora projects leave` undoes that
    exit 0
    ");
    for (session, folder) in [("s4", &first), ("s5", &second)] {
        let answer = watch(&den, session, folder);
        assert!(
            answer.contains("firstword") && answer.contains("secondword"),
            "{answer}"
        );
    }
    den.decided("s5", &second, "thirdword");
    den.drain();
    assert_eq!(keys_with(&den, "word"), [KEY]);
    den.stop();
    assert_eq!(den.remora(&["rebuild"]).go().code, Some(0));
    assert_eq!(keys_with(&den, "word"), [KEY], "made from the archive");
    let found = den.remora(&["search", "firstword"]).go();
    assert!(found.stdout.contains("firstword"), "{found}");
    let left = den.remora(&["projects", "leave"]).go();
    assert_eq!(left.code, Some(0), "{left}");
    assert!(!watch(&den, "s6", &second).contains("firstword"));
    assert!(watch(&den, "s7", &first).contains("firstword"));
}

/// A database from before roots were listed.
#[test]
fn the_checkout_that_a_key_was_last_seen_with_holds_it() {
    let den = Den::new();
    checkout(&den, "work/app", URL);
    worktree(&den, "work/app", "work/tree");
    checkout(&den, "evil", URL);
    let (app, tree) = (den.sandbox.path("work/app"), den.sandbox.path("work/tree"));
    den.decided("s1", &app, "oldword");
    den.decided("s2", &tree, "treeword");
    den.drain();
    fs::remove_dir_all(den.paths.roots_dir()).unwrap();
    let evil = den.begin("s3", &den.sandbox.path("evil")).context;
    assert_eq!(evil, None);
    for (session, folder) in [("s4", &app), ("s5", &tree)] {
        let context = den.begin(session, folder).context.unwrap();
        assert!(context.contains("oldword"), "{context}");
    }
    // Commands that only read ask the same question, and claim nothing.
    fs::remove_dir_all(den.paths.roots_dir()).unwrap();
    checkout(&den, "project", URL);
    den.drain();
    let found = den.remora(&["search", "oldword"]).go();
    assert!(!found.stdout.contains("keep oldword"), "{found}");
    assert!(!den.paths.roots_dir().exists());
}

#[test]
fn a_pause_of_the_project_holds_for_a_checkout_that_waits() {
    let den = Den::new();
    checkout(&den, "work/app", URL);
    den.ran("s1", &den.sandbox.path("work/app"), "firstword");
    den.drain();
    let pause = den.remora(&["pause", "--project", KEY]).go();
    assert_eq!(pause.code, Some(0), "{pause}");
    checkout(&den, "clone", URL);
    let event = super::den::call("s2", &den.sandbox.path("clone"), "secondword");
    assert_eq!(den.hook(event.to_string()).raw, "");
    den.drain();
    assert_eq!(keys_with(&den, "secondword"), Vec::<String>::new());
}

#[test]
fn a_data_directory_that_cannot_be_written_is_no_reason_to_fail() {
    let den = Den::unprivileged();
    checkout(&den, "work/app", URL);
    den.sandbox
        .write("tmp/data", "a file where the folder should be");
    let app = den.sandbox.path("work/app");
    let answer = den.hook(super::den::call("s1", &app, "word").to_string());
    assert_eq!(answer.code, Some(0));
}
