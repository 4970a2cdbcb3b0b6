//! The environment that the worker keeps: what it needs to find its user's files, and nothing else
//! of the session that happened to start it. A project's settings reach a session's environment,
//! and the worker serves every project.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::environment::Environment;

/// Variables that say who the user is and how they write.
const KEPT_VARIABLES: &[&str] = &["HOME", "LANG", "LOGNAME", "TMPDIR", "TZ", "USER"];
/// Beginnings of names that are kept: our own variables, and the locale.
const KEPT_PREFIXES: &[&str] = &["LC_", "REMORA_"];
/// Where system programs are, whatever the session's `PATH` says.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Starts this process again without the session's variables, unless it has none of them. Returns
/// only when there is nothing to drop, or when the program cannot be started again: then it goes
/// on as it is, because a worker that does not run stores nothing.
pub(super) fn drop_session_variables(environment: &Environment) {
    let own = environment.variables();
    if own.iter().all(|(name, value)| is_kept(name, value)) {
        return;
    }
    let kept = own.iter().filter(|(name, value)| is_kept(name, value));
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut again = Command::new(program);
    again.args(["worker", "run"]);
    again.env_clear().envs(kept.cloned());
    again.env("PATH", SYSTEM_PATH);
    // Returns only if it failed.
    let _ = again.exec();
}

fn is_kept(name: &OsString, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    if name == "PATH" {
        // Its value decides whether this process was started again already.
        return value == SYSTEM_PATH;
    }
    KEPT_VARIABLES.contains(&name)
        || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || remora_agents::AGENTS
            .iter()
            .any(|agent| agent.environment.config_variable == name)
}
