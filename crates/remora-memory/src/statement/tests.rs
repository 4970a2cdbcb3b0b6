//! Holds the rules against labelled sentences, and the output against its
//! limits on any text.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::{LONGEST, MOST, Speaker, Statement, StatementKind, find};

struct Case {
    place: String,
    /// Each statement that must be found, as the kinds it may have.
    wanted: Vec<Vec<StatementKind>>,
    speaker: Speaker,
    text: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases/statements")
}

fn kind(name: &str) -> StatementKind {
    match name {
        "decision" => StatementKind::Decision,
        "preference" => StatementKind::Preference,
        "correction" => StatementKind::Correction,
        other => panic!("no such kind: {other}"),
    }
}

fn cases(file: &str) -> Vec<Case> {
    let text = fs::read_to_string(folder().join(file)).expect(file);
    let rows = text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    rows.map(|(line, row)| {
        let mut cells = row.splitn(3, '\t');
        let mut cell = || {
            cells
                .next()
                .unwrap_or_else(|| panic!("{file}:{}: three cells", line + 1))
        };
        let wanted = match cell() {
            "-" => Vec::new(),
            kinds => kinds
                .split('+')
                .map(|k| k.split('|').map(kind).collect())
                .collect(),
        };
        let speaker = match cell() {
            "u" => Speaker::User,
            "a" => Speaker::Assistant,
            other => panic!("{file}:{}: no such speaker: {other}", line + 1),
        };
        Case {
            place: format!("{file}:{}", line + 1),
            wanted,
            speaker,
            text: cell().replace("\\n", "\n"),
        }
    })
    .collect()
}

#[derive(Default)]
struct Score {
    right: u32,
    extra: u32,
    missed: u32,
    log: String,
}

impl Score {
    fn take(&mut self, case: Case) {
        let found = find(&case.text, case.speaker);
        let mut wanted = case.wanted;
        for statement in &found {
            if let Some(at) = wanted
                .iter()
                .position(|kinds| kinds.contains(&statement.kind))
            {
                wanted.remove(at);
                self.right += 1;
            } else {
                self.extra += 1;
                writeln!(self.log, "{}: extra {statement:?}", case.place).expect("a string");
            }
        }
        for kinds in wanted {
            self.missed += 1;
            writeln!(
                self.log,
                "{}: missed {kinds:?} in {:?}",
                case.place, case.text
            )
            .expect("a string");
        }
    }

    fn precision(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.extra).max(1))
    }

    fn recall(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.missed).max(1))
    }
}

fn score(files: &[&str]) -> (Score, usize) {
    let mut score = Score::default();
    let mut count = 0;
    for case in files.iter().flat_map(|f| cases(f)) {
        score.take(case);
        count += 1;
    }
    println!(
        "{files:?}: {count} cases, precision {:.3}, recall {:.3}\n{}",
        score.precision(),
        score.recall(),
        score.log
    );
    (score, count)
}

#[test]
fn labelled_sentences_are_told_apart() {
    let (score, count) = score(&["english.tsv", "chinese.tsv", "others.tsv"]);
    assert!(count >= 170, "only {count} cases");
    assert!(
        score.precision() >= 0.95,
        "precision {}\n{}",
        score.precision(),
        score.log
    );
    assert!(
        score.recall() >= 0.9,
        "recall {}\n{}",
        score.recall(),
        score.log
    );
}

#[test]
fn sentences_that_no_rule_was_made_for_are_told_apart() {
    let (score, count) = score(&["held-out.tsv"]);
    assert!(count >= 160, "only {count} cases");
    assert!(
        score.precision() >= 0.9,
        "precision {}\n{}",
        score.precision(),
        score.log
    );
    assert!(
        score.recall() >= 0.8,
        "recall {}\n{}",
        score.recall(),
        score.log
    );
}
