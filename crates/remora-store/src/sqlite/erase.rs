//! Deleting for good: rows and everything that belongs to them in one
//! transaction, then what SQLite and its full-text index would keep on the disk.

use std::time::{Duration, Instant};

use remora_memory::store::{ErasePlan, LookTools, Result, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::errors::StoreResultExt;
use super::ids::Id;
use super::names::{StringTable, find_string_id};
use super::write::ItemWriter;
use super::{overrides, write};

/// How long to wait for readers that keep the journal from being truncated.
const READERS_TIMEOUT: Duration = Duration::from_secs(10);

/// Strings that no row refers to any more. A path or a branch name may itself be
/// what the user wanted gone.
const ORPHAN_DELETE_STATEMENTS: &[&str] = &[
    "DELETE FROM names WHERE id NOT IN (
        SELECT id FROM projects
        UNION SELECT id FROM sessions UNION SELECT agent FROM sessions
        UNION SELECT project FROM sessions
        UNION SELECT name FROM events UNION SELECT session FROM events
        UNION SELECT project FROM items UNION SELECT session FROM items
        UNION SELECT agent FROM items
        UNION SELECT branch FROM items WHERE branch IS NOT NULL
        UNION SELECT subagent FROM items WHERE subagent IS NOT NULL
        UNION SELECT speaker FROM items WHERE speaker IS NOT NULL
        UNION SELECT tool FROM items WHERE tool IS NOT NULL
        UNION SELECT project FROM folder_files UNION SELECT session FROM folder_files
        UNION SELECT session FROM given UNION SELECT project FROM sketches)",
    "DELETE FROM paths WHERE id NOT IN (SELECT path FROM item_files)",
];

/// Deletes the rows and every trace of them in the file and its journal.
pub(super) fn erase_rows(conn: &Connection, erase: &ErasePlan) -> Result<()> {
    conn.pragma_update(None, "secure_delete", true)
        .store_err()?;
    let done = delete_rows(conn, erase).and_then(|()| scrub_database(conn));
    // Also after a failure: this connection goes on writing batches, for which the
    // thorough mode would write more pages than needed.
    conn.pragma_update(None, "secure_delete", "FAST")
        .store_err()?;
    done
}

fn delete_rows(conn: &Connection, erase: &ErasePlan) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    let mut writer = ItemWriter::new(&tx, LookTools::default());
    for uid in &erase.items {
        let id: Option<i64> = tx
            .prepare_cached("SELECT id FROM items WHERE uid = ?1")
            .store_err()?
            .query_row([Id(uid)], |row| row.get(0))
            .optional()
            .store_err()?;
        if let Some(id) = id {
            writer.remove(id)?;
            tx.prepare_cached("DELETE FROM given WHERE item = ?1")
                .store_err()?
                .execute([format!("#{id}")])
                .store_err()?;
        }
        // Also without a row: an override outlives its item and quotes its words.
        overrides::drop_override(&tx, uid)?;
    }
    writer.finish_batch()?;
    for id in &erase.events {
        tx.prepare_cached("DELETE FROM events WHERE id = ?1")
            .store_err()?
            .execute([Id(id)])
            .store_err()?;
    }
    for session in &erase.sessions {
        let Some(session) = find_string_id(&tx, StringTable::Names, session)? else {
            continue;
        };
        for sql in [
            "DELETE FROM sessions WHERE id = ?1",
            "DELETE FROM given WHERE session = ?1",
        ] {
            tx.prepare_cached(sql)
                .store_err()?
                .execute([session])
                .store_err()?;
        }
    }
    for session in &erase.untitled {
        if let Some(session) = find_string_id(&tx, StringTable::Names, session)? {
            tx.prepare_cached("UPDATE sessions SET title = '' WHERE id = ?1")
                .store_err()?
                .execute([session])
                .store_err()?;
        }
    }
    for (project, folder, name) in &erase.files {
        if let Some(project) = find_string_id(&tx, StringTable::Names, project)? {
            write::drop_file(&tx, project, folder, name)?;
        }
    }
    for project in &erase.projects {
        if let Some(project) = find_string_id(&tx, StringTable::Names, project)? {
            tx.prepare_cached("DELETE FROM projects WHERE id = ?1")
                .store_err()?
                .execute([project])
                .store_err()?;
        }
    }
    for sql in ORPHAN_DELETE_STATEMENTS {
        tx.execute(sql, []).store_err()?;
    }
    tx.commit().store_err()
}

/// The full-text index keeps the terms of deleted rows until its segments are
/// merged; pages keep earlier versions of a row until they are written again; the
/// journal keeps both until it is truncated.
fn scrub_database(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO words (words) VALUES ('optimize')", [])
        .store_err()?;
    conn.execute_batch("VACUUM").store_err()?;
    let end = Instant::now() + READERS_TIMEOUT;
    loop {
        let busy: i64 = conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .store_err()?;
        if busy == 0 {
            return Ok(());
        }
        if Instant::now() > end {
            let text = "a reader holds on to the journal; what was deleted leaves it later";
            return Err(StoreError::Again(text.to_owned()));
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
