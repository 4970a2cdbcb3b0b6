//! A filter with its names replaced by ids. If a name is unknown to the
//! database, no row can match and there is no resolved filter.

use remora_core::record::Kind;
use remora_memory::store::{FileMatch, Filter, LookTools, LookupItems, Result};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::errors::StoreResultExt;
use super::names::{StringTable, find_string_id, kind_code};
use crate::migrate::{self, INJECTABLE_TERMS_VERSION, SAID_SKETCHES_VERSION};

/// A filter whose names are ids of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResolvedFilter {
    pub(crate) project: Option<i64>,
    pub(crate) kinds: Vec<i64>,
    pub(crate) agent: Option<i64>,
    pub(crate) session: Option<i64>,
    pub(crate) since: i64,
    pub(crate) until: i64,
    /// The ids of the matching paths, if the filter names a file.
    pub(crate) paths: Option<Vec<i64>>,
    pub(crate) looks: LookupItems,
    /// The lookup tools whose discoveries are left out.
    pub(crate) looking: Vec<i64>,
    /// Whether the index has injectable terms; a file of an older version has
    /// none until the worker has migrated it.
    pub(crate) listed: bool,
    /// Whether there are sketches of what was said apart from the others.
    pub(crate) said_apart: bool,
}

impl ResolvedFilter {
    /// Resolves the names; `None` if no row can match.
    pub(crate) fn find(
        conn: &Connection,
        filter: &Filter,
        looks: LookTools,
    ) -> Result<Option<Self>> {
        let mut names = [None; 3];
        let wanted = [
            filter.project.as_deref(),
            filter.agent.as_deref(),
            filter.session.as_deref(),
        ];
        for (slot, name) in names.iter_mut().zip(wanted) {
            if let Some(name) = name {
                *slot = find_string_id(conn, StringTable::Names, name)?;
                if slot.is_none() {
                    return Ok(None);
                }
            }
        }
        let [project, agent, session] = names;
        let paths = filter
            .file
            .as_ref()
            .map(|file| find_path_ids(conn, file))
            .transpose()?;
        if paths.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        let mut looking = Vec::new();
        if filter.looks == LookupItems::LeftOut {
            for tool in looks.0 {
                looking.extend(find_string_id(conn, StringTable::Names, tool)?);
            }
        }
        let version = migrate::read_version(conn)?;
        Ok(Some(Self {
            looks: filter.looks,
            looking,
            listed: version >= INJECTABLE_TERMS_VERSION,
            said_apart: version >= SAID_SKETCHES_VERSION,
            project,
            kinds: filter.kinds.iter().map(|kind| kind_code(*kind)).collect(),
            agent,
            session,
            since: filter.since.unwrap_or(i64::MIN),
            until: filter.until.unwrap_or(i64::MAX),
            paths,
        }))
    }

    /// The conditions over `items i` as SQL, and their values. Project, session
    /// and agent are written with a unary `+`, which keeps SQLite from using an
    /// index for them, except the one that `lead` names: the planner has no
    /// statistics and would otherwise guess.
    pub(crate) fn sql_conditions(&self, lead: LeadingIndex) -> (Vec<String>, Vec<Value>) {
        let mut sql = vec!["i.time >= ? AND i.time < ?".to_owned()];
        let mut values: Vec<Value> = vec![self.since.into(), self.until.into()];
        let columns = [
            ("project", self.project, Some(LeadingIndex::Project)),
            ("session", self.session, Some(LeadingIndex::Session)),
            ("agent", self.agent, None),
        ];
        for (column, value, leads) in columns {
            if let Some(value) = value {
                let plus = if leads == Some(lead) { "" } else { "+" };
                sql.push(format!("{plus}i.{column} = ?"));
                values.push(value.into());
            }
        }
        if !self.kinds.is_empty() {
            let kinds: Vec<String> = self.kinds.iter().map(ToString::to_string).collect();
            sql.push(format!("i.kind IN ({})", kinds.join(", ")));
        }
        if !self.looking.is_empty() {
            let looking: Vec<String> = self.looking.iter().map(ToString::to_string).collect();
            sql.push(format!(
                "NOT (i.kind = {} AND ifnull(i.tool, 0) IN ({}))",
                kind_code(Kind::Discovery),
                looking.join(", ")
            ));
        }
        if let Some(paths) = &self.paths {
            sql.push(
                "i.id IN (SELECT item FROM item_files WHERE path IN (SELECT value FROM json_each(?)))"
                    .to_owned(),
            );
            values.push(serde_json::Value::from(paths.clone()).to_string().into());
        }
        (sql, values)
    }

    /// Whether an item of this kind and tool is a lookup that the filter leaves
    /// out.
    pub(crate) fn leaves_out(&self, kind: i64, tool: Option<i64>) -> bool {
        kind == kind_code(Kind::Discovery) && tool.is_some_and(|tool| self.looking.contains(&tool))
    }
}

/// Which condition SQLite may use an index for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeadingIndex {
    /// The project.
    Project,
    /// The session.
    Session,
    /// None of them: rows are read in the order of time or id.
    Nothing,
}

/// The ids of the path itself; for `Like` also of paths that end in it after a
/// `/` or lie below it as a directory, for which every path is read.
fn find_path_ids(conn: &Connection, file: &FileMatch) -> Result<Vec<i64>> {
    let file = match file {
        FileMatch::Exactly(file) => {
            return Ok(find_string_id(conn, StringTable::Paths, file)?
                .into_iter()
                .collect());
        }
        FileMatch::Like(file) => file.trim_end_matches('/'),
    };
    let file = file.strip_prefix("./").unwrap_or(file);
    if file.is_empty() {
        return Ok(Vec::new());
    }
    // `substr` and not `LIKE`, in which `_` and `%` of a file name are wildcards.
    conn.prepare_cached(
        "SELECT id FROM paths WHERE path = ?1
            OR substr(path, 1, length(?1) + 1) = ?1 || '/'
            OR substr(path, -length(?1) - 1) = '/' || ?1",
    )
    .store_err()?
    .query_map([file], |row| row.get(0))
    .store_err()?
    .collect::<rusqlite::Result<_>>()
    .store_err()
}
