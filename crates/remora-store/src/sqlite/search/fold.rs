//! From ranked rows to hits: items are loaded, those with an excluded phrase are
//! dropped, those without a quoted phrase go last, and items that say the same
//! are folded into one hit.

use std::collections::HashMap;

use remora_core::ids::ProjectKey;
use remora_core::record::Item;
use remora_memory::embedding_text::list_texts;
use remora_memory::rank::{MatchStrength, RankInput, ScoreParts, TermCoverage};
use remora_memory::store::{Hit, Result};
use remora_memory::words::{Query, TermGroup, holds_phrase};

use super::SearchRun;
use crate::sqlite::rows;

/// A candidate with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredItem {
    pub(super) id: i64,
    pub(super) row: RankInput,
    pub(super) parts: ScoreParts,
    /// The items before and after it in its session.
    pub(super) beside: [Option<i64>; 2],
}

impl SearchRun<'_> {
    /// The best items as hits; `scored` is in order.
    pub(super) fn fold_hits(&self, query: &Query, scored: &[ScoredItem]) -> Result<Vec<Hit>> {
        let phrases: Vec<&[String]> = query
            .groups()
            .iter()
            .filter_map(TermGroup::phrase)
            .collect();
        let mut hits: Vec<Hit> = Vec::new();
        let mut without: Vec<Hit> = Vec::new();
        let mut known: HashMap<(ProjectKey, String, String), usize> = HashMap::new();
        // Loaded in chunks: often the first holds all the hits that are wanted.
        for chunk in scored.chunks(self.limit.clamp(1, 64)) {
            let ids: Vec<i64> = chunk.iter().map(|row| row.id).collect();
            let items = rows::read_items(self.conn, &ids)?;
            for item in items {
                let Some(row) = chunk.iter().find(|row| row.id == item.id) else {
                    continue;
                };
                if !query.allows_texts(list_texts(&item).map(String::as_str)) {
                    continue;
                }
                let as_quoted = phrases.iter().all(|phrase| has_phrase(&item, phrase));
                let hit = Hit {
                    score: row.parts.score(),
                    all_words: row.row.holds == TermCoverage::All && as_quoted,
                    any_words: row.row.holds != TermCoverage::None,
                    parts: row.parts,
                    fit: MatchStrength {
                        gist: row.row.gist.unwrap_or(0.0),
                        meaning: row.row.likeness,
                        ..row.row.fit
                    },
                    same: Vec::new(),
                    item,
                };
                if !as_quoted {
                    without.push(hit);
                    continue;
                }
                let says = (
                    hit.item.project.clone(),
                    hit.item.title.clone(),
                    hit.item.text.clone(),
                );
                if let Some(at) = known.get(&says) {
                    hits[*at].same.push(hit.item.id);
                } else if hits.len() < self.limit {
                    known.insert(says, hits.len());
                    hits.push(hit);
                }
            }
            let enough = hits.len() >= self.limit;
            // Of a phrase that occurs nowhere, not every candidate is loaded.
            if enough || without.len() >= self.limit * 4 {
                break;
            }
        }
        hits.extend(without);
        hits.truncate(self.limit);
        Ok(hits)
    }
}

/// Whether the words follow each other somewhere in the item.
pub(super) fn has_phrase(item: &Item, phrase: &[String]) -> bool {
    list_texts(item).any(|text| holds_phrase(text, phrase))
}
