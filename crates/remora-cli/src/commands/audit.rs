//! `remora audit`: looks through everything stored with today's rules, and
//! takes out what it finds when asked to. Says where a secret is and of which
//! kind; never the secret.

mod scan;

use std::collections::BTreeMap;

use remora_client::DataPaths;
use remora_redact::RedactionCounts;
use remora_server::RebuildStats;
use remora_server::archive::Archive;
use remora_server::archive::rewrite::{self, RewriteAction};
use serde_json::json;

use crate::args::AuditArgs;
use crate::commands::data::DataDir;
use crate::commands::parts::{self, StorePart};
use crate::commands::scrub::redact_part;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use scan::{SecretLocation, SecretScan};

/// Places that are listed one by one.
const MAX_SHOWN_FINDINGS: usize = 100;

/// Where something was found.
#[derive(Debug)]
struct SecretFinding {
    place: SecretLocation,
    marks: RedactionCounts,
}

pub(crate) fn run(args: &AuditArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let redactor = data.app.build_redactor()?;
    let guard = if args.fix {
        Some(data.app.lock_worker()?)
    } else {
        None
    };
    let mut scan = SecretScan::new(&data, &redactor);
    scan.scan_all()?;
    let SecretScan {
        found,
        looked_at,
        unreadable,
        ..
    } = scan;
    if args.fix && !found.is_empty() {
        redact_findings(&data, &redactor, &found)?;
    }
    drop(guard);
    let others = list_unscanned(&data.app.paths);
    if args.json {
        let found: Vec<_> = found.iter().map(as_json).collect();
        out.print_json(&json!({
            "looked_at": looked_at,
            "unreadable": unreadable,
            "found": found,
            "fixed": args.fix,
            "not_looked_at": others,
        }))?;
    } else {
        print_report(args, &found, looked_at, unreadable, &others, out)?;
    }
    Ok(if found.is_empty() || args.fix {
        Exit::GoOn
    } else {
        Exit::Failed
    })
}

/// Old databases next to the one in use; they are the user's to keep or remove.
fn list_unscanned(paths: &DataPaths) -> Vec<String> {
    let entries = std::fs::read_dir(paths.home()).into_iter().flatten();
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            name.starts_with("remora.db.damaged-") || name.starts_with("remora.db.backup-")
        })
        .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect();
    names.sort();
    names
}

/// Takes out what was found, file by file. The database is copied into a new
/// one, because changed items leave their old text in the file.
fn redact_findings(
    data: &DataDir,
    redactor: &remora_redact::Redactor,
    found: &[SecretFinding],
) -> Result<(), CliError> {
    let mut none = RedactionCounts::new();
    if found
        .iter()
        .any(|f| matches!(f.place, SecretLocation::Row { .. }))
    {
        let label = "taking out of the database";
        RebuildStats::renew_database(&data.app.paths, |old, new| {
            parts::copy_store(old, new, label, &mut |part| {
                redact_part(redactor, part, &mut none);
            })?;
            // The copy of what users said follows the items.
            remora_server::overrides::save_overrides(&data.app.paths, new).map_err(CliError::from)
        })?;
    }
    let folder = data.app.paths.archive_dir();
    rewrite::clear_leftovers(&folder)?;
    for file in Archive::new(&folder).list_files()? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let here = |f: &SecretFinding| matches!(&f.place, SecretLocation::Archived { file, .. } if *file == name);
        if found.iter().any(here) {
            rewrite::rewrite_file(&file, &mut |event| {
                let mut part = StorePart::Raw(Box::new(event));
                redact_part(redactor, &mut part, &mut none);
                match part {
                    StorePart::Raw(event) => RewriteAction::Keep(event),
                    _ => RewriteAction::Drop,
                }
            })?;
        }
    }
    let mut files: Vec<_> = found
        .iter()
        .filter_map(|f| match &f.place {
            SecretLocation::File { path, .. } => Some(path),
            _ => None,
        })
        .collect();
    files.dedup();
    for path in files {
        scan::clean_file(redactor, path)?;
    }
    Ok(())
}

fn count_kinds(marks: &RedactionCounts) -> BTreeMap<&str, usize> {
    marks.iter().map(|mark| (mark.kind, mark.count)).collect()
}

fn as_json(found: &SecretFinding) -> serde_json::Value {
    let kinds = count_kinds(&found.marks);
    match &found.place {
        SecretLocation::Row { what, id } => {
            json!({ "place": "database", "what": what, "id": id, "kinds": kinds })
        }
        SecretLocation::Archived { file, event } => {
            json!({ "place": "archive", "file": file, "id": event, "kinds": kinds })
        }
        SecretLocation::File { path, line } => {
            json!({ "place": "file", "file": path, "line": line, "kinds": kinds })
        }
    }
}

fn print_report(
    args: &AuditArgs,
    found: &[SecretFinding],
    looked_at: u64,
    unreadable: u64,
    others: &[String],
    out: &mut Output,
) -> Result<(), CliError> {
    for f in found.iter().take(MAX_SHOWN_FINDINGS) {
        let kinds: Vec<String> = f
            .marks
            .iter()
            .map(|mark| match mark.count {
                1 => mark.kind.to_owned(),
                count => format!("{} ({count} times)", mark.kind),
            })
            .collect();
        let place = match &f.place {
            SecretLocation::Row { what, id } => format!("database, {what} {id}"),
            SecretLocation::Archived { file, event } => format!("archive/{file}, event {event}"),
            SecretLocation::File { path, line } => format!("{}:{line}", path.display()),
        };
        let kinds = out.paint(Style::Red, &kinds.join(", "));
        out.print_text(&format!("{}: {kinds}\n", escape_invisible(&place)))?;
    }
    if found.len() > MAX_SHOWN_FINDINGS {
        out.print_text(&format!("and {} more\n", found.len() - MAX_SHOWN_FINDINGS))?;
    }
    let end = match (found.len(), args.fix) {
        (0, _) => "no secret found".to_owned(),
        (count, true) => format!("{count} places held secrets; they were redacted"),
        (count, false) => {
            format!("{count} places hold secrets; `remora audit --fix` takes them out")
        }
    };
    out.print_text(&format!("{end} ({looked_at} places looked at)\n"))?;
    if unreadable > 0 {
        out.print_text(&format!(
            "{unreadable} parts of the archive could not be read\n"
        ))?;
    }
    for name in others {
        out.print_text(&format!(
            "not looked at: {} (an old database; remove it when you do not need it)\n",
            escape_invisible(name)
        ))?;
    }
    Ok(())
}
