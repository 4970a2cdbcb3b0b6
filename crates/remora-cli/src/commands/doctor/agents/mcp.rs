//! Our MCP server: whether it is in the lists that agents read here, runs a
//! program that exists, and is known to the hooks.

use std::path::{Path, PathBuf};

use remora_agents::{AgentPaths, AgentSpec, InstallScope, McpListWriter, McpOrigin};
use remora_client::McpInstallations;
use remora_files::{MAX_CLIENT_STATE_BYTES, MAX_SETTINGS_BYTES, read_text};

use super::super::{Diagnosis, DiagnosisLevel, DoctorContext, quote_path};
use super::{SCOPES, format_install_command};
use crate::commands::install::has_client;

const CHECK_NAME: &str = "mcp server";

/// A list of servers that is checked.
struct ServerList {
    file: PathBuf,
    /// Whether we put it there.
    noted: bool,
    /// Whether agents that start here read it.
    here: bool,
    fix: String,
}

pub(super) fn check_mcp_server(
    patient: &DoctorContext,
    spec: &'static AgentSpec,
    places: &AgentPaths,
) -> Vec<Diagnosis> {
    let mut checks = Vec::new();
    let mut found = None;
    let lists = collect_server_lists(
        &McpInstallations::read_for_agent(&patient.paths, spec.mcp.note_part),
        spec,
        places,
    );
    for list in &lists {
        match check_entry(spec, list) {
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
            let message = format!("{file}: runs {program}; {}", tools(McpOrigin::Settings));
            checks.push(if list.noted {
                Diagnosis::ok(CHECK_NAME, message)
            } else {
                with_fix(format!("{message}; hooks do not name them yet"), &list.fix)
            });
        }
        None if has_plugin(spec, places) => {
            let message = format!("by the plugin; {}", tools(McpOrigin::Plugin));
            checks.push(Diagnosis::ok(CHECK_NAME, message));
        }
        None => {
            let message = "not in the lists of servers: agents cannot search by themselves";
            let mut fix = format_install_command(spec, InstallScope::User);
            let by_agent = spec.mcp.user_list_writer == McpListWriter::Agent;
            if by_agent && !has_client(&patient.environment, spec) {
                fix = format!("put `{}` on the PATH, then {fix}", spec.mcp.client);
            }
            checks.push(with_fix(message.to_owned(), &fix));
        }
    }
    checks
}

/// Nothing is wrong, but there is something to do for who wants it.
fn with_fix(message: String, fix: &str) -> Diagnosis {
    Diagnosis {
        level: DiagnosisLevel::Ok,
        ..Diagnosis::warn(CHECK_NAME, message, fix)
    }
}

/// The user's list, that of the project here, and those that we wrote to.
fn collect_server_lists(
    served: &McpInstallations,
    spec: &'static AgentSpec,
    places: &AgentPaths,
) -> Vec<ServerList> {
    let mut lists = vec![ServerList {
        file: (spec.mcp.user_file)(places),
        noted: served.is_for_user(),
        here: true,
        fix: format_install_command(spec, InstallScope::User),
    }];
    let of_project = |root: &Path, noted| {
        let here = root == places.root;
        let command = format_install_command(spec, InstallScope::Project);
        ServerList {
            file: (spec.mcp.project_file)(&AgentPaths {
                root: root.to_path_buf(),
                ..places.clone()
            }),
            noted,
            here,
            fix: if here {
                command
            } else {
                format!("`cd {} && {}`", quote_path(root), command.replace('`', ""))
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

fn has_plugin(spec: &AgentSpec, places: &AgentPaths) -> bool {
    SCOPES.iter().any(|scope| {
        let file = (spec.install.settings_file)(places, *scope);
        let text = file.and_then(|file| read_text(&file, MAX_SETTINGS_BYTES).ok());
        (spec.mcp.has_plugin)(&text.unwrap_or_default())
    })
}

/// The program of our entry, if there is one, or what is wrong.
fn check_entry(spec: &AgentSpec, list: &ServerList) -> Result<Option<String>, Diagnosis> {
    let text = read_text(&list.file, MAX_CLIENT_STATE_BYTES).unwrap_or_default();
    let file = list.file.display();
    match spec.mcp.form.find_server(&text) {
        // A bare name is looked up by whoever runs it.
        Ok(Some(program)) if !program.contains('/') || Path::new(&program).exists() => {
            Ok(Some(program))
        }
        Ok(Some(program)) => Err(Diagnosis::fail(
            CHECK_NAME,
            format!("{file}: runs {program}, which is gone"),
            &list.fix,
        )),
        Ok(None) if list.noted => Err(Diagnosis::warn(
            CHECK_NAME,
            format!("it was installed, but is no longer in {file}"),
            &list.fix,
        )),
        Ok(None) => Ok(None),
        // A list that we never wrote to is not ours to judge.
        Err(_) if !list.noted => Ok(None),
        Err(why) => Err(Diagnosis::fail(
            CHECK_NAME,
            format!("{file}: {why}"),
            "correct the file at that place",
        )),
    }
}
