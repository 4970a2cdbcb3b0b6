//! What was put right stays right, also in a memory that was made anew.

use serde_json::{Value, json};

use super::{World, showing, transcript};

/// What sessions say one after the other, and what is asked then.
struct Case {
    name: &'static str,
    said: [&'static str; 2],
    question: &'static str,
    /// What is answered.
    now: &'static str,
    /// What only the earlier words said.
    then: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "replacement",
        said: [
            "We decided to use zorvexquill for the job queue because florbinate is fast.",
            "We decided to use brantlequix for the job queue instead of zorvexquill because it is durable.",
        ],
        question: "what did we decide to use for the job queue?",
        now: "brantlequix",
        then: "florbinate",
    },
    Case {
        name: "polarity",
        said: [
            "Always squash commits before merging because florbinate likes short logs.",
            "Never squash commits before merging because quaxmire needs the steps.",
        ],
        question: "should commits be squashed before merging? what did we say?",
        now: "quaxmire",
        then: "florbinate",
    },
    Case {
        name: "retraction by term",
        said: [
            "We decided to cache sessions in wumpgrit because florbinate is near.",
            "We no longer use wumpgrit.",
        ],
        question: "what did we decide about caching sessions?",
        now: "We no longer use wumpgrit",
        then: "florbinate",
    },
];

/// What a new session is told, and the statements as they are kept.
fn told(world: &World, folder: &std::path::Path, session: &str, question: &str) -> [String; 2] {
    [
        world.prompt(session, folder, question),
        world.start(&format!("{session}-start"), folder),
    ]
}

fn statements(world: &World) -> Vec<(Value, Value)> {
    let items = world.items();
    let stated = items
        .iter()
        .filter(|item| !item["detail"]["confidence"].is_null());
    stated
        .map(|item| (item["title"].clone(), item["time"].clone()))
        .collect()
}

#[test]
fn correction_survives_reindex() {
    for case in CASES {
        let world = World::new();
        let alpha = world.project("alpha");
        world.session("s0", &alpha, case.said[0], "Noted.");
        world.den.drain();
        // Before it was put right, it was told.
        let first = world.prompt("first", &alpha, case.question);
        assert!(first.contains(case.then), "{}: {first}", case.name);
        world.session("s1", &alpha, case.said[1], "Noted.");
        world.den.drain();
        let history = statements(&world);
        assert_eq!(history.len(), 2, "{}: {history:?}", case.name);
        for (at, step) in [&["worker", "drain"][..], &["rebuild"], &["rebuild"]]
            .iter()
            .enumerate()
        {
            world.go(&alpha, step);
            let [asked, begun] = told(&world, &alpha, &format!("a{at}"), case.question);
            assert!(asked.contains(case.now), "{} {step:?}: {asked}", case.name);
            assert!(
                begun.contains(case.now) || case.name == "polarity",
                "{} {step:?}: {begun}",
                case.name
            );
            for text in [asked, begun] {
                assert!(!text.contains(case.then), "{} {step:?}: {text}", case.name);
            }
            world.den.drain();
            // Nothing of the history was rewritten for that.
            assert_eq!(statements(&world), history, "{}", case.name);
        }
    }
}

#[test]
fn correction_of_a_part_brings_the_later_words_and_the_earlier_are_found() {
    let world = World::new();
    let alpha = world.project("alpha");
    for (n, said) in [
        "We decided to deploy to flimzarn on Tuesdays because traffic is low.",
        "We decided to deploy on Thursdays, not on Tuesdays, because the team is complete.",
    ]
    .iter()
    .enumerate()
    {
        world.session(&format!("s{n}"), &alpha, said, "Noted.");
        world.den.drain();
    }
    for session in ["before", "after"] {
        let text = world.prompt(
            session,
            &alpha,
            "when do we deploy, and where to? what did we decide?",
        );
        assert!(text.contains("on Thursdays, not on Tuesdays"), "{text}");
        // A turn of which a part was taken back misleads as a whole.
        assert!(!text.contains("flimzarn"), "{text}");
        let found = world.search(&alpha, &["flimzarn", "--kind", "decision"]);
        assert_eq!(found.len(), 1, "{found:?}");
        world.go(&alpha, &["rebuild"]);
    }
}

/// Ways of reading that tell what is in force.
const IN_FORCE: [&str; 5] = ["start", "prompt", "subagent", "context", "context --prompt"];

#[test]
fn correction_by_an_end_date() {
    let world = World::new();
    let alpha = world.project("alpha");
    // Said on 2026-11-10: the first is over, the second is not.
    let said = [
        "We decided to use snarfbolt for metrics until 2026-11-12 because it is free.",
        "We decided to use brantlequix for traces until 2099-12-31 because it is free.",
    ];
    world.import(&alpha, &transcript(&alpha, "told", &said));
    let freeze = "---\nname: freeze\nmetadata:\n  priority: 1\n  \
        modified: 2026-11-10T09:00:00.000Z\n---\nNo zorvexquill deploys until 2026-11-12.\n";
    let saved = world.go(&alpha, &["memory", "path", "--scope", "user"]).raw;
    let folder = std::path::PathBuf::from(saved.trim());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("freeze.md"), freeze).unwrap();
    for step in ["drain", "rebuild"] {
        if step == "rebuild" {
            world.go(&alpha, &["rebuild"]);
        }
        world.den.drain();
        for (n, question) in [
            "what did we decide to use for metrics?",
            "what did we decide to use for traces?",
        ]
        .iter()
        .enumerate()
        {
            let reads = world.reads(&alpha, &format!("{step}{n}"), question);
            let told = |term: &str| {
                let mut ways = showing(&reads, term);
                ways.retain(|way| IN_FORCE.contains(&way.as_str()));
                ways
            };
            assert!(
                told("brantlequix").contains(&"start".to_owned()),
                "{reads:#?}"
            );
            // `context` says what is left out, and why.
            for term in ["snarfbolt", "zorvexquill"] {
                let mut ways = told(term);
                ways.retain(|way| !way.starts_with("context"));
                assert_eq!(ways, Vec::<String>::new(), "{term} {step}: {reads:#?}");
            }
            let context = reads.iter().find(|(way, _)| way == "context").unwrap();
            assert!(context.1.contains("ended 2026-11-12"), "{}", context.1);
        }
        // History keeps it, and says so.
        let found = world.search(&alpha, &["snarfbolt", "--kind", "decision"]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0]["ended"], "2026-11-12");
        let number = world.number(&alpha, "decision", "snarfbolt");
        let shown = world.go(&alpha, &["show", &number]).raw;
        assert!(shown.contains("2026-11-12, by its own words"), "{shown}");
        let (text, _) = world.mcp(&alpha, "search", &json!({ "query": "snarfbolt metrics" }));
        assert!(text.contains("(ended 2026-11-12)"), "{text}");
        let listed = world.go(&alpha, &["memory", "list"]).raw;
        assert!(listed.contains("[ended]"), "{listed}");
    }
}

#[test]
fn correction_retraction_without_replacement() {
    let world = World::new();
    let alpha = world.project("alpha");
    // One source that asserts two things.
    let said = "We decided to cache sessions in zorvexquill because it is near. \
        We decided to keep prices in cents because brantlequix rounds badly.";
    let source = transcript(&alpha, "told", &[said]);
    world.import(&alpha, &source);
    world.den.drain();
    let question = "what did we decide about caching sessions?";
    let text = world.prompt("before", &alpha, question);
    assert!(text.contains("zorvexquill"), "{text}");
    world.den.drain();
    let number = world.number(&alpha, "decision", "zorvexquill");
    // No reason, and nothing in its place.
    world.go(&alpha, &["wrong", &number]);
    let again = |world: &World, step: usize| {
        match step {
            0 => {}
            1 => {
                std::fs::remove_dir_all(world.den.paths.home().join("import")).unwrap();
                world.import(&alpha, &source);
            }
            2 => world.session("again", &alpha, said, "Noted."),
            3 => drop(world.go(&alpha, &["rebuild"])),
            _ => drop(world.go(&alpha, &["worker", "restart"])),
        }
        world.den.drain();
    };
    for step in 0..5 {
        again(&world, step);
        let [asked, begun] = told(&world, &alpha, &format!("a{step}"), question);
        for text in [asked, begun] {
            assert!(!text.contains("zorvexquill"), "{step}: {text}");
        }
        let other = world.prompt(&format!("b{step}"), &alpha, "why are prices kept in cents?");
        assert!(other.contains("brantlequix"), "{step}: {other}");
    }
}

#[test]
fn correction_by_hand_survives_reindex() {
    let world = World::new();
    let alpha = world.project("alpha");
    let said = "We decided to deploy to flimzarn on Tuesdays because traffic is low.";
    world.session("one", &alpha, said, "Noted.");
    world.den.drain();
    let number = world.number(&alpha, "decision", "flimzarn");
    // A part of it, in the user's own words.
    let title = "We decided to deploy to flimzarn on Thursdays";
    world.go(
        &alpha,
        &["edit", &number, "--title", title, "--text", title],
    );
    for step in [&["worker", "drain"][..], &["rebuild"]] {
        world.go(&alpha, step);
        let session = format!("asked after {}", step[0]);
        let text = world.prompt(
            &session,
            &alpha,
            "when do we deploy to flimzarn? what did we decide?",
        );
        assert!(text.contains("flimzarn on Thursdays"), "{text}");
        assert!(
            !text.contains("decision (the user): We decided to deploy to flimzarn on Tuesdays"),
            "{text}"
        );
        world.den.drain();
    }
}
