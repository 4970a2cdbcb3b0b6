//! Session variables: what handlers wrote to their files, as a shell reads it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::answer::Ended;
use crate::handler;
use crate::host::Host;

/// Sourcing a few lines must not hold a session up.
const LIMIT: Duration = Duration::from_secs(5);

/// Variables that a shell sets for itself.
const OWN: [&str; 4] = ["_", "PWD", "OLDPWD", "SHLVL"];

/// Sources the files in order in one clean shell, the way the host will before
/// each command, and returns what they set. A later file wins.
pub(crate) fn collect(
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
    let script = r#"trap 'env -0' 0; set -a; while [ $# -gt 0 ]; do . "$1" >/dev/null 2>&1 </dev/null; shift; done"#;
    let deadline = Instant::now() + LIMIT;
    let mut run = |files: &[&PathBuf]| {
        let mut args = vec!["-c".to_owned(), script.to_owned(), "sh".to_owned()];
        args.extend(files.iter().map(|f| f.to_string_lossy().into_owned()));
        let output = handler::capture("/bin/sh", &args, &host.environment, deadline);
        if output.ended != Ended::Exit(0) {
            warnings.push(
                "session variables cannot be read: their file does not end well in a shell".into(),
            );
        }
        variables(&output.stdout)
    };
    let (before, after) = (run(&[]), run(&written));
    after
        .into_iter()
        .filter(|(k, v)| !OWN.contains(&k.as_str()) && before.get(k) != Some(v))
        .collect()
}

fn variables(listing: &str) -> Map<String, Value> {
    listing
        .split('\0')
        .filter_map(|entry| {
            let (name, value) = entry.split_once('=')?;
            Some((name.to_owned(), Value::from(value)))
        })
        .collect()
}
