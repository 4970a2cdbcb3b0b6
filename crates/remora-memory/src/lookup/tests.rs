//! The lookup cases, and that limits hold on any input.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{LookupReading, LookupValue, read_lookup};
use crate::testing_events::decode_call;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/lookups.json");
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(all.len() >= 40, "only {} cases", all.len());
    all
}

fn run(case: &Value) -> LookupReading {
    let (tool, outcome) = decode_call(
        case["tool"].as_str().unwrap(),
        &case["input"],
        case.get("response"),
        case.get("error").and_then(Value::as_str),
    );
    read_lookup(&tool, &outcome, case["root"].as_str().unwrap())
}

#[test]
fn calls_are_told_as_the_cases_say() {
    let mut wrong = Vec::new();
    for case in cases() {
        let reading = run(&case);
        let told = json!({
            "title": reading.title,
            "facts": reading.facts,
            "concepts": reading.concepts,
            "files_read": reading.files_read,
            "files_modified": reading.files_modified,
            "text": reading.text,
            "worth": if reading.worth == LookupValue::Keep { "keep" } else { "skip" },
        });
        if told != case["expect"] {
            wrong.push(format!("{}: {told:#}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("/home/dev/app/src/a.rs")),
    ];
    let key = prop::sample::select(vec![
        "file_path",
        "pattern",
        "path",
        "url",
        "query",
        "results",
        "title",
        "content",
        "text",
        "file",
        "type",
        "status",
        "numLines",
        "startLine",
        "totalLines",
        "filenames",
        "numFiles",
        "questions",
        "answers",
        "task",
        "plan",
        "edits",
        "old_string",
        "new_string",
        "structuredPatch",
        "lines",
        "notebook_path",
        "new_source",
        "mode",
        "code",
        "prompt",
        "description",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|list| list.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

const TOOLS: &[&str] = &[
    "Read",
    "LS",
    "Grep",
    "Glob",
    "WebFetch",
    "WebSearch",
    "Agent",
    "Task",
    "Skill",
    "TaskCreate",
    "TaskUpdate",
    "EnterWorktree",
    "ExitWorktree",
    "AskUserQuestion",
    "ExitPlanMode",
    "TodoWrite",
    "mcp__a__b",
    "mcp__",
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "Other",
    "",
];

proptest! {
    #[test]
    fn any_call_is_told(
        tool in prop::sample::select(TOOLS),
        input in any_value(),
        response in prop::option::of(any_value()),
        error in prop::option::of(any::<String>()),
    ) {
        let (tool, outcome) = decode_call(tool, &input, response.as_ref(), error.as_deref());
        let told = read_lookup(&tool, &outcome, "/home/dev/app");
        prop_assert!(!told.title.is_empty() && told.title.chars().count() <= 120, "{}", told.title);
        prop_assert!(!told.title.contains('\n'));
        prop_assert!(told.facts.len() <= 12);
        prop_assert!(told.facts.iter().all(|f| f.chars().count() <= 160 && !f.contains('\n')));
        prop_assert!(told.text.chars().count() <= 1_500);
        if error.is_some() {
            prop_assert_eq!(told.worth, LookupValue::Keep);
        }
    }
}
