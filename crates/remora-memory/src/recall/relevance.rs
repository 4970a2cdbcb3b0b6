//! How relevant a hit is, on a scale that is the same for every search: what the
//! thresholds of recall are compared with. Chosen on one half of
//! `fixtures/recall`, reported on the other: `docs/benchmarks.md`.

use remora_protocol::record::Kind;

use crate::store::Hit;

/// What a word that nobody else uses counts, about, in a project of some size.
const RARE: f64 = 6.0;
/// Two rows about nothing in common are this alike.
const NOISE: f32 = 0.35;

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
