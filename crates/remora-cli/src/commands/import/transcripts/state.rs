//! How far each transcript was read, in one small file of the data directory.
//! Only saves time: without it everything is read again and nothing is stored
//! twice.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use remora_agents::transcript::TranscriptEnd;
use remora_core::hash::{HASH_START, extend_hash};
use remora_files::{
    DraftName, Durability, MAX_CLIENT_STATE_BYTES, ReplaceOptions, open_regular, read_file,
    replace_file,
};
use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// A place in a file where reading can go on, known again by the last line
/// before it: every line of a transcript has an id and a time of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReadPosition {
    pub(super) offset: u64,
    pub(super) line: u64,
    /// Where the last line begins that says something.
    begin: u64,
    /// A print of all bytes from there on.
    print: u64,
}

impl ReadPosition {
    /// Goes on behind this line, of which `skipped` more bytes were not looked
    /// at.
    pub(super) fn advance_past(&mut self, line: &[u8], skipped: u64) {
        if !line.trim_ascii().is_empty() {
            self.begin = self.offset;
            self.print = 0;
        }
        self.print = extend_print(self.print, line);
        self.line += 1;
        self.offset += line.len() as u64 + skipped;
        // The print would have to cover bytes that were never read.
        if skipped > 0 {
            self.begin = self.offset;
            self.print = 0;
        }
    }

    /// Whether the file still holds what was before this place.
    fn is_in(&self, path: &Path) -> io::Result<bool> {
        let mut file = open_regular(path)?;
        file.seek(SeekFrom::Start(self.begin))?;
        let length = self.offset.saturating_sub(self.begin);
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes.len() as u64 == length && extend_print(0, &bytes) == self.print)
    }
}

/// Goes on with the hash of what was read; 0 means nothing yet.
fn extend_print(before: u64, bytes: &[u8]) -> u64 {
    let start = if before == 0 { HASH_START } else { before };
    extend_hash(start, bytes)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FileProgress {
    size: u64,
    modified: i64,
    /// Whether the session was over then, and its end was reported.
    over: bool,
    #[serde(flatten)]
    mark: ReadPosition,
}

/// What was read before.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ImportState {
    /// Without a file nothing was read before, and nothing is written down.
    #[serde(skip)]
    file: Option<PathBuf>,
    #[serde(default)]
    files: BTreeMap<PathBuf, FileProgress>,
}

impl ImportState {
    /// Reads the file; one that cannot be read is as good as none.
    pub(super) fn open(file: PathBuf) -> Self {
        let read = read_file(&file, MAX_CLIENT_STATE_BYTES).ok();
        let state = read.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Self {
            file: Some(file),
            ..state.unwrap_or_default()
        }
    }

    /// For callers that leave lines out on purpose: they must be found later.
    pub(super) fn in_memory() -> Self {
        Self::default()
    }

    /// Where to go on in a file of this size and age. One that was cut,
    /// written again or replaced is read from its beginning, and so is one whose
    /// session has ended since without another line.
    pub(super) fn from(
        &self,
        path: &Path,
        size: u64,
        modified: i64,
        ending: TranscriptEnd,
    ) -> ReadPosition {
        let goes_on = |read: &&FileProgress| {
            let grown = size > read.size || (size == read.size && modified == read.modified);
            let told = read.over || ending == TranscriptEnd::Open || read.mark.offset < size;
            // Size and time alone miss a file that was rewritten with more
            // lines.
            grown && told && read.mark.is_in(path).unwrap_or(false)
        };
        let read = self.files.get(path).filter(goes_on);
        read.map_or(ReadPosition::default(), |read| read.mark)
    }

    pub(super) fn record_file(
        &mut self,
        path: &Path,
        size: u64,
        modified: i64,
        ending: TranscriptEnd,
        mark: ReadPosition,
    ) {
        let read = FileProgress {
            size,
            modified,
            over: ending == TranscriptEnd::Closed,
            mark,
        };
        self.files.insert(path.to_path_buf(), read);
    }

    /// Saves it, whole or not at all.
    pub(super) fn save(&self) -> Result<(), CliError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let fault = |source| CliError::File {
            path: file.clone(),
            source,
        };
        let fresh = file.with_extension("tmp");
        let text = serde_json::to_vec(self)?;
        if let Some(folder) = file.parent() {
            remora_client::make_our_folder(folder).map_err(fault)?;
        }
        let options = ReplaceOptions {
            draft: DraftName::Overwrite(&fresh),
            ..ReplaceOptions::private(Durability::None)
        };
        replace_file(file, &text, &options).map_err(fault)
    }

    /// Forgets files that are gone.
    pub(super) fn forget_gone(&mut self) {
        self.files.retain(|path, _| path.exists());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The place behind these lines.
    fn behind(lines: &[&str]) -> ReadPosition {
        let mut mark = ReadPosition::default();
        for line in lines {
            mark.advance_past(line.as_bytes(), 0);
        }
        mark
    }

    #[test]
    fn a_file_goes_on_where_it_was_unless_it_was_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("import/x.json");
        let path = dir.path().join("a.jsonl");
        let mark = behind(&["{\"a\":1}\n", "{\"b\":2}\n", "\n"]);
        assert_eq!((mark.offset, mark.line, mark.begin), (17, 3, 8));
        let mut state = ImportState::open(file.clone());
        state.record_file(&path, 17, 7, TranscriptEnd::Open, mark);
        state.save().unwrap();
        let from = |text: &str, modified| {
            fs::write(&path, text).unwrap();
            ImportState::open(file.clone()).from(
                &path,
                text.len() as u64,
                modified,
                TranscriptEnd::Open,
            )
        };
        let nothing = ReadPosition::default();
        assert_eq!(from("{\"a\":1}\n{\"b\":2}\n\n", 7), mark);
        assert_eq!(from("{\"a\":1}\n{\"b\":2}\n\n{}", 9), mark, "it has grown");
        assert_eq!(from("{\"a\":1}\n", 9), nothing, "it was cut");
        assert_eq!(
            from("{\"a\":1}\n{\"b\":2}\n\n", 9),
            nothing,
            "it was touched"
        );
        assert_eq!(
            from("{\"a\":1}\n{\"c\":2}\n\n{}", 9),
            nothing,
            "another text"
        );
        assert_eq!(
            from("{\"a\":1}\n{\"c\":2}\n\n", 7),
            nothing,
            "same size and age"
        );
        assert_eq!(
            ImportState::open(file.clone()).from(
                &dir.path().join("b.jsonl"),
                17,
                7,
                TranscriptEnd::Open
            ),
            nothing
        );
        fs::write(&file, "{").unwrap();
        assert_eq!(from("{\"a\":1}\n{\"b\":2}\n\n", 7), nothing);
    }

    #[test]
    fn a_session_that_has_ended_since_is_read_once_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        fs::write(&path, "{\"a\":1}\n").unwrap();
        let mark = behind(&["{\"a\":1}\n"]);
        let mut state = ImportState::in_memory();
        state.record_file(&path, 8, 7, TranscriptEnd::Open, mark);
        assert_eq!(state.from(&path, 8, 7, TranscriptEnd::Open), mark);
        assert_eq!(
            state.from(&path, 8, 7, TranscriptEnd::Closed),
            ReadPosition::default()
        );
        state.record_file(&path, 8, 7, TranscriptEnd::Closed, mark);
        assert_eq!(state.from(&path, 8, 7, TranscriptEnd::Closed), mark);
    }

    #[test]
    fn what_is_not_kept_is_not_written_down() {
        let mut state = ImportState::in_memory();
        let mark = behind(&["{\"a\":1}\n"]);
        state.record_file(Path::new("/t/a.jsonl"), 8, 7, TranscriptEnd::Open, mark);
        state.save().unwrap();
        assert_eq!(state.file, None);
    }
}
