//! `remora hooks add`, `remove`, `enable` and `disable`: one handler of the
//! settings that users write. The change is shown; the file before it is kept.

use std::fmt::Write as _;

use remora_hook_tools::edit::{
    EditedSettings, HandlerPlace, HandlerState, LineChange, add_handler, diff_lines,
    remove_handler, toggle_handler,
};
use remora_hook_tools::lint::{LintFile, LintFinding, Surroundings, lint_handler};
use remora_hook_tools::listing::{HookListing, ListedHook, list_hooks};
use remora_hook_tools::settings_file::{SettingsFile, SettingsFileError};
use remora_hooks::{LayerSource, SettingsPaths, inspect};
use serde_json::{Map, Value, json};

use super::event_name;
use super::lint::push_finding;
use crate::args::{HooksAddArgs, HooksChooseArgs, HooksEditArgs, SettingsTarget};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible, print_note};
use crate::settings::SessionSettings;

/// What is done with a hook that the user names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookChange {
    Remove,
    Enable,
    Disable,
}

impl HookChange {
    fn verb(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Enable => "enable",
            Self::Disable => "disable",
        }
    }

    /// Whether a hook in this state can be changed so.
    fn fits(self, state: HandlerState) -> bool {
        match self {
            Self::Remove => true,
            Self::Enable => state == HandlerState::Disabled,
            Self::Disable => state == HandlerState::Enabled,
        }
    }
}

impl From<SettingsFileError> for CliError {
    fn from(error: SettingsFileError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl HooksEditArgs {
    fn find_places(&self) -> Result<SettingsPaths, CliError> {
        let place = crate::args::SettingsPlaceArgs {
            directory: self.directory.clone(),
            home: self.home.clone(),
            managed: None,
            settings: None,
            plugin: Vec::new(),
            setting_sources: None,
        };
        let environment = Environment::from_process();
        let mut places = SessionSettings::from_args(&place.to_session(), environment)?.places;
        // Not ours to change.
        places.managed = None;
        Ok(places)
    }
}

pub(super) fn run_add(args: &HooksAddArgs, out: &mut Output) -> Result<Exit, CliError> {
    let event = event_name(&args.event)?;
    let entry = build_entry(args)?;
    let places = args.edit.find_places()?;
    let wanted = match args.to {
        SettingsTarget::User => LayerSource::User,
        SettingsTarget::Project => LayerSource::Project,
        SettingsTarget::Local => LayerSource::Local,
    };
    // In the home directory the project's file is the user's.
    let files = inspect::list_settings_files(&places);
    let path = files.iter().rfind(|(source, _)| *source == wanted);
    let path = path.or(files.first()).map(|(_, path)| path.clone());
    let path = path.ok_or_else(|| CliError::Usage("there is no place for settings".to_owned()))?;
    let file = SettingsFile::read(&path)?;
    let edited = file.edit(|text| add_handler(text, event, args.matcher.as_deref(), &entry))?;
    let findings = check_entry(&file, wanted, &edited, &places);
    finish(&args.edit, "added", &file, &edited, &findings, out)
}

/// The handler that the flags describe.
fn build_entry(args: &HooksAddArgs) -> Result<Value, CliError> {
    let mut entry = match &args.handler {
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => map,
            Ok(_) => {
                return Err(CliError::Usage(
                    "--handler must be a JSON object".to_owned(),
                ));
            }
            Err(error) => {
                let problem = format!("--handler: the JSON is not valid ({error})");
                return Err(CliError::Usage(problem));
            }
        },
        None => Map::new(),
    };
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    if let Some(command) = &args.command {
        put("type", json!("command"));
        put("command", json!(command));
        if !args.args.is_empty() {
            put("args", json!(args.args));
        }
    } else if let Some(url) = &args.url {
        put("type", json!("http"));
        put("url", json!(url));
    } else if let Some(prompt) = &args.prompt {
        put("type", json!("prompt"));
        put("prompt", json!(prompt));
    }
    if let Some(condition) = &args.condition {
        put("if", json!(condition));
    }
    if let Some(seconds) = args.timeout {
        // A whole number is written as one.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole")]
        let whole = (seconds.fract() == 0.0 && seconds.abs() < 1e9).then_some(seconds as i64);
        put(
            "timeout",
            whole.map_or_else(|| json!(seconds), |whole| json!(whole)),
        );
    }
    if let Some(message) = &args.status_message {
        put("statusMessage", json!(message));
    }
    if args.background {
        put("async", json!(true));
    }
    Ok(Value::Object(entry))
}

/// What the linter says of the new entry.
fn check_entry(
    file: &SettingsFile,
    source: LayerSource,
    edited: &EditedSettings,
    places: &SettingsPaths,
) -> Vec<LintFinding> {
    let Some(place) = &edited.place else {
        return Vec::new();
    };
    let read = LintFile {
        source,
        path: file.path().to_path_buf(),
        plugin_root: None,
        text: edited.text.clone(),
    };
    let around = Surroundings {
        project: &places.project,
        home: &places.home,
        search_path: None,
        find_secret: &|_| None,
    };
    lint_handler(read, place, &around)
}

pub(super) fn run_change(
    change: HookChange,
    args: &HooksChooseArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let places = args.edit.find_places()?;
    let HookListing {
        mut hooks, errors, ..
    } = list_hooks(&places);
    for error in errors {
        print_note(&error.to_string());
    }
    hooks.retain(|hook| change.fits(hook.written.place.state));
    let Some(wanted) = &args.hook else {
        print_hooks(change, &hooks, args.edit.json, out)?;
        return Ok(Exit::GoOn);
    };
    let hook = choose_hook(change, wanted, &hooks)?;
    let file = SettingsFile::read(&hook.file)?;
    let place: &HandlerPlace = &hook.written.place;
    let edited = file.edit(|text| {
        let text = text.unwrap_or_default();
        match change {
            HookChange::Remove => remove_handler(text, place),
            HookChange::Enable | HookChange::Disable => toggle_handler(text, place),
        }
    })?;
    let done = match change {
        HookChange::Remove => "removed",
        HookChange::Enable => "enabled",
        HookChange::Disable => "disabled",
    };
    finish(&args.edit, done, &file, &edited, &[], out)
}

fn choose_hook<'a>(
    change: HookChange,
    wanted: &str,
    hooks: &'a [ListedHook],
) -> Result<&'a ListedHook, CliError> {
    if let Some(hook) = hooks.iter().find(|hook| hook.id == wanted) {
        return Ok(hook);
    }
    let found: Vec<&ListedHook> = hooks
        .iter()
        .filter(|hook| !wanted.is_empty() && hook.label().contains(wanted))
        .collect();
    match found.as_slice() {
        [hook] => Ok(hook),
        [] => Err(CliError::Usage(format!(
            "no hook to {} is called `{wanted}` or runs that; `remora hooks {}` lists them",
            change.verb(),
            change.verb()
        ))),
        several => {
            let ids: Vec<&str> = several.iter().map(|hook| hook.id.as_str()).collect();
            Err(CliError::Usage(format!(
                "`{wanted}` is part of {} hooks; name one: {}",
                several.len(),
                ids.join(", ")
            )))
        }
    }
}

fn print_hooks(
    change: HookChange,
    hooks: &[ListedHook],
    as_json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    if as_json {
        let list: Vec<Value> = hooks
            .iter()
            .map(|hook| {
                json!({
                    "id": hook.id,
                    "file": hook.file,
                    "state": hook.written.place.state,
                    "matcher": hook.written.matcher,
                    "handler": hook.written.entry,
                })
            })
            .collect();
        return out.print_json(&json!({ "hooks": list }));
    }
    let mut text = String::new();
    for hook in hooks {
        let matcher = hook.written.matcher.as_deref().unwrap_or_default();
        let line = format!("{matcher}  {}", hook.label());
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {}",
            out.paint(Style::Cyan, &escape_invisible(&hook.id)),
            escape_invisible(line.trim())
        );
    }
    if hooks.is_empty() {
        let _ = writeln!(text, "there is no hook to {}", change.verb());
    }
    out.print_text(&text)
}

/// Writes the edit, unless it is only to be shown, and says what changed.
fn finish(
    args: &HooksEditArgs,
    done: &str,
    file: &SettingsFile,
    edited: &EditedSettings,
    findings: &[LintFinding],
    out: &mut Output,
) -> Result<Exit, CliError> {
    let backup = if args.dry_run {
        None
    } else {
        file.replace(&edited.text)?
    };
    let before = file.text()?.unwrap_or_default();
    let key = edited.place.as_ref().map(|place| place.path().to_string());
    if args.json {
        out.print_json(&json!({
            "file": file.path(),
            "key": key,
            "written": !args.dry_run,
            "backup": backup,
            "findings": findings,
        }))?;
        return Ok(Exit::GoOn);
    }
    let path = escape_invisible(&file.path().display().to_string());
    let mut text = format!("{}\n", out.paint(Style::Bold, &path));
    for (change, line) in diff_lines(before, &edited.text) {
        let (mark, style) = match change {
            LineChange::Kept => (' ', Style::Dim),
            LineChange::Removed => ('-', Style::Red),
            LineChange::Added => ('+', Style::Green),
        };
        let line = format!("{mark} {}", escape_invisible(line));
        let _ = writeln!(text, "{}", out.paint(style, line.trim_end()));
    }
    for finding in findings {
        push_finding(&mut text, finding, None, out);
    }
    let last = match (&backup, args.dry_run) {
        (_, true) => "nothing is written: --dry-run".to_owned(),
        (Some(backup), _) => format!("{done}; the file before it: {}", backup.display()),
        (None, _) => done.to_owned(),
    };
    let _ = writeln!(text, "{}", escape_invisible(&last));
    out.print_text(&text)?;
    Ok(Exit::GoOn)
}
