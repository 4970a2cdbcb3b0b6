//! `remora hooks health`: how hooks fared in real sessions, by the transcripts
//! that the agent keeps.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use remora_core::time::format_rfc3339;
use remora_files::open_regular;
use remora_hook_tools::health::{HealthReport, HealthState, HookHealth, TranscriptReading};
use remora_hooks::{Engine, HandlerInfo};
use remora_instructions::normalise_path;
use serde_json::json;

use super::lint::format_count;
use super::{event_name, sample_session};
use crate::args::HooksHealthArgs;
use crate::clock;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible, print_note};
use crate::settings::SessionSettings;

/// How deep folders below folders are read.
const MAX_DEPTH: usize = 8;
/// The longest line that is read; a longer one is no hook run.
const MAX_LINE_BYTES: usize = 64 << 20;
const DAY_MS: i64 = 86_400_000;
/// How much of a command is shown in a line.
const MAX_COMMAND_CHARS: usize = 100;

/// What was read.
#[derive(Default)]
struct TranscriptsRead {
    report: HealthReport,
    transcripts: usize,
    first: Option<String>,
    last: Option<String>,
}

pub(super) fn run(args: &HooksHealthArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let settings = SessionSettings::from_args(&args.place.to_session(), environment)?;
    let event = args.event.as_deref().map(event_name).transpose()?;
    let files = find_transcripts(args, &settings)?;
    let since = args.days.map_or_else(String::new, |days| {
        format_rfc3339(clock::now_ms() - i64::from(days) * DAY_MS)
    });
    let mut read = TranscriptsRead::default();
    for file in &files {
        if let Err(source) = read_transcript(file, &since, &mut read) {
            print_note(&format!("{}: {source}; it is left out", file.display()));
        }
    }
    // Without settings the transcripts still speak.
    let engine = settings.load_engine();
    if let Err(error) = &engine {
        print_note(&format!("{error}; configured hooks are not compared"));
    }
    let engine = engine.ok();
    let configured = engine.iter().flat_map(Engine::handlers);
    let configured = configured.map(|(handler, _)| (handler, HandlerInfo::new(handler).id));
    let mut hooks = read.report.list_hooks(configured);
    if let Some(event) = event {
        hooks.retain(|hook| hook.event == event.as_str());
    }
    if args.json {
        out.print_json(&json!({
            "transcripts": read.transcripts,
            "runs": read.report.run_count(),
            "first": read.first,
            "last": read.last,
            "hooks": hooks,
        }))?;
    } else {
        print_hooks(&hooks, &read, files.is_empty(), out)?;
    }
    Ok(Exit::GoOn)
}

fn find_transcripts(
    args: &HooksHealthArgs,
    settings: &SessionSettings,
) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    if args.paths.is_empty() {
        let transcript = sample_session(&settings.places).transcript;
        let project = transcript.parent().unwrap_or(Path::new("/"));
        let folder = if args.all {
            project.parent().unwrap_or(project)
        } else {
            project
        };
        collect_transcripts(folder, 0, &mut files);
    }
    for path in &args.paths {
        let here = settings.environment.directory();
        let here = here.unwrap_or(&settings.places.project);
        let path = normalise_path(&here.join(path));
        let metadata = fs::metadata(&path).map_err(|source| CliError::File {
            path: path.clone(),
            source,
        })?;
        if metadata.is_dir() {
            collect_transcripts(&path, 0, &mut files);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn collect_transcripts(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() && depth < MAX_DEPTH {
            collect_transcripts(&path, depth + 1, files);
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            files.push(path);
        }
    }
}

fn read_transcript(
    file: &Path,
    since: &str,
    read: &mut TranscriptsRead,
) -> Result<(), std::io::Error> {
    let mut reader = BufReader::new(open_regular(file)?);
    let mut reading = TranscriptReading::default();
    let mut line = Vec::new();
    let mut any = false;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let Ok(text) = str::from_utf8(&line) else {
            continue;
        };
        if text.len() > MAX_LINE_BYTES || !TranscriptReading::is_about_hooks(text) {
            continue;
        }
        for run in reading.read_line(text) {
            // Written in one form everywhere, so texts compare as times do.
            if run.at.as_str() < since {
                continue;
            }
            any = true;
            if !run.at.is_empty() {
                let first = read.first.get_or_insert_with(|| run.at.clone());
                if run.at < *first {
                    first.clone_from(&run.at);
                }
                let last = read.last.get_or_insert_with(|| run.at.clone());
                if run.at > *last {
                    last.clone_from(&run.at);
                }
            }
            read.report.add_run(run);
        }
    }
    read.transcripts += usize::from(any);
    Ok(())
}

fn print_hooks(
    hooks: &[HookHealth],
    read: &TranscriptsRead,
    no_transcript: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = match (&read.first, &read.last) {
        (Some(first), Some(last)) => writeln!(
            text,
            "{} in {}, {} to {}\n",
            format_count(read.report.run_count(), "recorded run"),
            format_count(read.transcripts, "transcript"),
            first.get(..10).unwrap_or(first),
            last.get(..10).unwrap_or(last),
        ),
        _ if no_transcript => writeln!(text, "there is no transcript here; try --all\n"),
        _ => writeln!(text, "no transcript here knows a hook run\n"),
    };
    for hook in hooks {
        push_hook(&mut text, hook, out);
    }
    let failing = hooks
        .iter()
        .filter(|hook| hook.state == HealthState::Failing)
        .count();
    let _ = writeln!(
        text,
        "{}, {failing} failing",
        format_count(hooks.len(), "hook")
    );
    out.print_text(&text)
}

fn push_hook(text: &mut String, hook: &HookHealth, out: &Output) {
    let (mark, style) = match hook.state {
        HealthState::Failing => ("✗", Style::Red),
        HealthState::NoTrace => ("?", Style::Yellow),
        HealthState::Silent => ("·", Style::Dim),
        HealthState::Fine => ("✓", Style::Green),
    };
    let flat = hook.command.replace('\n', " ");
    let mut command: String = flat.chars().take(MAX_COMMAND_CHARS).collect();
    if command.len() < flat.len() {
        command.push('…');
    }
    let place = hook.id.as_deref().unwrap_or("not configured now");
    let _ = writeln!(
        text,
        "{} {}  {}  {}",
        out.paint(style, mark),
        out.paint(Style::Bold, &escape_invisible(&hook.event)),
        escape_invisible(&command),
        out.paint(Style::Dim, &escape_invisible(place)),
    );
    if hook.state == HealthState::NoTrace {
        text.push_str("    no trace: never fired, or always silent\n");
        return;
    }
    let mut parts = vec![format_count(hook.runs, "run")];
    for (number, word) in [
        (hook.failed, "failed"),
        (hook.timed_out, "timed out"),
        (hook.cancelled, "cancelled"),
        (hook.blocked, "blocked"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    if hook.state == HealthState::Silent {
        parts.push("always silent".to_owned());
    }
    if let (Some(p50), Some(p95)) = (hook.p50_ms, hook.p95_ms) {
        parts.push(format!("p50 {p50} ms, p95 {p95} ms"));
    }
    if hook.injected_tokens > 0 {
        parts.push(format!("~{} tokens injected", hook.injected_tokens));
    }
    if let Some(last) = &hook.last_run {
        parts.push(format!("last {}", last.get(..10).unwrap_or(last)));
    }
    let _ = writeln!(text, "    {}", parts.join(", "));
    if let Some(error) = &hook.last_error {
        let _ = writeln!(
            text,
            "    {}",
            out.paint(Style::Dim, &escape_invisible(error))
        );
    }
}
