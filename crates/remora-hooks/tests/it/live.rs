//! Recorded sessions: what the real client did over time with known settings,
//! handlers and a scripted model. A scripted client over `Session` must see the
//! same.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

mod case;
mod client;
mod clock;
mod compare;
mod drive;
mod heads;
mod model;
mod naps;
mod tools;
mod world;

use case::Case;
use client::Client;
use world::World;

/// Cases on which the session differs, each with its reason. A case listed here
/// that agrees fails the test too.
const DIFFERENT: &[(&str, &str)] = &[];

/// Cases in the book of the repository.
const CASES: usize = 355;
/// Names another book to play in its place, as it was recorded.
const BOOK_VAR: &str = "REMORA_LIVE_CASES";

pub(crate) fn load_book() -> Value {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is started by whoever judges it"
    )]
    let other = std::env::var_os(BOOK_VAR);
    let path = other
        .as_ref()
        .map_or_else(|| fixture("live.json"), PathBuf::from);
    let book = read_book(&path);
    let cases = book["cases"].as_array().unwrap().len();
    assert!(cases == CASES || other.is_some(), "{cases} cases");
    book
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/hooks")
        .join(name)
}

fn read_book(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn a_session_lives_as_the_client_s_did() {
    play_book(&load_book());
}

/// Cases of our own, by the rules that the recordings showed: where those have one
/// or two cases, or none.
#[test]
fn a_session_keeps_the_rules_beyond_the_recordings() {
    let mut book = read_book(&fixture("live.json"));
    let own = read_book(&fixture("live-rules.json"));
    book["cases"] = own["cases"].clone();
    play_book(&book);
}

fn play_book(book: &Value) {
    // Written once, before any child is started: a program that is open for writing
    // somewhere cannot be run.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let stub = program("h.sh", book["stub"].as_str().unwrap());
    let sleep = program("sleep", clock::SLEEP);
    let cases: Vec<Case> = book["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| Case::lay_out(book, case, &stub, &sleep))
        .collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        // Most of them wait for a child, so there are more threads than cores.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let problems = catch_unwind(AssertUnwindSafe(|| play(case)));
                    let problems = problems.unwrap_or_else(|_| vec!["it panicked".into()]);
                    found.lock().unwrap().insert(case.name.clone(), problems);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let mut wrong = Vec::new();
    for (name, problems) in &found {
        let excuse = DIFFERENT.iter().find(|(n, _)| n == name);
        match (problems.is_empty(), excuse) {
            (true, Some(_)) => wrong.push(format!("{name}: agrees; take it off the list")),
            (false, None) => wrong.push(format!("{name}: {}", problems.join("\n    "))),
            _ => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases differ:\n{}",
        wrong.len(),
        found.len(),
        wrong.join("\n")
    );
}

fn play(case: &Case) -> Vec<String> {
    let world = World::new(case);
    let client = Client::new(&world);
    client.play();
    world.leave();
    compare::find_differences(&client)
}
