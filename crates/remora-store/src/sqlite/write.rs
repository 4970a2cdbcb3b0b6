//! Writing: a batch is one transaction, and so is a pruning. Keeps rows, word
//! index, files and counters in step.

use remora_memory::store::{Batch, Prune, PruneRun, Result, Write};
use remora_protocol::record::{EventRow, FileRecord, FileState, Item, Project, Session};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::errors::Told;
use super::ids::Id;
use super::names::{Interner, Table, find, kind_code, state_code};
use super::rows::Lists;
use super::weigh::{Weighed, Weights, weigh};

/// Stores a batch, all of it or nothing.
pub(crate) fn apply(conn: &Connection, batch: &Batch) -> Result<Vec<i64>> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).told()?;
    let mut names = Interner::new(&tx);
    let mut splitter = Splitter::new();
    let mut tally = Tally::default();
    for project in &batch.projects {
        put_project(&tx, &mut names, project)?;
    }
    for session in &batch.sessions {
        put_session(&tx, &mut names, session)?;
    }
    for event in &batch.events {
        put_event(&tx, &mut names, event)?;
    }
    let mut numbers = Vec::with_capacity(batch.items.len());
    for write in &batch.items {
        numbers.push(put_item(&tx, &mut names, &mut splitter, &mut tally, write)?);
    }
    for file in &batch.files {
        put_file(&tx, &mut names, file)?;
    }
    tally.store(&tx)?;
    drop(names);
    tx.commit().told()?;
    Ok(numbers)
}

fn put_project(tx: &Connection, names: &mut Interner<'_>, project: &Project) -> Result<()> {
    let id = names.name(&project.key)?;
    tx.prepare_cached(
        "INSERT INTO projects (id, label, root) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET label = excluded.label, root = excluded.root",
    )
    .told()?
    .execute(params![id, project.name, project.root])
    .told()?;
    Ok(())
}

fn put_session(tx: &Connection, names: &mut Interner<'_>, session: &Session) -> Result<()> {
    let id = names.name(&session.id)?;
    let agent = names.name(&session.agent)?;
    let project = names.name(&session.project)?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO sessions
            (id, agent, project, cwd, branch, started, last, end_reason, prompts, title)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .told()?
    .execute(params![
        id,
        agent,
        project,
        session.cwd,
        session.branch,
        session.started,
        session.last,
        session.end_reason,
        session.prompts,
        session.title
    ])
    .told()?;
    Ok(())
}

fn put_event(tx: &Connection, names: &mut Interner<'_>, event: &EventRow) -> Result<()> {
    let name = names.name(&event.name)?;
    let session = names.name(&event.session)?;
    let label = (!event.label.is_empty()).then_some(&event.label);
    tx.prepare_cached(
        "INSERT OR IGNORE INTO events (id, call, name, session, time, label)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .told()?
    .execute(params![
        Id(&event.id),
        event.call.as_deref().map(Id),
        name,
        session,
        event.time,
        label
    ])
    .told()?;
    Ok(())
}

fn put_file(tx: &Connection, names: &mut Interner<'_>, file: &FileRecord) -> Result<()> {
    let project = names.name(&file.project)?;
    let session = names.name(&file.session)?;
    let sql = if file.state == FileState::Seen {
        // Having read a file says what it holds, not what became of it.
        "INSERT INTO folder_files (project, folder, name, holds, state, origin, session, time)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (project, folder, name) DO UPDATE SET
            holds = iif(excluded.holds = '', holds, excluded.holds),
            origin = iif(state = 1, excluded.origin, origin),
            session = iif(state = 1, excluded.session, session),
            time = iif(state = 1, excluded.time, time)"
    } else {
        "INSERT INTO folder_files (project, folder, name, holds, state, origin, session, time)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (project, folder, name) DO UPDATE SET
            holds = iif(excluded.holds = '', holds, excluded.holds),
            state = excluded.state, origin = excluded.origin,
            session = excluded.session, time = excluded.time"
    };
    tx.prepare_cached(sql)
        .told()?
        .execute(params![
            project,
            file.folder,
            file.name,
            file.holds,
            state_code(file.state),
            file.from,
            session,
            file.time
        ])
        .told()?;
    Ok(())
}

/// Where an item goes.
struct Place {
    /// Its number, if it is fixed already.
    id: Option<i64>,
    /// Its uid, if it keeps an older one.
    uid: Option<String>,
}

fn put_item(tx: &Connection, names: &mut Interner<'_>, write: &Write) -> Result<i64> {
    let (item, place) = match write {
        Write::Again { uid, time } => return again(tx, uid, *time),
        Write::Add(item) => (item, by_uid_or_key(tx, item)?),
        Write::Put(item) => (item, by_key_or_uid(tx, item)?),
        Write::Keep(item) => {
            let mut place = by_uid_or_key(tx, item)?;
            if item.id > 0 && place.id != Some(item.id) && !exists(tx, item.id)? {
                if let Some(old) = place.id {
                    remove(tx, old)?;
                }
                place.id = Some(item.id);
            }
            (item, place)
        }
    };
    if let Some(id) = place.id {
        remove(tx, id)?;
    }
    insert(tx, names, item, &place)
}

fn again(tx: &Connection, uid: &str, time: i64) -> Result<i64> {
    let id: Option<i64> = tx
        .prepare_cached(
            "UPDATE items SET seen = seen + 1, last_time = max(last_time, ?2) WHERE uid = ?1 RETURNING id",
        )
        .told()?
        .query_row(params![Id(uid), time], |row| row.get(0))
        .optional()
        .told()?;
    Ok(id.unwrap_or(0))
}

fn exists(tx: &Connection, id: i64) -> Result<bool> {
    tx.prepare_cached("SELECT 1 FROM items WHERE id = ?1")
        .told()?
        .exists([id])
        .told()
}

fn uid_row(tx: &Connection, uid: &str) -> Result<Option<i64>> {
    tx.prepare_cached("SELECT id FROM items WHERE uid = ?1")
        .told()?
        .query_row([Id(uid)], |row| row.get(0))
        .optional()
        .told()
}

fn key_row(tx: &Connection, item: &Item) -> Result<Option<(i64, String)>> {
    let Some(key) = &item.key else {
        return Ok(None);
    };
    let Some(project) = find(tx, Table::Names, &item.project)? else {
        return Ok(None);
    };
    tx.prepare_cached("SELECT id, uid FROM items WHERE project = ?1 AND kind = ?2 AND key = ?3")
        .told()?
        .query_row(params![project, kind_code(item.kind), key], |row| {
            Ok((row.get(0)?, row.get::<_, super::ids::OwnedId>(1)?.0))
        })
        .optional()
        .told()
}

/// The uid decides; rows with the same key are one.
fn by_uid_or_key(tx: &Connection, item: &Item) -> Result<Place> {
    let same = uid_row(tx, &item.uid)?;
    match (same, key_row(tx, item)?) {
        (Some(id), Some((other, _))) if other != id => {
            remove(tx, other)?;
            Ok(Place {
                id: Some(id),
                uid: None,
            })
        }
        (Some(id), _) => Ok(Place {
            id: Some(id),
            uid: None,
        }),
        (None, Some((id, uid))) => Ok(Place {
            id: Some(id),
            uid: Some(uid),
        }),
        (None, None) => Ok(Place {
            id: None,
            uid: None,
        }),
    }
}

/// The key decides; the row keeps its number and its uid.
fn by_key_or_uid(tx: &Connection, item: &Item) -> Result<Place> {
    match key_row(tx, item)? {
        Some((id, uid)) => Ok(Place {
            id: Some(id),
            uid: Some(uid),
        }),
        None => by_uid_or_key(tx, item),
    }
}

/// Takes a row out, with everything that hangs on it. Its words are replaced or
/// removed by the caller's next step, or here when nothing follows.
fn remove(tx: &Connection, id: i64) -> Result<()> {
    let row: Option<(i64, i64, u16, Option<String>)> = tx
        .prepare_cached("DELETE FROM items WHERE id = ?1 RETURNING kind, project, vec, lists")
        .told()?
        .query_row([id], |row| {
            let vec: Vec<u8> = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, Weights(&vec).words(), row.get(3)?))
        })
        .optional()
        .told()?;
    let Some((kind, project, words, lists)) = row else {
        return Ok(());
    };
    tx.prepare_cached("DELETE FROM words WHERE rowid = ?1")
        .told()?
        .execute([id])
        .told()?;
    let lists = Lists::from_json(lists.as_deref());
    for path in lists.read.iter().chain(&lists.modified) {
        tx.prepare_cached("DELETE FROM item_files WHERE path = ?1 AND item = ?2")
            .told()?
            .execute([*path, id])
            .told()?;
    }
    count(tx, kind, project, -1, -i64::from(words))
}

fn count(tx: &Connection, kind: i64, project: i64, items: i64, words: i64) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO kinds (kind, items) VALUES (?1, ?2)
         ON CONFLICT (kind) DO UPDATE SET items = items + excluded.items",
    )
    .told()?
    .execute([kind, items])
    .told()?;
    tx.prepare_cached(
        "INSERT INTO projects (id, items, words) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET items = items + excluded.items, words = words + excluded.words",
    )
    .told()?
    .execute([project, items, words])
    .told()?;
    Ok(())
}

fn insert(tx: &Connection, names: &mut Interner<'_>, item: &Item, place: &Place) -> Result<i64> {
    let Weighed {
        mut terms,
        vec,
        words,
    } = weigh(item);
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
    tx.prepare_cached(
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
    let id = tx.last_insert_rowid();
    tag(&mut terms, project, kind, agent);
    tx.prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")
        .told()?
        .execute(params![id, terms])
        .told()?;
    for path in lists.read.iter().chain(&lists.modified) {
        tx.prepare_cached("INSERT OR IGNORE INTO item_files (path, item) VALUES (?1, ?2)")
            .told()?
            .execute([*path, id])
            .told()?;
    }
    count(tx, kind, project, 1, i64::from(words))?;
    Ok(id)
}

/// What a search filters by stands in the index beside the words; no word
/// begins with `_`.
fn tag(terms: &mut String, project: i64, kind: i64, agent: i64) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(terms, " _p{project} _k{kind} _a{agent}");
}

/// Removes what may go: items, and rows of the ledger.
pub(crate) fn prune(conn: &Connection, prune: &Prune, run: PruneRun) -> Result<u64> {
    let Some(before) = prune.before else {
        return Ok(0);
    };
    let project = match &prune.project {
        None => None,
        Some(key) => match find(conn, Table::Names, key)? {
            Some(id) => Some(id),
            None => return Ok(0),
        },
    };
    let keep: Vec<String> = prune
        .keep
        .iter()
        .map(|kind| kind_code(*kind).to_string())
        .collect();
    let items = format!(
        "FROM items WHERE max(time, last_time) < ?1 AND (?2 IS NULL OR project = ?2) AND kind NOT IN ({})",
        keep.join(", ")
    );
    let events = "FROM events WHERE time < ?1 AND (?2 IS NULL
        OR session IN (SELECT id FROM sessions WHERE project = ?2))";
    if run == PruneRun::Dry {
        let count = |from: &str| -> Result<u64> {
            conn.query_row(
                &format!("SELECT count(*) {from}"),
                params![before, project],
                |row| row.get(0),
            )
            .told()
        };
        return Ok(count(&items)? + count(events)?);
    }
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).told()?;
    let ids: Vec<i64> = tx
        .prepare(&format!("SELECT id {items}"))
        .told()?
        .query_map(params![before, project], |row| row.get(0))
        .told()?
        .collect::<rusqlite::Result<_>>()
        .told()?;
    for id in &ids {
        remove(&tx, *id)?;
    }
    let events = tx
        .execute(&format!("DELETE {events}"), params![before, project])
        .told()?;
    tx.commit().told()?;
    let gone = ids.len() as u64 + events as u64;
    if gone > 0 {
        // Gives freed pages back; the rows are gone either way.
        let _ = conn.execute_batch("PRAGMA incremental_vacuum");
    }
    Ok(gone)
}
