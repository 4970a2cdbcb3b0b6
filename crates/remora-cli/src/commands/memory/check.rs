//! `remora memory check`: what memories name, verified against the working
//! tree; the results are kept for everything that shows memories.

use std::path::{Path, PathBuf};

use remora_client::DataPaths;
use remora_files::{Durability, MAX_CLIENT_STATE_BYTES, ReplaceOptions, read_file, replace_file};
use remora_instructions::auto_memory;
use remora_notes::Memory;
use remora_notes::check::{self, CheckCache, ClaimFinding, ClaimVerdict, TreeListing};
use serde_json::{Value, json};

use super::look::is_about_the_tree;
use super::{MemoryWorkspace, as_json};
use crate::args::MemoryCheckArgs;
use crate::commands::progress::Progress;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

/// A memory, and what the tree says to it.
pub(super) struct CheckedMemory {
    pub(super) memory: Memory,
    pub(super) findings: Vec<ClaimFinding>,
}

pub(super) fn run(args: &MemoryCheckArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let mut named = Vec::new();
    for name in &args.names {
        named.push(shelf.find(name, &args.whose)?.1.uri);
    }
    let scope = args.whose.memory_scope();
    let mut all = check_all_memories(&shelf)?;
    all.retain(|checked| {
        let uri = &checked.memory.uri;
        scope.is_none_or(|scope| uri.scope == scope) && (named.is_empty() || named.contains(uri))
    });
    let verdict = |checked: &CheckedMemory| check::combine_verdicts(&checked.findings);
    let gone = all
        .iter()
        .any(|checked| verdict(checked) == ClaimVerdict::Gone);
    if args.place.json {
        let list: Vec<Value> = all
            .iter()
            .map(|checked| {
                let mut value = as_json(&checked.memory);
                value["check"] = json!(verdict(checked).as_str());
                value["findings"] = findings_json(&checked.findings);
                value
            })
            .collect();
        let count = |wanted: ClaimVerdict| all.iter().filter(|c| verdict(c) == wanted).count();
        out.print_json(&json!({
            "memories": list,
            "holds": count(ClaimVerdict::Holds),
            "moved": count(ClaimVerdict::Moved),
            "gone": count(ClaimVerdict::Gone),
            "cannot_tell": count(ClaimVerdict::CannotTell),
        }))?;
    } else {
        print_report(args, &all, out)?;
    }
    Ok(if gone { Exit::Failed } else { Exit::GoOn })
}

fn print_report(
    args: &MemoryCheckArgs,
    all: &[CheckedMemory],
    out: &mut Output,
) -> Result<(), CliError> {
    if all.is_empty() {
        return out.print_text("nothing is saved here that names files or code\n");
    }
    for checked in all {
        let verdict = check::combine_verdicts(&checked.findings);
        if !args.all && args.names.is_empty() && verdict <= ClaimVerdict::CannotTell {
            continue;
        }
        let style = match verdict {
            ClaimVerdict::Gone => Style::Red,
            ClaimVerdict::Moved => Style::Yellow,
            ClaimVerdict::Holds => Style::Green,
            ClaimVerdict::CannotTell => Style::Dim,
        };
        let word = out.paint(style, &format!("{:<12}", verdict.as_str()));
        out.print_text(&format!("{word}{}\n", checked.memory.uri))?;
        if args.all || !args.names.is_empty() {
            print_findings(&checked.findings, |_| true, out)?;
        } else {
            print_problems(&checked.findings, out)?;
        }
    }
    let count = |wanted: ClaimVerdict| {
        all.iter()
            .filter(|checked| check::combine_verdicts(&checked.findings) == wanted)
            .count()
    };
    out.print_text(&format!(
        "{} checked: {} hold, {} moved, {} gone, {} cannot be decided\n",
        all.len(),
        count(ClaimVerdict::Holds),
        count(ClaimVerdict::Moved),
        count(ClaimVerdict::Gone),
        count(ClaimVerdict::CannotTell),
    ))
}

/// The findings that need someone.
pub(super) fn print_problems(findings: &[ClaimFinding], out: &mut Output) -> Result<(), CliError> {
    print_findings(findings, |verdict| verdict > ClaimVerdict::CannotTell, out)
}

fn print_findings(
    findings: &[ClaimFinding],
    keep: impl Fn(ClaimVerdict) -> bool,
    out: &mut Output,
) -> Result<(), CliError> {
    for finding in findings.iter().filter(|finding| keep(finding.verdict)) {
        out.print_text(&format!(
            "  {} {} `{}`: {}\n",
            finding.verdict.as_str(),
            finding.claim.kind.as_str(),
            escape_invisible(&finding.claim.text),
            escape_invisible(&finding.evidence)
        ))?;
    }
    Ok(())
}

pub(super) fn findings_json(findings: &[ClaimFinding]) -> Value {
    findings
        .iter()
        .map(|finding| {
            json!({
                "kind": finding.claim.kind.as_str(),
                "text": finding.claim.text,
                "line": finding.claim.line,
                "verdict": finding.verdict.as_str(),
                "evidence": finding.evidence,
                "now": finding.now,
            })
        })
        .collect()
}

/// Checks every memory that is about this checkout, and keeps the results.
pub(super) fn check_all_memories(shelf: &MemoryWorkspace) -> Result<Vec<CheckedMemory>, CliError> {
    let mut memories = Vec::new();
    let mut apart = Vec::new();
    for folder in &shelf.folders {
        apart.push(folder.dir().to_path_buf());
        if is_about_the_tree(folder.scope()) {
            memories.extend(folder.list_memories()?.memories);
        }
    }
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let bodies: Vec<&str> = memories.iter().map(|memory| memory.body.as_str()).collect();
    let mut cached = load_check_cache(&shelf.data.app.paths, &shelf.root);
    let files = TreeListing::list_files(&shelf.root, &apart);
    let mut progress = Progress::new("checking");
    let mut step = |done: usize, all: usize| {
        progress.update_line(done as u64, all as u64, &format!("{done} files"));
    };
    let git = shelf.data.environment.find_git(&shelf.root);
    let findings = check::check_all(&files, &bodies, &git, &mut cached, &mut step);
    drop(progress);
    save_check_cache(&shelf.data.app.paths, &shelf.root, &cached);
    Ok(memories
        .into_iter()
        .zip(findings)
        .map(|(memory, findings)| CheckedMemory { memory, findings })
        .collect())
}

/// Where the results for a checkout are kept.
pub(in crate::commands) fn cache_file(paths: &DataPaths, root: &Path) -> PathBuf {
    let name = auto_memory::slugify_path(&root.to_string_lossy());
    paths.home().join("check").join(format!("{name}.json"))
}

/// The results of earlier checks of a checkout. A damaged file is none.
pub(in crate::commands) fn load_check_cache(paths: &DataPaths, root: &Path) -> CheckCache {
    let bytes = read_file(&cache_file(paths, root), MAX_CLIENT_STATE_BYTES).unwrap_or_default();
    CheckCache::load(&bytes)
}

/// Keeps the results. They are only a matter of speed: where they cannot be
/// written, the next check looks again. What is there already stays untouched,
/// so that it is not read as news.
pub(in crate::commands) fn save_check_cache(paths: &DataPaths, root: &Path, cached: &CheckCache) {
    let file = cache_file(paths, root);
    let bytes = cached.save();
    if read_file(&file, MAX_CLIENT_STATE_BYTES).is_ok_and(|there| there == bytes) {
        return;
    }
    let write = || -> std::io::Result<()> {
        paths.prepare_data_dir()?;
        remora_client::make_our_folder(&paths.home().join("check"))?;
        replace_file(&file, &bytes, &ReplaceOptions::private(Durability::None))
    };
    let _ = write();
}
