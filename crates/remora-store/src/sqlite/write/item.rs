//! Writing one item: which row it goes to, and everything that belongs to a row:
//! terms, embeddings, files and counters. Runs inside the batch's transaction.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use remora_core::record::{Item, Override};
use remora_memory::overrides::Overrides;
use remora_memory::prepare::{ItemPreparer, PreparedItem};
use remora_memory::store::{ItemWrite, LookTools, Result};
use remora_memory::term_weights::PackedWeights;
use rusqlite::{Connection, OptionalExtension, params};

use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::ids::{Id, OwnedId};
use crate::sqlite::injectable_terms;
use crate::sqlite::names::{Interner, StringTable, find_string_id, kind_code};
use crate::sqlite::rows::{self, ItemLists};
use crate::sqlite::vectors;

/// Which row an item is written to.
#[derive(Debug, Default)]
struct WriteTarget {
    /// The id it keeps, because users and models may have quoted it as `#12`.
    id: Option<i64>,
    /// The uid it keeps, if it replaces an item that was stored under another:
    /// overrides are recorded by uid and must still find it.
    uid: Option<String>,
}

impl WriteTarget {
    fn from_row_id(id: i64) -> Self {
        Self {
            id: Some(id),
            uid: None,
        }
    }
}

/// Writes the items of a batch.
pub(in crate::sqlite) struct ItemWriter<'c> {
    tx: &'c Connection,
    looks: LookTools,
    /// Change in the number of items, by kind.
    kinds: HashMap<i64, i64>,
    /// Change in the number of items and of words, by project.
    projects: HashMap<i64, (i64, i64)>,
    /// What users have said about items.
    overrides: Overrides,
    /// What the full-text index is to hold of rows that changed. In the order of the
    /// ids: FTS5 writes a segment, and merges others, whenever an id is smaller than
    /// the one before.
    index: BTreeMap<i64, IndexChange>,
}

/// What becomes of a row's entry in the full-text index.
#[derive(Debug, Default)]
struct IndexChange {
    /// Whether the index held the row before the batch.
    is_indexed: bool,
    /// Its terms; none if the row is gone.
    terms: Option<String>,
}

impl<'c> ItemWriter<'c> {
    pub(in crate::sqlite) fn new(tx: &'c Connection, looks: LookTools) -> Self {
        Self {
            tx,
            looks,
            kinds: HashMap::new(),
            projects: HashMap::new(),
            overrides: Overrides::default(),
            index: BTreeMap::new(),
        }
    }

    /// Applies these overrides to every item written from now on.
    pub(super) fn set_overrides(&mut self, overrides: Vec<Override>) {
        self.overrides = Overrides::new(overrides);
    }

    /// Writes one item and returns its id.
    pub(in crate::sqlite) fn write_item(
        &mut self,
        names: &mut Interner<'_>,
        write: &ItemWrite,
        prepared: Option<&PreparedItem>,
    ) -> Result<i64> {
        // A claim that the user rejected is not stored again under another uid; it
        // only counts as one more repetition of the rejected item.
        if let ItemWrite::Add(item) | ItemWrite::Put(item) | ItemWrite::Keep(item) = write
            && let Some(tombstone) = self.overrides.find_tombstone(item)
        {
            return self.record_repeat(&tombstone.uid, item.time);
        }
        let (item, place) = match write {
            ItemWrite::Again { uid, time } => return self.record_repeat(uid, *time),
            ItemWrite::Add(item) => (item, self.by_uid_or_key(item)?),
            ItemWrite::Put(item) => (item, self.by_key_or_uid(item)?),
            ItemWrite::Keep(item) => (item, self.by_number(item)?),
        };
        // Removed and inserted, not updated: terms, embeddings, files and counters
        // are taken out by the old values and put in by the new ones.
        if let Some(id) = place.id {
            self.remove(id)?;
        }
        // Edits are applied here and nowhere else, so that worker, import, rebuild
        // and join need to know nothing of them.
        let edited = self.overrides.apply_edit(item, place.uid.as_deref());
        match (&edited, prepared) {
            (None, Some(prepared)) => self.insert(names, item, prepared, &place),
            (edited, _) => {
                let item = edited.as_ref().unwrap_or(item);
                let prepared = ItemPreparer::default().prepare_item(item);
                self.insert(names, item, &prepared, &place)
            }
        }
    }

    /// Writes the full-text index and the counters, once per batch instead of once
    /// per item.
    pub(in crate::sqlite) fn finish_batch(self) -> Result<()> {
        for (id, change) in self.index {
            if change.is_indexed {
                self.tx
                    .prepare_cached("DELETE FROM words WHERE rowid = ?1")
                    .store_err()?
                    .execute([id])
                    .store_err()?;
            }
            if let Some(terms) = change.terms {
                insert_words(self.tx, id, &terms)?;
            }
        }
        for (kind, items) in self.kinds {
            self.tx
                .prepare_cached(
                    "INSERT INTO kinds (kind, items) VALUES (?1, ?2)
                     ON CONFLICT (kind) DO UPDATE SET items = items + excluded.items",
                )
                .store_err()?
                .execute([kind, items])
                .store_err()?;
        }
        for (project, (items, words)) in self.projects {
            self.tx
                .prepare_cached(
                    "INSERT INTO projects (id, items, words) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE SET
                        items = items + excluded.items, words = words + excluded.words",
                )
                .store_err()?
                .execute([project, items, words])
                .store_err()?;
        }
        Ok(())
    }

    /// Counts an item up and returns its id; 0, which no item has, if it is gone.
    fn record_repeat(&self, uid: &str, time: i64) -> Result<i64> {
        let id: Option<i64> = self
            .tx
            .prepare_cached(
                "UPDATE items SET seen = seen + 1, last_time = max(last_time, ?2)
                 WHERE uid = ?1 RETURNING id",
            )
            .store_err()?
            .query_row(params![Id(uid), time], |row| row.get(0))
            .optional()
            .store_err()?;
        Ok(id.unwrap_or(0))
    }

    fn exists(&self, id: i64) -> Result<bool> {
        self.tx
            .prepare_cached("SELECT 1 FROM items WHERE id = ?1")
            .store_err()?
            .exists([id])
            .store_err()
    }

    fn uid_row(&self, uid: &str) -> Result<Option<i64>> {
        self.tx
            .prepare_cached("SELECT id FROM items WHERE uid = ?1")
            .store_err()?
            .query_row([Id(uid)], |row| row.get(0))
            .optional()
            .store_err()
    }

    fn key_row(&self, item: &Item) -> Result<Option<(i64, String)>> {
        let Some(key) = &item.key else {
            return Ok(None);
        };
        let Some(project) = find_string_id(self.tx, StringTable::Names, &item.project)? else {
            return Ok(None);
        };
        self.tx
            .prepare_cached(
                "SELECT id, uid FROM items WHERE project = ?1 AND kind = ?2 AND key = ?3",
            )
            .store_err()?
            .query_row(params![project, kind_code(item.kind), key], |row| {
                Ok((row.get(0)?, row.get::<_, OwnedId>(1)?.0))
            })
            .optional()
            .store_err()
    }

    /// The uid decides; items with the same key are one.
    fn by_uid_or_key(&mut self, item: &Item) -> Result<WriteTarget> {
        let same = self.uid_row(&item.uid)?;
        match (same, self.key_row(item)?) {
            (Some(id), Some((other, _))) if other != id => {
                // The unique index on keys would refuse the write otherwise.
                self.remove(other)?;
                Ok(WriteTarget::from_row_id(id))
            }
            (Some(id), _) => Ok(WriteTarget::from_row_id(id)),
            (None, Some((id, uid))) => Ok(WriteTarget {
                id: Some(id),
                uid: Some(uid),
            }),
            (None, None) => Ok(WriteTarget::default()),
        }
    }

    /// The key decides; the row keeps its id and its uid.
    fn by_key_or_uid(&mut self, item: &Item) -> Result<WriteTarget> {
        match self.key_row(item)? {
            Some((id, uid)) => Ok(WriteTarget {
                id: Some(id),
                uid: Some(uid),
            }),
            None => self.by_uid_or_key(item),
        }
    }

    /// The item's own id decides, unless another row has it. This is how a rebuild
    /// keeps the ids that were quoted before.
    fn by_number(&mut self, item: &Item) -> Result<WriteTarget> {
        let mut place = self.by_uid_or_key(item)?;
        if item.id > 0 && place.id != Some(item.id) && !self.exists(item.id)? {
            if let Some(old) = place.id {
                self.remove(old)?;
            }
            place.id = Some(item.id);
        }
        Ok(place)
    }

    /// Removes a row with everything that belongs to it.
    pub(in crate::sqlite) fn remove(&mut self, id: i64) -> Result<()> {
        // What the other tables must forget is known only from the row itself:
        // the index is contentless, and `item_files` is keyed by kind and time.
        let row: Option<(i64, i64, u16, Option<String>, i64)> = self
            .tx
            .prepare_cached(
                "DELETE FROM items WHERE id = ?1 RETURNING kind, project, vec, lists, time",
            )
            .store_err()?
            .query_row([id], |row| {
                let vec: Vec<u8> = row.get(2)?;
                let words = PackedWeights(&vec).word_count();
                Ok((row.get(0)?, row.get(1)?, words, row.get(3)?, row.get(4)?))
            })
            .optional()
            .store_err()?;
        let Some((kind, project, words, lists, time)) = row else {
            return Ok(());
        };
        let added = self.index.get(&id).is_some_and(|row| !row.is_indexed);
        self.index.insert(
            id,
            IndexChange {
                is_indexed: !added,
                terms: None,
            },
        );
        vectors::drop_item(self.tx, id)?;
        let lists = ItemLists::from_json(lists.as_deref());
        for path in lists.read.iter().chain(&lists.modified) {
            self.tx
                .prepare_cached(
                    "DELETE FROM item_files
                     WHERE path = ?1 AND project = ?2 AND kind = ?3 AND time = ?4 AND item = ?5",
                )
                .store_err()?
                .execute([*path, project, kind, time, id])
                .store_err()?;
        }
        self.count(kind, project, -1, -i64::from(words));
        Ok(())
    }

    fn count(&mut self, kind: i64, project: i64, items: i64, words: i64) {
        *self.kinds.entry(kind).or_default() += items;
        let of = self.projects.entry(project).or_default();
        of.0 += items;
        of.1 += words;
    }

    fn insert(
        &mut self,
        names: &mut Interner<'_>,
        item: &Item,
        prepared: &PreparedItem,
        place: &WriteTarget,
    ) -> Result<i64> {
        let kind = kind_code(item.kind);
        let project = names.name(&item.project)?;
        let session = names.name(&item.session)?;
        let agent = names.name(&item.agent)?;
        let branch = names.name_of(item.branch.as_deref())?;
        let subagent = names.name_of(item.subagent.as_deref())?;
        let speaker = names.name_of(item.speaker.as_deref())?;
        let tool = names.name_of(item.tool.as_deref())?;
        let mut paths = |files: &[String]| -> Result<Vec<i64>> {
            files
                .iter()
                .map(|file| names.intern_string(StringTable::Paths, file))
                .collect()
        };
        let lists = ItemLists {
            facts: item.facts.clone(),
            concepts: item.concepts.clone(),
            read: paths(&item.files_read)?,
            modified: paths(&item.files_modified)?,
        };
        self.tx.prepare_cached(
        "INSERT INTO items (id, kind, project, session, agent, time, vec, uid, external, key,
            last_time, seen, prompt, branch, subagent, speaker, tool, tool_use_id, raw_tokens,
            digest_tokens, title, lists, detail, text)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19, ?20, ?21, ?22, ?23, ?24)",
    )
    .store_err()?
    .execute(params![
        place.id,
        kind,
        project,
        session,
        agent,
        item.time,
        prepared.weights,
        Id(place.uid.as_deref().unwrap_or(&item.uid)),
        item.external_id,
        item.key,
        item.last_time,
        item.seen,
        item.prompt,
        branch,
        subagent,
        speaker,
        tool,
        item.tool_use_id,
        item.raw_tokens,
        item.digest_tokens,
        item.title,
        lists.to_json(),
        item.detail.as_ref().map(ToString::to_string),
        item.text
    ])
    .store_err()?;
        let id = self.tx.last_insert_rowid();
        let tags = [project, kind, agent];
        let terms = add_row_terms(prepared.terms.clone(), self.looks, item, tags);
        self.index.entry(id).or_default().terms = Some(terms);
        if let Some(gist) = &prepared.gist {
            vectors::put_gist(self.tx, id, gist)?;
        }
        // The encoder takes milliseconds per text, so its embedding comes later; the
        // static one above takes microseconds and is written with the item.
        vectors::enqueue_item(self.tx, id)?;
        for path in lists.read.iter().chain(&lists.modified) {
            self.tx
                .prepare_cached(
                    "INSERT OR IGNORE INTO item_files (path, project, kind, time, item)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .store_err()?
                .execute([*path, project, kind, item.time, id])
                .store_err()?;
        }
        self.count(kind, project, 1, i64::from(prepared.words));
        Ok(id)
    }
}

/// Adds to an item's terms its injectable terms, and those of its row: project, kind
/// and agent are terms as well, so that a filter is part of the same index query. No
/// word begins with `_`, so none can pass for one of them.
fn add_row_terms(
    mut terms: String,
    looks: LookTools,
    item: &Item,
    [project, kind, agent]: [i64; 3],
) -> String {
    injectable_terms::add_injectable_terms(&mut terms, item, project, looks);
    // Writing to a string cannot fail.
    let _ = write!(terms, " _p{project} _k{kind} _a{agent}");
    terms
}

fn insert_words(tx: &Connection, id: i64, terms: &str) -> Result<()> {
    tx.prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")
        .store_err()?
        .execute(params![id, terms])
        .store_err()?;
    Ok(())
}

/// How many items `list_words` holds in memory at a time.
const CHUNK_ITEMS: usize = 500;

/// Indexes the terms of all items, into an index that a migration has emptied.
pub(crate) fn list_words(tx: &Connection, looks: LookTools) -> Result<()> {
    let mut preparer = ItemPreparer::default();
    let mut after = 0;
    loop {
        let rows: Vec<[i64; 4]> = tx
            .prepare_cached(
                "SELECT id, project, kind, agent FROM items WHERE id > ?1 ORDER BY id LIMIT ?2",
            )
            .store_err()?
            .query_map(params![after, CHUNK_ITEMS], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
            })
            .store_err()?
            .collect::<rusqlite::Result<_>>()
            .store_err()?;
        let Some([last, ..]) = rows.last() else {
            return Ok(());
        };
        after = *last;
        let ids: Vec<i64> = rows.iter().map(|[id, ..]| *id).collect();
        for ([id, tags @ ..], item) in rows.into_iter().zip(rows::read_items(tx, &ids)?) {
            let terms = add_row_terms(preparer.list_terms(&item), looks, &item, tags);
            insert_words(tx, id, &terms)?;
        }
    }
}
