//! How far each transcript was read, in one small file of the data directory.
//! Only saves time: without it everything is read again and nothing is stored
//! twice.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// A place in a file where reading can go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) offset: u64,
    pub(super) line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Read {
    size: u64,
    modified: i64,
    #[serde(flatten)]
    mark: Mark,
}

/// What was read before.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    #[serde(skip)]
    file: PathBuf,
    #[serde(default)]
    files: BTreeMap<PathBuf, Read>,
}

impl State {
    /// Reads the file; one that cannot be read is as good as none.
    pub(super) fn open(file: PathBuf) -> Self {
        let read = fs::read(&file).ok();
        let state = read.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Self {
            file,
            ..state.unwrap_or_default()
        }
    }

    /// Where to go on in a file of this size and age. One that was cut or
    /// written anew is read from its beginning.
    pub(super) fn from(&self, path: &Path, size: u64, modified: i64) -> Mark {
        match self.files.get(path) {
            Some(read) if size > read.size || (size == read.size && modified == read.modified) => {
                read.mark
            }
            _ => Mark::default(),
        }
    }

    pub(super) fn note(&mut self, path: &Path, size: u64, modified: i64, mark: Mark) {
        let read = Read {
            size,
            modified,
            mark,
        };
        self.files.insert(path.to_path_buf(), read);
    }

    /// Forgets files that are gone, and writes the rest: whole or not at all.
    pub(super) fn save(&mut self) -> Result<(), CliError> {
        let fault = |source| CliError::File {
            path: self.file.clone(),
            source,
        };
        let fresh = self.file.with_extension("tmp");
        let text = serde_json::to_vec(self)?;
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(fault)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut out = options.open(&fresh).map_err(fault)?;
        out.write_all(&text).map_err(fault)?;
        fs::rename(&fresh, &self.file).map_err(fault)
    }

    pub(super) fn forget_gone(&mut self) {
        self.files.retain(|path, _| path.exists());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_on_where_it_was_unless_it_was_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("import/x.json");
        let mut state = State::open(file.clone());
        let path = Path::new("/t/a.jsonl");
        let mark = Mark {
            offset: 80,
            line: 3,
        };
        state.note(path, 100, 7, mark);
        state.save().unwrap();
        let state = State::open(file.clone());
        assert_eq!(state.from(path, 100, 7), mark);
        assert_eq!(state.from(path, 140, 9), mark, "it has grown");
        assert_eq!(state.from(path, 60, 9), Mark::default(), "it was cut");
        assert_eq!(state.from(path, 100, 9), Mark::default(), "another text");
        assert_eq!(state.from(Path::new("/t/b.jsonl"), 1, 1), Mark::default());
        fs::write(&file, "{").unwrap();
        assert_eq!(State::open(file).from(path, 100, 7), Mark::default());
    }
}
