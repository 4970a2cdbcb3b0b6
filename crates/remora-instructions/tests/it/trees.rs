//! Trees of files against what the real client showed its model: those that were recorded, and
//! our own for each rule.
//!
//! Every tree is laid out in a temporary root of its own, loaded, and its reads are played.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::compare;
use crate::tree::Tree;

/// Trees on which we differ, each with its reason. One that is listed here and agrees fails the
/// test too.
const DIFFERENT: &[(&str, &str)] = &[];

#[test]
fn recorded_trees_load_as_the_client_loaded_them() {
    let trees = read(&fixtures().join("recorded.json"));
    assert_eq!(trees.len(), 85);
    check(&trees);
}

#[test]
fn every_rule_has_a_tree_that_shows_it() {
    let mut files: Vec<PathBuf> = fs::read_dir(fixtures().join("rules"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let trees: Vec<Value> = files.iter().flat_map(|file| read(file)).collect();
    assert!(trees.len() >= 40, "only {} trees", trees.len());
    check(&trees);
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/instructions")
}

fn read(file: &Path) -> Vec<Value> {
    let text = fs::read(file).unwrap();
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn check(trees: &[Value]) {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = trees.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case["name"].as_str().unwrap();
                    let problems = compare::problems(case, &Tree::lay(case).play());
                    let excuse = DIFFERENT.iter().find(|(known, _)| *known == name);
                    let problem = match (problems.is_empty(), excuse) {
                        (true, Some(_)) => format!("{name}: agrees; take it off the list"),
                        (false, None) => format!("{name}:\n{}", problems.join("\n")),
                        _ => continue,
                    };
                    found.lock().unwrap().push(problem);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(
        found.is_empty(),
        "{} of {} trees differ:\n{}",
        found.len(),
        trees.len(),
        found.join("\n")
    );
}
