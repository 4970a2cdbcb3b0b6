//! Embedding items while a user waits: with a line that shows how far it is, and
//! an end by Ctrl-C that loses nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use remora_embed::{EmbedError, MODEL_ID};
use remora_memory::store::Store;
use remora_server::ServerError;
use remora_server::embeddings::{EmbeddingBudget, TextEncoder, run_embedding_step};
use serde_json::{Value, json};
use signal_hook::consts::SIGINT;

use crate::commands::progress::Progress;
use crate::commands::show::lines::{format_count, format_number};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use remora_app::config::Config;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct EmbeddingStats {
    /// Items that were embedded now.
    pub(crate) embedded: u64,
    /// Items that still wait.
    pub(crate) waiting: u64,
    pub(crate) seconds: f64,
    /// Why the encoder could not go on.
    pub(crate) trouble: Option<EmbedError>,
    /// Whether the user interrupted it.
    pub(crate) stopped: bool,
}

impl EmbeddingStats {
    /// Nothing was done.
    pub(crate) fn none_embedded(store: &dyn Store) -> Result<Self, CliError> {
        Ok(Self {
            waiting: store.unembedded_count(MODEL_ID)?,
            ..Self::default()
        })
    }

    /// How a command ends whose last work this was.
    pub(crate) fn to_exit(&self) -> Exit {
        if self.stopped {
            Exit::Stopped
        } else {
            Exit::GoOn
        }
    }

    /// Why items wait, if the encoder is to blame, in an answer for programs.
    pub(crate) fn add_trouble(&self, answer: &mut Value) {
        if let Some(trouble) = &self.trouble {
            answer["trouble"] = json!(trouble.to_string());
        }
    }
}

/// Who embeds the items that still wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmbeddingFollowUp {
    /// None wait, or the encoder is switched off.
    NotNeeded,
    /// The worker, as idle work.
    Worker,
    /// The user, with a command.
    User,
    /// The encoder cannot.
    Trouble,
}

impl EmbeddingFollowUp {
    pub(crate) fn from_stats(config: &Config, made: &EmbeddingStats) -> Self {
        if made.waiting == 0 || remora_app::build_encoder(config).is_none() {
            Self::NotNeeded
        } else if made.trouble.is_some() {
            Self::Trouble
        } else if config.get_flag("search.background") {
            Self::Worker
        } else {
            Self::User
        }
    }

    pub(crate) fn print_notice(
        self,
        made: &EmbeddingStats,
        out: &mut Output,
    ) -> Result<(), CliError> {
        let rows = format_count(made.waiting, "item", "items");
        let text = match (self, &made.trouble) {
            (Self::NotNeeded, _) => return Ok(()),
            (Self::Trouble, Some(trouble)) => {
                let text = format!("found by words only, not by what it means: {trouble}");
                out.paint(Style::Yellow, &text)
            }
            (Self::Worker, _) => format!(
                "{rows} cannot be found by meaning yet; the worker sees to it in the background"
            ),
            _ => format!(
                "{rows} cannot be found by meaning yet: `remora rebuild --vectors --missing`"
            ),
        };
        out.print_text(&format!("{text}\n"))
    }
}

/// Embeds items that wait, `most` at most. The caller may write.
pub(crate) fn embed_waiting(
    store: &dyn Store,
    encoder: &dyn TextEncoder,
    most: u64,
) -> Result<EmbeddingStats, CliError> {
    let waiting = store.unembedded_count(MODEL_ID)?;
    let all = waiting.min(most);
    let mut made = EmbeddingStats {
        waiting,
        ..EmbeddingStats::default()
    };
    if all == 0 {
        return Ok(made);
    }
    let stop = InterruptFlag::by_key()?;
    let mut progress = Progress::new("embedding");
    let started = Instant::now();
    while made.embedded < all && !stop.is_wanted() {
        progress.update_line(
            made.embedded,
            all,
            &format_pace(made.embedded, all, started.elapsed()),
        );
        let done = match run_embedding_step(
            store,
            encoder,
            EmbeddingBudget::FULL.at_most(all - made.embedded),
        ) {
            Ok(made) => made.done,
            Err(ServerError::Embed(e)) => {
                made.trouble = Some(e);
                break;
            }
            Err(e) => return Err(e.into()),
        };
        // Items may wait that cannot be embedded now; without this the loop would never
        // end.
        if done == 0 {
            break;
        }
        made.embedded += done;
    }
    made.stopped = stop.is_wanted();
    made.seconds = started.elapsed().as_secs_f64();
    made.waiting = store.unembedded_count(MODEL_ID)?;
    Ok(made)
}

/// How fast it goes, and how long it may take.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate that is shown"
)]
fn format_pace(done: u64, all: u64, took: Duration) -> String {
    let rows = format!("{} of {} items", format_number(done), format_number(all));
    if done == 0 || took.as_secs_f64() < 0.5 {
        return rows;
    }
    let rate = done as f64 / took.as_secs_f64();
    let left = ((all - done) as f64 / rate).ceil() as u64;
    let left = match left {
        0..100 => format!("{left} s"),
        _ => format!("{} min", format_number(left.div_ceil(60))),
    };
    format!("{rows}, {left} left, {rate:.0} a second")
}

/// Ctrl-C ends the work at its next step; a second one ends the program, and so
/// does any once this is gone.
pub(crate) struct InterruptFlag(Arc<AtomicBool>);

/// One for the whole process: a flag that was left behind would end whatever
/// is asked to stop later.
static INTERRUPT_FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

impl InterruptFlag {
    pub(crate) fn by_key() -> Result<Self, CliError> {
        if let Some(wanted) = INTERRUPT_FLAG.get() {
            wanted.store(false, Ordering::Relaxed);
            return Ok(Self(Arc::clone(wanted)));
        }
        let wanted = Arc::new(AtomicBool::new(false));
        // In this order: the first Ctrl-C finds the flag unset and sets it, the second
        // finds it set and ends the program.
        signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&wanted))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&wanted))?;
        Ok(Self(Arc::clone(INTERRUPT_FLAG.get_or_init(|| wanted))))
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for InterruptFlag {
    fn drop(&mut self) {
        // From now on Ctrl-C ends the program at once, as it does without a flag.
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stops_what_runs_also_after_something_else_has_run() {
        drop(InterruptFlag::by_key().unwrap());
        let stop = InterruptFlag::by_key().unwrap();
        assert!(!stop.is_wanted());
        signal_hook::low_level::raise(SIGINT).unwrap();
        assert!(stop.is_wanted());
    }

    #[test]
    fn a_note_tells_the_pace_when_it_is_known() {
        let at = |done, all, millis| format_pace(done, all, Duration::from_millis(millis));
        assert_eq!(at(0, 1_200, 0), "0 of 1,200 items");
        assert_eq!(
            at(200, 1_200, 2_000),
            "200 of 1,200 items, 10 s left, 100 a second"
        );
        assert_eq!(
            at(100, 100_100, 1_000),
            "100 of 100,100 items, 17 min left, 100 a second"
        );
        assert_eq!(at(10, 10, 1_000), "10 of 10 items, 0 s left, 10 a second");
    }
}
