//! `remora install` and `uninstall`: Remora's hooks in an agent's settings, and
//! its MCP server beside them. Whatever becomes of the server, the hooks stand.

mod client;
mod mcp;
mod purge;
mod say;
mod self_test;

pub(crate) use mcp::has_client;

use std::path::PathBuf;

use remora_agents::install::Entry;
use remora_agents::install::file::{self as settings_text, Outcome};
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
    let file = settings_file(&data, spec, args.project)?;
    let program = std::env::current_exe()?;
    let entry = Entry {
        program: &program,
        spec,
    };
    let server = Mcp::new(&data, spec, args.project, &program)?;
    let server = (!args.no_mcp).then_some(server);
    if args.dry_run {
        let (report, text) = settings_text::preview(&file, &entry)?;
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
    let report = settings_text::install(&file, &record(&data), &entry)?;
    let mcp = server.map(|server| server.install());
    let tried = self_test::run(&program, spec);
    if args.json {
        let mut value = told(&report);
        value["mcp"] = mcp.map_or_else(mcp::left_out, |mcp| mcp.json());
        value["self_test"] = match &tried {
            Ok(()) => json!("passed"),
            Err(why) => json!({ "failed": why }),
        };
        out.json(&value)?;
    } else {
        say(out, &report, "was")?;
        mcp.map_or(Ok(()), |mcp| mcp.say(out))?;
        match &tried {
            Ok(()) => {
                let ok = out.paint(Style::Green, "ok");
                out.text(&format!(
                    "self-test: {ok}: an event was captured, stored and found\n"
                ))?;
                out.text("Start a session; `remora status` shows what is remembered.\n")?;
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
    if args.purge && args.project {
        return Err(CliError::Usage(
            "--purge removes the memory of all projects: leave out --project, or see \
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
    let file = settings_file(&data, spec, args.project)?;
    let report = settings_text::uninstall(&file, &record(&data), spec)?;
    let program = std::env::current_exe()?;
    let mcp = Mcp::new(&data, spec, args.project, &program)?.uninstall();
    if let Some(purge) = &mut purge {
        worker::end(&data.paths)?;
        // It may have written until now.
        *purge = Purge::plan(&data.paths)?;
        purge.run()?;
    }
    if args.json {
        let mut value = told(&report);
        value["mcp"] = mcp.json();
        value["purged"] = json!(args.purge);
        value["purge"] = purge.map_or(Value::Null, |purge| purge.json());
        out.json(&value)?;
    } else {
        say(out, &report, "was")?;
        mcp.say(out)?;
        if let Some(purge) = purge {
            purge.say(out)?;
        }
    }
    Ok(Exit::GoOn)
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
