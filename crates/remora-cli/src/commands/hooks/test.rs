//! `remora hooks test`: the cases beside settings, played through the engine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use remora_hook_tools::cases::{
    CaseResult, CaseStage, HookCase, find_case_files, play_cases, read_case_file, write_junit,
};
use remora_hook_tools::lint::LintFile;
use remora_hooks::{
    Engine, HandlerReport, HandlerStatus, Host, LayerSource, SettingSources, SettingsPaths, names,
};
use remora_instructions::normalise_path;
use serde_json::json;

use super::build::sample_session;
use super::lint::format_count;
use super::watch::{FileWatch, list_watched_files};
use crate::args::HooksTestArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use crate::settings::SessionSettings;
use crate::signals;

pub(super) fn run(args: &HooksTestArgs, out: &mut Output) -> Result<Exit, CliError> {
    let folder = tempfile::Builder::new().prefix("remora-test-").tempdir()?;
    signals::watch_signals(Some(folder.path().to_path_buf()))?;
    if !args.watch {
        return run_once(args, folder.path(), out);
    }
    loop {
        // Before the cases are played: what changes meanwhile counts as well.
        let watch = FileWatch::new(find_watched_files(args)?);
        if let Err(error) = run_once(args, folder.path(), out) {
            // A file that is being edited is not whole at every moment.
            out.print_text(&format!("{}\n", escape_invisible(&error.to_string())))?;
        }
        let waiting = format!("watching {}\n\n", format_count(watch.len(), "file"));
        out.print_text(&out.paint(Style::Dim, &waiting))?;
        watch.wait_for_change();
    }
}

fn find_watched_files(args: &HooksTestArgs) -> Result<Vec<PathBuf>, CliError> {
    let settings = read_settings(args)?;
    let files = find_files(args, &settings).unwrap_or_default();
    let engines = files.iter().filter_map(|file| {
        let places = choose_places(args, &settings, file);
        Engine::load(places, settings.options).ok()
    });
    let engines: Vec<Engine> = engines.collect();
    Ok(list_watched_files(&files, &engines, &settings.places))
}

fn read_settings(args: &HooksTestArgs) -> Result<SessionSettings, CliError> {
    SessionSettings::from_args(&args.place.to_session(), Environment::from_process())
}

/// Plays everything once.
fn run_once(args: &HooksTestArgs, folder: &Path, out: &mut Output) -> Result<Exit, CliError> {
    let settings = read_settings(args)?;
    settings.environment.check_run_depth()?;
    let files = find_files(args, &settings)?;
    let mut results = Vec::new();
    let mut warnings: Vec<String> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let mut cases = read_case_file(file).map_err(|e| CliError::Usage(e.to_string()))?;
        if let Some(text) = &args.filter {
            cases.retain(|case| case.name.contains(text.as_str()));
        }
        let places = choose_places(args, &settings, file);
        let engine = Engine::load(places.clone(), settings.options)?;
        for warning in engine.load_warnings() {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let dir = folder.join(number.to_string());
        results.extend(play_file(args, &settings, &places, &engine, &cases, &dir));
    }
    if results.is_empty() {
        let text = args.filter.as_deref().unwrap_or_default();
        return Err(CliError::Usage(format!(
            "--filter {text}: no case has that in its name"
        )));
    }
    if let Some(junit) = &args.junit {
        let path = resolve_path(junit, &settings);
        let xml = write_junit(&results, &settings.places.project);
        // Not replaced as a whole: it may be a pipe.
        fs::write(&path, xml).map_err(|source| CliError::File {
            path: junit.clone(),
            source,
        })?;
    }
    print_results(args, &settings, &results, &warnings, out)?;
    let passed = results.iter().all(|result| result.passed);
    Ok(if passed { Exit::GoOn } else { Exit::Failed })
}

fn play_file(
    args: &HooksTestArgs,
    settings: &SessionSettings,
    places: &SettingsPaths,
    engine: &Engine,
    cases: &[HookCase],
    folder: &Path,
) -> Vec<CaseResult> {
    let session = sample_session(places);
    let host = Host {
        environment: settings.environment.for_handlers(&places.home),
        session_dir: Some(folder.to_path_buf()),
        ..Host::default()
    };
    // Session folders are the engine's to fill and ours to make.
    for at in 0..cases.len() {
        let _ = fs::create_dir_all(folder.join(at.to_string()));
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    play_cases(
        cases,
        &CaseStage {
            engine,
            session: &session,
            host: &host,
            project: &places.project,
            jobs: args.jobs.map_or(cores, usize::from),
        },
    )
}

/// The files that the user names, or those of the project.
fn find_files(args: &HooksTestArgs, settings: &SessionSettings) -> Result<Vec<PathBuf>, CliError> {
    if !args.files.is_empty() {
        let files = args.files.iter();
        return Ok(files.map(|file| resolve_path(file, settings)).collect());
    }
    let folder = settings.places.project.join(names::SETTINGS_DIR);
    let files = find_case_files(&folder);
    if files.is_empty() {
        return Err(CliError::Usage(format!(
            "{}: there is no hooks.test.json or hooks.test.yaml; `remora hooks test --help` shows one",
            folder.display()
        )));
    }
    Ok(files)
}

fn resolve_path(file: &Path, settings: &SessionSettings) -> PathBuf {
    let here = settings.environment.directory();
    let here = here.unwrap_or(&settings.places.project);
    normalise_path(&here.join(file))
}

/// The settings that stand beside a file with cases: what a checkout alone
/// holds, so that a test says the same on every machine.
fn choose_places(args: &HooksTestArgs, settings: &SessionSettings, file: &Path) -> SettingsPaths {
    let mut places = settings.places.clone();
    if args.all_layers {
        return places;
    }
    if args.place.managed.is_none() {
        places.managed = None;
    }
    let named_sources = args.place.setting_sources.is_some();
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut choose = |user, project| {
        if !named_sources {
            places.sources = SettingSources {
                user,
                project,
                local: project,
            };
        }
    };
    if folder == settings.places.config_dir() {
        choose(true, false);
        return places;
    }
    let hooks_file = folder.join("hooks.json");
    if hooks_file.is_file()
        && let (LayerSource::Plugin, Some(root)) =
            LintFile::guess_source(&hooks_file, &settings.places.config_dir())
    {
        choose(false, false);
        places.plugins.push(root);
        return places;
    }
    choose(false, true);
    if folder.file_name().is_some_and(|n| n == names::SETTINGS_DIR)
        && let Some(project) = folder.parent()
    {
        places.project = project.to_path_buf();
    }
    places
}

fn print_results(
    args: &HooksTestArgs,
    settings: &SessionSettings,
    results: &[CaseResult],
    warnings: &[String],
    out: &mut Output,
) -> Result<(), CliError> {
    let failed = results.iter().filter(|r| !r.passed).count();
    if args.json {
        return out.print_json(&json!({
            "cases": results,
            "passed": results.len() - failed,
            "failed": failed,
            "warnings": warnings,
        }));
    }
    let mut text = String::new();
    let mut by_file: BTreeMap<usize, (&Path, Vec<&CaseResult>)> = BTreeMap::new();
    for result in results {
        let at = results.iter().position(|r| r.file == result.file);
        let entry = by_file.entry(at.unwrap_or(0));
        let (_, list) = entry.or_insert_with(|| (&result.file, Vec::new()));
        list.push(result);
    }
    for (file, list) in by_file.values() {
        let shown = file.strip_prefix(&settings.places.project).unwrap_or(file);
        let title = escape_invisible(&shown.display().to_string());
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}", out.paint(Style::Bold, &title));
        for result in list {
            push_result(&mut text, result, args.verbose, out);
        }
    }
    for warning in warnings {
        let word = out.paint(Style::Yellow, "warning:");
        let _ = writeln!(text, "{word} {}", escape_invisible(warning));
    }
    let passed = results.len() - failed;
    let _ = match failed {
        0 => writeln!(text, "{} passed", format_count(passed, "case")),
        _ => writeln!(text, "{passed} passed, {failed} failed"),
    };
    out.print_text(&text)
}

fn push_result(text: &mut String, result: &CaseResult, verbose: bool, out: &Output) {
    let mark = if result.passed {
        out.paint(Style::Green, "✓")
    } else {
        out.paint(Style::Red, "✗")
    };
    let took = out.paint(Style::Dim, &format!("{} ms", result.duration_ms));
    let _ = writeln!(text, "  {mark} {} {took}", escape_invisible(&result.name));
    for mismatch in &result.mismatches {
        let _ = writeln!(text, "      {}", out.paint(Style::Bold, &mismatch.key));
        push_marked(text, '-', &mismatch.expected, "expected", Style::Green, out);
        push_marked(text, '+', &mismatch.found, "found", Style::Red, out);
    }
    if result.passed && !verbose {
        return;
    }
    for handler in &result.handlers {
        push_handler(text, handler, out);
    }
    if result.handlers.is_empty() {
        let _ = writeln!(
            text,
            "      {}",
            out.paint(Style::Dim, "no handler matched")
        );
    }
}

/// Lines with a mark in front, and on the first what they are.
fn push_marked(text: &mut String, mark: char, shown: &str, what: &str, style: Style, out: &Output) {
    for (at, line) in shown.trim_end().lines().enumerate() {
        let word = if at == 0 { what } else { "" };
        let line = format!("{mark} {word:<8} {}", escape_invisible(line));
        let _ = writeln!(text, "        {}", out.paint(style, &line));
    }
}

fn push_handler(text: &mut String, handler: &HandlerReport, out: &Output) {
    let status = match handler.status {
        HandlerStatus::Ok => "ok",
        HandlerStatus::Blocked => "blocked",
        HandlerStatus::Error => "error",
        HandlerStatus::Timeout => "timeout",
        HandlerStatus::Background => "background",
        HandlerStatus::Cancelled => "cancelled",
        HandlerStatus::Skipped => "skipped",
    };
    let code = handler
        .exit_code
        .map_or_else(String::new, |code| format!(", exit {code}"));
    let label = handler.info.label.replace('\n', " ");
    let line = format!("{}  {status}{code}", escape_invisible(&label));
    let _ = writeln!(text, "      {}", out.paint(Style::Dim, &line));
    let why = (handler.status != HandlerStatus::Ok).then_some(handler.why.as_str());
    for (what, said) in [("", why.unwrap_or("")), ("stderr: ", handler.stderr.trim())] {
        for line in said.lines().take(5) {
            let line = format!("{what}{}", escape_invisible(line));
            let _ = writeln!(text, "        {}", out.paint(Style::Dim, &line));
        }
    }
}
