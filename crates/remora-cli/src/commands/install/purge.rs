//! `uninstall --purge`: removes what Remora put into its data directory, by
//! name. What it did not put there stays, and is named.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use remora_client::{DataPaths, is_known_name};
use remora_memory::store::Store as _;
use remora_store::Access;
use serde_json::{Value, json};

use crate::commands::show::lines::{format_count, format_size};
use crate::error::CliError;
use crate::output::{Output, escape_invisible};

/// Names of others that are listed one by one.
const MAX_LISTED_NAMES: usize = 20;

/// What a purge would remove.
#[derive(Debug, Default)]
pub(super) struct Purge {
    home: PathBuf,
    /// Names of ours in the data directory.
    known: Vec<OsString>,
    /// Names that Remora does not give.
    others: Vec<String>,
    /// Items in the database; `None` for one that cannot be read.
    items: Option<u64>,
    files: u64,
    bytes: u64,
}

impl Purge {
    /// Looks at what there is; changes nothing. A folder that is no data
    /// directory of ours is refused.
    pub(super) fn plan(paths: &DataPaths) -> Result<Self, CliError> {
        if let Some(reason) = paths.check_ownership() {
            return Err(CliError::Usage(format!("{reason}; nothing was removed")));
        }
        let home = paths.home().to_path_buf();
        let entries = match fs::read_dir(&home) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            other => other.map_err(file_error(&home))?,
        };
        let store = remora_server::open_database(&paths.database_file(), Access::Read);
        let counts = store.and_then(|store| store.count_contents());
        let mut purge = Self {
            home,
            items: counts.ok().map(|c| c.items.iter().map(|(_, n)| n).sum()),
            ..Self::default()
        };
        for entry in entries {
            let entry = entry.map_err(file_error(&purge.home))?;
            let name = entry.file_name();
            if is_known_name(&name) {
                purge.measure_path(&entry.path());
                purge.known.push(name);
            } else {
                purge.others.push(name.to_string_lossy().into_owned());
            }
        }
        purge.others.sort();
        Ok(purge)
    }

    fn measure_path(&mut self, path: &Path) {
        let Ok(meta) = fs::symlink_metadata(path) else {
            return;
        };
        if meta.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.for_each(|entry| self.measure_path(&entry.path()));
        } else {
            self.files += 1;
            self.bytes += meta.len();
        }
    }

    /// Whether to go on: `--yes`, or a yes on the terminal.
    pub(super) fn confirm(&self, yes: bool) -> Result<(), CliError> {
        if yes || self.known.is_empty() {
            return Ok(());
        }
        let what = format!("everything Remora remembers: {}", self.describe_contents());
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(CliError::Usage(format!(
                "--purge removes {what}; add --yes to do it; nothing was changed"
            )));
        }
        let mut error = io::stderr();
        write!(error, "Remove {what}? This cannot be undone. [y/N] ")?;
        error.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            Ok(())
        } else {
            Err(CliError::Usage("nothing was changed".to_owned()))
        }
    }

    fn describe_contents(&self) -> String {
        let files = format_count(self.files, "file", "files");
        let home = escape_invisible(&self.home.display().to_string());
        let held = match self.items {
            Some(items) => format!("{}, {files}", format_count(items, "item", "items")),
            None => files,
        };
        format!("{held}, {} in {home}", format_size(self.bytes))
    }

    /// Removes what is ours, and the folder if nothing else is in it. The mark
    /// goes last, so that a purge that was stopped half way can be repeated.
    pub(super) fn remove_data(&mut self) -> Result<(), CliError> {
        let mark = |name: &OsString| name == "remora-data";
        self.known.sort_by_key(mark);
        for name in &self.known {
            let path = self.home.join(name);
            let removed = match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path),
                // Of a link the link alone: where it leads is not ours.
                Ok(_) => fs::remove_file(&path),
                Err(e) => Err(e),
            };
            match removed {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(file_error(&path)(e)),
                _ => {}
            }
        }
        if self.others.is_empty() && !self.home.as_os_str().is_empty() {
            let linked = fs::symlink_metadata(&self.home).is_ok_and(|meta| meta.is_symlink());
            let real = fs::canonicalize(&self.home).unwrap_or_else(|_| self.home.clone());
            // One that is not empty any more stays.
            if fs::remove_dir(real).is_ok() && linked {
                fs::remove_file(&self.home).map_err(file_error(&self.home))?;
            }
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "items": self.items,
            "files": self.files,
            "bytes": self.bytes,
            "kept": self.others,
        })
    }

    pub(super) fn print_report(&self, out: &mut Output) -> Result<(), CliError> {
        if self.known.is_empty() {
            return out.print_text("there was no data directory to remove\n");
        }
        out.print_text(&format!("removed {}\n", self.describe_contents()))?;
        if self.others.is_empty() {
            return Ok(());
        }
        let others = format_count(self.others.len() as u64, "other file", "other files");
        let home = escape_invisible(&self.home.display().to_string());
        out.print_text(&format!("kept {others} in {home}:\n"))?;
        for name in self.others.iter().take(MAX_LISTED_NAMES) {
            out.print_text(&format!("  {}\n", escape_invisible(name)))?;
        }
        Ok(())
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
    move |source| CliError::File {
        path: path.to_path_buf(),
        source,
    }
}
