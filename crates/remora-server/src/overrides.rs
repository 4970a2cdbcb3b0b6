//! What users said of items, in a file beside the database: a database that is
//! lost or damaged must not cost a user's corrections.

use std::fs;
use std::io;

use remora_client::DataPaths;
use remora_core::record::Override;
use remora_memory::store::Store;

use crate::forget::write_whole;
use crate::{ServerError, io_error_at};

/// Writes down what the store knows. The caller holds the worker's lock.
pub fn save_overrides(paths: &DataPaths, store: &dyn Store) -> Result<(), ServerError> {
    let file = paths.overrides_file();
    let all = store.list_overrides(None)?;
    if all.is_empty() {
        return match fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_error_at(&file)(e)),
            _ => Ok(()),
        };
    }
    let mut lines = Vec::new();
    for one in &all {
        serde_json::to_writer(&mut lines, one)
            .map_err(io::Error::from)
            .map_err(io_error_at(&file))?;
        lines.push(b'\n');
    }
    write_whole(&file, &lines).map_err(io_error_at(&file))
}

/// What was written down last.
pub(crate) fn load_overrides(paths: &DataPaths) -> Result<Vec<Override>, ServerError> {
    let file = paths.overrides_file();
    let text = match fs::read_to_string(&file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(io_error_at(&file))?,
    };
    let lines = text.lines();
    Ok(lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}
