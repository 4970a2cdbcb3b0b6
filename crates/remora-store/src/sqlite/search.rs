//! Searching: the word index gives candidates, the weights in the rows rank
//! them. Costs are bounded by how many rows are looked at, not by how many rows
//! hold a word.

use std::collections::HashMap;

use remora_memory::store::{Filter, Hit, Order, Page, Result};
use remora_memory::words::{Group, Query, holds_phrase};
use remora_protocol::record::Item;
use rusqlite::Connection;

use super::errors::Told;
use super::read::list_ids;
use super::rows;
use super::scope::Scope;
use super::weigh::{Weights, hash, short};

/// How many rows of one word are looked at to learn how common it is.
const SAMPLE: usize = 1_500;
/// How many rows with several words at once are taken.
const TOGETHER: usize = 500;
/// How many common words are asked for in several combinations.
const SUBSETS: usize = 5;
/// How many rows are ranked.
const RANKED: usize = 600;
/// How many rows a session or a file gives.
const DRIVEN: usize = 20_000;
/// How long a word is at least before it may stand for longer ones.
const PREFIX: usize = 3;
/// How fast more of the same word stops to count, and how much length counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Candidates for the words within the filter, best first.
pub(crate) fn search(
    conn: &Connection,
    query: &Query,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Hit>> {
    let Some(scope) = Scope::find(conn, filter)? else {
        return Ok(Vec::new());
    };
    if limit == 0 {
        return Ok(Vec::new());
    }
    if query.is_blank() {
        return newest(conn, &scope, limit);
    }
    if query.groups().is_empty() {
        return Ok(Vec::new());
    }
    Search { conn, scope, limit }.run(query)
}

fn newest(conn: &Connection, scope: &Scope, limit: usize) -> Result<Vec<Hit>> {
    let page = Page {
        order: Order::Newest,
        beyond: None,
        limit,
    };
    let ids = list_ids(conn, scope, page)?;
    let hit = |item| Hit {
        item,
        score: 0.0,
        all_words: true,
    };
    Ok(rows::items(conn, &ids)?.into_iter().map(hit).collect())
}

struct Search<'c> {
    conn: &'c Connection,
    scope: Scope,
    limit: usize,
}

/// A word of the query and what the index knows of it.
struct Word<'q> {
    group: &'q Group,
    /// As a question to the index.
    expression: String,
    /// The hashes of its terms, one list for each way to hold it.
    ways: Vec<Vec<u32>>,
    /// The newest rows that hold it.
    rows: Vec<i64>,
    /// About how many rows hold it.
    common: f64,
    /// How much it counts.
    idf: f64,
    /// Whether rows hold a longer word in its place.
    forgiven: bool,
}

/// A row that may be a hit.
#[derive(Debug, Clone, Copy)]
struct Scored {
    id: i64,
    score: f64,
    all: bool,
}

impl Search<'_> {
    fn run(&self, query: &Query) -> Result<Vec<Hit>> {
        let mut words = Vec::with_capacity(query.groups().len());
        for group in query.groups() {
            words.push(self.word(group)?);
        }
        let (rows, length) = self.size()?;
        for word in &mut words {
            word.idf = (1.0 + (rows - word.common + 0.5).max(0.5) / (word.common + 0.5)).ln();
        }
        let candidates = self.candidates(&words)?;
        let mut scored = self.rank(&words, &candidates, length)?;
        scored.sort_by(|a, b| {
            b.all
                .cmp(&a.all)
                .then(b.score.total_cmp(&a.score))
                .then(b.id.cmp(&a.id))
        });
        self.hits(&words, &scored)
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
    fn ask(&self, expression: &str, limit: usize) -> Result<Vec<i64>> {
        let expression = format!("{}{expression}", self.tags());
        self.conn
            .prepare_cached(
                "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2",
            )
            .told()?
            .query_map(
                (expression, i64::try_from(limit).unwrap_or(i64::MAX)),
                |row| row.get(0),
            )
            .told()?
            .collect::<rusqlite::Result<_>>()
            .told()
    }

    fn word<'q>(&self, group: &'q Group) -> Result<Word<'q>> {
        let mut expression = expression(group);
        let mut rows = self.ask(&expression, SAMPLE)?;
        let mut forgiven = group.prefix().is_some();
        if rows.is_empty()
            && let Some(stem) = group.stem().filter(|stem| stem.chars().count() >= PREFIX)
        {
            expression = format!("(\"{stem}\" *)");
            rows = self.ask(&expression, SAMPLE)?;
            forgiven = !rows.is_empty();
        }
        let ways = group
            .ways()
            .iter()
            .map(|way| way.iter().map(|term| short(hash(term))).collect())
            .collect();
        let common = self.common(&rows)?;
        Ok(Word {
            group,
            expression,
            ways,
            rows,
            common,
            idf: 0.0,
            forgiven,
        })
    }

    /// About how many rows hold a word whose newest rows are these: as many on
    /// the way back to the first row as on the way so far.
    #[expect(
        clippy::cast_precision_loss,
        reason = "an estimate of how many rows there are"
    )]
    fn common(&self, rows: &[i64]) -> Result<f64> {
        let found = rows.len() as f64;
        let Some(last) = rows.last().filter(|_| rows.len() >= SAMPLE) else {
            return Ok(found);
        };
        let newest: Option<i64> = self
            .conn
            .query_row("SELECT max(id) FROM items", [], |row| row.get(0))
            .told()?;
        let newest = newest.unwrap_or(0).max(*last);
        let span = (newest - last + 1) as f64;
        Ok(found * (newest as f64 / span).max(1.0))
    }

    /// How many rows there are within the project, and how long they are.
    fn size(&self) -> Result<(f64, f64)> {
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

    /// The rows worth ranking.
    fn candidates(&self, words: &[Word<'_>]) -> Result<Vec<i64>> {
        if self.scope.session.is_some() || self.scope.paths.is_some() {
            let page = Page {
                order: Order::Newest,
                beyond: None,
                limit: DRIVEN,
            };
            return list_ids(self.conn, &self.scope, page);
        }
        let mut sums: HashMap<i64, f64> = HashMap::new();
        for word in words {
            for id in &word.rows {
                *sums.entry(*id).or_insert(0.0) += word.idf;
            }
        }
        self.together(words, &mut sums)?;
        let mut best: Vec<(f64, i64)> = sums.into_iter().map(|(id, sum)| (sum, id)).collect();
        if best.len() > RANKED {
            best.select_nth_unstable_by(RANKED, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            best.truncate(RANKED);
        }
        Ok(best.into_iter().map(|(_, id)| id).collect())
    }

    /// Rows that hold several words at once, however old they are. The rows of
    /// a rare word are known already, all of them; those of common words are
    /// only found by asking for the words together: first all, then all but
    /// one, then pairs of the rarest.
    fn together(&self, words: &[Word<'_>], sums: &mut HashMap<i64, f64>) -> Result<()> {
        let held: Vec<&Word<'_>> = words.iter().filter(|word| !word.rows.is_empty()).collect();
        if held.len() > 1 && self.sum(&held, sums)? >= self.limit {
            return Ok(());
        }
        let mut common: Vec<&Word<'_>> = held
            .into_iter()
            .filter(|word| word.rows.len() >= SAMPLE)
            .collect();
        common.sort_by(|a, b| a.common.total_cmp(&b.common));
        common.truncate(SUBSETS);
        let mut found = 0;
        if (2..words.len()).contains(&common.len()) {
            found += self.sum(&common, sums)?;
        }
        if common.len() > 2 && found < self.limit {
            for left_out in (0..common.len()).rev() {
                let mut some = common.clone();
                some.remove(left_out);
                found += self.sum(&some, sums)?;
            }
        }
        if common.len() > 3 && found < self.limit {
            for pair in [[0, 1], [0, 2], [1, 2]] {
                self.sum(&pair.map(|at| common[at]), sums)?;
            }
        }
        Ok(())
    }

    /// Asks for rows with all of these words, and returns how many there are.
    fn sum(&self, words: &[&Word<'_>], sums: &mut HashMap<i64, f64>) -> Result<usize> {
        let all: Vec<&str> = words.iter().map(|word| word.expression.as_str()).collect();
        let total: f64 = words.iter().map(|word| word.idf).sum();
        let rows = self.ask(&all.join(" AND "), TOGETHER)?;
        for id in &rows {
            let sum = sums.entry(*id).or_insert(0.0);
            *sum = sum.max(total);
        }
        Ok(rows.len())
    }

    fn rank(&self, words: &[Word<'_>], candidates: &[i64], length: f64) -> Result<Vec<Scored>> {
        let mut order = candidates.to_vec();
        order.sort_unstable();
        let forgiven: Vec<Option<std::collections::HashSet<i64>>> = words
            .iter()
            .map(|word| word.forgiven.then(|| word.rows.iter().copied().collect()))
            .collect();
        let mut statement = self
            .conn
            .prepare_cached("SELECT time, vec FROM items WHERE id = ?1")
            .told()?;
        let mut scored = Vec::with_capacity(order.len());
        for id in order {
            let mut rows = statement.query([id]).told()?;
            let Some(row) = rows.next().told()? else {
                continue;
            };
            let time: i64 = row.get(0).told()?;
            if time < self.scope.since || time >= self.scope.until {
                continue;
            }
            let vec = row.get_ref(1).told()?.as_blob().unwrap_or_default();
            let weights = Weights(vec);
            let norm = K1 * (1.0 - B + B * f64::from(weights.words()) / length);
            let mut score = 0.0;
            let mut all = true;
            for (word, forgiven) in words.iter().zip(&forgiven) {
                let weight = match forgiven {
                    Some(rows) if rows.contains(&id) => 1.0,
                    _ => word.weight(weights),
                };
                if weight > 0.0 {
                    score += word.idf * weight * (K1 + 1.0) / (weight + norm);
                } else {
                    all = false;
                }
            }
            if score > 0.0 {
                scored.push(Scored { id, score, all });
            }
        }
        Ok(scored)
    }

    /// Loads the best; rows whose words do not stand as the phrases say go last.
    fn hits(&self, words: &[Word<'_>], scored: &[Scored]) -> Result<Vec<Hit>> {
        let phrases: Vec<&[String]> = words
            .iter()
            .filter_map(|word| word.group.phrase())
            .collect();
        let mut hits: Vec<Hit> = Vec::new();
        for chunk in scored.chunks(self.limit.max(1)) {
            let ids: Vec<i64> = chunk.iter().map(|row| row.id).collect();
            for (item, row) in rows::items(self.conn, &ids)?.into_iter().zip(chunk) {
                let holds = phrases.iter().all(|phrase| holds(&item, phrase));
                hits.push(Hit {
                    item,
                    score: row.score,
                    all_words: row.all && holds,
                });
            }
            let whole =
                phrases.is_empty() || hits.iter().filter(|hit| hit.all_words).count() >= self.limit;
            if whole || hits.len() >= self.limit * 4 {
                break;
            }
        }
        hits.sort_by(|a, b| {
            b.all_words
                .cmp(&a.all_words)
                .then(b.score.total_cmp(&a.score))
                .then(b.item.id.cmp(&a.item.id))
        });
        hits.truncate(self.limit);
        Ok(hits)
    }
}

impl Word<'_> {
    fn weight(&self, weights: Weights<'_>) -> f64 {
        let way = |terms: &Vec<u32>| {
            terms
                .iter()
                .map(|term| f64::from(weights.of(*term)))
                .fold(f64::INFINITY, f64::min)
        };
        self.ways.iter().map(way).fold(0.0, f64::max)
    }
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

fn holds(item: &Item, phrase: &[String]) -> bool {
    let lists = item
        .facts
        .iter()
        .chain(&item.concepts)
        .chain(&item.files_read)
        .chain(&item.files_modified);
    [&item.title, &item.text]
        .into_iter()
        .chain(lists)
        .any(|text| holds_phrase(text, phrase))
}
