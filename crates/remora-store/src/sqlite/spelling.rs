//! Words that are spelt almost alike, found among the words of the index
//! itself: those that share the beginning, and those that differ from the word
//! by one letter in it. Keeps nothing of its own, so nothing can be left behind
//! in it, and costs nothing before somebody misspells a word.

use remora_memory::store::Result;
use remora_memory::words::is_stop;
use rusqlite::{Connection, params};

use super::errors::Told;

/// How many letters a word has, to be known here.
const SHORTEST: usize = 4;
const LONGEST: usize = 32;
/// From how many letters on two steps are forgiven.
const LONG: usize = 8;
/// How long a beginning is, at least, to look at all words that share it.
const BEGINNING: usize = 3;
/// How many words with one beginning are looked at.
const LOOKED_AT: i64 = 1_000;

/// Words that are spelt almost as this one, the most similar first; never the
/// word itself.
pub(crate) fn similar(conn: &Connection, term: &str, limit: usize) -> Result<Vec<String>> {
    let word: Vec<char> = term.chars().collect();
    let plain = word.iter().all(|c| c.is_alphanumeric());
    let digits = word.iter().filter(|c| c.is_ascii_digit()).count();
    if !(SHORTEST..=LONGEST).contains(&word.len()) || !plain || digits * 2 >= word.len() {
        return Ok(Vec::new());
    }
    conn.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab ('main', 'words', 'row')",
    )
    .told()?;
    // Too many words share a short beginning; short words are tried letter by
    // letter instead.
    let share = if word.len() / 2 < BEGINNING {
        word.len()
    } else {
        word.len() / 2
    };
    let (first, second) = word.split_at(share);
    let mut known = among(conn, &changed(first, second))?;
    if !second.is_empty() {
        known.extend(beginning(conn, first)?);
    }
    let mut found = within(&word, &known, 1);
    // Beside words that are one step away, others are noise.
    if found.is_empty() && word.len() >= LONG {
        found = within(&word, &known, 2);
    }
    found.truncate(limit);
    Ok(found)
}

/// Words of the index that begin so.
fn beginning(conn: &Connection, letters: &[char]) -> Result<Vec<String>> {
    let from: String = letters.iter().collect();
    let to = format!("{from}{}", char::MAX);
    conn.prepare_cached("SELECT term FROM temp.vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3")
        .told()?
        .query_map(params![from, to, LOOKED_AT], |row| row.get(0))
        .told()?
        .collect::<rusqlite::Result<_>>()
        .told()
}

/// Those of the words that are in the index.
fn among(conn: &Connection, words: &[String]) -> Result<Vec<String>> {
    let mut statement = conn
        .prepare_cached("SELECT term FROM temp.vocabulary WHERE term = ?1")
        .told()?;
    let mut found = Vec::new();
    for word in words {
        if statement.exists([word]).told()? {
            found.push(word.clone());
        }
    }
    Ok(found)
}

/// Words with one letter of the first half changed, put in, taken out or
/// swapped with the next one. Letters are those of English: others would be
/// too many to try.
fn changed(first: &[char], second: &[char]) -> Vec<String> {
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

/// Those at most so many steps away, the most similar first.
fn within(word: &[char], known: &[String], most: usize) -> Vec<String> {
    let mut found: Vec<(usize, usize, &String)> = Vec::new();
    for other in known.iter().filter(|other| !is_stop(other)) {
        let letters: Vec<char> = other.chars().collect();
        let far = steps(word, &letters, most);
        if letters.len() >= SHORTEST && (1..=most).contains(&far) {
            let same = word.iter().zip(&letters).take_while(|(a, b)| a == b);
            found.push((far, LONGEST - same.count().min(LONGEST), other));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, _, term)| term.clone()).collect()
}

/// How many letters must be put in, taken out, changed or swapped with the next
/// one; `most + 1` if it is more than `most`.
fn steps(a: &[char], b: &[char], most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
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
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        if row.iter().all(|steps| *steps > most) {
            return most + 1;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()].min(most + 1)
}

#[cfg(test)]
mod tests;
