//! The one place that reads the process's environment and directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use remora_git::Git;

use crate::error::CliError;
use crate::hook::OFF_VARIABLE;

/// How many of our runs of hooks a handler is inside of.
const RUN_DEPTH_VARIABLE: &str = "REMORA_RUN_DEPTH";
/// A hook may run hooks, of other settings for example. One that runs the hooks of its
/// own event would start itself without end.
const MAX_RUN_DEPTH: u32 = 3;

/// What the process was started with, read once.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    variables: Vec<(OsString, OsString)>,
    /// Asked for when it is needed: most hooks get theirs in the payload.
    directory: OnceLock<Option<PathBuf>>,
}

impl Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place that reads it and passes it down"
    )]
    pub(crate) fn from_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            directory: OnceLock::new(),
        }
    }

    /// All of them, in the order of the process.
    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    pub(crate) fn get(&self, name: &str) -> Option<&OsString> {
        self.variables
            .iter()
            .find(|(k, _)| k == name)
            .map(|(_, v)| v)
            .filter(|v| !v.is_empty())
    }

    /// The same for rules that are not ours.
    pub(crate) fn lookup(&self) -> impl Fn(&str) -> Option<OsString> + '_ {
        |name| self.get(name).cloned()
    }

    /// A switch is on when it is set to anything but nothing, 0 and false.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|v| v != "0" && v != "false")
    }

    /// Whether a variable says no: `off`, 0 or false.
    pub(crate) fn is_off(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|v| v == "off" || v == "0" || v == "false")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place that reads it and passes it down"
    )]
    pub(crate) fn directory(&self) -> Option<&PathBuf> {
        let directory = self.directory.get_or_init(|| std::env::current_dir().ok());
        directory.as_ref()
    }

    /// The same, as if the process had been started in another directory.
    pub(crate) fn moved_to(self, directory: PathBuf) -> Self {
        Self {
            directory: OnceLock::from(Some(directory)),
            ..self
        }
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.get("HOME")
            .or_else(|| self.get("USERPROFILE"))
            .map(PathBuf::from)
    }

    /// The same with other variables; `None` takes one away.
    pub(crate) fn with_variables(
        mut self,
        changes: impl IntoIterator<Item = (String, Option<String>)>,
    ) -> Self {
        for (name, value) in changes {
            self.variables.retain(|(known, _)| *known != *name);
            if let Some(value) = value {
                self.variables.push((name.into(), value.into()));
            }
        }
        self
    }

    /// The git to ask about a repository: never one that it brought along.
    pub(crate) fn find_git(&self, repository: &Path) -> Git {
        Git::find(self.get("PATH").map(OsString::as_os_str), repository)
    }

    /// Everything, with `HOME` as it was passed: what handlers inherit. Memory is
    /// switched off for them and for all they start: an event that a user
    /// tries out never happened.
    pub(crate) fn for_handlers(&self, home: &Path) -> Vec<(OsString, OsString)> {
        let off = (OFF_VARIABLE.into(), "1".into());
        let depth = (self.run_depth() + 1).to_string();
        let depth = (RUN_DEPTH_VARIABLE.into(), depth.into());
        let others = self.for_real_handlers(home).into_iter();
        others
            .filter(|(name, _)| name != OFF_VARIABLE && name != RUN_DEPTH_VARIABLE)
            .chain([off, depth])
            .collect()
    }

    /// Refuses to run hooks where hooks that run hooks would never end.
    pub(crate) fn check_run_depth(&self) -> Result<(), CliError> {
        if self.run_depth() < MAX_RUN_DEPTH {
            return Ok(());
        }
        Err(CliError::Usage(format!(
            "hooks are run by a hook that a hook has run, {MAX_RUN_DEPTH} deep, and this would \
             not end: let the hook that calls `remora hooks` name other settings, with --home \
             and --project, or leave when {RUN_DEPTH_VARIABLE} is set"
        )))
    }

    /// 0 outside of handlers of ours.
    fn run_depth(&self) -> u32 {
        let depth = self.get(RUN_DEPTH_VARIABLE).and_then(|text| text.to_str());
        depth.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// The same for the handlers of a session that did happen: whether a memory
    /// records it is theirs to say.
    pub(crate) fn for_real_handlers(&self, home: &Path) -> Vec<(OsString, OsString)> {
        let others = self.variables.iter().filter(|(name, _)| name != "HOME");
        others
            .cloned()
            .chain([("HOME".into(), home.into())])
            .collect()
    }
}
