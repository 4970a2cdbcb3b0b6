//! One loop for all fuzz targets: inputs that are made up, a check of each, and what
//! was found. A few hundred inputs in a normal test; for as many seconds as
//! `REMORA_FUZZ_SECONDS` says where that is set.

use std::fmt::Debug;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

/// Inputs of a normal test.
const CASES: u64 = 300;
/// Findings after which a run ends.
const MAX_FINDINGS: usize = 10;
/// Steps towards a smaller input that still fails.
const MAX_SMALLER: usize = 2_000;
/// An input that takes longer is a finding: nothing that others write may hold a
/// hook up. Far above what a busy machine adds.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Runs made-up inputs through a check, which fails by panicking.
pub(crate) fn fuzz<S: Strategy>(target: &str, inputs: &S, check: impl Fn(&S::Value)) {
    #[expect(clippy::disallowed_methods, reason = "whoever starts it says how long")]
    let seconds = std::env::var("REMORA_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|text| text.parse::<u64>().unwrap());
    let limit = seconds.map(Duration::from_secs);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    });
    let began = Instant::now();
    let (mut count, mut findings, mut slowest) = (0_u64, Vec::new(), Duration::ZERO);
    let fails = |input: &S::Value| {
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(input)));
        (outcome.is_err(), began.elapsed())
    };
    while limit.map_or(count < CASES, |limit| began.elapsed() < limit) {
        let mut tree = inputs.new_tree(&mut runner).unwrap();
        let (failed, took) = fails(&tree.current());
        count += 1;
        slowest = slowest.max(took);
        if !failed && took < MAX_TIME {
            continue;
        }
        // Only a wrong result is made smaller: an input that takes its time would take
        // it again and again.
        for _ in 0..MAX_SMALLER {
            if !failed || !tree.simplify() {
                break;
            }
            while !fails(&tree.current()).0 && tree.complicate() {}
        }
        findings.push(describe_input(&tree.current(), took));
        if findings.len() == MAX_FINDINGS {
            break;
        }
    }
    // A short run has nothing to tell.
    if limit.is_some() {
        let line = format!(
            "fuzz {target}: {count} executions in {:.0} s, slowest {} ms, {} findings\n",
            began.elapsed().as_secs_f64(),
            slowest.as_millis(),
            findings.len()
        );
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    }
    assert!(findings.is_empty(), "{target}:\n{}", findings.join("\n"));
}

fn describe_input(input: &impl Debug, took: Duration) -> String {
    format!("{input:?} ({} ms)", took.as_millis())
}

/// A text that was right once, with a few edits: pieces of others put in, doubled or
/// left out.
pub(crate) fn edit_text(
    seeds: &'static [&'static str],
    words: &'static [&'static str],
) -> impl Strategy<Value = String> {
    let edit = (any::<u16>(), 0_usize..12, 0..4_u8, piece(words));
    (
        prop::sample::select(seeds),
        prop::collection::vec(edit, 0..6),
    )
        .prop_map(|(seed, edits)| {
            let mut text: Vec<char> = seed.chars().collect();
            for (at, length, how, piece) in edits {
                let at = usize::from(at) % (text.len() + 1);
                let end = (at + length).min(text.len());
                match how {
                    0 => drop(text.drain(at..end)),
                    1 => drop(text.splice(at..end, piece.chars())),
                    2 => drop(text.splice(at..at, piece.chars())),
                    _ => {
                        let copy = text[at..end].to_vec();
                        drop(text.splice(end..end, copy));
                    }
                }
            }
            text.into_iter().collect()
        })
}

fn piece(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(words).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}
