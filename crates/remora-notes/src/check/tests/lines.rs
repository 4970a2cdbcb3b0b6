//! Every line of the case files: what it names, and what comes of it.

use serde::Deserialize;

use super::super::{ClaimFinding, TreeEvidence, WantedNames, check_memory};
use super::sandbox::{cases, shared};

#[derive(Deserialize)]
struct Case {
    memory: String,
    found: Vec<String>,
}

pub(super) fn words(findings: &[ClaimFinding]) -> Vec<String> {
    let word = |f: &ClaimFinding| {
        format!(
            "{} {} {}",
            f.claim.kind.as_str(),
            f.verdict.as_str(),
            f.claim.text
        )
    };
    findings.iter().map(word).collect()
}

#[test]
fn every_line_is_judged_as_written_down() {
    let mut all: Vec<(String, Case)> = Vec::new();
    for name in ["paths", "symbols", "commands", "flags", "sense", "outside"] {
        let list: Vec<Case> = cases(&format!("{name}.json"));
        all.extend(list.into_iter().map(|c| (name.to_owned(), c)));
    }
    let mut wanted = WantedNames::default();
    for (_, case) in &all {
        wanted.add_body(&case.memory);
    }
    let tree = TreeEvidence::from_root(&shared(), &wanted, &mut |_, _| {});
    let mut wrong = Vec::new();
    for (name, case) in &all {
        let findings = check_memory(&case.memory, &tree);
        let got = words(&findings);
        if got != case.found {
            let why: Vec<&str> = findings.iter().map(|f| f.evidence.as_str()).collect();
            wrong.push(format!(
                "{name}: {}\n  want {:?}\n  got  {got:?}\n  why  {why:?}",
                case.memory, case.found
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}
