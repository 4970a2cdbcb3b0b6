//! `cargo xtask fit`: fits the classifier that finds statements to labelled
//! sentences, chooses its thresholds by cross-validation and writes its table.
//! Sentences kept for the report are only counted, never learnt from. With
//! `--errors` it lists the training sentences that cross-validation gets wrong.

mod logistic;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, bail};
use remora_memory::statement::Speaker;
use remora_memory::statement::fitting::{traits_of, without_reason};
use serde_json::Value;

use logistic::{Example, TraitWeights, fit_weights, to_probability};

const TRAINING_FILE: &str = "fixtures/statements/train.jsonl";
/// Lists that are only counted.
const HELD_OUT_FILES: [&str; 2] = [
    "fixtures/statements/test.jsonl",
    "fixtures/statements/blind.jsonl",
];
const MODEL_FILE: &str = "crates/remora-memory/src/statement/model.tsv";

const FOLD_COUNT: usize = 10;
/// Neighbouring sentences are often of one text and stay in one fold.
const GROUP_SENTENCES: usize = 4;
/// What a speaker's own weights count beside those for both.
const OWN_SHARE: f64 = 0.7;
/// Of what is found, how much must be right. A user says a thing once, so a miss
/// costs more there; what an agent says is in the summary as well.
fn least_precision(speaker: Speaker) -> f64 {
    match speaker {
        Speaker::User => 0.87,
        Speaker::Assistant => 0.9,
    }
}
/// What a wrong find counts. Nearly half of the sentences to learn from state
/// something, in life fewer than one in four. Those of users that state nothing
/// were picked to look alike, so they stand for more than themselves already.
fn none_weight(speaker: Speaker) -> f64 {
    match speaker {
        Speaker::User => 1.3,
        Speaker::Assistant => 2.0,
    }
}
/// Weights below this, in thousandths, are left out.
const MIN_WEIGHT: i64 = 15;

/// What a statement can be, in the order of the table's columns.
const STATEMENT_KINDS: [&str; 4] = ["decision", "preference", "correction", "fact"];

struct LabelledSentence {
    text: String,
    speaker: Speaker,
    label: String,
    values: Vec<(String, f64)>,
    ruled: bool,
    /// What it states without saying why.
    without_reason: Option<Box<LabelledSentence>>,
}

impl LabelledSentence {
    fn from_text(text: &str, context: &str, speaker: Speaker, label: &str) -> Self {
        let traits = traits_of(text, context, speaker);
        let mut values: BTreeMap<String, f64> = BTreeMap::from([("bias".to_owned(), 1.0)]);
        for (name, value) in traits.values {
            *values.entry(name).or_default() += f64::from(value);
        }
        Self {
            text: text.to_owned(),
            speaker,
            label: label.to_owned(),
            values: values.into_iter().collect(),
            ruled: traits.ruled,
            without_reason: None,
        }
    }

    fn is_statement(&self) -> bool {
        self.label != "none"
    }

    /// Whether it counts, at the probability that the model gives it.
    fn is_counted(&self, probability: f64, threshold: f64) -> bool {
        self.ruled || probability >= threshold
    }

    /// A rule of the user says how to work; one of the agent is a choice.
    fn sort(&self) -> &str {
        match (self.label.as_str(), self.speaker) {
            ("rule", Speaker::User) => "preference",
            ("rule", Speaker::Assistant) => "decision",
            (label, _) => label,
        }
    }

    /// The traits for both speakers, and those for this one.
    fn with_own(&self) -> Vec<(String, f64)> {
        let own = |(name, value): &(String, f64)| {
            (
                format!("{}{name}", speaker_prefix(self.speaker)),
                value * OWN_SHARE,
            )
        };
        let own: Vec<_> = self.values.iter().map(own).collect();
        [self.values.clone(), own].concat()
    }
}

fn speaker_prefix(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::User => "user|",
        Speaker::Assistant => "agent|",
    }
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let lists_errors = match args {
        [] => false,
        [flag] if flag == "--errors" => true,
        _ => bail!("`fit` takes no arguments but `--errors`"),
    };
    let train = load_sentences(TRAINING_FILE)?;
    let scores = cross_validate(&train);
    let mut report = String::new();
    let mut thresholds = Vec::new();
    for speaker in [Speaker::User, Speaker::Assistant] {
        let of_speaker = || {
            let rows = train.iter().zip(&scores);
            rows.filter(move |(row, _)| row.speaker == speaker)
        };
        let threshold = lowest_threshold(
            of_speaker().filter(|(row, _)| !row.ruled),
            none_weight(speaker),
            least_precision(speaker),
        );
        let passes = |(row, score): &(&LabelledSentence, &f64)| row.is_counted(**score, threshold);
        let found = DetectionCounts::from_pairs(
            of_speaker().map(|pair| (pair.0.is_statement(), passes(&pair))),
        );
        let rules = DetectionCounts::from_pairs(
            of_speaker().map(|pair| (pair.0.is_statement(), pair.0.ruled)),
        );
        writeln!(
            report,
            "{speaker:?}: threshold {threshold:.3}\n  \
             cross-validated {found}\n  rules alone     {rules}"
        )?;
        if lists_errors {
            for (row, score) in of_speaker() {
                if passes(&(row, score)) != row.is_statement() {
                    let by = if row.ruled { "rule" } else { "model" };
                    writeln!(report, "  {:10} {by:5} {score:.2} {}", row.label, row.text)?;
                }
            }
        }
        thresholds.push((speaker, threshold));
    }
    let statements: Vec<&LabelledSentence> =
        train.iter().filter(|row| row.is_statement()).collect();
    writeln!(
        report,
        "kinds right, cross-validated: {}",
        judge_sorts(&statements)
    )?;

    let all: Vec<&LabelledSentence> = train.iter().collect();
    let table = write_table(&fit_statements(&all), &fit_sorts(&statements), &thresholds)?;
    fs::write(MODEL_FILE, &table).with_context(|| format!("write {MODEL_FILE}"))?;
    writeln!(
        report,
        "{MODEL_FILE}: {} rows, {} bytes",
        table.lines().count(),
        table.len()
    )?;

    let weights = fit_statements(&all);
    for file in HELD_OUT_FILES {
        let held_out = load_sentences(file)?;
        for (speaker, threshold) in &thresholds {
            let rows = held_out.iter().filter(|row| row.speaker == *speaker);
            let found = rows.map(|row| {
                let score = to_probability(weights.score_traits(&row.with_own()));
                (row.is_statement(), row.is_counted(score, *threshold))
            });
            writeln!(
                report,
                "{speaker:?}: {file} {}",
                DetectionCounts::from_pairs(found)
            )?;
        }
    }
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}

fn load_sentences(file: &str) -> anyhow::Result<Vec<LabelledSentence>> {
    let text = fs::read_to_string(file).with_context(|| format!("read {file}"))?;
    let rows = text.lines().enumerate().map(|(at, line)| {
        let row: Value =
            serde_json::from_str(line).with_context(|| format!("{file}:{}", at + 1))?;
        let get = |key: &str| {
            let value = row[key].as_str();
            value.with_context(|| format!("{file}:{}: no `{key}`", at + 1))
        };
        let text = get("text")?;
        let speaker = match get("speaker")? {
            "user" => Speaker::User,
            _ => Speaker::Assistant,
        };
        let label = get("label")?;
        let context = row["context"].as_str().unwrap_or(text);
        let short = without_reason(text).filter(|_| label != "none" && label != "fact");
        let short = short
            .map(|short| Box::new(LabelledSentence::from_text(short, context, speaker, label)));
        Ok(LabelledSentence {
            without_reason: short,
            ..LabelledSentence::from_text(text, context, speaker, label)
        })
    });
    rows.collect()
}

fn fit_statements(rows: &[&LabelledSentence]) -> TraitWeights {
    // Most that state something say why, too; it must not be what counts.
    let short = rows.iter().filter_map(|row| row.without_reason.as_deref());
    let rows: Vec<&LabelledSentence> = rows.iter().copied().chain(short).collect();
    let values: Vec<_> = rows.iter().map(|row| row.with_own()).collect();
    let examples: Vec<Example<'_>> = rows
        .iter()
        .zip(&values)
        .map(|(row, values)| Example {
            values,
            holds: row.is_statement(),
        })
        .collect();
    fit_weights(&examples)
}

/// One set of weights for each sort: it against the others.
fn fit_sorts(rows: &[&LabelledSentence]) -> Vec<TraitWeights> {
    let of_sort = |sort: &&str| {
        let examples: Vec<Example<'_>> = rows
            .iter()
            .map(|row| Example {
                values: &row.values,
                holds: row.sort() == *sort,
            })
            .collect();
        fit_weights(&examples)
    };
    STATEMENT_KINDS.iter().map(of_sort).collect()
}

fn is_held_out(at: usize, fold: usize) -> bool {
    (at / GROUP_SENTENCES) % FOLD_COUNT == fold
}

/// How likely each row states something, by a model that has not seen it.
fn cross_validate(rows: &[LabelledSentence]) -> Vec<f64> {
    let mut scores = vec![0.0; rows.len()];
    for fold in 0..FOLD_COUNT {
        let seen = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| !is_held_out(*at, fold));
        let weights = fit_statements(&seen.map(|(_, row)| row).collect::<Vec<_>>());
        for (at, row) in rows
            .iter()
            .enumerate()
            .filter(|(at, _)| is_held_out(*at, fold))
        {
            scores[at] = to_probability(weights.score_traits(&row.with_own()));
        }
    }
    scores
}

fn judge_sorts(rows: &[&LabelledSentence]) -> String {
    let mut right = 0;
    for fold in 0..FOLD_COUNT {
        let at = |held: bool| {
            let rows = rows.iter().enumerate();
            rows.filter(move |(at, _)| is_held_out(*at, fold) == held)
                .map(|(_, row)| *row)
        };
        let weights = fit_sorts(&at(false).collect::<Vec<_>>());
        for row in at(true) {
            let scores = weights
                .iter()
                .map(|weights| weights.score_traits(&row.values));
            let best = STATEMENT_KINDS
                .iter()
                .zip(scores)
                .max_by(|a, b| a.1.total_cmp(&b.1));
            right += usize::from(best.is_some_and(|(sort, _)| *sort == row.sort()));
        }
    }
    format!("{right} of {}", rows.len())
}

/// The lowest probability from which on enough of what is found is right. Facts
/// count for nothing: most of them are not kept.
fn lowest_threshold<'a>(
    rows: impl Iterator<Item = (&'a LabelledSentence, &'a f64)>,
    none_weight: f64,
    precision: f64,
) -> f64 {
    let rows = rows.filter(|(row, _)| row.label != "fact");
    let mut rows: Vec<(f64, bool)> = rows
        .map(|(row, score)| (*score, row.is_statement()))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut right, mut wrong, mut lowest) = (0.0, 0.0, 0.999);
    for (score, states) in rows {
        if states {
            right += 1.0;
        } else {
            wrong += none_weight;
        }
        if right / (right + wrong) >= precision {
            lowest = score;
        }
    }
    lowest
}

/// What was found, what was rightly found and what there was.
#[derive(Default)]
struct DetectionCounts {
    right: u32,
    found: u32,
    there: u32,
}

impl DetectionCounts {
    fn from_pairs(rows: impl Iterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for (states, found) in rows {
            counts.right += u32::from(states && found);
            counts.found += u32::from(found);
            counts.there += u32::from(states);
        }
        counts
    }
}

impl std::fmt::Display for DetectionCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |of: u32| f64::from(self.right) / f64::from(of.max(1));
        write!(
            f,
            "precision {:.3} ({} of {}), recall {:.3} (of {})",
            share(self.found),
            self.right,
            self.found,
            share(self.there),
            self.there
        )
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are far below a million"
)]
fn to_thousandths(value: f64) -> i64 {
    (value * 1000.0).round() as i64
}

fn write_table(
    statements: &TraitWeights,
    sorts: &[TraitWeights],
    thresholds: &[(Speaker, f64)],
) -> anyhow::Result<String> {
    let mut table = String::from(
        "# Written by `cargo xtask fit`. Thousandths: both speakers, user, agent;\n\
         # then decision, preference, correction, fact. Zeros at the end are left out.\n",
    );
    for (speaker, threshold) in thresholds {
        let name = speaker_prefix(*speaker).trim_end_matches('|');
        writeln!(table, "threshold {name}\t{}", to_thousandths(*threshold))?;
    }
    let names = sorts
        .iter()
        .chain([statements])
        .flat_map(|weights| weights.0.keys());
    let names = names.map(|name| {
        name.rsplit_once('|')
            .map_or(name.as_str(), |(_, name)| name)
    });
    let names: std::collections::BTreeSet<&str> = names.collect();
    for name in names {
        let of =
            |weights: &TraitWeights, name: &str| weights.0.get(name).copied().unwrap_or_default();
        let own =
            |speaker| OWN_SHARE * of(statements, &format!("{}{name}", speaker_prefix(speaker)));
        let mut row = vec![
            of(statements, name),
            own(Speaker::User),
            own(Speaker::Assistant),
        ];
        row.extend(sorts.iter().map(|weights| of(weights, name)));
        let row = row.into_iter().map(to_thousandths);
        let mut row: Vec<i64> = row
            .map(|w| if w.abs() < MIN_WEIGHT { 0 } else { w })
            .collect();
        while row.last() == Some(&0) {
            row.pop();
        }
        if !row.is_empty() {
            let row: Vec<String> = row.iter().map(i64::to_string).collect();
            writeln!(table, "{name}\t{}", row.join("\t"))?;
        }
    }
    Ok(table)
}
