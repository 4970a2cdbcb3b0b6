use remora_protocol::record::{Item, Kind};
use serde_json::json;

use super::{OpenFailures, change, field, list};
use crate::testing::item;

fn run(uid: &str, kind: Kind, command: &str) -> Item {
    Item {
        kind,
        facts: vec![format!("$ {command}")],
        detail: Some(json!({
            field::COMMAND: command,
            field::FINGERPRINT: "print",
            field::SAYS: ["Could not reach the registry of parts"],
        })),
        ..item(uid, &format!("Ran `{command}`"))
    }
}

fn edit(uid: &str) -> Item {
    Item {
        files_modified: vec![format!("{uid}.rs")],
        ..item(uid, &format!("Changed {uid}.rs"))
    }
}

/// The fix that is learned of a failure, these steps, and the pass.
fn learn(steps: &[Item], pass: &str, before: Option<&Item>) -> Option<Item> {
    let mut failures = OpenFailures::default();
    failures.note(&run("f", Kind::Failure, "make plan"));
    for step in steps {
        failures.note(step);
    }
    let pass = run(pass, Kind::Command, "make plan");
    let known = |_: &str| Ok::<_, ()>(before.cloned());
    failures.passed(&pass, known).unwrap().pop()
}

#[test]
fn a_fix_names_the_passes_that_prove_what_it_tells() {
    let passes = |fix: &Item| -> Vec<String> {
        let passes = list(fix, field::PASSES);
        passes.map(str::to_owned).collect()
    };
    let first = learn(&[edit("a")], "p1", None).unwrap();
    let again = learn(&[edit("a")], "p2", Some(&first)).unwrap();
    assert_eq!(passes(&again), ["p1", "p2"]);
    let other = learn(&[edit("b")], "p3", Some(&again)).unwrap();
    assert_eq!(passes(&other), ["p3"]);
}

#[test]
fn of_much_that_bears_on_nothing_what_came_after_the_last_failure_is_told() {
    let many: Vec<Item> = ["a", "b", "c", "d", "e", "f", "g"].map(edit).into();
    assert_eq!(
        learn(&many, "p", None),
        None,
        "it is unclear what mended it"
    );
    let mut tried = many[..6].to_vec();
    tried.push(run("again", Kind::Failure, "make plan"));
    tried.push(edit("g"));
    let fix = learn(&tried, "p", None).unwrap();
    assert_eq!(change(&fix), "Changed g.rs");
    assert!(!fix.files_modified.contains(&"a.rs".to_owned()), "{fix:?}");
}
