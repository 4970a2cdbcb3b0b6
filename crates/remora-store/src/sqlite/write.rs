//! Writing: a batch is one transaction, and so is a pruning. Keeps items,
//! full-text index, file records and counters in step.

mod item;

use remora_core::record::{
    FileRecord, FileState, Injection, InjectionUse, Item, LoggedEvent, Project, Session,
};
use remora_memory::prepare::{ItemPreparer, PreparedBatch};
use remora_memory::store::{ItemRef, LookTools, PruneMode, PruneRequest, Result};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::errors::StoreResultExt;
use super::ids::Id;
use super::names::{Interner, StringTable, find_string_id, kind_code, state_code};
use super::overrides;
use super::read;
use super::rows::{FILE_COLUMNS, INJECTION_COLUMNS};
use super::vectors;
pub(super) use item::ItemWriter;
pub(crate) use item::list_words;

/// Stores a batch, all of it or nothing. Returns the ids of its items in order.
pub(crate) fn store_batch(
    conn: &Connection,
    looks: LookTools,
    prepared: &PreparedBatch<'_>,
) -> Result<Vec<i64>> {
    let batch = prepared.batch;
    // Immediate: a deferred transaction that reads first could find at its first
    // write that another process has written since, and would have to start over.
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    // Overrides first, so that they already apply to the items of the same batch.
    for one in &batch.overrides {
        overrides::write_override(&tx, one)?;
    }
    let mut names = Interner::new(&tx);
    let mut items = ItemWriter::new(&tx, looks);
    if !batch.items.is_empty() {
        items.set_overrides(overrides::list_overrides(&tx, None)?);
    }
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
    for (write, prepared) in prepared.writes() {
        numbers.push(items.write_item(&mut names, write, prepared)?);
    }
    for file in &batch.files {
        put_file(&tx, &mut names, file)?;
    }
    for injection in &batch.injections {
        put_injection(&tx, &mut names, injection)?;
    }
    for (session, line, used) in &batch.uses {
        put_used(&tx, &mut names, session, *line, used)?;
    }
    items.finish_batch()?;
    drop(names);
    tx.commit().store_err()?;
    Ok(numbers)
}

/// Computes and stores the static embeddings of these items.
pub(crate) fn put_gists(conn: &Connection, items: &[Item]) -> Result<()> {
    let mut preparer = ItemPreparer::default();
    for item in items {
        if let Some(gist) = preparer.embed_gist(item) {
            vectors::put_gist(conn, item.id, &gist)?;
        }
    }
    Ok(())
}

fn put_project(tx: &Connection, names: &mut Interner<'_>, project: &Project) -> Result<()> {
    let id = names.name(&project.key)?;
    tx.prepare_cached(
        "INSERT INTO projects (id, label, root) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET label = excluded.label, root = excluded.root",
    )
    .store_err()?
    .execute(params![id, project.name, project.root])
    .store_err()?;
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
    .store_err()?
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
    .store_err()?;
    Ok(())
}

fn put_event(tx: &Connection, names: &mut Interner<'_>, event: &LoggedEvent) -> Result<()> {
    let name = names.name(&event.name)?;
    let session = names.name(&event.session)?;
    let label = (!event.label.is_empty()).then_some(&event.label);
    // Ignores a conflict on the call key as well: two installations of the hook
    // report the same call under different event ids.
    tx.prepare_cached(
        "INSERT OR IGNORE INTO events (id, call, name, session, time, label)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .store_err()?
    .execute(params![
        Id(&event.id),
        event.call.as_deref().map(Id),
        name,
        session,
        event.time,
        label
    ])
    .store_err()?;
    Ok(())
}

fn put_file(tx: &Connection, names: &mut Interner<'_>, file: &FileRecord) -> Result<()> {
    let project = names.name(&file.project)?;
    let session = names.name(&file.session)?;
    // Reading a file tells what it holds. It must not hide who changed it last, so
    // state, origin and time stay, unless it was only ever read (1 is `Seen`).
    let news = if file.state == FileState::Seen {
        "origin = iif(state = 1, excluded.origin, origin),
         session = iif(state = 1, excluded.session, session),
         time = iif(state = 1, excluded.time, time)"
    } else {
        // A file that was moved and then changed keeps its origin, unless it was
        // removed in between (5 is `Removed`): then it is another file.
        "origin = iif(state = 5, excluded.origin, ifnull(excluded.origin, origin)),
         state = excluded.state,
         session = excluded.session, time = excluded.time"
    };
    // `since` stays while size and hash are the same: a checkout that touches every
    // file changes nothing that was said about them.
    let sql = format!(
        "INSERT INTO folder_files ({FILE_COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (project, folder, name) DO UPDATE SET
            holds = iif(excluded.holds = '', holds, excluded.holds), {news},
            since = iif(excluded.size IS NULL OR size = excluded.size AND hash = excluded.hash,
                since, excluded.since),
            size = ifnull(excluded.size, size), modified = ifnull(excluded.modified, modified),
            hash = ifnull(excluded.hash, hash)"
    );
    tx.prepare_cached(&sql)
        .store_err()?
        .execute(params![
            project,
            file.folder,
            file.name,
            file.holds,
            state_code(file.state),
            file.from,
            session,
            file.time,
            file.anchor.map(|anchor| anchor.size.cast_signed()),
            file.anchor.map(|anchor| anchor.modified),
            file.anchor.map(|anchor| anchor.hash.cast_signed()),
            file.anchor.map(|anchor| anchor.since),
        ])
        .store_err()?;
    Ok(())
}

fn put_injection(tx: &Connection, names: &mut Interner<'_>, injection: &Injection) -> Result<()> {
    let session = names.name(&injection.session)?;
    tx.prepare_cached(&format!(
        "INSERT OR IGNORE INTO given ({INJECTION_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    ))
    .store_err()?
    .execute(params![
        session,
        injection.line,
        injection.item,
        injection.subagent,
        injection.trigger,
        injection.why,
        injection.tokens,
        injection.time,
        injection.used.as_ref().map(|used| &used.how),
        injection.used.as_ref().map(|used| used.time),
    ])
    .store_err()?;
    Ok(())
}

fn put_used(
    tx: &Connection,
    names: &mut Interner<'_>,
    session: &str,
    line: u32,
    used: &InjectionUse,
) -> Result<()> {
    let session = names.name(session)?;
    tx.prepare_cached(
        "UPDATE given SET used = ?3, used_time = ?4
         WHERE session = ?1 AND line = ?2 AND used IS NULL",
    )
    .store_err()?
    .execute(params![session, line, used.how, used.time])
    .store_err()?;
    Ok(())
}

/// Removes the record of a file.
pub(super) fn drop_file(tx: &Connection, project: i64, folder: &str, name: &str) -> Result<()> {
    tx.prepare_cached("DELETE FROM folder_files WHERE project = ?1 AND folder = ?2 AND name = ?3")
        .store_err()?
        .execute(params![project, folder, name])
        .store_err()?;
    Ok(())
}

/// Removes items with everything that belongs to them.
pub(crate) fn remove_items(conn: &Connection, ids: &[i64]) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    let mut writer = ItemWriter::new(&tx, LookTools::default());
    for id in ids {
        writer.remove(*id)?;
    }
    writer.finish_batch()?;
    tx.commit().store_err()
}

/// The ids of the items that users pinned, rejected or edited, for `NOT IN`.
fn join_corrected_ids(conn: &Connection) -> Result<String> {
    let said = overrides::list_overrides(conn, None)?.into_iter();
    let names: Vec<ItemRef> = said.map(|said| ItemRef::Uid(said.uid)).collect();
    let ids: Vec<String> = read::find_items(conn, &names)?
        .iter()
        .map(|item| item.id.to_string())
        .collect();
    Ok(ids.join(", "))
}

/// Removes items, log entries and injections older than the request says, and
/// returns how many items and log entries went or would go.
pub(crate) fn prune_rows(conn: &Connection, prune: &PruneRequest, run: PruneMode) -> Result<u64> {
    let Some(before) = prune.before else {
        return Ok(0);
    };
    let project = match &prune.project {
        None => None,
        Some(key) => match find_string_id(conn, StringTable::Names, key)? {
            Some(id) => Some(id),
            // `None` below would mean every project.
            None => return Ok(0),
        },
    };
    let keep: Vec<String> = prune
        .keep
        .iter()
        .map(|kind| kind_code(*kind).to_string())
        .collect();
    // `last_time` counts, so that an item which keeps being repeated is not old.
    let items = format!(
        "FROM items WHERE max(time, last_time) < ?1 AND (?2 IS NULL OR project = ?2) AND kind NOT IN ({})
            AND id NOT IN ({})",
        keep.join(", "),
        join_corrected_ids(conn)?
    );
    let events = "FROM events WHERE time < ?1 AND (?2 IS NULL
        OR session IN (SELECT id FROM sessions WHERE project = ?2))";
    if run == PruneMode::Dry {
        let count = |from: &str| -> Result<u64> {
            conn.query_row(
                &format!("SELECT count(*) {from}"),
                params![before, project],
                |row| row.get(0),
            )
            .store_err()
        };
        return Ok(count(&items)? + count(events)?);
    }
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    let ids: Vec<i64> = tx
        .prepare(&format!("SELECT id {items}"))
        .store_err()?
        .query_map(params![before, project], |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()?;
    let mut writer = ItemWriter::new(&tx, LookTools::default());
    for id in &ids {
        writer.remove(*id)?;
    }
    writer.finish_batch()?;
    let events = tx
        .execute(&format!("DELETE {events}"), params![before, project])
        .store_err()?;
    tx.execute(
        "DELETE FROM given WHERE time < ?1 AND (?2 IS NULL
            OR session IN (SELECT id FROM sessions WHERE project = ?2))",
        params![before, project],
    )
    .store_err()?;
    tx.commit().store_err()?;
    let gone = ids.len() as u64 + events as u64;
    if gone > 0 {
        // Returns freed pages to the file system; if it fails, they are reused.
        let _ = conn.execute_batch("PRAGMA incremental_vacuum");
    }
    Ok(gone)
}
