//! Cases of what is said of a path, and what holds for every answer.

use serde_json::Value;

use super::{Answer, Verdict};
use crate::lint::tree::{self, Tree};

/// An answer in one text, so that a case can name any part of it.
fn told(answer: &Answer) -> (&'static str, &'static str, String) {
    match &answer.verdict {
        Verdict::In(place) => {
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
        Verdict::OnDemand { when, touched, .. } => ("on-demand", "", format!("{when} {touched:?}")),
        Verdict::Injected { why } => ("injected", "", why.clone()),
        Verdict::Out(out) => ("out", out.code, out.why.clone()),
    }
}

#[test]
fn every_case_is_answered_as_it_says() {
    let cases = tree::cases("why.json");
    assert!(cases.len() > 60);
    let mut wrong = Vec::new();
    for case in &cases {
        let tree = Tree::lay(case);
        let answer = tree.session().why(&tree.ask(case["ask"].as_str().unwrap()));
        let (is, code, text) = told(&answer);
        let mut fine = is == case["is"] && case.get("code").is_none_or(|c| c == code);
        for part in case["says"].as_array().unwrap() {
            fine &= text.contains(&tree.rooted(part.as_str().unwrap()));
        }
        if let (Some(part), Verdict::Out(out)) =
            (case.get("advice").and_then(Value::as_str), &answer.verdict)
        {
            fine &= out
                .advice
                .as_ref()
                .is_some_and(|a| a.contains(&tree.rooted(part)));
        }
        if !fine {
            wrong.push(format!("{}: {is} {code} {text}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_in_is_never_said_to_be_out() {
    for case in tree::cases("why.json") {
        let tree = Tree::lay(&case);
        let session = tree.session();
        for file in session.start().iter().chain(session.later()) {
            let answer = session.why(&file.path);
            let is_in = matches!(answer.verdict, Verdict::In(_));
            assert!(
                is_in == file.is_loaded_by_client(),
                "{} {answer:?}",
                case["name"]
            );
        }
    }
}
