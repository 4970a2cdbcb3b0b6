//! Rows into values: how items, sessions, events and files are read back.

use remora_core::detail::ItemDetail;
use remora_core::record::{
    FileFingerprint, FileRecord, Injection, InjectionUse, Item, Kind, LoggedEvent, Session,
};
use remora_memory::store::{DetailRow, Result};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::errors::StoreResultExt;
use super::ids::OwnedId;
use super::names::{StringReader, StringTable, kind_of, state_of};

/// What [`read_item`] reads, in its order.
pub(crate) const ITEM_COLUMNS: &str = "id, uid, external, key, kind, title, text, lists, time, last_time, \
    seen, project, session, agent, prompt, branch, subagent, speaker, tool, tool_use_id, raw_tokens, \
    digest_tokens, detail";

/// Facts, concepts, files read and files modified, in one column of JSON with
/// one-letter keys: it is stored with every item.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ItemLists {
    #[serde(rename = "f")]
    pub(crate) facts: Vec<String>,
    #[serde(rename = "c")]
    pub(crate) concepts: Vec<String>,
    #[serde(rename = "r")]
    pub(crate) read: Vec<i64>,
    #[serde(rename = "m")]
    pub(crate) modified: Vec<i64>,
}

impl ItemLists {
    /// As JSON; nothing if all are empty.
    pub(crate) fn to_json(&self) -> Option<String> {
        let mut map = Map::new();
        for (name, list) in [("f", &self.facts), ("c", &self.concepts)] {
            if !list.is_empty() {
                map.insert(name.to_owned(), list.clone().into());
            }
        }
        for (name, list) in [("r", &self.read), ("m", &self.modified)] {
            if !list.is_empty() {
                map.insert(name.to_owned(), list.clone().into());
            }
        }
        (!map.is_empty()).then(|| Value::Object(map).to_string())
    }

    pub(crate) fn from_json(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }
}

/// The item in this row.
pub(crate) fn read_item(row: &Row<'_>, texts: &StringReader<'_>) -> rusqlite::Result<Item> {
    let lists = ItemLists::from_json(row.get_ref(7)?.as_str_or_null()?);
    let paths = |ids: &[i64]| -> rusqlite::Result<Vec<String>> {
        ids.iter()
            .map(|id| texts.read_string(StringTable::Paths, *id))
            .collect()
    };
    let files_read = paths(&lists.read)?;
    let files_modified = paths(&lists.modified)?;
    Ok(Item {
        id: row.get(0)?,
        uid: row.get::<_, OwnedId>(1)?.0.into(),
        external_id: row.get(2)?,
        key: row.get(3)?,
        // A kind of a newer version is read as the most general one: an older reader
        // still shows the item instead of failing on it.
        kind: kind_of(row.get(4)?).unwrap_or(Kind::Discovery),
        title: row.get(5)?,
        text: row.get(6)?,
        facts: lists.facts,
        concepts: lists.concepts,
        files_read,
        files_modified,
        time: row.get(8)?,
        last_time: row.get(9)?,
        seen: row.get(10)?,
        project: texts.name(row.get(11)?)?.into(),
        session: texts.name(row.get(12)?)?.into(),
        agent: texts.name(row.get(13)?)?.into(),
        prompt: row.get(14)?,
        branch: texts.name_of(row.get(15)?)?,
        subagent: texts.name_of(row.get(16)?)?,
        speaker: texts.name_of(row.get(17)?)?,
        tool: texts.name_of(row.get(18)?)?,
        tool_use_id: row.get(19)?,
        raw_tokens: row.get(20)?,
        digest_tokens: row.get(21)?,
        detail: row
            .get_ref(22)?
            .as_str_or_null()?
            .and_then(ItemDetail::from_json),
    })
}

/// The items with these ids, in this order; missing ones are left out.
pub(crate) fn read_items(conn: &Connection, ids: &[i64]) -> Result<Vec<Item>> {
    let texts = StringReader::new(conn);
    let mut statement = conn
        .prepare_cached(&format!("SELECT {ITEM_COLUMNS} FROM items WHERE id = ?1"))
        .store_err()?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let mut rows = statement.query([id]).store_err()?;
        if let Some(row) = rows.next().store_err()? {
            found.push(read_item(row, &texts).store_err()?);
        }
    }
    Ok(found)
}

/// What [`detail`] reads, in its order.
pub(crate) const DETAIL: &str = "id, max(time, last_time), coalesce(detail, '')";

pub(crate) fn detail(row: &Row<'_>) -> rusqlite::Result<DetailRow> {
    Ok(DetailRow {
        id: row.get(0)?,
        last_time: row.get(1)?,
        detail: row.get(2)?,
    })
}

/// The details of the items with these ids, in this order; missing ones are left
/// out.
pub(crate) fn details(conn: &Connection, ids: &[i64]) -> Result<Vec<DetailRow>> {
    let mut statement = conn
        .prepare_cached(&format!("SELECT {DETAIL} FROM items WHERE id = ?1"))
        .store_err()?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(statement.query_row([id], detail).optional().store_err()?);
    }
    Ok(found)
}

/// What [`read_session`] reads, in its order.
pub(crate) const SESSION_COLUMNS: &str =
    "id, agent, project, cwd, branch, started, last, end_reason, prompts, title";

pub(crate) fn read_session(row: &Row<'_>, texts: &StringReader<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: texts.name(row.get(0)?)?.into(),
        agent: texts.name(row.get(1)?)?.into(),
        project: texts.name(row.get(2)?)?.into(),
        cwd: row.get(3)?,
        branch: row.get(4)?,
        started: row.get(5)?,
        last: row.get(6)?,
        end_reason: row.get(7)?,
        prompts: row.get(8)?,
        title: row.get(9)?,
    })
}

/// What [`read_event`] reads, in its order.
pub(crate) const EVENT_COLUMNS: &str = "e.id, e.call, e.name, e.session, e.time, e.label";

pub(crate) fn read_event(row: &Row<'_>, texts: &StringReader<'_>) -> rusqlite::Result<LoggedEvent> {
    Ok(LoggedEvent {
        id: row.get::<_, OwnedId>(0)?.0,
        call: row.get::<_, Option<OwnedId>>(1)?.map(|id| id.0),
        name: texts.name(row.get(2)?)?,
        session: texts.name(row.get(3)?)?.into(),
        time: row.get(4)?,
        label: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
    })
}

/// What [`read_file`] reads, in its order.
pub(crate) const FILE_COLUMNS: &str =
    "project, folder, name, holds, state, origin, session, time, size, modified, hash, since";

pub(crate) fn read_file(row: &Row<'_>, texts: &StringReader<'_>) -> rusqlite::Result<FileRecord> {
    Ok(FileRecord {
        project: texts.name(row.get(0)?)?.into(),
        folder: row.get(1)?,
        name: row.get(2)?,
        holds: row.get(3)?,
        state: state_of(row.get(4)?),
        from: row.get(5)?,
        session: texts.name(row.get(6)?)?.into(),
        time: row.get(7)?,
        anchor: read_fingerprint(row)?,
    })
}

fn read_fingerprint(row: &Row<'_>) -> rusqlite::Result<Option<FileFingerprint>> {
    let Some(size) = row.get::<_, Option<i64>>(8)? else {
        return Ok(None);
    };
    Ok(Some(FileFingerprint {
        size: size.cast_unsigned(),
        modified: row.get(9)?,
        hash: row.get::<_, i64>(10)?.cast_unsigned(),
        since: row.get(11)?,
    }))
}

/// What [`read_injection`] reads, in its order.
pub(crate) const INJECTION_COLUMNS: &str =
    "session, line, item, subagent, moment, why, tokens, time, used, used_time";

pub(crate) fn read_injection(
    row: &Row<'_>,
    texts: &StringReader<'_>,
) -> rusqlite::Result<Injection> {
    let used: Option<String> = row.get(8)?;
    Ok(Injection {
        session: texts.name(row.get(0)?)?.into(),
        line: row.get(1)?,
        item: row.get(2)?,
        subagent: row.get(3)?,
        trigger: row.get(4)?,
        why: row.get(5)?,
        tokens: row.get(6)?,
        time: row.get(7)?,
        used: match used {
            Some(how) => Some(InjectionUse {
                how,
                time: row.get(9)?,
            }),
            None => None,
        },
    })
}
