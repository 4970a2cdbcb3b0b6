//! The client's summary of a compaction, kept between the event that brings it
//! and the session start that is answered with what it leaves out.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use remora_client::{given_file, write_our_file};
use remora_memory::private::strip_private;

use super::answer::HookRequest;

/// A summary that waited longer belongs to another compaction.
const MAX_SUMMARY_AGE: Duration = Duration::from_mins(10);
/// The most of a summary that is compared.
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
        let file = self.summary_file();
        let written = fs::metadata(&file).and_then(|meta| meta.modified());
        let fresh = written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < MAX_SUMMARY_AGE));
        let text = fs::read_to_string(&file).ok().filter(|_| fresh);
        // Removed whether it was used or not: it is not redacted.
        let _ = fs::remove_file(file);
        text
    }

    fn summary_file(&self) -> PathBuf {
        let given = given_file(&self.hook.paths, self.session_id());
        given.with_extension("summary")
    }
}
