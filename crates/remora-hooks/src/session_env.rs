//! Session variables: what handlers wrote to their files, as a shell reads it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use crate::host::Host;

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
    let run = |files: &[&PathBuf]| {
        Command::new("/bin/sh")
            .arg("-c")
            .arg(r#"set -a; while [ $# -gt 0 ]; do . "$1" >/dev/null 2>&1 </dev/null; shift; done; env -0"#)
            .arg("sh")
            .args(files)
            .env_clear()
            .envs(host.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
    };
    let (before, after) = match (run(&[]), run(&written)) {
        (Ok(before), Ok(after)) => (variables(&before.stdout), variables(&after.stdout)),
        (Err(error), _) | (_, Err(error)) => {
            warnings.push(format!("session variables cannot be read: {error}"));
            return Map::new();
        }
    };
    after
        .into_iter()
        .filter(|(k, v)| !OWN.contains(&k.as_str()) && before.get(k) != Some(v))
        .collect()
}

fn variables(bytes: &[u8]) -> Map<String, Value> {
    bytes
        .split(|b| *b == 0)
        .filter_map(|entry| {
            let text = String::from_utf8_lossy(entry);
            let (name, value) = text.split_once('=')?;
            Some((name.to_owned(), Value::from(value)))
        })
        .collect()
}
