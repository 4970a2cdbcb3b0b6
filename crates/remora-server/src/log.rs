//! The worker's own log: one line a fact, with its moment; two files at most.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use remora_protocol::time::rfc3339;

const LIMIT: u64 = 8 * 1024 * 1024;

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
        log.reopen();
        log
    }

    /// A line that may wait for others.
    pub fn line(&mut self, now: i64, text: &str) {
        self.waiting.push_str(&rfc3339(now));
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
        if self.size > LIMIT {
            self.file = None;
            let _ = fs::rename(&self.path, self.path.with_extension("log.1"));
            self.reopen();
        }
        if let Some(file) = &mut self.file
            && file.write_all(self.waiting.as_bytes()).is_ok()
        {
            self.size += self.waiting.len() as u64;
        }
        self.waiting.clear();
    }

    fn reopen(&mut self) {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.file = options.open(&self.path).ok();
        self.size = fs::metadata(&self.path).map_or(0, |m| m.len());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}
