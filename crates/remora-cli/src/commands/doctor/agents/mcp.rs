//! Our MCP server: whether it is in the lists that agents read here, runs a
//! program that exists, and is known to the hooks.

use std::path::{Path, PathBuf};

use remora_agents::install::mcp::find;
use remora_agents::{AgentSpec, Places, Scope, Via};
use remora_client::Served;
use remora_files::{MAX_BOOK_BYTES, MAX_SETTINGS_BYTES, read_text};

use super::super::{Check, Level, Patient, quoted};
use super::again;
use crate::commands::install::has_client;

const NAME: &str = "mcp server";

/// A list of servers that is looked at.
struct List {
    file: PathBuf,
    /// Whether we put it there.
    noted: bool,
    /// Whether agents that start here read it.
    here: bool,
    fix: String,
}

pub(super) fn check(patient: &Patient, spec: &'static AgentSpec, places: &Places) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut found = None;
    let lists = lists(&Served::read(&patient.paths), spec, places);
    for list in &lists {
        match entry(list) {
            Err(fault) => checks.push(fault),
            Ok(Some(program)) if list.here => found = found.or(Some((list, program))),
            Ok(_) => {}
        }
    }
    let tools = |via| {
        let prefix = (spec.mcp.prefix)(via);
        format!("its tools are called {prefix}search and so on")
    };
    match found {
        _ if !checks.is_empty() => {}
        Some((list, program)) => {
            let file = list.file.display();
            let message = format!("{file}: runs {program}; {}", tools(Via::Settings));
            checks.push(if list.noted {
                Check::ok(NAME, message)
            } else {
                with_fix(format!("{message}; hooks do not name them yet"), &list.fix)
            });
        }
        None if has_plugin(spec, places) => {
            let message = format!("by the plugin; {}", tools(Via::Plugin));
            checks.push(Check::ok(NAME, message));
        }
        None => {
            let message = "not in the lists of servers: agents cannot search by themselves";
            let mut fix = again(spec, Scope::User);
            if !has_client(&patient.environment, spec) {
                fix = format!("put `{}` on the PATH, then {fix}", spec.mcp.client);
            }
            checks.push(with_fix(message.to_owned(), &fix));
        }
    }
    checks
}

/// Nothing is wrong, but there is something to do for who wants it.
fn with_fix(message: String, fix: &str) -> Check {
    Check {
        level: Level::Ok,
        ..Check::warn(NAME, message, fix)
    }
}

/// The person's list, that of the project here, and those that we wrote to.
fn lists(served: &Served, spec: &'static AgentSpec, places: &Places) -> Vec<List> {
    let mut lists = vec![List {
        file: (spec.mcp.user_file)(places),
        noted: served.for_person(),
        here: true,
        fix: again(spec, Scope::User),
    }];
    let of_project = |root: &Path, noted| {
        let here = root == places.root;
        let command = again(spec, Scope::Project);
        List {
            file: (spec.mcp.project_file)(&Places {
                root: root.to_path_buf(),
                ..places.clone()
            }),
            noted,
            here,
            fix: if here {
                command
            } else {
                format!("`cd {} && {}`", quoted(root), command.replace('`', ""))
            },
        }
    };
    // A project that was removed needs no server.
    let noted = served.projects().filter(|root| root.is_dir());
    lists.extend(noted.map(|root| of_project(root, true)));
    if !lists[1..].iter().any(|list| list.here) {
        lists.push(of_project(&places.root, false));
    }
    lists
}

fn has_plugin(spec: &AgentSpec, places: &Places) -> bool {
    [Scope::User, Scope::Project, Scope::Local]
        .iter()
        .any(|scope| {
            let text = read_text(&(spec.settings_file)(places, *scope), MAX_SETTINGS_BYTES);
            (spec.mcp.has_plugin)(&text.unwrap_or_default())
        })
}

/// The program of our entry, if there is one, or what is wrong.
fn entry(list: &List) -> Result<Option<String>, Check> {
    let text = read_text(&list.file, MAX_BOOK_BYTES).unwrap_or_default();
    let file = list.file.display();
    match find(&text) {
        // A bare name is looked up by whoever runs it.
        Ok(Some(program)) if !program.contains('/') || Path::new(&program).exists() => {
            Ok(Some(program))
        }
        Ok(Some(program)) => Err(Check::fail(
            NAME,
            format!("{file}: runs {program}, which is gone"),
            &list.fix,
        )),
        Ok(None) if list.noted => Err(Check::warn(
            NAME,
            format!("it was installed, but is no longer in {file}"),
            &list.fix,
        )),
        Ok(None) => Ok(None),
        // A list that we never wrote to is not ours to judge.
        Err(_) if !list.noted => Ok(None),
        Err(why) => Err(Check::fail(
            NAME,
            format!("{file}: {why}"),
            "correct the file at that place",
        )),
    }
}
