//! One word of a query and what the index knows of it: which items contain it,
//! how common it is, and what replaces it when no item does.

use remora_memory::rank::{self, QueryForm, Vocabulary};
use remora_memory::store::Result;
use remora_memory::words::{Query, TermGroup, is_stop};

use super::{SearchRun, fold};
use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::{rows, spelling};
use remora_memory::term_weights::{BEYOND_LEAD_PREFIX, PackedWeights, hash_term, shorten_hash};

/// A word that fewer items contain in their lead is searched for in the rest of
/// long texts too. For a common word that would make every long item a match.
const MAX_RARE_ITEMS: usize = 10;
/// How many items with the words of a phrase are read to find the phrase: the
/// index stores no positions, so only the texts can tell.
const MAX_PHRASE_WORD_ITEMS: usize = 5_000;
/// How many items with a phrase are enough.
const MAX_PHRASE_ITEMS: usize = 200;
/// How long a word must be to match longer words that begin with it.
const MIN_PREFIX_CHARS: usize = 3;
/// How many words of a query may be corrected.
const MAX_CORRECTED_WORDS: usize = 2;
/// How many known words may replace an unknown one.
const MAX_SIMILAR_WORDS: usize = 4;
/// The weight of a word that occurs only beyond the lead of a text.
pub(super) const BEYOND_LEAD_WEIGHT: f64 = 0.2;
/// The weight of a word that another one replaces. The stored weights are by
/// exact term and do not know it.
const SUBSTITUTE_WEIGHT: f64 = 1.0;

/// Whether a word that no item contains is taken for misspelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Corrected,
    AsTyped,
}

/// A word of the query.
pub(super) struct QueryWord {
    /// The index expression for items with it in their lead.
    pub(super) expression: String,
    /// The same for items with it anywhere.
    pub(super) anywhere: String,
    /// The hashes of its terms, one list for each way to contain it: as a whole,
    /// or by the parts of an identifier.
    ways: Vec<Vec<u32>>,
    /// The newest items that contain it in their lead, newest first.
    pub(super) rows: Vec<i64>,
    /// Items that contain it only beyond the lead of a long text, newest first.
    pub(super) deep: Vec<i64>,
    /// About how many items contain it.
    pub(super) common: f64,
    /// How much it counts in ranking.
    pub(super) idf: f64,
    /// How much it counts in a match strength, which must be comparable between
    /// small and large stores.
    pub(super) fit_idf: f64,
    /// Whether items match by another word in its place.
    forgiven: bool,
    /// Whether that word only has a similar spelling.
    pub(super) misspelt: bool,
}

impl QueryWord {
    /// Whether the index may hold more items of it than the sample.
    pub(super) fn is_common(&self, sample: usize) -> bool {
        self.rows.len() >= sample
    }

    /// Its weight in this item.
    pub(super) fn weight_in_item(&self, id: i64, weights: PackedWeights<'_>) -> f64 {
        // The ids are in descending order, hence the reversed comparison.
        let listed = |rows: &[i64]| rows.binary_search_by(|row| id.cmp(row)).is_ok();
        if self.forgiven && listed(&self.rows) {
            return SUBSTITUTE_WEIGHT;
        }
        let way = |terms: &Vec<u32>| {
            terms
                .iter()
                .map(|term| f64::from(weights.term_weight(*term)))
                .fold(f64::INFINITY, f64::min)
        };
        let weight = self.ways.iter().map(way).fold(0.0, f64::max);
        if weight == 0.0 && listed(&self.deep) {
            return BEYOND_LEAD_WEIGHT;
        }
        weight
    }
}

impl SearchRun<'_> {
    /// The words of the query, each with its weight among so many items.
    pub(super) fn resolve_words(&self, query: &Query, rows: f64) -> Result<Vec<QueryWord>> {
        let mut words = Vec::with_capacity(query.groups().len());
        let mut corrected = 0;
        // Spelling is corrected for a few search words only. A question has other
        // words to go by, and a wrong correction would bring in unrelated items.
        let few = QueryForm::from_text(query.text()) == QueryForm::Words;
        for group in query.groups() {
            let spelling = if few && corrected < MAX_CORRECTED_WORDS {
                Spelling::Corrected
            } else {
                Spelling::AsTyped
            };
            let word = self.resolve_word(group, spelling)?;
            corrected += usize::from(word.rows.is_empty() || word.misspelt);
            words.push(word);
        }
        for word in &mut words {
            word.idf = rank::inverse_frequency(rows, word.common);
            // As if the store had at least so many items: in one of ten, every word
            // would look common and no threshold of recall would be reached.
            let rows = rows.max(rank::MIN_MATCH_STRENGTH_ITEMS);
            word.fit_idf = rank::inverse_frequency(rows, word.common);
        }
        Ok(words)
    }

    /// The index expression for items with all words of the query, or all but one
    /// if there are three or more.
    pub(super) fn nearly_all(&self, query: &Query) -> String {
        let each = query.groups().iter().map(|group| {
            let ask =
                |sign: &str| group_expression(group, sign, |term| format!("\"{sign}{term}\""));
            self.tags.of_each(ask)
        });
        let each: Vec<String> = each.collect();
        if each.len() < 3 {
            return each.join(" AND ");
        }
        let without = |left_out: usize| {
            let mut some = each.clone();
            some.remove(left_out);
            format!("({})", some.join(" AND "))
        };
        let ways: Vec<String> = (0..each.len()).map(without).collect();
        format!("({})", ways.join(" OR "))
    }

    /// Whether the index or the model knows any word of the query. Text that is
    /// not plain ASCII counts as known: the model splits it into fragments whatever
    /// it says, so the test would prove nothing.
    pub(super) fn check_vocabulary(
        &self,
        query: &Query,
        words: &[QueryWord],
    ) -> Result<Vocabulary> {
        let is_held = |word: &QueryWord| !word.rows.is_empty() || !word.deep.is_empty();
        let text = query.text();
        if !text.is_ascii() || words.iter().any(is_held) {
            return Ok(Vocabulary::Known);
        }
        let mut typed = text.split(|c: char| !c.is_ascii_alphanumeric());
        if typed.any(|word| !is_stop(&word.to_ascii_lowercase()) && remora_embed::is_word(word)) {
            return Ok(Vocabulary::Known);
        }
        for group in query.groups() {
            if self.is_anywhere(group)? {
                return Ok(Vocabulary::Known);
            }
        }
        Ok(Vocabulary::Unknown)
    }

    fn resolve_word(&self, group: &TermGroup, spelling: Spelling) -> Result<QueryWord> {
        let mut expression = self
            .tags
            .of_each(|sign| group_expression(group, sign, |term| format!("\"{sign}{term}\"")));
        let mut anywhere = self
            .tags
            .of_each(|sign| group_expression(group, sign, |term| match_anywhere(sign, term)));
        let sample = if group.phrase().is_some() {
            MAX_PHRASE_WORD_ITEMS
        } else {
            self.reach.sample
        };
        let mut rows = self.match_items(&expression, sample)?;
        let mut deep = Vec::new();
        // Within a session or a file there are few items, so all of each text counts.
        let within = self.scope.session.is_some() || self.scope.paths.is_some();
        if rows.len() < MAX_RARE_ITEMS || within {
            deep = self.match_items(&anywhere, sample)?;
        }
        if let Some(phrase) = group.phrase() {
            rows = self.with_phrase(&rows, phrase)?;
            deep = self.with_phrase(&deep, phrase)?;
        }
        let mut forgiven = group.prefix().is_some();
        let mut misspelt = false;
        if rows.is_empty() && deep.is_empty() {
            // A longer word first ("auth" for "authentication"): it is what was typed as
            // far as it goes, whereas a similar spelling is a guess.
            if let Some(stem) = prefix_stem(group) {
                expression = self.tags.of_each(|sign| format!("(\"{sign}{stem}\" *)"));
                rows = self.match_items(&expression, self.reach.sample)?;
            }
            if rows.is_empty()
                && spelling == Spelling::Corrected
                && !self.is_anywhere(group)?
                && let Some(similar) = self.find_similar_words(group)?
            {
                rows = self.match_items(&similar, self.reach.sample)?;
                expression = similar;
                misspelt = true;
            }
            anywhere.clone_from(&expression);
            forgiven = true;
        }
        let ways = group
            .ways()
            .iter()
            .map(|way| {
                way.iter()
                    .map(|term| shorten_hash(hash_term(term)))
                    .collect()
            })
            .collect();
        deep.retain(|id| rows.binary_search_by(|row| id.cmp(row)).is_err());
        let common = self.estimate_frequency(&rows)? + to_approximate_f64(deep.len());
        Ok(QueryWord {
            expression,
            anywhere,
            ways,
            rows,
            deep,
            common,
            idf: 0.0,
            fit_idf: 0.0,
            forgiven,
            misspelt,
        })
    }

    /// Those of the items in which the words follow each other.
    fn with_phrase(&self, ids: &[i64], phrase: &[String]) -> Result<Vec<i64>> {
        let mut found = Vec::new();
        for some in ids.chunks(MAX_PHRASE_ITEMS) {
            for item in rows::read_items(self.conn, some)? {
                if fold::has_phrase(&item, phrase) {
                    found.push(item.id);
                }
            }
            if found.len() >= MAX_PHRASE_ITEMS {
                break;
            }
        }
        Ok(found)
    }

    /// Whether any item contains the word, also outside the filter: then it is not
    /// misspelt.
    fn is_anywhere(&self, group: &TermGroup) -> Result<bool> {
        self.conn
            .prepare_cached("SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 1")
            .store_err()?
            .exists([group_expression(group, "", |term| match_anywhere("", term))])
            .store_err()
    }

    /// The index expression for words spelt much like one that no item contains.
    fn find_similar_words(&self, group: &TermGroup) -> Result<Option<String>> {
        let whole = group.ways().first().and_then(|way| way.first());
        let Some(whole) = whole.filter(|_| group.phrase().is_none()) else {
            return Ok(None);
        };
        let similar = spelling::find_similar_terms(self.conn, whole, MAX_SIMILAR_WORDS)?;
        let all = |sign: &str| {
            let terms: Vec<String> = similar
                .iter()
                .map(|term| format!("\"{sign}{term}\""))
                .collect();
            format!("({})", terms.join(" OR "))
        };
        Ok((!similar.is_empty()).then(|| self.tags.of_each(all)))
    }

    /// About how many items contain a word whose newest items are these. A full
    /// sample is extrapolated over all ids; counting them would walk the whole
    /// posting list.
    fn estimate_frequency(&self, rows: &[i64]) -> Result<f64> {
        let found = to_approximate_f64(rows.len());
        let Some(last) = rows.last().filter(|_| rows.len() >= self.reach.sample) else {
            return Ok(found);
        };
        let newest = self.newest_id()?.max(*last);
        let number = |id: i64| to_approximate_f64(usize::try_from(id).unwrap_or(0));
        Ok(found * (number(newest) / number(newest - last + 1)).max(1.0))
    }

    fn newest_id(&self) -> Result<i64> {
        let newest: Option<i64> = self
            .conn
            .prepare_cached("SELECT max(id) FROM items")
            .store_err()?
            .query_row([], |row| row.get(0))
            .store_err()?;
        Ok(newest.unwrap_or(0))
    }

    /// The first id of the newer items, if those are searched first.
    pub(super) fn first_newer_id(&self) -> Result<i64> {
        match self.reach.recent {
            Some(recent) => Ok((self.newest_id()? - recent).max(0)),
            None => Ok(0),
        }
    }

    /// How many items the project has, and their average length in words.
    pub(super) fn measure_project(&self) -> Result<(f64, f64)> {
        let (items, words): (f64, f64) = self
            .conn
            .query_row(
                "SELECT CAST(coalesce(sum(items), 0) AS REAL), CAST(coalesce(sum(words), 0) AS REAL)
                 FROM projects WHERE ?1 IS NULL OR id = ?1",
                [self.scope.project],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .store_err()?;
        Ok((items.max(1.0), (words / items.max(1.0)).max(1.0)))
    }

    /// The least and the greatest id within the filter's time.
    fn id_range(&self) -> Result<(i64, i64)> {
        let ends = self
            .conn
            .prepare_cached("SELECT min(id), max(id) FROM items WHERE time >= ?1 AND time < ?2")
            .store_err()?
            .query_row((self.scope.since, self.scope.until), |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })
            .store_err()?;
        Ok((ends.0.unwrap_or(0), ends.1.unwrap_or(-1)))
    }

    /// The newest items that match an index expression, within the filter.
    pub(super) fn match_items(&self, expression: &str, limit: usize) -> Result<Vec<i64>> {
        self.ask_from(0, expression, limit)
    }

    /// The same among items from this id on.
    pub(super) fn ask_from(&self, first: i64, expression: &str, limit: usize) -> Result<Vec<i64>> {
        let expression = self.tags.build_expression(expression);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let ids = |row: &rusqlite::Row<'_>| row.get(0);
        let (since, until) = (self.scope.since, self.scope.until);
        if since == i64::MIN && until == i64::MAX {
            return self
                .conn
                .prepare_cached(
                    "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?3
                     ORDER BY rowid DESC LIMIT ?2",
                )
                .store_err()?
                .query_map((expression, limit, first), ids)
                .store_err()?
                .collect::<rusqlite::Result<_>>()
                .store_err();
        }
        // The index knows no times, and its newest matches may all be too new. Times
        // and ids mostly grow together, so a range of ids keeps most others out before
        // `items` is read for the exact time.
        let (from, to) = self.id_range()?;
        self.conn
            .prepare_cached(
                "SELECT words.rowid FROM words CROSS JOIN items i ON i.id = words.rowid
                 WHERE words MATCH ?1 AND words.rowid BETWEEN ?5 AND ?6
                    AND i.time >= ?3 AND i.time < ?4
                 ORDER BY words.rowid DESC LIMIT ?2",
            )
            .store_err()?
            .query_map((expression, limit, since, until, from.max(first), to), ids)
            .store_err()?
            .collect::<rusqlite::Result<_>>()
            .store_err()
    }
}

/// The beginning of longer words that may replace one that no item contains.
fn prefix_stem(group: &TermGroup) -> Option<&str> {
    group
        .stem()
        .filter(|stem| stem.chars().count() >= MIN_PREFIX_CHARS)
}

/// What an item must not contain, as index expressions; phrases are searched for
/// in the items themselves.
pub(super) fn excluded_expressions(query: &Query) -> Vec<String> {
    query
        .excluded_groups()
        .iter()
        .filter(|group| group.phrase().is_none())
        .map(|group| group_expression(group, "", |term| match_anywhere("", term)))
        .collect()
}

/// The expression for a term in the lead of a text or beyond it.
fn match_anywhere(sign: &str, term: &str) -> String {
    format!("(\"{sign}{term}\" OR \"{sign}{BEYOND_LEAD_PREFIX}{term}\")")
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an estimate of how many rows there are"
)]
fn to_approximate_f64(count: usize) -> f64 {
    count as f64
}

/// The group as an index expression with this prefix, each term as `ask` writes
/// it. Terms contain no quotes, so none can end the string it is put in.
fn group_expression(group: &TermGroup, sign: &str, ask: impl Fn(&str) -> String) -> String {
    if let Some(prefix) = group.prefix() {
        return format!("(\"{sign}{prefix}\" *)");
    }
    let ways: Vec<String> = group
        .ways()
        .iter()
        .map(|way| {
            let terms: Vec<String> = way.iter().map(|term| ask(term)).collect();
            format!("({})", terms.join(" AND "))
        })
        .collect();
    format!("({})", ways.join(" OR "))
}
