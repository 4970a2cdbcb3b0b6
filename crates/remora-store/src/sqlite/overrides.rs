//! What users have said about items: few rows, all of them read before items
//! are written, and those of one project at a recall.

use remora_core::record::Override;
use remora_memory::store::Result;
use rusqlite::{Connection, Row, params};

use super::errors::StoreResultExt;
use crate::migrate;

/// Whether the file has the table: a reader may open a file of an older schema
/// before the worker has migrated it.
fn is_there(conn: &Connection) -> Result<bool> {
    Ok(migrate::read_version(conn)? >= migrate::OVERRIDES_VERSION)
}

/// The overrides of a project, or all of them.
pub(super) fn list_overrides(conn: &Connection, project: Option<&str>) -> Result<Vec<Override>> {
    if !is_there(conn)? {
        return Ok(Vec::new());
    }
    conn.prepare_cached(
        "SELECT uid, project, statement, pinned, rejected, edit FROM overrides
         WHERE ?1 IS NULL OR project = ?1 ORDER BY uid",
    )
    .store_err()?
    .query_map([project], read_override)
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

fn read_override(row: &Row<'_>) -> rusqlite::Result<Override> {
    let json = |at: usize| row.get::<_, Option<String>>(at);
    // An unreadable value is left out: failing would cost the user all the others.
    let rejected = json(4)?.and_then(|text| serde_json::from_str(&text).ok());
    let edit = json(5)?.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Override {
        uid: row.get::<_, String>(0)?.into(),
        project: row.get::<_, String>(1)?.into(),
        statement: row.get(2)?,
        pinned: row.get(3)?,
        rejected,
        edit,
    })
}

/// Writes one override in place of an earlier one; an empty one removes it.
pub(super) fn write_override(tx: &Connection, one: &Override) -> Result<()> {
    drop_override(tx, &one.uid)?;
    if one.is_empty() {
        return Ok(());
    }
    let json = |value: Option<serde_json::Result<String>>| {
        // Serializing cannot fail: the types hold strings and numbers only.
        value.and_then(std::result::Result::ok)
    };
    tx.prepare_cached(
        "INSERT INTO overrides (uid, project, statement, pinned, rejected, edit)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .store_err()?
    .execute(params![
        one.uid.as_str(),
        one.project.as_str(),
        one.statement,
        one.pinned,
        json(one.rejected.as_ref().map(serde_json::to_string)),
        json(one.edit.as_ref().map(serde_json::to_string)),
    ])
    .store_err()?;
    Ok(())
}

/// Removes the override of an item.
pub(super) fn drop_override(tx: &Connection, uid: &str) -> Result<()> {
    tx.prepare_cached("DELETE FROM overrides WHERE uid = ?1")
        .store_err()?
        .execute([uid])
        .store_err()?;
    Ok(())
}
