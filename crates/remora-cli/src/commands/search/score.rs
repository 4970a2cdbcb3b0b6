//! A score as a sum.

use remora_memory::rank::ScoreParts;

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
        let parts = |words, gist, user| ScoreParts {
            words,
            gist,
            user,
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
}
