//! Why the engine cannot be loaded. A run never fails: it reports.

use std::path::PathBuf;

/// A load error; it names the file and the key.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The organisation's settings cannot be trusted to be complete.
    #[error("{}: {problem}; managed settings must be valid as a whole, so nothing runs until this is fixed", file.display())]
    Managed {
        /// The file that could not be loaded.
        file: PathBuf,
        /// What is wrong, with the key.
        problem: String,
    },
    /// `--settings` names something that cannot be read.
    #[error("--settings {}: {problem}", file.display())]
    Flag {
        /// The file that could not be loaded.
        file: PathBuf,
        /// What is wrong with it, without a full stop.
        problem: String,
    },
    /// A plugin directory that cannot be read as one.
    #[error("--plugin {}: {problem}", dir.display())]
    Plugin {
        /// The plugin's directory.
        dir: PathBuf,
        /// What is wrong with it, without a full stop.
        problem: String,
    },
}
