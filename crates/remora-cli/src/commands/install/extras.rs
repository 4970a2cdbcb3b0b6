//! Files that an agent reads beside its settings, such as a command and a skill,
//! for installations in the user's own settings. Each file ends in a mark with the hash of what stands above it: only
//! a file that still is what was written is ever replaced or removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_agents::install::ExtraFile;
use remora_agents::{AgentPaths, AgentSpec, InstallScope};
use remora_core::hash::stable_hash;
use remora_files::{MAX_SETTINGS_BYTES, read_file};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Output, escape_invisible};

const OWNER_MARK: &str = "<!-- written by `remora install`, which also removes it: ";

/// A file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExtraFileReport {
    file: PathBuf,
    became: &'static str,
}

/// What is there under one of the names.
enum ExistingFile {
    Nothing,
    /// As some version of ours wrote it.
    Ours(Vec<u8>),
    /// Written or changed by others.
    Others,
}

fn append_mark(text: &str) -> String {
    let hash = stable_hash(text.as_bytes());
    format!("{text}\n{OWNER_MARK}{hash:016x} -->\n")
}

fn inspect_file(file: &Path) -> ExistingFile {
    // A link leads to a file that is not ours.
    let linked = fs::symlink_metadata(file).is_ok_and(|meta| !meta.is_file());
    let bytes = match read_file(file, MAX_SETTINGS_BYTES) {
        _ if linked => return ExistingFile::Others,
        Ok(bytes) => bytes,
        Err(e) if e.is_missing() => return ExistingFile::Nothing,
        Err(_) => return ExistingFile::Others,
    };
    let text = String::from_utf8_lossy(&bytes);
    let body = text
        .rfind(OWNER_MARK)
        .and_then(|at| text[..at].strip_suffix('\n'));
    match body {
        Some(body) if append_mark(body) == text => ExistingFile::Ours(bytes),
        _ => ExistingFile::Others,
    }
}

fn settings_dir(places: &AgentPaths, spec: &AgentSpec) -> Option<PathBuf> {
    let settings = (spec.install.settings_file)(places, InstallScope::User)?;
    settings.parent().map(Path::to_path_buf)
}

/// Writes them, unless a file of others is there.
pub(super) fn install_extras(places: &AgentPaths, spec: &AgentSpec) -> Vec<ExtraFileReport> {
    for_each_extra(places, spec, |file, text, _| match inspect_file(file) {
        ExistingFile::Others => "left alone: it is not Remora's",
        ExistingFile::Ours(bytes) if bytes == text.as_bytes() => "unchanged",
        ExistingFile::Ours(_) => describe_result(fs::write(file, text), "updated"),
        ExistingFile::Nothing => {
            let made = file.parent().map_or(Ok(()), fs::create_dir_all);
            describe_result(made.and_then(|()| fs::write(file, text)), "added")
        }
    })
}

/// Removes those that are as they were written, and folders that are empty then.
pub(super) fn uninstall_extras(places: &AgentPaths, spec: &AgentSpec) -> Vec<ExtraFileReport> {
    let mut all = for_each_extra(places, spec, |file, _, extra| match inspect_file(file) {
        ExistingFile::Nothing => "not there",
        ExistingFile::Others => "left alone: it is not Remora's",
        ExistingFile::Ours(_) => {
            let gone = describe_result(fs::remove_file(file), "removed");
            // Only an empty one goes, and never the client's own.
            if let Some(folder) = file.parent().filter(|_| extra.owns_folder) {
                let _ = fs::remove_dir(folder);
            }
            gone
        }
    });
    all.retain(|extra| extra.became != "not there");
    all
}

fn for_each_extra(
    places: &AgentPaths,
    spec: &AgentSpec,
    act: impl Fn(&Path, &str, &ExtraFile) -> &'static str,
) -> Vec<ExtraFileReport> {
    let Some(folder) = settings_dir(places, spec) else {
        return Vec::new();
    };
    let extras = spec.install.extras.iter().map(|extra| {
        let file = folder.join(extra.path);
        let became = act(&file, &append_mark(extra.text), extra);
        ExtraFileReport { file, became }
    });
    extras.collect()
}

/// A memory without its command is still a memory.
fn describe_result(result: io::Result<()>, word: &'static str) -> &'static str {
    result.map_or("not changed: the disk refused", |()| word)
}

pub(super) fn extras_to_json(extras: &[ExtraFileReport]) -> Value {
    let list = extras
        .iter()
        .map(|extra| json!({ "file": extra.file, "outcome": extra.became }));
    list.collect()
}

pub(super) fn print_extras(extras: &[ExtraFileReport], out: &mut Output) -> Result<(), CliError> {
    for extra in extras.iter().filter(|extra| extra.became != "unchanged") {
        let file = escape_invisible(&extra.file.display().to_string());
        out.print_text(&format!("{file}: {}\n", extra.became))?;
    }
    Ok(())
}
