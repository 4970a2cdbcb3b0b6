//! The client's summary of a compaction, kept between the event that brings it
//! and the session start that is answered with what it leaves out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remora_client::{injection_log_file, write_our_file};
use remora_files::read_text;
use remora_redact::private::strip_private;

use super::answer::HookRequest;

/// A summary that waited longer belongs to another compaction.
const MAX_SUMMARY_AGE: Duration = Duration::from_mins(10);
/// The most of a summary that is compared. Without its private passages it is no
/// longer than with them: the placeholder is as long as the tag that opens one.
const MAX_SUMMARY_BYTES: usize = 128 * 1024;

impl HookRequest<'_> {
    /// Keeps what the client summed up for the start that follows.
    pub(super) fn keep_summary(&self, text: &str) {
        let text = strip_private(&text[..text.floor_char_boundary(MAX_SUMMARY_BYTES)]);
        if let Err(e) = self.write_summary(&text) {
            self.hook
                .log_message(&format!("a summary was not kept: {e}"));
        }
    }

    fn write_summary(&self, text: &str) -> io::Result<()> {
        let file = self.summary_file();
        if let Some(folder) = file.parent() {
            remora_client::make_our_folder(folder)?;
        }
        write_our_file(&file, text.as_bytes())
    }

    /// What was kept, once.
    pub(super) fn take_summary(&self) -> Option<String> {
        take_fresh_text(&self.summary_file())
    }

    fn summary_file(&self) -> PathBuf {
        let given = injection_log_file(&self.hook.paths, self.session_id());
        given.with_extension("summary")
    }
}

/// The text of a file that was written lately; the file is gone after this.
fn take_fresh_text(file: &Path) -> Option<String> {
    let written = fs::metadata(file).and_then(|meta| meta.modified());
    let is_fresh = written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < MAX_SUMMARY_AGE));
    let text = is_fresh.then(|| read_text(file, MAX_SUMMARY_BYTES as u64));
    // Removed whether it was used or not: it is not redacted.
    let _ = fs::remove_file(file);
    text?.ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_summary_is_taken_once_and_only_a_file_that_was_written_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.summary");
        fs::write(&file, "What was done").unwrap();
        assert_eq!(take_fresh_text(&file).as_deref(), Some("What was done"));
        assert_eq!(take_fresh_text(&file), None);
        fs::write(&file, vec![b'x'; MAX_SUMMARY_BYTES + 1]).unwrap();
        assert_eq!((take_fresh_text(&file), file.exists()), (None, false));
        // Opened the usual way, a pipe would wait for a writer.
        let made = Command::new("mkfifo").arg(&file).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert_eq!((take_fresh_text(&file), file.exists()), (None, false));
        fs::write(&file, "Of another compaction").unwrap();
        let past = fs::metadata(&file).unwrap().modified().unwrap() - MAX_SUMMARY_AGE;
        File::open(&file).unwrap().set_modified(past).unwrap();
        assert_eq!((take_fresh_text(&file), file.exists()), (None, false));
    }
}
