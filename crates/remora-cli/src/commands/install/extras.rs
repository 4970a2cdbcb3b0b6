//! The command and the skill of the plugin, for installations in the user's own
//! settings. Each file ends in a mark with the hash of what stands above it: only
//! a file that still is what was written is ever replaced or removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_agents::{AgentSpec, Places, Scope};
use remora_client::stable_hash;
use remora_files::{MAX_SETTINGS_BYTES, read_file};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Output, visible};

/// Where each goes in the client's settings folder, and what it says.
const FILES: &[(&str, &str)] = &[
    (
        "commands/remora.md",
        include_str!("../../../../../plugins/claude-code/commands/remora.md"),
    ),
    (
        "skills/memory/SKILL.md",
        include_str!("../../../../../plugins/claude-code/skills/memory/SKILL.md"),
    ),
];
const MARK: &str = "<!-- written by `remora install`, which also removes it: ";

/// A file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extra {
    file: PathBuf,
    became: &'static str,
}

/// What is there under one of the names.
enum There {
    Nothing,
    /// As some version of ours wrote it.
    Ours(Vec<u8>),
    /// Written or changed by somebody else.
    Others,
}

fn marked(text: &str) -> String {
    let hash = stable_hash(text.as_bytes());
    format!("{text}\n{MARK}{hash:016x} -->\n")
}

fn look(file: &Path) -> There {
    // A link leads to a file that is somebody else's.
    let linked = fs::symlink_metadata(file).is_ok_and(|meta| !meta.is_file());
    let bytes = match read_file(file, MAX_SETTINGS_BYTES) {
        _ if linked => return There::Others,
        Ok(bytes) => bytes,
        Err(e) if e.is_missing() => return There::Nothing,
        Err(_) => return There::Others,
    };
    let text = String::from_utf8_lossy(&bytes);
    let body = text
        .rfind(MARK)
        .and_then(|at| text[..at].strip_suffix('\n'));
    match body {
        Some(body) if marked(body) == text => There::Ours(bytes),
        _ => There::Others,
    }
}

fn folder(places: &Places, spec: &AgentSpec) -> Option<PathBuf> {
    let settings = (spec.settings_file)(places, Scope::User);
    settings.parent().map(Path::to_path_buf)
}

/// Writes them, where nobody else's file stands.
pub(super) fn install(places: &Places, spec: &AgentSpec) -> Vec<Extra> {
    each(places, spec, |file, text| match look(file) {
        There::Others => "left alone: it is not Remora's",
        There::Ours(bytes) if bytes == text.as_bytes() => "unchanged",
        There::Ours(_) => done(fs::write(file, text), "updated"),
        There::Nothing => {
            let made = file.parent().map_or(Ok(()), fs::create_dir_all);
            done(made.and_then(|()| fs::write(file, text)), "added")
        }
    })
}

/// Removes those that are as they were written, and folders that are empty then.
pub(super) fn uninstall(places: &Places, spec: &AgentSpec) -> Vec<Extra> {
    let mut all = each(places, spec, |file, _| match look(file) {
        There::Nothing => "not there",
        There::Others => "left alone: it is not Remora's",
        There::Ours(_) => {
            let gone = done(fs::remove_file(file), "removed");
            // Only empty ones go, and never the client's own folder.
            for folder in file.ancestors().skip(1).take(2) {
                let own = folder.file_name().is_some_and(|name| name == "memory");
                let _ = own.then(|| fs::remove_dir(folder));
            }
            gone
        }
    });
    all.retain(|extra| extra.became != "not there");
    all
}

fn each(
    places: &Places,
    spec: &AgentSpec,
    act: impl Fn(&Path, &str) -> &'static str,
) -> Vec<Extra> {
    let Some(folder) = folder(places, spec) else {
        return Vec::new();
    };
    let extras = FILES.iter().map(|(name, text)| {
        let file = folder.join(name);
        let became = act(&file, &marked(text));
        Extra { file, became }
    });
    extras.collect()
}

/// A memory without its command is still a memory.
fn done(result: io::Result<()>, word: &'static str) -> &'static str {
    result.map_or("not changed: the disk refused", |()| word)
}

pub(super) fn json(extras: &[Extra]) -> Value {
    let list = extras
        .iter()
        .map(|extra| json!({ "file": extra.file, "outcome": extra.became }));
    list.collect()
}

pub(super) fn say(extras: &[Extra], out: &mut Output) -> Result<(), CliError> {
    for extra in extras.iter().filter(|extra| extra.became != "unchanged") {
        let file = visible(&extra.file.display().to_string());
        out.text(&format!("{file}: {}\n", extra.became))?;
    }
    Ok(())
}
