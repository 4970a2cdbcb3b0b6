//! `remora import` of an agent's past sessions: its transcripts become the
//! rows that its hooks would have made. Importing again brings only what is
//! new, and may be broken off at any moment.

mod bring;
mod find;
mod place;
mod state;
mod stream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remora_agents::transcript;
use remora_memory::store::Store;
use remora_protocol::record::Kind;
use remora_server::intake::{Cleaner, Intake};
use serde_json::{Value, json};

use self::bring::{Ahead, Brought, Looked};
use self::find::Found;
use self::place::Places;
use self::state::State;
use super::{TOLD, Vectors, embed, redactor};
use crate::args::{ImportClaudeCode, Span};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::search::{scope, when};
use crate::commands::show::lines::{count, counts, size};
use crate::commands::vectors::Made;
use crate::commands::{install, worker};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

/// Lines that cannot be read which are remembered.
const MOST_BAD: usize = 10_000;

/// A line that cannot be read; line 0 is the whole file.
#[derive(Debug)]
struct Bad {
    file: PathBuf,
    line: u64,
    reason: String,
}

impl Bad {
    fn place(&self) -> String {
        let file = self.file.display();
        match self.line {
            0 => file.to_string(),
            line => format!("{file}:{line}"),
        }
    }
}

pub(crate) use self::bring::PastSession;

/// The sessions whose transcripts lie under a folder, as they were told, the one
/// that began first before the others. All of them are over.
pub(crate) fn past_sessions(folder: &Path) -> Result<Vec<PastSession>, CliError> {
    let paths = [folder.to_path_buf()];
    let found = find::find(&paths, &State::unkept(), None, i64::MAX)?;
    Ok(bring::read_sessions(&found))
}

pub(super) fn run(args: &ImportClaudeCode, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let redactor = redactor(&data)?;
    let spec = install::agent(transcript::AGENT)?;
    let since = when::span(&Span {
        since: args.since.clone(),
        until: None,
    })?
    .since;
    let paths = if args.paths.is_empty() {
        let folder = transcript::folder(&install::places(&data, spec)?);
        if !folder.is_dir() {
            return Err(CliError::Usage(format!(
                "{}: no such folder; name the folder or the transcripts, or set {}",
                folder.display(),
                spec.config_variable
            )));
        }
        vec![folder]
    } else {
        let whole = |path: &PathBuf| {
            std::path::absolute(path).map_err(|source| CliError::File {
                path: path.clone(),
                source,
            })
        };
        args.paths.iter().map(whole).collect::<Result<_, _>>()?
    };
    let mut state = match since {
        None => {
            let folder = data.paths.home().join("import");
            State::open(folder.join(format!("{}.json", transcript::AGENT)))
        }
        Some(_) => State::unkept(),
    };
    let found = find::find(&paths, &state, since, clock::millis())?;
    if args.dry_run {
        let looked = bring::look(&found, since);
        return looked_at(args, &found, &looked, out);
    }
    let guard = Exclusive::take(&data.paths)?;
    let store = data.writable()?;
    let project = args.project.as_deref();
    let project = project
        .map(|name| scope::named_or_new(&data, &store, name))
        .transpose()?;
    let ahead = Ahead {
        found: &found,
        cleaner: Cleaner::new(&redactor, data.config.list("capture.ignore")),
        places: Places::new(data.paths.clone(), data.environment.home(), project),
        since,
    };
    let mut intake = Intake::new(&store, worker::policy(&data), &data.paths)?;
    let before = fixes(&store)?;
    let mut brought = bring::bring(ahead, &mut intake, &mut state)?;
    brought.fixes = fixes(&store)?.saturating_sub(before);
    let wanted = Vectors::asked(args.no_vectors || brought.stopped);
    let (made, rest) = embed(&data, store, guard, wanted)?;
    if args.json {
        as_json(&found, &brought, &made, out)?;
    } else {
        as_text(&found, &brought, out)?;
        rest.say(&made, out)?;
        if brought.stopped {
            let (read, all) = (size(brought.read), size(found.bytes()));
            out.text(&format!(
                "stopped after {read} of {all}; the same command brings the rest\n"
            ))?;
        } else if brought.events > 0 {
            out.text("try: remora sessions · remora search --all WORDS · remora recap\n")?;
        }
    }
    Ok(if brought.stopped {
        Exit::Stopped
    } else {
        made.exit()
    })
}

/// How many fixes are known.
fn fixes(store: &dyn Store) -> Result<u64, CliError> {
    let counts = store.counts()?.items;
    let fixes = counts.iter().find(|(kind, _)| *kind == Kind::Fix);
    Ok(fixes.map_or(0, |(_, count)| *count))
}

/// Rows as people count them.
struct Counted {
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    fixes: u64,
}

impl Counted {
    fn of(brought: &Brought) -> Self {
        let rows = |wanted: &dyn Fn(Kind) -> bool| {
            let rows = brought.rows.iter().filter(|(kind, _)| wanted(**kind));
            rows.map(|(_, count)| count).sum()
        };
        Self {
            sessions: brought.sessions.len() as u64,
            prompts: rows(&|kind| kind == Kind::Prompt),
            observations: rows(&Kind::is_observation),
            summaries: rows(&|kind| kind == Kind::Summary),
            fixes: brought.fixes,
        }
    }
}

fn as_text(found: &Found, brought: &Brought, out: &mut Output) -> Result<(), CliError> {
    let counted = Counted::of(brought);
    let files = count(found.files(), "transcript", "transcripts");
    let told = [
        (counted.sessions, "session", "sessions"),
        (counted.prompts, "prompt", "prompts"),
        (counted.observations, "observation", "observations"),
        (counted.summaries, "summary", "summaries"),
        (counted.fixes, "fix", "fixes"),
    ];
    let told = counts(&told).unwrap_or_else(|| "nothing new".to_owned());
    out.text(&format!("read {files}, {}: {told}\n", size(brought.read)))?;
    let mut known = Vec::new();
    if brought.repeated > 0 {
        known.push(count(brought.repeated, "event", "events"));
    }
    if found.unchanged > 0 {
        known.push(count(
            found.unchanged,
            "unchanged transcript",
            "unchanged transcripts",
        ));
    }
    if !known.is_empty() {
        out.text(&format!("here already: {}\n", known.join(", ")))?;
    }
    if !brought.marks.is_empty() {
        let kinds: Vec<String> = brought
            .marks
            .iter()
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        out.text(&format!("redacted {}\n", kinds.join(", ")))?;
    }
    left_out(&brought.bad, out)
}

fn left_out(bad: &[Bad], out: &mut Output) -> Result<(), CliError> {
    if bad.is_empty() {
        return Ok(());
    }
    let lines = count(bad.len() as u64, "line", "lines");
    let head = format!("left out {lines} that cannot be read:");
    out.text(&format!("{}\n", out.paint(Style::Yellow, &head)))?;
    for bad in bad.iter().take(TOLD) {
        out.text(&format!("  {}: {}\n", visible(&bad.place()), bad.reason))?;
    }
    if bad.len() > TOLD {
        out.text(&format!("  and {} more\n", bad.len() - TOLD))?;
    }
    Ok(())
}

fn skipped(bad: &[Bad]) -> Vec<Value> {
    bad.iter()
        .map(|bad| json!({ "file": bad.file, "line": bad.line, "reason": bad.reason }))
        .collect()
}

fn as_json(
    found: &Found,
    brought: &Brought,
    made: &Made,
    out: &mut Output,
) -> Result<(), CliError> {
    let counted = Counted::of(brought);
    let redacted: BTreeMap<&str, usize> = brought
        .marks
        .iter()
        .map(|mark| (mark.kind, mark.count))
        .collect();
    let mut told = json!({
        "files": found.files(),
        "unchanged": found.unchanged,
        "bytes": brought.read,
        "events": brought.events,
        "known": brought.repeated,
        "sessions": counted.sessions,
        "prompts": counted.prompts,
        "observations": counted.observations,
        "summaries": counted.summaries,
        "fixes": counted.fixes,
        "redacted": redacted,
        "skipped": skipped(&brought.bad),
        "stopped": brought.stopped,
        "embedded": made.embedded,
        "waiting": made.waiting,
    });
    made.add_trouble(&mut told);
    out.json(&told)
}

fn looked_at(
    args: &ImportClaudeCode,
    found: &Found,
    looked: &Looked,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.json(&json!({
            "dry_run": true,
            "files": found.files(),
            "unchanged": found.unchanged,
            "bytes": found.bytes(),
            "sessions": looked.sessions.len(),
            "prompts": looked.prompts,
            "calls": looked.calls,
            "failures": looked.failures,
            "turns": looked.turns,
            "skipped": skipped(&looked.bad),
        }))?;
        return Ok(Exit::GoOn);
    }
    let told = [
        count(looked.sessions.len() as u64, "session", "sessions"),
        count(looked.prompts, "prompt", "prompts"),
        count(looked.calls, "call", "calls"),
        count(looked.failures, "failed call", "failed calls"),
        count(looked.turns, "turn", "turns"),
    ];
    let files = count(found.files(), "transcript", "transcripts");
    out.text(&format!(
        "would read {files}, {}: {}\n",
        size(found.bytes()),
        told.join(", ")
    ))?;
    left_out(&looked.bad, out)?;
    Ok(Exit::GoOn)
}
