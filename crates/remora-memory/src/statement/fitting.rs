//! Access for fitting the classifier: the features of a labelled sentence, computed
//! by the same code as in the product.

use super::features::{self, SentenceContext};
use super::{Speaker, match_rules, reason, split_units};
use crate::sentence;

/// A labelled sentence as the classifier sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceFeatures {
    /// Names and values; a name may come twice.
    pub values: Vec<(String, f32)>,
    /// Whether a word rule says that it states something.
    pub ruled: bool,
}

/// The features of one sentence of a prompt or a message.
pub fn traits_of(text: &str, context: &str, speaker: Speaker) -> SentenceFeatures {
    let blocks = sentence::parse_blocks(&sentence::without_tagged(context));
    let blocks: Vec<String> = blocks
        .iter()
        .map(|block| sentence::without_emphasis(&block.text))
        .collect();
    let all: Vec<&str> = blocks
        .iter()
        .flat_map(|block| sentence::split_sentences(block))
        .collect();
    let own = sentence::without_emphasis(text);
    let own = own.trim();
    let found = all
        .iter()
        .position(|one| one.contains(own) || own.contains(one));
    let at = found.unwrap_or(0);
    let next = all.get(at + 1).filter(|_| found.is_some());
    // The half with the most certain rule represents the sentence.
    let halves = split_units(own);
    let hits = halves.iter().enumerate().filter_map(|(at, half)| {
        let next = halves.get(at + 1).map(|unit| unit.text).or(next.copied());
        match_rules(half.text, next, speaker)
    });
    let hit = hits.max_by_key(|hit| hit.confidence);
    let mut values = Vec::new();
    let sentence = SentenceContext {
        text: own,
        speaker,
        place: (at, all.len()),
        hit,
    };
    features::extract_features(&sentence, |name: &str, value| {
        values.push((name.to_owned(), value));
    });
    SentenceFeatures {
        values,
        ruled: hit.is_some(),
    }
}

/// The sentence without its reason, if it has one. It states the same, so it is one
/// more example to fit to.
pub fn without_reason(text: &str) -> Option<&str> {
    let (body, why) = reason::split_reason(text);
    why.map(|_| body.trim())
}
