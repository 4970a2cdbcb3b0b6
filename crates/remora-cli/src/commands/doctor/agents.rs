//! Remora's hooks in the settings of agents: that they are there, once, run
//! this program, and have brought something; and its MCP server beside them.

mod mcp;
mod trust;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remora_agents::install::{self, BARE_PROGRAM, InstalledHook, ProblemImpact};
use remora_agents::{AGENTS, AgentPaths, AgentSpec, InstallScope};
use remora_client::list_spooled;
use remora_files::{MAX_SETTINGS_BYTES, read_text};
use remora_memory::store::{Filter, PageRequest, Store};
use remora_store::Access;

use super::{Diagnosis, DiagnosisLevel, DoctorContext};
use crate::commands::install::has_client;
use crate::commands::show::lines::{TimeFormatter, format_count, format_number};

const CHECK_NAME: &str = "hooks";
const SCOPES: [InstallScope; 3] = [
    InstallScope::User,
    InstallScope::Project,
    InstallScope::Local,
];

/// Our entries in one settings file.
struct RegistrationStatus {
    scope: InstallScope,
    file: PathBuf,
    entries: Vec<InstalledHook>,
}

/// An agent, and where it looks.
struct AgentStatus {
    spec: &'static AgentSpec,
    places: AgentPaths,
    found: AgentUse,
}

/// Whether an agent is used here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AgentUse {
    /// Nothing speaks for it.
    Unknown,
    /// Its program or its settings are there.
    Present,
    /// Our hooks are in its settings, or our plugin is.
    Installed,
}

pub(super) fn check_agents(patient: &DoctorContext, events: Option<u64>) -> Vec<Diagnosis> {
    let environment = &patient.environment;
    let (Some(home), Some(root)) = (environment.home(), environment.directory()) else {
        return vec![Diagnosis::warn(
            CHECK_NAME,
            "the home or the current directory is not known",
            "run this from a directory that exists, with HOME set",
        )];
    };
    let mut agents: Vec<AgentStatus> = AGENTS
        .iter()
        .map(|spec| {
            let config_dir = environment.get(spec.environment.config_variable);
            let places = AgentPaths {
                home: home.clone(),
                config_dir: config_dir.map(PathBuf::from),
                root: root.clone(),
            };
            let found = find_use(patient, spec, &places);
            AgentStatus {
                spec,
                places,
                found,
            }
        })
        .collect();
    if agents.iter().any(|agent| agent.found != AgentUse::Unknown) {
        agents.retain(|agent| agent.found != AgentUse::Unknown);
    } else {
        // Of agents that are not here, it is enough to name one.
        agents.truncate(1);
    }
    let is_installed = |agent: &AgentStatus| agent.found == AgentUse::Installed;
    let any_installed = agents.iter().any(is_installed);
    let check = |agent: &AgentStatus| {
        if any_installed && !is_installed(agent) {
            return vec![left_out(agent.spec)];
        }
        let mut checks = check_hooks(patient, agent.spec, &agent.places, events);
        let servers = mcp::check_mcp_server(patient, agent.spec, &agent.places);
        checks.extend(servers);
        checks
    };
    agents.iter().flat_map(check).collect()
}

fn find_use(patient: &DoctorContext, spec: &AgentSpec, places: &AgentPaths) -> AgentUse {
    let is_ours = |scope: &InstallScope| {
        let text = (spec.install.settings_file)(places, *scope)
            .and_then(|file| read_text(&file, MAX_SETTINGS_BYTES).ok())
            .unwrap_or_default();
        // What is wrong with a file that cannot be read has to be said.
        let has_entries = install::find_entries(&text, spec).map_or(true, |all| !all.is_empty());
        has_entries || (spec.mcp.has_plugin)(&text)
    };
    if SCOPES.iter().any(is_ours) {
        return AgentUse::Installed;
    }
    let own = (spec.install.settings_file)(places, InstallScope::User);
    let has_folder = own.is_some_and(|file| file.parent().is_some_and(Path::is_dir));
    if has_folder || has_client(&patient.environment, spec) {
        AgentUse::Present
    } else {
        AgentUse::Unknown
    }
}

/// Whoever has Remora in one agent need not want it in another.
fn left_out(spec: &AgentSpec) -> Diagnosis {
    Diagnosis {
        level: DiagnosisLevel::Ok,
        ..Diagnosis::warn(
            CHECK_NAME,
            format!("{} is here as well, without Remora", spec.name),
            format_install_command(spec, InstallScope::User),
        )
    }
}

fn check_hooks(
    patient: &DoctorContext,
    spec: &'static AgentSpec,
    places: &AgentPaths,
    events: Option<u64>,
) -> Vec<Diagnosis> {
    let mut checks = Vec::new();
    let mut plugin = None;
    let mut found: Vec<RegistrationStatus> = Vec::new();
    for scope in SCOPES {
        let Some(file) = (spec.install.settings_file)(places, scope) else {
            continue;
        };
        let text = read_text(&file, MAX_SETTINGS_BYTES).unwrap_or_default();
        if (spec.mcp.has_plugin)(&text) {
            plugin.get_or_insert_with(|| file.clone());
        }
        // In the home directory a project's file is the user's own.
        if found.iter().any(|other| other.file == file) {
            continue;
        }
        match read_entries(&file, spec) {
            Ok(entries) if entries.is_empty() => {}
            Ok(entries) => found.push(RegistrationStatus {
                scope,
                file,
                entries,
            }),
            Err(why) => checks.push(Diagnosis::fail(
                CHECK_NAME,
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
            checks.push(Diagnosis::ok(CHECK_NAME, message));
        } else if checks.is_empty() {
            checks.push(not_installed(patient, spec));
        }
        return checks;
    }
    for install in &found {
        checks.extend(check_refusals(install, spec));
        checks.extend(check_program(install, spec));
        checks.extend(check_missing_events(install, spec));
        checks.extend(check_repeated_events(install, spec));
    }
    checks.extend(check_repeated_installs(&found, spec));
    checks.extend(plugin.map(|file| beside_plugin(&found, &file, spec)));
    let untrusted: Vec<Diagnosis> = found
        .iter()
        .flat_map(|install| trust::check_trust(install, spec, places))
        .collect();
    // Hooks that the agent does not run are silent; that is said already.
    if untrusted.is_empty() {
        checks.extend(check_silent_hooks(patient, spec, events));
    }
    checks.extend(untrusted);
    if checks.is_empty() {
        let files: Vec<String> = found.iter().map(|f| f.file.display().to_string()).collect();
        let events = format_count(found[0].entries.len() as u64, "event", "events");
        checks.push(Diagnosis::ok(
            CHECK_NAME,
            format!("{events}, in {}", files.join(", ")),
        ));
    }
    checks
}

/// A plugin that is named when the client starts leaves no trace in a file; what
/// it brought does.
fn not_installed(patient: &DoctorContext, spec: &AgentSpec) -> Diagnosis {
    let seen = match last_event(patient, spec) {
        Some(time) => format!(
            "the last came {}",
            TimeFormatter::new().format_timestamp(time)
        ),
        None => "none has ever come".to_owned(),
    };
    let place = match spec.install.plugin_flag {
        Some(flag) => {
            format!("a plugin loaded with {flag} cannot be seen here, only its events: {seen}")
        }
        None => format!("of its events {seen}"),
    };
    Diagnosis::warn(
        CHECK_NAME,
        format!("not in the settings of {}; {place}", spec.name),
        format_install_command(spec, InstallScope::User),
    )
}

/// When the agent's last event came.
fn last_event(patient: &DoctorContext, spec: &AgentSpec) -> Option<i64> {
    let store = remora_server::open_database(&patient.paths.database_file(), Access::Read).ok()?;
    let filter = Filter {
        agent: Some(spec.name.into()),
        ..Filter::default()
    };
    let newest = store.list_events(&filter, PageRequest::newest(1)).ok()?;
    newest.first().map(|event| event.time)
}

fn read_entries(file: &Path, spec: &AgentSpec) -> Result<Vec<InstalledHook>, String> {
    let text = match read_text(file, MAX_SETTINGS_BYTES) {
        Err(e) if e.is_missing() => return Ok(Vec::new()),
        other => other.map_err(|e| e.to_string())?,
    };
    install::find_entries(&text, spec).map_err(|e| e.to_string())
}

/// The command that puts it right.
fn format_install_command(spec: &AgentSpec, scope: InstallScope) -> String {
    let flag = match scope {
        InstallScope::User => "",
        InstallScope::Project | InstallScope::Local => " --scope project",
    };
    format!("`remora install {}{flag}`", spec.name)
}

/// What others wrote into the file can keep our hooks from running.
fn check_refusals(install: &RegistrationStatus, spec: &AgentSpec) -> Vec<Diagnosis> {
    let text = read_text(&install.file, MAX_SETTINGS_BYTES).unwrap_or_default();
    let problems = install::find_problems(&text, spec).unwrap_or_default();
    let diagnose = |problem: install::SettingsProblem| {
        let message = format!("{}: {}", install.file.display(), problem.text);
        let fix = "correct the file at that place";
        match problem.impact {
            ProblemImpact::WholeFile => Diagnosis::fail(CHECK_NAME, message, fix),
            ProblemImpact::Entry => Diagnosis::warn(CHECK_NAME, message, fix),
        }
    };
    problems.into_iter().map(diagnose).collect()
}

fn check_program(install: &RegistrationStatus, spec: &AgentSpec) -> Option<Diagnosis> {
    let own = std::env::current_exe().ok()?;
    let same = |named: &str| match (Path::new(named).canonicalize(), own.canonicalize()) {
        (Ok(named), Ok(own)) => named == own,
        _ => false,
    };
    // A shared file names everybody's own program, whichever that is.
    let shared = |named: &str| named == BARE_PROGRAM && install.scope != InstallScope::User;
    let other = install
        .entries
        .iter()
        .find(|e| !shared(&e.program) && !same(&e.program))?;
    let named = Path::new(&other.program);
    let file = install.file.display();
    // A bare name is looked up by whoever runs it.
    if named.is_absolute() && !named.exists() {
        return Some(Diagnosis::fail(
            CHECK_NAME,
            format!("{file}: runs {}, which is gone", other.program),
            format_install_command(spec, install.scope),
        ));
    }
    Some(Diagnosis::warn(
        CHECK_NAME,
        format!(
            "{file}: runs {}, not this program ({})",
            other.program,
            own.display()
        ),
        format_install_command(spec, install.scope),
    ))
}

fn check_missing_events(install: &RegistrationStatus, spec: &AgentSpec) -> Option<Diagnosis> {
    let there = |name: &str| install.entries.iter().any(|entry| entry.event == name);
    let missing: Vec<&str> = spec
        .registered
        .iter()
        .map(|row| row.event.as_str())
        .filter(|name| !there(name))
        .collect();
    (!missing.is_empty()).then(|| {
        Diagnosis::warn(
            CHECK_NAME,
            format!("{}: lacks {}", install.file.display(), missing.join(", ")),
            format_install_command(spec, install.scope),
        )
    })
}

fn check_repeated_events(install: &RegistrationStatus, spec: &AgentSpec) -> Option<Diagnosis> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    for entry in &install.entries {
        *times.entry(&entry.event).or_default() += 1;
    }
    let several = times.values().filter(|n| **n > 1).count() as u64;
    (several > 0).then(|| {
        Diagnosis::warn(
            CHECK_NAME,
            format!(
                "{}: {} more than once",
                install.file.display(),
                format_count(several, "event is registered", "events are registered")
            ),
            format_install_command(spec, install.scope),
        )
    })
}

fn check_repeated_installs(found: &[RegistrationStatus], spec: &AgentSpec) -> Option<Diagnosis> {
    let (_, others) = found
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let files: Vec<String> = found.iter().map(|f| f.file.display().to_string()).collect();
    let project = others
        .iter()
        .any(|other| other.scope == InstallScope::Project);
    let fix = if project && found.len() == 2 {
        format!("`remora uninstall {} --scope project`", spec.name)
    } else {
        "take Remora's entries out of all but one of them".to_owned()
    };
    Some(Diagnosis::warn(
        CHECK_NAME,
        format!(
            "installed {} times here, so every event costs a process more: {}",
            format_number(found.len() as u64),
            files.join(", ")
        ),
        fix,
    ))
}

/// Events that come twice are answered once, but each costs two processes.
fn beside_plugin(found: &[RegistrationStatus], switch: &Path, spec: &AgentSpec) -> Diagnosis {
    let file = found.first().map(|f| f.file.display().to_string());
    let scope = found.first().map_or("", |f| match f.scope {
        InstallScope::User => "",
        InstallScope::Project | InstallScope::Local => " --project",
    });
    Diagnosis::warn(
        CHECK_NAME,
        format!(
            "installed as a plugin ({}) and in {}: nothing is injected twice, but every event costs a \
             process more",
            switch.display(),
            file.unwrap_or_default()
        ),
        format!("`remora uninstall {}{scope}`", spec.name),
    )
}

/// Hooks that never brought anything are hooks that the agent does not run.
/// Without any event, what waits in the spool may be the first.
fn check_silent_hooks(
    patient: &DoctorContext,
    spec: &AgentSpec,
    events: Option<u64>,
) -> Option<Diagnosis> {
    let waits = !list_spooled(&patient.paths, 1)
        .unwrap_or_default()
        .is_empty();
    let is_silent = match events? {
        0 => true,
        _ => last_event(patient, spec).is_none(),
    };
    (is_silent && !waits).then(|| {
        Diagnosis::warn(
            CHECK_NAME,
            format!("installed, but no event of {} has ever come", spec.name),
            format!(
                "start a new session of {}: sessions that were open before do not know the hooks",
                spec.name
            ),
        )
    })
}
