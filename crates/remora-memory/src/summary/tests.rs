//! Holds checkpoints against whole expected values, and any input against
//! the limits.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    ChangeStatus, MAX_ENTRIES, MAX_ENTRY_CHARS, MAX_REQUEST_CHARS, MAX_TITLE_CHARS, Step,
    StepResult, Summary, Turn, summarise_turn,
};
use crate::statement::{Speaker, Statement, find_statements};

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .map(|v| v.as_str().expect("a text").to_owned())
        .collect()
}

/// The parts of a step that the borrowed form points into.
struct OwnedStep {
    kind: String,
    title: String,
    read: Vec<String>,
    modified: Vec<String>,
    facts: Vec<String>,
    result: StepResult,
}

impl OwnedStep {
    fn of(value: &Value) -> Self {
        Self {
            kind: value["kind"].as_str().expect("a kind").to_owned(),
            title: value["title"].as_str().expect("a title").to_owned(),
            read: texts(&value["read"]),
            modified: texts(&value["modified"]),
            facts: texts(&value["facts"]),
            result: if value["failed"] == true {
                StepResult::Failed
            } else {
                StepResult::Passed
            },
        }
    }

    fn borrow(&self) -> Step<'_> {
        Step {
            kind: &self.kind,
            title: &self.title,
            files_read: &self.read,
            files_modified: &self.modified,
            facts: &self.facts,
            command: None,
            standing: ChangeStatus::Stands,
            result: self.result,
        }
    }
}

/// Sums up a case as the worker does: the statements come from its own texts.
fn summed_up(case: &Value) -> Value {
    let prompts = texts(&case["prompts"]);
    let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
    let message = case.get("message").map(|m| texts(m).join("\n"));
    let steps: Vec<OwnedStep> = case["steps"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .map(OwnedStep::of)
        .collect();
    let steps: Vec<Step> = steps.iter().map(OwnedStep::borrow).collect();
    let mut statements: Vec<Statement> = prompts
        .iter()
        .flat_map(|p| find_statements(p, Speaker::User))
        .collect();
    statements.extend(
        message
            .iter()
            .flat_map(|m| find_statements(m, Speaker::Assistant)),
    );
    let turn = Turn {
        prompts: &prompts,
        requests: &prompts,
        last_message: message.as_deref(),
        steps: &steps,
        statements: &statements,
    };
    summarise_turn(&turn).map_or(Value::Null, |s| shown(&s))
}

/// The summary with empty parts left out, as the case files write it.
fn shown(summary: &Summary) -> Value {
    let mut map = Map::new();
    map.insert("title".into(), json!(summary.title));
    let lists = [
        ("investigated", &summary.investigated),
        ("learned", &summary.learned),
        ("completed", &summary.completed),
        ("next_steps", &summary.next_steps),
        ("files", &summary.files),
        ("notes", &summary.notes),
    ];
    if !summary.request.is_empty() {
        map.insert("request".into(), json!(summary.request));
    }
    for (name, list) in lists {
        if !list.is_empty() {
            map.insert(name.into(), json!(list));
        }
    }
    Value::Object(map)
}

#[test]
fn turns_are_summed_up_as_the_cases_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases/summaries");
    let mut wrong = String::new();
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        let cases: Value =
            serde_json::from_str(&fs::read_to_string(&path).expect("a file")).expect("valid JSON");
        for (name, case) in cases.as_object().expect("cases by name") {
            count += 1;
            let got = summed_up(case);
            if got != case["summary"] {
                let pretty = serde_json::to_string_pretty(&got).expect("a value");
                writeln!(wrong, "{} {name}: got {pretty}", path.display()).expect("a string");
            }
        }
    }
    assert!(count >= 25, "only {count} cases");
    assert!(wrong.is_empty(), "{wrong}");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(- \\[[ x]\\] |## |\\*\\*|Next steps:|```|\n|\n\n|Fixed |I've added |原因是|下一步：|, |\\. |。|[a-z]{1,8} |`x`|\\[a\\]\\(b\\)|  - |\\| ){0,30}",
    ]
}

fn lines_hold(list: &[String]) -> bool {
    list.len() <= MAX_ENTRIES
        && list
            .iter()
            .all(|l| !l.is_empty() && l.chars().count() <= MAX_ENTRY_CHARS && !l.contains('\n'))
}

proptest! {
    // Texts of many parts are slow to make; a hundred show enough.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn limits_hold_on_any_turn(
        prompts in prop::collection::vec(text(), 0..5),
        message in prop::option::of(text()),
        titles in prop::collection::vec((text(), text(), any::<bool>()), 0..12),
    ) {
        let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
        let files: Vec<Vec<String>> = titles.iter().map(|(_, file, _)| vec![file.clone()]).collect();
        let steps: Vec<Step> = titles.iter().zip(&files).map(|((title, _, failed), files)| Step {
            kind: if *failed { "failure" } else { "discovery" },
            title,
            files_read: files,
            files_modified: if title.len() % 2 == 0 { files } else { &[] },
            facts: files,
            command: None,
            standing: ChangeStatus::Stands,
            result: if *failed { StepResult::Failed } else { StepResult::Passed },
        }).collect();
        let statements: Vec<Statement> = message.iter().flat_map(|m| find_statements(m, Speaker::User)).collect();
        let turn = Turn { prompts: &prompts, requests: &prompts, last_message: message.as_deref(), steps: &steps, statements: &statements };
        if let Some(s) = summarise_turn(&turn) {
            prop_assert!(!s.title.is_empty() && s.title.chars().count() <= MAX_TITLE_CHARS && !s.title.contains('\n'));
            prop_assert!(s.request.chars().count() <= MAX_REQUEST_CHARS && !s.request.contains('\n'));
            for list in [&s.investigated, &s.learned, &s.completed, &s.next_steps, &s.files, &s.notes] {
                prop_assert!(lines_hold(list), "{list:?}");
            }
            let chars = |list: &[String]| list.iter().map(|l| l.chars().count() + 1).sum::<usize>();
            prop_assert!(chars(&s.asked) <= 1_510 && chars(&s.said) <= 2_410);
            prop_assert!(s.conclusion.len() <= 4 && s.conclusion.iter().all(|l| l.chars().count() <= 280));
            prop_assert!(s.changed <= s.files.len());
        }
    }
}
