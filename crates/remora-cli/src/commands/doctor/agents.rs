//! Remora's hooks in the settings of agents: that they are there, once, run
//! this program, and have brought something; and its MCP server beside them.

mod mcp;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remora_agents::install::{self, BARE_PROGRAM, Installed};
use remora_agents::{AGENTS, AgentSpec, Places, Scope};
use remora_client::waiting;
use remora_files::{MAX_SETTINGS_BYTES, read_text};
use remora_memory::store::{Filter, Page, Store};
use remora_store::Access;

use super::{Check, Patient};
use crate::commands::show::lines::{Local, count, number};

const NAME: &str = "hooks";

/// Our entries in one settings file.
struct Found {
    scope: Scope,
    file: PathBuf,
    entries: Vec<Installed>,
}

pub(super) fn check(patient: &Patient, events: Option<u64>) -> Vec<Check> {
    AGENTS
        .iter()
        .flat_map(|spec| of_agent(patient, spec, events))
        .collect()
}

fn of_agent(patient: &Patient, spec: &'static AgentSpec, events: Option<u64>) -> Vec<Check> {
    let environment = &patient.environment;
    let (Some(home), Some(root)) = (environment.home(), environment.directory().cloned()) else {
        return vec![Check::warn(
            NAME,
            "the home or the current directory is not known",
            "run this from a directory that exists, with HOME set",
        )];
    };
    let places = Places {
        home,
        config_dir: environment.get(spec.config_variable).map(PathBuf::from),
        root,
    };
    let mut checks = hooks(patient, spec, &places, events);
    checks.extend(mcp::check(patient, spec, &places));
    checks
}

fn hooks(
    patient: &Patient,
    spec: &'static AgentSpec,
    places: &Places,
    events: Option<u64>,
) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut plugin = None;
    let mut found: Vec<Found> = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let file = (spec.settings_file)(places, scope);
        let text = read_text(&file, MAX_SETTINGS_BYTES).unwrap_or_default();
        if (spec.mcp.has_plugin)(&text) {
            plugin.get_or_insert_with(|| file.clone());
        }
        // In the home directory a project's file is the user's own.
        if found.iter().any(|other| other.file == file) {
            continue;
        }
        match entries(&file, spec) {
            Ok(entries) if entries.is_empty() => {}
            Ok(entries) => found.push(Found {
                scope,
                file,
                entries,
            }),
            Err(why) => checks.push(Check::fail(
                NAME,
                format!(
                    "{}: {why}; {} ignores such a file",
                    file.display(),
                    spec.name
                ),
                "correct the file at that place",
            )),
        }
    }
    if found.is_empty() {
        if checks.is_empty()
            && let Some(file) = plugin
        {
            let message = format!("by the plugin, which {} switches on", file.display());
            checks.push(Check::ok(NAME, message));
        } else if checks.is_empty() {
            checks.push(not_installed(patient, spec));
        }
        return checks;
    }
    for install in &found {
        checks.extend(program(install, spec));
        checks.extend(missing(install, spec));
        checks.extend(twice(install, spec));
    }
    checks.extend(doubled(&found, spec));
    checks.extend(plugin.map(|file| beside_plugin(&found, &file, spec)));
    checks.extend(silent(patient, spec, events));
    if checks.is_empty() {
        let files: Vec<String> = found.iter().map(|f| f.file.display().to_string()).collect();
        let events = count(found[0].entries.len() as u64, "event", "events");
        checks.push(Check::ok(
            NAME,
            format!("{events}, in {}", files.join(", ")),
        ));
    }
    checks
}

/// A plugin that is named when the client starts leaves no trace in a file; what
/// it brought does.
fn not_installed(patient: &Patient, spec: &AgentSpec) -> Check {
    let seen = match last_event(patient) {
        Some(time) => format!("the last came {}", Local::new().moment(time)),
        None => "none has ever come".to_owned(),
    };
    Check::warn(
        NAME,
        format!(
            "not in the settings of {}; a plugin loaded with --plugin-dir cannot be seen here, only \
             its events: {seen}",
            spec.name
        ),
        again(spec, Scope::User),
    )
}

fn last_event(patient: &Patient) -> Option<i64> {
    let store = remora_store::open(&patient.paths.database(), Access::Read).ok()?;
    let page = Page::newest(1);
    let newest = store.events(&Filter::default(), page).ok()?;
    newest.first().map(|event| event.time)
}

fn entries(file: &Path, spec: &AgentSpec) -> Result<Vec<Installed>, String> {
    let text = match read_text(file, MAX_SETTINGS_BYTES) {
        Err(e) if e.is_missing() => return Ok(Vec::new()),
        other => other.map_err(|e| e.to_string())?,
    };
    install::find(&text, spec).map_err(|e| e.to_string())
}

/// The command that puts it right.
fn again(spec: &AgentSpec, scope: Scope) -> String {
    let flag = match scope {
        Scope::User => "",
        Scope::Project | Scope::Local => " --scope project",
    };
    format!("`remora install {}{flag}`", spec.name)
}

fn program(install: &Found, spec: &AgentSpec) -> Option<Check> {
    let own = std::env::current_exe().ok()?;
    let same = |named: &str| match (Path::new(named).canonicalize(), own.canonicalize()) {
        (Ok(named), Ok(own)) => named == own,
        _ => false,
    };
    // A shared file names everybody's own program, whichever that is.
    let shared = |named: &str| named == BARE_PROGRAM && install.scope != Scope::User;
    let other = install
        .entries
        .iter()
        .find(|e| !shared(&e.program) && !same(&e.program))?;
    let named = Path::new(&other.program);
    let file = install.file.display();
    // A bare name is looked up by whoever runs it.
    if named.is_absolute() && !named.exists() {
        return Some(Check::fail(
            NAME,
            format!("{file}: runs {}, which is gone", other.program),
            again(spec, install.scope),
        ));
    }
    Some(Check::warn(
        NAME,
        format!(
            "{file}: runs {}, not this program ({})",
            other.program,
            own.display()
        ),
        again(spec, install.scope),
    ))
}

fn missing(install: &Found, spec: &AgentSpec) -> Option<Check> {
    let there = |name: &str| install.entries.iter().any(|entry| entry.event == name);
    let missing: Vec<&str> = spec
        .registered
        .iter()
        .map(|row| row.event.as_str())
        .filter(|name| !there(name))
        .collect();
    (!missing.is_empty()).then(|| {
        Check::warn(
            NAME,
            format!("{}: lacks {}", install.file.display(), missing.join(", ")),
            again(spec, install.scope),
        )
    })
}

fn twice(install: &Found, spec: &AgentSpec) -> Option<Check> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    for entry in &install.entries {
        *times.entry(&entry.event).or_default() += 1;
    }
    let several = times.values().filter(|n| **n > 1).count() as u64;
    (several > 0).then(|| {
        Check::warn(
            NAME,
            format!(
                "{}: {} more than once",
                install.file.display(),
                count(several, "event is registered", "events are registered")
            ),
            again(spec, install.scope),
        )
    })
}

fn doubled(found: &[Found], spec: &AgentSpec) -> Option<Check> {
    let (_, others) = found
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let files: Vec<String> = found.iter().map(|f| f.file.display().to_string()).collect();
    let project = others.iter().any(|other| other.scope == Scope::Project);
    let fix = if project && found.len() == 2 {
        format!("`remora uninstall {} --scope project`", spec.name)
    } else {
        "take Remora's entries out of all but one of them".to_owned()
    };
    Some(Check::warn(
        NAME,
        format!(
            "installed {} times here, so every event costs a process more: {}",
            number(found.len() as u64),
            files.join(", ")
        ),
        fix,
    ))
}

/// Events that come twice are told once, but each costs two processes.
fn beside_plugin(found: &[Found], switch: &Path, spec: &AgentSpec) -> Check {
    let file = found.first().map(|f| f.file.display().to_string());
    let scope = found.first().map_or("", |f| match f.scope {
        Scope::User => "",
        Scope::Project | Scope::Local => " --project",
    });
    Check::warn(
        NAME,
        format!(
            "installed as a plugin ({}) and in {}: nothing is told twice, but every event costs a \
             process more",
            switch.display(),
            file.unwrap_or_default()
        ),
        format!("`remora uninstall {}{scope}`", spec.name),
    )
}

/// Hooks that never brought anything are hooks that the agent does not run.
fn silent(patient: &Patient, spec: &AgentSpec, events: Option<u64>) -> Option<Check> {
    let waits = !waiting(&patient.paths, 1).unwrap_or_default().is_empty();
    (events == Some(0) && !waits).then(|| {
        Check::warn(
            NAME,
            "installed, but no event has ever come",
            format!(
                "start a new session of {}: sessions that were open before do not know the hooks",
                spec.name
            ),
        )
    })
}
