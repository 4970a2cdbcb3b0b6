use remora_core::detail::DetailList;
use remora_core::record::{Item, Kind};
use serde_json::json;

use super::{OpenFailures, change_title};
use crate::testing::item;

fn run(uid: &str, kind: Kind, command: &str) -> Item {
    Item {
        kind,
        facts: vec![format!("$ {command}")],
        detail: Some(
            json!({
                "command": command,
                "fingerprint": "print",
                "says": ["Could not reach the registry of parts"],
            })
            .into(),
        ),
        ..item(uid, &format!("Ran `{command}`"))
    }
}

fn edit(uid: &str) -> Item {
    Item {
        files_modified: vec![format!("{uid}.rs")],
        text: "+    registry: parts,".to_owned(),
        ..item(uid, &format!("Changed `registry` of parts in {uid}.rs"))
    }
}

/// The fix that is learned of a failure, these steps, and the pass.
fn learn(steps: &[Item], pass: &str, before: Option<&Item>) -> Option<Item> {
    let mut failures = OpenFailures::default();
    failures.record_item(&run("f", Kind::Failure, "make plan"));
    for step in steps {
        failures.record_item(step);
    }
    let pass = run(pass, Kind::Command, "make plan");
    let known = |_: &str| Ok::<_, ()>(before.cloned());
    failures.find_proven_fixes(&pass, known).unwrap().pop()
}

#[test]
fn a_fix_names_the_passes_that_prove_what_it_tells() {
    let passes = |fix: &Item| -> Vec<String> {
        let passes = fix.detail_list(DetailList::Passes);
        passes.map(str::to_owned).collect()
    };
    let first = learn(&[edit("a")], "p1", None).unwrap();
    let again = learn(&[edit("a")], "p2", Some(&first)).unwrap();
    assert_eq!(passes(&again), ["p1", "p2"]);
    let other = learn(&[edit("b")], "p3", Some(&again)).unwrap();
    assert_eq!(passes(&other), ["p3"]);
}

#[test]
fn of_many_commands_what_came_after_the_last_failure_is_told() {
    let made = |name: &str| run(name, Kind::Command, &format!("systemctl start {name}"));
    let many: Vec<Item> = ["a", "b", "c"].map(made).into();
    assert_eq!(
        learn(&many, "p", None),
        None,
        "it is unclear what mended it"
    );
    let mut tried = many[..2].to_vec();
    tried.push(run("again", Kind::Failure, "make plan"));
    tried.push(made("c"));
    let fix = learn(&tried, "p", None).unwrap();
    assert_eq!(change_title(&fix), "Ran `systemctl start c`");
    assert!(
        !fix.facts
            .contains(&"fix: Ran `systemctl start a`".to_owned()),
        "{fix:?}"
    );
}

/// A failure of a known tool.
fn failure(tool: &str, title: &str, says: &str, facts: &[&str]) -> Item {
    let mut item = run("f", Kind::Failure, "make plan");
    title.clone_into(&mut item.title);
    item.facts
        .extend(facts.iter().map(|fact| (*fact).to_owned()));
    item.detail = Some(
        json!({
            "command": "make plan",
            "fingerprint": "print",
            "tool": tool,
            "says": [says],
        })
        .into(),
    );
    item
}

fn changed(title: &str, file: &str, diff: &str) -> Item {
    Item {
        files_modified: vec![file.to_owned()],
        text: diff.to_owned(),
        ..item(title, title)
    }
}

/// The change that is told of a failure, these steps, and the pass.
fn told(failure: &Item, steps: &[Item], pass: &str) -> Option<String> {
    let mut failures = OpenFailures::default();
    failures.record_item(failure);
    for step in steps {
        failures.record_item(step);
    }
    let pass = run("p", Kind::Command, pass);
    let fixes = failures
        .find_proven_fixes(&pass, |_| Ok::<_, ()>(None))
        .unwrap();
    fixes.first().map(|fix| change_title(fix).to_owned())
}

#[test]
fn a_fix_is_headed_by_a_step_that_bears_on_the_error() {
    let asked = failure(
        "go test",
        "go test: 1 test failed (TestLenderUsesStoredCard)",
        "unexpected call of lendCard",
        &["lender/card_test.go:31: TestLenderUsesStoredCard: unexpected call of lendCard"],
    );
    let largest = failure(
        "go test",
        "go test: the build failed, 1 error",
        "redefines the built-in function 'max'",
        &["shelf/count.go:9: redefines the built-in function max"],
    );
    let blocked = failure(
        "go test",
        "go test: 1 test failed (TestMoveNeedsForce)",
        "message lacks 'shelf is blocked'",
        &["shelf/move_test.go:80: TestMoveNeedsForce: message lacks \"shelf is blocked\""],
    );
    let stored = changed(
        "Changed `lendCard` in lender/card.go",
        "lender/card.go",
        "-\tlendCard(id)",
    );
    let import = changed(
        "Imported `time` in lender/card_test.go",
        "lender/card_test.go",
        "+\t\"time\"",
    );
    let renamed = changed(
        "Changed shelf/count.go",
        "shelf/count.go",
        "-func max(\n+func largest(",
    );
    let marker = changed(
        "Added constant `marker` to shelf/count.go",
        "shelf/count.go",
        "+const marker = 1",
    );
    let filter = changed(
        "Changed `filterNames` in catalogue/names.go",
        "catalogue/names.go",
        "+\tfilterNames(all)",
    );
    let removed = changed(
        "Removed test TestMoveNeedsForce from shelf/move_test.go",
        "shelf/move_test.go",
        "-func TestMoveNeedsForce(",
    );
    let added = changed(
        "Added 4 tests to shelf/move_test.go",
        "shelf/move_test.go",
        "+func TestMoveTwice(",
    );
    let moved = changed(
        "Changed `moveShelf` in shelf/move.go",
        "shelf/move.go",
        "+\treturn errors.New(\"shelf is blocked\")",
    );
    for (failure, steps, wanted) in [
        (&asked, vec![&stored, &import], Some(&stored)),
        (&asked, vec![&import, &filter, &marker], None),
        (&largest, vec![&renamed, &marker], Some(&renamed)),
        (&blocked, vec![&filter, &marker, &import], None),
        (&blocked, vec![&filter], Some(&filter)),
        (&blocked, vec![&removed], None),
        (&blocked, vec![&added], None),
        (&blocked, vec![&moved, &added, &filter], Some(&moved)),
    ] {
        let steps: Vec<Item> = steps.into_iter().cloned().collect();
        let wanted = wanted.map(|step| step.title.clone());
        assert_eq!(
            told(failure, &steps, "make plan"),
            wanted,
            "{}",
            failure.title
        );
    }
}

#[test]
fn what_steps_over_a_check_is_no_fix() {
    let refused = run("f", Kind::Failure, "make plan");
    let command = |line: &str| {
        let mut step = run(line, Kind::Command, line);
        let key = crate::output::same_command_key(line);
        step.detail = Some(json!({"command": key}).into());
        step
    };
    let edit = edit("a");
    for (steps, pass) in [
        (vec![command("sudo chown me parts")], "make plan"),
        (vec![command("git push --force")], "make plan"),
        (vec![edit.clone()], "make plan --no-verify"),
        (vec![], "make plan --admin"),
    ] {
        assert_eq!(told(&refused, &steps, pass), None, "{steps:?} {pass}");
    }
    let steps = [command("git commit --no-verify -m x"), edit.clone()];
    assert_eq!(told(&refused, &steps, "make plan"), Some(edit.title));
    let steps = [
        command("sudo chown me parts"),
        command("systemctl start parts"),
    ];
    assert_eq!(told(&refused, &steps, "make plan"), None);
    let steps = [command("sudo apt-get install -y libparts")];
    let package = "Ran `apt-get install -y libparts`".to_owned();
    assert_eq!(told(&refused, &steps, "make plan"), Some(package));
    // A program whose name only ends in `sudo` keeps it.
    let steps = [command(
        "visudo --check parts && /usr/bin/sudo apt install x",
    )];
    let checked = "Ran `visudo --check parts && apt install x`".to_owned();
    assert_eq!(told(&refused, &steps, "make plan"), Some(checked));
}

#[test]
fn a_fix_of_an_earlier_version_that_steps_over_a_check_is_known() {
    let fix = |change: &str, command: &str| Item {
        kind: Kind::Fix,
        detail: Some(json!({"command": command}).into()),
        ..item("x", &format!("it was refused → {change}"))
    };
    for (change, command, expected) in [
        ("Ran it with `--admin`", "gh pr merge", true),
        ("Ran it with `-f`", "git push", true),
        ("Ran `sudo make start`", "make", true),
        ("Ran `sudo apt-get install libparts`", "make", true),
        ("Ran `visudo --check parts`", "make", false),
        ("Ran it with `-f`", "kubectl apply", false),
        ("Changed `sudo` in docs/a.md", "make", false),
    ] {
        assert_eq!(
            super::steps_over_check(&fix(change, command)),
            expected,
            "{change}"
        );
    }
}

#[test]
fn conflicts_and_unused_names_teach_nothing() {
    let edit = changed(
        "Changed `shelf` in shelf/move.go",
        "shelf/move.go",
        "-\tshelf := 1",
    );
    let place = ["shelf/move.go:8: shelf"];
    for (tool, title, says, teaches) in [
        (
            "git rebase",
            "git rebase: conflict in shelf/move.go",
            "conflict in 'shelf/move.go'",
            false,
        ),
        (
            "go build",
            "go build: 1 error",
            "declared and not used: shelf",
            false,
        ),
        (
            "go build",
            "go build: 1 error",
            "'shelf' imported and not used",
            false,
        ),
        (
            "ruff",
            "ruff: 1 error",
            "F401 'shelf' imported but unused",
            false,
        ),
        (
            "eslint",
            "eslint: 1 error",
            "no-unused-vars 'shelf' is assigned a value",
            false,
        ),
        ("go build", "go build: 1 error", "undefined: shelf", true),
    ] {
        let failure = failure(tool, title, says, &place);
        let told = told(&failure, std::slice::from_ref(&edit), "make plan");
        assert_eq!(told.is_some(), teaches, "{says}");
    }
}

#[test]
fn a_failure_without_a_message_is_behind_edits_and_teaches_nothing() {
    let mut bare = failure("go test", "go test: 1 test failed", "", &[]);
    bare.detail = Some(json!({"command": "make plan", "tool": "go test"}).into());
    bare.concepts = vec!["test".to_owned()];
    let mut failures = OpenFailures::default();
    failures.record_item(&bare);
    assert_eq!(failures.find_failure_behind("shelf/move.go"), Some(&bare));
    assert_eq!(told(&bare, &[edit("a")], "make plan"), None);
}

#[test]
fn a_command_that_may_have_changed_something_is_told_where_nothing_else_was_done() {
    let made = |uid: &str, command: &str| run(uid, Kind::Command, command);
    let reload = || made("r", "ansible nodes -b -a 'consul reload'");
    let fix = learn(&[reload()], "p", None).unwrap();
    assert_eq!(
        change_title(&fix),
        "Ran `ansible nodes -b -a 'consul reload'`"
    );
    let fix = learn(&[reload(), edit("a")], "p", None).unwrap();
    assert_eq!(change_title(&fix), "Changed `registry` of parts in a.rs");
    let check = Item {
        concepts: vec!["test".into()],
        ..made("t", "bin/parts --all")
    };
    let looks = [
        made("k", "kubectl get pods"),
        made("l", "npm run lint"),
        check,
    ];
    assert_eq!(
        learn(&looks, "p", None),
        None,
        "looks and checks mend nothing"
    );
}

#[test]
fn what_is_done_after_the_command_fails_otherwise_is_not_for_the_first_error() {
    let mut failures = OpenFailures::default();
    failures.record_item(&run("f", Kind::Failure, "make plan"));
    failures.record_item(&edit("a"));
    let mut other = run("g", Kind::Failure, "make plan");
    other.detail = Some(json!({"command": "make plan", "fingerprint": "other", "says": ["The region of parts is closed"]}).into());
    failures.record_item(&other);
    failures.record_item(&edit("b"));
    let pass = run("p", Kind::Command, "make plan");
    let known = |_: &str| Ok::<_, ()>(None);
    let fixes = failures.find_proven_fixes(&pass, known).unwrap();
    let changes: Vec<&str> = fixes.iter().map(change_title).collect();
    assert_eq!(
        changes,
        [
            "Changed `registry` of parts in a.rs",
            "Changed `registry` of parts in b.rs"
        ]
    );
    assert!(!fixes[0].files_modified.contains(&"b.rs".to_owned()));
}
