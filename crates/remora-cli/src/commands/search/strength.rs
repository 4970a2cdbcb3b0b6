//! How strong a result is: whether users want to see it, and its score as a
//! sum. Ranking is not its business.

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

/// `score 0.560 = words 0.600 - gist 0.040`.
pub(super) fn format_score(score: f64, parts: &ScoreParts) -> String {
    let mut line = format!("score {score:.3}");
    // What would be shown as 0.000 is left out.
    let shown = parts.by_name().into_iter();
    let shown = shown.filter(|(_, part)| part.abs() >= 0.0005);
    for (at, (name, part)) in shown.enumerate() {
        let sign = match (at, part < 0.0) {
            (0, false) => " = ",
            (0, true) => " = -",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        line.extend([sign, name, " ", &format!("{:.3}", part.abs())]);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_part_is_taken_away() {
        let parts = |words, gist, person| ScoreParts {
            words,
            gist,
            person,
            ..ScoreParts::default()
        };
        for (parts, line) in [
            (
                parts(0.6, -0.04, 0.3),
                "score 0.860 = words 0.600 - gist 0.040 + person 0.300",
            ),
            (parts(0.0, -0.04, 0.0), "score -0.040 = -gist 0.040"),
            (parts(0.5, -0.0001, 0.0), "score 0.500 = words 0.500"),
            (ScoreParts::default(), "score 0.000"),
        ] {
            assert_eq!(format_score(parts.score(), &parts), line);
        }
    }

    #[test]
    fn without_words_a_row_stands_out_or_stands_beside_a_good_one() {
        let strong = |words, meaning, best| {
            let parts = ScoreParts {
                words,
                meaning,
                gist: 0.4,
                person: 0.3,
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
