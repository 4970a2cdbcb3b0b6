use std::collections::BTreeMap;

use super::{Text, find};
use crate::lint::tree;

fn clash(a: &str, b: &str) -> bool {
    let text = |body| Text {
        name: "CLAUDE.md",
        body,
        group: 0,
    };
    !find(&[text(a), text(b)]).is_empty()
}

/// Hits, misses and false alarms of one half of the table.
#[derive(Default, Debug)]
struct Score {
    hits: usize,
    missed: Vec<String>,
    alarms: Vec<String>,
    quiet: usize,
}

#[test]
fn the_table_is_told_apart() {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for case in tree::cases("contradictions.json") {
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        let (a, b) = (text("a"), text("b"));
        let told = clash(&a, &b);
        assert_eq!(
            told,
            clash(&b, &a),
            "the order of files changes the answer: {a} / {b}"
        );
        let score = scores.entry(text("set")).or_default();
        match (case["opposed"].as_bool().unwrap(), told) {
            (true, true) => score.hits += 1,
            (true, false) => score.missed.push(format!("{a} / {b}")),
            (false, true) => score.alarms.push(format!("{a} / {b}")),
            (false, false) => score.quiet += 1,
        }
    }
    assert_eq!(scores.len(), 2, "both halves of the table are there");
    for (set, score) in scores {
        // A false alarm costs more than a miss: none, for one miss in ten.
        let all = score.hits + score.missed.len();
        assert!(score.alarms.is_empty(), "{set}: {score:#?}");
        assert!(
            score.hits * 10 >= all * 9 && score.quiet > 20,
            "{set}: {score:#?}"
        );
    }
}
