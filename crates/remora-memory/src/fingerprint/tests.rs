//! Cases live in `cases/fingerprints.json`: groups of errors that are the same
//! one; every group differs from every other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::{ErrorSigns, MessageSkeleton, error_signs, fingerprint_error};
use crate::output::{self, CommandOutcome, Problem};

fn cases() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/fingerprints.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn problem(value: &Value) -> Problem {
    let get = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Problem {
        file: get("file"),
        line: value
            .get("line")
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok()),
        code: get("code"),
        subject: get("subject"),
        message: get("message").unwrap_or_default(),
    }
}

fn made(error: &Value) -> super::ErrorFingerprint {
    tried(error).unwrap_or_else(|| panic!("no fingerprint: {error}"))
}

fn tried(error: &Value) -> Option<super::ErrorFingerprint> {
    let problems: Vec<Problem> = error["problems"]
        .as_array()
        .map(|list| list.iter().map(problem).collect())
        .unwrap_or_default();
    let text = error["text"].as_str().unwrap_or_default();
    fingerprint_error(error["tool"].as_str().unwrap_or("x"), &problems, text)
}

#[test]
fn errors_of_one_group_are_one_and_groups_differ() {
    let cases = cases();
    let mut owners: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut equal, mut unequal) = (0, 0);
    let groups = cases["groups"].as_array().unwrap();
    for (at, group) in groups.iter().enumerate() {
        let errors = group.as_array().unwrap();
        let first = made(&errors[0]);
        for error in errors {
            let print = made(error);
            assert_eq!(print, first, "the same error twice: {error}");
            equal += 1;
        }
        if let Some((other, normal)) = owners.insert(first.id, (at, first.normal.clone())) {
            panic!(
                "group {at} is as group {other}: {:?} and {normal:?}",
                first.normal
            );
        }
        unequal += at;
    }
    assert!(
        equal - groups.len() >= 60 && unequal >= 60,
        "{equal} {unequal}"
    );
}

#[test]
fn stored_names_stay_valid() {
    for case in cases()["stored"].as_array().unwrap() {
        let print = made(&case["error"]);
        assert_eq!(
            (print.id.as_str(), print.normal.as_str()),
            (
                case["id"].as_str().unwrap(),
                case["normal"].as_str().unwrap()
            )
        );
    }
}

#[test]
fn nothing_to_tell_it_by_gives_none() {
    for error in cases()["nothing"].as_array().unwrap() {
        assert_eq!(tried(error), None, "{error}");
    }
    assert_eq!(fingerprint_error("make", &[], ""), None);
    assert_eq!(fingerprint_error("make", &[], "\n 12 \n"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_bounded_name(tool in any::<String>(), message in any::<String>(), text in any::<String>()) {
        let problem = Problem { file: Some(text.clone()), line: Some(1), code: None, subject: Some(message.clone()), message };
        for list in [&[][..], &[problem][..]] {
            if let Some(print) = fingerprint_error(&tool, list, &text) {
                prop_assert_eq!(print.id.len(), 16);
                prop_assert!(print.normal.chars().count() <= 600);
            }
        }
    }

    #[test]
    fn numbers_in_a_message_do_not_matter(a in 0_u64..1_000_000, b in 0_u64..1_000_000) {
        let of = |n: u64| fingerprint_error("x", &[], &format!("error: row {n} of {n} failed after {n}ms at /srv/{n}/store.rs:{n}:9"));
        prop_assert_eq!(of(a), of(b));
    }
}

fn signs(command: &str, printed: &str) -> ErrorSigns {
    let reading = output::read_output(command, printed, CommandOutcome::Failed);
    error_signs(command, printed, reading.as_ref())
}

/// Whether two outputs have a fingerprint or a telling line in common.
fn are_same(one: &ErrorSigns, other: &ErrorSigns) -> bool {
    let says = |said: &String| {
        let said = MessageSkeleton::from_message(said);
        let mut others = other.says.iter();
        others.any(|message| {
            let is_same = MessageSkeleton::from_message(message).is_same(&said);
            assert!(!is_same || said.sieve().may_hold(message), "{message}");
            is_same
        })
    };
    one.print.is_some() && one.print == other.print || one.says.iter().any(says)
}

#[test]
fn an_error_is_known_again_behind_whatever_ran_its_tool() {
    for (one, other) in [
        (
            (
                "make up",
                "ERROR [util] Multiple head revisions are present\nmake: *** [Makefile:8: up] Error 255",
            ),
            (
                "alembic upgrade head",
                "FAILED: Multiple head revisions are present",
            ),
        ),
        (
            (
                "pytest",
                "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\nFAILED tests/a.py::test_a - redis.exceptions.ConnectionError: Error 111 c...\n1 failed in 0.5s",
            ),
            (
                "python seed.py",
                "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
            ),
        ),
        (
            (
                "gh run view 8 --log-failed",
                "web\tmake test\t    SyntaxError: Unexpected token 'export'\nweb\tmake test\tmake: *** [Makefile:3: test] Error 1",
            ),
            (
                "npx jest",
                "FAIL src/a.test.ts\n  \u{25cf} Test suite failed to run\n    Jest encountered an unexpected token\n    SyntaxError: Unexpected token 'export'",
            ),
        ),
        (
            (
                "docker build .",
                "#14 31.2 Error: @prisma/client did not initialize yet. Please run \"prisma generate\" and import it again.",
            ),
            (
                "pnpm build",
                "@shop/web:build: Error: @prisma/client did not initialize yet. Please run \"prisma generate\" and import it again.",
            ),
        ),
        (
            (
                "cargo run",
                "Error: SqliteFailure(Error { code: Unknown }, Some(\"no such module: rtree\"))",
            ),
            (
                "cargo test",
                "thread 'a' panicked at src/a.rs:1:2:\ncalled `Result::unwrap()` on an `Err` value: SqliteFailure(Error { code: Unknown }, Some(\"no such module: rtree\"))",
            ),
        ),
        (
            (
                "make",
                "b.cpp:(.text+0x1c): undefined reference to `vtable for ui::B'",
            ),
            (
                "make",
                "a.cpp:(.text+0x24): undefined reference to `vtable for ui::A'",
            ),
        ),
        (
            (
                "eas build",
                "[RUN_GRADLEW] > Duplicate class com.acme.a found in modules scanning-17.2.0 and play-services-18.3.0\nError: build command failed.",
            ),
            (
                "gradlew assemble",
                "> Duplicate class com.acme.a found in modules scanning-17.2.1 and play-services-18.3.0",
            ),
        ),
        (
            (
                "pytest",
                "E   assert 0.30000000000000004 == 0.3\nFAILED a.py::t",
            ),
            (
                "swift test",
                "A.swift:7: error: -[A.B testC] : XCTAssertEqual failed: (\"4.212999999999731\") is not equal to (\"4.213\")",
            ),
        ),
        (
            (
                "mvn verify",
                "[ERROR] src/A.java:[9,30] (misc) FinalParameters: Parameter a should be final.",
            ),
            (
                "mvn checkstyle:check",
                "[ERROR] src/B.java:[1,8] (misc) FinalParameters: Parameter rest should be final.",
            ),
        ),
    ] {
        let (one, other) = (signs(one.0, one.1), signs(other.0, other.1));
        assert!(are_same(&one, &other), "{one:?}\n{other:?}");
    }
}

#[test]
fn an_error_is_known_again_though_a_test_or_a_log_stands_around_it() {
    for (one, other) in [
        (
            (
                "rspec spec/models/pot_spec.rb",
                "Failures:\n\n  1) Pot has a glaze\n     Failure/Error: pot.glaze.melt\n\n     LoadError:\n       Could not open library 'glaze.so.7': glaze.so.7: cannot open shared object file: No such file or directory.\n\n2 examples, 1 failure",
            ),
            (
                "docker run --rm kiln/web rails runner 'Pot.last.glaze'",
                "rails aborted!\nLoadError: Could not open library 'glaze.so.7': glaze.so.7: cannot open shared object file: No such file or directory.",
            ),
        ),
        (
            (
                "pnpm logs:hook",
                "[web] POST /api/kiln 500 in 41ms\n[web] SealMismatchError: No seals found matching the expected seal for this parcel. Are you passing the raw bytes you received from the kiln?\n ELIFECYCLE  Command failed with exit code 1.",
            ),
            (
                "pnpm test hook",
                " FAIL  app/hook.test.ts > parcel\nSealMismatchError: No seals found matching the expected seal for this parcel. Are you passing the raw bytes you received from the kiln?\n ❯ POST app/hook.ts:9:33\n Test Files  1 failed (1)",
            ),
        ),
    ] {
        let (one, other) = (signs(one.0, one.1), signs(other.0, other.1));
        assert!(are_same(&one, &other), "{one:?}\n{other:?}");
    }
}

#[test]
fn errors_that_only_look_alike_stay_apart() {
    let suite = |got: &str| {
        format!(
            "Tests/A.swift:12: error: -[App.ATests testCreate] : XCTAssertEqual failed: (\"{got}\") is not equal to (\"201 Created\")\nTest Suite 'All tests' failed at 2026-03-05 20:41:30.\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.5 (0.5) seconds\nmake: *** [test] Error 1"
        )
    };
    let borrow = |name: &str| {
        format!(
            "error[E0502]: cannot borrow `{name}` as mutable because it is also borrowed as immutable\n --> src/a.rs:9:13"
        )
    };
    let reading =
        |name: &str| format!("TypeError: Cannot read properties of undefined (reading '{name}')");
    let words = |name: &str| format!("error: parameter {name} is missing");
    for (command, one, other) in [
        ("make test", suite("413 Too Large"), suite("404 Not Found")),
        ("cargo check", borrow("buf"), borrow("self.stack")),
        ("node a.js", reading("invoke"), reading("map")),
        ("lint", words("policyId"), words("restClient")),
    ] {
        let (one, other) = (signs(command, &one), signs(command, &other));
        assert!(one.print.is_some(), "{one:?}");
        assert!(!are_same(&one, &other), "{one:?}\n{other:?}");
    }
}

#[test]
fn an_error_without_a_message_of_its_own_has_no_fingerprint() {
    for (command, printed) in [
        (
            "go test ./... 2>&1 | tail -3",
            "FAIL\texample.org/kiln/internal/glaze [build failed]\nFAIL",
        ),
        (
            "go test ./internal/glaze | tail -2",
            "FAIL\texample.org/kiln/internal/glaze\t0.412s\nFAIL",
        ),
        (
            "go test ./internal/glaze | grep FAIL",
            "--- FAIL: TestGlazeMelts (0.00s)\nFAIL\nFAIL\texample.org/kiln/internal/glaze\t0.412s",
        ),
        (
            "go test ./internal/glaze | grep -- '--- FAIL'",
            "--- FAIL: TestGlazeMelts (0.00s)\n    --- FAIL: TestGlazeMelts/at_dawn (0.00s)",
        ),
        ("go run ./cmd/kiln", "exit status 1"),
        ("make", "Exit code 1\nexit status 1"),
        (
            "pytest -q | tail -2",
            "FAILED tests/test_glaze.py::test_melts\n1 failed in 0.31s",
        ),
        (
            "cargo test | tail -4",
            "failures:\n    glaze::melts\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ),
        ("./check", "FAIL"),
    ] {
        let signs = signs(command, printed);
        assert_eq!((signs.print, signs.says), (None, vec![]), "{printed}");
    }
}

#[test]
fn a_test_that_says_why_keeps_its_fingerprint() {
    for (command, printed) in [
        (
            "go test ./internal/glaze",
            "--- FAIL: TestGlazeMelts (0.00s)\n    glaze_test.go:12: got 900, want 1200\nFAIL\nFAIL\texample.org/kiln/internal/glaze\t0.412s",
        ),
        (
            "pytest -q",
            "FAILED tests/test_glaze.py::test_melts - assert 900 == 1200\n1 failed in 0.31s",
        ),
    ] {
        assert!(signs(command, printed).print.is_some(), "{printed}");
    }
}

#[test]
fn most_messages_are_kept_out_by_their_letters() {
    let sieves = |said: &str, message: &str| {
        MessageSkeleton::from_message(said)
            .sieve()
            .may_hold(message)
    };
    let linker = "the linker could not place <n> sections in the boot image";
    for (said, message, may) in [
        (linker, "The linker couldn't place sections", true),
        (linker, "the linker wants another boot image", true),
        (linker, "the linker has no such boot option", false),
        (linker, "", false),
        ("E0308 mismatched types", "error[E0308]: other words", true),
        ("E0308 mismatched types", "E0277 mismatched types", false),
        // Nothing in it but a name; what the table says in other words.
        ("'walrus'", "anything", true),
        (
            "named: no table 'orders'",
            "relation 'orders' does not exist",
            true,
        ),
    ] {
        assert_eq!(sieves(said, message), may, "{said} / {message}");
    }
}

proptest! {
    #[test]
    fn no_message_of_the_same_error_is_kept_out(
        words in prop::collection::vec("[a-zA-Z][a-z]{1,6}('t|-[a-z]{2}|[0-9]|: |ms)?|'[a-z]{3}'|[0-9]{1,4}|<n>|E[0-9]{4}|connect refused", 1..9),
        others in prop::collection::vec("[a-z]{2,6}|[0-9]{1,3}|<n>", 9),
        changed in 0_usize..9,
    ) {
        let one = words.join(" ");
        let mut words = words;
        if let Some(word) = words.get_mut(changed) {
            word.clone_from(&others[changed]);
        }
        // What is stored was normalised.
        let other = super::normal::normalise_text(&words.join(" "));
        let said = MessageSkeleton::from_message(&one);
        if MessageSkeleton::from_message(&other).is_same(&said) {
            prop_assert!(said.sieve().may_hold(&other), "{one} / {other}");
        }
    }
}
