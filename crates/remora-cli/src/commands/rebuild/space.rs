//! Whether there is room for a second database beside the first.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::CliError;

/// What an archive becomes at most in the database, by its compressed size.
const MAX_UNPACK_RATIO: u64 = 4;
/// Journals and the like.
const SPARE_BYTES: u64 = 32 * 1024 * 1024;

/// Refuses when the new database would not fit. Where the system does not say
/// how much is free, the work is begun: a full disk ends it without harm.
pub(crate) fn check_free_space(folder: &Path, database: u64, archive: u64) -> Result<(), CliError> {
    let needed = database.max(archive * MAX_UNPACK_RATIO) + SPARE_BYTES;
    match read_free_bytes(folder) {
        Some(free) if free < needed => Err(CliError::Usage(format!(
            "{}: {} MB are free, but a second database of up to {} MB must fit beside the first",
            folder.display(),
            free / 1_048_576,
            needed.div_ceil(1_048_576)
        ))),
        _ => Ok(()),
    }
}

/// Bytes that are free, as the system's own `df` says.
fn read_free_bytes(folder: &Path) -> Option<u64> {
    let done = Command::new("df")
        .arg("-Pk")
        .arg(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    parse_df_output(&String::from_utf8_lossy(&done.stdout))
}

fn parse_df_output(text: &str) -> Option<u64> {
    let line = text.lines().nth(1)?;
    // A mount point may hold blanks, but comes last.
    let free: u64 = line.split_whitespace().nth(3)?.parse().ok()?;
    free.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_column_counts() {
        let text = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 100 40 60 40% /a b\n";
        assert_eq!(parse_df_output(text), Some(60 * 1024));
        assert_eq!(parse_df_output("nonsense"), None);
        assert_eq!(parse_df_output(""), None);
    }

    #[test]
    fn what_cannot_fit_is_refused() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(read_free_bytes(here).is_some_and(|free| free > 0));
        assert!(check_free_space(here, u64::MAX / 8, 0).is_err());
        assert!(check_free_space(Path::new("/no/such/folder"), u64::MAX / 8, 0).is_ok());
    }
}
