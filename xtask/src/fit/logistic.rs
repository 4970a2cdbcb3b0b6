//! Logistic regression over named traits, with a penalty on large weights. The
//! same rows give the same weights: whole batches, a fixed order, no chance.

use std::collections::{BTreeMap, HashMap};

/// Rows that a trait must be in to get a weight.
const MIN_TRAIT_ROWS: usize = 3;
/// How much large weights cost.
const PENALTY: f64 = 1.0;
const MAX_STEPS: usize = 200;
const LEARNING_RATE: f64 = 0.02;
const MOMENTUM: f64 = 0.8;
/// How slowly the scale of a weight's steps follows its slope.
const SCALE_DECAY: f64 = 0.95;

/// A row to learn from.
pub(super) struct Example<'a> {
    pub(super) values: &'a [(String, f64)],
    pub(super) holds: bool,
}

/// The weights by trait.
#[derive(Debug, Default)]
pub(super) struct TraitWeights(pub(super) BTreeMap<String, f64>);

impl TraitWeights {
    /// The log of the odds that it holds.
    pub(super) fn score_traits(&self, values: &[(String, f64)]) -> f64 {
        let known = values
            .iter()
            .filter_map(|(name, value)| Some(self.0.get(name)? * value));
        known.sum()
    }
}

/// How likely it is by the log of its odds.
pub(super) fn to_probability(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Fits the weights to the examples.
pub(super) fn fit_weights(examples: &[Example<'_>]) -> TraitWeights {
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for example in examples {
        for (name, _) in example.values {
            *rows.entry(name).or_default() += 1;
        }
    }
    let mut names: Vec<&str> = rows
        .into_iter()
        .filter_map(|(name, count)| (count >= MIN_TRAIT_ROWS).then_some(name))
        .collect();
    names.sort_unstable();
    let index: HashMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let inputs: Vec<(Vec<(usize, f64)>, f64)> = examples
        .iter()
        .map(|example| {
            let known = example.values.iter();
            let known =
                known.filter_map(|(name, value)| Some((*index.get(name.as_str())?, *value)));
            (known.collect(), f64::from(u8::from(example.holds)))
        })
        .collect();
    let weights = descend_gradient(&inputs, names.len());
    TraitWeights(names.into_iter().map(str::to_owned).zip(weights).collect())
}

fn descend_gradient(inputs: &[(Vec<(usize, f64)>, f64)], count: usize) -> Vec<f64> {
    let size = f64::from(u32::try_from(inputs.len()).unwrap_or(u32::MAX).max(1));
    let mut weights = vec![0.0; count];
    let mut speed = vec![0.0; count];
    let mut square = vec![1e-8; count];
    for _ in 0..MAX_STEPS {
        let mut slope = vec![0.0; count];
        for (input, wanted) in inputs {
            let score: f64 = input.iter().map(|(at, value)| weights[*at] * value).sum();
            let error = (to_probability(score) - wanted) / size;
            for (at, value) in input {
                slope[*at] += error * value;
            }
        }
        for at in 0..count {
            let slope = slope[at] + PENALTY * weights[at] / size;
            square[at] = SCALE_DECAY * square[at] + (1.0 - SCALE_DECAY) * slope * slope;
            speed[at] = MOMENTUM * speed[at] - LEARNING_RATE * slope / (square[at].sqrt() + 1e-5);
            weights[at] += speed[at];
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::{Example, fit_weights, to_probability};

    #[test]
    fn what_tells_the_rows_apart_gets_the_weight() {
        let row = |name: &str| vec![("both".to_owned(), 1.0), (name.to_owned(), 1.0)];
        let rows: Vec<_> = (0..20)
            .map(|at| row(if at % 2 == 0 { "yes" } else { "no" }))
            .collect();
        let examples: Vec<Example<'_>> = rows
            .iter()
            .map(|values| Example {
                values,
                holds: values[1].0 == "yes",
            })
            .collect();
        let weights = fit_weights(&examples);
        assert!(to_probability(weights.score_traits(&row("yes"))) > 0.8);
        assert!(to_probability(weights.score_traits(&row("no"))) < 0.2);
        assert!(weights.0["both"].abs() < 0.1);
        assert_eq!(weights.0, fit_weights(&examples).0);
    }
}
