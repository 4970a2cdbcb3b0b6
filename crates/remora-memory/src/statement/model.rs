//! A linear model over the features of a sentence: how likely it states something
//! that should be known later, and of which kind. Its weights are a table next to
//! the code, written by `cargo xtask fit` and parsed once.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::features::{self, SentenceContext};
use super::{Speaker, StatementKind};

/// Weights in thousandths, as text, so that a diff shows what a fit has changed.
const MODEL_TABLE: &str = include_str!("model.tsv");
/// Columns after the name of a feature.
const MODEL_COLUMNS: usize = 7;
const PER_MILLE: f32 = 1000.0;
/// How far an agent's choice must lead over a finding: findings are stored in the
/// summary, and one that is mistaken for a choice would be injected as in force.
const AGENT_FACT_LEAD: f32 = 0.5;

/// The class of a sentence that states something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementClass {
    Kind(StatementKind),
    /// Lasting knowledge: why something is so, what was measured.
    Fact,
}

/// The model's prediction for a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SentencePrediction {
    /// How likely it states something, 0 to 1.
    pub(super) probability: f32,
    pub(super) sort: StatementClass,
}

/// The weights of a feature: for both speakers, the user, the agent; then for a
/// decision, a preference, a correction and a fact.
type FeatureWeights = [f32; MODEL_COLUMNS];

#[derive(Debug, Default)]
struct StatementModel {
    weights: HashMap<&'static str, FeatureWeights>,
    /// The probability from which a sentence counts, by speaker.
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

/// The probability from which a sentence of this speaker counts.
pub(super) fn threshold_for(speaker: Speaker) -> f32 {
    // Fitted to a lower precision for users, who say a thing once.
    match speaker {
        Speaker::User => STATEMENT_MODEL.user,
        Speaker::Assistant => STATEMENT_MODEL.agent,
    }
}

/// Predicts whether and what a sentence states. A feature that the table does not
/// have has no weight.
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
