//! The one number of a sentence, with its unit and the way it limits.

use crate::words::{List, Token, is_counted, stem_word};

/// Which way a number limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    None,
    Least,
    Most,
}

/// The one number of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) value: String,
    pub(crate) unit: Option<String>,
    pub(crate) bound: Bound,
}

static UNIT_WORDS: List = List::new(&[
    "character char column col line word space percent minute second ms s kb mb gb hour day",
    "reviewer approval level time retry retries item entry file",
]);
/// Phrases that bound a number; the first that is there counts.
const BOUND_PHRASES: &[(&str, Bound)] = &[
    ("not drop below", Bound::Least),
    ("not fall below", Bound::Least),
    ("not go below", Bound::Least),
    ("never drop below", Bound::Least),
    ("never fall below", Bound::Least),
    ("no less than", Bound::Least),
    ("not less than", Bound::Least),
    ("at least", Bound::Least),
    ("minimum", Bound::Least),
    ("min", Bound::Least),
    ("no more than", Bound::Most),
    ("not more than", Bound::Most),
    ("not exceed", Bound::Most),
    ("no longer than", Bound::Most),
    ("at most", Bound::Most),
    ("up to", Bound::Most),
    ("less than", Bound::Most),
    ("fewer than", Bound::Most),
    ("under", Bound::Most),
    ("below", Bound::Most),
    ("maximum", Bound::Most),
    ("max", Bound::Most),
    ("limit", Bound::Most),
    ("limited", Bound::Most),
    ("more than", Bound::Least),
    ("above", Bound::Least),
    ("or higher", Bound::Least),
    ("or newer", Bound::Least),
];

/// Whether a word is a number.
pub(super) fn is_number(word: &Token) -> bool {
    let text = word.text.trim_end_matches(['%', '+']);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
}

/// Takes the one number out, with its unit and the words that bound it.
pub(super) fn remove_number(words: &mut Vec<Token>) -> Option<Number> {
    let at = words.iter().position(is_number)?;
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let counted = before.is_some_and(|w| is_counted(&w.text));
    if counted {
        // "step 2" is a name. Left among the words, it keeps such sentences apart.
        return None;
    }
    let text: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
    let line = format!(" {} ", text.join(" "));
    // Longer phrases come first in the table: "no more than" contains "more than".
    let found = BOUND_PHRASES
        .iter()
        .find(|(phrase, _)| line.contains(&format!(" {phrase} ")));
    let (phrase, bound) = found.copied().unwrap_or(("", Bound::None));
    let unit = words
        .get(at + 1)
        .map(|w| stem_word(&w.text))
        .filter(|s| UNIT_WORDS.contains_stem(s));
    let written = words[at].text.clone();
    let unit = if written.ends_with('%') {
        Some("percent".to_owned())
    } else {
        unit
    };
    let value = written.trim_end_matches(['%', '+']).replace(',', "");
    // "2 spaces" also chooses spaces, so that word stays.
    let goes = unit.as_deref().is_some_and(|unit| unit != "spac") && !written.ends_with('%');
    let last = if goes { at + 1 } else { at };
    words.drain(at..=last);
    words.retain(|w| w.code || !phrase.split(' ').any(|part| part == w.text));
    Some(Number { value, unit, bound })
}
