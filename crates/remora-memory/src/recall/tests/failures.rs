//! What a failing command brings: which of several rows that speak of its error.

use remora_core::detail::DetailText;
use remora_core::record::{Item, Kind};
use serde_json::json;

use super::super::{error_print, fails_silently};
use super::{RecallTrigger, World, names, row, turn};

/// A fix of an error that says this, met by this command on this day.
fn fix(command: &str, says: &str, change: &str, day: i64) -> Item {
    let title = format!("it failed → {change}");
    Item {
        key: Some(format!("{command} {says}")),
        detail: Some(json!({"command": command, "says": [says], "fixed": 1}).into()),
        ..row(Kind::Fix, &title, day)
    }
}

#[test]
fn a_fix_is_found_though_the_word_index_lacks_what_its_error_says() {
    let world = World::default();
    world.add(fix("make up", "alembic:multiple-heads", "Ran `x`", 2));
    let error = "FAILED: Multiple head revisions are present for given argument 'head'";
    let command = "alembic upgrade head";
    let found = world.at(&RecallTrigger::Failure { command, error });
    assert_eq!(names(&found), ["#1"]);
}

#[test]
fn of_two_mends_that_of_the_same_program_is_given_and_else_the_later_one() {
    let world = World::default();
    let says = "Could not find a usable Docker environment, check the configuration";
    world.add(fix("mvnw -B verify", says, "Ran `podman start`", 2));
    world.add(fix("glab ci trace", says, "Changed .gitlab-ci.yml", 3));
    for (command, wanted) in [
        ("./mvnw -Dtest=A test", "#1"),
        ("A=1 glab ci trace unit", "#2"),
        ("gradle test", "#2"),
    ] {
        let error = says;
        let found = world.at(&RecallTrigger::Failure { command, error });
        assert_eq!(names(&found), [wanted], "{command}");
    }
}

#[test]
fn what_the_user_refused_is_given_and_not_the_change() {
    let world = World::default();
    let says = "terraform:state-lock";
    let session = "session 2";
    let failure = row(Kind::Failure, "make: plan failed", 2);
    let mut mend = fix("make plan", says, "Ran `terraform force-unlock 17`", 2);
    if let Some(detail) = &mut mend.detail {
        detail.set_text(DetailText::Error, &failure.uid);
    }
    let said = "Stop, don't force-unlock, that is another's apply";
    let prompt = Item {
        session: session.into(),
        time: failure.time + 1,
        text: said.into(),
        ..row(Kind::Prompt, said, 2)
    };
    mend.time += 2;
    for item in [failure, prompt, mend] {
        world.add(item);
    }
    let (command, error) = ("terraform apply", "Error: Error acquiring the state lock");
    let found = world.at(&RecallTrigger::Failure { command, error });
    assert_eq!(names(&found), ["#2"]);
}

#[test]
fn a_failure_that_never_passed_is_explained_by_the_end_of_a_later_turn() {
    let world = World::default();
    let says = "named: no library 'webkitgtkruntime'";
    world.add(Item {
        prompt: Some(3),
        detail: Some(json!({"command": "gh run view", "says": [says]}).into()),
        ..row(Kind::Failure, "gh run view failed", 2)
    });
    let mut end = turn(
        2,
        "drafts only",
        "CI lacked webkitgtkruntime, it is installed now.",
    );
    end.time += 1;
    end.prompt = Some(4);
    world.add(end);
    let error = "The system library `webkitgtkruntime` required by crate `a` was not found.";
    let command = "gh run view 7 --log-failed";
    let found = world.at(&RecallTrigger::Failure { command, error });
    assert_eq!(names(&found), ["#2"]);
}

#[test]
fn a_fix_of_a_rule_is_told_where_another_file_breaks_it() {
    let cases = [
        (
            "npx eslint lib",
            "@typescript-eslint/no-unused-vars 'foo' is assigned a value but never used",
            "Exit code 1\n\n/home/dev/app/lib/b.ts\n  9:7  error  'bar' is assigned a value but never used  \
             @typescript-eslint/no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n",
        ),
        (
            "ruff check lib",
            "F401 'os' imported but unused",
            "Exit code 1\nlib/b.py:4:8: F401 [*] `json` imported but unused\nFound 1 error.\n",
        ),
        (
            "cargo clippy -- -D warnings",
            "clippy::too_many_lines this function has too many lines (<n>)",
            "Exit code 101\nerror: this function has too many lines (140/100)\n  --> src/b.rs:40:1\n   |\n   = note: \
             `-D clippy::too-many-lines` implied by `-D warnings`\n\nerror: could not compile `app` (lib) due to 1 previous error\n",
        ),
    ];
    for (command, says, error) in cases {
        let world = World::default();
        world.add(fix(command, says, "Split it", 2));
        let found = world.at(&RecallTrigger::Failure { command, error });
        assert_eq!(names(&found), ["#1"], "{command}");
    }
}

#[test]
fn a_failure_behind_a_filter_brings_its_fix_unless_this_session_mended_it() {
    let command = "go test ./shelf 2>&1 | tail -4";
    let printed = "--- FAIL: TestShelfHolds (0.00s)\n    shelf_test.go:8: got 3 books, want 4\nFAIL\nFAIL\texample.org/attic/shelf\t0.01s";
    let moment = RecallTrigger::SilentFailure { command, printed };
    for (session, wanted) in [("before", vec!["#1"]), ("now", vec![])] {
        let world = World::default();
        world.add(Item {
            key: error_print(command, printed),
            session: session.into(),
            ..fix("go test ./shelf", "", "Changed `holds` in shelf.go", 2)
        });
        assert_eq!(names(&world.at(&moment)), wanted, "{session}");
    }
}

#[test]
fn only_what_reads_as_a_failure_that_can_be_known_again_is_one() {
    for (command, printed, expected) in [
        (
            "go vet ./... | head",
            "# example.org/attic\n./shelf.go:8:2: undefined: books",
            true,
        ),
        (
            "cargo build 2>&1 | tail -5",
            "error[E0425]: cannot find value `books` in this scope\n --> src/shelf.rs:8:2\nerror: could not compile `attic` (lib) due to 1 previous error",
            true,
        ),
        (
            "go test ./... | tail -2",
            "FAIL\texample.org/attic/shelf [build failed]\nFAIL",
            false,
        ),
        (
            "go test ./... | tail -2",
            "ok  \texample.org/attic/shelf\t0.01s",
            false,
        ),
        (
            "cat notes.md",
            "error[E0425]: cannot find value `books` in this scope\n --> src/shelf.rs:8:2",
            false,
        ),
        ("./load", "12 rows loaded, 1 error was left out", false),
    ] {
        assert_eq!(
            fails_silently(command, printed),
            expected,
            "{command}: {printed}"
        );
    }
}

#[test]
fn a_setting_mends_the_same_words_about_something_else_and_code_does_not() {
    let says = "ValueError: Missing staticfiles manifest entry for 'site.css'";
    let error = "ValueError: Missing staticfiles manifest entry for 'js/map.js'";
    let command = "bin/serve --once";
    for (change, file, expected) in [
        ("Added `STORAGES` to a", "config/settings/test.py", true),
        ("Ran `manage collectstatic`", "", true),
        ("Changed `start` in a", "sightings/views.py", false),
        // What only the first error names is what was mended.
        ("Ran `manage findstatic site.css`", "", false),
    ] {
        let world = World::default();
        let files = [file].into_iter().filter(|file| !file.is_empty());
        world.add(Item {
            facts: vec![format!("fix: {change}")],
            files_modified: files.map(str::to_owned).collect(),
            ..fix("bin/start", says, change, 2)
        });
        let found = world.at(&RecallTrigger::Failure { command, error });
        assert_eq!(!names(&found).is_empty(), expected, "{change}");
    }
}

#[test]
fn a_fix_of_what_only_its_own_error_names_is_not_given() {
    let says = "403 Cloud Vision API has not been used in project 4411 before or it is disabled";
    let change = "Ran `gcloud services enable vision.googleapis.com`";
    for (api, expected) in [("Vision", true), ("Text-to-Speech", false)] {
        let world = World::default();
        world.add(Item {
            facts: vec![format!("fix: {change}")],
            ..fix("python label.py", says, change, 2)
        });
        let error = format!(
            "403 Cloud {api} API has not been used in project 4411 before or it is disabled."
        );
        let command = "python speak.py";
        let found = world.at(&RecallTrigger::Failure {
            command,
            error: &error,
        });
        assert_eq!(!names(&found).is_empty(), expected, "{api}");
    }
}
