//! `remora config`: every value with its source, and changing them without
//! touching anything else in the file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use remora_client::Paths;
use remora_files::{MAX_SETTINGS_BYTES, read_text};
use remora_memory::redact::{Redactor, Rules};
use serde_json::{Value, json};

use crate::args::{Config as Command, ConfigSet, ConfigShow, ConfigUnset};
use crate::commands::data::usable_paths;
use crate::commands::exclusive::Exclusive;
use crate::commands::reader::{ALL_PROJECTS, refuse_agent};
use crate::commands::worker;
use crate::config::{self, Config, Source};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(crate) fn run(command: &Command, out: &mut Output) -> Result<Exit, CliError> {
    let paths = usable_paths(&Environment::read())?;
    match command {
        Command::Show(args) => show(&paths, args, out),
        Command::Set(args) => set(&paths, args, out),
        Command::Unset(args) => unset(&paths, args, out),
        Command::Path(args) => path(&paths, args, out),
    }
}

fn path(paths: &Paths, args: &ConfigShow, out: &mut Output) -> Result<Exit, CliError> {
    let file = paths.config();
    if args.json {
        out.json(&json!({ "file": file, "exists": file.exists() }))?;
    } else {
        out.text(&format!("{}\n", file.display()))?;
    }
    Ok(Exit::GoOn)
}

fn show(paths: &Paths, args: &ConfigShow, out: &mut Output) -> Result<Exit, CliError> {
    let file = paths.config();
    let config = Config::load(&file)?;
    let source = |source: &Source| match source {
        Source::Default => "default",
        Source::File => "file",
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
        out.json(&json!({ "file": file, "values": values }))?;
        return Ok(Exit::GoOn);
    }
    let there = if file.exists() {
        ""
    } else {
        " (not there; all defaults)"
    };
    out.text(&format!("{}{there}\n", file.display()))?;
    for (key, value, from) in config.iter() {
        let name = out.paint(Style::Bold, key.name);
        let style = match from {
            Source::Default => Style::Dim,
            Source::File => Style::Green,
        };
        let from = out.paint(style, &format!("({})", source(from)));
        let about = out.paint(Style::Dim, key.about);
        out.text(&format!(
            "{name} = {} {from}\n    {about}\n",
            visible(&value.to_string())
        ))?;
    }
    Ok(Exit::GoOn)
}

fn set(paths: &Paths, args: &ConfigSet, out: &mut Output) -> Result<Exit, CliError> {
    // An agent must not widen what agents may read.
    if args.key == ALL_PROJECTS {
        refuse_agent(&Environment::read(), "mcp.all_projects is set")?;
    }
    change(paths, |text| config::with(text, &args.key, &args.value))?;
    let value = value_of(paths, &args.key)?;
    let ended = tell_worker(paths)?;
    if args.json {
        out.json(&json!({ "key": args.key, "value": value, "worker_restarted": ended }))?;
    } else {
        let value = visible(&value.to_string());
        out.text(&format!("{} = {value}{}\n", args.key, note(ended)))?;
    }
    Ok(Exit::GoOn)
}

fn unset(paths: &Paths, args: &ConfigUnset, out: &mut Output) -> Result<Exit, CliError> {
    let changed = change(paths, |text| config::without(text, &args.key))?;
    let value = value_of(paths, &args.key)?;
    let ended = changed && tell_worker(paths)?;
    if args.json {
        out.json(&json!({
            "key": args.key,
            "changed": changed,
            "value": value,
            "worker_restarted": ended,
        }))?;
    } else if changed {
        let now = match value {
            Value::Null => "is gone".to_owned(),
            value => format!("is back to {}", visible(&value.to_string())),
        };
        out.text(&format!("{} {now}{}\n", args.key, note(ended)))?;
    } else {
        out.text(&format!("{} was not set\n", args.key))?;
    }
    Ok(Exit::GoOn)
}

fn note(ended: bool) -> &'static str {
    if ended {
        "; the worker was restarted"
    } else {
        ""
    }
}

/// The value that counts now; of one entry of a table, that entry.
fn value_of(paths: &Paths, name: &str) -> Result<Value, CliError> {
    let config = Config::load(&paths.config())?;
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
fn change(
    paths: &Paths,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<bool, CliError> {
    let file = paths.config();
    let fault = |source| CliError::File {
        path: file.clone(),
        source,
    };
    let text = match read_text(&file, MAX_SETTINGS_BYTES) {
        Err(e) if e.is_missing() => String::new(),
        other => other.map_err(|e| fault(e.into()))?,
    };
    // A file that is wrong already is told as such, not blamed on a change that
    // does not mend it.
    let before = Config::read(&text).err().unwrap_or_default();
    let blamed = |fault: String| match &*before.join("; ") {
        "" => CliError::Usage(fault),
        faults => CliError::Usage(format!("{}: {faults}", file.display())),
    };
    let changed = edit(&text).map_err(blamed)?;
    if changed == text {
        return Ok(false);
    }
    match Config::read(&changed) {
        Ok(config) => usable(&config)?,
        // One of several faults is mended.
        Err(left) if left.len() < before.len() => {}
        Err(left) => return Err(blamed(left.join("; "))),
    }
    paths.prepare().map_err(|source| CliError::File {
        path: paths.home().to_path_buf(),
        source,
    })?;
    write(&file, &changed).map_err(fault)?;
    Ok(true)
}

/// Regular expressions must compile, and globs be globs.
fn usable(config: &Config) -> Result<(), CliError> {
    let told = |key: &str, e: &dyn std::fmt::Display| CliError::Usage(format!("{key}: {e}"));
    let patterns = Rules {
        patterns: config.table("redact.patterns"),
        deny_paths: Vec::new(),
    };
    Redactor::new(&patterns).map_err(|e| told("redact.patterns", &e))?;
    for key in ["redact.deny_paths", "capture.ignore"] {
        let globs = Rules {
            patterns: Vec::new(),
            deny_paths: config.list(key),
        };
        Redactor::new(&globs).map_err(|e| told(key, &e))?;
    }
    Ok(())
}

/// Beside the file, for its owner only, and renamed. A link stays a link.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let real: PathBuf = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let folder = real.parent().unwrap_or(Path::new("."));
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    fresh.write_all(text.as_bytes())?;
    fresh.as_file().sync_all()?;
    fresh.persist(&real)?;
    Ok(())
}

/// A running worker makes way for one that has read the new values.
fn tell_worker(paths: &Paths) -> Result<bool, CliError> {
    if worker::running(paths).is_none() {
        return Ok(false);
    }
    drop(Exclusive::take(paths)?);
    Ok(true)
}
