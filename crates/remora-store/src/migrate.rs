//! The schema, step by step: numbered migrations, each in a transaction with
//! its checksum on record, and a copy of the old database before the first.

use std::path::Path;

use remora_memory::store::{LookTools, Result, StoreError};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::sqlite::{StoreResultExt, list_words};

/// A step from one schema to the next; never changed once it was released.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// The schema it leads to.
    pub(crate) version: u32,
    /// What it runs.
    pub(crate) sql: &'static str,
    /// What SQL cannot do, run after it.
    pub(crate) then: Option<fn(&Connection, LookTools) -> Result<()>>,
}

/// The schema in which words are listed by project and kind.
pub(crate) const INJECTABLE_TERMS_VERSION: u32 = 6;
/// The schema that knows what users said of items.
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
        // The lists of this step are those of the step that lists all words anew.
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
];

/// Marks a file as ours.
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

/// Looks without changing anything.
pub(crate) fn inspect_schema(conn: &Connection) -> Result<SchemaVersions> {
    let found = read_version(conn)?;
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
        // Another process may have taken the step while this one waited.
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

/// The steps on record must be the ones that this version would take.
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

/// FNV-1a over the text, line ends aside.
fn compute_checksum(sql: &str) -> i64 {
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
fn back_up_database(conn: &Connection, path: &Path, found: u32) -> Result<()> {
    use crate::sqlite::{io_error, owner_only, with_suffix};
    let target = with_suffix(path, &format!(".backup-v{found}"));
    let part = with_suffix(path, &format!(".backup-v{found}.part"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    owner_only(&mut options);
    options
        .open(&part)
        .map_err(|error| io_error(&part, &error))?;
    conn.backup("main", &part, None).store_err()?;
    std::fs::rename(&part, &target).map_err(|error| io_error(&target, &error))
}

#[cfg(test)]
mod tests;
