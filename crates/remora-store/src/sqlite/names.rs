//! Strings that many rows share, as ids, and the codes of kinds and file states.
//! The codes are part of the schema: never reuse one.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use remora_core::record::{FileState, Kind};
use remora_memory::store::Result;
use rusqlite::{CachedStatement, Connection, OptionalExtension};

use super::errors::StoreResultExt;

/// The stored code of a kind.
pub(crate) fn kind_code(kind: Kind) -> i64 {
    match kind {
        Kind::Decision => 1,
        Kind::Preference => 2,
        Kind::Correction => 3,
        Kind::Bugfix => 4,
        Kind::Feature => 5,
        Kind::Refactor => 6,
        Kind::Change => 7,
        Kind::Discovery => 8,
        Kind::Failure => 9,
        Kind::Command => 10,
        Kind::Task => 11,
        Kind::Prompt => 12,
        Kind::Message => 13,
        Kind::Summary => 14,
        Kind::Fix => 15,
        Kind::Memory => 16,
        Kind::Commit => 17,
    }
}

/// The kind with this code; none for a kind that only a newer version knows.
pub(crate) fn kind_of(code: i64) -> Option<Kind> {
    Kind::ALL
        .iter()
        .copied()
        .find(|kind| kind_code(*kind) == code)
}

/// The stored code of a file's state. The SQL of `put_file` names 1 and 5.
pub(crate) fn state_code(state: FileState) -> i64 {
    match state {
        FileState::Seen => 1,
        FileState::Added => 2,
        FileState::Changed => 3,
        FileState::Moved => 4,
        FileState::Removed => 5,
    }
}

/// The state with this code; an unknown one says the least.
pub(crate) fn state_of(code: i64) -> FileState {
    match code {
        2 => FileState::Added,
        3 => FileState::Changed,
        4 => FileState::Moved,
        5 => FileState::Removed,
        _ => FileState::Seen,
    }
}

/// The two tables of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum StringTable {
    /// Projects, sessions, agents and so on.
    Names,
    /// Paths of files.
    Paths,
}

impl StringTable {
    fn number_of(self) -> &'static str {
        match self {
            Self::Names => "SELECT id FROM names WHERE name = ?1",
            Self::Paths => "SELECT id FROM paths WHERE path = ?1",
        }
    }

    fn insert_sql(self) -> &'static str {
        match self {
            Self::Names => "INSERT INTO names (name) VALUES (?1)",
            Self::Paths => "INSERT INTO paths (path) VALUES (?1)",
        }
    }

    fn text_of(self) -> &'static str {
        match self {
            Self::Names => "SELECT name FROM names WHERE id = ?1",
            Self::Paths => "SELECT path FROM paths WHERE id = ?1",
        }
    }
}

/// The id of a string, if it is stored.
pub(crate) fn find_string_id(
    conn: &Connection,
    table: StringTable,
    text: &str,
) -> Result<Option<i64>> {
    conn.prepare_cached(table.number_of())
        .store_err()?
        .query_row([text], |row| row.get(0))
        .optional()
        .store_err()
}

/// Ids for strings while a batch is written. A batch names the same project and
/// session many times, so ids are cached for its duration.
pub(crate) struct Interner<'c> {
    conn: &'c Connection,
    known: HashMap<(StringTable, String), i64>,
}

impl<'c> Interner<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Self {
        Self {
            conn,
            known: HashMap::new(),
        }
    }

    /// The id of the string, which is stored if it is new.
    pub(crate) fn intern_string(&mut self, table: StringTable, text: &str) -> Result<i64> {
        let key = (table, text.to_owned());
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        let id = if let Some(id) = find_string_id(self.conn, table, text)? {
            id
        } else {
            self.conn
                .prepare_cached(table.insert_sql())
                .store_err()?
                .execute([text])
                .store_err()?;
            self.conn.last_insert_rowid()
        };
        self.known.insert(key, id);
        Ok(id)
    }

    pub(crate) fn name(&mut self, text: &str) -> Result<i64> {
        self.intern_string(StringTable::Names, text)
    }

    pub(crate) fn name_of(&mut self, text: Option<&str>) -> Result<Option<i64>> {
        text.map(|text| self.name(text)).transpose()
    }
}

/// Strings by id, while reading.
pub(crate) struct StringReader<'c> {
    conn: &'c Connection,
    /// One for each table, kept instead of looked up for every string: most items
    /// have paths of their own, which `known` does not have.
    statements: RefCell<[Option<CachedStatement<'c>>; 2]>,
    known: RefCell<BTreeMap<(StringTable, i64), String>>,
}

impl<'c> StringReader<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Self {
        Self {
            conn,
            statements: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// The string with this id; empty if there is none.
    pub(crate) fn read_string(&self, table: StringTable, id: i64) -> rusqlite::Result<String> {
        if let Some(text) = self.known.borrow().get(&(table, id)) {
            return Ok(text.clone());
        }
        let mut statements = self.statements.borrow_mut();
        let statement = match &mut statements[table as usize] {
            Some(statement) => statement,
            none => none.insert(self.conn.prepare_cached(table.text_of())?),
        };
        let text: String = statement
            .query_row([id], |row| row.get(0))
            .optional()?
            .unwrap_or_default();
        self.known.borrow_mut().insert((table, id), text.clone());
        Ok(text)
    }

    pub(crate) fn name(&self, id: i64) -> rusqlite::Result<String> {
        self.read_string(StringTable::Names, id)
    }

    pub(crate) fn name_of(&self, id: Option<i64>) -> rusqlite::Result<Option<String>> {
        id.map(|id| self.name(id)).transpose()
    }
}
