//! `remora rebuild --vectors`: all items embedded again. Ended early, by
//! the user or by a power cut, the rest waits for the worker.

use std::time::Instant;

use remora_embed::MODEL_ID;
use serde_json::json;

use crate::args::RebuildArgs;
use crate::commands::data::DataDir;
use crate::commands::show::lines::format_count;

use crate::commands::vectors::{EmbeddingFollowUp, EmbeddingStats, embed_waiting};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(args: &RebuildArgs, data: &DataDir, out: &mut Output) -> Result<Exit, CliError> {
    let Some(encoder) = remora_app::build_encoder(&data.app.config) else {
        return Err(CliError::Usage(format!(
            "{}: search.model is off; `remora config unset search.model` switches it on",
            data.app.paths.config_file().display()
        )));
    };
    // A model that does not work must not cost the vectors that are there.
    encoder
        .encode(&["word"], Instant::now())
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let Some(store) = data.app.open_store()? else {
        return print_report(args, 0, &EmbeddingStats::default(), data, out);
    };
    let rows = if args.missing {
        store.unembedded_count(MODEL_ID)?
    } else {
        remora_app::count_items(&store.count_contents()?)
    };
    if args.dry_run || rows == 0 {
        let made = EmbeddingStats::none_embedded(&*store)?;
        return print_report(args, rows, &made, data, out);
    }
    drop(store);
    let mut guard = data.app.lock_worker()?;
    let store = data.app.open_writable_store()?;
    if !args.missing {
        store.forget_meanings()?;
    }
    let made = embed_waiting(&*store, &encoder, u64::MAX)?;
    drop(store);
    if EmbeddingFollowUp::from_stats(&data.app.config, &made) == EmbeddingFollowUp::Worker {
        guard.leave_a_worker();
    }
    drop(guard);
    print_report(args, rows, &made, data, out)
}

fn print_report(
    args: &RebuildArgs,
    rows: u64,
    made: &EmbeddingStats,
    data: &DataDir,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        let mut answer = json!({
            "dry_run": args.dry_run,
            "model": MODEL_ID,
            "rows": rows,
            "embedded": made.embedded,
            "waiting": made.waiting,
            "seconds": (made.seconds * 1000.0).round() / 1000.0,
        });
        made.add_trouble(&mut answer);
        out.print_json(&answer)?;
    } else if rows == 0 {
        out.print_text(if args.missing {
            "every item has its embedding\n"
        } else {
            "there is no item yet\n"
        })?;
    } else if args.dry_run {
        let rows = format_count(rows, "item", "items");
        out.print_text(&format!("would embed {rows}\n"))?;
    } else {
        let rows = format_count(made.embedded, "item", "items");
        out.print_text(&format!("embedded {rows}, by {MODEL_ID}\n"))?;
        EmbeddingFollowUp::from_stats(&data.app.config, made).print_notice(made, out)?;
    }
    Ok(exit_for_result(args, made))
}

/// Items that wait although all were asked for are a failure, whether the
/// encoder or the user put an end to it.
fn exit_for_result(args: &RebuildArgs, made: &EmbeddingStats) -> Exit {
    if args.dry_run || (made.waiting == 0 && made.trouble.is_none()) {
        Exit::GoOn
    } else {
        Exit::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_ended_early_is_not_done() {
        let exit = |dry_run, waiting| {
            let args = RebuildArgs {
                vectors: true,
                missing: false,
                dry_run,
                json: false,
            };
            let made = EmbeddingStats {
                embedded: 128,
                waiting,
                ..EmbeddingStats::default()
            };
            exit_for_result(&args, &made)
        };
        assert_eq!(exit(false, 72), Exit::Failed);
        assert_eq!(exit(false, 0), Exit::GoOn);
        assert_eq!(exit(true, 72), Exit::GoOn);
    }
}
