//! What a user rejected stays rejected: the same claim again lands on its
//! tombstone, whoever makes it and however it is spelled.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{World, transcript};

const REJECTED: &str = "We decided to use zorvexquill for the job queue because it is fast.";
const NEIGHBOUR: &str = "We decided to keep prices in cents because brantlequix rounds badly.";
const QUESTIONS: [&str; 2] = [
    "what did we decide to use for the job queue?",
    "why are prices kept in cents?",
];

/// A project in which the user has rejected a decision, and its number.
fn rejected(world: &World) -> (PathBuf, String) {
    let alpha = world.project("alpha");
    world.import(&alpha, &transcript(&alpha, "told", &[REJECTED, NEIGHBOUR]));
    world.den.drain();
    let before = world.prompt("before", &alpha, QUESTIONS[0]);
    assert!(before.contains("zorvexquill"), "{before}");
    world.den.drain();
    let number = world.number(&alpha, "decision", "zorvexquill");
    world.go(&alpha, &["wrong", &number, "--because", "nobody runs it"]);
    (alpha, number)
}

/// Claims that hold the word, with how often each was made.
fn claims(world: &World, term: &str) -> Vec<(String, Value)> {
    let mut items = world.items();
    let kinds = ["decision", "preference", "correction"];
    items.retain(|item| {
        let title = item["title"].as_str().unwrap().to_lowercase();
        kinds.iter().any(|kind| item["kind"] == *kind) && title.contains(term)
    });
    let told = items.iter();
    told.map(|item| {
        (
            item["title"].as_str().unwrap().to_owned(),
            item["seen"].clone(),
        )
    })
    .collect()
}

/// Neither is the rejected value told, nor is everything else silent.
fn assert_rejected(world: &World, folder: &Path, when: &str) {
    let session = |name: &str| format!("{name} {when}");
    world.den.drain();
    let mut texts = vec![
        world.start(&session("start"), folder),
        world.prompt(&session("asked"), folder, QUESTIONS[0]),
    ];
    world.den.drain();
    let brief = json!({ "agent_id": "x", "agent_type": "general-purpose" });
    texts.push(world.injected(&session("asked"), folder, "SubagentStart", brief));
    for text in texts {
        assert!(
            !text.to_lowercase().contains("zorvexquill"),
            "{when}: {text}"
        );
    }
    let neighbour = world.prompt(&session("other"), folder, QUESTIONS[1]);
    assert!(neighbour.contains("brantlequix"), "{when}: {neighbour}");
    world.den.drain();
}

#[test]
fn tombstone_laundering_sequence() {
    let world = World::new();
    let (alpha, number) = rejected(&world);
    assert_rejected(&world, &alpha, "rejected");
    let instead = "We decided to use florbinate for the job queue instead.";
    world.session("instead", &alpha, instead, "Noted.");
    assert_rejected(&world, &alpha, "superseded");
    // Said again by the user, by the agent, by a subagent, and once more.
    let words = "We decided to use zorvexquill for the job queue because it is fast.";
    world.session("again", &alpha, words, words);
    assert_rejected(&world, &alpha, "said again");
    let rest = json!({ "agent_id": "y", "agent_type": "Explore", "last_assistant_message": words });
    world.tell("again", &alpha, "SubagentStop", rest);
    world.session("and again", &alpha, words, "Yes, we use zorvexquill.");
    assert_rejected(&world, &alpha, "corroborated");
    world.go(&alpha, &["rebuild"]);
    assert_rejected(&world, &alpha, "rebuilt");
    let shown = world.go(&alpha, &["show", &number]);
    assert!(
        shown.stdout.contains("marked wrong: nobody runs it"),
        "{shown}"
    );
    let claims = claims(&world, "zorvexquill");
    assert_eq!(claims.len(), 1, "{claims:?}");
    // What was said instead is told in its place.
    let asked = world.prompt("now", &alpha, QUESTIONS[0]);
    assert!(asked.contains("florbinate"), "{asked}");
}

#[test]
fn tombstone_survives_ttl_and_prune() {
    let world = World::new();
    let (alpha, _) = rejected(&world);
    // Everything that expires does: first what was not decided, then all.
    world.go(&alpha, &["prune", "--older-than", "0m"]);
    assert_rejected(&world, &alpha, "pruned");
    world.session("again", &alpha, REJECTED, "Noted.");
    assert_rejected(&world, &alpha, "said again");
    world.go(&alpha, &["prune", "--older-than", "0m", "--everything"]);
    world.session("all over", &alpha, REJECTED, "Noted.");
    // The neighbour went with everything else, and comes back when it is said.
    world.session("neighbour", &alpha, NEIGHBOUR, "Noted.");
    assert_rejected(&world, &alpha, "all pruned");
    world.den.stop();
    for end in ["", "-wal", "-shm"] {
        let mut file = world.den.paths.database_file().into_os_string();
        file.push(end);
        let _ = fs::remove_file(PathBuf::from(file));
    }
    world.go(&alpha, &["rebuild"]);
    world.session("after the database", &alpha, REJECTED, "Noted.");
    assert_rejected(&world, &alpha, "database lost");
}

#[test]
fn tombstone_key_normalization_attack() {
    let world = World::new();
    let (alpha, _) = rejected(&world);
    let known = world
        .items()
        .iter()
        .filter(|item| item["kind"] == "decision")
        .count();
    let spellings = [
        "WE DECIDED TO USE ZORVEXQUILL FOR THE JOB QUEUE.",
        "We  decided\tto use   zorvexquill for the job queue!!",
        "We decided to use “zorvexquill” for the job queue.",
        "We decided to use zorvex\u{200b}quill for the job queue.",
        "We decided to use zorvex\u{ad}quill for the job queue.",
        "We decided to use zоrvехquіll for the job queue.",
        "We decided to use ｚｏｒｖｅｘｑｕｉｌｌ for the job queue.",
        "We decided to use zórvexquill for the job queue.",
    ];
    for (n, said) in spellings.iter().enumerate() {
        world.session(&format!("s{n}"), &alpha, said, "Noted.");
        assert_rejected(&world, &alpha, &format!("spelling {n}"));
        let decisions = world.items();
        let decisions = decisions.iter().filter(|item| item["kind"] == "decision");
        assert_eq!(decisions.count(), known, "{said}");
    }
    // Other words for it are another claim.
    let said = "We decided to run the job queue on zorvexquill because it is fast.";
    world.session("paraphrase", &alpha, said, "Noted.");
    world.den.drain();
    let text = world.prompt(
        "asked",
        &alpha,
        "what did we decide to run the job queue on?",
    );
    assert!(text.contains("run the job queue on zorvexquill"), "{text}");
}

#[test]
fn tombstone_reextraction_stays_inactive() {
    let world = World::new();
    let (alpha, _) = rejected(&world);
    let both =
        format!("{REJECTED} We decided to print prices in euros because quaxmire asks for it.");
    let again = transcript(&alpha, "told again", &[&both]);
    fs::remove_dir_all(world.den.paths.home().join("import")).unwrap();
    world.import(&alpha, &again);
    assert_rejected(&world, &alpha, "another transcript");
    world.session("by hook", &alpha, &both, "Noted.");
    assert_rejected(&world, &alpha, "a hook");
    let copy = world.den.sandbox.text("copy.jsonl");
    world.go(&alpha, &["export", "--events", "--out", &copy]);
    world.go(&alpha, &["import", "jsonl", &copy, "--no-vectors"]);
    assert_rejected(&world, &alpha, "an export");
    // What else the same words said counts.
    let text = world.prompt("euros", &alpha, "why are prices printed in euros?");
    assert!(text.contains("quaxmire"), "{text}");
}

#[test]
fn tombstone_no_second_memory_unit() {
    let world = World::new();
    let (alpha, number) = rejected(&world);
    let one = claims(&world, "zorvexquill");
    assert_eq!(one.len(), 1, "{one:?}");
    for n in 1..=3 {
        world.session(&format!("s{n}"), &alpha, REJECTED, "Noted.");
        world.den.drain();
        // The write landed on the rejected item and moved its count.
        let title = one[0].0.clone();
        assert_eq!(claims(&world, "zorvexquill"), [(title, json!(n + 1))]);
        assert_eq!(world.number(&alpha, "decision", "zorvexquill"), number);
    }
    assert_rejected(&world, &alpha, "counted");
    // What the user typed is evidence, and stays as it was typed.
    let prompts = world.search(
        &alpha,
        &["zorvexquill", "--kind", "prompt", "--limit", "50"],
    );
    assert!(!prompts.is_empty());
}
