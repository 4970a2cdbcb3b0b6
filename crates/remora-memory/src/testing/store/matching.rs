//! Which items of the store in memory fit a filter or hold a word of a query, and
//! how well they fit in the scale that recall goes by.

use std::collections::{BTreeMap, HashSet};

use remora_core::record::Item;

use crate::embedding_text::list_texts;
use crate::prepare::PreparedItem;
use crate::rank::{MIN_MATCH_STRENGTH_ITEMS, inverse_frequency};
use crate::store::{FileMatch, Filter, Hit, LookupItems};
use crate::term_weights::BEYOND_LEAD_PREFIX;
use crate::testing::LOOK_TOOLS;
use crate::words::{Query, TermGroup, holds_phrase};

/// The terms of an item, as they were prepared; here all of them count alike.
pub(super) fn terms(item: Option<&PreparedItem>) -> HashSet<&str> {
    let terms = item.map_or("", |item| &item.terms).split(' ');
    terms
        .map(|term| term.strip_prefix(BEYOND_LEAD_PREFIX).unwrap_or(term))
        .filter(|term| !term.is_empty())
        .collect()
}

pub(super) fn holds(group: &TermGroup, item: &Item, terms: &HashSet<&str>) -> bool {
    if let Some(prefix) = group.prefix() {
        return terms.iter().any(|term| term.starts_with(prefix));
    }
    group
        .ways()
        .iter()
        .any(|way| way.iter().all(|term| terms.contains(term.as_str())))
        && group
            .phrase()
            .is_none_or(|phrase| list_texts(item).any(|text| holds_phrase(text, phrase)))
}

pub(super) fn begins(group: &TermGroup, terms: &HashSet<&str>) -> bool {
    let stem = group.stem().filter(|stem| stem.chars().count() >= 3);
    stem.is_some_and(|stem| terms.iter().any(|term| term.starts_with(stem)))
}

/// How much a word counts that so many of the rows hold, as SQLite says.
pub(super) fn idf(rows: usize, count: u32) -> f64 {
    let rows = f64::from(u32::try_from(rows).unwrap_or(u32::MAX));
    inverse_frequency(rows.max(MIN_MATCH_STRENGTH_ITEMS), f64::from(count))
}

/// Says of each hit what recall goes by, in the scale of SQLite; `most` is what
/// all words of the query count.
pub(super) fn fill_fit(
    hits: &mut [Hit],
    query: &Query,
    most: f64,
    prepared: &BTreeMap<i64, PreparedItem>,
) {
    let gist = remora_embed::embed_static(query.text());
    let best = hits.iter().map(|hit| hit.fit.weight).fold(0.0, f64::max);
    for hit in hits.iter_mut().filter(|hit| hit.score > 0.0) {
        hit.fit.share = hit.fit.weight / most;
        hit.parts.words = hit.fit.weight / best;
        let own = prepared
            .get(&hit.item.id)
            .and_then(|item| item.gist.as_ref());
        if let (Some(asked), Some(own)) = (&gist, own) {
            hit.fit.gist = own.cosine_similarity(asked);
        }
    }
}

/// Whether an item is within the filter.
pub(super) fn fits(item: &Item, filter: &Filter) -> bool {
    is_or_any(filter.project.as_ref(), &item.project)
        && is_or_any(filter.session.as_ref(), &item.session)
        && is_or_any(filter.agent.as_ref(), &item.agent)
        && (filter.kinds.is_empty() || filter.kinds.contains(&item.kind))
        && (filter.looks == LookupItems::Kept || !LOOK_TOOLS.is_look(item))
        && filter.since.is_none_or(|since| item.time >= since)
        && filter.until.is_none_or(|until| item.time < until)
        && filter.file.as_ref().is_none_or(|file| {
            let mut paths = item.files_read.iter().chain(&item.files_modified);
            paths.any(|path| is_file(path, file))
        })
}

fn is_or_any<T: PartialEq>(wanted: Option<&T>, value: &T) -> bool {
    wanted.is_none_or(|wanted| wanted == value)
}

fn is_file(path: &str, file: &FileMatch) -> bool {
    let file = match file {
        FileMatch::Exactly(file) => return path == file,
        FileMatch::Like(file) => file.trim_end_matches('/'),
    };
    let file = file.strip_prefix("./").unwrap_or(file);
    let below = path.strip_prefix(file);
    let above = path.strip_suffix(file);
    path == file
        || below.is_some_and(|rest| rest.starts_with('/'))
        || above.is_some_and(|rest| rest.ends_with('/'))
}
