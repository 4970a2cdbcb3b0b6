//! Writing one item: where it goes, and everything that hangs on a row: words,
//! files and counters. Runs inside the transaction of its batch.

use std::collections::HashMap;
use std::fmt::Write as _;

use remora_memory::about;
use remora_memory::overrides::Overrides;
use remora_memory::store::{Result, Write};
use remora_memory::words::Splitter;
use remora_protocol::record::{Item, Override};
use rusqlite::{Connection, OptionalExtension, params};

use crate::sqlite::errors::Told;
use crate::sqlite::ids::{Id, OwnedId};
use crate::sqlite::lists;
use crate::sqlite::names::{Interner, Table, find, kind_code};
use crate::sqlite::rows::{self, Lists};
use crate::sqlite::vectors;
use crate::sqlite::weigh::{Weighed, Weights, weigh};
use crate::sqlite::write::Tools;

/// Where an item goes.
#[derive(Debug, Default)]
struct Place {
    /// Its number, if it is fixed already.
    id: Option<i64>,
    /// Its uid, if it keeps an older one.
    uid: Option<String>,
}

impl Place {
    fn row(id: i64) -> Self {
        Self {
            id: Some(id),
            uid: None,
        }
    }
}

/// Writes the items of a batch.
pub(in crate::sqlite) struct ItemWriter<'c> {
    tx: &'c Connection,
    tools: &'c mut Tools,
    /// How many rows came, by kind.
    kinds: HashMap<i64, i64>,
    /// How many rows and words came, by project.
    projects: HashMap<i64, (i64, i64)>,
    /// What users said of items.
    overrides: Overrides,
}

impl<'c> ItemWriter<'c> {
    pub(in crate::sqlite) fn new(tx: &'c Connection, tools: &'c mut Tools) -> Self {
        Self {
            tx,
            tools,
            kinds: HashMap::new(),
            projects: HashMap::new(),
            overrides: Overrides::default(),
        }
    }

    /// What is written from now on heeds what users said.
    pub(super) fn heed(&mut self, overrides: Vec<Override>) {
        self.overrides = Overrides::new(overrides);
    }

    /// Writes one item and returns its number.
    pub(in crate::sqlite) fn write(
        &mut self,
        names: &mut Interner<'_>,
        write: &Write,
    ) -> Result<i64> {
        if let Write::Add(item) | Write::Put(item) | Write::Keep(item) = write
            && let Some(tombstone) = self.overrides.tombstone(item)
        {
            return self.again(&tombstone.uid, item.time);
        }
        let (item, place) = match write {
            Write::Again { uid, time } => return self.again(uid, *time),
            Write::Add(item) => (item, self.by_uid_or_key(item)?),
            Write::Put(item) => (item, self.by_key_or_uid(item)?),
            Write::Keep(item) => (item, self.by_number(item)?),
        };
        if let Some(id) = place.id {
            self.remove(id)?;
        }
        let edited = self.overrides.edited(item, place.uid.as_deref());
        self.insert(names, edited.as_ref().unwrap_or(item), &place)
    }

    /// Brings the counters up to date; the last thing a batch does.
    pub(in crate::sqlite) fn finish(self) -> Result<()> {
        for (kind, items) in self.kinds {
            self.tx
                .prepare_cached(
                    "INSERT INTO kinds (kind, items) VALUES (?1, ?2)
                     ON CONFLICT (kind) DO UPDATE SET items = items + excluded.items",
                )
                .told()?
                .execute([kind, items])
                .told()?;
        }
        for (project, (items, words)) in self.projects {
            self.tx
                .prepare_cached(
                    "INSERT INTO projects (id, items, words) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE SET
                        items = items + excluded.items, words = words + excluded.words",
                )
                .told()?
                .execute([project, items, words])
                .told()?;
        }
        Ok(())
    }

    fn again(&self, uid: &str, time: i64) -> Result<i64> {
        let id: Option<i64> = self
            .tx
            .prepare_cached(
                "UPDATE items SET seen = seen + 1, last_time = max(last_time, ?2)
                 WHERE uid = ?1 RETURNING id",
            )
            .told()?
            .query_row(params![Id(uid), time], |row| row.get(0))
            .optional()
            .told()?;
        Ok(id.unwrap_or(0))
    }

    fn exists(&self, id: i64) -> Result<bool> {
        self.tx
            .prepare_cached("SELECT 1 FROM items WHERE id = ?1")
            .told()?
            .exists([id])
            .told()
    }

    fn uid_row(&self, uid: &str) -> Result<Option<i64>> {
        self.tx
            .prepare_cached("SELECT id FROM items WHERE uid = ?1")
            .told()?
            .query_row([Id(uid)], |row| row.get(0))
            .optional()
            .told()
    }

    fn key_row(&self, item: &Item) -> Result<Option<(i64, String)>> {
        let Some(key) = &item.key else {
            return Ok(None);
        };
        let Some(project) = find(self.tx, Table::Names, &item.project)? else {
            return Ok(None);
        };
        self.tx
            .prepare_cached(
                "SELECT id, uid FROM items WHERE project = ?1 AND kind = ?2 AND key = ?3",
            )
            .told()?
            .query_row(params![project, kind_code(item.kind), key], |row| {
                Ok((row.get(0)?, row.get::<_, OwnedId>(1)?.0))
            })
            .optional()
            .told()
    }

    /// The uid decides; rows with the same key are one.
    fn by_uid_or_key(&mut self, item: &Item) -> Result<Place> {
        let same = self.uid_row(&item.uid)?;
        match (same, self.key_row(item)?) {
            (Some(id), Some((other, _))) if other != id => {
                self.remove(other)?;
                Ok(Place::row(id))
            }
            (Some(id), _) => Ok(Place::row(id)),
            (None, Some((id, uid))) => Ok(Place {
                id: Some(id),
                uid: Some(uid),
            }),
            (None, None) => Ok(Place::default()),
        }
    }

    /// The key decides; the row keeps its number and its uid.
    fn by_key_or_uid(&mut self, item: &Item) -> Result<Place> {
        match self.key_row(item)? {
            Some((id, uid)) => Ok(Place {
                id: Some(id),
                uid: Some(uid),
            }),
            None => self.by_uid_or_key(item),
        }
    }

    /// The number decides, unless another row has it.
    fn by_number(&mut self, item: &Item) -> Result<Place> {
        let mut place = self.by_uid_or_key(item)?;
        if item.id > 0 && place.id != Some(item.id) && !self.exists(item.id)? {
            if let Some(old) = place.id {
                self.remove(old)?;
            }
            place.id = Some(item.id);
        }
        Ok(place)
    }

    /// Takes a row out, with everything that hangs on it.
    pub(in crate::sqlite) fn remove(&mut self, id: i64) -> Result<()> {
        let row: Option<(i64, i64, u16, Option<String>, i64)> = self
            .tx
            .prepare_cached(
                "DELETE FROM items WHERE id = ?1 RETURNING kind, project, vec, lists, time",
            )
            .told()?
            .query_row([id], |row| {
                let vec: Vec<u8> = row.get(2)?;
                let words = Weights(&vec).words();
                Ok((row.get(0)?, row.get(1)?, words, row.get(3)?, row.get(4)?))
            })
            .optional()
            .told()?;
        let Some((kind, project, words, lists, time)) = row else {
            return Ok(());
        };
        self.tx
            .prepare_cached("DELETE FROM words WHERE rowid = ?1")
            .told()?
            .execute([id])
            .told()?;
        vectors::drop_item(self.tx, id)?;
        let lists = Lists::from_json(lists.as_deref());
        for path in lists.read.iter().chain(&lists.modified) {
            self.tx
                .prepare_cached(
                    "DELETE FROM item_files
                     WHERE path = ?1 AND project = ?2 AND kind = ?3 AND time = ?4 AND item = ?5",
                )
                .told()?
                .execute([*path, project, kind, time, id])
                .told()?;
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

    fn insert(&mut self, names: &mut Interner<'_>, item: &Item, place: &Place) -> Result<i64> {
        let Weighed { terms, vec, words } = weigh(item, &mut self.tools.splitter);
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
                .map(|file| names.number(Table::Paths, file))
                .collect()
        };
        let lists = Lists {
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
    .told()?
    .execute(params![
        place.id,
        kind,
        project,
        session,
        agent,
        item.time,
        vec,
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
    .told()?;
        let id = self.tx.last_insert_rowid();
        put_words(self.tx, id, item, [project, kind, agent], terms)?;
        if let Some(gist) = self.tools.gister.gist(&about::gist_of(item)) {
            vectors::put_gist(self.tx, id, &gist)?;
        }
        vectors::enqueue(self.tx, id)?;
        for path in lists.read.iter().chain(&lists.modified) {
            self.tx
                .prepare_cached(
                    "INSERT OR IGNORE INTO item_files (path, project, kind, time, item)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .told()?
                .execute([*path, project, kind, item.time, id])
                .told()?;
        }
        self.count(kind, project, 1, i64::from(words));
        Ok(id)
    }
}

/// Puts an item's terms into the index, with the lists that it is in. What a
/// search filters by stands beside the words; no word begins with `_`.
fn put_words(
    tx: &Connection,
    id: i64,
    item: &Item,
    [project, kind, agent]: [i64; 3],
    mut terms: String,
) -> Result<()> {
    lists::list(&mut terms, item, project);
    // Writing to a string cannot fail.
    let _ = write!(terms, " _p{project} _k{kind} _a{agent}");
    tx.prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")
        .told()?
        .execute(params![id, terms])
        .told()?;
    Ok(())
}

/// How many items are read at a time.
const CHUNK: usize = 500;

/// Lists the words of all items, into an index that holds none.
pub(crate) fn list_words(tx: &Connection) -> Result<()> {
    let mut splitter = Splitter::default();
    let mut after = 0;
    loop {
        let rows: Vec<[i64; 4]> = tx
            .prepare_cached(
                "SELECT id, project, kind, agent FROM items WHERE id > ?1 ORDER BY id LIMIT ?2",
            )
            .told()?
            .query_map(params![after, CHUNK], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
            })
            .told()?
            .collect::<rusqlite::Result<_>>()
            .told()?;
        let Some([last, ..]) = rows.last() else {
            return Ok(());
        };
        after = *last;
        let ids: Vec<i64> = rows.iter().map(|[id, ..]| *id).collect();
        for ([id, tags @ ..], item) in rows.into_iter().zip(rows::items(tx, &ids)?) {
            put_words(tx, id, &item, tags, weigh(&item, &mut splitter).terms)?;
        }
    }
}
