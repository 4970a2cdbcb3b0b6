//! Our MCP server where it was installed: that it is still there, and runs a
//! program that exists. What we did not install is not looked for.

use std::fs;
use std::path::Path;

use remora_agents::install::mcp::find;
use remora_agents::{AgentSpec, Places, Scope};
use remora_client::Served;

use super::super::{Check, Patient, quoted};
use super::again;
use crate::tools;

const NAME: &str = "mcp server";

pub(super) fn check(patient: &Patient, spec: &'static AgentSpec, places: &Places) -> Vec<Check> {
    let served = Served::read(&patient.paths);
    let mut checks = Vec::new();
    if served.for_person() {
        let file = (spec.mcp.user_file)(places);
        checks.extend(entry(&file, &again(spec, Scope::User)));
    }
    // A project that was removed needs no server.
    for root in served.projects().filter(|root| root.is_dir()) {
        let file = (spec.mcp.project_file)(&Places {
            root: root.to_path_buf(),
            ..places.clone()
        });
        let fix = if root == places.root {
            again(spec, Scope::Project)
        } else {
            let command = again(spec, Scope::Project).replace('`', "");
            format!("`cd {} && {command}`", quoted(root))
        };
        checks.extend(entry(&file, &fix));
    }
    let prefix = tools::prefix(&patient.environment, &patient.paths, spec, &places.root);
    if let (true, Some(prefix)) = (checks.is_empty(), prefix) {
        let message = format!("agents here have it; its tools are called {prefix}search and so on");
        checks.push(Check::ok(NAME, message));
    }
    checks
}

/// What is wrong with our entry in a list of servers.
fn entry(file: &Path, fix: &str) -> Option<Check> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let shown = file.display();
    match find(&text) {
        Ok(Some(program)) if Path::new(&program).exists() => None,
        Ok(Some(program)) => Some(Check::fail(
            NAME,
            format!("{shown}: runs {program}, which is gone"),
            fix,
        )),
        Ok(None) => Some(Check::warn(
            NAME,
            format!("it was installed, but is no longer in {shown}"),
            fix,
        )),
        Err(why) => Some(Check::fail(
            NAME,
            format!("{shown}: {why}"),
            "correct the file at that place",
        )),
    }
}
