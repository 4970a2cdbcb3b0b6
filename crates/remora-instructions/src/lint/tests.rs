use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;

use super::tree::{self, CaseTree};
use super::{LintFinding, contradiction};
use crate::{InstructionOptions, InstructionPaths, Instructions};

/// `severity code path:line message > advice`, with the root taken out.
fn told(tree: &CaseTree, finding: &LintFinding) -> String {
    let line = finding
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    let path = tree.without_root(&finding.path.display().to_string());
    let path = path.strip_prefix("ROOT/").unwrap_or(&path).to_owned();
    tree.without_root(&format!(
        "{} {} {path}{line} {} > {}",
        finding.severity.as_str(),
        finding.code,
        finding.message,
        finding.advice
    ))
}

/// Whether a text holds the parts of an expectation, in order; ` > ` stands
/// for anything up to the advice.
fn fits(text: &str, wanted: &str) -> bool {
    match wanted.split_once(" > ") {
        Some((start, advice)) => {
            text.starts_with(start)
                && text
                    .rsplit_once(" > ")
                    .is_some_and(|(_, a)| a.starts_with(advice))
        }
        None => text.starts_with(wanted),
    }
}

#[test]
fn every_case_finds_what_it_says_and_nothing_else() {
    let mut wrong = Vec::new();
    for case in tree::read_cases("lint.json") {
        let tree = CaseTree::write_case(&case);
        let found: Vec<String> = tree
            .load_session()
            .lint()
            .iter()
            .map(|f| told(&tree, f))
            .collect();
        let wanted = case["finds"].as_array().unwrap();
        let fine = found.len() == wanted.len()
            && wanted
                .iter()
                .all(|w| found.iter().any(|f| fits(f, w.as_str().unwrap())));
        if !fine {
            wrong.push(format!(
                "{}:\n  wanted {wanted:#?}\n  found {found:#?}",
                case["name"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let mut codes: BTreeSet<String> = BTreeSet::new();
    for case in tree::read_cases("lint.json") {
        let tree = CaseTree::write_case(&case);
        codes.extend(tree.load_session().lint().iter().map(|f| f.code.to_owned()));
    }
    let wanted = [
        "accidental-import",
        "code-import",
        "contradiction",
        "cyclic-import",
        "dead-import",
        "dead-memory-reference",
        "deep-import",
        "duplicate-file",
        "exclude-never-matches",
        "external-import",
        "frontmatter-broken",
        "index-dead-link",
        "index-near-limit",
        "index-over-limit",
        "orphan-memory",
        "punctuation-import",
        "rule-never-matches",
        "settings-broken",
        "shadowed-file",
        "too-long",
        "unknown-agents-mode",
        "wrong-case",
    ];
    assert_eq!(codes, wanted.iter().map(|c| (*c).to_owned()).collect());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_looked_at_without_harm(text in ".{0,400}", more in "(?s)[-a-z0-9@`#<>!.,:;*_ \n\t\\[\\](){}]{0,400}") {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("p/.claude/rules")).unwrap();
        fs::create_dir_all(root.join("home")).unwrap();
        fs::write(root.join("p/CLAUDE.md"), &text).unwrap();
        fs::write(root.join("p/.claude/rules/r.md"), &more).unwrap();
        fs::write(root.join("p/CLAUDE.local.md"), format!("{more}\n{text}")).unwrap();
        let session = Instructions::load(InstructionPaths::new(root.join("p"), root.join("home")), InstructionOptions::default());
        for finding in session.lint() {
            prop_assert!(!finding.message.is_empty() && !finding.advice.is_empty());
        }
        session.explain_file(&root.join("p").join(more.replace('\0', "")));
    }

    #[test]
    fn a_text_never_contradicts_its_copy(text in "(?s)[-a-z0-9`#.,;:!* \n]{0,600}") {
        let one = contradiction::ComparedText { name: "a", body: &text, group: 0 };
        let alone = contradiction::find_conflicts(&[one]).len();
        let other = contradiction::ComparedText { group: 1, ..one };
        prop_assert_eq!(contradiction::find_conflicts(&[one, other]).len(), alone * 2);
    }
}

#[test]
fn hostile_text_takes_no_time() {
    let text = "- Always use x y z.\n- Never use x y z.\n".repeat(20_000);
    let one = contradiction::ComparedText {
        name: "a",
        body: &text,
        group: 0,
    };
    let found = contradiction::find_conflicts(&[one, one]);
    assert_eq!(found.len(), 50);
    let long = format!("- {}\n", "never use ".repeat(100_000));
    let one = contradiction::ComparedText {
        name: "a",
        body: &long,
        group: 0,
    };
    assert!(contradiction::find_conflicts(&[one, one]).is_empty());
}
