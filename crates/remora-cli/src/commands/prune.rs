//! `remora prune`: removes what is old, from the database and from the archive
//! alike, so that a rebuild does not bring it back.

mod limit;

use std::fmt::Write;

use remora_core::ids::ProjectKey;
use remora_core::record::Kind;
use remora_core::time::format_rfc3339;
use remora_memory::store::{PruneMode, PruneRequest as Rows};
use remora_server::RebuildStats;
use remora_server::archive::rewrite::{self, RewriteAction};
use remora_server::archive::{self, Archive};
use serde_json::json;

use crate::args::{self, PruneArgs};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::export::project_of;
use crate::commands::parts;
use crate::commands::rebuild::space;
use crate::commands::show::lines::format_count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use remora_app::TimeSpanRequest;

const DAY_MS: u64 = 86_400_000;
const MB_BYTES: u64 = 1024 * 1024;
/// What stays whatever its age, unless `--everything` is set.
const LASTING_KINDS: [Kind; 6] = [
    Kind::Decision,
    Kind::Preference,
    Kind::Correction,
    Kind::Fix,
    Kind::Memory,
    // Git keeps them as long; the worker would take them in again.
    Kind::Commit,
];
/// Sizes are estimates; after so many rounds it is as small as it gets.
const MAX_SHRINK_ROUNDS: usize = 6;

/// What went, or would go.
#[derive(Debug, Default)]
struct PruneStats {
    rows: u64,
    archived: u64,
    before: Option<i64>,
    db_bytes: (u64, u64),
    archive_bytes: (u64, u64),
    /// The database could not be made smaller for want of room.
    tight: bool,
}

pub(crate) fn run(args: &PruneArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let limits = resolve_limits(args, &data)?;
    if limits == (None, None) {
        if args.json {
            out.print_json(&as_json(args, &PruneStats::default()))?;
        } else {
            out.print_text(
                "nothing is set to be removed: use --older-than or --max-mb, \
                 or `remora config set retention.days 90`\n",
            )?;
        }
        return Ok(Exit::GoOn);
    }
    let guard = if args.dry_run {
        None
    } else {
        Some(data.app.lock_worker()?)
    };
    let Some(store) = data.app.open_store()? else {
        if args.json {
            out.print_json(&as_json(args, &PruneStats::default()))?;
        } else {
            out.print_text("nothing is remembered yet\n")?;
        }
        return Ok(Exit::GoOn);
    };
    let place = args::ProjectScopeArgs {
        all: true,
        project: args.project.clone(),
    };
    let project = data.app.resolve_project(&*store, &place.to_choice())?;
    drop(store);
    let mut work = Pruner {
        data: &data,
        run: if args.dry_run {
            PruneMode::Dry
        } else {
            PruneMode::Real
        },
        keep: if args.everything {
            Vec::new()
        } else {
            LASTING_KINDS.to_vec()
        },
        project,
        gone: PruneStats::default(),
    };
    work.measure_sizes(|gone, db, archive| {
        (gone.db_bytes.0, gone.archive_bytes.0) = (db, archive);
    })?;
    let (cutoff, most) = limits;
    if let Some(before) = cutoff {
        work.remove(before)?;
    }
    if let Some(most) = most {
        work.shrink_database(most)?;
    }
    work.measure_sizes(|gone, db, archive| {
        (gone.db_bytes.1, gone.archive_bytes.1) = (db, archive);
    })?;
    let gone = work.gone;
    drop(guard);
    if args.json {
        out.print_json(&as_json(args, &gone))?;
    } else {
        out.print_text(&render_report(args, &gone))?;
    }
    Ok(Exit::GoOn)
}

/// The time before which items go, and the most bytes: from the command line,
/// or else from the configuration.
fn resolve_limits(
    args: &PruneArgs,
    data: &DataDir,
) -> Result<(Option<i64>, Option<u64>), CliError> {
    let set = |key: &str| Some(data.app.config.get_number(key)).filter(|value| *value > 0);
    // Flags replace the settings as a whole: `--max-mb` alone must not also
    // apply an age.
    if args.older_than.is_none() && args.max_mb.is_none() {
        let days = set("retention.days").map(|days| {
            let span = i64::try_from(days.saturating_mul(DAY_MS)).unwrap_or(i64::MAX);
            clock::now_ms().saturating_sub(span)
        });
        return Ok((
            days,
            set("retention.max_mb").map(|mb| mb.saturating_mul(MB_BYTES)),
        ));
    }
    let span = TimeSpanRequest {
        since: args.older_than.clone(),
        until: None,
    };
    let cutoff = span.resolve(&data.app.clock.now()).map_err(|_| {
        let text = args.older_than.as_deref().unwrap_or_default();
        CliError::Usage(format!(
            "--older-than: `{text}` is not an age; try 90d, 12w, 6mo or 2026-01-31"
        ))
    })?;
    if cutoff.since.is_some_and(|at| at > clock::now_ms()) {
        return Err(CliError::Usage(
            "--older-than: that is in the future".to_owned(),
        ));
    }
    Ok((
        cutoff.since,
        args.max_mb.map(|mb| mb.saturating_mul(MB_BYTES)),
    ))
}

struct Pruner<'a> {
    data: &'a DataDir,
    run: PruneMode,
    keep: Vec<Kind>,
    project: Option<ProjectKey>,
    gone: PruneStats,
}

impl Pruner<'_> {
    fn measure_sizes(
        &mut self,
        put: impl FnOnce(&mut PruneStats, u64, u64),
    ) -> Result<(), CliError> {
        let db = self
            .data
            .app
            .open_store()?
            .map_or(Ok(0), |s| s.count_contents().map(|c| c.bytes))?;
        put(
            &mut self.gone,
            db,
            Archive::new(self.data.app.paths.archive_dir()).disk_bytes(),
        );
        Ok(())
    }

    fn build_request(&self, before: i64) -> Rows {
        Rows {
            before: Some(before),
            keep: self.keep.clone(),
            project: self.project.clone(),
        }
    }

    /// Removes what is older; returns how many items.
    fn remove(&mut self, before: i64) -> Result<u64, CliError> {
        let rows = match self.run {
            PruneMode::Dry => match self.data.app.open_store()? {
                Some(store) => store.prune(&self.build_request(before), PruneMode::Dry)?,
                None => 0,
            },
            PruneMode::Real => {
                let rows = self
                    .data
                    .app
                    .open_writable_store()?
                    .prune(&self.build_request(before), PruneMode::Real)?;
                if rows > 0 {
                    self.give_back()?;
                }
                rows
            }
        };
        // The archive as well: a rebuild would bring the items back.
        self.prune_archive(before)?;
        // A second pass of a dry run counts the first one's items again.
        self.gone.rows = match self.run {
            PruneMode::Dry => self.gone.rows.max(rows),
            PruneMode::Real => self.gone.rows + rows,
        };
        self.gone.before = self.gone.before.max(Some(before));
        Ok(rows)
    }

    /// Copies what is left into a new file: the old one would keep its size.
    fn give_back(&mut self) -> Result<(), CliError> {
        let paths = &self.data.app.paths;
        let size = std::fs::metadata(paths.database_file()).map_or(0, |m| m.len());
        if space::check_free_space(paths.home(), size, 0).is_err() {
            // The room is used again by new items, at least.
            self.gone.tight = true;
            return Ok(());
        }
        let label = "making the database smaller";
        RebuildStats::renew_database(paths, |old, new| {
            parts::copy_store(old, new, label, &mut |_| {})
        })?;
        Ok(())
    }

    fn prune_archive(&mut self, before: i64) -> Result<(), CliError> {
        let folder = self.data.app.paths.archive_dir();
        if self.run == PruneMode::Real {
            rewrite::clear_leftovers(&folder)?;
        }
        let project = self.project.as_deref();
        let old = |event: &archive::ArchivedEvent| {
            event.envelope.at < before && project.is_none_or(|only| only == project_of(event))
        };
        let mut dropped = 0;
        for file in Archive::new(&folder).list_files()? {
            // Counted first: a file with nothing old in it is not rewritten.
            let mut here = 0;
            let read = archive::read_events(&file, |event| here += u64::from(old(&event)));
            read.map_err(|source| CliError::File {
                path: file.clone(),
                source,
            })?;
            dropped += here;
            if here > 0 && self.run == PruneMode::Real {
                rewrite::rewrite_file(&file, &mut |event| {
                    if old(&event) {
                        RewriteAction::Drop
                    } else {
                        RewriteAction::Keep(Box::new(event))
                    }
                })?;
            }
        }
        self.gone.archived = match self.run {
            PruneMode::Dry => self.gone.archived.max(dropped),
            PruneMode::Real => self.gone.archived + dropped,
        };
        Ok(())
    }

    /// Removes the oldest until the database is small enough, or nothing is
    /// left that may go.
    fn shrink_database(&mut self, most: u64) -> Result<(), CliError> {
        for _ in 0..MAX_SHRINK_ROUNDS {
            let Some(store) = self.data.app.open_store()? else {
                return Ok(());
            };
            let counts = store.count_contents()?;
            if counts.bytes <= most {
                return Ok(());
            }
            let wanted = limit::rows_to_go(parts::count_records(&counts), counts.bytes, most);
            let count = |before: i64| store.prune(&self.build_request(before), PruneMode::Dry);
            let before =
                limit::find_cutoff_time(wanted, clock::now_ms().saturating_add(1), &count)?;
            drop(store);
            let gone = self.remove(before)?;
            // Without progress another round would find the same sizes.
            if gone == 0 || self.run == PruneMode::Dry || self.gone.tight {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn as_json(args: &PruneArgs, gone: &PruneStats) -> serde_json::Value {
    json!({
        "dry_run": args.dry_run,
        "before": gone.before.map(format_rfc3339),
        "rows": gone.rows,
        "archived_events": gone.archived,
        "db_bytes": { "before": gone.db_bytes.0, "after": gone.db_bytes.1 },
        "archive_bytes": { "before": gone.archive_bytes.0, "after": gone.archive_bytes.1 },
    })
}

fn render_report(args: &PruneArgs, gone: &PruneStats) -> String {
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
        format_count(gone.rows, "item", "items"),
        format_count(gone.archived, "archived event", "archived events"),
        format_rfc3339(before)
    );
    if !args.dry_run {
        for (name, (before, after)) in
            [("database", gone.db_bytes), ("archive", gone.archive_bytes)]
        {
            let _ = writeln!(
                text,
                "{name}: {} -> {}",
                format_size(before),
                format_size(after)
            );
        }
    }
    if gone.tight {
        text.push_str(
            "the database keeps its size: there is no room for a copy; new items use what is free in it\n",
        );
    }
    text
}

fn format_size(bytes: u64) -> String {
    let (whole, tenth) = (bytes / MB_BYTES, bytes % MB_BYTES * 10 / MB_BYTES);
    if whole == 0 && bytes < MB_BYTES / 10 {
        format!("{} KB", bytes.div_ceil(1024))
    } else {
        format!("{whole}.{tenth} MB")
    }
}
