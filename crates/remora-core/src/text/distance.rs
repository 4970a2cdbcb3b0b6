//! How far two spellings are apart, for advice on a name that was not found.

/// The cost of two letters that changed places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapCost {
    /// One step: a common slip of the fingers.
    One,
    /// Two, as any two letters that differ.
    Two,
}

/// How many letters must be put in, taken out or changed to make one word of the
/// other; `None` if they are more than `max`.
pub fn edit_distance(a: &str, b: &str, swaps: SwapCost, max: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    edit_distance_chars(&a, &b, swaps, max)
}

/// The same, for a caller that compares one word with many.
pub fn edit_distance_chars(a: &[char], b: &[char], swaps: SwapCost, max: usize) -> Option<usize> {
    // Each missing letter costs a step, so the lengths alone rule most words out.
    if a.len().abs_diff(b.len()) > max {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            let swapped = i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y;
            if swapped && swaps == SwapCost::One {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        // No later row of the matrix has less than the least of this one.
        if row.iter().all(|steps| *steps > max) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|steps| *steps <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_up_to_a_bound() {
        for (a, b, max, expected) in [
            ("lock", "lock", 2, Some(0)),
            ("lock", "lokc", 2, Some(1)),
            ("lock", "block", 2, Some(1)),
            ("lock", "loc", 2, Some(1)),
            ("lock", "rack", 2, Some(2)),
            ("lock", "walrus", 2, None),
            ("", "ab", 2, Some(2)),
            ("deploy", "deploy", 3, Some(0)),
            ("deplyo", "deploy", 3, Some(1)),
            ("deploys", "deploy", 3, Some(1)),
            ("", "abc", 3, Some(3)),
            ("deploy", "d", 3, None),
            ("\u{e4}rger", "arger", 3, Some(1)),
        ] {
            let distance = |a, b| edit_distance(a, b, SwapCost::One, max);
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn letters_that_changed_places_cost_what_the_caller_says() {
        for (swaps, expected) in [(SwapCost::One, 1), (SwapCost::Two, 2)] {
            assert_eq!(edit_distance("lokc", "lock", swaps, 9), Some(expected));
        }
    }
}
