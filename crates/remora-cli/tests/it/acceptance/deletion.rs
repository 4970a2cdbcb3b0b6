//! What was deleted stays away, whichever way could bring it back.

use std::fs;

use serde_json::Value;

use super::{World, key_of, showing, transcript};
use crate::forget::holding;

/// What is deleted, and what is told in the same breath and stays.
const SECRET: &str =
    "We decided to route the payroll through the zorvexquill bank because it is near.";
const SIBLING: &str =
    "We decided to route the invoices through the brantlequix bank because it is cheap.";
const QUESTIONS: [&str; 2] = [
    "why is the payroll routed through that bank?",
    "why are the invoices routed through that bank?",
];
const NONE: Vec<String> = Vec::new();

/// The receipts of deletions.
fn receipts(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(world.den.paths.deletion_log_file()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn deletion_absent_after_reindex_and_restart() {
    let world = World::new();
    let alpha = world.project("alpha");
    world.session(
        "one",
        &alpha,
        SECRET,
        "The payroll goes through zorvexquill.",
    );
    world.session(
        "two",
        &alpha,
        SIBLING,
        "The invoices go through brantlequix.",
    );
    world.den.drain();
    let home = world.den.paths.home();
    assert!(
        world
            .prompt("three", &alpha, QUESTIONS[0])
            .contains("zorvexquill")
    );
    assert!(
        world
            .prompt("four", &alpha, QUESTIONS[1])
            .contains("brantlequix")
    );
    world.den.drain();
    world.go(&alpha, &["forget", "--matching", "zorvexquill", "--yes"]);
    let steps: [&[&str]; 9] = [
        &["worker", "drain"],
        &["rebuild"],
        &["worker", "restart"],
        &["rebuild", "--vectors"],
        &["prune", "--older-than", "90d"],
        &["doctor"],
        &["worker", "retry"],
        &["worker", "stop"],
        &["rebuild"],
    ];
    for (at, step) in steps.iter().enumerate() {
        world.cli(&alpha, step).go();
        assert_eq!(holding(home, "zorvexquill"), NONE, "{step:?}");
        // Each time a session that was shown nothing yet.
        let reads = world.reads(&alpha, &format!("read-{at}"), QUESTIONS[0]);
        assert_eq!(showing(&reads, "zorvexquill"), NONE, "{step:?}");
        let sibling = world.prompt(&format!("ask-{at}"), &alpha, QUESTIONS[1]);
        assert!(sibling.contains("brantlequix"), "{step:?}: {sibling}");
        world.den.drain();
    }
    let export: Vec<String> = world.export().iter().map(Value::to_string).collect();
    assert!(!export.iter().any(|line| line.contains("zorvexquill")));
    assert!(export.iter().any(|line| line.contains("brantlequix")));
    // The client tells the same again, as it does on a retry.
    world.session(
        "one",
        &alpha,
        SECRET,
        "The payroll goes through zorvexquill.",
    );
    world.den.drain();
    assert_eq!(holding(home, "zorvexquill"), NONE, "a hook that came late");
    let receipts = receipts(&world);
    assert_eq!(receipts.len(), 1);
    assert_eq!(receipts[0]["what"], "matching");
    assert!(receipts[0]["items"].as_u64().unwrap() >= 3, "{receipts:?}");
}

#[test]
fn deletion_absent_from_shared_copies() {
    let world = World::new();
    let (alpha, beta) = (world.project("alpha"), world.project("beta"));
    let lines = transcript(&alpha, "one", &[SECRET, SIBLING]);
    world.import(&alpha, &lines);
    // The other project was told the same by its own user: that is no copy.
    let own =
        "We decided to route the payroll through the zorvexquill bank because the boss says so.";
    world.session("b1", &beta, own, "Noted.");
    world.den.drain();
    let copy = world.den.sandbox.text("copy.jsonl");
    let key = key_of("alpha");
    world.go(
        &alpha,
        &["export", "--events", "--project", &key, "--out", &copy],
    );
    let secret = world.number(&alpha, "prompt", "zorvexquill");
    world.go(&alpha, &["forget", &secret, "--yes"]);
    let here = || world.search(&alpha, &["zorvexquill"]).len();
    assert_eq!(here(), 0);
    // An export from before, and the transcript that it was read from.
    world.json(&alpha, &["import", "jsonl", &copy, "--no-vectors"]);
    assert_eq!(here(), 0, "an older export");
    world.import(&alpha, &lines);
    assert_eq!(here(), 0, "the transcript");
    fs::remove_dir_all(world.den.paths.home().join("import")).unwrap();
    world.import(&alpha, &lines);
    assert_eq!(here(), 0, "the transcript, from its beginning");
    // Into another project, from which a copy could be read.
    world.json(
        &alpha,
        &[
            "import",
            "jsonl",
            &copy,
            "--project",
            &key_of("gamma"),
            "--no-vectors",
        ],
    );
    let gamma = world.search(&beta, &["zorvexquill", "--project", &key_of("gamma")]);
    assert_eq!(gamma, Vec::<Value>::new());
    world.go(&alpha, &["rebuild"]);
    assert_eq!(here(), 0, "a rebuild");
    let sibling = world.prompt("ask", &alpha, QUESTIONS[1]);
    assert!(sibling.contains("brantlequix"), "{sibling}");
    let theirs = world.prompt("b2", &beta, QUESTIONS[0]);
    assert!(theirs.contains("the boss says so"), "{theirs}");
}
