//! `remora conformance`: this engine against recorded cases, and others.

use serde_json::json;

use crate::sandbox::Sandbox;

const CASES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/hooks/recorded.json"
);

#[test]
fn this_engine_agrees_with_the_client() {
    let sandbox = Sandbox::new();
    let engine = format!("{} conformance --as-engine", env!("CARGO_BIN_EXE_remora"));
    let (done, report) = sandbox
        .remora(&[
            "conformance",
            "--cases",
            CASES,
            "--engine",
            &engine,
            "--filter",
            "exit",
        ])
        .json();
    assert!(report["cases"].as_u64() > Some(10), "{report}");
    assert_eq!(
        (&report["differ"], done.code),
        (&json!(0), Some(0)),
        "{report:#}"
    );
    assert!(sandbox.left_in_tmp().is_empty());
}

#[test]
fn an_engine_that_decides_nothing_differs() {
    let sandbox = Sandbox::new();
    let args = [
        "conformance",
        "--cases",
        CASES,
        "--filter",
        "exit",
        "--engine",
    ];
    let done = sandbox
        .remora(&args)
        .args(&["echo '{\"outcome\":{}}'"])
        .go();
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("ran: client"), "{done}");
}

#[test]
fn what_cannot_be_played_is_an_error() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.remora(&["conformance", "--engine", "true"]).go(), @r"
    $ remora conformance --engine true
    stderr: remora: fixtures/hooks/recorded.json: there is no such file
    exit 1
    ");
    let done = sandbox
        .remora(&[
            "conformance",
            "--engine",
            "true",
            "--cases",
            CASES,
            "--filter",
            "no such case",
        ])
        .go();
    assert_eq!(done.code, Some(1));
    let done = sandbox
        .remora(&["conformance", "--as-engine"])
        .stdin("{}")
        .go();
    assert!(done.stderr.contains("not a request"), "{done}");
}
