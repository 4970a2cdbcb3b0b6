//! Where things are, and how the session is set up: all that a host has to
//! say before anything is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::names;

/// Where the files are. The host fills this in; the crate looks nowhere else,
/// except where an instruction file points.
#[derive(Debug, Clone)]
pub struct InstructionPaths {
    /// Where the session started.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// The settings directory in it, if it is not the usual one.
    pub config_dir: Option<PathBuf>,
    /// The organisation's directory.
    pub managed: Option<PathBuf>,
    /// Directories that were added on the command line.
    pub added: Vec<PathBuf>,
    /// The folder of the user's own memories, for `memory://user/`.
    pub user_memories: Option<PathBuf>,
}

impl InstructionPaths {
    /// A directory and a home, everything else as usual.
    pub fn new(cwd: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            home: home.into(),
            config_dir: None,
            managed: None,
            added: Vec::new(),
            user_memories: None,
        }
    }

    /// The user's settings directory.
    pub fn config_dir(&self) -> PathBuf {
        match &self.config_dir {
            Some(dir) => dir.clone(),
            None => self.home.join(names::SETTINGS_DIR),
        }
    }
}

/// Which layers of the user and the project are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSources {
    /// The user's own.
    pub user: bool,
    /// The project's.
    pub project: bool,
    /// The user's own in the project.
    pub local: bool,
}

impl Default for InstructionSources {
    fn default() -> Self {
        Self {
            user: true,
            project: true,
            local: true,
        }
    }
}

/// How much is loaded at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoadMode {
    /// Everything.
    #[default]
    Full,
    /// Nothing, as with the client's `--bare` and `--safe-mode`.
    Bare,
}

/// Whether files outside the working directory may be imported by project
/// files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExternalImports {
    /// Only if the client has recorded the user's approval.
    #[default]
    AsTheClientKnows,
    /// The user approved it to Remora.
    Approved,
}

/// How the session is set up.
#[derive(Debug, Clone, Default)]
pub struct InstructionOptions {
    /// Layers of settings and files.
    pub sources: InstructionSources,
    /// How much is loaded.
    pub mode: LoadMode,
    /// Imports from outside.
    pub external: ExternalImports,
    /// The subagent that is asked for, instead of the session itself.
    pub agent: Option<String>,
    /// One more settings layer, as JSON text.
    pub settings: Option<String>,
    /// Variables of the process that bear on loading.
    pub variables: BTreeMap<String, String>,
}
