//! The database of another memory system, claude-mem, read as plain values. It
//! is never written to, and its owner may have it open. Columns have come and
//! gone over its versions: those that are there are read, others are empty.

mod table;

use std::path::Path;

use remora_memory::store::{Result, StoreError};
use rusqlite::{Connection, Row};

use self::table::{Column, Table, list, number, text};
use crate::sqlite::{self, Told};

/// Rows that are read at a time.
pub const PAGE: usize = 500;

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The client's own id.
    pub id: String,
    /// The id that observations and summaries bear.
    pub memory_id: String,
    /// The name of the folder it began in.
    pub project: String,
    /// Which client it was.
    pub platform: String,
    /// What it was called, or asked for first.
    pub title: String,
    /// In milliseconds since 1970.
    pub started: i64,
    /// When it ended, if it did.
    pub ended: Option<i64>,
    /// How many prompts were given.
    pub prompts: u32,
}

/// The person's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
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

/// What a model noted of some calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// Its number there.
    pub id: i64,
    /// The memory id of the session.
    pub session: String,
    /// The project's name.
    pub project: String,
    /// What kind it is, in one word.
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

/// What a model summed up at a stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
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
pub struct ToolUse {
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
pub struct Foreign {
    conn: Connection,
}

impl Foreign {
    /// Opens the file for reading, and reads all of it once: whatever is wrong
    /// with it is known before anything of it is used.
    pub fn open(path: &Path) -> Result<Self> {
        let fault = |what: &str| StoreError::Failed(format!("{}: {what}", path.display()));
        if path.is_dir() {
            return Err(fault("is a folder; name the database in it"));
        }
        let foreign = Self {
            conn: sqlite::foreign(path)?,
        };
        let known = [&table::SESSIONS, &table::OBSERVATIONS, &table::SUMMARIES];
        let mut there = Vec::new();
        for table in known {
            let columns = foreign.columns(table.name)?;
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
        for table in table::ALL {
            foreign.look_through(table)?;
        }
        Ok(foreign)
    }

    fn look_through(&self, table: &Table) -> Result<()> {
        let columns = self.columns(table.name)?;
        let Some(sql) = table.select(&columns) else {
            return Ok(());
        };
        let mut statement = self.conn.prepare_cached(&sql).told()?;
        let mut rows = statement.query([0, i64::MAX]).told()?;
        while rows.next().told()?.is_some() {}
        Ok(())
    }

    /// All sessions, the oldest first.
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let mut found = Vec::new();
        loop {
            let after = found.last().map_or(0, |(id, _)| *id);
            let page = self.page(&table::SESSIONS, after, |row| {
                let ended = number(row, 7);
                let title = match (text(row, 5), text(row, 6)) {
                    (title, _) if !title.is_empty() => title,
                    (_, prompt) => prompt,
                };
                let session = Session {
                    id: text(row, 1),
                    memory_id: text(row, 2),
                    project: text(row, 3),
                    platform: text(row, 4),
                    title,
                    ended: (ended > 0).then_some(ended),
                    prompts: small(number(row, 8)),
                    started: number(row, 9),
                };
                (number(row, 0), session)
            })?;
            if page.is_empty() {
                return Ok(found.into_iter().map(|(_, session)| session).collect());
            }
            found.extend(page);
        }
    }

    /// Prompts beyond this number.
    pub fn prompts(&self, after: i64) -> Result<Vec<Prompt>> {
        self.page(&table::PROMPTS, after, |row| Prompt {
            id: number(row, 0),
            session: text(row, 1),
            number: small(number(row, 2)),
            text: text(row, 3),
            time: number(row, 4),
        })
    }

    /// Observations beyond this number.
    pub fn observations(&self, after: i64) -> Result<Vec<Observation>> {
        self.page(&table::OBSERVATIONS, after, |row| {
            let narrative = text(row, 7);
            let old = text(row, 8);
            let merged = text(row, 15);
            Observation {
                id: number(row, 0),
                session: text(row, 1),
                project: if merged.is_empty() {
                    text(row, 2)
                } else {
                    merged
                },
                kind: text(row, 3),
                title: text(row, 4),
                subtitle: text(row, 5),
                facts: list(&text(row, 6)),
                narrative: if narrative.is_empty() { old } else { narrative },
                concepts: list(&text(row, 9)),
                files_read: list(&text(row, 10)),
                files_modified: list(&text(row, 11)),
                prompt: prompt(number(row, 12)),
                tokens: small(number(row, 13)),
                agent: text(row, 14),
                time: number(row, 16),
            }
        })
    }

    /// Summaries beyond this number.
    pub fn summaries(&self, after: i64) -> Result<Vec<Summary>> {
        self.page(&table::SUMMARIES, after, |row| {
            let merged = text(row, 12);
            Summary {
                id: number(row, 0),
                session: text(row, 1),
                project: if merged.is_empty() {
                    text(row, 2)
                } else {
                    merged
                },
                request: text(row, 3),
                investigated: text(row, 4),
                learned: text(row, 5),
                completed: text(row, 6),
                next_steps: text(row, 7),
                notes: text(row, 8),
                files_read: list(&text(row, 9)),
                files_modified: list(&text(row, 10)),
                prompt: prompt(number(row, 11)),
                time: number(row, 13),
            }
        })
    }

    /// Calls that still wait to be looked at, beyond this number.
    pub fn pending(&self, after: i64) -> Result<Vec<ToolUse>> {
        self.page(&table::PENDING, after, tool_use)
    }

    /// Calls that were looked at and nothing was made of, beyond this number.
    pub fn orphans(&self, after: i64) -> Result<Vec<ToolUse>> {
        self.page(&table::TOOL_USES, after, tool_use)
    }

    fn page<T>(&self, table: &Table, after: i64, read: impl Fn(&Row<'_>) -> T) -> Result<Vec<T>> {
        let columns = self.columns(table.name)?;
        let Some(sql) = table.select(&columns) else {
            return Ok(Vec::new());
        };
        let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
        let mut statement = self.conn.prepare_cached(&sql).told()?;
        let rows = statement.query_map([after, limit], |row| Ok(read(row)));
        rows.told()?.collect::<rusqlite::Result<_>>().told()
    }

    fn columns(&self, table: &str) -> Result<Vec<Column>> {
        let sql = "SELECT name FROM pragma_table_info(?1)";
        let mut statement = self.conn.prepare_cached(sql).told()?;
        let names = statement.query_map([table], |row| row.get(0));
        names.told()?.collect::<rusqlite::Result<_>>().told()
    }
}

fn tool_use(row: &Row<'_>) -> ToolUse {
    ToolUse {
        id: number(row, 0),
        session: text(row, 1),
        project: text(row, 2),
        call: text(row, 3),
        tool: text(row, 4),
        input: text(row, 5),
        response: text(row, 6),
        cwd: text(row, 7),
        agent: text(row, 8),
        time: number(row, 9),
    }
}

fn small(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

fn prompt(number: i64) -> Option<u32> {
    Some(small(number)).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests;
