//! Pairs of errors under `fixtures/errors`: a fix of the first is stored, and
//! the second asks for it.

use std::fs;
use std::path::Path;

use remora_core::record::{Item, Kind};
use serde_json::{Value, json};

use super::{RecallTrigger, World, names, row};
use crate::fingerprint::{ErrorSigns, error_signs};
use crate::output::{self, CommandOutcome};

/// A file of pairs and its floors, in percent: what was reached. A lower figure
/// is a fault.
struct Pairs {
    file: &'static str,
    precision: usize,
    recall: usize,
    /// Whether a report may name what went wrong.
    shown: bool,
}

const FILES: &[Pairs] = &[
    Pairs {
        file: "pairs.jsonl",
        precision: 97,
        recall: 95,
        shown: true,
    },
    Pairs {
        file: "wide.jsonl",
        precision: 100,
        recall: 100,
        shown: true,
    },
    Pairs {
        file: "wide-held-out.jsonl",
        precision: 93,
        recall: 90,
        shown: false,
    },
    Pairs {
        file: "fresh.jsonl",
        precision: 100,
        recall: 95,
        shown: true,
    },
    Pairs {
        file: "fresh-held-out.jsonl",
        precision: 90,
        recall: 75,
        shown: false,
    },
    Pairs {
        file: "blind.jsonl",
        precision: 96,
        recall: 90,
        shown: true,
    },
    Pairs {
        file: "blind-held-out.jsonl",
        precision: 80,
        recall: 83,
        shown: false,
    },
    Pairs {
        file: "learned.jsonl",
        precision: 90,
        recall: 75,
        shown: true,
    },
];

fn load_pairs(file: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/errors");
    let text = fs::read_to_string(folder.join(file)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn parts(run: &Value) -> (&str, &str) {
    (
        run["command"].as_str().unwrap(),
        run["output"].as_str().unwrap(),
    )
}

/// A store that holds the fix of the first error, whose change is the one that the
/// pair names, or else one that says nothing of the error.
fn world_with_fix(pair: &Value) -> (World, Option<String>) {
    let world = World::default();
    let signs = signs_of(&pair["first"]);
    let Some(print) = signs.print else {
        return (world, None);
    };
    let change = pair["fix"].as_str().unwrap_or("Changed `push` in src/q.rs");
    let file = change.rsplit_once(" in ").map(|(_, file)| file.to_owned());
    let mut facts = vec![format!("fix: {change}")];
    facts.extend(
        signs
            .line
            .iter()
            .chain(&signs.says)
            .map(|s| format!("error: {s}")),
    );
    let id = world.add(Item {
        key: Some(print.clone()),
        facts,
        files_modified: file.into_iter().collect(),
        detail: Some(json!({"fingerprint": print, "says": signs.says, "fixed": 1}).into()),
        ..row(Kind::Fix, &format!("it failed → {change}"), 2)
    });
    (world, Some(format!("#{id}")))
}

fn signs_of(run: &Value) -> ErrorSigns {
    let (command, printed) = parts(run);
    let reading = output::read_output(command, printed, CommandOutcome::Failed);
    error_signs(command, printed, reading.as_ref())
}

/// The figures of one file, and whether they reach its floors.
fn judge(pairs: &Pairs) -> (String, bool) {
    let (mut given, mut right, mut wanted) = (0, 0, 0);
    let mut wrong = Vec::new();
    let list = load_pairs(pairs.file);
    for pair in &list {
        let (world, fix) = world_with_fix(pair);
        let (command, error) = parts(&pair["then"]);
        let found = world.at(&RecallTrigger::Failure { command, error });
        let same = pair["same"].as_bool().unwrap();
        let came = fix.is_some_and(|fix| names(&found).contains(&fix.as_str()));
        wanted += usize::from(same);
        given += usize::from(came);
        right += usize::from(same && came);
        if same != came && pairs.shown {
            wrong.push(format!(
                "\n{} {}, {}\n  {:?}\n  {:?}",
                if same { "missed" } else { "wrong" },
                pair["why"],
                pair["fix"],
                signs_of(&pair["first"]),
                signs_of(&pair["then"]),
            ));
        }
    }
    let precision = right * 100 / given.max(1);
    let recall = right * 100 / wanted.max(1);
    let report = format!(
        "{}: {} pairs, precision {precision} ({right} of {given}), recall {recall} ({right} of {wanted}){}",
        pairs.file,
        list.len(),
        wrong.concat()
    );
    let holds = list.len() >= 40 && precision >= pairs.precision && recall >= pairs.recall;
    (report, holds)
}

#[test]
fn a_fix_comes_for_the_same_error_and_not_for_one_that_looks_like_it() {
    let judged: Vec<(String, bool)> = FILES.iter().map(judge).collect();
    let report: Vec<&str> = judged.iter().map(|(report, _)| report.as_str()).collect();
    assert!(
        judged.iter().all(|(_, holds)| *holds),
        "{}",
        report.join("\n")
    );
}

#[test]
fn an_error_is_known_though_many_others_were_met_since() {
    let world = World::default();
    let met = |says: &str, command: &str, day| Item {
        facts: vec![format!("error: {says}")],
        detail: Some(json!({"says": [says], "command": command}).into()),
        ..row(Kind::Fix, "it failed → Changed `push` in src/q.rs", day)
    };
    let linker = "the linker could not place sections of libwalrus.a in the boot image";
    let fix = world.add(met(linker, "make release", 2));
    for at in 0..130 {
        let letter = char::from(b'a' + at % 26);
        let says = format!("the {letter}{letter}{letter} parser stopped at a strange token");
        world.add(met(&says, "make release", 3 + i64::from(at)));
    }
    let found = world.at(&RecallTrigger::Failure {
        command: "make release",
        error: "error: the linker could not place 17 sections of libseal.a in the boot image",
    });
    assert_eq!(names(&found), [format!("#{fix}")]);
    // Of two that say the same the one of the same program comes.
    let newer = world.add(met(linker, "ninja release", 200));
    let found = world.at(&RecallTrigger::Failure {
        command: "make release",
        error: "error: the linker could not place 17 sections of libseal.a in the boot image",
    });
    assert_eq!(names(&found), [format!("#{fix}")]);
    let found = world.at(&RecallTrigger::Failure {
        command: "cmake release",
        error: "error: the linker could not place 17 sections of libseal.a in the boot image",
    });
    assert_eq!(names(&found), [format!("#{newer}")]);
}
