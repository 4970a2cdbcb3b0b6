//! `remora rebuild --vectors`: what rows mean, worked out anew. Ended early, by
//! a person or by a power cut, the rest waits for the worker.

use std::time::Instant;

use remora_embed::MODEL;
use remora_memory::store::Store;
use serde_json::json;

use crate::args::Rebuild;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::show::lines::count;
use crate::commands::tier;
use crate::commands::vectors::{Made, Rest, make};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(args: &Rebuild, data: &Data, out: &mut Output) -> Result<Exit, CliError> {
    let Some(encoder) = tier::encoder(&data.config) else {
        return Err(CliError::Usage(format!(
            "{}: search.model is off; `remora config unset search.model` switches it on",
            data.paths.config().display()
        )));
    };
    // A model that does not work must not cost the vectors that are there.
    encoder
        .encode(&["word"], Instant::now())
        .map_err(|e| CliError::Usage(e.to_string()))?;
    let Some(store) = data.store()? else {
        return told(args, 0, &Made::default(), data, out);
    };
    let rows = if args.missing {
        store.unembedded_count(MODEL)?
    } else {
        tier::rows(&store.counts()?)
    };
    if args.dry_run || rows == 0 {
        let made = Made::nothing(&store)?;
        return told(args, rows, &made, data, out);
    }
    drop(store);
    let mut guard = Exclusive::take(&data.paths)?;
    let store = data.writable()?;
    if !args.missing {
        store.forget_meanings()?;
    }
    let made = make(&store, &encoder, u64::MAX)?;
    drop(store);
    if Rest::of(&data.config, &made) == Rest::Worker {
        guard.leave_a_worker();
    }
    drop(guard);
    told(args, rows, &made, data, out)
}

fn told(
    args: &Rebuild,
    rows: u64,
    made: &Made,
    data: &Data,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        let mut answer = json!({
            "dry_run": args.dry_run,
            "model": MODEL,
            "rows": rows,
            "embedded": made.embedded,
            "waiting": made.waiting,
            "seconds": (made.seconds * 1000.0).round() / 1000.0,
        });
        made.add_trouble(&mut answer);
        out.json(&answer)?;
    } else if rows == 0 {
        out.text(if args.missing {
            "every row has its vector\n"
        } else {
            "there is no row yet\n"
        })?;
    } else if args.dry_run {
        let rows = count(rows, "row", "rows");
        out.text(&format!("would work out what {rows} mean\n"))?;
    } else {
        let rows = count(made.embedded, "row", "rows");
        out.text(&format!("worked out what {rows} mean, by {MODEL}\n"))?;
        Rest::of(&data.config, made).say(made, out)?;
    }
    Ok(ended(args, made))
}

/// Rows that wait although all were asked for are a failure, whether the
/// encoder or a person put an end to it.
fn ended(args: &Rebuild, made: &Made) -> Exit {
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
            let args = Rebuild {
                vectors: true,
                missing: false,
                dry_run,
                json: false,
            };
            let made = Made {
                embedded: 128,
                waiting,
                ..Made::default()
            };
            ended(&args, &made)
        };
        assert_eq!(exit(false, 72), Exit::Failed);
        assert_eq!(exit(false, 0), Exit::GoOn);
        assert_eq!(exit(true, 72), Exit::GoOn);
    }
}
