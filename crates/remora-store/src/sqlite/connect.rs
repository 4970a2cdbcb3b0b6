//! The one place where a connection is opened: modes, journal, waiting and the
//! deadline. Durable against the death of the process; a power cut may cost
//! the last moments but never the file.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_memory::store::{Result, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::errors::StoreResultExt;
use crate::Access;

/// How long a writer waits for another one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Pages that a hook keeps. A hook reads most pages once, and memory that a
/// process touches for the first time costs it more than reading a page again.
const HOOK_CACHE_KIB: i32 = 1024;
/// Pages that any other reader keeps, which may look through all embeddings.
const READER_CACHE_KIB: i32 = 32 * 1024;
/// How long a reader without a deadline waits; only recovery after a crash ever
/// holds it up.
const READER_LOCK_TIMEOUT: Duration = Duration::from_millis(500);
/// How many steps of SQLite's virtual machine pass between two checks of the
/// deadline: a fraction of a millisecond.
const DEADLINE_CHECK_STEPS: i32 = 2_000;

pub(crate) fn open_connection(path: &Path, access: Access) -> Result<Connection> {
    match access {
        Access::Write => open_writer(path),
        Access::Read => open_reader(path, None),
        Access::ReadUntil(end) => open_reader(path, Some(end)),
    }
}

fn open_writer(path: &Path) -> Result<Connection> {
    let new = create_owned_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).store_err()?;
    conn.busy_timeout(LOCK_TIMEOUT).store_err()?;
    if new {
        // Both settings take effect only while the file is empty and not yet in
        // WAL mode. Rows of one to three kilobytes waste less of a page of 8 KiB,
        // and a block of sketches is sized to fit one (vectors/block.rs).
        conn.pragma_update(None, "page_size", 8192).store_err()?;
        // Lets pruning return freed pages to the file system.
        conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")
            .store_err()?;
    }
    conn.pragma_update(None, "journal_mode", "WAL")
        .store_err()?;
    // Syncs at checkpoints only. What a power cut takes from here is still in
    // the archive, which the worker syncs before it removes a spool file.
    conn.pragma_update(None, "synchronous", "NORMAL")
        .store_err()?;
    conn.pragma_update(None, "foreign_keys", true).store_err()?;
    // Deleted content is overwritten with zeros where no extra page has to be
    // written for it. An erase switches to the thorough mode.
    conn.pragma_update(None, "secure_delete", "FAST")
        .store_err()?;
    // The journal grows during a large import; it is truncated to this size when
    // SQLite starts it over.
    conn.pragma_update(None, "journal_size_limit", 8 * 1024 * 1024)
        .store_err()?;
    conn.pragma_update(None, "cache_size", -8 * 1024)
        .store_err()?;
    conn.pragma_update(None, "temp_store", "MEMORY")
        .store_err()?;
    configure_statements(&conn);
    Ok(conn)
}

fn open_reader(path: &Path, end: Option<Instant>) -> Result<Connection> {
    if !path.is_file() {
        return Err(StoreError::Failed(format!(
            "{}: no such file",
            path.display()
        )));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags).store_err()?;
    let tuned = match configure_reader(&conn, end) {
        // In WAL mode even a reader creates the `-shm` file, which fails in a
        // directory it may not write to.
        Err(e) if is_shut(&e) => {
            conn = open_in_read_only_dir(path)?;
            configure_reader(&conn, end)
        }
        other => other,
    };
    tuned.store_err()?;
    Ok(conn)
}

/// Whether SQLite could not create the files it needs next to the database.
fn is_shut(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

fn configure_reader(conn: &Connection, end: Option<Instant>) -> rusqlite::Result<()> {
    let patience = end.map_or(READER_LOCK_TIMEOUT, |end| {
        end.saturating_duration_since(Instant::now())
    });
    conn.busy_timeout(patience)?;
    if let Some(end) = end {
        conn.progress_handler(DEADLINE_CHECK_STEPS, Some(move || Instant::now() >= end))?;
    }
    let cache_kib = if end.is_some() {
        HOOK_CACHE_KIB
    } else {
        READER_CACHE_KIB
    };
    // A negative value is a size in KiB; a positive one would count pages.
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    configure_statements(conn);
    Ok(())
}

/// Opens a database in a directory that cannot be written to. If its journal is
/// empty, no process writes it and the one file holds everything.
fn open_in_read_only_dir(path: &Path) -> Result<Connection> {
    let journal = fs::metadata(with_suffix(path, "-wal"));
    if journal.is_ok_and(|meta| meta.len() > 0) {
        return Err(StoreError::Failed(format!(
            "{}: its folder cannot be written to, and its journal has to be brought in first; make the folder writable",
            path.display()
        )));
    }
    open_immutable(path)
}

/// Opens another program's database for reading. One without a journal is
/// opened as immutable, so that SQLite leaves no `-shm` or `-wal` next to it.
pub(crate) fn open_foreign(path: &Path) -> Result<Connection> {
    let journal = |end| with_suffix(path, end).exists();
    if !path.is_file() || journal("-wal") || journal("-journal") {
        return open_reader(path, None);
    }
    open_immutable(path)
}

/// Opens a database that no process writes, without locks and without a journal.
fn open_immutable(path: &Path) -> Result<Connection> {
    // `immutable` can only be set in a URI, where `?`, `#` and `%` of a path
    // would mean something else.
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            other => uri.extend(['%', hex_digit(other >> 4), hex_digit(other & 15)]),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(uri, flags).store_err()?;
    configure_statements(&conn);
    Ok(conn)
}

fn hex_digit(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0')
}

fn configure_statements(conn: &Connection) {
    conn.set_prepared_statement_cache_capacity(64);
    // The query planner stability guarantee: a cached statement is not prepared
    // again when another value is bound. Failing to set it only costs time.
    let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true);
}

/// Creates the file for its owner only, or restricts an existing one to its
/// owner. Returns whether it is empty. SQLite gives its journals the mode of the
/// database, so the file must exist with the right mode before SQLite opens it.
fn create_owned_file(path: &Path) -> Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    owner_only(&mut options);
    match options.open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            for file in [
                path.to_path_buf(),
                with_suffix(path, "-wal"),
                with_suffix(path, "-shm"),
            ] {
                close_to_others(&file);
            }
            let empty = fs::metadata(path).is_ok_and(|meta| meta.len() == 0);
            Ok(empty)
        }
        Err(error) => Err(io_error(path, &error)),
    }
}

/// The path with this suffix appended, as SQLite names its journals.
pub(crate) fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A file system error as the port reports it. The worker tries again after a
/// full disk, since the events stay in the spool.
pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> StoreError {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::Interrupted => {
            StoreError::Again(text)
        }
        _ => StoreError::Failed(text),
    }
}

#[cfg(unix)]
pub(crate) fn owner_only(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
pub(crate) fn owner_only(_: &mut OpenOptions) {}

#[cfg(unix)]
fn close_to_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(meta) = fs::metadata(path) else { return };
    if meta.permissions().mode() & 0o077 != 0 {
        // Only the owner may change the mode. Another user's file fails when it is
        // written, with an error that says so.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_with_a_deadline_waits_for_a_lock_until_then() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("remora.db");
        drop(open_connection(&file, Access::Write).unwrap());
        let patience_ms = |access: Access| -> u64 {
            let conn = open_connection(&file, access).unwrap();
            conn.pragma_query_value(None, "busy_timeout", |row| row.get(0))
                .unwrap()
        };
        assert_eq!(patience_ms(Access::Read), 500);
        let end = Instant::now() + Duration::from_mins(10);
        let patience = patience_ms(Access::ReadUntil(end));
        assert!((60_000..=600_000).contains(&patience), "{patience}");
    }
}
