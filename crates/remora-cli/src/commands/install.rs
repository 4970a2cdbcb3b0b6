//! `remora install` and `uninstall`: Remora's hooks in an agent's settings, and
//! its MCP server beside them. Whatever becomes of the server, the hooks stand.

mod client;
mod extras;
mod mcp;
mod offer;
mod program;
mod purge;
mod say;
mod self_test;

pub(crate) use mcp::has_client;

use std::path::{Path, PathBuf};

use remora_agents::install::file::{self as settings_text, Outcome};
use remora_agents::install::reads::WithReads;
use remora_agents::install::{BARE_PROGRAM, Entry, Piece};
use remora_agents::{AgentSpec, Places, Scope};
use serde_json::{Value, json};

use crate::args::{Install, Uninstall};
use crate::commands::data::Data;
use crate::commands::worker;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use mcp::Mcp;
use purge::Purge;
use say::{say, told};

pub(crate) fn install(args: &Install, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let spec = agent(&args.agent)?;
    let project = args.is_for_project();
    let file = settings_file(&data, spec, project)?;
    let own = program::lasting_path(&data.environment)?;
    let program = named_program(project, &own);
    let entry = Entry {
        program: &program,
        spec,
    };
    let server = Mcp::new(&data, spec, project, &program)?;
    let server = (!args.no_mcp).then_some(server);
    if args.dry_run {
        let (report, text) = settings_text::preview(&file, &*piece(entry, args.allow_reads))?;
        let mcp = server.map(|server| server.preview());
        if args.json {
            let mut value = told(&report);
            value["dry_run"] = json!(true);
            value["text"] = json!(text);
            value["mcp"] = mcp.map_or_else(mcp::left_out, |mcp| mcp.json());
            out.json(&value)?;
        } else {
            say(out, &report, "would be")?;
            if report.outcome != Outcome::Unchanged {
                out.text(&format!("\n{text}\n"))?;
            }
            mcp.map_or(Ok(()), |mcp| mcp.say(out))?;
        }
        return Ok(Exit::GoOn);
    }
    data.paths.prepare().map_err(|source| CliError::File {
        path: data.paths.home().to_path_buf(),
        source,
    })?;
    let reads = args.allow_reads || (!args.json && offer::wants_reads(out)?);
    let report = settings_text::install(&file, &record(&data), &*piece(entry, reads))?;
    let mcp = server.map(|server| server.install());
    let places = places(&data, spec)?;
    // They are the user's own, and would be in the way of others.
    let extras = if project {
        Vec::new()
    } else {
        extras::install(&places, spec)
    };
    let transcripts = offer::count_transcripts(&places, spec);
    let tried = self_test::run(&own, spec);
    if args.json {
        let mut value = told(&report);
        value["mcp"] = mcp.map_or_else(mcp::left_out, |mcp| mcp.json());
        value["extras"] = extras::json(&extras);
        value["transcripts"] = json!(transcripts);
        value["self_test"] = match &tried {
            Ok(()) => json!("passed"),
            Err(why) => json!({ "failed": why }),
        };
        out.json(&value)?;
    } else {
        say(out, &report, "was")?;
        let servers = mcp.as_ref().map(|mcp| mcp.file().to_path_buf());
        mcp.map_or(Ok(()), |mcp| mcp.say(out))?;
        extras::say(&extras, out)?;
        if project {
            let files = [Some(report.file.as_path()), servers.as_deref()];
            let files: Vec<&Path> = files.into_iter().flatten().collect();
            offer::say_shared(&files, out)?;
        }
        match &tried {
            Ok(()) => {
                let ok = out.paint(Style::Green, "ok");
                out.text(&format!(
                    "self-test: {ok}: an event was captured, stored and found\n"
                ))?;
                out.text("Start a session; `remora status` shows what is remembered.\n")?;
                offer::offer_import(spec.name, transcripts, out)?;
            }
            Err(why) => {
                let bad = out.paint(Style::Red, "failed");
                out.text(&format!(
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

pub(crate) fn uninstall(args: &Uninstall, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let spec = agent(&args.agent)?;
    let project = args.is_for_project();
    if args.purge && project {
        return Err(CliError::Usage(
            "--purge removes the memory of all projects: leave out --scope project, or see \
             `remora prune --project`; nothing was changed"
                .to_owned(),
        ));
    }
    let mut purge = if args.purge {
        let purge = Purge::plan(&data.paths)?;
        purge.confirm(args.yes)?;
        Some(purge)
    } else {
        None
    };
    let file = settings_file(&data, spec, project)?;
    let report = settings_text::uninstall(&file, &record(&data), spec)?;
    let own = program::lasting_path(&data.environment)?;
    let program = named_program(project, &own);
    let mcp = Mcp::new(&data, spec, project, &program)?.uninstall();
    let extras = if project {
        Vec::new()
    } else {
        extras::uninstall(&places(&data, spec)?, spec)
    };
    if let Some(purge) = &mut purge {
        worker::end(&data.paths)?;
        // It may have written until now.
        *purge = Purge::plan(&data.paths)?;
        purge.run()?;
    }
    if args.json {
        let mut value = told(&report);
        value["mcp"] = mcp.json();
        value["extras"] = extras::json(&extras);
        value["purged"] = json!(args.purge);
        value["purge"] = purge.map_or(Value::Null, |purge| purge.json());
        out.json(&value)?;
    } else {
        say(out, &report, "was")?;
        mcp.say(out)?;
        extras::say(&extras, out)?;
        if !args.purge && !project {
            offer::say_left(&data, out)?;
        }
        if let Some(purge) = purge {
            purge.say(out)?;
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

fn piece(entry: Entry<'_>, reads: bool) -> Box<dyn Piece + '_> {
    if reads {
        Box::new(WithReads(entry))
    } else {
        Box::new(entry)
    }
}

/// The agent of that name, or an error that lists those there are.
pub(crate) fn agent(name: &str) -> Result<&'static AgentSpec, CliError> {
    remora_agents::find(name).ok_or_else(|| {
        CliError::Usage(format!(
            "`{name}` is not an agent Remora knows; known: {}",
            remora_agents::known_names().join(", ")
        ))
    })
}

pub(crate) fn places(data: &Data, spec: &AgentSpec) -> Result<Places, CliError> {
    let missing = |what: &str| CliError::Usage(format!("{what} is not known"));
    let environment = &data.environment;
    Ok(Places {
        home: environment
            .home()
            .ok_or_else(|| missing("the home directory"))?,
        config_dir: environment.get(spec.config_variable).map(PathBuf::from),
        root: environment
            .directory()
            .cloned()
            .ok_or_else(|| missing("the current directory"))?,
    })
}

fn settings_file(data: &Data, spec: &AgentSpec, project: bool) -> Result<PathBuf, CliError> {
    let scope = if project { Scope::Project } else { Scope::User };
    Ok((spec.settings_file)(&places(data, spec)?, scope))
}

/// Where it is written down what installing changed.
fn record(data: &Data) -> PathBuf {
    data.paths.home().join("installed.json")
}
