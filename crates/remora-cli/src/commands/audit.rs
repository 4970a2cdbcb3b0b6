//! `remora audit`: looks through everything stored with today's rules, and
//! takes out what it finds when asked to. Says where a secret is and of which
//! kind; never the secret.

mod scan;

use std::collections::BTreeMap;

use remora_client::Paths;
use remora_memory::redact::Marks;
use remora_server::Rebuilt;
use remora_server::archive::Archive;
use remora_server::archive::rewrite::{self, Verdict};
use serde_json::json;

use crate::args::Audit;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::import;
use crate::commands::parts::{self, Part};
use crate::commands::scrub::scrub;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};
use scan::{Place, Scan};

/// Places that are told to people one by one.
const TOLD: usize = 100;

/// Where something was found.
#[derive(Debug)]
struct Found {
    place: Place,
    marks: Marks,
}

pub(crate) fn run(args: &Audit, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let redactor = import::redactor(&data)?;
    let guard = if args.fix {
        Some(Exclusive::take(&data.paths)?)
    } else {
        None
    };
    let mut scan = Scan::new(&data, &redactor);
    scan.all()?;
    let Scan {
        found,
        looked_at,
        unreadable,
        ..
    } = scan;
    if args.fix && !found.is_empty() {
        fix(&data, &redactor, &found)?;
    }
    drop(guard);
    let others = unscanned(&data.paths);
    if args.json {
        let found: Vec<_> = found.iter().map(as_json).collect();
        out.json(&json!({
            "looked_at": looked_at,
            "unreadable": unreadable,
            "found": found,
            "fixed": args.fix,
            "not_looked_at": others,
        }))?;
    } else {
        told(args, &found, looked_at, unreadable, &others, out)?;
    }
    Ok(if found.is_empty() || args.fix {
        Exit::GoOn
    } else {
        Exit::Failed
    })
}

/// Old databases beside the one in use; they are a person's to keep or remove.
fn unscanned(paths: &Paths) -> Vec<String> {
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
/// one, because changed rows leave their old text in the file.
fn fix(
    data: &Data,
    redactor: &remora_memory::redact::Redactor,
    found: &[Found],
) -> Result<(), CliError> {
    let mut none = Marks::new();
    if found.iter().any(|f| matches!(f.place, Place::Row { .. })) {
        let label = "taking out of the database";
        Rebuilt::renew(&data.paths, |old, new| {
            parts::copy(old, new, label, &mut |part| {
                scrub(redactor, part, &mut none);
            })?;
            // The copy of what users said follows the rows.
            remora_server::overrides::save(&data.paths, new).map_err(CliError::from)
        })?;
    }
    let folder = data.paths.archive();
    rewrite::clear(&folder)?;
    for file in Archive::new(&folder).files()? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let here = |f: &Found| matches!(&f.place, Place::Archived { file, .. } if *file == name);
        if found.iter().any(here) {
            rewrite::rewrite(&file, &mut |event| {
                let mut part = Part::Raw(Box::new(event));
                scrub(redactor, &mut part, &mut none);
                match part {
                    Part::Raw(event) => Verdict::Keep(event),
                    _ => Verdict::Drop,
                }
            })?;
        }
    }
    let mut files: Vec<_> = found
        .iter()
        .filter_map(|f| match &f.place {
            Place::File { path, .. } => Some(path),
            _ => None,
        })
        .collect();
    files.dedup();
    for path in files {
        scan::clean_file(redactor, path)?;
    }
    Ok(())
}

fn kinds(marks: &Marks) -> BTreeMap<&str, usize> {
    marks.iter().map(|mark| (mark.kind, mark.count)).collect()
}

fn as_json(found: &Found) -> serde_json::Value {
    let kinds = kinds(&found.marks);
    match &found.place {
        Place::Row { what, id } => {
            json!({ "place": "database", "what": what, "id": id, "kinds": kinds })
        }
        Place::Archived { file, event } => {
            json!({ "place": "archive", "file": file, "id": event, "kinds": kinds })
        }
        Place::File { path, line } => {
            json!({ "place": "file", "file": path, "line": line, "kinds": kinds })
        }
    }
}

fn told(
    args: &Audit,
    found: &[Found],
    looked_at: u64,
    unreadable: u64,
    others: &[String],
    out: &mut Output,
) -> Result<(), CliError> {
    for f in found.iter().take(TOLD) {
        let kinds: Vec<String> = f
            .marks
            .iter()
            .map(|mark| match mark.count {
                1 => mark.kind.to_owned(),
                count => format!("{} ({count} times)", mark.kind),
            })
            .collect();
        let place = match &f.place {
            Place::Row { what, id } => format!("database, {what} {id}"),
            Place::Archived { file, event } => format!("archive/{file}, event {event}"),
            Place::File { path, line } => format!("{}:{line}", path.display()),
        };
        let kinds = out.paint(Style::Red, &kinds.join(", "));
        out.text(&format!("{}: {kinds}\n", visible(&place)))?;
    }
    if found.len() > TOLD {
        out.text(&format!("and {} more\n", found.len() - TOLD))?;
    }
    let end = match (found.len(), args.fix) {
        (0, _) => "no secret found".to_owned(),
        (count, true) => format!("{count} places held secrets; they were taken out"),
        (count, false) => {
            format!("{count} places hold secrets; `remora audit --fix` takes them out")
        }
    };
    out.text(&format!("{end} ({looked_at} places looked at)\n"))?;
    if unreadable > 0 {
        out.text(&format!(
            "{unreadable} parts of the archive could not be read\n"
        ))?;
    }
    for name in others {
        out.text(&format!(
            "not looked at: {} (an old database; remove it when you do not need it)\n",
            visible(name)
        ))?;
    }
    Ok(())
}
