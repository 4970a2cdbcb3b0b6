//! Test cases of hooks: an event made of a few fields, and what the hooks must
//! make of it. A file with them stands beside the settings that it tests.

mod expect;
mod junit;
mod play;
mod read;

use std::path::{Path, PathBuf};

use remora_core::Event;
use remora_hooks::HandlerReport;
use serde::Serialize;
use serde_json::{Map, Value};

pub use expect::Mismatch;
pub(crate) use expect::{EXPECT_KEYS, PERMISSIONS};
pub use junit::write_junit;
pub use play::{CaseStage, play_cases};
pub(crate) use read::EVENT_KEYS;
pub use read::{CaseFileError, read_case_file};

/// How a file with cases may be called, in the order in which it is looked for.
pub const CASE_FILE_NAMES: [&str; 3] = ["hooks.test.json", "hooks.test.yaml", "hooks.test.yml"];

/// One case.
#[derive(Debug, Clone)]
pub struct HookCase {
    /// The file it stands in.
    pub file: PathBuf,
    /// What must hold, in the author's words.
    pub name: String,
    /// The event that happens.
    pub event: CaseEvent,
    /// Variables that the hooks find set besides.
    pub env: Vec<(String, String)>,
    /// What the hooks must make of it.
    pub(crate) expect: expect::Expectations,
}

/// The event of a case.
#[derive(Debug, Clone)]
pub enum CaseEvent {
    /// A whole payload.
    Whole(Event),
    /// A name and a few fields; a sample says the rest.
    Fields {
        /// The event.
        name: remora_core::EventName,
        /// What the case says of it, by the keys of a case.
        fields: Map<String, Value>,
    },
}

/// What became of a case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// The file it stands in.
    pub file: PathBuf,
    /// Its name.
    pub name: String,
    /// Whether everything was as expected.
    pub passed: bool,
    /// What was not.
    pub mismatches: Vec<Mismatch>,
    /// How long the hooks took, all together.
    pub duration_ms: u64,
    /// The hooks that ran or were held back.
    pub handlers: Vec<HandlerReport>,
}

/// The files with cases in a folder.
pub fn find_case_files(folder: &Path) -> Vec<PathBuf> {
    CASE_FILE_NAMES
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| path.is_file())
        .collect()
}

#[cfg(test)]
mod tests;
