//! Cases of what is said of a path, and what holds for every answer.

use serde_json::Value;

use super::{FileExplanation, FileVerdict};
use crate::lint::tree::{self, CaseTree};

/// An answer in one text, so that a case can name any part of it.
fn told(answer: &FileExplanation) -> (&'static str, &'static str, String) {
    match &answer.verdict {
        FileVerdict::In(place) => {
            let chain: Vec<String> = place
                .chain
                .iter()
                .map(|p| p.display().to_string())
                .collect();
            let text = format!(
                "{} {} of {} {} {} {} {:?} {:?} {}",
                place.listed.display(),
                place.position,
                place.of,
                place.kind.as_str(),
                place.reason.as_str(),
                chain.join(" < "),
                place.trigger,
                place.globs,
                place.label,
            );
            ("in", "", text)
        }
        FileVerdict::OnDemand { when, touched, .. } => {
            ("on-demand", "", format!("{when} {touched:?}"))
        }
        FileVerdict::Injected { why } => ("injected", "", why.clone()),
        FileVerdict::Out(out) => ("out", out.code, out.why.clone()),
    }
}

#[test]
fn every_case_is_answered_as_it_says() {
    let cases = tree::read_cases("why.json");
    assert!(cases.len() > 60);
    let mut wrong = Vec::new();
    for case in &cases {
        let tree = CaseTree::write_case(case);
        let answer = tree
            .load_session()
            .explain_file(&tree.resolve_name(case["ask"].as_str().unwrap()));
        let (is, code, text) = told(&answer);
        let mut fine = is == case["is"] && case.get("code").is_none_or(|c| c == code);
        for part in case["says"].as_array().unwrap() {
            fine &= text.contains(&tree.with_root(part.as_str().unwrap()));
        }
        if let (Some(part), FileVerdict::Out(out)) =
            (case.get("advice").and_then(Value::as_str), &answer.verdict)
        {
            fine &= out
                .advice
                .as_ref()
                .is_some_and(|a| a.contains(&tree.with_root(part)));
        }
        if !fine {
            wrong.push(format!("{}: {is} {code} {text}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_in_is_never_said_to_be_out() {
    for case in tree::read_cases("why.json") {
        let tree = CaseTree::write_case(&case);
        let session = tree.load_session();
        for file in session.start().iter().chain(session.loaded_on_demand()) {
            let answer = session.explain_file(&file.path);
            let is_in = matches!(answer.verdict, FileVerdict::In(_));
            assert!(
                is_in == file.is_loaded_by_client(),
                "{} {answer:?}",
                case["name"]
            );
        }
    }
}
