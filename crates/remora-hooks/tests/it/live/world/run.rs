//! What one run of the stub left behind: what it read, printed and logged.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// One run of the stub.
#[derive(Debug, Clone)]
pub(in super::super) struct Run {
    pub(in super::super) id: String,
    /// The dispatch that it belongs to.
    pub(in super::super) dispatch: usize,
    pub(super) file: PathBuf,
    pub(super) pid: i32,
    pub(super) began_us: u64,
}

impl Run {
    pub(in super::super) fn is_finished(&self) -> bool {
        self.suffixed("rc").exists()
    }

    pub(in super::super) fn read(&self, end: &str) -> String {
        fs::read_to_string(self.suffixed(end)).unwrap_or_default()
    }

    /// The event as the handler read it.
    pub(in super::super) fn read_event(&self) -> Value {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let line = text.lines().nth(1).unwrap_or_default();
        serde_json::from_str(line).unwrap_or_default()
    }

    pub(in super::super) fn read_log(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().skip(2).map(str::to_owned).collect()
    }

    fn suffixed(&self, end: &str) -> PathBuf {
        let mut name = self.file.as_os_str().to_owned();
        name.push(".");
        name.push(end);
        name.into()
    }
}
