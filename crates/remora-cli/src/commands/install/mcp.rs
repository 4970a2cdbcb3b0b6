//! The MCP server's part of an installation. A project's list of servers is a
//! file that we edit; the user's may be the client's own book, which only the
//! client writes: we read it, run the client, or say what to run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use remora_agents::install::Installable;
use remora_agents::install::file::{self, FileOutcome};
use remora_agents::{AgentPaths, AgentSpec, McpListWriter};
use remora_client::{InstallTarget, McpInstallations};
use remora_files::{MAX_CLIENT_STATE_BYTES, read_text};
use serde_json::{Value, json};

use super::{build_agent_paths, client, install_record_path, report};
use crate::commands::data::DataDir;
use crate::environment::Environment;
use crate::error::CliError;
use crate::output::{Output, Style, escape_invisible};

/// One installation of the server, about to be made or undone.
pub(super) struct McpInstaller<'a> {
    data: &'a DataDir,
    spec: &'static AgentSpec,
    places: AgentPaths,
    program: &'a Path,
    project: bool,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct McpInstallReport {
    became: McpInstallOutcome,
    /// The list of servers.
    file: PathBuf,
    /// What to run by hand, where we could not.
    command: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum McpInstallOutcome {
    Added,
    Updated,
    Unchanged,
    Removed,
    NotThere,
    /// The client is not there to do it.
    ByHand,
    /// Only said, not done.
    Would,
    Failed(String),
}

impl<'a> McpInstaller<'a> {
    pub(super) fn new(
        data: &'a DataDir,
        spec: &'static AgentSpec,
        project: bool,
        program: &'a Path,
    ) -> Result<Self, CliError> {
        Ok(Self {
            data,
            spec,
            places: build_agent_paths(data, spec)?,
            program,
            project,
        })
    }

    /// Whether the list of servers is a file that we edit.
    fn edits_file(&self) -> bool {
        self.project || self.spec.mcp.user_list_writer == McpListWriter::Remora
    }

    fn server_list_path(&self) -> PathBuf {
        if self.project {
            (self.spec.mcp.project_file)(&self.places)
        } else {
            (self.spec.mcp.user_file)(&self.places)
        }
    }

    fn server_entry(&self) -> Box<dyn Installable + '_> {
        self.spec.mcp.form.server_entry(self.program)
    }

    fn build_report(
        &self,
        became: McpInstallOutcome,
        command: Option<Vec<OsString>>,
    ) -> McpInstallReport {
        McpInstallReport {
            became,
            file: self.server_list_path(),
            command: command.map(|args| format_command(self.spec.mcp.client, &args)),
        }
    }

    /// What [`Self::install`] would do.
    pub(super) fn preview(&self) -> McpInstallReport {
        if self.edits_file() {
            let server = self.server_entry();
            let became = match file::preview_install(&self.server_list_path(), &*server) {
                Ok((report, _)) if report.outcome == FileOutcome::Unchanged => {
                    McpInstallOutcome::Unchanged
                }
                Ok(_) => McpInstallOutcome::Would,
                Err(error) => McpInstallOutcome::Failed(error.to_string()),
            };
            return self.build_report(became, None);
        }
        match self.read_current_server() {
            CurrentServer::Ours => self.build_report(McpInstallOutcome::Unchanged, None),
            CurrentServer::Taken => {
                self.build_report(McpInstallOutcome::Failed(name_taken_message()), None)
            }
            CurrentServer::Old | CurrentServer::Nothing => {
                let add = (self.spec.mcp.add)(self.program);
                self.build_report(McpInstallOutcome::Would, Some(add))
            }
        }
    }

    pub(super) fn install(&self) -> McpInstallReport {
        let mut report = if self.edits_file() {
            self.in_file()
        } else {
            self.by_client()
        };
        if matches!(
            report.became,
            McpInstallOutcome::Added | McpInstallOutcome::Updated | McpInstallOutcome::Unchanged
        ) {
            self.record_installation(&mut report, McpInstallations::add);
        }
        report
    }

    pub(super) fn uninstall(&self) -> McpInstallReport {
        let mut report = if self.edits_file() {
            self.out_of_file()
        } else {
            self.out_by_client()
        };
        if !matches!(report.became, McpInstallOutcome::Failed(_)) {
            self.record_installation(&mut report, McpInstallations::remove);
        }
        report
    }

    /// Hooks read this note to call our tools by name.
    fn record_installation(
        &self,
        report: &mut McpInstallReport,
        change: impl FnOnce(&mut McpInstallations, InstallTarget<'_>),
    ) {
        let whom = if self.project {
            InstallTarget::Project(&self.places.root)
        } else {
            InstallTarget::User
        };
        let mut served =
            McpInstallations::read_for_agent(&self.data.app.paths, self.spec.mcp.note_part);
        let before = served.clone();
        change(&mut served, whom);
        if served != before
            && let Err(e) = served.write(&self.data.app.paths)
        {
            report.became = McpInstallOutcome::Failed(format!("cannot write the note of it: {e}"));
        }
    }

    fn in_file(&self) -> McpInstallReport {
        let server = self.server_entry();
        let report = file::install_into_file(
            &self.server_list_path(),
            &install_record_path(self.data),
            &*server,
        );
        let became = match report {
            Ok(report) if report.outcome == FileOutcome::Unchanged => McpInstallOutcome::Unchanged,
            Ok(report) if report::is_update(&report) => McpInstallOutcome::Updated,
            Ok(_) => McpInstallOutcome::Added,
            Err(error) => McpInstallOutcome::Failed(error.to_string()),
        };
        self.build_report(became, None)
    }

    fn out_of_file(&self) -> McpInstallReport {
        let server = self.server_entry();
        let report = file::uninstall_from_file(
            &self.server_list_path(),
            &install_record_path(self.data),
            &*server,
        );
        let became = match report {
            Ok(report) if report.outcome == FileOutcome::Unchanged => McpInstallOutcome::NotThere,
            Ok(_) => McpInstallOutcome::Removed,
            Err(error) => McpInstallOutcome::Failed(error.to_string()),
        };
        self.build_report(became, None)
    }

    fn by_client(&self) -> McpInstallReport {
        let mcp = &self.spec.mcp;
        let current = self.read_current_server();
        let became = match current {
            CurrentServer::Ours => return self.build_report(McpInstallOutcome::Unchanged, None),
            CurrentServer::Taken => {
                return self.build_report(McpInstallOutcome::Failed(name_taken_message()), None);
            }
            CurrentServer::Old => McpInstallOutcome::Updated,
            CurrentServer::Nothing => McpInstallOutcome::Added,
        };
        let add = (mcp.add)(self.program);
        let Some(client) = client::find_program(&self.data.environment, mcp.client) else {
            return self.build_report(McpInstallOutcome::ByHand, Some(add));
        };
        // The client does not replace a server; the old one has to go first.
        let cleared = match current {
            CurrentServer::Old => client::run_program(&client, &(mcp.remove)()),
            _ => Ok(()),
        };
        match cleared.and_then(|()| client::run_program(&client, &add)) {
            Ok(()) => self.build_report(became, None),
            Err(why) => self.build_report(McpInstallOutcome::Failed(why), Some(add)),
        }
    }

    fn out_by_client(&self) -> McpInstallReport {
        let mcp = &self.spec.mcp;
        if matches!(
            self.read_current_server(),
            CurrentServer::Nothing | CurrentServer::Taken
        ) {
            return self.build_report(McpInstallOutcome::NotThere, None);
        }
        let remove = (mcp.remove)();
        let Some(client) = client::find_program(&self.data.environment, mcp.client) else {
            return self.build_report(McpInstallOutcome::ByHand, Some(remove));
        };
        match client::run_program(&client, &remove) {
            Ok(()) => self.build_report(McpInstallOutcome::Removed, None),
            Err(why) => self.build_report(McpInstallOutcome::Failed(why), Some(remove)),
        }
    }

    /// What the client's own state file says of the user's servers.
    fn read_current_server(&self) -> CurrentServer {
        // A list that cannot be read counts as empty: the client, which is asked next, says
        // what is wrong with it.
        let Ok(text) = read_text(&self.server_list_path(), MAX_CLIENT_STATE_BYTES) else {
            return CurrentServer::Nothing;
        };
        let form = self.spec.mcp.form;
        match form.find_server(&text) {
            Ok(Some(program)) if Path::new(&program) == self.program => CurrentServer::Ours,
            Ok(Some(_)) => CurrentServer::Old,
            _ if form.is_name_taken(&text) => CurrentServer::Taken,
            _ => CurrentServer::Nothing,
        }
    }
}

enum CurrentServer {
    Nothing,
    Ours,
    /// Ours, but it runs another program.
    Old,
    Taken,
}

fn name_taken_message() -> String {
    "a server called `remora` is there that runs something else; rename it and install again"
        .to_owned()
}

/// For programs: that the user did not want it.
pub(super) fn left_out() -> Value {
    json!({ "outcome": "left out" })
}

/// Whether the client is there to be run.
pub(crate) fn has_client(environment: &Environment, spec: &AgentSpec) -> bool {
    client::find_program(environment, spec.mcp.client).is_some()
}

/// A command for the user to paste.
fn format_command(program: &str, args: &[OsString]) -> String {
    let words = args.iter().map(|arg| {
        let arg = arg.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+@%".contains(c);
        if !arg.is_empty() && arg.chars().all(plain) {
            arg.into_owned()
        } else {
            format!("'{}'", arg.replace('\'', r"'\''"))
        }
    });
    let mut all = vec![program.to_owned()];
    all.extend(words);
    all.join(" ")
}

impl McpInstallReport {
    /// The list of servers.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value = json!({ "outcome": self.outcome_name(), "file": self.file });
        if let Some(command) = &self.command {
            value["command"] = json!(command);
        }
        if let McpInstallOutcome::Failed(why) = &self.became {
            value["why"] = json!(why);
        }
        value
    }

    fn outcome_name(&self) -> &'static str {
        match self.became {
            McpInstallOutcome::Added => "added",
            McpInstallOutcome::Updated => "updated",
            McpInstallOutcome::Unchanged => "unchanged",
            McpInstallOutcome::Removed => "removed",
            McpInstallOutcome::NotThere => "not there",
            McpInstallOutcome::ByHand => "by hand",
            McpInstallOutcome::Would => "would be added",
            McpInstallOutcome::Failed(_) => "failed",
        }
    }

    pub(super) fn print_report(&self, out: &mut Output) -> Result<(), CliError> {
        let file = escape_invisible(&self.file.display().to_string());
        let text = match &self.became {
            // Nothing was there, and nothing needs to be said.
            McpInstallOutcome::NotThere => return Ok(()),
            McpInstallOutcome::ByHand => {
                "MCP server: the client is not on the PATH; run this yourself".into()
            }
            McpInstallOutcome::Failed(why) => {
                let bad = out.paint(Style::Yellow, "not changed");
                format!("MCP server: {bad}: {}", escape_invisible(why))
            }
            McpInstallOutcome::Removed => format!("MCP server: removed from {file}"),
            _ => format!("MCP server: {}, in {file}", self.outcome_name()),
        };
        out.print_text(&format!("{text}\n"))?;
        match &self.command {
            Some(command) => out.print_text(&format!("  {command}\n")),
            None => Ok(()),
        }
    }
}
