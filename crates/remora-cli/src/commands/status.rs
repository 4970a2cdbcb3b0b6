//! `remora status`: how much is remembered, and whether everything runs. Never
//! fails because of what it finds; `doctor` says how to fix it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::time::Duration;

use remora_client::{DataPaths, list_spooled, send_request};
use remora_core::record::Kind;
use remora_core::request::{Reply, Request};
use remora_core::time::format_rfc3339;
use remora_embed::MODEL_ID;
use remora_memory::store::{Store, StoreError, StoreStats};
use remora_server::archive::Archive;
use remora_server::crashes::{CRASH_LOOP_COUNT, WorkerCrash, describe_crashes, recent_deaths};
use remora_server::is_gone;
use remora_store::Access;
use serde_json::json;

use crate::args::StatusArgs;
use crate::clock;
use crate::commands::data::DATABASE_GONE_MESSAGE;
use crate::commands::pause;
use crate::commands::show::lines::{
    TimeFormatter, flatten_text, format_count, format_number, format_size, hang_text,
};
use crate::commands::tier;
use crate::commands::worker::put_off_count;
use crate::config::Config;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF_VARIABLE, RECALL_VARIABLE, data_directory};
use crate::output::{Output, Style, escape_invisible};

/// A worker in the middle of a large batch takes a moment to answer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// What is known of the worker.
#[derive(Debug)]
pub(crate) enum WorkerState {
    /// It answers.
    Runs(Reply),
    /// It holds the lock and does not answer.
    Silent,
    None,
}

/// Looks for the worker of a data directory.
pub(crate) fn query_worker(paths: &DataPaths) -> WorkerState {
    match send_request(&paths.socket_file(), &Request::Status, REPLY_TIMEOUT) {
        Ok(reply) => WorkerState::Runs(reply),
        Err(_) if is_locked(paths) => WorkerState::Silent,
        Err(_) => WorkerState::None,
    }
}

/// Whether some process holds the worker's lock. A worker that starts at this
/// moment tries again.
pub(crate) fn is_locked(paths: &DataPaths) -> bool {
    File::open(paths.lock()).is_ok_and(|file| file.try_lock_shared().is_err())
}

pub(crate) fn run(args: &StatusArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let paths = data_directory(&environment).ok_or_else(|| {
        CliError::Usage(
            "no data directory: set HOME, or REMORA_HOME to an absolute path".to_owned(),
        )
    })?;
    let refused = paths.find_fault();
    let database = paths.database_file();
    // A refused folder is not ours: not even its database is opened.
    let counted = if refused.is_none() && database.exists() {
        remora_server::open_database(&database, Access::Read)
            .and_then(|store| Ok((store.count_contents()?, store.unembedded_count(MODEL_ID)?)))
    } else {
        Err(StoreError::Empty)
    };
    let counted = match counted {
        // An empty store is normal before the first event; with an archive it
        // means that the database was lost.
        Err(StoreError::Empty) if refused.is_none() && is_gone(&paths) => {
            Err(format!("the database {DATABASE_GONE_MESSAGE}"))
        }
        Err(StoreError::Empty) => Ok((StoreStats::default(), 0)),
        other => other.map_err(|e| format!("{e}; see `remora doctor`")),
    };
    let unembedded = counted.as_ref().map_or(0, |(_, waiting)| *waiting);
    let counts = counted.map(|(counts, _)| counts);
    // Here and below a fault is a zero: the report must come, whatever is
    // broken.
    let spool = list_spooled(&paths, usize::MAX).map_or(0, |files| files.len() as u64);
    let dead = remora_server::dead_letters(&paths).map_or(0, |dead| dead.len() as u64);
    let mut known = StoreStatus {
        counts,
        unembedded,
        spool,
        dead,
        archive: Archive::new(paths.archive_dir()).disk_bytes(),
        put_off: put_off_count(&paths),
        deaths: Vec::new(),
        worker: query_worker(&paths),
        settings: Config::load(&paths.config_file())
            .err()
            .map(|e| e.to_string()),
        refused,
        off: environment.is_on(OFF_VARIABLE),
        recall_off: environment.is_off(RECALL_VARIABLE),
    };
    // The note of a running worker looks like that of one that died.
    let is_running = !matches!(known.worker, WorkerState::None);
    known.deaths = recent_deaths(&paths, clock::now_ms(), is_running);
    if args.json {
        known.print_json(&paths, out)?;
    } else {
        known.print_text(&paths, out)?;
    }
    Ok(Exit::GoOn)
}

struct StoreStatus {
    /// Or what is wrong with the database, and what to do.
    counts: Result<StoreStats, String>,
    /// Items that wait for their vector.
    unembedded: u64,
    spool: u64,
    dead: u64,
    /// Events of the spool that workers died on.
    put_off: u64,
    archive: u64,
    worker: WorkerState,
    /// Workers of the last hour that did not end properly.
    deaths: Vec<WorkerCrash>,
    /// What is wrong with the configuration.
    settings: Option<String>,
    /// Why the data directory is not used.
    refused: Option<String>,
    off: bool,
    /// Whether recall alone is switched off in this environment.
    recall_off: bool,
}

impl StoreStatus {
    fn kind(&self, wanted: impl Fn(Kind) -> bool) -> u64 {
        let rows = self.counts.iter().flat_map(|counts| &counts.items);
        rows.filter(|(kind, _)| wanted(*kind)).map(|(_, n)| n).sum()
    }

    fn total_count(&self, part: impl Fn(&StoreStats) -> u64) -> u64 {
        self.counts.as_ref().map_or(0, part)
    }

    fn embedded_count(&self) -> u64 {
        self.total_count(tier::count_items)
            .saturating_sub(self.unembedded)
    }

    fn sessions_by_agent(&self) -> BTreeMap<&str, u64> {
        let agents = self.counts.iter().flat_map(|counts| &counts.agents);
        agents
            .map(|(name, count)| (name.as_str(), *count))
            .collect()
    }

    /// Looking for pauses removes those that are over: not in a folder of
    /// someone else.
    fn list_pauses(&self, paths: &DataPaths) -> Vec<serde_json::Value> {
        if self.refused.is_some() {
            return Vec::new();
        }
        pause::as_json(paths)
    }

    /// The size on disk, also of a file that cannot be read.
    fn database_bytes(&self, paths: &DataPaths) -> u64 {
        let size = || std::fs::metadata(paths.database_file()).map_or(0, |m| m.len());
        self.counts.as_ref().map_or_else(|_| size(), |c| c.bytes)
    }

    fn print_json(&self, paths: &DataPaths, out: &mut Output) -> Result<(), CliError> {
        let reply = match &self.worker {
            WorkerState::Runs(reply) => Some(reply),
            WorkerState::Silent | WorkerState::None => None,
        };
        out.print_json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "data_dir": paths.home(),
            "events": self.total_count(|c| c.events),
            "observations": self.kind(Kind::is_observation),
            "summaries": self.kind(|k| k == Kind::Summary),
            "fixes": self.kind(|k| k == Kind::Fix),
            "memories": self.kind(|k| k == Kind::Memory),
            "prompts": self.kind(|k| k == Kind::Prompt),
            "messages": self.kind(|k| k == Kind::Message),
            "commits": self.kind(|k| k == Kind::Commit),
            "sessions": self.total_count(|c| c.sessions),
            "agents": self.sessions_by_agent(),
            "projects": self.total_count(|c| c.projects),
            "vectors": {
                "model": MODEL_ID,
                "embedded": self.embedded_count(),
                "waiting": self.unembedded,
                "failed": reply.map(|r| r.unembeddable),
                "trouble": reply.and_then(|r| r.embedding_trouble.as_ref()),
            },
            "spool": self.spool,
            "dead": self.dead,
            "put_off": self.put_off,
            "db_bytes": self.database_bytes(paths),
            "archive_bytes": self.archive,
            "trouble": self.counts.as_ref().err(),
            "config_trouble": self.settings,
            "data_dir_trouble": self.refused,
            "off": self.off,
            "pauses": self.list_pauses(paths),
            "worker": {
                "running": !matches!(self.worker, WorkerState::None),
                "answers": reply.is_some(),
                "pid": reply.map(|r| r.pid),
                "version": reply.map(|r| &r.version),
                "port": null,
                "started": reply.map(|r| format_rfc3339(r.started)),
                "stored": reply.map(|r| r.stored),
                "recent_deaths": self.deaths.len(),
                "trouble": reply.and_then(|r| r.trouble.as_ref()),
            },
        }))
    }

    fn print_text(&self, paths: &DataPaths, out: &mut Output) -> Result<(), CliError> {
        let version = concat!("remora ", env!("CARGO_PKG_VERSION"));
        out.print_text(&format!("{}\n", out.paint(Style::Bold, version)))?;
        let mut lines = vec![(
            "data",
            escape_invisible(&paths.home().display().to_string()),
            Style::Plain,
        )];
        if let Some(fault) = &self.refused {
            let text = format!("{}; nothing is captured", escape_invisible(fault));
            lines.push(("refused", text, Style::Red));
        }
        match &self.counts {
            Ok(counts) => lines.extend(self.format_counts(counts)),
            Err(e) => lines.push(("kept", e.clone(), Style::Red)),
        }
        if self.total_count(tier::count_items) > 0 {
            let embedded = format_count(self.embedded_count(), "item", "items");
            let mut text = format!("{embedded}, {} waiting", format_number(self.unembedded));
            let mut style = Style::Plain;
            if let WorkerState::Runs(reply) = &self.worker {
                if reply.unembeddable > 0 {
                    let rows = format_count(reply.unembeddable, "item", "items");
                    let _ = write!(text, "; the model failed on {rows}");
                }
                if let Some(trouble) = &reply.embedding_trouble {
                    let _ = write!(text, "; {}", flatten_text(trouble));
                    style = Style::Yellow;
                }
            }
            lines.push(("vectors", text, style));
        }
        lines.push((
            "size",
            format!(
                "{} database, {} archive",
                format_size(self.database_bytes(paths)),
                format_size(self.archive)
            ),
            Style::Plain,
        ));
        let waiting = format_count(self.spool, "event", "events");
        let dead = format_count(self.dead, "dead letter", "dead letters");
        let style = if self.dead > 0 {
            Style::Yellow
        } else {
            Style::Plain
        };
        let mut text = format!("{waiting}, {dead}");
        if self.put_off > 0 {
            let events = format_count(self.put_off, "event", "events");
            let _ = write!(text, "; the worker died on {events}, see `remora doctor`");
        }
        lines.push(("waiting", text, style));
        lines.push(self.worker_line());
        if self.deaths.len() >= CRASH_LOOP_COUNT {
            let text = format!("{}; see `remora doctor`", describe_crashes(&self.deaths));
            lines.push(("crashes", text, Style::Red));
        }
        if let Some(fault) = &self.settings {
            let text = format!("{fault}; nothing is stored until it can be read");
            lines.push(("config", text, Style::Red));
        }
        if self.off {
            lines.push(("off", pause::SWITCHED_OFF.to_owned(), Style::Yellow));
        } else if self.recall_off {
            let text = pause::RECALL_SWITCHED_OFF.to_owned();
            lines.push(("off", text, Style::Yellow));
        }
        let pauses = if self.refused.is_some() {
            Vec::new()
        } else {
            pause::describe_pauses(paths)
        };
        for paused in pauses {
            let text = format!("{}; `{}` ends it", paused.what, paused.ender);
            lines.push(("off", text, Style::Yellow));
        }
        for (name, text, style) in lines {
            let lead = format!("  {name:<9} ");
            let wrapped = hang_text(&lead, &text);
            let body = wrapped.trim_end().strip_prefix(&lead).unwrap_or_default();
            let lead = out.paint(Style::Dim, &lead);
            out.print_text(&format!("{lead}{}\n", out.paint(style, body)))?;
        }
        Ok(())
    }

    fn format_counts(&self, counts: &StoreStats) -> [(&'static str, String, Style); 2] {
        let observations = self.kind(Kind::is_observation);
        let prompts = self.kind(|k| k == Kind::Prompt);
        let summaries = self.kind(|k| k == Kind::Summary);
        let fixes = self.kind(|k| k == Kind::Fix);
        let memories = self.kind(|k| k == Kind::Memory);
        let messages = self.kind(|k| k == Kind::Message);
        let mut kept = vec![
            format_count(observations, "observation", "observations"),
            format_count(prompts, "prompt", "prompts"),
            format_count(summaries, "summary", "summaries"),
            format_count(fixes, "fix", "fixes"),
            format_count(memories, "memory", "memories"),
        ];
        if messages > 0 {
            kept.push(format_count(messages, "message", "messages"));
        }
        let commits = self.kind(|k| k == Kind::Commit);
        if commits > 0 {
            kept.push(format_count(commits, "commit", "commits"));
        }
        let mut from = format!(
            "{} in {} of {}",
            format_count(counts.events, "event", "events"),
            format_count(counts.sessions, "session", "sessions"),
            format_count(counts.projects, "project", "projects")
        );
        // One agent goes without saying.
        if counts.agents.len() > 1 {
            let by_agent = counts.agents.iter().map(|(name, count)| {
                let sessions = format_count(*count, "session", "sessions");
                format!("{}: {sessions}", escape_invisible(name))
            });
            let _ = write!(from, "; {}", by_agent.collect::<Vec<_>>().join(", "));
        }
        [
            ("kept", kept.join(", "), Style::Plain),
            ("from", from, Style::Plain),
        ]
    }

    fn worker_line(&self) -> (&'static str, String, Style) {
        let (text, style) = match &self.worker {
            WorkerState::Runs(reply) => {
                let since = TimeFormatter::new().format_timestamp(reply.started);
                let runs = format!(
                    "runs: process {}, version {}, since {since}",
                    reply.pid, reply.version
                );
                match &reply.trouble {
                    Some(trouble) => (
                        format!("{runs}; cannot store: {}", escape_invisible(trouble)),
                        Style::Red,
                    ),
                    None => (runs, Style::Green),
                }
            }
            WorkerState::Silent => (
                "runs, but does not answer; see `remora doctor`".to_owned(),
                Style::Yellow,
            ),
            WorkerState::None if self.spool > 0 => (
                "does not run; `remora worker start` takes what waits".to_owned(),
                Style::Yellow,
            ),
            WorkerState::None => (
                "does not run; the next event starts it".to_owned(),
                Style::Plain,
            ),
        };
        ("worker", text, style)
    }
}
