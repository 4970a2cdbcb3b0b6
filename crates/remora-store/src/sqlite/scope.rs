//! A filter with its names looked up: what a row must be to count. If a name is
//! not known, nothing can count and there is no scope.

use remora_core::record::Kind;
use remora_memory::store::{FileMatch, Filter, LookTools, LookupItems, Result};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::errors::StoreResultExt;
use super::names::{StringTable, find_string_id, kind_code};
use crate::migrate::{self, INJECTABLE_TERMS_VERSION};

/// A filter in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResolvedFilter {
    pub(crate) project: Option<i64>,
    pub(crate) kinds: Vec<i64>,
    pub(crate) agent: Option<i64>,
    pub(crate) session: Option<i64>,
    pub(crate) since: i64,
    pub(crate) until: i64,
    /// The numbers of the paths that fit, if a file is asked for.
    pub(crate) paths: Option<Vec<i64>>,
    pub(crate) looks: LookupItems,
    /// The tools whose discoveries do not count.
    pub(crate) looking: Vec<i64>,
    /// Whether the file has lists; one that an older version wrote has none
    /// until the worker has brought it up to date.
    pub(crate) listed: bool,
}

impl ResolvedFilter {
    /// Looks the names up; `None` if nothing can fit.
    pub(crate) fn find(
        conn: &Connection,
        filter: &Filter,
        looks: LookTools,
    ) -> Result<Option<Self>> {
        let mut names = [None; 3];
        for (slot, name) in names
            .iter_mut()
            .zip([&filter.project, &filter.agent, &filter.session])
        {
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
        Ok(Some(Self {
            looks: filter.looks,
            looking,
            listed: migrate::read_version(conn)? >= INJECTABLE_TERMS_VERSION,
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
    /// and agent stand behind a `+`, so that they never choose an index, except
    /// the one that `lead` names.
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

    /// Whether a row of this kind, made with this tool, is a look that does not
    /// count.
    pub(crate) fn leaves_out(&self, kind: i64, tool: Option<i64>) -> bool {
        kind == kind_code(Kind::Discovery) && tool.is_some_and(|tool| self.looking.contains(&tool))
    }
}

/// Which condition may choose the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeadingIndex {
    /// The project.
    Project,
    /// The session.
    Session,
    /// None: time or number leads.
    Nothing,
}

/// Paths that are the file; or also those that end in it after a `/`, or lie in
/// it as a folder, for which every path is looked at.
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
