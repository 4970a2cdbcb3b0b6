//! What each part of the ranking is worth: the same questions with one part
//! after the other switched off.

use remora_memory::rank::{RANK_WEIGHTS, RankWeights};

use crate::args::SearchTierArg;

/// A part by its name, and how it is switched off.
type WeightSwitch = (&'static str, fn(&mut RankWeights));

const WEIGHT_SWITCHES: &[WeightSwitch] = &[
    ("length", |w| w.b = 0.0),
    ("rows beside", |w| w.beside = [0.0; 2]),
    ("flat words", |w| w.flat = 0.0),
    ("all words", |w| w.whole = 0.0),
    ("gist", |w| w.gist = 0.0),
    ("meaning", |w| {
        w.meaning = 0.0;
        w.meaning_beside = 0.0;
    }),
    ("meaning beside", |w| w.meaning_beside = 0.0),
    ("person", |w| w.user = 0.0),
    ("named", |w| w.named = 0.0),
    ("dated", |w| w.dated = 0.0),
    ("kept", |w| w.kept = 0.0),
    ("favoured", |w| w.favoured = 0.0),
];

/// The weights without each part that this tier has.
pub(super) fn ablate_weights(tier: SearchTierArg) -> Vec<(&'static str, RankWeights)> {
    let used = match tier {
        SearchTierArg::Fast => RankWeights {
            meaning: 0.0,
            meaning_beside: 0.0,
            ..RANK_WEIGHTS
        },
        SearchTierArg::Full => RANK_WEIGHTS,
    };
    WEIGHT_SWITCHES
        .iter()
        .map(|(name, switch_off)| {
            let mut weights = used;
            switch_off(&mut weights);
            (*name, weights)
        })
        .filter(|(_, weights)| *weights != used)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_that_counts_is_left_out_once() {
        let names =
            |tier| -> Vec<&str> { ablate_weights(tier).iter().map(|(name, _)| *name).collect() };
        let (fast, full) = (names(SearchTierArg::Fast), names(SearchTierArg::Full));
        assert!(!fast.contains(&"meaning") && full.contains(&"meaning"));
        assert_eq!(full.len(), fast.len() + 2);
        assert_eq!(
            full.len(),
            WEIGHT_SWITCHES.len(),
            "a part has no weight: {full:?}"
        );
        for (name, weights) in ablate_weights(SearchTierArg::Full) {
            assert_ne!(weights, RANK_WEIGHTS, "{name}");
        }
    }

    #[test]
    fn no_part_is_forgotten() {
        let mut off = RANK_WEIGHTS;
        for (_, switch_off) in WEIGHT_SWITCHES {
            switch_off(&mut off);
        }
        // A new weight does not compile until it stands here, too.
        let RankWeights {
            // The shape of a curve, which cannot be switched off.
            k1: _,
            b,
            beside: [next, beyond],
            flat,
            whole,
            gist,
            meaning,
            meaning_beside,
            user,
            named,
            dated,
            kept,
            favoured,
        } = off;
        for (at, weight) in [
            b,
            next,
            beyond,
            flat,
            whole,
            gist,
            meaning,
            meaning_beside,
            user,
            named,
            dated,
            kept,
            favoured,
        ]
        .into_iter()
        .enumerate()
        {
            assert!(weight.abs() < f64::EPSILON, "weight {at} is still {weight}");
        }
    }
}
