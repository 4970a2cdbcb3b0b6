//! `remora hooks lint`: what is wrong, or likely not meant, in settings.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use remora_files::{ReadError, read_file};
use remora_hook_tools::document::Position;
use remora_hook_tools::lint::{
    LintFile, LintFinding, Severity, Surroundings, lint_files, write_sarif,
};
use remora_hooks::{Engine, FlagSettings, LayerSource, inspect};
use remora_instructions::normalise_path;
use remora_redact::{RedactionRules, Redactor};
use serde_json::json;

use crate::args::HooksLintArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use crate::settings::SessionSettings;

/// The longest settings file that is looked at.
const MAX_SETTINGS_BYTES: u64 = 64 << 20;

pub(super) fn run(args: &HooksLintArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let settings = SessionSettings::from_args(&args.place.to_session(), environment)?;
    let (files, mut findings) = if args.files.is_empty() {
        read_session_files(&settings)
    } else {
        read_named_files(&args.files, &settings)?
    };
    let looked_at = files.len() + findings.len();
    let redactor = Redactor::new(&RedactionRules::default())
        .map_err(|error| CliError::Usage(error.to_string()))?;
    let find_secret = |text: &str| {
        let found = redactor.find_secrets(text);
        found.first().map(|finding| finding.kind.to_string())
    };
    let search_path = settings.environment.get("PATH");
    findings.extend(lint_files(
        &files,
        &Surroundings {
            project: &settings.places.project,
            home: &settings.places.home,
            search_path: search_path.map(OsString::as_os_str),
            find_secret: &find_secret,
        },
    ));
    print_findings(args, &settings, &findings, looked_at, out)?;
    let fails = |finding: &LintFinding| match finding.severity {
        Severity::Error => true,
        Severity::Warning => args.strict,
        Severity::Note => false,
    };
    Ok(if findings.iter().any(fails) {
        Exit::Failed
    } else {
        Exit::GoOn
    })
}

/// Every file that a session reads; one that cannot be read is a finding.
fn read_session_files(settings: &SessionSettings) -> (Vec<LintFile>, Vec<LintFinding>) {
    let places = &settings.places;
    let mut wanted: Vec<(LayerSource, PathBuf, Option<PathBuf>)> =
        inspect::list_settings_files(places)
            .into_iter()
            .map(|(source, path)| (source, path, None))
            .collect();
    // Which plugins count is said by all settings together. If they cannot be
    // loaded, the file at fault is in the list already.
    if let Ok(engine) = Engine::load(places.clone(), settings.options) {
        for report in engine.layer_reports() {
            let place = &report.place;
            if let (Some(file), Some(plugin)) = (&place.file, &place.plugin) {
                wanted.push((place.source, file.clone(), Some(plugin.root.clone())));
            }
        }
    }
    let mut files = Vec::new();
    let mut findings = Vec::new();
    for (source, path, plugin_root) in wanted {
        match read_file(&path, MAX_SETTINGS_BYTES) {
            Ok(bytes) => files.push(LintFile {
                source,
                path,
                plugin_root,
                text: String::from_utf8_lossy(&bytes).into_owned(),
            }),
            Err(error) if error.is_missing() => {}
            Err(error) => findings.push(describe_unreadable(path, &error)),
        }
    }
    if let Some(FlagSettings::Json(text)) = &places.flag {
        files.push(LintFile {
            source: LayerSource::Flag,
            path: PathBuf::from("--settings"),
            plugin_root: None,
            text: text.clone(),
        });
    }
    (files, findings)
}

fn describe_unreadable(file: PathBuf, error: &ReadError) -> LintFinding {
    LintFinding {
        severity: Severity::Error,
        code: "unreadable-file",
        file,
        position: Position { line: 1, column: 1 },
        key: String::new(),
        message: format!("cannot be read: {error}; the client goes on without it"),
        advice: "make it a readable file, or remove it".to_owned(),
    }
}

/// The files that the user names; one that is not there is a mistake.
fn read_named_files(
    files: &[PathBuf],
    settings: &SessionSettings,
) -> Result<(Vec<LintFile>, Vec<LintFinding>), CliError> {
    let here = settings.environment.directory().cloned();
    let here = here.unwrap_or_else(|| settings.places.project.clone());
    let mut read = Vec::new();
    for file in files {
        let path = normalise_path(&here.join(file));
        let bytes = read_file(&path, MAX_SETTINGS_BYTES).map_err(|error| CliError::File {
            path: file.clone(),
            source: error.into(),
        })?;
        let (source, plugin_root) = LintFile::guess_source(&path, &settings.places.config_dir());
        read.push(LintFile {
            source,
            path,
            plugin_root,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }
    Ok((read, Vec::new()))
}

fn print_findings(
    args: &HooksLintArgs,
    settings: &SessionSettings,
    findings: &[LintFinding],
    looked_at: usize,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.sarif {
        let root = &settings.places.project;
        return out.print_json(&write_sarif(findings, root, env!("CARGO_PKG_VERSION")));
    }
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings, notes) = (
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Note),
    );
    if args.json {
        return out.print_json(&json!({
            "findings": findings,
            "files": looked_at,
            "errors": errors,
            "warnings": warnings,
            "notes": notes,
        }));
    }
    let here = settings.environment.directory().map(PathBuf::as_path);
    let mut text = String::new();
    for finding in findings {
        push_finding(&mut text, finding, here, out);
    }
    let parts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format_count(number, word))
        .collect();
    let last = match (looked_at, parts.is_empty()) {
        (0, _) => "there is no settings file".to_owned(),
        (_, true) => format!("nothing to fix in {}", format_count(looked_at, "file")),
        (_, false) => parts.join(", "),
    };
    let _ = writeln!(text, "{last}");
    out.print_text(&text)
}

pub(super) fn push_finding(
    text: &mut String,
    finding: &LintFinding,
    here: Option<&Path>,
    out: &Output,
) {
    let style = match finding.severity {
        Severity::Error => Style::Red,
        Severity::Warning => Style::Yellow,
        Severity::Note => Style::Cyan,
    };
    let file = here.and_then(|here| finding.file.strip_prefix(here).ok());
    let file = file.unwrap_or(&finding.file).display().to_string();
    let Position { line, column } = finding.position;
    let key = match finding.key.as_str() {
        "" => String::new(),
        key => format!(" {key}"),
    };
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "{}:{line}:{column}: {} {}{}",
        escape_invisible(&file),
        out.paint(style, finding.severity.as_str()),
        finding.code,
        out.paint(Style::Dim, &escape_invisible(&key)),
    );
    let _ = writeln!(text, "  {}", escape_invisible(&finding.message));
    let _ = writeln!(
        text,
        "  {}\n",
        out.paint(Style::Dim, &escape_invisible(&finding.advice))
    );
}

pub(super) fn format_count(number: usize, word: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {word}{end}")
}
