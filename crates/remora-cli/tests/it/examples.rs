//! `examples/hooks/`: each case of each folder, through the real program in a
//! fresh project with the example installed as its README says.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hooks");

/// The keys of a case, as `examples/hooks/README.md` lists them.
const EXPECT: [&str; 9] = [
    "blocked",
    "permission",
    "reason_contains",
    "context_contains",
    "message_contains",
    "ran",
    "env",
    "terminal_sequence",
    "files",
];

#[test]
fn every_case_of_every_example() {
    let mut folders: Vec<PathBuf> = fs::read_dir(EXAMPLES)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.join("cases.json").is_file())
        .collect();
    folders.sort();
    assert!(folders.len() >= 5, "{folders:?}");
    let mut faults = Vec::new();
    for folder in &folders {
        let text = fs::read_to_string(folder.join("cases.json")).unwrap();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert!(!cases.is_empty(), "{}", folder.display());
        for case in &cases {
            for fault in play(folder, case) {
                let name = folder.file_name().unwrap().display();
                faults.push(format!("{name}: {}: {fault}", case["name"]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn play(folder: &Path, case: &Value) -> Vec<String> {
    let sandbox = Sandbox::new();
    let settings = case["settings"].as_str().unwrap_or("settings.json");
    let from = folder.display();
    sandbox.shell(&format!(
        "mkdir -p .claude/hooks; cp '{from}'/*.sh .claude/hooks/; cp '{from}/{settings}' .claude/settings.json"
    ));
    for line in case["setup"].as_array().into_iter().flatten() {
        sandbox.shell(line.as_str().unwrap());
    }
    let fill = |value: &Value| -> Value {
        let text = value
            .to_string()
            .replace("$PROJECT", &sandbox.text("project"));
        serde_json::from_str(&text).unwrap()
    };
    let call = sandbox.run(&fill(&case["event"])).args(&["--wait"]);
    let (done, report) = call.json();
    let expect = fill(&case["expect"]);
    let mut faults: Vec<String> = compare(&sandbox, &expect, &report)
        .into_iter()
        .map(|f| format!("{f}\n{report:#}"))
        .collect();
    let blocked = report["outcome"]["blocked"] == true;
    if blocked && done.code != Some(2) {
        faults.push(format!("exit {:?}", done.code));
    }
    if report["warnings"] != json!([]) {
        faults.push(format!("warnings {}", report["warnings"]));
    }
    faults
}

fn compare(sandbox: &Sandbox, expect: &Value, report: &Value) -> Vec<String> {
    let outcome = &report["outcome"];
    let mut faults = Vec::new();
    for (key, wanted) in expect.as_object().unwrap() {
        let fine = match key.as_str() {
            "blocked" | "permission" | "terminal_sequence" => outcome[key] == *wanted,
            "reason_contains" => holds(wanted, std::slice::from_ref(&outcome["reason"])),
            "context_contains" => holds(wanted, outcome["context"].as_array().unwrap()),
            "message_contains" => holds(wanted, outcome["messages"].as_array().unwrap()),
            "ran" => {
                let handlers = report["handlers"].as_array().unwrap();
                let ran = handlers.iter().filter(|h| h["status"] != "skipped").count();
                *wanted == json!(ran)
            }
            "env" => match wanted.as_object() {
                Some(wanted) => wanted.iter().all(|(k, v)| outcome["env"][k] == *v),
                None => outcome["env"] == json!({}),
            },
            "files" => wanted.as_object().unwrap().iter().all(|(name, part)| {
                let text = fs::read_to_string(sandbox.path("project").join(name)).ok();
                holds(part, &[json!(text)])
            }),
            _ => false,
        };
        if !EXPECT.contains(&key.as_str()) {
            faults.push(format!("`{key}` is not a key of a case"));
        } else if !fine {
            faults.push(format!("{key} should be {wanted}"));
        }
    }
    faults
}

/// Whether one of the texts holds the part; `null` means that there is none.
fn holds(part: &Value, texts: &[Value]) -> bool {
    let mut texts = texts.iter().filter_map(Value::as_str);
    match part.as_str() {
        Some(part) => texts.any(|t| t.contains(part)),
        None => texts.next().is_none(),
    }
}
