//! A linear model over the traits of a sentence: how likely it states something
//! that should be known later, and of which kind. Its weights are a table beside
//! the code, written by `cargo xtask fit` and read once.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::features::{self, SentenceContext};
use super::{Speaker, StatementKind};

/// Weights in thousandths; see `xtask fit`, which writes it.
const MODEL_TABLE: &str = include_str!("model.tsv");
/// Columns behind the name of a trait.
const MODEL_COLUMNS: usize = 7;
const PER_MILLE: f32 = 1000.0;
/// How far an agent's choice must lead over a finding: findings are kept with the
/// summary, and one that is taken for a choice would be told as in force.
const AGENT_FACT_LEAD: f32 = 0.5;

/// What a sentence is, if it states something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementClass {
    Kind(StatementKind),
    /// Lasting knowledge: why something is so, what was measured.
    Fact,
}

/// What the model makes of a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SentencePrediction {
    /// How likely it states something, 0 to 1.
    pub(super) probability: f32,
    pub(super) sort: StatementClass,
}

/// The weights of a trait: for both speakers, the user, the agent; then for a
/// decision, a preference, a correction and a fact.
type FeatureWeights = [f32; MODEL_COLUMNS];

#[derive(Debug, Default)]
struct StatementModel {
    weights: HashMap<&'static str, FeatureWeights>,
    /// From which probability on a sentence counts.
    user: f32,
    agent: f32,
}

static STATEMENT_MODEL: LazyLock<StatementModel> = LazyLock::new(|| {
    let mut model = StatementModel::default();
    for line in MODEL_TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let name = cells.next().unwrap_or_default();
        let mut row = [0.0; MODEL_COLUMNS];
        for (cell, value) in row.iter_mut().zip(cells) {
            *cell = value.parse::<f32>().unwrap_or_default() / PER_MILLE;
        }
        match name {
            "threshold user" => model.user = row[0],
            "threshold agent" => model.agent = row[0],
            name => {
                model.weights.insert(name, row);
            }
        }
    }
    model
});

/// From which probability on a sentence of this speaker states something.
pub(super) fn threshold_for(speaker: Speaker) -> f32 {
    match speaker {
        Speaker::User => STATEMENT_MODEL.user,
        Speaker::Assistant => STATEMENT_MODEL.agent,
    }
}

/// Reads a sentence.
pub(super) fn predict_sentence(sentence: &SentenceContext<'_>) -> SentencePrediction {
    let mut sums = [0.0_f32; MODEL_COLUMNS];
    let mut add = |name: &str, value: f32| {
        if let Some(weights) = STATEMENT_MODEL.weights.get(name) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight * value;
            }
        }
    };
    add("bias", 1.0);
    features::extract_features(sentence, add);
    let own = match sentence.speaker {
        Speaker::User => sums[1],
        Speaker::Assistant => sums[2],
    };
    let sorts = [
        StatementClass::Kind(StatementKind::Decision),
        StatementClass::Kind(StatementKind::Preference),
        StatementClass::Kind(StatementKind::Correction),
        StatementClass::Fact,
    ];
    if sentence.speaker == Speaker::Assistant {
        sums[MODEL_COLUMNS - 1] += AGENT_FACT_LEAD;
    }
    let best = sorts.into_iter().zip(&sums[3..]);
    let best = best.reduce(|best, other| if other.1 > best.1 { other } else { best });
    SentencePrediction {
        probability: 1.0 / (1.0 + (-(sums[0] + own)).exp()),
        sort: best.map_or(StatementClass::Fact, |(sort, _)| sort),
    }
}

#[cfg(test)]
mod tests {
    use super::{MODEL_TABLE, STATEMENT_MODEL};

    #[test]
    fn the_table_is_whole_and_small() {
        let rows = MODEL_TABLE.lines().filter(|line| !line.starts_with('#'));
        let broken: Vec<&str> = rows
            .filter(|row| {
                row.split('\t')
                    .skip(1)
                    .any(|cell| cell.parse::<i32>().is_err())
            })
            .collect();
        assert_eq!(broken, Vec::<&str>::new());
        assert!(MODEL_TABLE.len() < 300_000, "{} bytes", MODEL_TABLE.len());
        for threshold in [STATEMENT_MODEL.user, STATEMENT_MODEL.agent] {
            assert!(threshold > 0.5 && threshold < 1.0, "{threshold}");
        }
    }
}
