//! Session variables: what handlers wrote to their files, as a shell reads it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::answer::ProcessExit;
use crate::handler;
use crate::host::Host;

/// Sourcing a few lines must not delay a session. A file may contain anything,
/// `sleep` included.
const SOURCE_TIMEOUT: Duration = Duration::from_secs(5);

/// Variables that a shell sets for itself.
const SHELL_OWN_VARS: [&str; 4] = ["_", "PWD", "OLDPWD", "SHLVL"];

/// Sources the files in order in one clean shell, the way the host will before
/// each command, and returns what they set. A later file wins.
pub(crate) fn collect_variables(
    files: &[PathBuf],
    host: &Host<'_>,
    warnings: &mut Vec<String>,
) -> Map<String, Value> {
    let written: Vec<&PathBuf> = files
        .iter()
        .filter(|f| f.metadata().is_ok_and(|m| m.len() > 0))
        .collect();
    if written.is_empty() {
        return Map::new();
    }
    // The trap prints the environment even if a file calls `exit`; `set -a` exports plain
    // `X=y` lines, which count as well; NUL separates because values may hold newlines.
    let script = r#"trap 'env -0' 0; set -a; while [ $# -gt 0 ]; do . "$1" >/dev/null 2>&1 </dev/null; shift; done"#;
    let deadline = Instant::now() + SOURCE_TIMEOUT;
    let mut run = |files: &[&PathBuf]| {
        let mut args = vec!["-c".to_owned(), script.to_owned(), "sh".to_owned()];
        args.extend(files.iter().map(|f| f.to_string_lossy().into_owned()));
        let output = handler::capture_output("/bin/sh", &args, &host.environment, deadline);
        if output.ended != ProcessExit::Exit(0) {
            warnings.push(
                "session variables cannot be read: their file does not end well in a shell".into(),
            );
        }
        parse_variables(&output.stdout)
    };
    // The difference between two runs: a shell sets variables of its own at start.
    let (before, after) = (run(&[]), run(&written));
    after
        .into_iter()
        .filter(|(k, v)| !SHELL_OWN_VARS.contains(&k.as_str()) && before.get(k) != Some(v))
        .collect()
}

fn parse_variables(listing: &str) -> Map<String, Value> {
    listing
        .split('\0')
        .filter_map(|entry| {
            let (name, value) = entry.split_once('=')?;
            Some((name.to_owned(), Value::from(value)))
        })
        .collect()
}
