//! The schema, step by step: numbered migrations, each in a transaction with
//! its checksum on record, and a copy of the old database before the first.

use std::path::Path;

use remora_memory::store::{Result, StoreError};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::sqlite::{Told, list_words};

/// A step from one schema to the next; never changed once it was released.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// The schema it leads to.
    pub(crate) version: u32,
    /// What it runs.
    pub(crate) sql: &'static str,
    /// What SQL cannot do, run after it.
    pub(crate) then: Option<fn(&Connection) -> Result<()>>,
}

/// The schema in which words are listed by project and kind.
pub(crate) const LISTED: u32 = 6;
/// The schema that knows what users said of items.
pub(crate) const OVERRIDES: u32 = 5;

pub(crate) const ALL: &[Migration] = &[
    Migration {
        version: 1,
        sql: include_str!("../migrations/sqlite/0001_init.sql"),
        then: None,
    },
    Migration {
        version: 2,
        sql: include_str!("../migrations/sqlite/0002_meanings.sql"),
        then: None,
    },
    Migration {
        version: 3,
        sql: include_str!("../migrations/sqlite/0003_given.sql"),
        then: None,
    },
    Migration {
        version: 4,
        sql: include_str!("../migrations/sqlite/0004_lists.sql"),
        // The lists of this step are those of the step that lists all words anew.
        then: None,
    },
    Migration {
        version: OVERRIDES,
        sql: include_str!("../migrations/sqlite/0005_overrides.sql"),
        then: None,
    },
    Migration {
        version: LISTED,
        sql: include_str!("../migrations/sqlite/0006_prompts.sql"),
        then: Some(list_words),
    },
];

/// Marks a file as ours.
const APPLICATION: i32 = 0x5265_6D6F;

/// Which schema a file has, and which one this version knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schema {
    /// In the file.
    pub(crate) found: u32,
    /// The newest known.
    pub(crate) known: u32,
}

fn known(steps: &[Migration]) -> u32 {
    steps.last().map_or(0, |step| step.version)
}

/// The schema in the file.
pub(crate) fn version(conn: &Connection) -> Result<u32> {
    conn.prepare_cached("PRAGMA user_version")
        .told()?
        .query_row([], |row| row.get(0))
        .told()
}

/// Looks without changing anything.
pub(crate) fn look(conn: &Connection) -> Result<Schema> {
    let found = version(conn)?;
    if found == 0 {
        return Err(StoreError::Empty);
    }
    Ok(Schema {
        found,
        known: known(ALL),
    })
}

/// Brings the file to the newest schema. A newer file is left as it is.
pub(crate) fn bring_up(conn: &mut Connection, path: &Path) -> Result<Schema> {
    run(conn, path, ALL)
}

fn run(conn: &mut Connection, path: &Path, steps: &[Migration]) -> Result<Schema> {
    let found = version(conn)?;
    let known = known(steps);
    if found >= known {
        if found == known {
            check(conn, steps)?;
        }
        return Ok(Schema { found, known });
    }
    if found > 0 {
        backup(conn, path, found)?;
    }
    for step in steps.iter().filter(|step| step.version > found) {
        let tx = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .told()?;
        // Another process may have taken the step while this one waited.
        if version(&tx)? >= step.version {
            continue;
        }
        tx.execute_batch(
            "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT",
        )
        .told()?;
        tx.execute_batch(step.sql).told()?;
        if let Some(then) = step.then {
            then(&tx)?;
        }
        tx.execute(
            "INSERT INTO migrations (version, checksum) VALUES (?1, ?2)",
            (step.version, checksum(step.sql)),
        )
        .told()?;
        tx.pragma_update(None, "user_version", step.version)
            .told()?;
        tx.pragma_update(None, "application_id", APPLICATION)
            .told()?;
        tx.commit().told()?;
    }
    Ok(Schema {
        found: known,
        known,
    })
}

/// The steps on record must be the ones that this version would take.
fn check(conn: &Connection, steps: &[Migration]) -> Result<()> {
    for step in steps {
        let recorded: Option<i64> = conn
            .query_row(
                "SELECT checksum FROM migrations WHERE version = ?1",
                [step.version],
                |row| row.get(0),
            )
            .optional()
            .told()?;
        if recorded != Some(checksum(step.sql)) {
            return Err(StoreError::Failed(format!(
                "migration {} is not the one that made this database",
                step.version
            )));
        }
    }
    Ok(())
}

/// FNV-1a over the text, line ends aside.
fn checksum(sql: &str) -> i64 {
    let hash = sql
        .bytes()
        .filter(|byte| *byte != b'\r')
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
    i64::from_ne_bytes(hash.to_ne_bytes())
}

/// A copy of the database as it was, beside it. An older copy of the same
/// schema is replaced only once the new one is whole.
fn backup(conn: &Connection, path: &Path, found: u32) -> Result<()> {
    use crate::sqlite::{beside, io, owner_only};
    let target = beside(path, &format!(".backup-v{found}"));
    let part = beside(path, &format!(".backup-v{found}.part"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    owner_only(&mut options);
    options.open(&part).map_err(|error| io(&part, &error))?;
    conn.backup("main", &part, None).told()?;
    std::fs::rename(&part, &target).map_err(|error| io(&target, &error))
}

#[cfg(test)]
mod tests;
