//! `remora forget`: what is deleted is in no file of the data directory, and
//! nothing brings it back.

mod cut_short;

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::acceptance::{World, key_of, transcript};
use crate::remembered::Remembered;

const SESSION: &str = "5b1c9f00-1111-4000-8000-000000000001";
const OTHER: &str = "7c2d9f00-2222-4000-8000-000000000002";
/// A word that nothing else holds, long enough to be known by its parts.
pub(crate) const MARKER: &str = "zyxqvorpal8842kestrel";
const MINUTE: i64 = 60_000;

/// Two sessions; the first one tells of the marker in a prompt, a command, a
/// file and the agent's last words.
fn marked() -> Remembered {
    let mut memory = Remembered::nothing();
    let sandbox = &memory.sandbox;
    sandbox.write("home/.remora/config.toml", "search.model = \"off\"\n");
    let prompt = format!("We decided to deploy with the {MARKER} pipeline because it is fast.");
    let file = format!("/home/dev/shop/src/{MARKER}.rs");
    let said = format!("Noted.\n\nNext steps:\n- try the {MARKER} pipeline\n");
    let events = [
        (0, SESSION, "SessionStart", json!({"source": "startup"})),
        (1, SESSION, "UserPromptSubmit", json!({ "prompt": prompt })),
        (
            2,
            SESSION,
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_use_id": "t1",
                "tool_input": {"command": format!("deploy --with {MARKER}")},
                "tool_response": {"stdout": format!("deployed by {MARKER}\n"), "stderr": ""},
            }),
        ),
        (
            3,
            SESSION,
            "PostToolUse",
            json!({
                "tool_name": "Write", "tool_use_id": "t2",
                "tool_input": {"file_path": file, "content": format!("fn {MARKER}() {{}}\n")},
                "tool_response": {"type": "create", "filePath": file},
            }),
        ),
        (
            4,
            SESSION,
            "Stop",
            json!({ "last_assistant_message": said }),
        ),
        (
            60,
            OTHER,
            "UserPromptSubmit",
            json!({"prompt": "We decided to keep prices in cents because floats lose money."}),
        ),
        (
            61,
            OTHER,
            "Stop",
            json!({"last_assistant_message": "Prices are in cents now."}),
        ),
    ];
    for (minute, session, name, fields) in events {
        memory.event(session, "shop", minute * MINUTE, name, fields);
    }
    memory.store();
    memory
}

/// Files of the data directory that hold the word, unpacked where they are
/// packed.
pub(crate) fn holding(home: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap_or_default();
            if path.extension().is_some_and(|end| end == "zst") {
                remora_server::archive::read_events(&path, |event| {
                    bytes.extend(serde_json::to_vec(&event).unwrap());
                })
                .unwrap();
            }
            bytes.extend(path.to_string_lossy().as_bytes());
            let mut windows = bytes.windows(word.len());
            if windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes())) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn assert_gone(memory: &Remembered, when: &str) {
    // The index leaves out what a term shares with the one before it.
    for part in [MARKER, &MARKER[4..], &MARKER[MARKER.len() - 7..]] {
        let left = holding(&memory.sandbox.path("home/.remora"), part);
        assert_eq!(left, Vec::<String>::new(), "{when}: {part}");
    }
}

fn number_of(memory: &Remembered, kind: &str) -> String {
    let found = memory.json(&format!("search {MARKER} --all --kind {kind}"));
    format!("#{}", found["results"][0]["id"])
}

#[test]
fn what_was_forgotten_is_in_no_file_and_does_not_come_back() {
    let memory = marked();
    let home = memory.sandbox.path("home/.remora");
    let export = memory.sandbox.path("before.jsonl");
    let to = export.display().to_string();
    assert_eq!(
        memory.go(&format!("export --events --out {to}")).code,
        Some(0)
    );
    // A copy that a repair put aside, one from a migration, and a dead letter.
    fs::copy(home.join("remora.db"), home.join("remora.db.damaged-7")).unwrap();
    fs::copy(home.join("remora.db"), home.join("remora.db.backup-v4")).unwrap();
    let payload = format!(r#"{{"prompt":"the {MARKER} again"}}"#);
    memory.sandbox.write(
        "home/.remora/dead/x.json",
        json!({"id": "x", "at": 5, "reason": "odd", "payload": payload}).to_string(),
    );
    let answer = memory.json(&format!("forget --matching {MARKER} --all --yes"));
    assert_eq!(answer["what"], "matching");
    assert!(answer["items"].as_u64().unwrap() >= 4, "{answer}");
    assert_gone(&memory, "after the deletion");
    // What else there was is still there.
    let left = memory.json("search cents --all");
    assert_ne!(left["results"], json!([]));
    memory.store();
    assert_gone(&memory, "after a worker");
    assert_eq!(memory.go("rebuild").code, Some(0));
    assert_gone(&memory, "after a rebuild");
    assert_eq!(memory.go(&format!("import jsonl {to}")).code, Some(0));
    assert_gone(&memory, "after importing an older export");
    let now = memory.call("export --events").go();
    assert!(!now.raw.contains(MARKER) && now.raw.contains("cents"));
    // Without the database, everything comes from the archive.
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(home.join(format!("remora.db{end}")));
    }
    assert_eq!(memory.go("rebuild").code, Some(0));
    assert_gone(&memory, "after a rebuild from nothing");
    assert_ne!(memory.json("search cents --all")["results"], json!([]));
    let record = fs::read_to_string(home.join("forgotten.jsonl")).unwrap();
    let record: Value = serde_json::from_str(record.trim()).unwrap();
    assert_eq!(record["what"], "matching");
    assert_eq!(record["receipt"], answer["receipt"]);
}

#[test]
fn an_item_goes_with_its_event_and_what_quotes_it() {
    let memory = marked();
    let decision = number_of(&memory, "decision");
    let (done, answer) = memory.call(&format!("forget {decision} --yes")).json();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(answer["what"], "item");
    // The prompt that it was made from, and the session's title.
    let prompts = memory.json(&format!("search {MARKER} --all --kind prompt,decision"));
    assert_eq!(prompts["results"], json!([]), "{prompts}");
    let sessions = memory.json("sessions --all");
    assert!(!sessions.to_string().contains(MARKER), "{sessions}");
    // Other events of the session stay.
    let command = memory.json(&format!("search {MARKER} --all --kind command"));
    assert_ne!(command["results"], json!([]));
    assert_eq!(memory.go("rebuild").code, Some(0));
    let again = memory.json(&format!("search {MARKER} --all --kind prompt,decision"));
    assert_eq!(again["results"], json!([]));
}

#[test]
fn a_session_or_a_project_goes_whole() {
    for line in [
        format!("forget --session {SESSION} --yes"),
        "forget --project github.com/acme/shop --yes".to_owned(),
    ] {
        let memory = marked();
        let answer = memory.json(&line);
        assert!(answer["events"].as_u64().unwrap() >= 5, "{answer}");
        assert_gone(&memory, &line);
        let sessions = memory.json("sessions --all").to_string();
        assert!(!sessions.contains(SESSION), "{sessions}");
        assert_eq!(sessions.contains(OTHER), line.contains("--session"));
        assert_eq!(memory.go("rebuild").code, Some(0));
        assert_gone(&memory, "after a rebuild");
    }
}

#[test]
fn nothing_goes_without_a_word() {
    let memory = marked();
    let before = holding(&memory.sandbox.path("home/.remora"), MARKER);
    assert_snapshot!(memory.go("forget --project shop"), @r"
    $ remora forget --project shop
    stderr: remora: this would delete 8 items and 7 events; add --yes to do it, or --dry-run to see it
    exit 1
    ");
    assert_eq!(memory.json("forget #1 --dry-run")["dry_run"], true);
    assert_eq!(memory.go("forget #999 --yes").code, Some(1));
    let nothing = memory.json("forget --matching unheardof --all --yes");
    assert_eq!(nothing["items"], 0);
    assert_eq!(
        holding(&memory.sandbox.path("home/.remora"), MARKER),
        before
    );
}

#[test]
fn a_transcript_brings_nothing_back() {
    let agent = remora_agents::known_names()[0];
    for forget in [
        "forget #1 --yes".to_owned(),
        format!("forget --session {SESSION} --yes"),
        "forget --project github.com/acme/shop --yes".to_owned(),
        format!("forget --matching {MARKER} --all --yes"),
    ] {
        let memory = Remembered::nothing();
        memory
            .sandbox
            .write("home/.remora/config.toml", "search.model = \"off\"\n");
        let prompt = format!("We decided to deploy with the {MARKER} pipeline because it is fast.");
        let other = "We decided to keep prices in cents because floats lose money.";
        let lines = transcript(Path::new("/home/dev/shop"), SESSION, &[&prompt, other]);
        let file = memory.sandbox.write("project/t.jsonl", lines);
        let import = format!(
            "import {agent} {} --no-vectors --project github.com/acme/shop",
            file.display()
        );
        let first = memory.json(&import);
        assert_eq!(first["prompts"], 2, "{first}");
        memory.json(&forget);
        for again in 0..2 {
            let told = memory.json(&import);
            assert_gone(&memory, &format!("{forget}: {told}"));
            // The second time without its notes on what was read.
            if again == 0 {
                fs::remove_dir_all(memory.sandbox.path("home/.remora/import")).unwrap();
            }
        }
        let left = memory.json("search cents --all")["results"] != json!([]);
        assert_eq!(
            left,
            forget.contains('#') || forget.contains("--matching"),
            "{forget}"
        );
    }
}

#[test]
fn a_transcript_brings_nothing_back_that_hooks_had_told() {
    let mut memory = Remembered::nothing();
    memory
        .sandbox
        .write("home/.remora/config.toml", "search.model = \"off\"\n");
    let prompt = format!("We decided to deploy with the {MARKER} pipeline because it is fast.");
    // A moment after the client wrote its line.
    let at = (1_794_301_200_000 - 1_794_646_800_000) + 40;
    let fields = json!({ "prompt": prompt, "prompt_id": "p0" });
    memory.event(SESSION, "shop", at, "UserPromptSubmit", fields);
    memory.event(
        SESSION,
        "shop",
        at + 1000,
        "Stop",
        json!({ "last_assistant_message": "Noted.", "prompt_id": "p0" }),
    );
    memory.store();
    memory.json("forget #1 --yes");
    let other = "We decided to keep prices in cents because floats lose money.";
    let lines = transcript(Path::new("/home/dev/shop"), SESSION, &[&prompt, other]);
    let file = memory.sandbox.write("project/t.jsonl", lines);
    let agent = remora_agents::known_names()[0];
    memory.json(&format!(
        "import {agent} {} --no-vectors --project github.com/acme/shop",
        file.display()
    ));
    assert_gone(&memory, "after the transcript");
    assert_ne!(memory.json("search cents --all")["results"], json!([]));
}

#[test]
fn a_project_that_went_is_named_nowhere() {
    let world = World::new();
    let (alpha, beta) = (world.project("alpha"), world.project("beta"));
    // It was known by its folder before it had a remote.
    let config = fs::read(alpha.join(".git/config")).unwrap();
    fs::write(alpha.join(".git/config"), "").unwrap();
    world.session(
        "one",
        &alpha,
        "We decided to keep prices in cents.",
        "Noted.",
    );
    world.den.drain();
    fs::write(alpha.join(".git/config"), config).unwrap();
    world.session(
        "two",
        &alpha,
        "We decided to print prices in euros.",
        "Noted.",
    );
    world.session("three", &beta, "We decided to round prices up.", "Noted.");
    world.den.drain();
    let home = world.den.paths.home();
    let key = key_of("alpha");
    assert_ne!(holding(home, &key), Vec::<String>::new());
    assert!(world.den.paths.joins_file().exists());
    world.go(&alpha, &["pause", "--project"]);
    world.go(&alpha, &["forget", "--project", &key, "--yes"]);
    assert_eq!(holding(home, &key), Vec::<String>::new());
    // Nothing was asked to be captured again.
    world.session(
        "four",
        &alpha,
        "We decided to keep prices in pence.",
        "Noted.",
    );
    world.den.drain();
    assert_eq!(holding(home, "pence"), Vec::<String>::new());
    world.go(&alpha, &["pause", "--off", "--project"]);
    world.go(&alpha, &["rebuild"]);
    assert_eq!(holding(home, "prices in cents"), Vec::<String>::new());
    // The folder begins anew, and the other project never noticed.
    world.session(
        "five",
        &alpha,
        "We decided to keep prices in francs.",
        "Noted.",
    );
    world.den.drain();
    assert_eq!(
        world
            .search(&alpha, &["francs", "--kind", "decision"])
            .len(),
        1
    );
    assert_eq!(
        world.search(&beta, &["round", "--kind", "decision"]).len(),
        1
    );
}
