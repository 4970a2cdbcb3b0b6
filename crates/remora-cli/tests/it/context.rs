//! `remora context`: which session is meant, and whether anything is given now.

use insta::assert_snapshot;
use remora_client::{DataPaths, InjectionLog, NewInjection};

use crate::remembered::{CART, Remembered};

#[test]
fn a_session_is_known_by_its_beginning() {
    let memory = Remembered::shop();
    let told = |id: &str| memory.json(&format!("context --event compact --session {id}"));
    let whole = told(CART);
    assert!(whole["text"].is_string(), "{whole}");
    assert_eq!(told(&CART[..8]), whole);
    assert_snapshot!(memory.go("context --event compact --session nobody"), @"
    $ remora context --event compact --session nobody
    stderr: remora: `nobody` is not a session; `remora sessions --all` lists them
    exit 1
    ");
}

#[test]
fn the_session_is_that_of_an_agent_that_is_known() {
    let memory = Remembered::shop();
    let told = |flag: &str| memory.json(&format!("context --event start{flag}"));
    let agent = remora_agents::recorded_agent().name;
    // The project's sessions were this agent's.
    assert_eq!(told(&format!(" --agent {agent}")), told(""));
    let refused = memory.go("context --agent nobody");
    assert!(
        refused
            .stderr
            .contains("`nobody` is not an agent Remora knows"),
        "{refused}"
    );
}

#[test]
fn after_a_compaction_nothing_counts_as_given() {
    let memory = Remembered::shop();
    memory.go("remember --user --priority 1 --name tabs Tabs.");
    let told = || memory.json(&format!("context --event compact --session {CART}"));
    let before = told();
    let given = before["given"].as_array().unwrap();
    assert!(
        given.iter().any(|g| g["item"] == "memory://user/tabs"),
        "{before}"
    );
    let paths = DataPaths::new(memory.sandbox.path("home/.remora"));
    let mut file = InjectionLog::open(&paths, CART, None).unwrap();
    for one in given {
        let giving = NewInjection {
            item: one["item"].as_str().unwrap(),
            trigger: "prompt",
            why: "asked",
            tokens: 1,
        };
        file.record_injections(&[giving], 1).unwrap();
    }
    drop(file);
    assert_eq!(told(), before);
}

#[test]
fn a_switch_that_is_off_is_said() {
    let memory = Remembered::shop();
    let told = memory
        .call("context --event start")
        .environment("REMORA_OFF", "1")
        .go();
    assert!(told.stderr.contains("paused here"), "{told}");
    let told = memory
        .call("pause --status")
        .environment("REMORA_OFF", "1")
        .go();
    assert_snapshot!(told, @"
    $ remora pause --status
    REMORA_OFF is set: hooks started from here capture nothing
    exit 0
    ");
}

#[test]
fn what_is_not_there_is_said() {
    let memory = Remembered::nothing();
    assert_snapshot!(memory.go("context --file nope.rs"), @"
    $ remora context --file nope.rs
    Nothing would be injected.
    stderr: note: nope.rs: no such file
    exit 0
    ");
    assert_snapshot!(memory.go("ledger --session abc"), @"
    $ remora ledger --session abc
    stderr: remora: `abc` is not a session; `remora sessions --all` lists them
    exit 1
    ");
}
