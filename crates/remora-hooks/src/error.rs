//! Why the engine cannot be loaded. A run never fails: it reports.

use std::path::PathBuf;

/// A load error; it names the file and the key.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The organisation's settings cannot be trusted to be complete.
    #[error("{}: {problem}; managed settings must be whole, so nothing runs until this is mended", file.display())]
    Managed {
        /// The file.
        file: PathBuf,
        /// What is wrong, with the key.
        problem: String,
    },
    /// `--settings` names something that cannot be read.
    #[error("--settings {}: {problem}", file.display())]
    Flag {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A plugin directory that cannot be read as one.
    #[error("--plugin {}: {problem}", dir.display())]
    Plugin {
        /// The directory.
        dir: PathBuf,
        /// What is wrong.
        problem: String,
    },
}
