//! Searching: the word index and the vectors give candidates, the weights in
//! the rows and their neighbours rank them. Costs are bounded by how many rows
//! are looked at, not by how many rows hold a word.

mod candidates;
mod fold;
mod light;
mod near;
mod speaker;
mod tags;
mod word;

use remora_embed::MODEL;
use remora_memory::about::texts;
use remora_memory::named_day::NamedDay;
use remora_memory::rank::{self, Fit, Held, Holds, Length, Row};
use remora_memory::store::{DetailRow, Filter, Hit, Page, Result};
use remora_memory::words::{Effort, Query};
use remora_protocol::record::{Item, Kind};
use rusqlite::Connection;

use super::names::kind_of;
use super::read::list_ids;
use super::rows;
use super::scope::Scope;
use super::vectors::{self, Breadth, Measure};
use fold::Scored;
use light::Lights;
use near::Near;
use speaker::Speakers;
use tags::Tags;
use word::{DEEP, Word};

/// How far a search looks.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// How many rows of one word are looked at to learn how common it is.
    sample: usize,
    /// How many rows with several words at once are taken.
    together: usize,
    /// How many rows are ranked by their words.
    ranked: usize,
    /// How many rows are taken because their embeddings are nearest, and how
    /// many of them are measured.
    near: Breadth,
    /// How many of the last rows are asked first for several words at once; all
    /// are, otherwise, and in more ways.
    recent: Option<i64>,
}

const WHOLE: Reach = Reach {
    sample: 1_500,
    together: 500,
    ranked: 200,
    near: Breadth::WHOLE,
    recent: None,
};
const QUICK: Reach = Reach {
    sample: 200,
    together: 60,
    ranked: 24,
    near: Breadth::QUICK,
    recent: Some(16_000),
};
/// How many rows are ranked at least for each hit that is wanted quickly.
const FOR_EACH: usize = 3;

impl Reach {
    fn of(effort: Effort, limit: usize) -> Self {
        let (reach, least) = match effort {
            Effort::Whole => (WHOLE, limit),
            Effort::Quick => (QUICK, limit.saturating_mul(FOR_EACH)),
        };
        Self {
            ranked: reach.ranked.max(least),
            ..reach
        }
    }
}

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
        return newest(conn, query, &scope, limit);
    }
    if query.groups().is_empty() {
        return Ok(Vec::new());
    }
    let mut reach = Reach::of(query.effort(), limit);
    // Phrases that must not be there are seen only when rows are loaded.
    if query.without().iter().any(|group| group.phrase().is_some()) {
        reach.ranked = reach.ranked.max(reach.sample);
    }
    let search = Search::new(conn, scope, word::without(query), reach, limit)?;
    search.run(query)
}

/// The details of a project's rows of one kind that hold the words, the newest
/// first.
pub(crate) fn details(
    conn: &Connection,
    project: &str,
    kind: Kind,
    query: &Query,
    limit: usize,
) -> Result<Vec<DetailRow>> {
    let filter = Filter {
        project: Some(project.to_owned()),
        kinds: vec![kind],
        ..Filter::default()
    };
    let scope = Scope::find(conn, &filter)?;
    let Some(scope) = scope.filter(|_| !query.groups().is_empty()) else {
        return Ok(Vec::new());
    };
    let search = Search::new(conn, scope, Vec::new(), QUICK, limit)?;
    let ids = search.ask(&search.nearly_all(query), limit)?;
    rows::details(conn, &ids)
}

fn newest(conn: &Connection, query: &Query, scope: &Scope, limit: usize) -> Result<Vec<Hit>> {
    let mut page = Page::newest(limit);
    let mut hits = Vec::new();
    while hits.len() < limit {
        let ids = list_ids(conn, scope, page)?;
        let Some(last) = ids.last() else { break };
        page.beyond = Some(*last);
        let items = rows::items(conn, &ids)?;
        let allowed = |item: &Item| query.allows(texts(item).map(String::as_str));
        let hit = |item| Hit {
            item,
            score: 0.0,
            all_words: true,
            any_words: true,
            parts: rank::Parts::default(),
            fit: Fit::default(),
            same: Vec::new(),
        };
        hits.extend(items.into_iter().filter(allowed).map(hit));
    }
    hits.truncate(limit);
    Ok(hits)
}

struct Search<'c> {
    conn: &'c Connection,
    scope: Scope,
    /// What rows must hold beside the words, and what they must not.
    tags: Tags,
    reach: Reach,
    limit: usize,
}

impl<'c> Search<'c> {
    /// A search in the scope for rows that hold nothing of `without`.
    fn new(
        conn: &'c Connection,
        scope: Scope,
        without: Vec<String>,
        reach: Reach,
        limit: usize,
    ) -> Result<Self> {
        let mut tags = Tags::choose(conn, &scope)?;
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
        let (rows, average) = self.size()?;
        let words = self.words(query, rows)?;
        let mut candidates = self.candidates(&words)?;
        let mut near = Near::default();
        if let Some(meaning) = query.meaning() {
            near = Near::find(self, meaning)?;
            candidates.ids.extend(near.ids());
        }
        let lights = Lights::load(self, &words, &candidates)?;
        let mut scored = self.weigh(query, average, &words, &lights)?;
        scored.retain(|row| row.row.words > 0.0 || near.holds(row.id));
        scored.sort_by(|a, b| b.row.words.total_cmp(&a.row.words).then(b.id.cmp(&a.id)));
        let mut place = 0;
        scored.retain(|row| {
            place += 1;
            place <= self.reach.ranked || near.holds(row.id)
        });
        self.compare(query, &mut near, &mut scored)?;
        let length = Length::of(query.text());
        let wording = self.wording(query, &words)?;
        scored.retain(|row| rank::answers(length, wording, &row.row));
        let rows: Vec<Row> = scored.iter().map(|row| row.row).collect();
        for (row, parts) in scored.iter_mut().zip(rank::fuse(weights, length, &rows)) {
            row.parts = parts;
        }
        scored.sort_by(|a, b| {
            let score = |row: &Scored| row.parts.score();
            score(b).total_cmp(&score(a)).then(b.id.cmp(&a.id))
        });
        self.hits(query, &scored)
    }

    /// What each row is about and means, against the query.
    fn compare(&self, query: &Query, near: &mut Near, scored: &mut [Scored]) -> Result<()> {
        if let Some(gist) = remora_embed::gist(query.text()) {
            for row in &mut *scored {
                row.row.gist = vectors::gist_likeness(self.conn, row.id, &gist)?;
            }
        }
        let Some(meaning) = query.meaning() else {
            return Ok(());
        };
        let Some(mut measure) = Measure::new(self.conn, MODEL)? else {
            return Ok(());
        };
        for row in scored {
            let found = near.of(&mut measure, row.id, meaning)?;
            row.row.likeness = found.map(|(likeness, _)| likeness);
            row.row.meaning = found.map(|(_, far)| far);
            for beside in row.beside.into_iter().flatten() {
                let far = near.of(&mut measure, beside, meaning)?.map(|(_, far)| far);
                let most = row.row.meaning_beside.into_iter().chain(far);
                row.row.meaning_beside = most.max_by(f64::total_cmp);
            }
        }
        Ok(())
    }

    /// How well the words fit each row that may be a hit, where rows are
    /// `average` long.
    fn weigh(
        &self,
        query: &Query,
        average: f64,
        words: &[Word],
        lights: &Lights,
    ) -> Result<Vec<Scored>> {
        let weights = query.weights();
        let misspelt = words.iter().any(|word| word.misspelt);
        let mut speakers = Speakers::new(self.conn, query);
        let day = NamedDay::find(query.text());
        let rows = lights.rows();
        let most: f64 = words.iter().map(|word| word.fit_idf).sum();
        let mut scored = Vec::with_capacity(rows.len());
        for (at, light) in rows.iter().enumerate().filter(|(_, row)| row.fits) {
            let kind = kind_of(light.kind).unwrap_or(Kind::Discovery);
            let speaker = speakers.of(light.speaker)?;
            let own = lights.held(at);
            let said = |n: usize| f64::from(u8::from(speaker.says(n)));
            let held = words.iter().enumerate().map(|(n, word)| {
                let mut weight = weights.held(own[n] + said(n), light.length, average);
                for (other, far) in lights.beside(at) {
                    // What only stands far down in a neighbour says nothing here.
                    let beside = lights.held(other)[n];
                    let beside = if beside > DEEP { beside } else { 0.0 };
                    weight +=
                        weights.beside[far - 1] * weights.held(beside, rows[other].length, average);
                }
                Held {
                    idf: word.idf,
                    weight,
                }
            });
            let mut each = own.iter().enumerate().map(|(n, own)| own + said(n) > 0.0);
            let all = !misspelt && each.clone().all(|held| held);
            let holds = match (all, each.any(|held| held)) {
                (true, _) => Holds::All,
                (_, true) => Holds::Some,
                _ => Holds::None,
            };
            let idf = |(n, own): (usize, &f64)| {
                if own + said(n) > 0.0 {
                    words[n].fit_idf
                } else {
                    0.0
                }
            };
            let weight: f64 = own.iter().enumerate().map(idf).sum();
            scored.push(Scored {
                id: light.id,
                row: Row {
                    words: weights.words(held),
                    holds,
                    fit: Fit {
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
                    favoured: query.favours().contains(&kind),
                    person: kind == Kind::Prompt || speaker.is_person(),
                    named: speaker.is_named(),
                    dated: day.map_or(0.0, |day| day.fit(light.time)),
                },
                parts: rank::Parts::default(),
                beside: lights.next_to(at),
            });
        }
        Ok(scored)
    }
}
