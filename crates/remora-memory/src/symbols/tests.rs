//! The outline and enclosing cases, and that nothing panics.

use proptest::prelude::*;
use serde_json::Value;

use super::scope::start_of;
use super::{Language, find_enclosing_symbol, list_symbols};

const PATHS: &[&str] = &[
    "a.rs",
    "a.py",
    "a.ts",
    "a.go",
    "a.java",
    "a.kt",
    "a.c",
    "a.cs",
    "a.rb",
    "a.php",
    "a.swift",
    "a.sh",
    "a.sql",
    "a.css",
    "a.html",
    "a.toml",
    "a.yaml",
    "a.json",
    "a.ini",
    "a.md",
    "Makefile",
    "Dockerfile",
    "a.bin",
];

fn cases() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/symbols");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        all.extend(serde_json::from_str::<Vec<Value>>(&text).unwrap());
    }
    assert!(all.len() >= 40, "only {} cases", all.len());
    all
}

fn text_of(case: &Value) -> String {
    let lines: Vec<&str> = case["text"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l.as_str().unwrap())
        .collect();
    lines.join("\n")
}

#[test]
fn outlines_are_as_the_cases_say() {
    let mut wrong = Vec::new();
    for case in cases() {
        let found: Vec<Value> = list_symbols(case["path"].as_str().unwrap(), &text_of(&case))
            .iter()
            .map(|s| format!("{} {} {}", s.line, s.kind.as_str(), s.name).into())
            .collect();
        if Value::Array(found.clone()) != case["outline"] {
            wrong.push(format!("{}: {found:#?}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_stand_where_the_cases_say() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases() {
        let text = text_of(&case);
        for each in case["enclosing"].as_array().into_iter().flatten() {
            let line = usize::try_from(each["line"].as_u64().unwrap()).unwrap();
            let found = find_enclosing_symbol(case["path"].as_str().unwrap(), &text, line)
                .map(|s| format!("{} {} {}", s.line, s.kind.as_str(), s.name));
            count += 1;
            if found.as_deref() != each["in"].as_str() {
                wrong.push(format!("{} line {line}: {found:?}", case["name"]));
            }
        }
    }
    assert!(count >= 40, "only {count} lines");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_starts_where_its_predecessor_ends() {
    let text = "ab\n".repeat(1_000);
    for line in [1, 2, 79, 80, 81, 160, 161, 240, 999, 1_000, 1_001] {
        assert_eq!(start_of(&text, line), Some((line - 1) * 3), "line {line}");
    }
    assert_eq!(start_of(&text, 1_002), None);
    assert_eq!(start_of(&text, 0), None);
    assert_eq!(start_of(&"\n".repeat(500), 300), Some(299));
}

/// Lines that look like code, to reach the rules.
fn code() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "fn ",
        "pub ",
        "class ",
        "def ",
        "impl<",
        "for ",
        "{",
        "}",
        "(",
        ")",
        "\n",
        "    ",
        "\t",
        "=",
        ": ",
        "x",
        "Größe",
        "'",
        "\"",
        "`",
        "#",
        "# ",
        "- ",
        "[",
        "]",
        "=>",
        "const ",
        "@",
        "<",
        ">",
        "describe(",
        "FROM ",
        "create table ",
        "\"\"\"",
        "/*",
        "*/",
        "```",
        "\r\n",
        "~",
        "::",
        "-> ",
    ]);
    prop::collection::vec(piece, 0..120).prop_map(|p| p.concat())
}

proptest! {
    #[test]
    fn any_text_has_an_outline(text in any::<String>(), line in 0usize..50) {
        for path in PATHS {
            list_symbols(path, &text);
            find_enclosing_symbol(path, &text, line);
        }
    }

    #[test]
    fn code_like_text_has_an_outline_in_order(text in code(), line in 0usize..50) {
        let lines = text.lines().count();
        for path in PATHS {
            let found = list_symbols(path, &text);
            prop_assert!(found.iter().all(|s| (1..=lines).contains(&s.line)));
            prop_assert!(found.windows(2).all(|w| w[0].line < w[1].line));
            if let Some(holder) = find_enclosing_symbol(path, &text, line) {
                prop_assert!(holder.line <= line, "{path}: {holder:?} at {line}");
            }
        }
    }

    #[test]
    fn a_declaration_holds_itself(text in code()) {
        // A walk upwards cannot know that a line stands in a long comment.
        let plain = !text.contains("/*") && !text.contains("\"\"\"");
        for path in ["a.rs", "a.toml", "a.go", "a.kt"].into_iter().filter(|_| plain) {
            for symbol in list_symbols(path, &text) {
                let holder = find_enclosing_symbol(path, &text, symbol.line);
                prop_assert_eq!(holder.map(|h| h.line), Some(symbol.line), "{:?}", Language::from_path(path));
            }
        }
    }
}
