//! `remora wrong`, `edit` and `pin`: what a user says of an item counts in every
//! place that tells of it, and outlives whatever is written again.

use std::fs;

use insta::assert_snapshot;
use remora_client::{DataPaths, ProjectRoots};
use serde_json::{Value, json};

use crate::mcp::{ask, mcp};
use crate::remembered::Remembered;

const SESSION: &str = "5b1c9f00-1111-4000-8000-0000000000aa";
const LATER: &str = "7c2d9f00-2222-4000-8000-0000000000bb";
const MINUTE: i64 = 60_000;
const WRONG: &str = "We decided to use port 8080 for the API because it is free.";

/// Puts a session into the spool in which something was decided.
fn decide(memory: &mut Remembered, session: &str, hour: i64, prompt: &str) {
    let said = format!("Noted.\n\n{prompt}\n\nNext steps:\n- write the login page\n");
    let path = "/home/dev/shop/src/login.rs";
    let written = json!({
        "tool_name": "Write", "tool_use_id": format!("t{hour}"),
        "tool_input": {"file_path": path, "content": "fn login() {}\n"},
        "tool_response": {"type": "create", "filePath": path},
    });
    for (minute, name, fields) in [
        (0, "SessionStart", json!({"source": "startup"})),
        (1, "UserPromptSubmit", json!({ "prompt": prompt })),
        (2, "PostToolUse", written),
        (3, "Stop", json!({ "last_assistant_message": said })),
    ] {
        memory.event(session, "shop", (hour * 60 + minute) * MINUTE, name, fields);
    }
}

/// A memory of the shop, looked at from a checkout of it.
fn decided() -> Remembered {
    let mut memory = Remembered::nothing();
    let sandbox = &memory.sandbox;
    sandbox.write("home/.remora/config.toml", "search.model = \"off\"\n");
    let config = "[remote \"origin\"]\nurl = git@github.com:acme/shop.git\n";
    sandbox.write("project/.git/config", config);
    let roots = ProjectRoots::for_data_dir(&DataPaths::new(sandbox.path("home/.remora")));
    let root = sandbox.text("project");
    roots.accept("github.com/acme/shop", &root).unwrap();
    decide(&mut memory, SESSION, 0, WRONG);
    memory.store();
    memory
}

fn number(memory: &Remembered, words: &str, kind: &str) -> i64 {
    let found = memory.json(&format!("search {words} --kind {kind}"));
    found["results"][0]["id"]
        .as_i64()
        .unwrap_or_else(|| panic!("{found}"))
}

/// What a session would be told, at a start and at a prompt about it.
fn told(memory: &Remembered) -> String {
    let start = memory.json("context --event start");
    let words = [
        "context",
        "--prompt",
        "which port did we choose for the API?",
    ];
    let (_, prompt) = memory.sandbox.remora(&words).json();
    let text = |value: &Value| value["text"].as_str().unwrap_or_default().to_lowercase();
    text(&start) + &text(&prompt)
}

#[test]
fn what_is_wrong_is_told_nowhere_and_shown_with_its_reason() {
    let mut memory = decided();
    assert!(told(&memory).contains("port 8080"), "{}", told(&memory));
    let id = number(&memory, "port", "decision");
    let words = ["wrong", &id.to_string(), "--because", "it moved to 9090"];
    assert_snapshot!(memory.sandbox.remora(&words).go(), @"
    $ remora wrong 2 --because it moved to 9090
    marked wrong: #2 decision · We decided to use port 8080 for the API
      It is not injected or learned again. `remora wrong 2 --undo` takes this back.
    exit 0
    ");
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    let start = memory.json("context --event start");
    let passed = start["passed"].as_array().unwrap();
    let item = format!("#{id}");
    let left_out = passed.iter().find(|one| one["item"] == *item).unwrap();
    assert_eq!(left_out["why"], "marked wrong: it moved to 9090");
    let found = memory.json("search port 8080");
    let results = found["results"].as_array().unwrap();
    assert_eq!(results.last().unwrap()["id"], id);
    assert_eq!(
        results.last().unwrap()["wrong"]["reason"],
        "it moved to 9090"
    );
    let shown = memory.go(&format!("show {id}"));
    assert!(
        shown.stdout.contains("marked wrong: it moved to 9090"),
        "{shown}"
    );
    let (text, error) = ask(mcp(&memory), "search", &json!({"query": "port 8080"}));
    let line = text.lines().find(|line| line.starts_with(&item)).unwrap();
    assert!(
        !error && line.contains("[NOT TRUE, marked wrong: it moved to 9090"),
        "{text}"
    );
    // Said again in another spelling, imported, and made anew from the archive.
    let export = memory.sandbox.path("all.jsonl").display().to_string();
    assert_eq!(
        memory.go(&format!("export --events --out {export}")).code,
        Some(0)
    );
    let again = "We decided to use PORT 8080 for the “API” because it is free!";
    decide(&mut memory, LATER, 20, again);
    memory.store();
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    assert_eq!(memory.go(&format!("import jsonl {export}")).code, Some(0));
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    assert_eq!(memory.go("rebuild").code, Some(0));
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    // Also from nothing but the files beside the database.
    fs::write(memory.sandbox.path("home/.remora/remora.db"), "damaged").unwrap();
    assert_eq!(memory.go("rebuild").code, Some(0));
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    let id = number(&memory, "port", "decision");
    let taken_back = memory.json(&format!("wrong {id} --undo"));
    assert_eq!(taken_back["wrong"], Value::Null);
    assert!(told(&memory).contains("port 8080"), "{}", told(&memory));
    assert!(!memory.sandbox.path("home/.remora/overrides.jsonl").exists());
}

#[test]
fn corrections_go_along_with_an_export() {
    let memory = decided();
    let id = number(&memory, "port", "decision");
    let words = ["wrong", &id.to_string(), "--because", "it moved"];
    assert_eq!(memory.sandbox.remora(&words).go().code, Some(0));
    let export = memory.sandbox.path("all.jsonl");
    let line = format!("export --out {}", export.display());
    assert_eq!(memory.go(&line).code, Some(0));
    let other = decided();
    let id = number(&other, "port", "decision");
    let line = format!("import jsonl {}", export.display());
    assert_eq!(other.go(&line).code, Some(0));
    let shown = other.json(&format!("show {id}"));
    assert_eq!(shown["items"][0]["wrong"]["reason"], "it moved");
    assert!(!told(&other).contains("8080"), "{}", told(&other));
}

#[test]
fn corrections_are_redacted_when_they_are_imported() {
    let memory = decided();
    let id = number(&memory, "port", "decision");
    let uid = memory.json(&format!("show {id}"))["items"][0]["uid"].clone();
    let secret = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let said = json!({"override": {
        "uid": uid, "project": "github.com/acme/shop", "statement": "x",
        "rejected": {"time": 1, "reason": format!("it is {secret}")},
    }});
    let file = memory.sandbox.write("said.jsonl", format!("{said}\n"));
    let line = format!("import jsonl {}", file.display());
    assert_eq!(memory.go(&line).code, Some(0));
    let reason = memory.json(&format!("show {id}"))["items"][0]["wrong"]["reason"].clone();
    assert!(
        reason.as_str().unwrap().starts_with("it is [redacted:"),
        "{reason}"
    );
    let left = crate::forget::holding(&memory.sandbox.path("home/.remora"), &secret);
    assert_eq!(left, Vec::<String>::new());
    // What was said here counts more.
    let other = said.to_string().replace("it is", "it was");
    memory.sandbox.write("said.jsonl", format!("{other}\n"));
    assert_eq!(memory.go(&line).code, Some(0));
    let after = memory.json(&format!("show {id}"))["items"][0]["wrong"]["reason"].clone();
    assert_eq!(after, reason);
}

#[test]
fn what_is_edited_is_searched_and_told_in_the_users_words() {
    let memory = decided();
    let id = number(&memory, "port", "decision").to_string();
    let secret = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let text = format!("the old one is taken; {secret}");
    let words = [
        "edit",
        &id,
        "--title",
        "Use port 9090 for the API",
        "--text",
        &text,
    ];
    let edited = memory.sandbox.remora(&words).go();
    assert_eq!(edited.code, Some(0), "{edited}");
    for when in ["at once", "after a rebuild"] {
        assert_eq!(
            number(&memory, "9090", "decision").to_string(),
            id,
            "{when}"
        );
        let start = told(&memory);
        assert!(
            start.contains("use port 9090 for the api"),
            "{when}: {start}"
        );
        let shown = memory.go(&format!("show {id}"));
        assert!(shown.stdout.contains("the old one is taken"), "{shown}");
        assert!(!shown.stdout.contains("8080"), "{shown}");
        assert_eq!(memory.go("rebuild").code, Some(0));
    }
    let left = crate::forget::holding(&memory.sandbox.path("home/.remora"), &secret);
    assert_eq!(left, Vec::<String>::new());
    let back = memory.json(&format!("edit {id} --undo"));
    assert_eq!(back["edited"], false);
    assert!(back["title"].as_str().unwrap().contains("8080"), "{back}");
    assert_eq!(number(&memory, "8080", "decision").to_string(), id);
    assert_snapshot!(memory.go(&format!("edit {id}")), @"
    $ remora edit 2
    stderr: remora: say what to change with --title or --text; an editor needs a terminal and $VISUAL or $EDITOR
    exit 1
    ");
}

#[test]
fn pinned_items_begin_every_session_and_are_listed() {
    let memory = decided();
    let id = number(&memory, "login", "change,feature");
    assert_snapshot!(memory.go("pin"), @"
    $ remora pin
    nothing is pinned in this project
    exit 0
    ");
    let pinned = memory.json(&format!("pin {id}"));
    assert_eq!(pinned["pinned"], true);
    let start = memory.json("context --event start");
    assert_eq!(start["given"][0]["item"], format!("#{id}"), "{start}");
    assert_eq!(start["given"][0]["why"], "pinned");
    let list = memory.json("pin");
    assert_eq!(list["pins"][0]["id"], id);
    assert_eq!(memory.go("rebuild").code, Some(0));
    assert_eq!(memory.json("pin")["pins"][0]["id"], id);
    assert_eq!(memory.json(&format!("pin {id} --off"))["pinned"], false);
    assert_eq!(memory.json("pin")["pins"], json!([]));
    let again = memory.go(&format!("pin {id} --off"));
    assert_eq!(again.code, Some(1), "{again}");
}

#[test]
fn what_is_forgotten_takes_its_corrections_along() {
    let memory = decided();
    let id = number(&memory, "port", "decision");
    let words = ["edit", &id.to_string(), "--title", "The zyxport is 9090"];
    assert_eq!(memory.sandbox.remora(&words).go().code, Some(0));
    let home = memory.sandbox.path("home/.remora");
    assert!(!crate::forget::holding(&home, "zyxport").is_empty());
    // Some shells take `#2` for a comment.
    assert_eq!(memory.go(&format!("forget {id} --yes")).code, Some(0));
    for word in ["zyxport", "8080"] {
        assert_eq!(crate::forget::holding(&home, word), Vec::<String>::new());
    }
}

#[test]
fn a_copy_of_what_is_wrong_names_the_item_that_was_marked() {
    let mut memory = decided();
    decide(&mut memory, LATER, 20, WRONG);
    memory.store();
    let found = memory.json("search port --kind decision");
    let results = found["results"].as_array().unwrap();
    let ids: Vec<i64> = results
        .iter()
        .filter_map(|row| row["id"].as_i64())
        .collect();
    let same = results[0]["same"].as_array().unwrap();
    let ids: Vec<i64> = ids
        .into_iter()
        .chain(same.iter().filter_map(Value::as_i64))
        .collect();
    assert_eq!(ids.len(), 2, "{found}");
    assert_eq!(memory.go(&format!("wrong {}", ids[0])).code, Some(0));
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    for line in ["wrong ID --undo", "edit ID --title x", "pin ID"] {
        let done = memory.go(&line.replace("ID", &ids[1].to_string()));
        let undo = format!("`remora wrong {} --undo`", ids[0]);
        assert!(done.stderr.contains(&undo), "{done}");
    }
}

#[test]
fn what_cannot_be_corrected_says_why() {
    let memory = decided();
    memory.go("remember --user --name tabs Tabs.");
    let errors: Vec<String> = [
        "wrong memory://user/tabs",
        "wrong 999",
        "wrong 1 --undo",
        "edit 1 --undo",
        "pin memory://user/tabs",
    ]
    .iter()
    .map(|line| memory.go(line))
    .map(|done| {
        assert_eq!(done.code, Some(1), "{done}");
        done.stderr
    })
    .collect();
    assert_snapshot!(errors.concat(), @"
    remora: memory://user/tabs is a saved memory, and its file decides what it says; use `remora memory edit memory://user/tabs` or `remora memory rm memory://user/tabs`
    remora: 999: no such item; `remora search` gives numbers
    remora: #1 is not marked wrong
    remora: #1 is not edited
    remora: memory://user/tabs is a saved memory, and its file decides what it says; use `remora memory edit memory://user/tabs` or `remora memory rm memory://user/tabs`
    ");
    memory.go("wrong 1");
    for line in ["pin 1", "edit 1 --title x"] {
        let done = memory.go(line);
        assert!(done.stderr.contains("is marked wrong"), "{done}");
    }
}

#[test]
fn an_agent_corrects_its_own_project_and_gets_a_receipt() {
    let mut memory = decided();
    let note = json!({"prompt": "We decided to keep notes in one file because it is simple."});
    memory.event(LATER, "notes", 90 * MINUTE, "UserPromptSubmit", note);
    memory.store();
    let other = memory.json("search notes --all --kind decision");
    let other = other["results"][0]["id"].as_i64().unwrap();
    let id = number(&memory, "port", "decision");
    // Also where agents may read every project.
    let config = "search.model = \"off\"\nmcp.all_projects = true\n";
    memory.sandbox.write("home/.remora/config.toml", config);
    for tool in ["wrong", "forget"] {
        let (text, error) = ask(mcp(&memory), tool, &json!({ "id": other }));
        let missing = format!("{other}: no such item; `remora search` gives numbers");
        assert_eq!((text, error), (missing, true));
    }
    let because = json!({"id": format!("#{id}"), "because": "it moved"});
    let (text, error) = ask(mcp(&memory), "wrong", &because);
    assert!(
        !error && text.contains(&format!("#{id} decision")),
        "{text}"
    );
    assert!(
        text.contains(&format!("`remora wrong {id} --undo`")),
        "{text}"
    );
    assert!(!told(&memory).contains("8080"), "{}", told(&memory));
    memory.go("pause");
    let (text, error) = ask(mcp(&memory), "forget", &json!({ "id": id }));
    assert!(error && text.starts_with("paused everywhere"), "{text}");
    memory.go("pause --off");
    let (text, error) = ask(mcp(&memory), "forget", &json!({ "id": id }));
    assert!(!error && text.contains("Deleted for good"), "{text}");
    assert!(text.contains(&format!("#{id} decision")), "{text}");
    assert_eq!(memory.go(&format!("show {id}")).code, Some(1));
    let (text, error) = ask(mcp(&memory), "forget", &json!({ "id": id }));
    assert!(error && text.contains("no such item"), "{text}");
}
