//! `remora memory`, `remember` and `forget`: facts kept as files.

mod index;

use std::fs;
use std::path::PathBuf;
use std::thread;

use serde_json::json;

use crate::sandbox::{Done, Sandbox};

/// The folder that the client keeps for the sandbox's project.
fn auto(sandbox: &Sandbox) -> PathBuf {
    let (_, value) = sandbox.remora(&["memory", "path"]).json();
    PathBuf::from(value["project"]["path"].as_str().unwrap())
}

fn go(sandbox: &Sandbox, line: &[&str]) -> Done {
    sandbox.remora(line).go()
}

#[test]
fn a_fact_is_saved_listed_shown_changed_and_removed() {
    let sandbox = Sandbox::new();
    assert_eq!(
        go(&sandbox, &["memory", "list"]).stdout,
        "nothing is saved here; `remora remember \"...\"` saves a fact\n"
    );
    let saved = go(
        &sandbox,
        &[
            "remember",
            "Never",
            "mock the database in tests. It hid a fault.",
        ],
    );
    assert_eq!(saved.code, Some(0), "{saved}");
    assert!(
        saved.stdout.starts_with(
            "saved memory://project/never-mock-the-database-in-tests (feedback, priority 3)\n"
        ),
        "{saved}"
    );
    let folder = auto(&sandbox);
    assert_eq!(
        fs::read_to_string(folder.join("MEMORY.md")).unwrap(),
        "- [Never mock the database in tests](never-mock-the-database-in-tests.md)\n"
    );
    let text = fs::read_to_string(folder.join("never-mock-the-database-in-tests.md")).unwrap();
    assert!(text.starts_with("---\nname: never-mock-the-database-in-tests\nmetadata:\n  node_type: memory\n  type: feedback\n"), "{text}");
    assert!(text.ends_with("---\n\nNever mock the database in tests. It hid a fault.\n"));
    let again = go(&sandbox, &["remember", "Never mock the database in tests"]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("is there already"), "{again}");

    let name = "never-mock-the-database-in-tests";
    let edited = go(
        &sandbox,
        &[
            "memory",
            "edit",
            name,
            "--priority",
            "1",
            "--description",
            "before writing: tests",
        ],
    );
    assert_eq!(edited.code, Some(0), "{edited}");
    let (_, shown) = sandbox.remora(&["memory", "show", name]).json();
    let memory = &shown["memories"][0];
    assert_eq!(
        (&memory["priority"], &memory["description"], &memory["type"]),
        (
            &json!(1),
            &json!("before writing: tests"),
            &json!("feedback")
        )
    );
    assert_eq!(
        memory["body"],
        "Never mock the database in tests. It hid a fault."
    );
    let listed = go(&sandbox, &["memory", "list", "--core"]);
    assert!(
        listed
            .stdout
            .contains("never-mock-the-database-in-tests * feedback  before writing: tests"),
        "{listed}"
    );
    let gone = go(
        &sandbox,
        &[
            "forget",
            "memory://project/never-mock-the-database-in-tests",
        ],
    );
    assert_eq!(gone.code, Some(0), "{gone}");
    assert_eq!(fs::read_to_string(folder.join("MEMORY.md")).unwrap(), "");
    assert_eq!(
        go(&sandbox, &["forget", name]).stderr,
        "remora: there is no memory://project/never-mock-the-database-in-tests\n"
    );
}

#[test]
fn what_should_not_be_saved_is_said_and_saved() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/CLAUDE.md",
        "# App\n\n- Use pnpm to install packages\n",
    );
    // A made-up key, put together here so that no scanner trips over this file.
    let key = format!("AKIA{}", "Q4ZK7WPLM2XN5RTB");
    let text = format!("Use pnpm to install packages, fixed in PR #12. Key: {key}");
    let (done, value) = sandbox
        .remora(&["memory", "add", "--name", "x", &text])
        .json();
    assert_eq!(done.code, Some(0), "{done}");
    let matters: Vec<&str> = value["advice"]
        .as_array()
        .unwrap()
        .iter()
        .map(|advice| advice["matter"].as_str().unwrap())
        .collect();
    assert!(matters.contains(&"secret"), "{value}");
    assert!(matters.contains(&"history"), "{value}");
    assert!(auto(&sandbox).join("x.md").exists());
    let (_, plain) = sandbox
        .remora(&["memory", "add", "Install packages with pnpm."])
        .json();
    assert_eq!(plain["advice"][0]["matter"], "already_said");
}

#[test]
fn a_secret_is_not_saved_by_adding_or_editing() {
    let sandbox = Sandbox::new();
    let key = format!("AKIA{}", "Q4ZK7WPLM2XN5RTB");
    let with = |words: &str| format!("{words} {key} <private>my diary</private>");
    let (text, other) = (with("The key is"), with("Another"));
    let added = ["remember", "--title", &text, "--description", &text, &text];
    let added = go(&sandbox, &added);
    assert_eq!(added.code, Some(0), "{added}");
    let told = "! a secret was redacted: [redacted:aws-access-key] is in its place\n";
    assert!(added.stdout.contains(told), "{added}");
    let name = "the-key-is-redacted-aws-access-key-private";
    let edit = ["memory", "edit", name, "--text", &other, "--title", &other];
    let edited = go(&sandbox, &edit);
    assert!(edited.stdout.contains(told), "{edited}");
    let only = go(&sandbox, &["memory", "edit", name, "--text", &key]);
    assert_eq!(
        only.stderr,
        "remora: the memory is nothing but a secret (aws-access-key); nothing was saved\n"
    );
    assert_eq!(sandbox.holding(&[&key, "diary"]), Vec::<String>::new());
}

#[test]
fn a_team_gets_no_secrets_and_one_index() {
    let sandbox = Sandbox::new();
    let refused = go(&sandbox, &["memory", "add", "--team", "Ask jane@acme.io"]);
    assert_eq!(refused.code, Some(1));
    assert_eq!(
        refused.stderr,
        "remora: not shared: an e-mail address on line 1\n"
    );
    for text in ["Zebra rule", "Alpha rule"] {
        go(&sandbox, &["memory", "add", "--team", text]);
    }
    let index = sandbox.path("project/.claude/team-memory/MEMORY.md");
    let made = fs::read_to_string(&index).unwrap();
    let lines: Vec<&str> = made.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "- [Alpha rule](alpha-rule.md)",
            "- [Zebra rule](zebra-rule.md)"
        ]
    );
    fs::write(&index, "<<<<<<< ours\n").unwrap();
    let check = go(&sandbox, &["memory", "index", "--team", "--check"]);
    assert_eq!(check.code, Some(1), "{check}");
    assert_eq!(go(&sandbox, &["memory", "index", "--team"]).code, Some(0));
    assert_eq!(fs::read_to_string(&index).unwrap(), made);
    sandbox.write(
        "project/.claude/team-memory/by-hand.md",
        "mail bob@acme.io\n",
    );
    let shared = go(&sandbox, &["memory", "index", "--team"]);
    assert_eq!(shared.code, Some(1));
    assert!(
        shared
            .stdout
            .contains("memory://team/by-hand should not be shared"),
        "{shared}"
    );
}

#[test]
fn names_stay_in_their_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("home/private.md", "mine\n");
    go(&sandbox, &["remember", "One thing"]);
    for name in [
        "../../private",
        "/etc/passwd",
        "a/b",
        ".",
        "MEMORY",
        "x\u{202e}y",
    ] {
        for verb in ["show", "rm", "edit", "path"] {
            let done = go(&sandbox, &["memory", verb, name]);
            assert_eq!(done.code, Some(1), "{done}");
            assert!(
                done.stderr.contains("cannot be the name of a memory"),
                "{done}"
            );
        }
        let done = go(&sandbox, &["memory", "add", "--name", name, "text"]);
        assert_eq!(done.code, Some(1), "{done}");
    }
    let link = auto(&sandbox).join("link.md");
    std::os::unix::fs::symlink(sandbox.path("home/private.md"), link).unwrap();
    let done = go(&sandbox, &["memory", "edit", "link", "--text", "changed"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("leads out of its folder"), "{done}");
    assert_eq!(
        fs::read_to_string(sandbox.path("home/private.md")).unwrap(),
        "mine\n"
    );
}

#[test]
fn one_name_in_two_places_must_be_told_apart() {
    let sandbox = Sandbox::new();
    for scope in ["project", "user"] {
        let done = go(&sandbox, &["memory", "add", "--scope", scope, "Same words"]);
        assert_eq!(done.code, Some(0), "{done}");
    }
    let done = go(&sandbox, &["forget", "same-words"]);
    assert_eq!(
        done.stderr,
        "remora: `same-words` means more than one memory; say which: memory://project/same-words, memory://user/same-words\n"
    );
    assert_eq!(
        go(&sandbox, &["forget", "--user", "same-words"]).code,
        Some(0)
    );
    assert_eq!(
        go(&sandbox, &["memory", "show", "same-words"]).code,
        Some(0)
    );
}

#[test]
fn checks_find_what_is_gone_and_are_remembered() {
    let sandbox = Sandbox::new();
    sandbox.write("project/src/here.rs", "pub fn here() {}\n");
    sandbox.shell(
        "rm -rf .git && git init -q . && git add -A && \
         git -c user.name=x -c user.email=x@example.org commit -qm one",
    );
    for (name, text) in [
        ("good", "Look at `src/here.rs` first."),
        (
            "bad",
            "Look at `src/gone_for_good.rs` first, for `GoneForGood::run()`.",
        ),
    ] {
        go(&sandbox, &["memory", "add", "--name", name, text]);
    }
    let (done, value) = sandbox.remora(&["memory", "check"]).json();
    assert_eq!(done.code, Some(1), "{done}");
    let verdict = |name: &str| {
        let list = value["memories"].as_array().unwrap();
        let memory = list.iter().find(|memory| memory["name"] == name).unwrap();
        memory["check"].clone()
    };
    assert_eq!(
        (verdict("good"), verdict("bad")),
        (json!("holds"), json!("gone"))
    );
    let listed = go(&sandbox, &["memory", "list"]);
    assert!(listed.stdout.contains("[gone]"), "{listed}");
    let review = go(&sandbox, &["memory", "review"]);
    assert!(
        review.stdout.contains("outdated") && review.stdout.contains("memory://project/bad"),
        "{review}"
    );
    go(&sandbox, &["forget", "bad"]);
    assert_eq!(go(&sandbox, &["memory", "check"]).code, Some(0));
}

#[test]
fn a_review_changes_nothing_until_asked() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/CLAUDE.md",
        "# App\n\n- Use pnpm to install packages\n",
    );
    for text in [
        "Use pnpm to install packages.",
        "Keep handlers free of business rules",
    ] {
        go(&sandbox, &["memory", "add", "--type", "feedback", text]);
    }
    let (_, before) = sandbox.remora(&["memory", "review"]).json();
    let kinds: Vec<(&str, &str)> = before["proposals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| {
            (
                p["action"].as_str().unwrap(),
                p["to"].as_str().unwrap_or(""),
            )
        })
        .collect();
    assert_eq!(kinds, [("remove_duplicate", ""), ("promote", "project")]);
    let dry = go(&sandbox, &["memory", "review", "--apply", "2", "--dry-run"]);
    assert!(dry.stdout.ends_with("nothing was changed\n"), "{dry}");
    assert!(
        dry.stdout
            .contains(" - Use pnpm to install packages\n+- Keep handlers free of business rules\n"),
        "{dry}"
    );
    let done = go(&sandbox, &["memory", "review", "--apply", "2"]);
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(
        fs::read_to_string(sandbox.path("project/CLAUDE.md")).unwrap(),
        "# App\n\n- Use pnpm to install packages\n- Keep handlers free of business rules\n"
    );
    let wrong = go(&sandbox, &["memory", "review", "--apply", "9"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("there is no proposal `9`"), "{wrong}");
}

#[test]
fn many_at_once_lose_nothing() {
    let sandbox = Sandbox::new();
    let processes = 8;
    thread::scope(|scope| {
        for at in 0..processes {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let text = format!("Fact number {at} of many");
                let call = sandbox.remora(&["remember", &text]);
                let done = call.leaving_a_process().go();
                assert_eq!(done.code, Some(0), "{done}");
            });
        }
    });
    let index = fs::read_to_string(auto(&sandbox).join("MEMORY.md")).unwrap();
    assert_eq!(index.lines().count(), processes);
    let check = go(&sandbox, &["memory", "index", "--check"]);
    assert_eq!(check.code, Some(0), "{check}");
}
