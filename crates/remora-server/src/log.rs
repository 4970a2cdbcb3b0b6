//! The worker's own log: one line a fact, with its time; two files at most.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use remora_client::Folder;
use remora_core::time::format_rfc3339;

const MAX_LOG_BYTES: u64 = 8 * 1024 * 1024;

/// A log file. Losing a line is never a reason to stop.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Option<File>,
    size: u64,
    waiting: String,
}

impl Log {
    /// Opens, or begins, the log.
    pub fn open(path: PathBuf) -> Self {
        let mut log = Self {
            path,
            file: None,
            size: 0,
            waiting: String::new(),
        };
        log.reopen_file();
        log
    }

    /// A line that may wait for others.
    pub fn write_line(&mut self, now: i64, text: &str) {
        self.waiting.push_str(&format_rfc3339(now));
        self.waiting.push(' ');
        self.waiting
            .extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
        self.waiting.push('\n');
        if self.waiting.len() > 32 * 1024 {
            self.flush();
        }
    }

    /// Writes what waits.
    pub fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        if self.size > MAX_LOG_BYTES {
            self.file = None;
            let _ = Folder::of_file(&self.path).and_then(|(folder, name)| {
                let full = Path::new(name).with_extension("log.1");
                folder.rename_file(name, full.as_os_str())
            });
            self.reopen_file();
        }
        if let Some(file) = &mut self.file
            && file.write_all(self.waiting.as_bytes()).is_ok()
        {
            self.size += self.waiting.len() as u64;
        }
        self.waiting.clear();
    }

    fn reopen_file(&mut self) {
        let opened = Folder::of_file(&self.path);
        self.file = opened
            .and_then(|(folder, name)| folder.append_file(name))
            .ok();
        let meta = self.file.as_ref().and_then(|file| file.metadata().ok());
        self.size = meta.map_or(0, |meta| meta.len());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}
