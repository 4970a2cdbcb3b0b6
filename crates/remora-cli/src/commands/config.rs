//! `remora config`: every value with its source, and changing them without
//! touching anything else in the file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_client::DataPaths;
use remora_files::{Durability, MAX_SETTINGS_BYTES, ReplaceOptions, read_text, replace_file};
use remora_redact::{RedactionRules, Redactor};
use serde_json::{Value, json};

use crate::args::{ConfigCommand as Command, ConfigSetArgs, ConfigShowArgs, ConfigUnsetArgs};
use crate::commands::data::DataDir;
use crate::commands::data::usable_paths;
use crate::commands::worker;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use remora_app::ALL_PROJECTS_KEY;
use remora_app::config::{self, Config, ValueSource};
use remora_app::worker_lock::prepare_data_dir;

/// Keys that say which model is asked.
const MODELS_PREFIX: &str = "models.";

pub(crate) fn run(command: &Command, out: &mut Output) -> Result<Exit, CliError> {
    let paths = usable_paths(&Environment::from_process())?;
    match command {
        Command::Show(args) => run_show(&paths, args, out),
        Command::Set(args) => run_set(&paths, args, out),
        Command::Unset(args) => run_unset(&paths, args, out),
        Command::Path(args) => run_path(&paths, args, out),
    }
}

fn run_path(paths: &DataPaths, args: &ConfigShowArgs, out: &mut Output) -> Result<Exit, CliError> {
    let file = paths.config_file();
    if args.json {
        out.print_json(&json!({ "file": file, "exists": file.exists() }))?;
    } else {
        out.print_text(&format!("{}\n", file.display()))?;
    }
    Ok(Exit::GoOn)
}

fn run_show(paths: &DataPaths, args: &ConfigShowArgs, out: &mut Output) -> Result<Exit, CliError> {
    let file = paths.config_file();
    let config = Config::load(&file)?;
    let source = |source: &ValueSource| match source {
        ValueSource::Default => "default",
        ValueSource::File => "file",
    };
    if args.json {
        let values: Vec<Value> = config
            .iter()
            .map(|(key, value, from)| {
                json!({
                    "key": key.name,
                    "value": value,
                    "source": source(from),
                    "about": key.about,
                })
            })
            .collect();
        out.print_json(&json!({ "file": file, "values": values }))?;
        return Ok(Exit::GoOn);
    }
    let there = if file.exists() {
        ""
    } else {
        " (not there; all defaults)"
    };
    out.print_text(&format!("{}{there}\n", file.display()))?;
    for (key, value, from) in config.iter() {
        let name = out.paint(Style::Bold, key.name);
        let style = match from {
            ValueSource::Default => Style::Dim,
            ValueSource::File => Style::Green,
        };
        let from = out.paint(style, &format!("({})", source(from)));
        let about = out.paint(Style::Dim, key.about);
        out.print_text(&format!(
            "{name} = {} {from}\n    {about}\n",
            escape_invisible(&value.to_string())
        ))?;
    }
    Ok(Exit::GoOn)
}

fn run_set(paths: &DataPaths, args: &ConfigSetArgs, out: &mut Output) -> Result<Exit, CliError> {
    // An agent must not widen what agents may read, nor send anything to a model.
    if args.key == ALL_PROJECTS_KEY || args.key.starts_with(MODELS_PREFIX) {
        DataDir::with_default_config()?
            .app
            .require_user(&format!("{} is set", args.key))?;
    }
    edit_config_file(paths, |text| {
        config::set_value(text, &args.key, &args.value)
    })?;
    let value = value_of(paths, &args.key)?;
    let ended = tell_worker(paths)?;
    if args.json {
        out.print_json(&json!({ "key": args.key, "value": value, "worker_restarted": ended }))?;
    } else {
        let value = escape_invisible(&value.to_string());
        out.print_text(&format!(
            "{} = {value}{}\n",
            args.key,
            format_restart_note(ended)
        ))?;
    }
    Ok(Exit::GoOn)
}

fn run_unset(
    paths: &DataPaths,
    args: &ConfigUnsetArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let changed = edit_config_file(paths, |text| config::remove_value(text, &args.key))?;
    let value = value_of(paths, &args.key)?;
    let ended = changed && tell_worker(paths)?;
    if args.json {
        out.print_json(&json!({
            "key": args.key,
            "changed": changed,
            "value": value,
            "worker_restarted": ended,
        }))?;
    } else if changed {
        let now = match value {
            Value::Null => "is gone".to_owned(),
            value => format!("is back to {}", escape_invisible(&value.to_string())),
        };
        out.print_text(&format!(
            "{} {now}{}\n",
            args.key,
            format_restart_note(ended)
        ))?;
    } else {
        out.print_text(&format!("{} was not set\n", args.key))?;
    }
    Ok(Exit::GoOn)
}

fn format_restart_note(ended: bool) -> &'static str {
    if ended {
        "; the worker was restarted"
    } else {
        ""
    }
}

/// The value that counts now; of one entry of a table, that entry.
fn value_of(paths: &DataPaths, name: &str) -> Result<Value, CliError> {
    let config = Config::load(&paths.config_file())?;
    let whole = config.iter().find(|(key, _, _)| key.name == name);
    if let Some((_, value, _)) = whole {
        return Ok(value.clone());
    }
    let entry = config.iter().find_map(|(key, value, _)| {
        let entry = name.strip_prefix(key.name)?.strip_prefix('.')?;
        value.get(entry).cloned()
    });
    Ok(entry.unwrap_or_default())
}

/// Changes the file's text; says whether anything changed. What the new file
/// says is checked in full before it takes the place of the old one.
pub(crate) fn edit_config_file(
    paths: &DataPaths,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<bool, CliError> {
    let file = paths.config_file();
    let fault = |source| CliError::File {
        path: file.clone(),
        source,
    };
    let text = match read_text(&file, MAX_SETTINGS_BYTES) {
        Err(e) if e.is_missing() => String::new(),
        other => other.map_err(|e| fault(e.into()))?,
    };
    // A file that is wrong already is reported as such, not blamed on a change that
    // does not fix it.
    let before = Config::parse_with_errors(&text).err().unwrap_or_default();
    let blamed = |fault: String| match &*before.join("; ") {
        "" => CliError::Usage(fault),
        faults => CliError::Usage(format!("{}: {faults}", file.display())),
    };
    let changed = edit(&text).map_err(blamed)?;
    if changed == text {
        return Ok(false);
    }
    match Config::parse_with_errors(&changed) {
        Ok(config) => check_patterns(&config)?,
        // One of several faults is fixed.
        Err(left) if left.len() < before.len() => {}
        Err(left) => return Err(blamed(left.join("; "))),
    }
    prepare_data_dir(paths)?;
    write_config_file(&file, &changed).map_err(fault)?;
    Ok(true)
}

/// Regular expressions must compile, and globs be globs.
fn check_patterns(config: &Config) -> Result<(), CliError> {
    let told = |key: &str, e: &dyn std::fmt::Display| CliError::Usage(format!("{key}: {e}"));
    let patterns = RedactionRules {
        patterns: config.get_table("redact.patterns"),
        deny_paths: Vec::new(),
    };
    Redactor::new(&patterns).map_err(|e| told("redact.patterns", &e))?;
    for key in ["redact.deny_paths", "capture.ignore"] {
        let globs = RedactionRules {
            patterns: Vec::new(),
            deny_paths: config.get_list(key),
        };
        Redactor::new(&globs).map_err(|e| told(key, &e))?;
    }
    Ok(())
}

/// Beside the file, for its owner only, and renamed. A link stays a link.
fn write_config_file(file: &Path, text: &str) -> io::Result<()> {
    let real: PathBuf = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let options = ReplaceOptions::private(Durability::File);
    replace_file(&real, text.as_bytes(), &options)
}

/// A running worker makes way for one that has read the new values.
fn tell_worker(paths: &DataPaths) -> Result<bool, CliError> {
    if worker::find_running_worker(paths).is_none() {
        return Ok(false);
    }
    drop(DataDir::with_default_config()?.app.lock_worker()?);
    Ok(true)
}
