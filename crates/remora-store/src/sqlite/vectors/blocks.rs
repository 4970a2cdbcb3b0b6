//! The blocks of sketches in their tables: where a new entry goes, and removing
//! one. Changes are collected in memory, and each block is written once.

use std::collections::HashMap;

use remora_memory::store::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::block::{EncodedEntry, MAX_ENTRIES, SketchBlock};
use crate::sqlite::errors::StoreResultExt;

/// The tables of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SketchTable {
    /// The sketches of all items.
    All,
    /// Those of what was said, once more.
    Said,
}

impl SketchTable {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "sketches",
            Self::Said => "said_sketches",
        }
    }
}

/// The blocks of a table that a transaction writes to.
pub(super) struct SketchBlocks<'c> {
    tx: &'c Connection,
    table: SketchTable,
    open: HashMap<i64, OpenBlock>,
    /// The block of each project that new entries go to.
    room: HashMap<i64, i64>,
}

struct OpenBlock {
    project: i64,
    block: SketchBlock,
}

impl<'c> SketchBlocks<'c> {
    pub(super) fn new(tx: &'c Connection, table: SketchTable) -> Self {
        Self {
            tx,
            table,
            open: HashMap::new(),
            room: HashMap::new(),
        }
    }

    /// Writes the entry of an item, over its old one if it has one in the block
    /// `old`. Returns the block that it is in now.
    pub(super) fn write_entry(
        &mut self,
        project: i64,
        old: Option<i64>,
        entry: &EncodedEntry,
    ) -> Result<i64> {
        let item = entry.item();
        if let Some(id) = old
            && let Some(open) = self.open_block(id)?
            && open.block.contains_item(item)
        {
            if open.project == project {
                open.block.write_entry(entry);
                return Ok(id);
            }
            // A block belongs to one project, so that a search reads only its own.
            open.block.clear(item);
        }
        if let Some(id) = self.room.get(&project)
            && let Some(open) = self.open.get_mut(id)
            && open.block.write_entry(entry)
        {
            return Ok(*id);
        }
        let id = self.with_room(project)?;
        self.room.insert(project, id);
        if let Some(open) = self.open.get_mut(&id) {
            open.block.write_entry(entry);
        }
        Ok(id)
    }

    /// Frees the slot of an item in this block.
    pub(super) fn clear_entry(&mut self, id: i64, item: i64) -> Result<()> {
        if let Some(open) = self.open_block(id)? {
            open.block.clear(item);
        }
        Ok(())
    }

    /// Writes all changed blocks.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        for (id, open) in self.open.drain() {
            save_block(self.tx, self.table, id, &open.block)?;
        }
        Ok(())
    }

    fn open_block(&mut self, id: i64) -> Result<Option<&mut OpenBlock>> {
        if !self.open.contains_key(&id)
            && let Some(open) = load_block(self.tx, self.table, id)?
        {
            self.open.insert(id, open);
        }
        Ok(self.open.get_mut(&id))
    }

    /// A block of the project with a free slot: the fullest, so that holes are
    /// filled first, or a new one.
    fn with_room(&mut self, project: i64) -> Result<i64> {
        // The query below reads `entries` from the table.
        self.flush()?;
        let found: Vec<i64> = self
            .tx
            .prepare_cached(&format!(
                "SELECT block FROM {} WHERE project = ?1 AND entries < ?2
                 ORDER BY entries DESC LIMIT 2",
                self.table.name()
            ))
            .store_err()?
            .query_map(params![project, MAX_ENTRIES as u64], |row| row.get(0))
            .store_err()?
            .collect::<rusqlite::Result<_>>()
            .store_err()?;
        for id in found {
            // The count may be wrong in a damaged row, hence the second candidate.
            if let Some(open) = self.open_block(id)?
                && open.block.used_entries() < MAX_ENTRIES
            {
                return Ok(id);
            }
        }
        self.tx
            .prepare_cached(&format!(
                "INSERT INTO {} (project, entries, data) VALUES (?1, 0, x'')",
                self.table.name()
            ))
            .store_err()?
            .execute([project])
            .store_err()?;
        let id = self.tx.last_insert_rowid();
        let block = SketchBlock::default();
        self.open.insert(id, OpenBlock { project, block });
        Ok(id)
    }
}

/// Frees the slot of an item and deletes a block that has no entries left.
pub(super) fn take_out(tx: &Connection, table: SketchTable, id: i64, item: i64) -> Result<()> {
    let Some(mut open) = load_block(tx, table, id)? else {
        return Ok(());
    };
    open.block.clear(item);
    save_block(tx, table, id, &open.block)
}

fn load_block(tx: &Connection, table: SketchTable, id: i64) -> Result<Option<OpenBlock>> {
    let table = table.name();
    tx.prepare_cached(&format!(
        "SELECT project, data FROM {table} WHERE block = ?1"
    ))
    .store_err()?
    .query_row([id], |row| {
        Ok(OpenBlock {
            project: row.get(0)?,
            block: SketchBlock::new(row.get_ref(1)?.as_blob().unwrap_or_default()),
        })
    })
    .optional()
    .store_err()
}

fn save_block(tx: &Connection, table: SketchTable, id: i64, block: &SketchBlock) -> Result<()> {
    let table = table.name();
    let used = block.used_entries();
    if used == 0 {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE block = ?1"))
            .store_err()?
            .execute([id])
            .store_err()?;
        return Ok(());
    }
    tx.prepare_cached(&format!(
        "UPDATE {table} SET entries = ?2, data = ?3 WHERE block = ?1"
    ))
    .store_err()?
    .execute(params![id, used as u64, block.to_bytes()])
    .store_err()?;
    Ok(())
}
