//! The database of another memory system, claude-mem, read as plain values. It
//! is never written, and the other program may have it open. Columns were added
//! and dropped over its versions: those that exist are read, others are empty.

mod table;

use std::path::Path;

use remora_memory::store::{Result, StoreError};
use rusqlite::{Connection, Row};

use self::table::{Column, ForeignTable, parse_list, read_number, read_project, read_text};
use crate::sqlite::{self, StoreResultExt};

/// How many rows are read at a time; between two pages the other program may
/// write.
pub const PAGE_ROWS: usize = 500;

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignSession {
    /// The client's own id.
    pub id: String,
    /// The id by which observations and summaries refer to it.
    pub memory_id: String,
    /// The name of the folder it began in.
    pub project: String,
    /// Which client it was.
    pub platform: String,
    /// Its custom title, or else its first prompt.
    pub title: String,
    /// In milliseconds since 1970.
    pub started: i64,
    /// When it ended, if it did.
    pub ended: Option<i64>,
    /// How many prompts it had.
    pub prompts: u32,
}

/// A prompt in the user's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignPrompt {
    /// Its number there.
    pub id: i64,
    /// The client's id of the session.
    pub session: String,
    /// Which prompt of the session.
    pub number: u32,
    /// The words.
    pub text: String,
    /// In milliseconds since 1970.
    pub time: i64,
}

/// What a model wrote down about some tool calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignObservation {
    /// Its number there.
    pub id: i64,
    /// The memory id of the session.
    pub session: String,
    /// The project's name.
    pub project: String,
    /// Its kind in one word; claude-mem's vocabulary, not ours.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Another line.
    pub subtitle: String,
    /// Short statements.
    pub facts: Vec<String>,
    /// The story.
    pub narrative: String,
    /// What it is about.
    pub concepts: Vec<String>,
    /// Files looked at.
    pub files_read: Vec<String>,
    /// Files changed.
    pub files_modified: Vec<String>,
    /// Which prompt of the session.
    pub prompt: Option<u32>,
    /// Tokens that finding it out took.
    pub tokens: u32,
    /// The subagent that did it.
    pub agent: String,
    /// In milliseconds since 1970.
    pub time: i64,
}

/// What a model summarised at a stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignSummary {
    /// Its number there.
    pub id: i64,
    /// The memory id of the session.
    pub session: String,
    /// The project's name.
    pub project: String,
    /// What was asked for.
    pub request: String,
    /// What was looked at.
    pub investigated: String,
    /// What was learned.
    pub learned: String,
    /// What was done.
    pub completed: String,
    /// What is left.
    pub next_steps: String,
    /// Anything else.
    pub notes: String,
    /// Files looked at.
    pub files_read: Vec<String>,
    /// Files changed.
    pub files_modified: Vec<String>,
    /// Which prompt of the session.
    pub prompt: Option<u32>,
    /// In milliseconds since 1970.
    pub time: i64,
}

/// A call of which no observation was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignToolUse {
    /// Its number there.
    pub id: i64,
    /// The client's id of the session.
    pub session: String,
    /// The project's name, where it is known.
    pub project: String,
    /// The client's id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it was called with, as JSON.
    pub input: String,
    /// What it answered, as JSON or text.
    pub response: String,
    /// The current directory.
    pub cwd: String,
    /// The subagent that made it.
    pub agent: String,
    /// In milliseconds since 1970.
    pub time: i64,
}

/// The database.
#[derive(Debug)]
pub struct ForeignDatabase {
    conn: Connection,
}

impl ForeignDatabase {
    /// Opens the file for reading and reads all of it once, so that a damaged one
    /// is refused before half of it has been imported.
    pub fn open(path: &Path) -> Result<Self> {
        let fault = |what: &str| StoreError::Failed(format!("{}: {what}", path.display()));
        if path.is_dir() {
            return Err(fault("is a folder; name the database in it"));
        }
        let foreign = Self {
            conn: sqlite::open_foreign(path)?,
        };
        let known = [
            &table::SESSIONS_TABLE,
            &table::OBSERVATIONS_TABLE,
            &table::SUMMARIES_TABLE,
        ];
        let mut there = Vec::new();
        for table in known {
            let columns = foreign.read_columns(table.name)?;
            if !columns.is_empty() {
                there.push(table.is_known(&columns));
            }
        }
        if there.is_empty() {
            return Err(fault(
                "no database of claude-mem: none of its tables is there",
            ));
        }
        if there.contains(&false) {
            return Err(fault(
                "a version of claude-mem that is not known: a table lacks its id or its session",
            ));
        }
        for table in table::ALL_TABLES {
            foreign.look_through(table)?;
        }
        Ok(foreign)
    }

    fn look_through(&self, table: &ForeignTable) -> Result<()> {
        let columns = self.read_columns(table.name)?;
        let Some(sql) = table.select_sql(&columns) else {
            return Ok(());
        };
        let mut statement = self.conn.prepare_cached(&sql).store_err()?;
        let mut rows = statement.query([0, i64::MAX]).store_err()?;
        while rows.next().store_err()?.is_some() {}
        Ok(())
    }

    /// All sessions, the oldest first.
    pub fn list_sessions(&self) -> Result<Vec<ForeignSession>> {
        let mut found = Vec::new();
        loop {
            let after = found.last().map_or(0, |(id, _)| *id);
            let page = self.read_page(&table::SESSIONS_TABLE, after, |row| {
                let ended = read_number(row, 7);
                let title = match (read_text(row, 5), read_text(row, 6)) {
                    (title, _) if !title.is_empty() => title,
                    (_, prompt) => prompt,
                };
                let session = ForeignSession {
                    id: read_text(row, 1),
                    memory_id: read_text(row, 2),
                    project: read_text(row, 3),
                    platform: read_text(row, 4),
                    title,
                    ended: (ended > 0).then_some(ended),
                    prompts: clamp_to_u32(read_number(row, 8)),
                    started: read_number(row, 9),
                };
                (read_number(row, 0), session)
            })?;
            if page.is_empty() {
                return Ok(found.into_iter().map(|(_, session)| session).collect());
            }
            found.extend(page);
        }
    }

    /// The next page of prompts, with ids above this one.
    pub fn list_prompts(&self, after: i64) -> Result<Vec<ForeignPrompt>> {
        self.read_page(&table::PROMPTS_TABLE, after, |row| ForeignPrompt {
            id: read_number(row, 0),
            session: read_text(row, 1),
            number: clamp_to_u32(read_number(row, 2)),
            text: read_text(row, 3),
            time: read_number(row, 4),
        })
    }

    /// The next page of observations, with ids above this one.
    pub fn list_observations(&self, after: i64) -> Result<Vec<ForeignObservation>> {
        self.read_page(&table::OBSERVATIONS_TABLE, after, |row| {
            let narrative = read_text(row, 7);
            // Earlier versions had one column `text` instead of a narrative.
            let old = read_text(row, 8);
            ForeignObservation {
                id: read_number(row, 0),
                session: read_text(row, 1),
                project: read_project(row, 2, 15),
                kind: read_text(row, 3),
                title: read_text(row, 4),
                subtitle: read_text(row, 5),
                facts: parse_list(&read_text(row, 6)),
                narrative: if narrative.is_empty() { old } else { narrative },
                concepts: parse_list(&read_text(row, 9)),
                files_read: parse_list(&read_text(row, 10)),
                files_modified: parse_list(&read_text(row, 11)),
                prompt: prompt_number(read_number(row, 12)),
                tokens: clamp_to_u32(read_number(row, 13)),
                agent: read_text(row, 14),
                time: read_number(row, 16),
            }
        })
    }

    /// The next page of summaries, with ids above this one.
    pub fn list_summaries(&self, after: i64) -> Result<Vec<ForeignSummary>> {
        self.read_page(&table::SUMMARIES_TABLE, after, |row| ForeignSummary {
            id: read_number(row, 0),
            session: read_text(row, 1),
            project: read_project(row, 2, 12),
            request: read_text(row, 3),
            investigated: read_text(row, 4),
            learned: read_text(row, 5),
            completed: read_text(row, 6),
            next_steps: read_text(row, 7),
            notes: read_text(row, 8),
            files_read: parse_list(&read_text(row, 9)),
            files_modified: parse_list(&read_text(row, 10)),
            prompt: prompt_number(read_number(row, 11)),
            time: read_number(row, 13),
        })
    }

    /// Calls that still wait for its model, with ids above this one.
    pub fn list_pending_calls(&self, after: i64) -> Result<Vec<ForeignToolUse>> {
        self.read_page(&table::PENDING_TABLE, after, tool_use)
    }

    /// Calls that its model made no observation of, with ids above this one.
    pub fn list_orphan_calls(&self, after: i64) -> Result<Vec<ForeignToolUse>> {
        self.read_page(&table::TOOL_USES_TABLE, after, tool_use)
    }

    fn read_page<T>(
        &self,
        table: &ForeignTable,
        after: i64,
        read: impl Fn(&Row<'_>) -> T,
    ) -> Result<Vec<T>> {
        let columns = self.read_columns(table.name)?;
        let Some(sql) = table.select_sql(&columns) else {
            return Ok(Vec::new());
        };
        let limit = i64::try_from(PAGE_ROWS).unwrap_or(i64::MAX);
        let mut statement = self.conn.prepare_cached(&sql).store_err()?;
        let rows = statement.query_map([after, limit], |row| Ok(read(row)));
        rows.store_err()?
            .collect::<rusqlite::Result<_>>()
            .store_err()
    }

    /// The columns of a table; none if the table does not exist.
    fn read_columns(&self, table: &str) -> Result<Vec<Column>> {
        let sql = "SELECT name FROM pragma_table_info(?1)";
        let mut statement = self.conn.prepare_cached(sql).store_err()?;
        let names = statement.query_map([table], |row| row.get(0));
        names
            .store_err()?
            .collect::<rusqlite::Result<_>>()
            .store_err()
    }
}

fn tool_use(row: &Row<'_>) -> ForeignToolUse {
    ForeignToolUse {
        id: read_number(row, 0),
        session: read_text(row, 1),
        project: read_text(row, 2),
        call: read_text(row, 3),
        tool: read_text(row, 4),
        input: read_text(row, 5),
        response: read_text(row, 6),
        cwd: read_text(row, 7),
        agent: read_text(row, 8),
        time: read_number(row, 9),
    }
}

fn clamp_to_u32(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

fn prompt_number(number: i64) -> Option<u32> {
    Some(clamp_to_u32(number)).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests;
