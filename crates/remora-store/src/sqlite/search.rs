//! Searching: the full-text index and the embeddings yield candidates, the term
//! weights in the rows and their neighbours rank them. Cost is bounded by the
//! search limits, not by how many items contain a word.

mod candidate_rows;
mod candidates;
mod fold;
mod near;
mod speaker;
mod tags;
mod word;

use remora_core::record::{Item, Kind};
use remora_embed::MODEL_ID;
use remora_memory::embedding_text::list_texts;
use remora_memory::named_day::NamedDay;
use remora_memory::rank::{self, MatchStrength, QueryForm, RankInput, TermCoverage, TermWeight};
use remora_memory::store::{DetailRow, Filter, Hit, LookTools, PageRequest, Result};
use remora_memory::words::{Query, SearchEffort};
use rusqlite::Connection;

use super::names::kind_of;
use super::read::list_ids;
use super::rows;
use super::scope::ResolvedFilter;
use super::vectors::{self, NearestLimits, SimilarityReader};
use candidate_rows::CandidateRows;
use fold::ScoredItem;
use near::NearestItems;
use speaker::SpeakerCache;
use tags::IndexFilter;
use word::{BEYOND_LEAD_WEIGHT, QueryWord};

/// How many items a search may sample, rank and compare.
#[derive(Debug, Clone, Copy)]
struct SearchLimits {
    /// How many items of one word are read to estimate how common it is.
    sample: usize,
    /// How many items that contain several words at once are taken.
    together: usize,
    /// How many items are ranked by their words.
    ranked: usize,
    /// How many items are taken because their embeddings are nearest, and how
    /// many vectors are read for it.
    near: NearestLimits,
    /// How many of the newest items are searched first for several words at once;
    /// without it all are, and in more combinations.
    recent: Option<i64>,
}

const FULL_LIMITS: SearchLimits = SearchLimits {
    sample: 1_500,
    together: 500,
    ranked: 200,
    near: NearestLimits::FULL,
    recent: None,
};
const QUICK_LIMITS: SearchLimits = SearchLimits {
    sample: 200,
    together: 60,
    ranked: 24,
    near: NearestLimits::QUICK,
    recent: Some(16_000),
};
/// How many items a quick search ranks at least for each hit it is to return.
const MIN_RANKED_ITEMS_PER_HIT: usize = 3;

impl SearchLimits {
    fn for_effort(effort: SearchEffort, limit: usize) -> Self {
        let (reach, least) = match effort {
            SearchEffort::Whole => (FULL_LIMITS, limit),
            SearchEffort::Quick => (QUICK_LIMITS, limit.saturating_mul(MIN_RANKED_ITEMS_PER_HIT)),
        };
        Self {
            ranked: reach.ranked.max(least),
            ..reach
        }
    }
}

/// The hits for a query within the filter, best first.
pub(crate) fn search_items(
    conn: &Connection,
    query: &Query,
    filter: &Filter,
    looks: LookTools,
    limit: usize,
) -> Result<Vec<Hit>> {
    let Some(scope) = ResolvedFilter::find(conn, filter, looks)? else {
        return Ok(Vec::new());
    };
    if limit == 0 {
        return Ok(Vec::new());
    }
    if query.is_blank() {
        return list_newest(conn, query, &scope, limit);
    }
    if query.groups().is_empty() {
        return Ok(Vec::new());
    }
    let mut reach = SearchLimits::for_effort(query.effort(), limit);
    // The index stores no positions, so an excluded phrase is noticed only after an
    // item is loaded and ranked; more are ranked to make up for those that go.
    if query
        .excluded_groups()
        .iter()
        .any(|group| group.phrase().is_some())
    {
        reach.ranked = reach.ranked.max(reach.sample);
    }
    let search = SearchRun::new(conn, scope, word::excluded_expressions(query), reach, limit)?;
    search.run(query)
}

/// The details of a project's items of one kind that contain the words, the
/// newest first.
pub(crate) fn details(
    conn: &Connection,
    project: &str,
    kind: Kind,
    query: &Query,
    limit: usize,
) -> Result<Vec<DetailRow>> {
    let filter = Filter {
        project: Some(project.into()),
        kinds: vec![kind],
        ..Filter::default()
    };
    let scope = ResolvedFilter::find(conn, &filter, LookTools::default())?;
    let Some(scope) = scope.filter(|_| !query.groups().is_empty()) else {
        return Ok(Vec::new());
    };
    let search = SearchRun::new(conn, scope, Vec::new(), QUICK_LIMITS, limit)?;
    let ids = search.match_items(&search.nearly_all(query), limit)?;
    rows::details(conn, &ids)
}

fn list_newest(
    conn: &Connection,
    query: &Query,
    scope: &ResolvedFilter,
    limit: usize,
) -> Result<Vec<Hit>> {
    let mut page = PageRequest::newest(limit);
    let mut hits = Vec::new();
    // Page by page, because exclusions may leave less of a page than was asked for.
    while hits.len() < limit {
        let ids = list_ids(conn, scope, page)?;
        let Some(last) = ids.last() else { break };
        page.beyond = Some(*last);
        let items = rows::read_items(conn, &ids)?;
        let allowed = |item: &Item| query.allows_texts(list_texts(item).map(String::as_str));
        let hit = |item| Hit {
            item,
            score: 0.0,
            all_words: true,
            any_words: true,
            parts: rank::ScoreParts::default(),
            fit: MatchStrength::default(),
            same: Vec::new(),
        };
        hits.extend(items.into_iter().filter(allowed).map(hit));
    }
    hits.truncate(limit);
    Ok(hits)
}

struct SearchRun<'c> {
    conn: &'c Connection,
    scope: ResolvedFilter,
    /// Index terms that every item must have, or must not have, besides the words.
    tags: IndexFilter,
    reach: SearchLimits,
    limit: usize,
}

impl<'c> SearchRun<'c> {
    /// A search in the scope for items that match none of `without`.
    fn new(
        conn: &'c Connection,
        scope: ResolvedFilter,
        without: Vec<String>,
        reach: SearchLimits,
        limit: usize,
    ) -> Result<Self> {
        let mut tags = IndexFilter::for_scope(conn, &scope)?;
        tags.without.extend(without);
        Ok(Self {
            conn,
            scope,
            tags,
            reach,
            limit,
        })
    }

    fn run(&self, query: &Query) -> Result<Vec<Hit>> {
        let weights = query.weights();
        let (rows, average) = self.measure_project()?;
        let words = self.resolve_words(query, rows)?;
        let mut candidates = self.find_candidates(&words)?;
        let mut near = NearestItems::default();
        // Asked for after the words are looked up: a hook's embedding is computed by
        // the worker in the meantime.
        if let Some(meaning) = query.text_embedding() {
            near = NearestItems::find(self, meaning)?;
            candidates.ids.extend(near.ids());
        }
        let lights = CandidateRows::load_rows(self, &words, &candidates)?;
        let mut scored = self.score_candidates(query, average, &words, &lights)?;
        // Neighbours were loaded as well. One that matches through its own or its
        // neighbours' words is a hit like any other; the rest was only context.
        scored.retain(|row| row.row.words > 0.0 || near.contains_item(row.id));
        scored.sort_by(|a, b| b.row.words.total_cmp(&a.row.words).then(b.id.cmp(&a.id)));
        let mut place = 0;
        // The limit is for words alone: the nearest by embedding are few and stay.
        scored.retain(|row| {
            place += 1;
            place <= self.reach.ranked || near.contains_item(row.id)
        });
        self.compare_embeddings(query, &mut near, &mut scored)?;
        let length = QueryForm::from_text(query.text());
        let wording = self.check_vocabulary(query, &words)?;
        scored.retain(|row| rank::is_answer(length, wording, &row.row));
        let rows: Vec<RankInput> = scored.iter().map(|row| row.row).collect();
        for (row, parts) in scored
            .iter_mut()
            .zip(rank::fuse_scores(weights, length, &rows))
        {
            row.parts = parts;
        }
        scored.sort_by(|a, b| {
            let score = |row: &ScoredItem| row.parts.score();
            score(b).total_cmp(&score(a)).then(b.id.cmp(&a.id))
        });
        self.fold_hits(query, &scored)
    }

    /// Compares each item's static embedding and embedding with the query's.
    fn compare_embeddings(
        &self,
        query: &Query,
        near: &mut NearestItems,
        scored: &mut [ScoredItem],
    ) -> Result<()> {
        if let Some(gist) = remora_embed::embed_static(query.text()) {
            for row in &mut *scored {
                row.row.gist = vectors::gist_likeness(self.conn, row.id, &gist)?;
            }
        }
        let Some(meaning) = query.text_embedding() else {
            return Ok(());
        };
        let Some(mut measure) = SimilarityReader::new(self.conn, MODEL_ID)? else {
            return Ok(());
        };
        for row in scored {
            let found = near.find_similarity(&mut measure, row.id, meaning)?;
            row.row.likeness = found.map(|(likeness, _)| likeness);
            row.row.meaning = found.map(|(_, far)| far);
            for beside in row.beside.into_iter().flatten() {
                let far = near
                    .find_similarity(&mut measure, beside, meaning)?
                    .map(|(_, far)| far);
                let most = row.row.meaning_beside.into_iter().chain(far);
                row.row.meaning_beside = most.max_by(f64::total_cmp);
            }
        }
        Ok(())
    }

    /// How well the words match each item that may be a hit, given the average
    /// length of items.
    fn score_candidates(
        &self,
        query: &Query,
        average: f64,
        words: &[QueryWord],
        lights: &CandidateRows,
    ) -> Result<Vec<ScoredItem>> {
        let weights = query.weights();
        let misspelt = words.iter().any(|word| word.misspelt);
        let mut speakers = SpeakerCache::new(self.conn, query);
        let day = NamedDay::find(query.text());
        let rows = lights.rows();
        let most: f64 = words.iter().map(|word| word.fit_idf).sum();
        let mut scored = Vec::with_capacity(rows.len());
        for (at, light) in rows.iter().enumerate().filter(|(_, row)| row.fits) {
            let kind = kind_of(light.kind).unwrap_or(Kind::Discovery);
            let speaker = speakers.get_speaker(light.speaker)?;
            let own = lights.word_weights(at);
            // "What did Ana say about ..": the speaker's name counts as a word of the item.
            let said = |n: usize| f64::from(u8::from(speaker.is_name_word(n)));
            let held = words.iter().enumerate().map(|(n, word)| {
                let mut weight = weights.normalise_weight(own[n] + said(n), light.length, average);
                for (other, far) in lights.iter_neighbours(at) {
                    // A word far down in a long neighbour says nothing about this item.
                    let beside = lights.word_weights(other)[n];
                    let beside = if beside > BEYOND_LEAD_WEIGHT {
                        beside
                    } else {
                        0.0
                    };
                    weight += weights.beside[far - 1]
                        * weights.normalise_weight(beside, rows[other].length, average);
                }
                TermWeight {
                    idf: word.idf,
                    weight,
                }
            });
            let mut each = own.iter().enumerate().map(|(n, own)| own + said(n) > 0.0);
            // An item that contains a similar word does not contain what was typed.
            let all = !misspelt && each.clone().all(|held| held);
            let holds = match (all, each.any(|held| held)) {
                (true, _) => TermCoverage::All,
                (_, true) => TermCoverage::Some,
                _ => TermCoverage::None,
            };
            let idf = |(n, own): (usize, &f64)| {
                if own + said(n) > 0.0 {
                    words[n].fit_idf
                } else {
                    0.0
                }
            };
            let weight: f64 = own.iter().enumerate().map(idf).sum();
            scored.push(ScoredItem {
                id: light.id,
                row: RankInput {
                    words: weights.score_terms(held),
                    holds,
                    fit: MatchStrength {
                        share: if most > 0.0 { weight / most } else { 0.0 },
                        weight,
                        gist: 0.0,
                        meaning: None,
                    },
                    gist: None,
                    likeness: None,
                    meaning: None,
                    meaning_beside: None,
                    kind,
                    favoured: query.favoured_kinds().contains(&kind),
                    user: kind == Kind::Prompt || speaker.is_user(),
                    named: speaker.is_named(),
                    dated: day.map_or(0.0, |day| day.score_time(light.time)),
                },
                parts: rank::ScoreParts::default(),
                beside: lights.next_to(at),
            });
        }
        Ok(scored)
    }
}
