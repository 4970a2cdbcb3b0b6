//! `remora memory check`: what memories name, verified against the working
//! tree; the results are kept for everything that shows memories.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use remora_client::Paths;
use remora_files::{MAX_BOOK_BYTES, read_file};
use remora_instructions::auto_memory;
use remora_instructions::memories::Memory;
use remora_instructions::memories::check::{self, Cached, Files, Finding, Verdict};
use serde_json::{Value, json};

use super::look::is_about_the_tree;
use super::{Shelf, as_json};
use crate::args::MemoryCheck;
use crate::commands::progress::Progress;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

/// A memory, and what the tree says to it.
pub(super) struct Checked {
    pub(super) memory: Memory,
    pub(super) findings: Vec<Finding>,
}

pub(super) fn run(args: &MemoryCheck, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let mut named = Vec::new();
    for name in &args.names {
        named.push(shelf.find(name, &args.whose)?.1.uri);
    }
    let scope = args.whose.scope();
    let mut all = all(&shelf)?;
    all.retain(|checked| {
        let uri = &checked.memory.uri;
        scope.is_none_or(|scope| uri.scope == scope) && (named.is_empty() || named.contains(uri))
    });
    let verdict = |checked: &Checked| check::overall(&checked.findings);
    let gone = all.iter().any(|checked| verdict(checked) == Verdict::Gone);
    if args.place.json {
        let list: Vec<Value> = all
            .iter()
            .map(|checked| {
                let mut value = as_json(&checked.memory);
                value["check"] = json!(verdict(checked).word());
                value["findings"] = findings_json(&checked.findings);
                value
            })
            .collect();
        let count = |wanted: Verdict| all.iter().filter(|c| verdict(c) == wanted).count();
        out.json(&json!({
            "memories": list,
            "holds": count(Verdict::Holds),
            "moved": count(Verdict::Moved),
            "gone": count(Verdict::Gone),
            "cannot_tell": count(Verdict::CannotTell),
        }))?;
    } else {
        told(args, &all, out)?;
    }
    Ok(if gone { Exit::Failed } else { Exit::GoOn })
}

fn told(args: &MemoryCheck, all: &[Checked], out: &mut Output) -> Result<(), CliError> {
    if all.is_empty() {
        return out.text("nothing is saved here that names files or code\n");
    }
    for checked in all {
        let verdict = check::overall(&checked.findings);
        if !args.all && args.names.is_empty() && verdict <= Verdict::CannotTell {
            continue;
        }
        let style = match verdict {
            Verdict::Gone => Style::Red,
            Verdict::Moved => Style::Yellow,
            Verdict::Holds => Style::Green,
            Verdict::CannotTell => Style::Dim,
        };
        let word = out.paint(style, &format!("{:<12}", verdict.word()));
        out.text(&format!("{word}{}\n", checked.memory.uri))?;
        if args.all || !args.names.is_empty() {
            lines(&checked.findings, |_| true, out)?;
        } else {
            troubles(&checked.findings, out)?;
        }
    }
    let count = |wanted: Verdict| {
        all.iter()
            .filter(|checked| check::overall(&checked.findings) == wanted)
            .count()
    };
    out.text(&format!(
        "{} checked: {} hold, {} moved, {} gone, {} cannot be told\n",
        all.len(),
        count(Verdict::Holds),
        count(Verdict::Moved),
        count(Verdict::Gone),
        count(Verdict::CannotTell),
    ))
}

/// The findings that need someone.
pub(super) fn troubles(findings: &[Finding], out: &mut Output) -> Result<(), CliError> {
    lines(findings, |verdict| verdict > Verdict::CannotTell, out)
}

fn lines(
    findings: &[Finding],
    keep: impl Fn(Verdict) -> bool,
    out: &mut Output,
) -> Result<(), CliError> {
    for finding in findings.iter().filter(|finding| keep(finding.verdict)) {
        out.text(&format!(
            "  {} {} `{}`: {}\n",
            finding.verdict.word(),
            finding.claim.kind.word(),
            visible(&finding.claim.text),
            visible(&finding.evidence)
        ))?;
    }
    Ok(())
}

pub(super) fn findings_json(findings: &[Finding]) -> Value {
    findings
        .iter()
        .map(|finding| {
            json!({
                "kind": finding.claim.kind.word(),
                "text": finding.claim.text,
                "line": finding.claim.line,
                "verdict": finding.verdict.word(),
                "evidence": finding.evidence,
                "now": finding.now,
            })
        })
        .collect()
}

/// Checks every memory that is about this checkout, and keeps the results.
pub(super) fn all(shelf: &Shelf) -> Result<Vec<Checked>, CliError> {
    let mut memories = Vec::new();
    let mut apart = Vec::new();
    for folder in &shelf.folders {
        apart.push(folder.dir().to_path_buf());
        if is_about_the_tree(folder.scope()) {
            memories.extend(folder.list()?.memories);
        }
    }
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let bodies: Vec<&str> = memories.iter().map(|memory| memory.body.as_str()).collect();
    let mut cached = cache(&shelf.data.paths, &shelf.root);
    let files = Files::list(&shelf.root, &apart);
    let mut progress = Progress::new("checking");
    let mut step = |done: usize, all: usize| {
        progress.at(done as u64, all as u64, &format!("{done} files"));
    };
    let git = shelf.data.environment.find_git(&shelf.root);
    let findings = check::check_all(&files, &bodies, &git, &mut cached, &mut step);
    drop(progress);
    keep(&shelf.data.paths, &shelf.root, &cached);
    Ok(memories
        .into_iter()
        .zip(findings)
        .map(|(memory, findings)| Checked { memory, findings })
        .collect())
}

/// Where the results for a checkout are kept.
pub(in crate::commands) fn cache_file(paths: &Paths, root: &Path) -> PathBuf {
    let name = auto_memory::slug(&root.to_string_lossy());
    paths.home().join("check").join(format!("{name}.json"))
}

/// The results of earlier checks of a checkout. A damaged file is none.
pub(in crate::commands) fn cache(paths: &Paths, root: &Path) -> Cached {
    let bytes = read_file(&cache_file(paths, root), MAX_BOOK_BYTES).unwrap_or_default();
    Cached::load(&bytes)
}

/// Keeps the results. They are only a matter of speed: where they cannot be
/// written, the next check looks again. What is there already stays untouched,
/// so that nobody takes it for news.
pub(in crate::commands) fn keep(paths: &Paths, root: &Path, cached: &Cached) {
    let file = cache_file(paths, root);
    let bytes = cached.save();
    if read_file(&file, MAX_BOOK_BYTES).is_ok_and(|there| there == bytes) {
        return;
    }
    let write = || -> std::io::Result<()> {
        paths.prepare()?;
        let folder = paths.home().join("check");
        remora_client::make_our_folder(&folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(&folder)?;
        draft.write_all(&bytes)?;
        draft.persist(&file)?;
        Ok(())
    };
    let _ = write();
}
