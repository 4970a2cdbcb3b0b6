//! Candidates for a prompt: the hits of a search, grouped by the turn they came
//! from, so that a prompt, its statements and the agent's conclusion count as one
//! (docs/design/0027). A saved memory is a candidate by itself.

use std::collections::HashMap;

use remora_core::detail::DetailList;
use remora_core::ids::{ItemUid, SessionId};
use remora_core::record::{Item, Kind};

use super::card;
use super::intent::PromptIntent;
use super::reader::RecallReader;
use super::relevance::{Relevance, RelevanceFeatures};
use super::supersession::is_stated;
use super::{RecallContext, of_session};
use crate::episode::goes_on;
use crate::store::{Filter, Hit, ItemHeader, ItemRef, PageRequest, Result};

/// Checkpoints of a session that are read to find the one of a turn.
const MAX_CHECKPOINTS: usize = 48;
/// After so many turns about something else a matter is over.
const MAX_TURNS_APART: usize = 3;
/// Turns whose checkpoint is looked up if no hit is one, the most probable first:
/// each may cost a query.
const MAX_LOOKED_UP_TURNS: usize = 8;

/// Hits that belong together.
#[derive(Debug)]
pub(super) struct RecallCandidate {
    /// The hits, best first.
    pub(super) hits: Vec<Hit>,
    /// The checkpoint of the turn, where there is one.
    pub(super) checkpoint: Option<Item>,
    /// The features behind its relevance.
    pub(super) features: RelevanceFeatures,
    /// The probability that it is useful for the prompt.
    pub(super) probability: f64,
}

impl RecallCandidate {
    fn from_hits(relevance: &Relevance, mut hits: Vec<Hit>) -> Self {
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.item.id.cmp(&a.item.id)));
        let features = relevance.compute_features(&hits);
        Self {
            probability: relevance.predict_probability(&features),
            checkpoint: checkpoint_among(&hits),
            features,
            hits,
        }
    }

    /// The item that represents it: the checkpoint, or else the best hit.
    pub(super) fn lead_item(&self) -> Option<&Item> {
        let checkpoint = self.checkpoint.as_ref();
        checkpoint.or_else(|| self.hits.first().map(|hit| &hit.item))
    }

    /// Whether it is the turn of this item.
    pub(super) fn is_of(&self, item: &Item) -> bool {
        let is = |own: &Item| own.uid == item.uid;
        self.checkpoint.as_ref().is_some_and(is) || self.hits.iter().any(|hit| is(&hit.item))
    }

    /// Whether it is no more than a request and its acknowledgement.
    fn tells_nothing(&self) -> bool {
        let is_talk = |hit: &Hit| matches!(hit.item.kind, Kind::Prompt | Kind::Summary);
        self.checkpoint.as_ref().is_some_and(card::tells_nothing) && self.hits.iter().all(is_talk)
    }

    /// Whether its items contain one of these names, which are in lower case.
    pub(super) fn holds_name(&self, names: &[String]) -> bool {
        let rows = self.hits.iter().map(|hit| &hit.item);
        rows.chain(&self.checkpoint).any(|item| {
            let files = item.files_modified.iter().chain(&item.files_read);
            let mut texts = files.chain([&item.title, &item.text]);
            texts.any(|text| {
                let lower = text.to_lowercase();
                names.iter().any(|name| lower.contains(name.as_str()))
            })
        })
    }

    /// Its best hit of these kinds.
    pub(super) fn best_of(&self, is: impl Fn(Kind) -> bool) -> Option<&Hit> {
        self.hits.iter().find(|hit| is(hit.item.kind))
    }

    /// Its hit that is the user's prompt.
    pub(super) fn prompt_hit(&self) -> Option<&Hit> {
        self.best_of(|kind| kind == Kind::Prompt)
    }
}

/// The identity of a turn: the session and the number of the prompt in it.
fn turn_of(item: &Item) -> (String, Option<u32>) {
    match item.kind {
        Kind::Memory => (
            item.key.clone().unwrap_or_else(|| item.uid.to_string()),
            None,
        ),
        // Imported items may have no session; each is a turn by itself.
        _ if item.session.is_empty() => (item.uid.to_string(), None),
        _ => (item.session.to_string(), item.prompt),
    }
}

/// Groups hits by turn and ranks them; the most probable first.
pub(super) fn rank_candidates(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    (prompt, intent): (&str, PromptIntent),
    hits: Vec<Hit>,
) -> Result<Vec<RecallCandidate>> {
    let relevance = Relevance::of_search(&hits, intent, prompt);
    let mut groups: HashMap<(String, Option<u32>), Vec<Hit>> = HashMap::new();
    for hit in hits {
        groups.entry(turn_of(&hit.item)).or_default().push(hit);
    }
    let mut candidates: Vec<RecallCandidate> = groups
        .into_values()
        .map(|hits| RecallCandidate::from_hits(&relevance, hits))
        .collect();
    sort_by_probability(&mut candidates);
    let mut sessions: HashMap<SessionId, Vec<ItemHeader>> = HashMap::new();
    for candidate in candidates.iter_mut().take(MAX_LOOKED_UP_TURNS) {
        if candidate.checkpoint.is_none() {
            candidate.checkpoint = find_checkpoint(store, scene, candidate, &mut sessions)?;
        }
    }
    candidates.retain(|candidate| !candidate.tells_nothing());
    Ok(merge_turns(&relevance, candidates))
}

/// Merges candidates that share a checkpoint: several prompts may come before one
/// stop.
fn merge_turns(relevance: &Relevance, candidates: Vec<RecallCandidate>) -> Vec<RecallCandidate> {
    let mut merged: Vec<RecallCandidate> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let uid = candidate.checkpoint.as_ref().map(|turn| &turn.uid);
        let same = |one: &RecallCandidate| {
            let known = one.checkpoint.as_ref().map(|turn| &turn.uid);
            known.is_some() && known == uid
        };
        let Some(at) = merged.iter().position(same) else {
            merged.push(candidate);
            continue;
        };
        let before = merged.remove(at);
        let mut hits = before.hits;
        hits.extend(candidate.hits);
        let checkpoint = before.checkpoint;
        let whole = RecallCandidate::from_hits(relevance, hits);
        merged.push(RecallCandidate {
            checkpoint,
            ..whole
        });
    }
    sort_by_probability(&mut merged);
    merged
}

fn sort_by_probability(candidates: &mut [RecallCandidate]) {
    // The groups come from a map; without the second key equal ones would come in
    // another order each time.
    candidates.sort_by(|a, b| {
        let newest = |one: &RecallCandidate| one.hits.first().map_or(0, |hit| hit.item.id);
        let order = b.probability.total_cmp(&a.probability);
        order.then(newest(b).cmp(&newest(a)))
    });
}

fn checkpoint_among(hits: &[Hit]) -> Option<Item> {
    let mut items = hits.iter().map(|hit| &hit.item);
    items.find(|item| item.kind == Kind::Summary).cloned()
}

fn find_checkpoint(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    candidate: &RecallCandidate,
    sessions: &mut HashMap<SessionId, Vec<ItemHeader>>,
) -> Result<Option<Item>> {
    let Some(item) = candidate.hits.first().map(|hit| &hit.item) else {
        return Ok(None);
    };
    // The session has its own turns in its context.
    if item.session.is_empty() || item.session == *scene.session {
        return Ok(None);
    }
    if !sessions.contains_key(&item.session) {
        let headers = list_checkpoints(store, &item.session)?;
        sessions.insert(item.session.clone(), headers);
    }
    let headers = sessions.get(&item.session).map(Vec::as_slice);
    read_ended_by(store, item, headers.unwrap_or_default())
}

/// Where the newest checkpoints of a session stand. A session may have dozens, and
/// reading one takes longer than finding all.
fn list_checkpoints(store: &RecallReader<'_>, session: &SessionId) -> Result<Vec<ItemHeader>> {
    let filter = Filter {
        session: Some(session.clone()),
        kinds: vec![Kind::Summary],
        ..Filter::default()
    };
    store.list_headers(&filter, PageRequest::newest(MAX_CHECKPOINTS))
}

/// The same as [`ended_by`] for checkpoints that are not read yet.
fn read_ended_by(
    store: &RecallReader<'_>,
    item: &Item,
    checkpoints: &[ItemHeader],
) -> Result<Option<Item>> {
    let Some(prompt) = item.prompt else {
        return Ok(None);
    };
    let after = checkpoints.iter().filter(|row| row.prompt >= Some(prompt));
    let mut after: Vec<&ItemHeader> = after.collect();
    after.sort_by_key(|row| (row.prompt, row.time));
    for row in after {
        let found = store.find_items(&[ItemRef::Id(row.id)])?.pop();
        if let Some(turn) = found.filter(is_turn) {
            return Ok(Some(turn));
        }
    }
    Ok(None)
}

/// Whether a checkpoint belongs to a turn: the client's own summary of a compaction
/// has no detail and belongs to none.
fn is_turn(row: &Item) -> bool {
    row.detail.is_some()
}

/// The checkpoint of the turn that an item came from.
pub(super) fn checkpoint_of(store: &RecallReader<'_>, item: &Item) -> Result<Option<Item>> {
    if item.session.is_empty() {
        return Ok(None);
    }
    read_ended_by(store, item, &list_checkpoints(store, &item.session)?)
}

/// The turn that settled the matter of this one: the last turn of the session that
/// is still about it. What is proposed first is often not what is done in the end.
pub(super) fn ended_later(
    store: &RecallReader<'_>,
    item: &Item,
    prompt: &str,
) -> Result<Option<Item>> {
    if item.kind != Kind::Summary || item.session.is_empty() {
        return Ok(None);
    }
    let mut rows = of_session(store, &item.session, &[Kind::Summary], MAX_CHECKPOINTS)?;
    let concludes = |row: &Item| row.has_listed(DetailList::Said);
    rows.retain(|row| row.prompt > item.prompt && concludes(row));
    rows.sort_by_key(|row| (row.prompt, row.time));
    let mut end = None;
    let mut apart = 0;
    for row in rows {
        if goes_on(&row, item, prompt) {
            end = Some(row);
            apart = 0;
        } else {
            apart += 1;
        }
        if apart == MAX_TURNS_APART {
            break;
        }
    }
    Ok(end)
}

/// The checkpoint that ended the item's turn: the first one of the session at this
/// prompt or, where several prompts came before a stop, at a later one.
pub(super) fn ended_by<'r>(
    item: &Item,
    rows: impl IntoIterator<Item = &'r Item>,
) -> Option<&'r Item> {
    let prompt = item.prompt?;
    let after = |row: &&Item| is_turn(row) && row.prompt >= Some(prompt);
    rows.into_iter()
        .filter(after)
        .min_by_key(|row| (row.prompt, row.time))
}

/// The turns that items came from.
pub(super) struct ItemTurns<'a> {
    turns: &'a [Item],
    /// The turn of each item by uid, if it is known.
    by_row: HashMap<ItemUid, ItemTurn>,
}

#[derive(Debug)]
struct ItemTurn {
    turn: ItemUid,
    is_stated: bool,
}

impl<'a> ItemTurns<'a> {
    /// Finds the turns of these items among these checkpoints.
    pub(super) fn from_items(rows: &[Item], turns: &'a [Item]) -> Self {
        let turn_of = |item: &Item| {
            let of_session = turns.iter().filter(|turn| turn.session == item.session);
            let turn = ended_by(item, of_session)?;
            let found = ItemTurn {
                turn: turn.uid.clone(),
                is_stated: is_stated(item.kind),
            };
            Some((item.uid.clone(), found))
        };
        Self {
            turns,
            by_row: rows.iter().filter_map(turn_of).collect(),
        }
    }

    /// The turn of an item, and whether at most one statement was made in it.
    pub(super) fn of_row(&self, item: &Item) -> Option<(&'a Item, bool)> {
        let uid = &self.by_row.get(&item.uid)?.turn;
        let turn = self.turns.iter().find(|turn| turn.uid == *uid)?;
        let stated = |row: &&ItemTurn| row.turn == *uid && row.is_stated;
        let stated = self.by_row.values().filter(stated).count();
        Some((turn, stated <= 1))
    }
}
