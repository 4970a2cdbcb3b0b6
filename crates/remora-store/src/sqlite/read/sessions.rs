//! Reading sessions, the most recently active first.

use remora_core::record::Session;
use remora_memory::store::{Filter, LookTools, Result};
use rusqlite::{Connection, params};

use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::names::StringReader;
use crate::sqlite::rows::{self, SESSION_COLUMNS};
use crate::sqlite::scope::ResolvedFilter;

/// Sessions, the most recently active first.
pub(crate) fn list_sessions(
    conn: &Connection,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Session>> {
    let texts = StringReader::new(conn);
    read_sessions(conn, SESSION_COLUMNS, filter, limit, |row| {
        rows::read_session(row, &texts)
    })
}

/// How many sessions that would list.
pub(crate) fn count_sessions(conn: &Connection, filter: &Filter, limit: usize) -> Result<usize> {
    let found = read_sessions(conn, "1", filter, limit, |_| Ok(()))?;
    Ok(found.len())
}

fn read_sessions<T>(
    conn: &Connection,
    columns: &str,
    filter: &Filter,
    limit: usize,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    // Sessions have no file, and a filter by an unknown path resolves to nothing.
    let filter = Filter {
        file: None,
        ..filter.clone()
    };
    let Some(scope) = ResolvedFilter::find(conn, &filter, LookTools::default())? else {
        return Ok(Vec::new());
    };
    // SQLite plans before it knows the value: `?3 IS NULL OR id = ?3` would read
    // every row instead of one.
    let session = match scope.session {
        Some(_) => "id = ?3",
        None => "?3 IS NULL",
    };
    conn.prepare_cached(&format!(
        "SELECT {columns} FROM sessions
         WHERE {session} AND (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR agent = ?2)
            AND last >= ?4 AND started < ?5
         ORDER BY last DESC, id DESC LIMIT ?6"
    ))
    .store_err()?
    .query_map(
        params![
            scope.project,
            scope.agent,
            scope.session,
            scope.since,
            scope.until,
            i64::try_from(limit).unwrap_or(i64::MAX)
        ],
        read,
    )
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}
