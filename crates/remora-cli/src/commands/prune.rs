//! `remora prune`: removes what is old, from the database and from the archive
//! alike, so that a rebuild does not bring it back.

mod limit;

use std::fmt::Write;

use remora_memory::store::{Prune as Rows, PruneRun, Store};
use remora_protocol::record::Kind;
use remora_protocol::time::rfc3339;
use remora_server::Rebuilt;
use remora_server::archive::rewrite::{self, Verdict};
use remora_server::archive::{self, Archive};
use serde_json::json;

use crate::args::{self, Prune};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::export::project_of;
use crate::commands::parts;
use crate::commands::rebuild::space;
use crate::commands::search::{scope, when};
use crate::commands::show::lines::count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

const DAY: u64 = 86_400_000;
const MB: u64 = 1024 * 1024;
/// What stays whatever its age, unless everything is asked for.
const LASTING: [Kind; 6] = [
    Kind::Decision,
    Kind::Preference,
    Kind::Correction,
    Kind::Fix,
    Kind::Memory,
    // Git keeps them as long; the worker would take them in again.
    Kind::Commit,
];
/// Sizes are estimates; after so many rounds it is as small as it gets.
const ROUNDS: usize = 6;

/// What went, or would go.
#[derive(Debug, Default)]
struct Gone {
    rows: u64,
    archived: u64,
    before: Option<i64>,
    db_bytes: (u64, u64),
    archive_bytes: (u64, u64),
    /// The database could not be made smaller for want of room.
    tight: bool,
}

pub(crate) fn run(args: &Prune, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let limits = limits(args, &data)?;
    if limits == (None, None) {
        if args.json {
            out.json(&as_json(args, &Gone::default()))?;
        } else {
            out.text(
                "nothing is set to be removed: use --older-than or --max-mb, \
                 or `remora config set retention.days 90`\n",
            )?;
        }
        return Ok(Exit::GoOn);
    }
    let guard = if args.dry_run {
        None
    } else {
        Some(Exclusive::take(&data.paths)?)
    };
    let Some(store) = data.store()? else {
        if args.json {
            out.json(&as_json(args, &Gone::default()))?;
        } else {
            out.text("nothing is remembered yet\n")?;
        }
        return Ok(Exit::GoOn);
    };
    let place = args::Where {
        all: true,
        project: args.project.clone(),
    };
    let project = scope::project(&data, &store, &place)?;
    drop(store);
    let mut work = Work {
        data: &data,
        run: if args.dry_run {
            PruneRun::Dry
        } else {
            PruneRun::Real
        },
        keep: if args.everything {
            Vec::new()
        } else {
            LASTING.to_vec()
        },
        project,
        gone: Gone::default(),
    };
    work.measure(|gone, db, archive| (gone.db_bytes.0, gone.archive_bytes.0) = (db, archive))?;
    let (cutoff, most) = limits;
    if let Some(before) = cutoff {
        work.remove(before)?;
    }
    if let Some(most) = most {
        work.shrink(most)?;
    }
    work.measure(|gone, db, archive| (gone.db_bytes.1, gone.archive_bytes.1) = (db, archive))?;
    let gone = work.gone;
    drop(guard);
    if args.json {
        out.json(&as_json(args, &gone))?;
    } else {
        out.text(&told(args, &gone))?;
    }
    Ok(Exit::GoOn)
}

/// The moment before which rows go, and the most bytes: from the command line,
/// or else from the configuration.
fn limits(args: &Prune, data: &Data) -> Result<(Option<i64>, Option<u64>), CliError> {
    let set = |key: &str| Some(data.config.number(key)).filter(|value| *value > 0);
    if args.older_than.is_none() && args.max_mb.is_none() {
        let days = set("retention.days").map(|days| {
            let span = i64::try_from(days.saturating_mul(DAY)).unwrap_or(i64::MAX);
            clock::millis().saturating_sub(span)
        });
        return Ok((
            days,
            set("retention.max_mb").map(|mb| mb.saturating_mul(MB)),
        ));
    }
    let span = args::Span {
        since: args.older_than.clone(),
        until: None,
    };
    let cutoff = when::span(&span).map_err(|_| {
        let text = args.older_than.as_deref().unwrap_or_default();
        CliError::Usage(format!(
            "--older-than: `{text}` is not an age; try 90d, 12w, 6mo or 2026-01-31"
        ))
    })?;
    if cutoff.since.is_some_and(|at| at > clock::millis()) {
        return Err(CliError::Usage(
            "--older-than: that is in the future".to_owned(),
        ));
    }
    Ok((cutoff.since, args.max_mb.map(|mb| mb.saturating_mul(MB))))
}

struct Work<'a> {
    data: &'a Data,
    run: PruneRun,
    keep: Vec<Kind>,
    project: Option<String>,
    gone: Gone,
}

impl Work<'_> {
    fn measure(&mut self, put: impl FnOnce(&mut Gone, u64, u64)) -> Result<(), CliError> {
        let db = self
            .data
            .store()?
            .map_or(Ok(0), |s| s.counts().map(|c| c.bytes))?;
        put(
            &mut self.gone,
            db,
            Archive::new(self.data.paths.archive()).bytes(),
        );
        Ok(())
    }

    fn rows(&self, before: i64) -> Rows {
        Rows {
            before: Some(before),
            keep: self.keep.clone(),
            project: self.project.clone(),
        }
    }

    /// Removes what is older; returns how many rows.
    fn remove(&mut self, before: i64) -> Result<u64, CliError> {
        let rows = match self.run {
            PruneRun::Dry => match self.data.store()? {
                Some(store) => store.prune(&self.rows(before), PruneRun::Dry)?,
                None => 0,
            },
            PruneRun::Real => {
                let rows = self
                    .data
                    .writable()?
                    .prune(&self.rows(before), PruneRun::Real)?;
                if rows > 0 {
                    self.give_back()?;
                }
                rows
            }
        };
        self.archive(before)?;
        // A second pass of a dry run counts the first one's rows again.
        self.gone.rows = match self.run {
            PruneRun::Dry => self.gone.rows.max(rows),
            PruneRun::Real => self.gone.rows + rows,
        };
        self.gone.before = self.gone.before.max(Some(before));
        Ok(rows)
    }

    /// Copies what is left into a new file: the old one would keep its size.
    fn give_back(&mut self) -> Result<(), CliError> {
        let paths = &self.data.paths;
        let size = std::fs::metadata(paths.database()).map_or(0, |m| m.len());
        if space::check(paths.home(), size, 0).is_err() {
            // The room is used again by new rows, at least.
            self.gone.tight = true;
            return Ok(());
        }
        let label = "making the database smaller";
        Rebuilt::renew(paths, |old, new| parts::copy(old, new, label, &mut |_| {}))?;
        Ok(())
    }

    fn archive(&mut self, before: i64) -> Result<(), CliError> {
        let folder = self.data.paths.archive();
        if self.run == PruneRun::Real {
            rewrite::clear(&folder)?;
        }
        let project = self.project.as_deref();
        let old = |event: &archive::Archived| {
            event.envelope.at < before && project.is_none_or(|only| only == project_of(event))
        };
        let mut dropped = 0;
        for file in Archive::new(&folder).files()? {
            let mut here = 0;
            let read = archive::read(&file, |event| here += u64::from(old(&event)));
            read.map_err(|source| CliError::File {
                path: file.clone(),
                source,
            })?;
            dropped += here;
            if here > 0 && self.run == PruneRun::Real {
                rewrite::rewrite(&file, &mut |event| {
                    if old(&event) {
                        Verdict::Drop
                    } else {
                        Verdict::Keep(Box::new(event))
                    }
                })?;
            }
        }
        self.gone.archived = match self.run {
            PruneRun::Dry => self.gone.archived.max(dropped),
            PruneRun::Real => self.gone.archived + dropped,
        };
        Ok(())
    }

    /// Removes the oldest until the database is small enough, or nothing is
    /// left that may go.
    fn shrink(&mut self, most: u64) -> Result<(), CliError> {
        for _ in 0..ROUNDS {
            let Some(store) = self.data.store()? else {
                return Ok(());
            };
            let counts = store.counts()?;
            if counts.bytes <= most {
                return Ok(());
            }
            let wanted = limit::rows_to_go(parts::rows(&counts), counts.bytes, most);
            let count = |before: i64| store.prune(&self.rows(before), PruneRun::Dry);
            let before = limit::moment(wanted, clock::millis().saturating_add(1), &count)?;
            drop(store);
            let gone = self.remove(before)?;
            if gone == 0 || self.run == PruneRun::Dry || self.gone.tight {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn as_json(args: &Prune, gone: &Gone) -> serde_json::Value {
    json!({
        "dry_run": args.dry_run,
        "before": gone.before.map(rfc3339),
        "rows": gone.rows,
        "archived_events": gone.archived,
        "db_bytes": { "before": gone.db_bytes.0, "after": gone.db_bytes.1 },
        "archive_bytes": { "before": gone.archive_bytes.0, "after": gone.archive_bytes.1 },
    })
}

fn told(args: &Prune, gone: &Gone) -> String {
    let Some(before) = gone.before else {
        return "nothing is old or large enough to go\n".to_owned();
    };
    let verb = if args.dry_run {
        "would remove"
    } else {
        "removed"
    };
    let mut text = format!(
        "{verb} {} and {} from before {}\n",
        count(gone.rows, "row", "rows"),
        count(gone.archived, "archived event", "archived events"),
        rfc3339(before)
    );
    if !args.dry_run {
        for (name, (before, after)) in
            [("database", gone.db_bytes), ("archive", gone.archive_bytes)]
        {
            let _ = writeln!(text, "{name}: {} -> {}", size(before), size(after));
        }
    }
    if gone.tight {
        text.push_str(
            "the database keeps its size: there is no room for a copy; new rows use what is free in it\n",
        );
    }
    text
}

fn size(bytes: u64) -> String {
    let (whole, tenth) = (bytes / MB, bytes % MB * 10 / MB);
    if whole == 0 && bytes < MB / 10 {
        format!("{} KB", bytes.div_ceil(1024))
    } else {
        format!("{whole}.{tenth} MB")
    }
}
