//! The edit cases, and that limits hold on any input.

use proptest::prelude::*;
use remora_core::tool_call::ToolCall;
use serde_json::{Value, json};

use super::{
    EditInput, EditReading, FileOrigin, Hunk, MAX_DIFF_CHARS, MAX_FACTS, MAX_TITLE_CHARS, diff,
    read_edit, read_edit_call, read_notebook_edit,
};
use crate::testing_events::decode_call;

fn cases() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/edits");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        all.extend(serde_json::from_str::<Vec<Value>>(&text).unwrap());
    }
    assert!(all.len() >= 60, "only {} cases", all.len());
    all
}

/// The text of a list of lines.
fn text_of(lines: &Value) -> Option<String> {
    let lines: Vec<&str> = lines
        .as_array()?
        .iter()
        .map(|l| l.as_str().unwrap())
        .collect();
    let text = lines.join("\n");
    Some(if text.is_empty() { text } else { text + "\n" })
}

fn run(case: &Value) -> EditReading {
    if let Some(tool) = case.get("tool") {
        let response = case.get("response").filter(|r| !r.is_null());
        let root = case["root"].as_str().unwrap();
        let (tool, _) = decode_call(tool.as_str().unwrap(), &case["input"], response, None);
        return match &tool.call {
            ToolCall::EditFiles(files) => read_edit_call(&files[0], root),
            ToolCall::EditNotebook(edit) => read_notebook_edit(edit, root),
            other => panic!("no edit but {other:?}"),
        };
    }
    let before = text_of(&case["before"]);
    let after = text_of(&case["after"]);
    let form = case["form"].as_str().unwrap_or("patch");
    // The client gives a patch and the file before it.
    let hunks = match form {
        "patch" => diff::diff_texts(before.as_deref().unwrap(), after.as_deref().unwrap(), 1),
        _ => Vec::new(),
    };
    read_edit(&EditInput {
        path: case["path"].as_str().unwrap(),
        original: before.as_deref().filter(|_| form == "patch"),
        hunks: &hunks,
        old: before.as_deref().filter(|_| form == "strings"),
        new: after.as_deref().filter(|_| form != "patch"),
        origin: if form == "created" {
            FileOrigin::Created
        } else {
            FileOrigin::Updated
        },
    })
}

#[test]
fn edits_are_told_as_the_cases_say() {
    let mut wrong = Vec::new();
    for case in cases() {
        let reading = run(&case);
        let mut told = json!({
            "title": reading.title,
            "kind": reading.kind.as_str(),
            "facts": reading.facts,
            "symbols": reading.symbols,
            "concepts": reading.concepts,
        });
        // Most cases leave the diff to those that are about it.
        if case["expect"].get("diff").is_some() {
            told["diff"] = reading.diff.into();
        }
        if told != case["expect"] {
            wrong.push(format!("{}: {told:#}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_diff_applied_gives_the_new_text() {
    let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
    let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
    let found = diff::diff_texts(old, new, 1);
    let lines: Vec<Vec<String>> = found.iter().map(|h| h.lines.clone()).collect();
    assert_eq!(
        lines,
        [
            vec![" a", "-b", "+B", " c", " d", " e"],
            vec![" j", " k", " l", "+m"]
        ]
    );
    assert_eq!((found[1].old_start, found[1].new_start), (10, 10));
}

#[test]
fn a_large_text_is_cut_at_lines_that_stand_once() {
    let functions: Vec<String> = (0..2_000)
        .map(|n| format!("fn f{n}() {{\n    go(1);\n}}\n"))
        .collect();
    let old = functions.concat();
    let new = old
        .replacen("go(1)", "go(2)", 1)
        .replace("fn f1999() {\n    go(1)", "fn f1999() {\n    go(3)");
    let changed: Vec<String> = diff::diff_texts(&old, &new, 1)
        .into_iter()
        .flat_map(|h| h.lines)
        .filter(|l| !l.starts_with(' '))
        .collect();
    assert_eq!(
        changed,
        ["-    go(1);", "+    go(2);", "-    go(1);", "+    go(3);"]
    );
}

#[test]
fn a_long_diff_says_what_it_leaves_out() {
    let new = "let value = compute_something_long();\n".repeat(500);
    let reading = read_edit(&EditInput {
        path: "a.rs",
        new: Some(&new),
        origin: FileOrigin::Created,
        ..EditInput::default()
    });
    let last = reading.diff.lines().last().unwrap();
    assert!(
        last.starts_with("... ") && last.ends_with(" more lines"),
        "{last}"
    );
}

fn check(reading: &EditReading) -> Result<(), TestCaseError> {
    prop_assert!(
        reading.title.chars().count() <= MAX_TITLE_CHARS,
        "{}",
        reading.title
    );
    prop_assert!(!reading.title.is_empty() && !reading.title.contains('\n'));
    prop_assert!(reading.facts.len() <= MAX_FACTS);
    prop_assert!(
        reading
            .facts
            .iter()
            .all(|f| f.chars().count() <= 160 && !f.contains('\n'))
    );
    prop_assert!(reading.symbols.len() <= 24);
    prop_assert!(reading.concepts.len() <= 4);
    prop_assert!(reading.diff.chars().count() <= MAX_DIFF_CHARS);
    Ok(())
}

const PATHS: &[&str] = &[
    "a.rs",
    "b.py",
    "c.ts",
    "d.go",
    "e.java",
    "f.c",
    "g.rb",
    "Cargo.toml",
    "package.json",
    "h.yaml",
    "README.md",
    "i.css",
    "requirements.txt",
    "go.mod",
    "Dockerfile",
    "j.sql",
    "k",
    "",
];

fn hunk() -> impl Strategy<Value = Hunk> {
    let line = prop_oneof![
        "[ +\\-\\\\]?[a-z(){}=:\"'é ]{0,30}",
        "[+-] {0,8}(fn|def|class|const|let|if|use|import|serde|return) [a-zé_]{1,8}( =|\\(|:)[a-z0-9 ,\"]{0,9}[){;]{0,2}",
    ];
    (
        0usize..60,
        0usize..9,
        0usize..60,
        0usize..9,
        prop::collection::vec(line, 0..20),
    )
        .prop_map(|(old_start, old_lines, new_start, new_lines, lines)| Hunk {
            old_start,
            old_lines,
            new_start,
            new_lines,
            lines,
        })
}

proptest! {
    #[test]
    fn any_hunks_are_told(
        path in prop::sample::select(PATHS),
        original in prop::option::of(any::<String>()),
        hunks in prop::collection::vec(hunk(), 0..5),
    ) {
        let reading = read_edit(&EditInput {
            path,
            original: original.as_deref(),
            hunks: &hunks,
            ..EditInput::default()
        });
        check(&reading)?;
    }

    #[test]
    fn any_texts_are_told(
        path in prop::sample::select(PATHS),
        original in any::<String>(),
        old in any::<String>(),
        new in any::<String>(),
        made in any::<bool>(),
    ) {
        let origin = if made { FileOrigin::Created } else { FileOrigin::Updated };
        let reading = read_edit(&EditInput {
            path,
            original: Some(&original),
            hunks: &[],
            old: Some(&old),
            new: Some(&new),
            origin,
        });
        check(&reading)?;
    }

    #[test]
    fn real_edits_survive_being_broken(
        at in any::<prop::sample::Index>(),
        cut in 0usize..30,
        shift in 0usize..200,
        drop_from in 0usize..2_000,
        lang in prop::sample::select(PATHS),
    ) {
        let all = cases();
        let case = &all[at.index(all.len())];
        let (Some(before), Some(after)) = (text_of(&case["before"]), text_of(&case["after"])) else {
            return Ok(());
        };
        let mut hunks = diff::diff_texts(&before, &after, 1 + shift);
        for hunk in &mut hunks {
            hunk.lines.truncate(cut);
        }
        let end = (0..=drop_from.min(before.len())).rev().find(|e| before.is_char_boundary(*e)).unwrap();
        let reading = read_edit(&EditInput {
            path: lang,
            original: Some(&before[end..]),
            hunks: &hunks,
            ..EditInput::default()
        });
        check(&reading)?;
    }

    #[test]
    fn a_diff_loses_nothing(old in "[ab\n]{0,60}", new in "[ab\n]{0,60}") {
        let hunks = diff::diff_texts(&old, &new, 1);
        let count = |sign: char| hunks.iter().flat_map(|h| &h.lines).filter(|l| l.starts_with(sign)).count();
        let (before, after) = (old.lines().count(), new.lines().count());
        prop_assert_eq!(before + count('+'), after + count('-'));
        for hunk in &hunks {
            let old_lines = hunk.lines.iter().filter(|l| !l.starts_with('+'));
            let first = hunk.old_start - 1;
            for (at, line) in old_lines.enumerate() {
                prop_assert_eq!(old.lines().nth(first + at), Some(&line[1..]));
            }
        }
    }
}
