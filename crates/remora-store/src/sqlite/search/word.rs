//! One word of a query and what the index knows of it: which rows hold it, how
//! common it is, and what is taken in its place when no row does.

use remora_memory::store::Result;
use remora_memory::words::{Group, Query};

use super::Search;
use crate::sqlite::errors::Told;
use crate::sqlite::spelling;
use crate::sqlite::vectors;
use crate::sqlite::weigh::{Weights, hash, short};

/// How many rows of one word are looked at to learn how common it is.
pub(super) const SAMPLE: usize = 1_500;
/// A word that fewer rows hold is looked for in the whole of long texts too.
const RARE: usize = 10;
/// How long a word is at least before it may stand for longer ones.
const PREFIX: usize = 3;
/// How many known words may stand for one that nobody knows.
const SIMILAR: usize = 4;
/// What a word beyond the lead of a text weighs.
pub(super) const DEEP: f64 = 0.2;
/// What a word weighs that another one stands for.
const FORGIVEN: f64 = 1.0;

/// Which index is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// The leads of all rows.
    Leads,
    /// The whole of long texts.
    Whole,
}

/// A word of the query.
pub(super) struct Word {
    /// As a question to the index.
    pub(super) expression: String,
    /// The hashes of its terms, one list for each way to hold it.
    ways: Vec<Vec<u32>>,
    /// The newest rows that hold it in their lead, newest first.
    pub(super) rows: Vec<i64>,
    /// Rows that hold it only beyond the lead of a long text, newest first.
    pub(super) deep: Vec<i64>,
    /// About how many rows hold it.
    pub(super) common: f64,
    /// How much it counts.
    pub(super) idf: f64,
    /// Whether rows hold another word in its place.
    forgiven: bool,
}

impl Word {
    /// Whether the index may hold more rows of it than are listed.
    pub(super) fn is_common(&self) -> bool {
        self.rows.len() >= SAMPLE
    }

    /// How much it weighs in this row.
    pub(super) fn weight(&self, id: i64, weights: Weights<'_>) -> f64 {
        let listed = |rows: &[i64]| rows.binary_search_by(|row| id.cmp(row)).is_ok();
        if self.forgiven && listed(&self.rows) {
            return FORGIVEN;
        }
        let way = |terms: &Vec<u32>| {
            terms
                .iter()
                .map(|term| f64::from(weights.of(*term)))
                .fold(f64::INFINITY, f64::min)
        };
        let weight = self.ways.iter().map(way).fold(0.0, f64::max);
        if weight == 0.0 && listed(&self.deep) {
            return DEEP;
        }
        weight
    }
}

impl Search<'_> {
    /// The words of the query, each with how much it counts.
    pub(super) fn words(&self, query: &Query) -> Result<Vec<Word>> {
        let mut words = Vec::with_capacity(query.groups().len());
        for group in query.groups() {
            words.push(self.word(group)?);
        }
        let rows = self.size()?.0;
        for word in &mut words {
            word.idf = (1.0 + (rows - word.common + 0.5).max(0.5) / (word.common + 0.5)).ln();
        }
        Ok(words)
    }

    fn word(&self, group: &Group) -> Result<Word> {
        let mut expression = expression(group);
        let mut rows = self.ask(Index::Leads, &expression, SAMPLE)?;
        let mut deep = Vec::new();
        if rows.len() < RARE {
            deep = self.ask(Index::Whole, &expression, SAMPLE)?;
        }
        let mut forgiven = group.prefix().is_some();
        if rows.is_empty() && deep.is_empty() {
            for another in self.others(group)? {
                rows = self.ask(Index::Leads, &another, SAMPLE)?;
                if !rows.is_empty() {
                    expression = another;
                    forgiven = true;
                    break;
                }
            }
        }
        let ways = group
            .ways()
            .iter()
            .map(|way| way.iter().map(|term| short(hash(term))).collect())
            .collect();
        deep.retain(|id| rows.binary_search_by(|row| id.cmp(row)).is_err());
        let common = self.common(&rows)? + approximate(deep.len());
        Ok(Word {
            expression,
            ways,
            rows,
            deep,
            common,
            idf: 0.0,
            forgiven,
        })
    }

    /// What may stand for a word that no row holds: longer words that begin
    /// with it, then words that are spelt much like it.
    fn others(&self, group: &Group) -> Result<Vec<String>> {
        let mut others = Vec::new();
        let long = |stem: &&str| stem.chars().count() >= PREFIX;
        if let Some(stem) = group.stem().filter(long) {
            others.push(format!("(\"{stem}\" *)"));
        }
        if group.phrase().is_none()
            && let Some(whole) = group.ways().first().and_then(|way| way.first())
        {
            let similar = spelling::similar(self.conn, whole, SIMILAR)?;
            let similar: Vec<String> = similar.iter().map(|term| format!("\"{term}\"")).collect();
            if !similar.is_empty() {
                others.push(format!("({})", similar.join(" OR ")));
            }
        }
        Ok(others)
    }

    /// About how many rows hold a word whose newest rows are these: as many on
    /// the way back to the first row as on the way so far.
    fn common(&self, rows: &[i64]) -> Result<f64> {
        let found = approximate(rows.len());
        let Some(last) = rows.last().filter(|_| rows.len() >= SAMPLE) else {
            return Ok(found);
        };
        let newest: Option<i64> = self
            .conn
            .query_row("SELECT max(id) FROM items", [], |row| row.get(0))
            .told()?;
        let newest = newest.unwrap_or(0).max(*last);
        let number = |id: i64| approximate(usize::try_from(id).unwrap_or(0));
        Ok(found * (number(newest) / number(newest - last + 1)).max(1.0))
    }

    /// How many rows there are within the project, and how long they are.
    pub(super) fn size(&self) -> Result<(f64, f64)> {
        let (items, words): (f64, f64) = self
            .conn
            .query_row(
                "SELECT CAST(coalesce(sum(items), 0) AS REAL), CAST(coalesce(sum(words), 0) AS REAL)
                 FROM projects WHERE ?1 IS NULL OR id = ?1",
                [self.scope.project],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .told()?;
        Ok((items.max(1.0), (words / items.max(1.0)).max(1.0)))
    }

    /// What the filter says, as far as the index knows it.
    fn tags(&self) -> String {
        let mut tags = Vec::new();
        tags.extend(
            self.scope
                .project
                .map(|project| format!("\"_p{project}\" AND ")),
        );
        tags.extend(self.scope.agent.map(|agent| format!("\"_a{agent}\" AND ")));
        if !self.scope.kinds.is_empty() {
            let kinds = self.scope.kinds.iter().map(|kind| format!("\"_k{kind}\""));
            let kinds: Vec<String> = kinds.collect();
            tags.push(format!("({}) AND ", kinds.join(" OR ")));
        }
        tags.concat()
    }

    /// The newest rows for a question to the index.
    pub(super) fn ask(&self, index: Index, expression: &str, limit: usize) -> Result<Vec<i64>> {
        let sql = match index {
            Index::Leads => {
                "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2"
            }
            Index::Whole => {
                "SELECT rowid FROM full_words WHERE full_words MATCH ?1 ORDER BY rowid DESC LIMIT ?2"
            }
        };
        let expression = format!("{}{expression}", self.tags());
        let Some(mut statement) = vectors::ask(self.conn, sql)? else {
            return Ok(Vec::new());
        };
        statement
            .query_map(
                (expression, i64::try_from(limit).unwrap_or(i64::MAX)),
                |row| row.get(0),
            )
            .told()?
            .collect::<rusqlite::Result<_>>()
            .told()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an estimate of how many rows there are"
)]
fn approximate(count: usize) -> f64 {
    count as f64
}

/// The group as a question to the index. Terms hold no quotes.
fn expression(group: &Group) -> String {
    if let Some(prefix) = group.prefix() {
        return format!("(\"{prefix}\" *)");
    }
    let ways: Vec<String> = group
        .ways()
        .iter()
        .map(|way| {
            let terms: Vec<String> = way.iter().map(|term| format!("\"{term}\"")).collect();
            format!("({})", terms.join(" AND "))
        })
        .collect();
    format!("({})", ways.join(" OR "))
}
