//! Whether a folder is a data directory of ours. Remora deletes in its data
//! directory, so it uses one only if it made it: a mark says so. A folder that
//! holds anything else is refused, and left exactly as it is.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::folder::describe_link;
use crate::{DataPaths, Folder, open_plain};

/// The name of the mark.
const MARKER_FILE: &str = "remora-data";
/// The version of the layout that this program knows.
const LAYOUT_VERSION: u32 = 1;
/// More of a mark is not read.
const MAX_MARKER_BYTES: u64 = 256;

/// Files that we put into a data directory, besides the database.
const DATA_FILES: [&str; 11] = [
    MARKER_FILE,
    "accepted.json",
    "approvals.json",
    "config.toml",
    "folders.json",
    "forgetting.json",
    "forgotten.jsonl",
    "installed.json",
    "joined.jsonl",
    "mcp.json",
    "overrides.jsonl",
];
/// Folders that we put there.
const DATA_FOLDERS: [&str; 9] = [
    "archive", "check", "dead", "import", "logs", "memory", "roots", "run", "spool",
];
/// The database, its journals, backups and what a rebuild puts aside.
const DATABASE_FILE: &str = "remora.db";
/// Saved memories: the only folder that may be a link, since users keep them
/// with their own files, and only what the user names is deleted there.
const LINKABLE_FOLDER: &str = "memory";

/// Whether this is a name that we give to something in a data directory.
pub fn is_known_name(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    // Drafts that are renamed when complete: a process that was killed leaves
    // these.
    let whole = [".tmp", ".new", ".part", ".lock"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    DATA_FILES.contains(&whole)
        || DATA_FOLDERS.contains(&name)
        || whole == DATABASE_FILE
        || whole
            .strip_prefix(DATABASE_FILE)
            .is_some_and(|rest| rest.starts_with(['-', '.']))
}

impl DataPaths {
    /// Whether the mark is there: one look, for a hook.
    pub fn is_marked(&self) -> bool {
        fs::symlink_metadata(self.home().join(MARKER_FILE)).is_ok_and(|meta| meta.is_file())
    }

    /// Why this folder must not be used as a data directory; `None` for one that
    /// may: it is marked, not there yet, empty, or was made by a version that
    /// set no marks.
    pub fn check_ownership(&self) -> Option<String> {
        let home = self.home();
        if self.is_marked() {
            return newer_layout(home);
        }
        // What cannot be listed fails with its own reason when it is used.
        let entries = fs::read_dir(home).ok()?;
        let (mut stranger, mut known) = (None, 0);
        for entry in entries.flatten() {
            let name = entry.file_name();
            if is_known_name(&name) {
                known += 1;
            } else {
                stranger.get_or_insert(name);
            }
        }
        let stranger = stranger?;
        // Users may have put a note or a backup next to our files before marks
        // existed.
        if known > 0 && is_unmarked_data(home) {
            return None;
        }
        Some(format!(
            "{}: is not a data directory of Remora: it holds other files (`{}`) and no `{MARKER_FILE}`; \
             set REMORA_HOME to a new or empty folder. If this folder is Remora's own, \
             put an empty file named `{MARKER_FILE}` into it",
            home.display(),
            stranger.display()
        ))
    }

    /// Whether a hook has to leave this folder alone. Two looks where all is
    /// well; the spool is looked at when it is opened.
    pub fn refuses_hooks(&self) -> bool {
        let unmarked = !self.is_marked() && self.check_ownership().is_some();
        unmarked || fs::symlink_metadata(self.run_dir()).is_ok_and(|meta| meta.is_symlink())
    }

    /// Makes the data directory and the folders in it, for the owner only, and
    /// marks it. Refuses what is not ours.
    pub fn prepare_data_dir(&self) -> io::Result<()> {
        if let Some(reason) = self.check_ownership() {
            return Err(io::Error::other(reason));
        }
        let home = self.home();
        private_dir_builder().recursive(true).create(home)?;
        // The data directory itself may be a link to where there is room.
        // Resolved once: `Folder::open` refuses links, and from here on the
        // handle counts, not the name.
        let home = fs::canonicalize(home)?;
        let folder = Folder::open(&home)?;
        set_mark(&folder)?;
        folder.make_private()?;
        for folder in [
            self.spool_dir(),
            self.dead_letter_dir(),
            self.archive_dir(),
            self.log_dir(),
            self.run_dir(),
        ] {
            make_folder(&folder)?;
        }
        Ok(())
    }

    /// What keeps this folder from being used, for the user: as
    /// [`Self::check_ownership`], and a folder in it that is a link.
    pub fn find_fault(&self) -> Option<String> {
        self.check_ownership().or_else(|| {
            let linked = self.find_linked_folder()?;
            Some(describe_link(&linked))
        })
    }

    /// The first folder of ours that is a link: none may be one, save saved
    /// memories.
    fn find_linked_folder(&self) -> Option<PathBuf> {
        let linked = |path: &Path| fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
        DATA_FOLDERS
            .iter()
            .filter(|name| **name != LINKABLE_FOLDER)
            .map(|name| self.home().join(name))
            .find(|path| linked(path))
    }
}

/// A version without marks made all of these at its first event, and the
/// database or the settings soon after.
fn is_unmarked_data(home: &Path) -> bool {
    let is = |name: &str, fits: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(home.join(name)).is_ok_and(|meta| fits(&meta))
    };
    let folders = ["spool", "dead", "archive", "logs", "run"];
    folders.iter().all(|name| is(name, fs::Metadata::is_dir))
        || is("spool", fs::Metadata::is_dir)
            && [DATABASE_FILE, "config.toml"]
                .iter()
                .any(|name| is(name, fs::Metadata::is_file))
}

fn newer_layout(home: &Path) -> Option<String> {
    let mut text = String::new();
    let file = open_plain(&home.join(MARKER_FILE)).ok()?;
    file.take(MAX_MARKER_BYTES).read_to_string(&mut text).ok()?;
    let version = text.lines().find_map(|line| line.strip_prefix("version "));
    let version: u32 = version?.trim().parse().ok()?;
    (version > LAYOUT_VERSION).then(|| {
        format!(
            "{}: was made by a newer Remora (layout {version}, this one knows {LAYOUT_VERSION}); \
             update Remora",
            home.display()
        )
    })
}

fn set_mark(home: &Folder) -> io::Result<()> {
    let mut file = match home.create_file(MARKER_FILE.as_ref()) {
        // A mark is never rewritten: it may be of a newer layout, which
        // `check_ownership` has judged already.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        other => other?,
    };
    file.write_all(
        format!("Remora keeps its data in this folder.\nversion {LAYOUT_VERSION}\n").as_bytes(),
    )
}

/// Makes a folder of ours, or takes one that is there; never through a link.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match private_dir_builder().create(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    Folder::open(path)?.make_private()
}

fn private_dir_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests;
