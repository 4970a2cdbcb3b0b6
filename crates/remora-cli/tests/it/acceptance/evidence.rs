//! What memory claims hangs on what was captured: it names it, goes with it and
//! can be made from it again.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::World;
use super::scope::{FAILED, mended};
use crate::forget::holding;

/// Numbers and addresses that an injected text names.
fn named(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || "~,;()".contains(c));
    let is_number = |term: &str| {
        let digits = term.strip_prefix('#').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let names = words.filter(|term| is_number(term) || term.starts_with("memory://"));
    names.map(str::to_owned).collect()
}

/// Everything that a new session is given, moment by moment.
fn given(world: &World, folder: &Path, session: &str) -> String {
    let failed =
        json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": FAILED });
    let read =
        json!({ "tool_name": "Read", "tool_input": { "file_path": folder.join("src/retry.rs") } });
    let brief = json!({ "agent_id": "x", "agent_type": "general-purpose" });
    [
        world.start(session, folder),
        world.prompt(session, folder, "why does the limit have that name?"),
        world.injected(session, folder, "PostToolUseFailure", failed),
        world.injected(&format!("{session}-read"), folder, "PreToolUse", read),
        world.injected(session, folder, "SubagentStart", brief),
    ]
    .join("\n")
}

#[test]
fn evidence_claim_resolves_to_source() {
    let world = World::new();
    let alpha = world.project("alpha");
    mended(&world, "one", &alpha, "zorvexquill");
    let saved = json!({ "text": "Deploy on Tuesdays only.", "priority": 1 });
    assert!(!world.mcp(&alpha, "remember", &saved).1);
    world.den.drain();
    let transcript = super::transcript(
        &alpha,
        "imported",
        &[
            "We decided to keep the retry counter in the brantlequix table because it survives restarts.",
        ],
    );
    world.import(&alpha, &transcript);
    world.den.drain();
    let text = given(&world, &alpha, "two")
        + &world.prompt("three", &alpha, "why is the retry counter kept in a table?");
    let names: HashSet<String> = named(&text).into_iter().collect();
    let lines = world.export();
    let raw: HashSet<&str> = lines
        .iter()
        .filter_map(|line| line.get("raw")?["envelope"]["id"].as_str())
        .collect();
    let mut kinds = HashSet::new();
    for name in &names {
        if name.starts_with("memory://") {
            let shown = world.json(&alpha, &["memory", "show", name]);
            let path = shown["memories"][0]["path"].as_str().unwrap();
            assert!(
                fs::read_to_string(path).unwrap().contains("Tuesdays"),
                "{path}"
            );
            kinds.insert("memory".to_owned());
            continue;
        }
        let shown = world.json(&alpha, &["show", name]);
        let item = &shown["items"][0];
        let uid = item["uid"]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {shown}"));
        let event = uid.split('/').next().unwrap();
        assert!(raw.contains(event), "{name} is an orphan: {shown}");
        kinds.insert(item["kind"].as_str().unwrap().to_owned());
    }
    // Enough has reached the model for that to mean something.
    for kind in ["decision", "fix", "summary", "memory"] {
        assert!(kinds.contains(kind), "{kind}: {text}");
    }
    for term in ["zorvexquill", "brantlequix"] {
        assert!(text.contains(term), "{term}: {text}");
    }
}

#[test]
fn evidence_source_delete_reaches_derived() {
    let world = World::new();
    world.configure("");
    let alpha = world.project("alpha");
    mended(&world, "one", &alpha, "zorvexquill");
    let sibling = "We decided to keep prices in cents because brantlequix rounds badly.";
    world.session("two", &alpha, sibling, "Prices are in cents now.");
    world.den.drain();
    // So that something of it was given as well.
    assert!(given(&world, &alpha, "three").contains("zorvexquill"));
    world.den.drain();
    world.go(&alpha, &["rebuild", "--vectors"]);
    let of = |term: &str| -> Vec<Value> {
        let mut lines = world.export();
        lines.retain(|line| line.to_string().contains(term));
        lines
    };
    let untouched = of("brantlequix");
    assert!(untouched.len() > 3, "{untouched:#?}");
    let found = |kind: &str| world.search(&alpha, &["zorvexquill", "--kind", kind]).len();
    let title = || {
        let sessions = world.json(&alpha, &["sessions"]);
        sessions.to_string().contains("zorvexquill")
    };
    let embedded = || {
        let status = world.json(&alpha, &["status"]);
        status["vectors"]["embedded"].as_u64().unwrap()
    };
    let prompt = world.number(&alpha, "prompt", "zorvexquill");
    let decision = world.number(&alpha, "decision", "zorvexquill");
    let edit = world.number(&alpha, "bugfix", "zorvexquill");
    let shown = |number: &str| {
        let ledger = world.go(&alpha, &["ledger", "--json"]).raw;
        ledger.contains(&format!("\"{number}\""))
    };
    assert_eq!(
        [found("prompt"), found("decision"), found("summary")],
        [1, 1, 1]
    );
    assert!(title() && shown(&decision));
    assert_eq!(embedded(), world.items().len() as u64);
    // The prompt: what it decided, the summary and the title that quote it, the
    // record that it was given, its vectors.
    world.go(&alpha, &["forget", &prompt, "--yes"]);
    assert_eq!(
        [found("prompt"), found("decision"), found("summary")],
        [0, 0, 0]
    );
    assert!(!title() && !shown(&decision) && !shown(&prompt));
    assert_eq!(embedded(), world.items().len() as u64);
    // The edit: the fix that was learned from it, and what is known of the file.
    let file = |world: &World| {
        let lines = world.export();
        let files = lines
            .iter()
            .filter(|line| line["file"]["name"] == "retry.rs");
        files.count()
    };
    assert_eq!([found("bugfix"), found("fix"), file(&world)], [1, 1, 1]);
    world.go(&alpha, &["forget", &edit, "--yes"]);
    assert_eq!([found("bugfix"), found("fix"), file(&world)], [0, 0, 0]);
    assert_eq!(embedded(), world.items().len() as u64);
    // The agent's last words are a source of their own, and go by name.
    world.go(&alpha, &["forget", "--matching", "zorvexquill", "--yes"]);
    let home = world.den.paths.home();
    assert_eq!(holding(home, "zorvexquill"), Vec::<String>::new());
    world.go(&alpha, &["rebuild"]);
    assert_eq!(holding(home, "zorvexquill"), Vec::<String>::new());
    assert_eq!(of("brantlequix"), untouched);
}

#[test]
fn evidence_rebuild_from_retained() {
    let world = World::new();
    let alpha = world.project("alpha");
    mended(&world, "one", &alpha, "zorvexquill");
    let said = "We decided to keep prices in cents because brantlequix rounds badly.";
    world.session("two", &alpha, said, "Prices are in cents now.");
    world.den.drain();
    let words = ["zorvexquill", "brantlequix"];
    let before = given(&world, &alpha, "before");
    assert!(before.contains(words[0]), "{before}");
    world.den.drain();
    let shape = |world: &World| -> Vec<(Value, Value, Value)> {
        let items = world.items();
        let rows = items.iter();
        rows.map(|item| {
            (
                item["kind"].clone(),
                item["title"].clone(),
                item["text"].clone(),
            )
        })
        .collect()
    };
    let items = shape(&world);
    world.den.stop();
    // Rows, index, sessions and everything else that is made: one file.
    for end in ["", "-wal", "-shm"] {
        let mut file = world.den.paths.database_file().into_os_string();
        file.push(end);
        let _ = fs::remove_file(PathBuf::from(file));
    }
    let home = world.den.paths.home();
    let left = holding(home, words[0]);
    let archived = |file: &String| file.contains("/archive/");
    assert!(left.iter().all(archived), "{left:?}");
    world.go(&alpha, &["rebuild"]);
    assert_eq!(shape(&world), items);
    let after = given(&world, &alpha, "after");
    assert!(after.contains(words[0]), "{after}");
    let asked = world.prompt("asked", &alpha, "why are prices kept in cents?");
    assert!(asked.contains(words[1]), "{asked}");
}
