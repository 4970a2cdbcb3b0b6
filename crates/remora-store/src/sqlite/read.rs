//! Reading everything but searches: items by id or uid, lists in the order of
//! time, sessions, the event log, files and counts.

mod sessions;

use std::path::Path;

use remora_core::ids::AgentId;
use remora_core::record::{FileRecord, Injection, Item, Kind, LoggedEvent, Project};
use remora_memory::store::{
    DetailRow, EventKey, Filter, ItemHeader, ItemRef, LookTools, PageRequest, ProjectStats, Result,
    SortOrder, StoreStats,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::connect::with_suffix;
use super::errors::StoreResultExt;
use super::ids::Id;
use super::names::{StringReader, StringTable, find_string_id, kind_code};
use super::rows::{self, DETAIL, EVENT_COLUMNS, FILE_COLUMNS, INJECTION_COLUMNS};
use super::scope::{LeadingIndex, ResolvedFilter};

pub(crate) use sessions::{count_sessions, list_sessions};

/// Whether each event, or the call it reports, is in the event log.
pub(crate) fn are_known(conn: &Connection, events: &[EventKey<'_>]) -> Result<Vec<bool>> {
    let mut by_id = conn
        .prepare_cached("SELECT 1 FROM events WHERE id = ?1")
        .store_err()?;
    let mut by_call = conn
        .prepare_cached("SELECT 1 FROM events WHERE call = ?1")
        .store_err()?;
    let mut found = Vec::with_capacity(events.len());
    for event in events {
        let call = |call: &str| by_call.exists([Id(call)]);
        let is = by_id.exists([Id(event.id)]).store_err()?
            || event
                .call
                .map(call)
                .transpose()
                .store_err()?
                .unwrap_or(false);
        found.push(is);
    }
    Ok(found)
}

/// Items by id or uid, in the order asked for.
pub(crate) fn find_items(conn: &Connection, names: &[ItemRef]) -> Result<Vec<Item>> {
    // An imported item also answers to its id in the source, but only if no item
    // has that string as its uid.
    let mut by_uid = conn
        .prepare_cached(
            "SELECT id FROM (
                SELECT id, 0 AS far FROM items WHERE uid = ?1
                UNION ALL SELECT id, 1 FROM items WHERE external = ?2
             ) ORDER BY far, id LIMIT 1",
        )
        .store_err()?;
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        match name {
            ItemRef::Id(id) => ids.push(*id),
            ItemRef::Uid(uid) => {
                let id: Option<i64> = by_uid
                    .query_row(params![Id(uid), uid.as_str()], |row| row.get(0))
                    .optional()
                    .store_err()?;
                ids.extend(id);
            }
        }
    }
    rows::read_items(conn, &ids)
}

/// The ids of the items in the filter, in the order of time.
pub(crate) fn list_ids(
    conn: &Connection,
    scope: &ResolvedFilter,
    page: PageRequest,
) -> Result<Vec<i64>> {
    if let Some(ids) = list_file(conn, scope, page)? {
        return Ok(ids);
    }
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let (order, beyond) = match page.order {
        SortOrder::Oldest => ("ASC", ">"),
        SortOrder::Newest => ("DESC", "<"),
    };
    // The narrowest index first: a session has few rows, a file's rows are found
    // through `item_files`, a project may be most of the database.
    let lead = match scope {
        ResolvedFilter {
            session: Some(_), ..
        } => LeadingIndex::Session,
        ResolvedFilter { paths: Some(_), .. } => LeadingIndex::Nothing,
        ResolvedFilter {
            project: Some(_), ..
        } => LeadingIndex::Project,
        _ => LeadingIndex::Nothing,
    };
    let (mut conditions, mut values) = scope.sql_conditions(lead);
    if let Some(number) = page.beyond {
        let time: Option<i64> = conn
            .prepare_cached("SELECT time FROM items WHERE id = ?1")
            .store_err()?
            .query_row([number], |row| row.get(0))
            .optional()
            .store_err()?;
        if let Some(time) = time {
            // The first comparison alone is implied by the others; it is the one that
            // SQLite can use with the index on time.
            conditions.push(format!(
                "i.time {beyond}= ? AND (i.time {beyond} ? OR i.id {beyond} ?)"
            ));
            values.extend([time, time, number].map(Value::from));
        } else {
            // The item is gone; ids mostly grow with time, so its id marks the place.
            conditions.push(format!("i.id {beyond} ?"));
            values.push(number.into());
        }
    }
    let conditions = conditions.join(" AND ");
    // The index is on (project, kind, time): only within one kind does it yield the
    // order of time, so each kind is queried with the limit and the pages merged.
    let kinds = match lead {
        LeadingIndex::Project => list_kinds(scope),
        _ => Vec::new(),
    };
    let sql = |extra: &str, by: &str| {
        format!(
            "SELECT i.id, i.time FROM items i WHERE {conditions}{extra} ORDER BY {by} {order}, i.id {order} LIMIT ?"
        )
    };
    let mut found: Vec<(i64, i64)> = Vec::new();
    let mut ask = |sql: &str, extra: Option<i64>| -> Result<()> {
        let mut values = values.clone();
        values.extend(extra.map(Value::from));
        values.push(limit.into());
        let mut statement = conn.prepare_cached(sql).store_err()?;
        let rows = statement
            .query_map(params_from_iter(values), |row| {
                Ok((row.get(1)?, row.get(0)?))
            })
            .store_err()?;
        for row in rows {
            found.push(row.store_err()?);
        }
        Ok(())
    };
    if kinds.is_empty() {
        // With `+` SQLite sorts the rows of the leading index instead of walking the
        // whole index on time in search of them.
        let by = if lead == LeadingIndex::Nothing && scope.paths.is_none() {
            "i.time"
        } else {
            "+i.time"
        };
        ask(&sql("", by), None)?;
    } else {
        let sql = sql(" AND i.kind = ?", "i.time");
        for kind in kinds {
            ask(&sql, Some(kind))?;
        }
        sort_page(&mut found, page);
    }
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// The kinds of the filter, or all of them.
fn list_kinds(scope: &ResolvedFilter) -> Vec<i64> {
    if scope.kinds.is_empty() {
        return Kind::ALL.iter().map(|kind| kind_code(*kind)).collect();
    }
    scope.kinds.clone()
}

/// Sorts pairs of time and id and cuts them as the page asks.
fn sort_page(found: &mut Vec<(i64, i64)>, page: PageRequest) {
    found.sort_unstable();
    if page.order == SortOrder::Newest {
        found.reverse();
    }
    found.truncate(page.limit);
}

/// The first page of a project's items about one file, if the filter asks for
/// nothing else: `item_files` alone answers it, with one seek per kind. A hook
/// asks for this at every file read.
fn list_file(
    conn: &Connection,
    scope: &ResolvedFilter,
    page: PageRequest,
) -> Result<Option<Vec<i64>>> {
    let (Some([path]), Some(project)) = (scope.paths.as_deref(), scope.project) else {
        return Ok(None);
    };
    let more = scope.session.or(scope.agent).or(page.beyond).is_some();
    // `item_files` knows neither tool nor session, and had no kind and time before
    // schema 4; files up to schema 5 take the general way as well.
    if more || !scope.looking.is_empty() || !scope.listed {
        return Ok(None);
    }
    let order = match page.order {
        SortOrder::Oldest => "ASC",
        SortOrder::Newest => "DESC",
    };
    let mut statement = conn
        .prepare_cached(&format!(
            "SELECT time, item FROM item_files
             WHERE path = ?1 AND project = ?2 AND kind = ?3 AND time >= ?4 AND time < ?5
             ORDER BY time {order}, item {order} LIMIT ?6"
        ))
        .store_err()?;
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let mut found: Vec<(i64, i64)> = Vec::new();
    for kind in list_kinds(scope) {
        let values = [*path, project, kind, scope.since, scope.until, limit];
        let rows = statement
            .query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))
            .store_err()?;
        for row in rows {
            found.push(row.store_err()?);
        }
    }
    sort_page(&mut found, page);
    Ok(Some(found.into_iter().map(|(_, id)| id).collect()))
}

/// Items in the order of time.
pub(crate) fn list_items(
    conn: &Connection,
    filter: &Filter,
    looks: LookTools,
    page: PageRequest,
) -> Result<Vec<Item>> {
    let Some(scope) = ResolvedFilter::find(conn, filter, looks)? else {
        return Ok(Vec::new());
    };
    rows::read_items(conn, &list_ids(conn, &scope, page)?)
}

/// Where the items in the filter stand, in the order of time.
pub(crate) fn list_headers(
    conn: &Connection,
    filter: &Filter,
    looks: LookTools,
    page: PageRequest,
) -> Result<Vec<ItemHeader>> {
    let Some(scope) = ResolvedFilter::find(conn, filter, looks)? else {
        return Ok(Vec::new());
    };
    // These columns stand before the long ones, so no text is loaded.
    let mut statement = conn
        .prepare_cached("SELECT id, prompt, time FROM items WHERE id = ?1")
        .store_err()?;
    let mut found = Vec::new();
    for id in list_ids(conn, &scope, page)? {
        let header = |row: &rusqlite::Row<'_>| {
            Ok(ItemHeader {
                id: row.get(0)?,
                prompt: row.get(1)?,
                time: row.get(2)?,
            })
        };
        found.extend(statement.query_row([id], header).optional().store_err()?);
    }
    Ok(found)
}

/// The event log in the order of time. Project and agent are the session's.
pub(crate) fn list_events(
    conn: &Connection,
    filter: &Filter,
    page: PageRequest,
) -> Result<Vec<LoggedEvent>> {
    let filter = Filter {
        file: None,
        ..filter.clone()
    };
    let Some(scope) = ResolvedFilter::find(conn, &filter, LookTools::default())? else {
        return Ok(Vec::new());
    };
    let texts = StringReader::new(conn);
    let (order, beyond) = match page.order {
        SortOrder::Oldest => ("ASC", ">"),
        SortOrder::Newest => ("DESC", "<"),
    };
    let mut conditions = vec!["e.time >= ? AND e.time < ?".to_owned()];
    let mut values: Vec<Value> = vec![scope.since.into(), scope.until.into()];
    if let Some(moment) = page.beyond {
        conditions.push(format!("e.time {beyond} ?"));
        values.push(moment.into());
    }
    if let Some(session) = scope.session {
        conditions.push("e.session = ?".to_owned());
        values.push(session.into());
    }
    for (column, value) in [("project", scope.project), ("agent", scope.agent)] {
        if let Some(value) = value {
            conditions.push(format!(
                "e.session IN (SELECT id FROM sessions WHERE {column} = ?)"
            ));
            values.push(value.into());
        }
    }
    values.push(i64::try_from(page.limit).unwrap_or(i64::MAX).into());
    let conditions = conditions.join(" AND ");
    conn.prepare_cached(&format!(
        "SELECT {EVENT_COLUMNS} FROM events e WHERE {conditions}
         ORDER BY e.time {order}, e.n {order} LIMIT ?"
    ))
    .store_err()?
    .query_map(params_from_iter(values), |row| {
        rows::read_event(row, &texts)
    })
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// All known projects, by name. One that only items mention has no label and is
/// left out.
pub(crate) fn list_projects(conn: &Connection) -> Result<Vec<Project>> {
    conn.prepare_cached(
        "SELECT n.name, p.label, p.root FROM projects p JOIN names n ON n.id = p.id
         WHERE p.label IS NOT NULL ORDER BY p.label, n.name",
    )
    .store_err()?
    .query_map([], |row| {
        Ok(Project {
            key: row.get::<_, String>(0)?.into(),
            name: row.get(1)?,
            root: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
        })
    })
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// How much is stored for each project. The index on (project, kind, time)
/// answers both questions about items without reading a row.
pub(crate) fn project_activity(conn: &Connection) -> Result<Vec<ProjectStats>> {
    conn.prepare_cached(
        "SELECT n.name, p.label, p.root,
                (SELECT count(*) FROM items i WHERE i.project = p.id),
                (SELECT max(i.time) FROM items i WHERE i.project = p.id),
                (SELECT count(*) FROM sessions s WHERE s.project = p.id),
                (SELECT max(s.last) FROM sessions s WHERE s.project = p.id)
         FROM projects p JOIN names n ON n.id = p.id
         WHERE p.label IS NOT NULL ORDER BY p.label, n.name",
    )
    .store_err()?
    .query_map([], |row| {
        let times: [Option<i64>; 2] = [row.get(4)?, row.get(6)?];
        Ok(ProjectStats {
            project: Project {
                key: row.get::<_, String>(0)?.into(),
                name: row.get(1)?,
                root: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            },
            items: row.get(3)?,
            sessions: row.get(5)?,
            last: times.into_iter().flatten().max(),
        })
    })
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// The file records of a directory, or of the whole project.
pub(crate) fn list_files(
    conn: &Connection,
    project: &str,
    folder: Option<&str>,
) -> Result<Vec<FileRecord>> {
    let Some(project) = find_string_id(conn, StringTable::Names, project)? else {
        return Ok(Vec::new());
    };
    let texts = StringReader::new(conn);
    let within = match folder {
        Some(_) => "folder = ?2",
        None => "?2 IS NULL",
    };
    conn.prepare_cached(&format!(
        "SELECT {FILE_COLUMNS} FROM folder_files WHERE project = ?1 AND {within} ORDER BY folder, name"
    ))
    .store_err()?
    .query_map(params![project, folder], |row| rows::read_file(row, &texts))
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// The record of one file.
pub(crate) fn find_file(
    conn: &Connection,
    project: &str,
    folder: &str,
    name: &str,
) -> Result<Option<FileRecord>> {
    let Some(project) = find_string_id(conn, StringTable::Names, project)? else {
        return Ok(None);
    };
    let texts = StringReader::new(conn);
    conn.prepare_cached(&format!(
        "SELECT {FILE_COLUMNS} FROM folder_files WHERE project = ?1 AND folder = ?2 AND name = ?3"
    ))
    .store_err()?
    .query_row(params![project, folder, name], |row| {
        rows::read_file(row, &texts)
    })
    .optional()
    .store_err()
}

/// The injections of sessions, in the order of time.
pub(crate) fn list_injections(
    conn: &Connection,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Injection>> {
    let filter = Filter {
        file: None,
        ..filter.clone()
    };
    let Some(scope) = ResolvedFilter::find(conn, &filter, LookTools::default())? else {
        return Ok(Vec::new());
    };
    let texts = StringReader::new(conn);
    // As in `list_sessions`: an optional condition would read every row.
    let session = match scope.session {
        Some(_) => "session = ?1",
        None => "?1 IS NULL",
    };
    conn.prepare_cached(&format!(
        "SELECT {INJECTION_COLUMNS} FROM given
         WHERE {session} AND time >= ?2 AND time < ?3
            AND (?4 IS NULL OR session IN (SELECT id FROM sessions WHERE project = ?4))
            AND (?5 IS NULL OR session IN (SELECT id FROM sessions WHERE agent = ?5))
         ORDER BY time, line LIMIT ?6"
    ))
    .store_err()?
    .query_map(
        params![
            scope.session,
            scope.since,
            scope.until,
            scope.project,
            scope.agent,
            i64::try_from(limit).unwrap_or(i64::MAX)
        ],
        |row| rows::read_injection(row, &texts),
    )
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// The item with this project, kind and key.
pub(crate) fn find_by_key(
    conn: &Connection,
    project: &str,
    kind: Kind,
    key: &str,
) -> Result<Option<Item>> {
    let Some(project) = find_string_id(conn, StringTable::Names, project)? else {
        return Ok(None);
    };
    let id: Option<i64> = conn
        .prepare_cached("SELECT id FROM items WHERE project = ?1 AND kind = ?2 AND key = ?3")
        .store_err()?
        .query_row(params![project, kind_code(kind), key], |row| row.get(0))
        .optional()
        .store_err()?;
    let ids: Vec<i64> = id.into_iter().collect();
    Ok(rows::read_items(conn, &ids)?.pop())
}

/// The details of a project's items of one kind, the newest first. A failure is
/// compared with hundreds of stored errors, for which whole items cost too much.
pub(crate) fn details(
    conn: &Connection,
    project: &str,
    kind: Kind,
    limit: usize,
) -> Result<Vec<DetailRow>> {
    let Some(project) = find_string_id(conn, StringTable::Names, project)? else {
        return Ok(Vec::new());
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    conn.prepare_cached(&format!(
        "SELECT {DETAIL} FROM items WHERE project = ?1 AND kind = ?2
         ORDER BY time DESC, id DESC LIMIT ?3"
    ))
    .store_err()?
    .query_map(params![project, kind_code(kind), limit], rows::detail)
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// How much the store holds.
pub(crate) fn count_contents(conn: &Connection, path: &Path) -> Result<StoreStats> {
    let one = |sql: &str| -> Result<u64> { conn.query_row(sql, [], |row| row.get(0)).store_err() };
    let mut items = Vec::new();
    // From the counters that every batch maintains, not by counting all items.
    for kind in Kind::ALL {
        let count: Option<u64> = conn
            .prepare_cached("SELECT items FROM kinds WHERE kind = ?1 AND items > 0")
            .store_err()?
            .query_row([kind_code(*kind)], |row| row.get(0))
            .optional()
            .store_err()?;
        items.extend(count.map(|count| (*kind, count)));
    }
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    Ok(StoreStats {
        events: one("SELECT count(*) FROM events")?,
        items,
        sessions: one("SELECT count(*) FROM sessions")?,
        agents: count_agents(conn)?,
        projects: one("SELECT count(*) FROM projects WHERE label IS NOT NULL")?,
        bytes: size(path) + size(&with_suffix(path, "-wal")),
    })
}

fn count_agents(conn: &Connection) -> Result<Vec<(AgentId, u64)>> {
    conn.prepare_cached(
        "SELECT n.name, count(*) FROM sessions s JOIN names n ON n.id = s.agent
         GROUP BY s.agent ORDER BY n.name",
    )
    .store_err()?
    .query_map([], |row| {
        Ok((AgentId::from(row.get::<_, String>(0)?), row.get(1)?))
    })
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}

/// What SQLite finds wrong with the file, at most 20 lines.
pub(crate) fn check_integrity(conn: &Connection) -> Result<Vec<String>> {
    let found: Vec<String> = conn
        .prepare("PRAGMA integrity_check(20)")
        .store_err()?
        .query_map([], |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

#[cfg(test)]
mod tests;
