//! `remora status`: how much is remembered, and whether everything runs. Never
//! fails because of what it finds; `doctor` says how to mend it.

use std::fmt::Write;
use std::fs::File;
use std::time::Duration;

use remora_client::{Paths, ask, waiting};
use remora_embed::MODEL;
use remora_memory::store::{Counts, Store, StoreError};
use remora_protocol::record::Kind;
use remora_protocol::request::{Reply, Request};
use remora_protocol::time::rfc3339;
use remora_server::archive::Archive;
use remora_server::is_gone;
use remora_server::lives::{DEATHS_IN_LOOP, Death, describe, recent_deaths};
use remora_store::Access;
use serde_json::json;

use crate::args::Status;
use crate::clock;
use crate::commands::data::GONE;
use crate::commands::pause;
use crate::commands::show::lines::{Local, count, hang, number, size};
use crate::commands::tier;
use crate::commands::worker::put_off_count;
use crate::config::Config;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF, RECALL, data_directory};
use crate::output::{Output, Style, visible};

/// A worker in the middle of a large batch takes a moment to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known of the worker.
#[derive(Debug)]
pub(crate) enum Worker {
    /// It answers.
    Runs(Reply),
    /// It holds the lock and does not answer.
    Silent,
    None,
}

/// Looks for the worker of a data directory.
pub(crate) fn worker(paths: &Paths) -> Worker {
    match ask(&paths.socket(), &Request::Status, PATIENCE) {
        Ok(reply) => Worker::Runs(reply),
        Err(_) if is_locked(paths) => Worker::Silent,
        Err(_) => Worker::None,
    }
}

/// Whether some process holds the worker's lock. A worker that starts at this
/// moment tries again.
pub(crate) fn is_locked(paths: &Paths) -> bool {
    File::open(paths.lock()).is_ok_and(|file| file.try_lock_shared().is_err())
}

pub(crate) fn run(args: &Status, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::read();
    let paths = data_directory(&environment).ok_or_else(|| {
        CliError::Usage(
            "no data directory: set HOME, or REMORA_HOME to an absolute path".to_owned(),
        )
    })?;
    let refused = paths.find_fault();
    let database = paths.database();
    let looked = if refused.is_none() && database.exists() {
        remora_store::open(&database, Access::Read)
            .and_then(|store| Ok((store.counts()?, store.unembedded_count(MODEL)?)))
    } else {
        Err(StoreError::Empty)
    };
    let looked = match looked {
        Err(StoreError::Empty) if refused.is_none() && is_gone(&paths) => {
            Err(format!("the database {GONE}"))
        }
        Err(StoreError::Empty) => Ok((Counts::default(), 0)),
        other => other.map_err(|e| format!("{e}; see `remora doctor`")),
    };
    let unembedded = looked.as_ref().map_or(0, |(_, waiting)| *waiting);
    let counts = looked.map(|(counts, _)| counts);
    let spool = waiting(&paths, usize::MAX).map_or(0, |files| files.len() as u64);
    let dead = remora_server::dead_letters(&paths).map_or(0, |dead| dead.len() as u64);
    let mut known = Known {
        counts,
        unembedded,
        spool,
        dead,
        archive: Archive::new(paths.archive()).bytes(),
        put_off: put_off_count(&paths),
        deaths: Vec::new(),
        worker: worker(&paths),
        settings: Config::load(&paths.config()).err().map(|e| e.to_string()),
        refused,
        off: environment.switch(OFF),
        recall_off: environment.is_off(RECALL),
    };
    let is_running = !matches!(known.worker, Worker::None);
    known.deaths = recent_deaths(&paths, clock::millis(), is_running);
    if args.json {
        known.json(&paths, out)?;
    } else {
        known.say(&paths, out)?;
    }
    Ok(Exit::GoOn)
}

struct Known {
    /// Or what is wrong with the database, and what to do.
    counts: Result<Counts, String>,
    /// Rows that wait for their vector.
    unembedded: u64,
    spool: u64,
    dead: u64,
    /// Events of the spool that workers died on.
    put_off: u64,
    archive: u64,
    worker: Worker,
    /// Workers of the last hour that did not end properly.
    deaths: Vec<Death>,
    /// What is wrong with the configuration.
    settings: Option<String>,
    /// Why the data directory is not used.
    refused: Option<String>,
    off: bool,
    /// Whether recall alone is switched off in this environment.
    recall_off: bool,
}

impl Known {
    fn kind(&self, wanted: impl Fn(Kind) -> bool) -> u64 {
        let rows = self.counts.iter().flat_map(|counts| &counts.items);
        rows.filter(|(kind, _)| wanted(*kind)).map(|(_, n)| n).sum()
    }

    fn total(&self, part: impl Fn(&Counts) -> u64) -> u64 {
        self.counts.as_ref().map_or(0, part)
    }

    fn embedded(&self) -> u64 {
        self.total(tier::rows).saturating_sub(self.unembedded)
    }

    /// Looking for pauses removes those that are over: not in a folder of
    /// someone else.
    fn pauses(&self, paths: &Paths) -> Vec<serde_json::Value> {
        if self.refused.is_some() {
            return Vec::new();
        }
        pause::as_json(paths)
    }

    /// The size on disk, also of a file that cannot be read.
    fn bytes(&self, paths: &Paths) -> u64 {
        let size = || std::fs::metadata(paths.database()).map_or(0, |m| m.len());
        self.counts.as_ref().map_or_else(|_| size(), |c| c.bytes)
    }

    fn json(&self, paths: &Paths, out: &mut Output) -> Result<(), CliError> {
        let reply = match &self.worker {
            Worker::Runs(reply) => Some(reply),
            Worker::Silent | Worker::None => None,
        };
        out.json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "data_dir": paths.home(),
            "events": self.total(|c| c.events),
            "observations": self.kind(Kind::is_observation),
            "summaries": self.kind(|k| k == Kind::Summary),
            "fixes": self.kind(|k| k == Kind::Fix),
            "memories": self.kind(|k| k == Kind::Memory),
            "prompts": self.kind(|k| k == Kind::Prompt),
            "messages": self.kind(|k| k == Kind::Message),
            "commits": self.kind(|k| k == Kind::Commit),
            "sessions": self.total(|c| c.sessions),
            "projects": self.total(|c| c.projects),
            "vectors": {
                "model": MODEL,
                "embedded": self.embedded(),
                "waiting": self.unembedded,
            },
            "spool": self.spool,
            "dead": self.dead,
            "put_off": self.put_off,
            "db_bytes": self.bytes(paths),
            "archive_bytes": self.archive,
            "trouble": self.counts.as_ref().err(),
            "config_trouble": self.settings,
            "data_dir_trouble": self.refused,
            "off": self.off,
            "pauses": self.pauses(paths),
            "worker": {
                "running": !matches!(self.worker, Worker::None),
                "answers": reply.is_some(),
                "pid": reply.map(|r| r.pid),
                "version": reply.map(|r| &r.version),
                "port": null,
                "started": reply.map(|r| rfc3339(r.started)),
                "stored": reply.map(|r| r.stored),
                "recent_deaths": self.deaths.len(),
                "trouble": reply.and_then(|r| r.trouble.as_ref()),
            },
        }))
    }

    fn say(&self, paths: &Paths, out: &mut Output) -> Result<(), CliError> {
        let version = concat!("remora ", env!("CARGO_PKG_VERSION"));
        out.text(&format!("{}\n", out.paint(Style::Bold, version)))?;
        let mut lines = vec![(
            "data",
            visible(&paths.home().display().to_string()),
            Style::Plain,
        )];
        if let Some(fault) = &self.refused {
            let text = format!("{}; nothing is captured", visible(fault));
            lines.push(("refused", text, Style::Red));
        }
        match &self.counts {
            Ok(counts) => lines.extend(self.kept(counts)),
            Err(e) => lines.push(("kept", e.clone(), Style::Red)),
        }
        if self.total(tier::rows) > 0 {
            let embedded = count(self.embedded(), "row", "rows");
            let text = format!("{embedded}, {} waiting", number(self.unembedded));
            lines.push(("vectors", text, Style::Plain));
        }
        lines.push((
            "size",
            format!(
                "{} database, {} archive",
                size(self.bytes(paths)),
                size(self.archive)
            ),
            Style::Plain,
        ));
        let waiting = count(self.spool, "event", "events");
        let dead = count(self.dead, "dead letter", "dead letters");
        let style = if self.dead > 0 {
            Style::Yellow
        } else {
            Style::Plain
        };
        let mut text = format!("{waiting}, {dead}");
        if self.put_off > 0 {
            let events = count(self.put_off, "event", "events");
            let _ = write!(text, "; the worker died on {events}, see `remora doctor`");
        }
        lines.push(("waiting", text, style));
        lines.push(self.worker_line());
        if self.deaths.len() >= DEATHS_IN_LOOP {
            let text = format!("{}; see `remora doctor`", describe(&self.deaths));
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
            pause::told(paths)
        };
        for paused in pauses {
            let text = format!("{}; `{}` ends it", paused.what, paused.ender);
            lines.push(("off", text, Style::Yellow));
        }
        for (name, text, style) in lines {
            let lead = format!("  {name:<9} ");
            let told = hang(&lead, &text);
            let body = told.trim_end().strip_prefix(&lead).unwrap_or_default();
            let lead = out.paint(Style::Dim, &lead);
            out.text(&format!("{lead}{}\n", out.paint(style, body)))?;
        }
        Ok(())
    }

    fn kept(&self, counts: &Counts) -> [(&'static str, String, Style); 2] {
        let observations = self.kind(Kind::is_observation);
        let prompts = self.kind(|k| k == Kind::Prompt);
        let summaries = self.kind(|k| k == Kind::Summary);
        let fixes = self.kind(|k| k == Kind::Fix);
        let memories = self.kind(|k| k == Kind::Memory);
        let messages = self.kind(|k| k == Kind::Message);
        let mut kept = vec![
            count(observations, "observation", "observations"),
            count(prompts, "prompt", "prompts"),
            count(summaries, "summary", "summaries"),
            count(fixes, "fix", "fixes"),
            count(memories, "memory", "memories"),
        ];
        if messages > 0 {
            kept.push(count(messages, "message", "messages"));
        }
        let commits = self.kind(|k| k == Kind::Commit);
        if commits > 0 {
            kept.push(count(commits, "commit", "commits"));
        }
        let from = format!(
            "{} in {} of {}",
            count(counts.events, "event", "events"),
            count(counts.sessions, "session", "sessions"),
            count(counts.projects, "project", "projects")
        );
        [
            ("kept", kept.join(", "), Style::Plain),
            ("from", from, Style::Plain),
        ]
    }

    fn worker_line(&self) -> (&'static str, String, Style) {
        let (text, style) = match &self.worker {
            Worker::Runs(reply) => {
                let since = Local::new().moment(reply.started);
                let runs = format!(
                    "runs: process {}, version {}, since {since}",
                    reply.pid, reply.version
                );
                match &reply.trouble {
                    Some(trouble) => (
                        format!("{runs}; cannot store: {}", visible(trouble)),
                        Style::Red,
                    ),
                    None => (runs, Style::Green),
                }
            }
            Worker::Silent => (
                "runs, but does not answer; see `remora doctor`".to_owned(),
                Style::Yellow,
            ),
            Worker::None if self.spool > 0 => (
                "does not run; `remora worker start` takes what waits".to_owned(),
                Style::Yellow,
            ),
            Worker::None => (
                "does not run; the next event starts it".to_owned(),
                Style::Plain,
            ),
        };
        ("worker", text, style)
    }
}
