//! What an installation offers and what it leaves behind: rules for reading,
//! sessions that could be imported, what a team would share, what stays after an
//! uninstallation. Nothing is done without a yes.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use remora_agents::install::reads::READ_RULES;
use remora_agents::{AgentPaths, AgentSpec};

use crate::args::{ImportCommand, ImportSessionsArgs};
use crate::commands::data::DataDir;
use crate::commands::import;
use crate::commands::show::lines::{format_count, format_size};
use crate::error::CliError;
use crate::output::{Output, escape_invisible};

/// Transcripts that are counted; beyond it the exact number does not matter.
const MAX_TRANSCRIPTS: usize = 10_000;
/// Files that are weighed in a data directory.
const MAX_FILES: usize = 200_000;

/// Asks a question that only `y` or `yes` affirms; without a terminal the answer
/// is no.
fn ask_yes_no(question: &str, out: &mut Output) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(false);
    }
    out.print_text(&format!("{question} [y/N] "))?;
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(CliError::Stdin)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Whether rules for reading are to be written, though no flag asked for them.
pub(super) fn wants_reads(out: &mut Output) -> Result<bool, CliError> {
    ask_yes_no(
        &format!(
            "Let the agent read memory without asking each time ({})?",
            READ_RULES.join(", ")
        ),
        out,
    )
}

/// Past sessions of the agent, one transcript each.
pub(super) fn count_transcripts(places: &AgentPaths, spec: &AgentSpec) -> usize {
    let Some(format) = &spec.transcripts else {
        return 0;
    };
    let list = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders = (format.folders)(places);
    for _ in 0..format.session_depth {
        let below = folders.into_iter().flat_map(list);
        folders = below.map(|entry| entry.path()).collect();
    }
    let files = folders.into_iter().flat_map(list);
    files
        .filter(|file| (format.is_transcript)(&file.path()))
        .take(MAX_TRANSCRIPTS)
        .count()
}

/// Offers to read past sessions in.
pub(super) fn offer_import(
    spec: &'static AgentSpec,
    transcripts: usize,
    out: &mut Output,
) -> Result<(), CliError> {
    if transcripts == 0 {
        return Ok(());
    }
    let there = format_count(transcripts as u64, "past session", "past sessions");
    let verb = if transcripts == 1 { "is" } else { "are" };
    out.print_text(&format!(
        "{there} of the client {verb} on this machine; `remora import {}` reads {} in\n",
        spec.name,
        if transcripts == 1 { "it" } else { "them" }
    ))?;
    if ask_yes_no("Import now?", out)? {
        let args = ImportSessionsArgs {
            paths: Vec::new(),
            project: None,
            since: None,
            dry_run: false,
            no_vectors: false,
            json: false,
        };
        import::run(&ImportCommand::Sessions(spec, args), out)?;
    }
    Ok(())
}

/// What others get who share the project's files.
pub(super) fn say_shared(files: &[&Path], out: &mut Output) -> Result<(), CliError> {
    let files: Vec<String> = files
        .iter()
        .map(|file| escape_invisible(&file.display().to_string()))
        .collect();
    out.print_text(&format!(
        "Shared with everybody who gets this project, once it is committed: {}.\n\
         It runs each one's own `remora`, and nothing where there is none. What is remembered \
         stays on each machine.\n",
        files.join(", ")
    ))
}

/// What an uninstallation leaves on the disk.
pub(super) fn say_left(data: &DataDir, spec: &AgentSpec, out: &mut Output) -> Result<(), CliError> {
    let home = data.app.paths.home();
    if !home.is_dir() {
        return Ok(());
    }
    let saved = fs::read_dir(home.join("memory")).into_iter().flatten();
    let saved = saved
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|end| end == "md"))
        .count();
    let saved = match saved {
        0 => String::new(),
        n => format!(
            ", with {} of yours in {}",
            format_count(n as u64, "saved memory", "saved memories"),
            escape_invisible(&home.join("memory").display().to_string())
        ),
    };
    out.print_text(&format!(
        "What was remembered stays: {} ({}){saved}.\n\
         Memories of single projects stay with the client and in the repositories. \
         `remora uninstall {} --purge` removes the data directory.\n",
        escape_invisible(&home.display().to_string()),
        format_size(sum_file_bytes(home)),
        spec.name
    ))
}

/// Bytes below a folder; links are not followed.
fn sum_file_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    let mut seen = 0;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_FILES {
                return bytes;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => bytes += entry.metadata().map_or(0, |meta| meta.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}
