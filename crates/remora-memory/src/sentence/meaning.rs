//! Truncates sentences without losing the words that reverse their meaning: "the
//! total is not computed until the index exists" without its end says the opposite.

use super::one_line;

/// Words without which a sentence says something else.
const TURNING_WORDS: &[&str] = &[
    "not", "no", "never", "longer", "instead", "only", "until", "unless", "except", "without",
    "cannot", "fixed", "reverted", "revert", "failed", "fails", "failing", "removed", "dropped",
    "nicht", "kein", "keine", "nur", "statt",
];
/// What separates clauses.
const CLAUSE_BOUNDARIES: &[&str] = &[
    ", ",
    "; ",
    ": ",
    " – ",
    " — ",
    " (",
    " but ",
    " because ",
    " so ",
    " and ",
];
/// The share of the limit that the clause may take, in tenths.
const MAX_CLAUSE_TENTHS: usize = 6;
/// A shorter beginning says nothing.
const MIN_HEAD_CHARS: usize = 20;

/// One line of at most `limit` characters. If the end would be cut and contains a
/// word that reverses the sentence, the middle is cut instead.
pub(crate) fn cut_sentence(text: &str, limit: usize) -> String {
    let whole = one_line(text, usize::MAX);
    let head = one_line(&whole, limit);
    if head == whole {
        return head;
    }
    let shown = head.trim_end_matches('…').len();
    let Some((at, end)) = find_turning(&whole, shown) else {
        return head;
    };
    let most = limit * MAX_CLAUSE_TENTHS / 10;
    let start = clause_start(&whole, at);
    let within = |from: usize| whole[from..end].chars().count() < most;
    let start = if within(start) { start } else { at };
    if !within(start) {
        return head;
    }
    let clause = one_line(&whole[start..], most);
    // Two more for the mark of the omission and a space.
    let room = limit.saturating_sub(clause.chars().count() + 2);
    if room < MIN_HEAD_CHARS {
        return head;
    }
    let before = whole[..start].trim_end_matches([' ', ',', ';', ':', '(', '–', '—']);
    let before = one_line(before, room + 1);
    let before = before.trim_end_matches(['…', ' ', ',', ';']);
    format!("{before}… {clause}")
}

/// The first such word that ends after this offset, as a range.
fn find_turning(text: &str, shown: usize) -> Option<(usize, usize)> {
    let mut at = 0;
    for word in text.split(' ') {
        let (start, end) = (at, at + word.len());
        at = end + 1;
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let lower = bare.to_lowercase().replace('’', "'");
        if end > shown && (TURNING_WORDS.contains(&lower.as_str()) || lower.ends_with("n't")) {
            return Some((start, end));
        }
    }
    None
}

/// Where the clause of this word begins.
fn clause_start(text: &str, at: usize) -> usize {
    let ends = CLAUSE_BOUNDARIES.iter().filter_map(|mark| {
        let found = text[..at].rfind(mark)?;
        let is_word = mark.trim().contains(|c: char| c.is_alphabetic());
        Some(found + if is_word { 1 } else { mark.len() })
    });
    ends.max().unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::cut_sentence;

    #[test]
    fn the_word_that_turns_a_sentence_is_not_cut() {
        let cases = [
            (
                "Added the endpoint for orders with paging by cursor and a limit of fifty rows, but the total is \
                 not computed until the index exists.",
                "Added the endpoint for… but the total is not computed until the…",
            ),
            (
                "The importer reads files in chunks of one mebibyte on all machines, except on Windows.",
                "The importer reads files in chunks of one mebibyte… except on Windows.",
            ),
            (
                "Tried the faster allocator for the hot loop in the tokenizer of the parser; reverted",
                "Tried the faster allocator for the hot loop in the tokenizer… reverted",
            ),
            (
                "The importer reads files in chunks of one mebibyte on all machines and on all systems.",
                "The importer reads files in chunks of one mebibyte on all machines…",
            ),
            ("It does not stop.", "It does not stop."),
        ];
        for (text, wanted) in cases {
            let cut = cut_sentence(text, 70);
            assert!(cut.chars().count() <= 70, "{cut}");
            assert_eq!(cut, wanted);
        }
    }
}
