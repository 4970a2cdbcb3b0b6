//! `remora instructions approve`: imports from outside the project, allowed by
//! the user. Kept in our own data directory; the client's book is only read.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use remora_client::DataPaths;
use remora_files::{Durability, MAX_SETTINGS_BYTES, ReplaceOptions, read_file, replace_file};
use remora_instructions::{ExternalImports, Instructions, SkipReason};
use serde_json::json;

use super::ResolvedSession;
use crate::args::InstructionsApproveArgs;
use crate::commands::data::DataDir;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, escape_invisible};

fn approvals_path(paths: &DataPaths) -> PathBuf {
    paths.home().join("approvals.json")
}

/// Whether the user allowed this project's imports from outside.
pub(super) fn is_approved(paths: &DataPaths, root: &Path) -> bool {
    read_approvals(paths).is_ok_and(|projects| projects.contains(root))
}

fn read_approvals(paths: &DataPaths) -> Result<BTreeSet<PathBuf>, CliError> {
    let file = approvals_path(paths);
    let bytes = match read_file(&file, MAX_SETTINGS_BYTES) {
        Ok(bytes) => bytes,
        Err(e) if e.is_missing() => return Ok(BTreeSet::new()),
        Err(e) => {
            return Err(CliError::File {
                path: file,
                source: e.into(),
            });
        }
    };
    serde_json::from_slice(&bytes).map_err(|e| {
        CliError::Usage(format!(
            "{}: is not a list of directories ({e}); fix or remove it",
            file.display()
        ))
    })
}

fn write_approvals(paths: &DataPaths, projects: &BTreeSet<PathBuf>) -> Result<(), CliError> {
    let file = approvals_path(paths);
    let fail = |source| CliError::File {
        path: file.clone(),
        source,
    };
    paths.prepare_data_dir().map_err(fail)?;
    let mut text = serde_json::to_string_pretty(projects)?;
    text.push('\n');
    let options = ReplaceOptions::private(Durability::None);
    replace_file(&file, text.as_bytes(), &options).map_err(fail)
}

pub(super) fn run(args: &InstructionsApproveArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let ResolvedSession {
        places,
        mut options,
    } = args.place.resolve(&Environment::from_process())?;
    let root = remora_instructions::project_root(&places.cwd);
    options.external = ExternalImports::AsTheClientKnows;
    let mut loaded = Instructions::load(places, options);
    args.place.replay_reads(&mut loaded);
    let held: Vec<&Path> = loaded
        .skipped()
        .filter(|s| s.why == SkipReason::External)
        .map(|s| s.path.as_path())
        .collect();
    let mut projects = read_approvals(&data.app.paths)?;
    let changed = if args.revoke {
        projects.remove(&root)
    } else {
        !args.dry_run && projects.insert(root.clone())
    };
    if changed {
        write_approvals(&data.app.paths, &projects)?;
    }
    if args.json {
        out.print_json(&json!({
            "project": root, "approved": projects.contains(&root), "changed": changed,
            "outside": held,
        }))?;
        return Ok(Exit::GoOn);
    }
    let root = escape_invisible(&root.display().to_string());
    let mut text = match (args.revoke, args.dry_run, changed) {
        (true, _, true) => format!("{root}: imports from outside are held back again\n"),
        (true, _, false) => format!("{root}: was not approved\n"),
        (_, true, _) => format!("{root}: nothing was changed\n"),
        (_, _, true) => format!("{root}: may import files from outside\n"),
        (_, _, false) => format!("{root}: was approved already\n"),
    };
    if held.is_empty() {
        text.push_str("  no file is held back\n");
    }
    for path in held {
        let _ = writeln!(text, "  {}", escape_invisible(&path.display().to_string()));
    }
    if !args.revoke && !args.dry_run {
        text.push_str("  the client asks for itself and keeps its own answer\n");
    }
    out.print_text(&text)?;
    Ok(Exit::GoOn)
}
