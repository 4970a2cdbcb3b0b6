//! A few cases against engines that are shell lines.

use super::*;

const BOOK: &str = r##"{
  "stub_path": "/home/dev/bin/h.sh",
  "stub": "#!/bin/sh\nmkdir -p \"$H_LOG\"; { pwd; cat; } > \"$H_LOG/$1.$$\"\n",
  "layer_sets": {"one": {"user": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/home/dev/bin/h.sh a"}]}]}}}},
  "cases": [
    {"name": "one runs", "family": "x", "layers": "one", "event": {"hook_event_name": "Stop", "cwd": "/home/dev/app"}, "truth": {"ran": {"a": 1}, "blocked": false}},
    {"name": "one does not", "family": "y", "layers": {}, "event": {"hook_event_name": "Stop", "cwd": "/home/dev/app"}, "truth": {"ran": {}, "blocked": true, "reason": ["no way"]}}
  ]
}"##;

fn play(engine: &str) -> Vec<CaseVerdict> {
    let folder = tempfile::tempdir().unwrap();
    let book: CaseBook = serde_json::from_str(BOOK).unwrap();
    let run = ConformanceRun {
        engine,
        folder: folder.path(),
        jobs: 2,
    };
    let verdicts = play_book(&book, &run).unwrap();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only the stub is left: {left:?}");
    verdicts
}

#[test]
fn what_an_engine_says_and_does_is_compared() {
    let runs = r#"event=$(sed 's/.*"event"://'); home=$(dirname "$PWD"); echo "$event" | H_LOG="$home/rec" "$home/bin/h.sh" a >/dev/null; echo '{"outcome": {"blocked": true, "reason": "no"}}'"#;
    let found: Vec<Vec<String>> = play(runs).into_iter().map(|v| v.differences).collect();
    assert_eq!(
        found,
        [
            vec!["blocked: client false, engine true".to_owned()],
            vec![
                "ran: client {}, engine {\"a\":1}".to_owned(),
                "reason: client \"no way\", engine \"no\"".to_owned()
            ],
        ]
    );
}

#[test]
fn an_engine_that_does_not_answer_is_reported() {
    for (engine, problem) in [
        ("echo oops >&2; exit 3", "the engine printed no JSON"),
        (
            "echo '{\"refused\": \"broken\"}'",
            "refuses to load: \"broken\"",
        ),
    ] {
        let found = &play(engine)[0].differences[0];
        assert!(found.starts_with(problem), "{found}");
    }
}

#[test]
fn cases_are_chosen_by_name_and_family() {
    let mut book: CaseBook = serde_json::from_str(BOOK).unwrap();
    book.filter("y");
    assert_eq!(book.case_count(), 1);
}
