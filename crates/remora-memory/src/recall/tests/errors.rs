//! Pairs of errors under `fixtures/errors`: a fix of the first is stored, and
//! the second asks for it.

use std::fs;
use std::path::Path;

use remora_protocol::record::{Item, Kind};
use serde_json::{Value, json};

use super::{Moment, World, names, row};
use crate::fingerprint::error_signs;
use crate::output::{self, Outcome};

/// Floors, in percent: what was reached. A lower figure is a fault.
const PRECISION: usize = 97;
const RECALL: usize = 95;

fn pairs() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/errors/pairs.jsonl");
    let text = fs::read_to_string(path).unwrap();
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

/// A store that holds the fix of this error and an unrelated one.
fn world_with_fix(first: &Value) -> (World, Option<String>) {
    let world = World::default();
    let (command, printed) = parts(first);
    let reading = output::read(command, printed, Outcome::Failed);
    let signs = error_signs(command, printed, reading.as_ref());
    let Some(print) = signs.print else {
        return (world, None);
    };
    let id = world.add(Item {
        key: Some(print.clone()),
        facts: signs.says.iter().map(|s| format!("error: {s}")).collect(),
        detail: Some(json!({"fingerprint": print, "says": signs.says, "fixed": 1})),
        ..row(Kind::Fix, "it failed → Changed `push` in src/q.rs", 2)
    });
    (world, Some(format!("#{id}")))
}

#[test]
fn a_fix_comes_for_the_same_error_and_not_for_one_that_looks_like_it() {
    let (mut given, mut right, mut wanted) = (0, 0, 0);
    let mut wrong = Vec::new();
    let pairs = pairs();
    for pair in &pairs {
        let (world, fix) = world_with_fix(&pair["first"]);
        let (command, error) = parts(&pair["then"]);
        let found = world.at(&Moment::Failure { command, error });
        let same = pair["same"].as_bool().unwrap();
        let came = fix.is_some_and(|fix| names(&found).contains(&fix.as_str()));
        wanted += usize::from(same);
        given += usize::from(came);
        right += usize::from(same && came);
        if same != came {
            let signs = |run: &Value| {
                let (command, printed) = parts(run);
                let reading = output::read(command, printed, Outcome::Failed);
                error_signs(command, printed, reading.as_ref())
            };
            wrong.push(format!(
                "{} {}\n  {:?}\n  {:?}",
                if same { "missed" } else { "wrong" },
                pair["why"],
                signs(&pair["first"]),
                signs(&pair["then"]),
            ));
        }
    }
    let precision = right * 100 / given.max(1);
    let recall = right * 100 / wanted.max(1);
    let report = format!(
        "{} pairs: precision {precision} ({right} of {given}), recall {recall} ({right} of {wanted})\n{}",
        pairs.len(),
        wrong.join("\n")
    );
    assert!(pairs.len() >= 80, "{report}");
    assert!(precision >= PRECISION && recall >= RECALL, "{report}");
}
