//! `remora install` and `uninstall`: Remora's hooks in an agent's settings, and
//! its MCP server beside them. Whatever becomes of the server, the hooks stay.

mod client;
mod extras;
mod mcp;
mod offer;
mod program;
mod purge;
mod report;
mod self_test;

pub(crate) use mcp::has_client;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use remora_agents::install::file::{self as settings_text, FileError, FileOutcome};
use remora_agents::install::reads::InstallWithReadRules;
use remora_agents::install::{BARE_PROGRAM, InstallRequest, Installable};
use remora_agents::{AgentPaths, AgentSpec, InstallScope};
use remora_files::{MAX_CLIENT_STATE_BYTES, read_text};
use serde_json::{Value, json};

use crate::args::{InstallArgs, UninstallArgs};
use crate::commands::data::DataDir;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use mcp::McpInstaller;
use purge::Purge;
use remora_app::worker_lock::prepare_data_dir;
use report::{print_report, report_to_json};

pub(crate) fn run_install(args: &InstallArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let spec = choose_agent("install", args.agent.as_deref())?;
    let project = args.is_for_project();
    let file = settings_file(&data, spec, project)?;
    check_client_settings(&build_agent_paths(&data, spec)?, spec, project)?;
    let own = program::lasting_path(&data.environment)?;
    let program = named_program(project, &own);
    if args.allow_reads && !spec.install.has_permission_rules {
        return Err(CliError::Usage(format!(
            "--allow-reads: the settings of {} hold no permission rules that Remora knows",
            spec.name
        )));
    }
    let entry = InstallRequest {
        program: &program,
        spec,
    };
    let server = McpInstaller::new(&data, spec, project, &program)?;
    let server = (!args.no_mcp).then_some(server);
    if args.dry_run {
        return run_preview(args, &file, entry, server.as_ref(), out);
    }
    prepare_data_dir(&data.app.paths)?;
    let reads = args.allow_reads
        || (spec.install.has_permission_rules && !args.json && offer::wants_reads(out)?);
    let report = settings_text::install_into_file(
        &file,
        &install_record_path(&data),
        &*build_piece(entry, reads),
    )?;
    let mcp = server.map(|server| server.install());
    let places = build_agent_paths(&data, spec)?;
    // They are the user's own, and would be in the way of others.
    let extras = if project {
        Vec::new()
    } else {
        extras::install_extras(&places, spec)
    };
    let transcripts = offer::count_transcripts(&places, spec);
    let notes = (spec.install.notes)(&places);
    let tried = self_test::run(&own, spec);
    if args.json {
        let mut value = report_to_json(&report);
        value["mcp"] = mcp.map_or_else(mcp::left_out, |mcp| mcp.to_json());
        value["extras"] = extras::extras_to_json(&extras);
        value["transcripts"] = json!(transcripts);
        value["self_test"] = match &tried {
            Ok(()) => json!("passed"),
            Err(why) => json!({ "failed": why }),
        };
        if !notes.is_empty() {
            value["notes"] = json!(notes);
        }
        out.print_json(&value)?;
    } else {
        print_report(out, &report, "was")?;
        let servers = mcp.as_ref().map(|mcp| mcp.file().to_path_buf());
        mcp.map_or(Ok(()), |mcp| mcp.print_report(out))?;
        extras::print_extras(&extras, out)?;
        if project {
            let files = [Some(report.file.as_path()), servers.as_deref()];
            let files: Vec<&Path> = files.into_iter().flatten().collect();
            offer::say_shared(&files, out)?;
        }
        for note in &notes {
            out.print_text(&format!("{}\n", escape_invisible(note)))?;
        }
        match &tried {
            Ok(()) => {
                let ok = out.paint(Style::Green, "ok");
                out.print_text(&format!(
                    "self-test: {ok}: an event was captured, stored and found\n"
                ))?;
                out.print_text("Start a session; `remora status` shows what is remembered.\n")?;
                offer::offer_import(spec, transcripts, out)?;
            }
            Err(why) => {
                let bad = out.paint(Style::Red, "failed");
                out.print_text(&format!(
                    "self-test: {bad}: {why}\n  `remora doctor` says more\n"
                ))?;
            }
        }
    }
    Ok(match tried {
        Ok(()) => Exit::GoOn,
        Err(_) => Exit::Failed,
    })
}

/// Says what an installation would do.
fn run_preview(
    args: &InstallArgs,
    file: &Path,
    entry: InstallRequest<'_>,
    server: Option<&McpInstaller<'_>>,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let (report, text) =
        settings_text::preview_install(file, &*build_piece(entry, args.allow_reads))?;
    let mcp = server.map(McpInstaller::preview);
    if args.json {
        let mut value = report_to_json(&report);
        value["dry_run"] = json!(true);
        value["text"] = json!(text);
        value["mcp"] = mcp.map_or_else(mcp::left_out, |mcp| mcp.to_json());
        out.print_json(&value)?;
    } else {
        print_report(out, &report, "would be")?;
        if report.outcome != FileOutcome::Unchanged {
            out.print_text(&format!("\n{text}\n"))?;
        }
        mcp.map_or(Ok(()), |mcp| mcp.print_report(out))?;
    }
    Ok(Exit::GoOn)
}

pub(crate) fn run_uninstall(args: &UninstallArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let spec = choose_agent("uninstall", args.agent.as_deref())?;
    let project = args.is_for_project();
    if args.purge && project {
        return Err(CliError::Usage(
            "--purge removes the memory of all projects: leave out --scope project, or see \
             `remora prune --project`; nothing was changed"
                .to_owned(),
        ));
    }
    let mut purge = if args.purge {
        let purge = Purge::plan(&data.app.paths)?;
        purge.confirm(args.yes)?;
        Some(purge)
    } else {
        None
    };
    let file = settings_file(&data, spec, project)?;
    let report = settings_text::uninstall_from_file(&file, &install_record_path(&data), spec)?;
    let own = program::lasting_path(&data.environment)?;
    let program = named_program(project, &own);
    let mcp = McpInstaller::new(&data, spec, project, &program)?.uninstall();
    let extras = if project {
        Vec::new()
    } else {
        extras::uninstall_extras(&build_agent_paths(&data, spec)?, spec)
    };
    if let Some(purge) = &mut purge {
        remora_app::worker_lock::stop_worker(&data.app.paths)?;
        // It may have written until now.
        *purge = Purge::plan(&data.app.paths)?;
        purge.remove_data()?;
    }
    if args.json {
        let mut value = report_to_json(&report);
        value["mcp"] = mcp.to_json();
        value["extras"] = extras::extras_to_json(&extras);
        value["purged"] = json!(args.purge);
        value["purge"] = purge.map_or(Value::Null, |purge| purge.to_json());
        out.print_json(&value)?;
    } else {
        print_report(out, &report, "was")?;
        mcp.print_report(out)?;
        extras::print_extras(&extras, out)?;
        if !args.purge && !project {
            offer::say_left(&data, spec, out)?;
        }
        if let Some(purge) = purge {
            purge.print_report(out)?;
        }
    }
    Ok(Exit::GoOn)
}

/// The program as settings name it: what others share says only its name.
fn named_program(project: bool, own: &Path) -> PathBuf {
    if project {
        PathBuf::from(BARE_PROGRAM)
    } else {
        own.to_path_buf()
    }
}

fn build_piece(entry: InstallRequest<'_>, reads: bool) -> Box<dyn Installable + '_> {
    if reads {
        Box::new(InstallWithReadRules(entry))
    } else {
        Box::new(entry)
    }
}

/// The agent that was named. Without a name, the error lists what to type.
fn choose_agent(verb: &str, name: Option<&str>) -> Result<&'static AgentSpec, CliError> {
    if let Some(name) = name {
        return find_agent(name);
    }
    let mut text = "which agent? One of:".to_owned();
    for agent in remora_agents::AGENTS {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n  remora {verb} {}  ({})", agent.name, agent.title);
    }
    Err(CliError::Usage(text))
}

/// An agent that cannot read its settings does not start, and cannot note that
/// the user trusts our hooks. Found out before anything is changed.
fn check_client_settings(
    places: &AgentPaths,
    spec: &AgentSpec,
    project: bool,
) -> Result<(), CliError> {
    let Some(trust) = &spec.install.trust else {
        return Ok(());
    };
    let mut files = vec![(trust.file)(places)];
    if project {
        files.push((spec.mcp.project_file)(places));
    }
    for file in files {
        let text = match read_text(&file, MAX_CLIENT_STATE_BYTES) {
            Err(e) if e.is_missing() => continue,
            Err(e) => {
                let source = e.into();
                return Err(CliError::File { path: file, source });
            }
            Ok(text) => text,
        };
        if let Err(source) = spec.mcp.form.find_server(&text) {
            return Err(FileError::Settings { file, source }.into());
        }
    }
    Ok(())
}

/// The agent of that name, or an error that lists those there are.
pub(crate) fn find_agent(name: &str) -> Result<&'static AgentSpec, CliError> {
    remora_agents::find_agent(name).ok_or_else(|| {
        CliError::Usage(format!(
            "`{name}` is not an agent Remora knows; known: {}",
            remora_agents::known_names().join(", ")
        ))
    })
}

pub(crate) fn build_agent_paths(data: &DataDir, spec: &AgentSpec) -> Result<AgentPaths, CliError> {
    let missing = |what: &str| CliError::Usage(format!("{what} is not known"));
    let environment = &data.environment;
    Ok(AgentPaths {
        home: environment
            .home()
            .ok_or_else(|| missing("the home directory"))?,
        config_dir: environment
            .get(spec.environment.config_variable)
            .map(PathBuf::from),
        root: environment
            .directory()
            .cloned()
            .ok_or_else(|| missing("the current directory"))?,
    })
}

fn settings_file(data: &DataDir, spec: &AgentSpec, project: bool) -> Result<PathBuf, CliError> {
    let (scope, flag) = if project {
        (InstallScope::Project, "project")
    } else {
        (InstallScope::User, "user")
    };
    let file = (spec.install.settings_file)(&build_agent_paths(data, spec)?, scope);
    file.ok_or_else(|| CliError::Usage(format!("{} has no settings for --scope {flag}", spec.name)))
}

/// Where it is written down what installing changed.
fn install_record_path(data: &DataDir) -> PathBuf {
    data.app.paths.home().join("installed.json")
}
