//! Cases live under `cases/outputs/`: a `.txt` with outputs, one behind the
//! other, and a `.json` of the same name with what each must be read as.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    CommandOutcome, CommandReading, compact_output, describe_command, only_looks, read_output,
    same_command_key, takes_in,
};

struct Case {
    name: String,
    command: String,
    host: CommandOutcome,
    has: Vec<String>,
    lacks: Vec<String>,
    output: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/outputs")
}

fn json_file(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// `%% name`, then `key: value` lines, then `--`, then the output. Control
/// characters are written as their pictures, so that the file stays a text.
fn cases_of(path: &Path) -> Vec<Case> {
    let text = format!("\n{}", fs::read_to_string(path).unwrap());
    text.split("\n%% ")
        .filter(|block| !block.trim().is_empty())
        .map(|block| {
            let block = format!("{block}\n");
            let (head, output) = block.split_once("\n--\n").unwrap();
            let mut lines = head.lines();
            let mut case = Case {
                name: lines.next().unwrap().to_owned(),
                command: String::new(),
                host: CommandOutcome::Unclear,
                has: Vec::new(),
                lacks: Vec::new(),
                output: output.replace('␛', "\u{1b}").replace('␍', "\r"),
            };
            for line in lines {
                let (key, value) = line.split_once(": ").unwrap();
                match (key, value) {
                    ("command", value) => value.clone_into(&mut case.command),
                    ("host", "passed") => case.host = CommandOutcome::Passed,
                    ("host", "failed") => case.host = CommandOutcome::Failed,
                    ("host", "unclear") => case.host = CommandOutcome::Unclear,
                    ("has", value) => case.has.push(value.to_owned()),
                    ("not", value) => case.lacks.push(value.to_owned()),
                    other => panic!("{}: unknown line {other:?}", case.name),
                }
            }
            case
        })
        .collect()
}

fn all_cases() -> Vec<(PathBuf, Vec<Case>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| (path.with_extension("json"), cases_of(&path)))
        .collect()
}

fn value_of(reading: &CommandReading) -> Value {
    let problems: Vec<Value> = reading
        .problems
        .iter()
        .map(|p| {
            let mut map = Map::new();
            for (key, value) in [
                ("file", p.file.as_ref().map(|v| json!(v))),
                ("line", p.line.map(|v| json!(v))),
                ("code", p.code.as_ref().map(|v| json!(v))),
                ("subject", p.subject.as_ref().map(|v| json!(v))),
                ("message", Some(json!(p.message))),
            ] {
                if let Some(value) = value {
                    map.insert(key.to_owned(), value);
                }
            }
            Value::Object(map)
        })
        .collect();
    json!({
        "tool": reading.tool,
        "outcome": format!("{:?}", reading.outcome).to_lowercase(),
        "title": reading.title,
        "facts": reading.facts,
        "problems": problems,
        "files": reading.files,
        "concepts": reading.concepts,
    })
}

#[test]
fn every_case_is_read_as_written_down() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, cases) in all_cases() {
        let expected = json_file(&path);
        let names: Vec<&String> = expected.as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            cases.iter().map(|c| &c.name).collect::<Vec<_>>(),
            "{}",
            path.display()
        );
        for case in cases {
            seen += 1;
            let reading = read_output(&case.command, &case.output, case.host);
            let got = reading.as_ref().map_or(Value::Null, value_of);
            if got != expected[&case.name] {
                wrong.push(format!(
                    "{}:\n  got      {got}\n  expected {}",
                    case.name, expected[&case.name]
                ));
            }
            let short = reading.map(|r| r.compact).unwrap_or_default();
            for text in case.has.iter().filter(|t| !short.contains(t.as_str())) {
                wrong.push(format!("{}: compact lacks {text:?}:\n{short}", case.name));
            }
            for text in case
                .lacks
                .iter()
                .filter(|t| short.contains(&t.replace('␛', "\u{1b}")))
            {
                wrong.push(format!("{}: compact holds {text:?}:\n{short}", case.name));
            }
        }
    }
    assert!(seen > 100, "only {seen} cases found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_told_and_keyed_as_written_down() {
    let cases = json_file(&folder().with_file_name("outputs").join("commands.json"));
    for case in cases["describe"].as_array().unwrap() {
        let given = case.get("description").and_then(Value::as_str);
        let told = describe_command(case["command"].as_str().unwrap(), given);
        assert_eq!(told, case["told"].as_str().unwrap(), "{case}");
    }
    let mut keys: BTreeMap<String, usize> = BTreeMap::new();
    for (at, group) in cases["same"].as_array().unwrap().iter().enumerate() {
        for command in group.as_array().unwrap() {
            let key = same_command_key(command.as_str().unwrap());
            let first = *keys.entry(key.clone()).or_insert(at);
            assert_eq!(first, at, "{command} has the key {key:?} of another group");
        }
        let mine = keys.values().filter(|v| **v == at).count();
        assert_eq!(mine, 1, "one group, several keys: {group} {keys:?}");
    }
}

#[test]
fn a_command_takes_in_narrower_ones() {
    let cases = json_file(&folder().join("commands.json"));
    let list = |name: &str| cases[name].as_array().unwrap().clone();
    let key = |command: &Value| same_command_key(command.as_str().unwrap());
    for (name, wanted) in [("takes_in", true), ("takes_not_in", false)] {
        for case in list(name) {
            let (whole, part) = (key(&case[0]), key(&case[1]));
            assert_eq!(takes_in(&whole, &part), wanted, "{whole} / {part}");
        }
    }
    for (name, wanted) in [("looks", true), ("does", false)] {
        for case in list(name) {
            assert_eq!(only_looks(&key(&case)), wanted, "{case}");
        }
    }
}

#[test]
fn an_unknown_output_keeps_head_and_tail() {
    let lines: Vec<String> = (0..400)
        .map(|n| format!("row number {n} of the listing"))
        .collect();
    let short = compact_output(&lines.join("\n"), 600);
    assert!(short.starts_with("row number 0 "), "{short}");
    assert!(short.ends_with("row number 399 of the listing"), "{short}");
    assert!(short.contains("… "), "{short}");
    assert!(short.chars().count() <= 600);
}

#[test]
fn repeated_lines_bars_and_colours_are_folded() {
    let text = "\u{1b}[32mstart\u{1b}[0m\r\nwait\nwait\nwait\n 10%\r 50%\r100% done\n[##############      ] 70%\nend\n";
    assert_eq!(
        compact_output(text, 500),
        "start\nwait (×3)\n100% done\nend"
    );
}

#[test]
fn a_huge_output_is_read_by_its_end() {
    let mut text = "noise that goes on and on\n".repeat(100_000);
    text.push_str(
        "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
    );
    let reading = read_output("cargo test", &text, CommandOutcome::Failed).unwrap();
    assert_eq!(reading.title, "cargo test: 1 of 4 tests failed");
}

fn check_limits(reading: &CommandReading) {
    assert!(reading.title.chars().count() <= 120, "{}", reading.title);
    assert!(!reading.title.contains('\n'));
    assert!(reading.facts.len() <= 12);
    assert!(
        reading
            .facts
            .iter()
            .all(|f| f.chars().count() <= 200 && !f.contains('\n') && !f.is_empty())
    );
    assert!(reading.problems.len() <= 20);
    assert!(
        reading
            .problems
            .iter()
            .all(|p| p.message.chars().count() <= 300 && !p.message.contains('\n'))
    );
    assert!(reading.concepts.len() <= 6);
    assert!(reading.compact.chars().count() <= 1_500);
    let mut files = reading.files.clone();
    files.dedup();
    assert_eq!(files.len(), reading.files.len());
}

fn outcome() -> impl Strategy<Value = CommandOutcome> {
    prop_oneof![
        Just(CommandOutcome::Passed),
        Just(CommandOutcome::Failed),
        Just(CommandOutcome::Unclear)
    ]
}

/// Pieces that readers look for, in any order and cut anywhere.
fn pieces() -> impl Strategy<Value = String> {
    let known: Vec<String> = all_cases()
        .into_iter()
        .flat_map(|(_, cases)| cases)
        .flat_map(|c| c.output.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    prop::collection::vec(
        prop_oneof![4 => prop::sample::select(known), 1 => any::<String>()],
        0..40,
    )
    .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_within_limits(command in any::<String>(), text in any::<String>(), host in outcome()) {
        if let Some(reading) = read_output(&command, &text, host) {
            check_limits(&reading);
        }
        prop_assert!(compact_output(&text, 200).chars().count() <= 200);
        prop_assert!(describe_command(&command, None).chars().count() <= 120);
        prop_assert!(same_command_key(&command).chars().count() <= 500);
    }

    #[test]
    fn mixed_lines_of_tools_are_read_within_limits(text in pieces(), host in outcome(), limit in 0_usize..400) {
        if let Some(reading) = read_output("make check", &text, host) {
            check_limits(&reading);
        }
        prop_assert!(compact_output(&text, limit).chars().count() <= limit);
    }

    #[test]
    fn a_cut_or_doubled_case_is_read_within_limits(pick in any::<prop::sample::Index>(), from in 0.0_f64..1.0, to in 0.0_f64..1.0, double in any::<prop::sample::Index>(), host in outcome()) {
        let cases: Vec<Case> = all_cases().into_iter().flat_map(|(_, cases)| cases).collect();
        let case = &cases[pick.index(cases.len())];
        let chars: Vec<char> = case.output.chars().collect();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small length")]
        let at = |share: f64| (chars.len() as f64 * share) as usize;
        let (from, to) = (at(from.min(to)), at(from.max(to)));
        let cut: String = chars[from..to].iter().collect();
        let mut lines: Vec<&str> = cut.lines().collect();
        if !lines.is_empty() {
            let twice = lines[double.index(lines.len())];
            lines.insert(double.index(lines.len()), twice);
        }
        if let Some(reading) = read_output(&case.command, &lines.join("\n"), host) {
            check_limits(&reading);
        }
    }
}
