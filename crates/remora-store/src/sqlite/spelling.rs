//! Words that are spelt almost alike, found in the vocabulary of the index
//! itself: those that share the beginning, and those that differ by one letter in
//! it. There is no table for this, so nothing of a deleted item can be left
//! behind in one, and storing an item costs nothing more.

use remora_core::text::{SwapCost, edit_distance_chars};
use remora_memory::store::Result;
use remora_memory::words::is_stop;
use rusqlite::{Connection, params};

use super::errors::StoreResultExt;

/// How many letters a word must have to be corrected.
const MIN_WORD_CHARS: usize = 4;
const MAX_WORD_CHARS: usize = 32;
/// From how many letters on two edits are accepted: in a short word, two edits
/// reach almost anything.
const MIN_TWO_EDIT_CHARS: usize = 8;
/// How long a prefix must be to scan all words that share it.
const MIN_PREFIX_CHARS: usize = 3;
/// How many words with one prefix are compared.
const MAX_SCANNED_TERMS: i64 = 1_000;

/// Words that are spelt almost like this one, the most similar first; never the
/// word itself.
pub(crate) fn find_similar_terms(
    conn: &Connection,
    term: &str,
    limit: usize,
) -> Result<Vec<String>> {
    let word: Vec<char> = term.chars().collect();
    let plain = word.iter().all(|c| c.is_alphanumeric());
    // Numbers and hashes are not misspelt words: one digit off is another thing.
    let digits = word.iter().filter(|c| c.is_ascii_digit()).count();
    if !(MIN_WORD_CHARS..=MAX_WORD_CHARS).contains(&word.len())
        || !plain
        || digits * 2 >= word.len()
    {
        return Ok(Vec::new());
    }
    // In `temp`, which a read-only connection may write, and not in the schema, which
    // every hook would have to parse.
    conn.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab ('main', 'words', 'row')",
    )
    .store_err()?;
    // Too many words share a short prefix; of a short word every edit is looked up
    // instead.
    let share = if word.len() / 2 < MIN_PREFIX_CHARS {
        word.len()
    } else {
        word.len() / 2
    };
    let (first, second) = word.split_at(share);
    let mut known = filter_indexed_terms(conn, &generate_edits(first, second))?;
    if !second.is_empty() {
        known.extend(list_terms_with_prefix(conn, first)?);
    }
    let mut found = filter_by_distance(&word, &known, 1);
    // Where a word one edit away exists, those two edits away are noise.
    if found.is_empty() && word.len() >= MIN_TWO_EDIT_CHARS {
        found = filter_by_distance(&word, &known, 2);
    }
    found.truncate(limit);
    Ok(found)
}

/// Words of the index that begin with these letters.
fn list_terms_with_prefix(conn: &Connection, letters: &[char]) -> Result<Vec<String>> {
    let from: String = letters.iter().collect();
    let to = format!("{from}{}", char::MAX);
    conn.prepare_cached("SELECT term FROM temp.vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3")
        .store_err()?
        .query_map(params![from, to, MAX_SCANNED_TERMS], |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()
}

/// Those of the words that are in the index.
fn filter_indexed_terms(conn: &Connection, words: &[String]) -> Result<Vec<String>> {
    let mut statement = conn
        .prepare_cached("SELECT term FROM temp.vocabulary WHERE term = ?1")
        .store_err()?;
    let mut found = Vec::new();
    for word in words {
        if statement.exists([word]).store_err()? {
            found.push(word.clone());
        }
    }
    Ok(found)
}

/// Words with one letter of the first half changed, put in, taken out or
/// swapped with the next one. Letters are those of English: others would be
/// too many to try.
fn generate_edits(first: &[char], second: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = |beginning: &[char], rest: &[char]| {
        words.push(beginning.iter().chain(rest).collect::<String>());
    };
    let whole: Vec<char> = first.iter().chain(second).copied().collect();
    for at in 0..=first.len() {
        let (before, after) = whole.split_at(at);
        for letter in 'a'..='z' {
            let with: Vec<char> = before.iter().copied().chain([letter]).collect();
            word(&with, after);
            if at < first.len() {
                word(&with, &after[1..]);
            }
        }
        if at < first.len() {
            word(before, &after[1..]);
            if let [one, two, rest @ ..] = after {
                let swapped: Vec<char> = before.iter().copied().chain([*two, *one]).collect();
                word(&swapped, rest);
            }
        }
    }
    words
}

/// Those at most so many edits away, the most similar first.
fn filter_by_distance(word: &[char], known: &[String], most: usize) -> Vec<String> {
    let mut found: Vec<(usize, usize, &String)> = Vec::new();
    for other in known.iter().filter(|other| !is_stop(other)) {
        let letters: Vec<char> = other.chars().collect();
        let far = edit_distance_chars(word, &letters, SwapCost::One, most);
        if letters.len() >= MIN_WORD_CHARS
            && let Some(far) = far.filter(|far| *far > 0)
        {
            let same = word.iter().zip(&letters).take_while(|(a, b)| a == b);
            found.push((
                far,
                MAX_WORD_CHARS - same.count().min(MAX_WORD_CHARS),
                other,
            ));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, _, term)| term.clone()).collect()
}

#[cfg(test)]
mod tests;
