//! `remora complete KIND PREFIX`: names for the scripts of shells, one a line. Not a
//! verb for users: it is quick, quiet, and says nothing where it knows nothing.

use std::ffi::OsString;
use std::process::ExitCode;

use remora_app::config::CONFIG_KEYS;
use remora_core::EVENTS;

use super::memory::list_memory_names;
use crate::output::Output;

/// The first argument that leads here.
pub(crate) const COMPLETE_VERB: &str = "complete";
/// The most names that are printed.
const MAX_NAMES: usize = 1000;

/// Whatever is asked and whatever fails, the exit code is 0.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let kind = arguments.next().unwrap_or_default();
    let prefix = arguments.next().unwrap_or_default();
    let (kind, prefix) = (kind.to_string_lossy(), prefix.to_string_lossy());
    let mut names = list_names(&kind);
    names.retain(|name| name.starts_with(&*prefix) && is_plain(name));
    names.sort_unstable();
    names.dedup();
    names.truncate(MAX_NAMES);
    // A newline behind each, also behind the last.
    names.push(String::new());
    let text = names.join("\n");
    // The shell may be gone.
    let _ = Output::new().print_text(&text);
    ExitCode::SUCCESS
}

fn list_names(kind: &str) -> Vec<String> {
    match kind {
        "memories" => list_memory_names(MAX_NAMES),
        "agents" => (remora_agents::AGENTS.iter())
            .map(|agent| agent.name.to_owned())
            .collect(),
        "events" => EVENTS.iter().map(|event| event.text.to_owned()).collect(),
        "keys" => CONFIG_KEYS.iter().map(|key| key.name.to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Nothing that a shell could read as more than a word: a repository names the
/// files of its team's memories.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.starts_with('-') && name.chars().all(plain)
}
