//! Words that are spelt almost alike. Every word is kept once, and an index
//! tells which words have a half: one wrong letter leaves the other half of a
//! word whole. So all words within one step, and long words with two wrong
//! letters in the same half, are found by asking for a few halves, however many
//! words there are.

use remora_memory::store::Result;
use rusqlite::{Connection, params};

use super::errors::Told;
use super::vectors::ask;
use super::weigh::hash;

/// How many letters a word has, to be known here.
const SHORTEST: usize = 4;
const LONGEST: usize = 32;
/// From how many letters on two steps are forgiven.
const LONG: usize = 8;
/// How many words are kept; later ones are not taken in.
const MOST: i64 = 1_000_000;
/// How many words are looked at for one question.
const LOOKED_AT: i64 = 3_000;
/// How many words the writer remembers as known.
const REMEMBERED: usize = 1 << 16;

/// Takes words in. Forget it when a transaction fails: it remembers words as
/// known that then are not.
#[derive(Debug, Default)]
pub(crate) struct Speller {
    /// Hashes of words that are known, each in the one place where it may be.
    known: Vec<u64>,
}

impl Speller {
    /// Takes a word in, unless it is known already. Part of writing a row.
    pub(crate) fn note(&mut self, tx: &Connection, term: &str) -> Result<()> {
        if term.len() < SHORTEST {
            return Ok(());
        }
        let hash = hash(term);
        if self.known.is_empty() {
            self.known.resize(REMEMBERED, 0);
        }
        let place = usize::try_from(hash % REMEMBERED as u64).unwrap_or(0);
        match self.known.get_mut(place) {
            Some(known) if *known == hash => return Ok(()),
            Some(known) => *known = hash,
            None => {}
        }
        if !is_word(term) {
            return Ok(());
        }
        let added = tx
            .prepare_cached(
                "INSERT INTO terms (term) SELECT ?1
                 WHERE (SELECT coalesce(max(id), 0) FROM terms) < ?2
                 ON CONFLICT DO NOTHING",
            )
            .told()?
            .execute(params![term, MOST])
            .told()?;
        if added > 0 {
            let id = tx.last_insert_rowid();
            tx.prepare_cached("INSERT INTO spellings (rowid, halves) VALUES (?1, ?2)")
                .told()?
                .execute(params![id, halves(term)])
                .told()?;
        }
        Ok(())
    }
}

/// Whether it is a word that somebody may misspell, and not a number or a
/// checksum.
fn is_word(term: &str) -> bool {
    let count = term.chars().count();
    let digits = term.chars().filter(char::is_ascii_digit).count();
    let hex = || term.chars().all(|c| c.is_ascii_hexdigit());
    (SHORTEST..=LONGEST).contains(&count)
        && term.chars().all(plain)
        && digits * 2 < count
        && (digits == 0 || !hex())
}

/// Anything else could be syntax to the index, and is in no word.
fn plain(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words that are spelt almost as this one, the most similar first; never the
/// word itself.
pub(crate) fn similar(conn: &Connection, term: &str, limit: usize) -> Result<Vec<String>> {
    let word: Vec<char> = term.chars().collect();
    if !(SHORTEST..=LONGEST).contains(&word.len()) || !word.iter().copied().all(plain) {
        return Ok(Vec::new());
    }
    let mut found = within(conn, &word, 1)?;
    // Beside words that are one step away, others are noise.
    if found.is_empty() && word.len() >= LONG {
        found = within(conn, &word, 2)?;
    }
    found.truncate(limit);
    Ok(found)
}

/// Words that are at most so many steps away and share a half.
fn within(conn: &Connection, word: &[char], most: usize) -> Result<Vec<String>> {
    let Some(mut statement) = ask(
        conn,
        "SELECT t.term FROM spellings JOIN terms t ON t.id = spellings.rowid
         WHERE spellings MATCH ?1 LIMIT ?2",
    )?
    else {
        return Ok(Vec::new());
    };
    let halves = halves_near(word, most).join(" OR ");
    let mut rows = statement.query(params![halves, LOOKED_AT]).told()?;
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    while let Some(row) = rows.next().told()? {
        let other = row.get_ref(0).told()?.as_str().unwrap_or_default();
        let letters: Vec<char> = other.chars().collect();
        let far = steps(word, &letters, most);
        if (1..=most).contains(&far) {
            let same = word.iter().zip(&letters).take_while(|(a, b)| a == b);
            found.push((far, LONGEST - same.count(), other.to_owned()));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, _, term)| term).collect())
}

/// A half as a term of the index: which one, of a word of how many letters.
fn half(which: char, letters: usize, half: &[char]) -> String {
    let half: String = half.iter().collect();
    format!("\"{which}{letters}_{half}\"")
}

/// The halves that a word is found by.
fn halves(term: &str) -> String {
    let word: Vec<char> = term.chars().collect();
    let (first, second) = word.split_at(word.len() / 2);
    [half('a', word.len(), first), half('b', word.len(), second)].join(" ")
}

/// The halves of words that are so many steps away at most, if the steps are
/// all in the other half.
fn halves_near(word: &[char], most: usize) -> Vec<String> {
    let count = word.len();
    let mut halves = Vec::new();
    for other in count.saturating_sub(most).max(SHORTEST)..=(count + most).min(LONGEST) {
        let middle = other / 2;
        halves.extend(word.get(..middle).map(|first| half('a', other, first)));
        let second = count.checked_sub(other - middle);
        let second = second.and_then(|from| word.get(from..));
        halves.extend(second.map(|second| half('b', other, second)));
    }
    // Two letters that changed places where the halves meet.
    let mut swapped = word.to_vec();
    let middle = count / 2;
    if (1..count).contains(&middle) {
        swapped.swap(middle - 1, middle);
        halves.push(half('a', count, &swapped[..middle]));
    }
    halves
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
