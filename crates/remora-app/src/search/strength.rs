//! How strong a result is: whether users want to see it. Ranking is not its
//! business.

use remora_memory::rank::{RANK_WEIGHTS, ScoreParts};
use remora_memory::store::Hit;

/// The least that an item's embedding must count if it holds no word of the
/// query: it and a neighbour are one deviation above the mean.
const MIN_EMBEDDING_SCORE: f64 = RANK_WEIGHTS.meaning + RANK_WEIGHTS.meaning_beside;
/// And which share of what the best item's embedding counts.
const MIN_SHARE_OF_BEST: f64 = 0.5;
/// Or what the words of its neighbours must count.
const MIN_NEIGHBOUR_WORDS_SCORE: f64 = 0.25;

/// Leaves out items that hold no word of the query and have little else to do
/// with it.
pub(super) fn keep_strong(hits: &mut Vec<Hit>) {
    let meanings = hits.iter().map(|hit| hit.parts.meaning);
    let best = meanings.fold(0.0, f64::max);
    hits.retain(|hit| hit.any_words || is_strong(&hit.parts, best));
}

fn is_strong(parts: &ScoreParts, best: f64) -> bool {
    parts.meaning >= MIN_EMBEDDING_SCORE.max(best * MIN_SHARE_OF_BEST)
        || parts.words >= MIN_NEIGHBOUR_WORDS_SCORE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_words_a_row_stands_out_or_stands_beside_a_good_one() {
        let strong = |words, meaning, best| {
            let parts = ScoreParts {
                words,
                meaning,
                gist: 0.4,
                user: 0.3,
                ..ScoreParts::default()
            };
            is_strong(&parts, best)
        };
        assert!(strong(0.0, 0.15, 0.15));
        assert!(strong(0.0, 0.25, 0.45));
        assert!(strong(0.3, 0.0, 0.45));
        assert!(!strong(0.0, 0.15, 0.45));
        assert!(!strong(0.0, 0.05, 0.05));
        assert!(!strong(0.1, 0.05, 0.05));
        assert!(!strong(0.0, 0.0, 0.0));
    }
}
