//! How relevant a hit is, on a scale that is the same for every search: what the
//! thresholds of recall are compared with. Chosen on one half of
//! `fixtures/recall`, reported on the other: `docs/benchmarks.md`.

use remora_protocol::record::Kind;

use crate::store::Hit;

/// What a word that nobody else uses counts, about, in a project of some size.
const RARE: f64 = 6.0;
/// Two rows about nothing in common are this alike.
const NOISE: f32 = 0.35;

/// The share of the best hit's relevance that every other must reach.
const LEAST: f64 = 0.5;

/// What a hit must reach beside the best one: where that says nearly all, what
/// says half as much has only words in common.
pub(super) fn beside(best: f64, threshold: f64) -> f64 {
    threshold.max(LEAST * best)
}

/// Verbs of nearly every statement: that a row has one in common with a prompt
/// says nothing.
const COMMON: &[&str] = &[
    "add", "added", "adding", "choose", "chose", "chosen", "decide", "decided", "get", "gets",
    "getting", "got", "make", "makes", "making", "made", "set", "sets", "setting", "use", "used",
    "uses", "using",
];

/// Whether the folded word is one that too many rows hold.
pub(super) fn is_common(term: &str) -> bool {
    COMMON.contains(&term)
}

/// What a hit's relevance is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Relevance {
    /// The share of the prompt's words.
    pub(super) share: f64,
    /// How rare the words are that it has in common.
    pub(super) rare: f64,
    /// What it is about.
    pub(super) about: f64,
    /// It was kept on purpose.
    pub(super) kept: f64,
}

impl Relevance {
    /// Of a hit.
    pub(super) fn of(hit: &Hit) -> Self {
        let kept = match hit.item.kind {
            Kind::Correction | Kind::Preference => 0.1,
            Kind::Decision | Kind::Fix => 0.08,
            Kind::Memory => 0.05,
            _ => 0.0,
        };
        Self {
            share: 0.5 * hit.fit.share,
            rare: 0.3 * (hit.fit.weight / (3.0 * RARE)).min(1.0),
            about: 0.5 * f64::from((hit.fit.gist - NOISE).max(0.0)) / f64::from(1.0 - NOISE),
            kept,
        }
    }

    /// The sum, from 0 to about 1.3.
    pub(super) fn sum(&self) -> f64 {
        self.share + self.rare + self.about + self.kept
    }

    /// The parts by name.
    pub(super) fn parts(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("share", self.share),
            ("rare", self.rare),
            ("about", self.about),
            ("kept", self.kept),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn beside_a_hit_that_says_it_all_half_of_it_is_needed() {
        let needed = [0.0, 0.7, 1.0, 1.3].map(|best| format!("{:.2}", beside(best, 0.4)));
        assert_eq!(needed, ["0.40", "0.40", "0.50", "0.65"]);
    }
}
