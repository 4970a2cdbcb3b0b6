//! Words: how text becomes terms, and how what a user types becomes a query over
//! them. Index and query use the same splitter, so they always agree. Pure; knows
//! nothing of items, ranking or any search engine.

mod fold;
mod pairs;
mod query;
mod set;
mod split;
mod stop;

pub(crate) use pairs::BytePairs;
pub(crate) use query::{ExcludedText, MAX_QUERY_BYTES, is_quote};
pub use query::{Query, SearchEffort, TermGroup};
pub(crate) use set::{WordHashes, word_number};
pub use split::{MAX_TERM_BYTES, TermRole, TermSplitter, for_each_term};
pub use stop::is_stop;

/// The terms of a text, separated by single spaces, in the order of the text.
///
/// A term holds letters and digits of any script, and `_` between two numbers;
/// never a space, a quote or a control character. So a tokenizer that splits at
/// spaces gives back exactly these terms.
pub fn split_terms(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for_each_term(text, |term, _| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(term);
    });
    out
}

/// Whether the words of a phrase follow each other in the text.
pub fn holds_phrase(text: &str, phrase: &[String]) -> bool {
    if phrase.is_empty() {
        return true;
    }
    // For every start that still matches, how many words of the phrase have matched;
    // the list is never longer than the phrase.
    let mut alive: Vec<usize> = Vec::new();
    let mut found = false;
    for_each_term(text, |term, role| {
        if found || role != TermRole::Part {
            return;
        }
        alive.push(0);
        alive.retain_mut(|at| {
            let goes_on = phrase.get(*at).is_some_and(|word| word == term);
            *at += 1;
            goes_on
        });
        if alive.first() == Some(&phrase.len()) {
            found = true;
        }
    });
    found
}

#[cfg(test)]
mod tests;
