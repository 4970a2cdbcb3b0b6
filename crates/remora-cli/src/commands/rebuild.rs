//! `remora rebuild`: extracts all items again from the archive, or embeds all
//! of them again.

pub(crate) mod space;
mod vectors;

use std::fmt::Write;

use remora_core::record::Kind;
use remora_memory::store::StoreStats;
use remora_server::archive::Archive;
use remora_server::{RebuildStats, rebuild_database};
use serde_json::{Value, json};

use crate::args::RebuildArgs;
use crate::commands::data::DataDir;
use crate::commands::progress::Progress;
use crate::commands::show::lines::format_count;
use crate::commands::vectors::{EmbeddingFollowUp, EmbeddingStats};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(crate) fn run(args: &RebuildArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    if args.vectors {
        return vectors::run(args, &data, out);
    }
    let policy = data.app.config.capture_policy();
    let archive = Archive::new(data.app.paths.archive_dir()).disk_bytes();
    let database = std::fs::metadata(data.app.paths.database_file()).map_or(0, |m| m.len());
    if archive == 0 && database == 0 {
        if args.json {
            out.print_json(&as_json(args, &RebuildStats::default(), 0))?;
        } else {
            out.print_text("there is nothing to rebuild from yet\n")?;
        }
        return Ok(Exit::GoOn);
    }
    // A worker would go on writing into the database that is being replaced.
    let mut guard = data.app.lock_worker()?;
    // The new database is built next to the old one, so both must fit.
    space::check_free_space(data.app.paths.home(), database, archive)?;
    let mut line = Progress::new("rebuilding");
    let mut progress = |at: remora_server::RebuildProgress| {
        line.update_line(at.done, at.all, &format!("{} events", at.events));
    };
    let rebuilt = if args.dry_run {
        RebuildStats::preview_rebuild(&data.app.paths, &policy, &mut progress)?
    } else {
        rebuild_database(&data.app.paths, &policy, &mut progress)?
    };
    drop(line);
    let made = match data.app.open_store()? {
        Some(store) if !args.dry_run => EmbeddingStats::none_embedded(&*store)?,
        _ => EmbeddingStats::default(),
    };
    let rest = EmbeddingFollowUp::from_stats(&data.app.config, &made);
    if rest == EmbeddingFollowUp::Worker {
        // Embeddings take far longer than the items; the worker makes them in
        // idle time.
        guard.leave_a_worker();
    }
    drop(guard);
    if args.json {
        out.print_json(&as_json(args, &rebuilt, made.waiting))?;
    } else {
        let text = render_report(args, &rebuilt, out);
        out.print_text(&text)?;
        rest.print_notice(&made, out)?;
    }
    Ok(Exit::GoOn)
}

fn as_json(args: &RebuildArgs, rebuilt: &RebuildStats, waiting: u64) -> Value {
    let side = |counts: &StoreStats| {
        let items: serde_json::Map<String, Value> = counts
            .items
            .iter()
            .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
            .collect();
        json!({
            "events": counts.events,
            "sessions": counts.sessions,
            "items": items,
            "db_bytes": counts.bytes,
        })
    };
    let left_out: Vec<Value> = rebuilt
        .left_out
        .iter()
        .map(|left| json!({ "event": left.id, "reason": left.reason }))
        .collect();
    json!({
        "dry_run": args.dry_run,
        "events": rebuilt.events,
        "carried": rebuilt.carried,
        "unreadable": rebuilt.unreadable,
        "left_out": left_out,
        "before": side(&rebuilt.before),
        "after": side(&rebuilt.after),
        "waiting": waiting,
    })
}

fn render_report(args: &RebuildArgs, rebuilt: &RebuildStats, out: &Output) -> String {
    let RebuildStats { before, after, .. } = rebuilt;
    let mut text = format!(
        "{} from {}; {} carried over\n",
        if args.dry_run {
            "would be rebuilt"
        } else {
            "rebuilt"
        },
        format_count(rebuilt.events, "archived event", "archived events"),
        format_count(rebuilt.carried, "item", "items")
    );
    let of = |counts: &StoreStats, kind: Kind| {
        let row = counts.items.iter().find(|(k, _)| *k == kind);
        row.map_or(0, |(_, count)| *count)
    };
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        rows.push((kind.name(), of(before, *kind), of(after, *kind)));
    }
    rows.push(("sessions", before.sessions, after.sessions));
    rows.push(("events", before.events, after.events));
    for (name, before, after) in rows {
        if before != after {
            let line = format!("  {name:<11} {before:>7} -> {after}");
            text.push_str(&out.paint(Style::Yellow, &line));
            text.push('\n');
        } else if before > 0 {
            let _ = writeln!(text, "  {name:<11} {before:>7}");
        }
    }
    if rebuilt.unreadable > 0 {
        let line = format!(
            "{} parts of the archive could not be read",
            rebuilt.unreadable
        );
        text.push_str(&out.paint(Style::Red, &line));
        text.push('\n');
    }
    for left in &rebuilt.left_out {
        let line = format!("event {} was left out: {}", left.id, left.reason);
        text.push_str(&out.paint(Style::Red, &line));
        text.push('\n');
    }
    text
}
