//! `remora bench recall`, and that the labelled set in the repository is whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

const SESSIONS: &str = r#"{"file":"src/retry.rs","content":"pub fn attempts(limit: u32) -> u32 {\n    let mut n = 0;\n    while n <= limit {\n        n += 1;\n    }\n    n\n}\n"}
{"session":"s1","at":"2026-08-03T09:00:00Z","branch":"main"}
{"prompt":"The fetcher retries once too often. Let's keep the limit at 3 because the server bans us after that.","label":"limit"}
{"bash":"cargo test","fails":"Exit code 101\nrunning 2 tests\ntest retry::gives_up ... FAILED\ntest retry::waits ... ok\n\nfailures:\n\n---- retry::gives_up stdout ----\n\nthread 'retry::gives_up' panicked at src/retry.rs:31:9:\nassertion `left == right` failed\n  left: 4\n right: 3\n\n\nfailures:\n    retry::gives_up\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n"}
{"edit":"src/retry.rs","old":"n <= limit","new":"n < limit"}
{"bash":"cargo test","output":"running 2 tests\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n","label":"mended"}
{"say":"The fetcher gives up after the third try.","label":"said"}
{"end":true}
"#;
const MOMENTS: &str = r#"{"id":"f1","moment":"failure","at":"2026-09-03T09:00:00Z","command":"cargo test","error":"Exit code 101\nrunning 2 tests\ntest retry::gives_up ... FAILED\ntest retry::waits ... ok\n\nfailures:\n\n---- retry::gives_up stdout ----\n\nthread 'retry::gives_up' panicked at src/retry.rs:52:9:\nassertion `left == right` failed\n  left: 4\n right: 3\n\n\nfailures:\n    retry::gives_up\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.71s\n","must":["mended:fix"],"note":"The same test at another line."}
{"id":"p1","moment":"prompt","at":"2026-09-03T09:01:00Z","prompt":"yes","intent":"new","nothing":true,"must_not":["limit"],"note":"Trivial."}
"#;

/// A set of one small project.
fn small(sandbox: &Sandbox, moments: &str) {
    sandbox.write("project/set/halves.json", r#"{"dev":["tiny"],"test":[]}"#);
    sandbox.write("project/set/tiny/sessions.jsonl", SESSIONS);
    sandbox.write("project/set/tiny/moments.jsonl", moments);
}

fn json_of(sandbox: &Sandbox, set: &str, tier: &str) -> Value {
    let done = sandbox
        .remora(&["bench", "recall", "--set", set, "--tier", tier, "--json"])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn a_subagent_is_judged_by_its_own_task_where_there_is_one() {
    let other = r#"{"session":"s2","at":"2026-08-04T09:00:00Z","branch":"main"}
{"prompt":"Draw a tortoise for the front page."}
{"say":"The tortoise is drawn."}
{"end":true}
"#;
    let moments = r#"{"id":"a1","moment":"subagent","at":"2026-08-04T09:10:00Z","session":"s2","agent":"Explore","task":"Raise the retry limit of the fetcher","must":["limit|said"],"note":"Its task is about the fetcher."}
{"id":"a2","moment":"subagent","at":"2026-08-04T09:10:00Z","session":"s2","agent":"Explore","must_not":["limit","said"],"note":"What the user asked for last is not."}
"#;
    let sandbox = Sandbox::new();
    small(&sandbox, moments);
    let sessions = format!("{SESSIONS}{other}");
    sandbox.write("project/set/tiny/sessions.jsonl", &sessions);
    for tier in ["fast", "full"] {
        let told = json_of(&sandbox, "set", tier);
        let rows = told["figures"].as_array().unwrap();
        let row = rows.iter().find(|row| row["moment"] == "subagent").unwrap();
        assert_eq!(
            (&row["recall"], &row["forbidden"]),
            (&1.0.into(), &0.into()),
            "{told}"
        );
    }
}

#[test]
fn a_small_project_is_played_and_judged() {
    let sandbox = Sandbox::new();
    small(&sandbox, MOMENTS);
    let told = json_of(&sandbox, "set", "full");
    assert_eq!(told["tier"], "full", "{told}");
    let row = |moment: &str| {
        let rows = told["figures"].as_array().unwrap();
        rows.iter().find(|row| row["moment"] == moment).unwrap()
    };
    assert_eq!(row("failure")["recall"], 1.0, "{told}");
    assert_eq!(row("failure")["precision"], 1.0, "{told}");
    assert_eq!(row("prompt")["quiet"], 1.0, "{told}");
    assert_eq!(row("prompt")["given"], 0, "{told}");
    assert_eq!(row("but start")["situations"], 2, "{told}");
    let done = sandbox
        .remora(&[
            "bench",
            "recall",
            "--set",
            "set",
            "--tier",
            "fast",
            "--verbose",
        ])
        .go();
    let lines: Vec<&str> = done.stdout.lines().collect();
    // All is as it should be, so that nothing is told of single situations.
    assert_eq!(lines.len(), 9, "{done}");
    assert!(lines[0].starts_with("2 situations in 1 projects"), "{done}");
    assert_eq!(
        (lines[5], lines[7]),
        ("prompts by project", "prompts by intent")
    );
    assert!(lines[6].starts_with("dev   tiny "), "{done}");
    assert!(lines[8].starts_with("dev   quiet "), "{done}");
    let none = sandbox
        .remora(&[
            "bench", "recall", "--set", "set", "--half", "test", "--tier", "fast",
        ])
        .go();
    assert!(none.stdout.starts_with("0 situations"), "{none}");
    let rows = sandbox
        .remora(&["bench", "recall", "--set", "set", "--rows"])
        .go();
    let fix = rows.stdout.lines().find(|line| line.contains(" fix "));
    assert!(fix.is_some_and(|line| line.contains("mended")), "{rows}");
}

#[test]
fn what_was_missed_and_wrong_is_told() {
    let sandbox = Sandbox::new();
    let moments = MOMENTS.replace(r#""must":["mended:fix"]"#, r#""must":["said:summary"]"#);
    small(&sandbox, &moments);
    let done = sandbox
        .remora(&[
            "bench",
            "recall",
            "--set",
            "set",
            "--tier",
            "fast",
            "--verbose",
        ])
        .go();
    assert!(done.stdout.contains("f1 (1 given"), "{done}");
    assert!(done.stdout.contains("missed   said:summary"), "{done}");
    assert!(done.stdout.contains("wrong    #"), "{done}");
}

#[test]
fn a_fault_in_a_set_is_named_by_file_and_line() {
    let sandbox = Sandbox::new();
    let cases = [
        (
            r#"["limit"]"#,
            r#"["limits"]"#,
            "there is no label `limits`",
        ),
        (r#""prompt":"yes","#, "", "`prompt` is missing"),
        (
            r#""must_not":["limit"]"#,
            r#""may":["limit"]"#,
            "`nothing` leaves no room",
        ),
        (
            r#""nothing":true"#,
            r#""nothing":1"#,
            "moments.jsonl:2: invalid type",
        ),
    ];
    for (old, new, what) in cases {
        small(&sandbox, &MOMENTS.replace(old, new));
        let done = sandbox
            .remora(&["bench", "recall", "--set", "set", "--tier", "fast"])
            .go();
        assert_eq!(done.code, Some(1), "{done}");
        assert!(done.stderr.contains("tiny/moments.jsonl:2: "), "{done}");
        assert!(done.stderr.contains(what), "{done}");
    }
    let sessions = SESSIONS.replace("n <= limit\",\"new", "n >= limit\",\"new");
    small(&sandbox, MOMENTS);
    sandbox.write("project/set/tiny/sessions.jsonl", sessions);
    let done = sandbox
        .remora(&["bench", "recall", "--set", "set", "--tier", "fast"])
        .go();
    let what = "tiny/sessions.jsonl:5: `src/retry.rs` holds the old text 0 times";
    assert!(done.stderr.contains(what), "{done}");
    let done = sandbox.remora(&["bench", "recall"]).go();
    assert!(done.stderr.contains("--set DIR"), "{done}");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recall")
}

fn situations(set: &Path) -> Vec<Value> {
    let text = fs::read_to_string(set.join("halves.json")).unwrap();
    let halves: BTreeMap<String, Vec<String>> = serde_json::from_str(&text).unwrap();
    assert_eq!(halves.keys().collect::<Vec<_>>(), ["dev", "test"]);
    let named: BTreeSet<&String> = halves.values().flatten().collect();
    let there: BTreeSet<String> = fs::read_dir(set)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    // Each project is in one half, and in one only.
    assert_eq!(named.len(), halves.values().flatten().count());
    assert_eq!(named, there.iter().collect());
    let mut all = Vec::new();
    for project in named {
        let text = fs::read_to_string(set.join(project).join("moments.jsonl")).unwrap();
        all.extend(
            text.lines()
                .map(|l| serde_json::from_str::<Value>(l).unwrap()),
        );
    }
    all
}

#[test]
fn the_set_of_the_repository_is_whole_and_runs() {
    let set = repository();
    let all = situations(&set);
    assert!(all.len() >= 60);
    let ids: BTreeSet<&str> = all.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), all.len());
    let of = |field: &str, value: &str| all.iter().filter(|one| one[field] == value).count();
    for (moment, least) in [
        ("start", 8),
        ("prompt", 45),
        ("read", 15),
        ("failure", 20),
        ("compact", 5),
        ("subagent", 3),
    ] {
        assert!(of("moment", moment) >= least, "{moment}");
    }
    for intent in ["past", "continue", "mend", "new"] {
        assert!(of("intent", intent) >= 8, "{intent}");
    }
    let quiet = |one: &&Value| one["moment"] == "prompt" && one["nothing"] == true;
    assert!(all.iter().filter(quiet).count() * 3 >= of("moment", "prompt"));

    // The bench itself refuses labels that no row came of. The bounds are far
    // from what is measured: they tell that something is broken, not how good
    // it is.
    let sandbox = Sandbox::new();
    let told = json_of(&sandbox, set.to_str().unwrap(), "fast");
    assert_eq!(told["tier"], "fast", "{told}");
    assert_eq!(told["situations"].as_array().unwrap().len(), all.len());
    for project in told["projects"].as_array().unwrap() {
        assert!(project["rows"].as_u64().unwrap() > 100, "{project}");
    }
    for row in told["figures"].as_array().unwrap() {
        let at_least = |figure: &str, least: f64| {
            assert!(row[figure].as_f64().is_none_or(|f| f >= least), "{row}");
        };
        match row["moment"].as_str().unwrap() {
            "but start" => {
                at_least("precision", 0.5);
                at_least("recall", 0.35);
                at_least("quiet", 0.7);
            }
            "start" => at_least("recall", 0.5),
            _ => {}
        }
    }
}
