//! The words of an error as it was met: what is the same in another run.

use super::SearchInputError;
use crate::fingerprint;

/// Numbers of this many digits are codes when an error is one line: 404, 137.
const ERROR_CODE_DIGITS: std::ops::RangeInclusive<usize> = 3..=5;

/// The error in what stands behind `error:`. With a blank between them, the
/// word itself is most likely a part of what a tool printed.
pub(super) fn parse_error(text: &str) -> SearchInputError {
    let printed = text.starts_with(char::is_whitespace);
    let text = text.trim();
    let labelled = format!("error: {text}");
    let met: &[&str] = if printed {
        &[&labelled, text]
    } else {
        &[text, &labelled]
    };
    let prints = met.iter();
    let prints = prints.filter_map(|text| fingerprint::fingerprint_error("", &[], text));
    SearchInputError {
        text: text.to_owned(),
        fingerprints: prints.collect(),
    }
}

/// What to search for: of a long output the lines that tell, without folders,
/// numbers and the like; of a single line also the codes in it.
pub(super) fn extract_search_words(error: &SearchInputError) -> String {
    let normal = error.fingerprints.first().map(|print| print.normal.trim());
    let normal = normal.map(|normal| normal.strip_prefix("error: ").unwrap_or(normal));
    let mut words = normal.map(without_gaps).unwrap_or_default();
    if error.text.lines().count() == 1 {
        let codes = error
            .text
            .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ','))
            .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()))
            .filter(|word| is_code(word));
        for code in codes {
            words.push(' ');
            words.push_str(code);
        }
    }
    if words.contains(char::is_alphanumeric) {
        words
    } else {
        error.text.clone()
    }
}

/// A fingerprint's text without `<n>` and its like, which no row holds.
fn without_gaps(normal: &str) -> String {
    let mut out = normal.to_owned();
    for gap in ["<n>", "<id>", "<tmp>"] {
        out = out.replace(gap, " ");
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    words.join(" ")
}

fn is_code(word: &str) -> bool {
    if let Some(hex) = word.strip_prefix("0x") {
        return hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    }
    ERROR_CODE_DIGITS.contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}
