//! A store in memory: the duties in their plainest form, for tests. Looks at
//! every row for every question.

mod matching;
mod removing;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use remora_core::ids::{ItemUid, ProjectKey, SessionId};
use remora_core::record::{
    FileFingerprint, FileRecord, FileState, Injection, Item, Kind, LoggedEvent, Override, Project,
    Session,
};
use remora_embed::Embedding;

use crate::embedding_text::{self, list_texts};
use crate::overrides::Overrides;
use crate::prepare::{ItemPreparer, PreparedBatch, PreparedItem};
use crate::rank::{MatchStrength, ScoreParts};
use crate::store::{
    DetailRow, ErasePlan, EventKey, Filter, Hit, IndexState, ItemRef, ItemWrite, PageRequest,
    PruneMode, PruneRequest, Result, SortOrder, Store, StoreStats,
};
use crate::words::Query;
use matching::{begins, fill_fit, fits, holds, idf, terms};

/// Memory that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<LoggedEvent>,
    projects: BTreeMap<ProjectKey, Project>,
    sessions: BTreeMap<SessionId, Session>,
    items: BTreeMap<i64, Item>,
    /// What was computed of them, by row; of rows that went as well.
    prepared: BTreeMap<i64, PreparedItem>,
    files: BTreeMap<(ProjectKey, String, String), FileRecord>,
    injections: BTreeMap<(SessionId, u32), Injection>,
    /// By row: the model, what was embedded, and what it means.
    meanings: BTreeMap<i64, (String, String, Embedding)>,
    overrides: BTreeMap<ItemUid, Override>,
    last: i64,
}

impl MemoryStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the row has a meaning of this model as it is now.
    fn means(&self, item: &Item, model: &str) -> bool {
        self.meanings.get(&item.id).is_some_and(|(of, text, _)| {
            of == model && *text == embedding_text::build_embedding_text(item)
        })
    }

    fn knows(&self, key: EventKey<'_>) -> bool {
        self.events.iter().any(|event| {
            event.id == key.id || (key.call.is_some() && event.call.as_deref() == key.call)
        })
    }

    fn by_uid(&self, uid: &str) -> Option<i64> {
        self.items
            .values()
            .find(|item| item.uid == uid)
            .map(|item| item.id)
    }

    fn by_key(&self, item: &Item) -> Option<i64> {
        item.key.as_ref()?;
        self.items
            .values()
            .find(|old| (&old.project, old.kind, &old.key) == (&item.project, item.kind, &item.key))
            .map(|old| old.id)
    }

    fn write(
        &mut self,
        write: &ItemWrite,
        prepared: Option<&PreparedItem>,
        overrides: &Overrides,
    ) -> i64 {
        if let ItemWrite::Add(item) | ItemWrite::Keep(item) | ItemWrite::Put(item) = write {
            if let Some(tombstone) = overrides.find_tombstone(item) {
                let (uid, time) = (tombstone.uid.clone(), item.time);
                return self.write(&ItemWrite::Again { uid, time }, None, overrides);
            }
            if let Some(edited) = overrides.apply_edit(item, None) {
                let prepared = ItemPreparer::default().prepare_item(&edited);
                let write = match write {
                    ItemWrite::Keep(_) => ItemWrite::Keep(edited),
                    ItemWrite::Put(_) => ItemWrite::Put(edited),
                    _ => ItemWrite::Add(edited),
                };
                return self.place(&write, Some(&prepared));
            }
        }
        self.place(write, prepared)
    }

    fn place(&mut self, write: &ItemWrite, prepared: Option<&PreparedItem>) -> i64 {
        let id = self.place_item(write);
        if let Some(prepared) = prepared {
            self.prepared.insert(id, prepared.clone());
        }
        id
    }

    fn place_item(&mut self, write: &ItemWrite) -> i64 {
        match write {
            ItemWrite::Again { uid, time } => {
                let Some(id) = self.by_uid(uid) else { return 0 };
                if let Some(item) = self.items.get_mut(&id) {
                    item.seen += 1;
                    item.last_time = item.last_time.max(*time);
                }
                id
            }
            ItemWrite::Add(item) => {
                let place = self.by_uid(&item.uid).or_else(|| self.by_key(item));
                self.set(item, place)
            }
            ItemWrite::Keep(item) => {
                let place = self.by_uid(&item.uid).or_else(|| self.by_key(item));
                let free = item.id > 0 && !self.items.contains_key(&item.id);
                if !free || place == Some(item.id) {
                    return self.set(item, place);
                }
                let uid = place
                    .and_then(|id| self.items.remove(&id))
                    .map(|old| old.uid);
                let uid = uid.unwrap_or_else(|| item.uid.clone());
                self.set(
                    &Item {
                        uid,
                        ..item.clone()
                    },
                    Some(item.id),
                )
            }
            ItemWrite::Put(item) => {
                let place = self.by_key(item).or_else(|| self.by_uid(&item.uid));
                self.set(item, place)
            }
        }
    }

    /// Puts the item in its place; an older row that is there lends its uid.
    fn set(&mut self, item: &Item, place: Option<i64>) -> i64 {
        let id = place.unwrap_or(self.last + 1);
        let uid = self
            .items
            .remove(&id)
            .map_or_else(|| item.uid.clone(), |old| old.uid);
        if let Some(other) = self.by_key(item) {
            self.items.remove(&other);
        }
        self.last = self.last.max(id);
        self.items.insert(
            id,
            Item {
                id,
                uid,
                ..item.clone()
            },
        );
        id
    }

    fn put_file(&mut self, file: &FileRecord) {
        let key = (file.project.clone(), file.folder.clone(), file.name.clone());
        let mut new = file.clone();
        if let Some(old) = self.files.get(&key) {
            if new.state == FileState::Seen && old.state != FileState::Seen {
                new = FileRecord {
                    holds: new.holds,
                    anchor: new.anchor,
                    ..old.clone()
                };
            }
            new.anchor = match (new.anchor, old.anchor) {
                (Some(new), Some(old)) if (new.size, new.hash) == (old.size, old.hash) => {
                    Some(FileFingerprint {
                        since: old.since,
                        ..new
                    })
                }
                (new, old) => new.or(old),
            };
            if new.holds.is_empty() {
                new.holds.clone_from(&old.holds);
            }
            if new.from.is_none() && old.state != FileState::Removed {
                new.from.clone_from(&old.from);
            }
        }
        self.files.insert(key, new);
    }

    fn sorted(&self, filter: &Filter) -> Vec<&Item> {
        let mut rows: Vec<&Item> = self
            .items
            .values()
            .filter(|item| fits(item, filter))
            .collect();
        rows.sort_by_key(|item| (item.time, item.id));
        rows
    }

    fn session_fits(&self, id: &str, filter: &Filter) -> bool {
        let session = self.sessions.get(id);
        let project = session.map(|session| &session.project);
        let agent = session.map(|session| &session.agent);
        filter.session.as_deref().is_none_or(|wanted| wanted == id)
            && (filter.project.is_none() || filter.project.as_ref() == project)
            && (filter.agent.is_none() || filter.agent.as_ref() == agent)
    }
}

fn page<T>(mut rows: Vec<T>, order: SortOrder, limit: usize, skip: impl Fn(&T) -> bool) -> Vec<T> {
    if order == SortOrder::Newest {
        rows.reverse();
    }
    rows.into_iter()
        .filter(|row| !skip(row))
        .take(limit)
        .collect()
}

impl Store for MemoryStore {
    fn are_known(&self, events: &[EventKey<'_>]) -> Result<Vec<bool>> {
        let state = self.state();
        Ok(events.iter().map(|key| state.knows(*key)).collect())
    }

    fn store_batch(&self, prepared: &PreparedBatch<'_>) -> Result<Vec<i64>> {
        let batch = prepared.batch;
        let mut state = self.state();
        for event in &batch.events {
            let key = EventKey {
                id: &event.id,
                call: event.call.as_deref(),
            };
            if !state.knows(key) {
                state.events.push(event.clone());
            }
        }
        for project in &batch.projects {
            state.projects.insert(project.key.clone(), project.clone());
        }
        for session in &batch.sessions {
            state.sessions.insert(session.id.clone(), session.clone());
        }
        let overrides = state.override_all(&batch.overrides);
        let writes = prepared.writes();
        let numbers = writes.map(|(write, prepared)| state.write(write, prepared, &overrides));
        let numbers = numbers.collect();
        for file in &batch.files {
            state.put_file(file);
        }
        for given in &batch.injections {
            let key = (given.session.clone(), given.line);
            state.injections.entry(key).or_insert_with(|| given.clone());
        }
        for (session, line, used) in &batch.uses {
            if let Some(given) = state.injections.get_mut(&(session.clone(), *line)) {
                given.used.get_or_insert_with(|| used.clone());
            }
        }
        Ok(numbers)
    }

    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        let state = self.state();
        let mut rows = state.sorted(filter);
        rows.reverse();
        rows.retain(|item| query.allows_texts(list_texts(item).map(String::as_str)));
        if query.is_blank() {
            let hit = |item: &Item| Hit {
                item: item.clone(),
                score: 0.0,
                all_words: true,
                any_words: true,
                parts: ScoreParts::default(),
                fit: MatchStrength::default(),
                same: Vec::new(),
            };
            return Ok(rows.into_iter().take(limit).map(hit).collect());
        }
        let rows: Vec<(&Item, HashSet<&str>)> = rows
            .into_iter()
            .map(|item| (item, terms(state.prepared.get(&item.id))))
            .collect();
        let mut hits: Vec<Hit> = rows
            .iter()
            .map(|(item, _)| Hit {
                item: (*item).clone(),
                score: 0.0,
                all_words: !query.groups().is_empty(),
                any_words: true,
                parts: ScoreParts::default(),
                fit: MatchStrength::default(),
                same: Vec::new(),
            })
            .collect();
        let mut most = 0.0;
        for group in query.groups() {
            let mut held: Vec<bool> = rows
                .iter()
                .map(|(item, terms)| holds(group, item, terms))
                .collect();
            if !held.contains(&true) {
                held = rows.iter().map(|(_, terms)| begins(group, terms)).collect();
            }
            let count =
                u32::try_from(held.iter().filter(|held| **held).count()).unwrap_or(u32::MAX);
            let idf = idf(state.items.len(), count);
            most += idf;
            for (hit, held) in hits.iter_mut().zip(held) {
                if held {
                    hit.score += 1.0 / (1.0 + f64::from(count)).ln();
                    hit.fit.weight += idf;
                } else {
                    hit.all_words = false;
                }
            }
        }
        fill_fit(&mut hits, query, most, &state.prepared);
        hits.retain(|hit| hit.score > 0.0);
        hits.sort_by(|a, b| {
            b.all_words
                .cmp(&a.all_words)
                .then(b.score.total_cmp(&a.score))
        });
        let mut told: Vec<Hit> = Vec::new();
        for hit in hits {
            let says = |item: &Item| (item.project.clone(), item.title.clone(), item.text.clone());
            match told
                .iter_mut()
                .find(|one| says(&one.item) == says(&hit.item))
            {
                Some(one) => one.same.push(hit.item.id),
                None => told.push(hit),
            }
        }
        told.truncate(limit);
        Ok(told)
    }

    fn find_items(&self, names: &[ItemRef]) -> Result<Vec<Item>> {
        let state = self.state();
        let find = |name: &ItemRef| match name {
            ItemRef::Id(id) => state.items.get(id),
            ItemRef::Uid(uid) => {
                let imported = || {
                    state
                        .items
                        .values()
                        .find(|item| item.external_id.as_deref() == Some(uid.as_str()))
                };
                state
                    .items
                    .values()
                    .find(|item| &item.uid == uid)
                    .or_else(imported)
            }
        };
        Ok(names.iter().filter_map(find).cloned().collect())
    }

    fn list_items(&self, filter: &Filter, at: PageRequest) -> Result<Vec<Item>> {
        let state = self.state();
        let beyond = at
            .beyond
            .map(|id| (state.items.get(&id).map(|item| item.time), id));
        let skip = |item: &&Item| {
            let place =
                |time: Option<i64>, id: i64| (time.map(|_| item.time), item.id).cmp(&(time, id));
            beyond.is_some_and(|(time, id)| match at.order {
                SortOrder::Oldest => place(time, id).is_le(),
                SortOrder::Newest => place(time, id).is_ge(),
            })
        };
        Ok(page(state.sorted(filter), at.order, at.limit, skip)
            .into_iter()
            .cloned()
            .collect())
    }

    fn list_sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>> {
        let state = self.state();
        let mut rows: Vec<Session> = state
            .sessions
            .values()
            .filter(|session| state.session_fits(&session.id, filter))
            .filter(|session| filter.since.is_none_or(|since| session.last >= since))
            .filter(|session| filter.until.is_none_or(|until| session.started < until))
            .cloned()
            .collect();
        rows.sort_by_key(|session| std::cmp::Reverse(session.last));
        rows.truncate(limit);
        Ok(rows)
    }

    fn list_events(&self, filter: &Filter, at: PageRequest) -> Result<Vec<LoggedEvent>> {
        let state = self.state();
        let mut rows: Vec<LoggedEvent> = state
            .events
            .iter()
            .filter(|event| state.session_fits(&event.session, filter))
            .filter(|event| filter.since.is_none_or(|since| event.time >= since))
            .filter(|event| filter.until.is_none_or(|until| event.time < until))
            .cloned()
            .collect();
        rows.sort_by_key(|event| event.time);
        let skip = |event: &LoggedEvent| {
            at.beyond.is_some_and(|moment| match at.order {
                SortOrder::Oldest => event.time <= moment,
                SortOrder::Newest => event.time >= moment,
            })
        };
        Ok(page(rows, at.order, at.limit, skip))
    }

    fn list_projects(&self) -> Result<Vec<Project>> {
        let mut rows: Vec<Project> = self.state().projects.values().cloned().collect();
        rows.sort_by(|a, b| (&a.name, &a.key).cmp(&(&b.name, &b.key)));
        Ok(rows)
    }

    fn list_files(&self, project: &str, folder: Option<&str>) -> Result<Vec<FileRecord>> {
        let state = self.state();
        let fits = |file: &&FileRecord| {
            file.project == project && folder.is_none_or(|folder| file.folder == folder)
        };
        Ok(state.files.values().filter(fits).cloned().collect())
    }

    fn find_file(&self, project: &str, folder: &str, name: &str) -> Result<Option<FileRecord>> {
        let key = (project.into(), folder.to_owned(), name.to_owned());
        Ok(self.state().files.get(&key).cloned())
    }

    fn list_injections(&self, filter: &Filter, limit: usize) -> Result<Vec<Injection>> {
        let state = self.state();
        let fits = |given: &&Injection| {
            let session = Filter {
                since: None,
                until: None,
                ..filter.clone()
            };
            filter.since.is_none_or(|since| given.time >= since)
                && filter.until.is_none_or(|until| given.time < until)
                && state.session_fits(&given.session, &session)
        };
        let mut rows: Vec<Injection> = state.injections.values().filter(fits).cloned().collect();
        rows.sort_by_key(|row| (row.time, row.line));
        rows.truncate(limit);
        Ok(rows)
    }

    fn find_by_key(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>> {
        let state = self.state();
        let is = |item: &&Item| {
            item.project == project && item.kind == kind && item.key.as_deref() == Some(key)
        };
        Ok(state.items.values().find(is).cloned())
    }

    fn details(
        &self,
        project: &str,
        kind: Kind,
        holding: Option<&Query>,
        limit: usize,
    ) -> Result<Vec<DetailRow>> {
        let state = self.state();
        let groups = holding.map_or(&[][..], Query::groups);
        let is_held = |item: &&&Item| {
            let terms = terms(state.prepared.get(&item.id));
            let missing = groups.iter().filter(|group| !holds(group, item, &terms));
            missing.count() <= usize::from(groups.len() > 2)
        };
        let rows = state.sorted(&Filter {
            project: Some(project.into()),
            kinds: vec![kind],
            ..Filter::default()
        });
        let rows = rows.iter().rev().filter(is_held).take(limit);
        let details = rows.map(|item| DetailRow {
            id: item.id,
            last_time: item.time.max(item.last_time),
            detail: item
                .detail
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        });
        Ok(details.collect())
    }

    fn count_contents(&self) -> Result<StoreStats> {
        let state = self.state();
        let of = |kind: Kind| {
            state
                .items
                .values()
                .filter(|item| item.kind == kind)
                .count() as u64
        };
        let items = Kind::ALL
            .iter()
            .map(|kind| (*kind, of(*kind)))
            .filter(|(_, count)| *count > 0);
        let mut agents = BTreeMap::new();
        for session in state.sessions.values() {
            *agents.entry(session.agent.clone()).or_default() += 1;
        }
        Ok(StoreStats {
            events: state.events.len() as u64,
            items: items.collect(),
            sessions: state.sessions.len() as u64,
            agents: agents.into_iter().collect(),
            projects: state.projects.len() as u64,
            bytes: 0,
        })
    }

    fn list_unembedded(&self, model: &str, limit: usize) -> Result<Vec<Item>> {
        let state = self.state();
        let waits = state
            .items
            .values()
            .rev()
            .filter(|item| !state.means(item, model));
        Ok(waits.take(limit).cloned().collect())
    }

    fn unembedded_count(&self, model: &str) -> Result<u64> {
        Ok(self.list_unembedded(model, usize::MAX)?.len() as u64)
    }

    fn store_embeddings(&self, model: &str, meanings: &[(i64, Embedding)]) -> Result<()> {
        let mut state = self.state();
        state.meanings.retain(|_, (of, _, _)| of == model);
        for (id, meaning) in meanings {
            if let Some(item) = state.items.get(id).cloned() {
                let entry = (
                    model.to_owned(),
                    embedding_text::build_embedding_text(&item),
                    meaning.clone(),
                );
                state.meanings.insert(*id, entry);
            }
        }
        Ok(())
    }

    fn forget_meanings(&self) -> Result<()> {
        self.state().meanings.clear();
        Ok(())
    }

    fn optimize_index(&self) -> Result<IndexState> {
        Ok(IndexState::Wholly)
    }

    fn remove(&self, names: &[ItemRef]) -> Result<()> {
        let rows = self.find_items(names)?;
        let mut state = self.state();
        for row in rows {
            state.items.remove(&row.id);
        }
        Ok(())
    }

    fn list_overrides(&self, project: Option<&str>) -> Result<Vec<Override>> {
        let state = self.state();
        let all = state.overrides.values();
        let all = all.filter(|known| project.is_none_or(|key| known.project == key));
        Ok(all.cloned().collect())
    }

    fn erase(&self, erase: &ErasePlan) -> Result<()> {
        self.state().erase(erase);
        Ok(())
    }

    fn prune(&self, prune: &PruneRequest, run: PruneMode) -> Result<u64> {
        Ok(self.state().prune(prune, run))
    }
}
