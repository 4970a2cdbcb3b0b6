//! Agents that run a hook only after the user has said so.

use std::path::PathBuf;

use super::{InstallError, InstalledHook};
use crate::spec::AgentPaths;

/// How an agent keeps what its user trusts.
#[derive(Debug)]
pub struct TrustSpec {
    /// The file that holds it.
    pub file: fn(&AgentPaths) -> PathBuf,
    /// What the text of that file says of each of our hooks, in their order. The
    /// settings file that holds the hooks comes in every spelling of its path.
    pub judge_hooks: fn(&str, &[PathBuf], &[InstalledHook]) -> TrustVerdicts,
    /// What the user does to trust them.
    pub advice: &'static str,
}

/// One verdict for each hook, or why the text cannot be read.
pub type TrustVerdicts = Result<Vec<HookTrust>, InstallError>;

/// Whether an agent runs a hook, as far as can be seen: whether the text of the
/// hook is still the one that the user trusted cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookTrust {
    /// The user trusted a hook at this place.
    Trusted,
    /// The user has not.
    Untrusted,
    /// The user switched it off.
    SwitchedOff,
}
