//! Fills the sketches of what was said from those of all items, once, when a file
//! is brought up to the schema that has them apart.

use remora_memory::store::{LookTools, Result};
use rusqlite::{Connection, params};

use super::block::{self, EncodedEntry};
use super::blocks::{SketchBlocks, SketchTable};
use super::is_said;
use crate::sqlite::errors::StoreResultExt;

/// Lists the sketches of what was said.
pub(crate) fn list_said_sketches(tx: &Connection, _: LookTools) -> Result<()> {
    let mut said = SketchBlocks::new(tx, SketchTable::Said);
    let mut blocks = tx
        .prepare("SELECT project, data FROM sketches ORDER BY block")
        .store_err()?;
    let mut mark = tx
        .prepare("UPDATE vectors SET said = ?2 WHERE item = ?1")
        .store_err()?;
    let mut rows = blocks.query([]).store_err()?;
    while let Some(row) = rows.next().store_err()? {
        let project = row.get(0).store_err()?;
        let data = row.get_ref(1).store_err()?.as_blob().unwrap_or_default();
        for entry in block::iter_entries(data).filter(|entry| is_said(entry.kind.into())) {
            let place = said.write_entry(project, None, &EncodedEntry::copy_of(&entry))?;
            mark.execute(params![entry.item, place]).store_err()?;
        }
    }
    said.finish()
}
