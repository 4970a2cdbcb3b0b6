//! The schema, step by step: numbered migrations, each in a transaction with
//! its checksum on record, and a copy of the old database before the first.

use std::path::Path;

use remora_core::hash::{HASH_START, extend_hash};
use remora_memory::store::{LookTools, Result, StoreError};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::sqlite::{StoreResultExt, list_said_sketches, list_words};

/// A step from one schema to the next. A released migration never changes: its
/// checksum is recorded in every database that ran it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// The schema it leads to.
    pub(crate) version: u32,
    /// The statements it runs.
    pub(crate) sql: &'static str,
    /// What SQL alone cannot do, run after it in the same transaction.
    pub(crate) then: Option<fn(&Connection, LookTools) -> Result<()>>,
}

/// The first schema whose full-text index has injectable terms for all kinds.
pub(crate) const INJECTABLE_TERMS_VERSION: u32 = 6;
/// The first schema that has sketches of what was said apart from the others.
pub(crate) const SAID_SKETCHES_VERSION: u32 = 7;
/// The first schema that has a table of overrides.
pub(crate) const OVERRIDES_VERSION: u32 = 5;

pub(crate) const MIGRATIONS: &[Migration] = &[
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
        // This step empties the full-text index too, but step 6 fills it for both:
        // indexing all items takes seconds and would otherwise happen twice.
        then: None,
    },
    Migration {
        version: OVERRIDES_VERSION,
        sql: include_str!("../migrations/sqlite/0005_overrides.sql"),
        then: None,
    },
    Migration {
        version: INJECTABLE_TERMS_VERSION,
        sql: include_str!("../migrations/sqlite/0006_prompts.sql"),
        then: Some(list_words),
    },
    Migration {
        version: SAID_SKETCHES_VERSION,
        sql: include_str!("../migrations/sqlite/0007_said_sketches.sql"),
        then: Some(list_said_sketches),
    },
];

/// SQLite's `application_id` of our databases: "Remo" in ASCII.
const APPLICATION_ID: i32 = 0x5265_6D6F;

/// Which schema a file has, and which one this version knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaVersions {
    /// In the file.
    pub(crate) found: u32,
    /// The newest known.
    pub(crate) known: u32,
}

fn latest_version(steps: &[Migration]) -> u32 {
    steps.last().map_or(0, |step| step.version)
}

/// The schema in the file.
pub(crate) fn read_version(conn: &Connection) -> Result<u32> {
    conn.prepare_cached("PRAGMA user_version")
        .store_err()?
        .query_row([], |row| row.get(0))
        .store_err()
}

/// Reads the schema version without changing anything.
pub(crate) fn inspect_schema(conn: &Connection) -> Result<SchemaVersions> {
    let found = read_version(conn)?;
    // 0 is the default of SQLite: the file was created, but no migration has
    // committed yet.
    if found == 0 {
        return Err(StoreError::Empty);
    }
    Ok(SchemaVersions {
        found,
        known: latest_version(MIGRATIONS),
    })
}

/// Brings the file to the newest schema. A newer file is left as it is.
pub(crate) fn bring_up(
    conn: &mut Connection,
    path: &Path,
    looks: LookTools,
) -> Result<SchemaVersions> {
    run_migrations(conn, path, looks, MIGRATIONS)
}

fn run_migrations(
    conn: &mut Connection,
    path: &Path,
    looks: LookTools,
    steps: &[Migration],
) -> Result<SchemaVersions> {
    let found = read_version(conn)?;
    let known = latest_version(steps);
    if found >= known {
        // Of a newer file not all steps are known here; it is only ever read.
        if found == known {
            check_applied(conn, steps)?;
        }
        return Ok(SchemaVersions { found, known });
    }
    if found > 0 {
        back_up_database(conn, path, found)?;
    }
    for step in steps.iter().filter(|step| step.version > found) {
        let tx = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .store_err()?;
        // Another process may have run the step while this one waited for the lock.
        if read_version(&tx)? >= step.version {
            continue;
        }
        tx.execute_batch(
            "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT",
        )
        .store_err()?;
        tx.execute_batch(step.sql).store_err()?;
        if let Some(then) = step.then {
            then(&tx, looks)?;
        }
        tx.execute(
            "INSERT INTO migrations (version, checksum) VALUES (?1, ?2)",
            (step.version, compute_checksum(step.sql)),
        )
        .store_err()?;
        tx.pragma_update(None, "user_version", step.version)
            .store_err()?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)
            .store_err()?;
        tx.commit().store_err()?;
    }
    Ok(SchemaVersions {
        found: known,
        known,
    })
}

/// The recorded migrations must be the ones that this version would run. A
/// build whose migration was edited would otherwise work on a schema it does
/// not know.
fn check_applied(conn: &Connection, steps: &[Migration]) -> Result<()> {
    for step in steps {
        let recorded: Option<i64> = conn
            .query_row(
                "SELECT checksum FROM migrations WHERE version = ?1",
                [step.version],
                |row| row.get(0),
            )
            .optional()
            .store_err()?;
        if recorded != Some(compute_checksum(step.sql)) {
            return Err(StoreError::Failed(format!(
                "migration {} is not the one that made this database",
                step.version
            )));
        }
    }
    Ok(())
}

/// A hash of the text without carriage returns: a checkout that converts line ends
/// must not make every database look foreign.
fn compute_checksum(sql: &str) -> i64 {
    let hash = sql
        .split('\r')
        .fold(HASH_START, |hash, part| extend_hash(hash, part.as_bytes()));
    i64::from_ne_bytes(hash.to_ne_bytes())
}

/// Copies the database next to itself before it is migrated. An older copy of
/// the same schema is replaced only once the new one is complete.
fn back_up_database(conn: &Connection, path: &Path, found: u32) -> Result<()> {
    use crate::sqlite::{io_error, owner_only, with_suffix};
    let target = with_suffix(path, &format!(".backup-v{found}"));
    let part = with_suffix(path, &format!(".backup-v{found}.part"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    // SQLite would create the copy with the process's umask; it holds the same
    // memory as the original and gets the same mode.
    owner_only(&mut options);
    options
        .open(&part)
        .map_err(|error| io_error(&part, &error))?;
    conn.backup("main", &part, None).store_err()?;
    std::fs::rename(&part, &target).map_err(|error| io_error(&target, &error))
}

#[cfg(test)]
mod tests;
