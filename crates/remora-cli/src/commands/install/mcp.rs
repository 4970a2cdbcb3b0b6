//! The MCP server's part of an installation. A project's list of servers is a
//! file that we edit; a person's is the client's own book, which only the client
//! writes: we read it, run the client, or say what to run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use remora_agents::install::file::{self, Outcome};
use remora_agents::install::mcp::{Server, find, is_taken};
use remora_agents::{AgentSpec, Places};
use remora_client::{For, Served};
use remora_files::{MAX_BOOK_BYTES, read_text};
use serde_json::{Value, json};

use super::{client, places, record, say};
use crate::commands::data::Data;
use crate::environment::Environment;
use crate::error::CliError;
use crate::output::{Output, Style, visible};

/// One installation of the server, about to be made or undone.
pub(super) struct Mcp<'a> {
    data: &'a Data,
    spec: &'static AgentSpec,
    places: Places,
    program: &'a Path,
    project: bool,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    became: Became,
    /// The list of servers.
    file: PathBuf,
    /// What to run by hand, where we could not.
    command: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Became {
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

impl<'a> Mcp<'a> {
    pub(super) fn new(
        data: &'a Data,
        spec: &'static AgentSpec,
        project: bool,
        program: &'a Path,
    ) -> Result<Self, CliError> {
        Ok(Self {
            data,
            spec,
            places: places(data, spec)?,
            program,
            project,
        })
    }

    fn file(&self) -> PathBuf {
        if self.project {
            (self.spec.mcp.project_file)(&self.places)
        } else {
            (self.spec.mcp.user_file)(&self.places)
        }
    }

    fn told(&self, became: Became, command: Option<Vec<OsString>>) -> Told {
        Told {
            became,
            file: self.file(),
            command: command.map(|args| line(self.spec.mcp.client, &args)),
        }
    }

    /// What [`Self::install`] would do.
    pub(super) fn preview(&self) -> Told {
        if self.project {
            let server = Server {
                program: self.program,
            };
            let became = match file::preview(&self.file(), &server) {
                Ok((report, _)) if report.outcome == Outcome::Unchanged => Became::Unchanged,
                Ok(_) => Became::Would,
                Err(error) => Became::Failed(error.to_string()),
            };
            return self.told(became, None);
        }
        match self.current() {
            Current::Ours => self.told(Became::Unchanged, None),
            Current::Taken => self.told(Became::Failed(taken()), None),
            Current::Old | Current::Nothing => {
                let add = (self.spec.mcp.add)(self.program);
                self.told(Became::Would, Some(add))
            }
        }
    }

    pub(super) fn install(&self) -> Told {
        let mut told = if self.project {
            self.in_file()
        } else {
            self.by_client()
        };
        if matches!(
            told.became,
            Became::Added | Became::Updated | Became::Unchanged
        ) {
            self.note(&mut told, Served::add);
        }
        told
    }

    pub(super) fn uninstall(&self) -> Told {
        let mut told = if self.project {
            self.out_of_file()
        } else {
            self.out_by_client()
        };
        if !matches!(told.became, Became::Failed(_)) {
            self.note(&mut told, Served::remove);
        }
        told
    }

    /// Hooks read this note to call our tools by name.
    fn note(&self, told: &mut Told, change: impl FnOnce(&mut Served, For<'_>)) {
        let whom = if self.project {
            For::Project(&self.places.root)
        } else {
            For::Person
        };
        let mut served = Served::read(&self.data.paths);
        let before = served.clone();
        change(&mut served, whom);
        if served != before
            && let Err(e) = served.write(&self.data.paths)
        {
            told.became = Became::Failed(format!("cannot write the note of it: {e}"));
        }
    }

    fn in_file(&self) -> Told {
        let server = Server {
            program: self.program,
        };
        let report = file::install(&self.file(), &record(self.data), &server);
        let became = match report {
            Ok(report) if report.outcome == Outcome::Unchanged => Became::Unchanged,
            Ok(report) if say::is_update(&report) => Became::Updated,
            Ok(_) => Became::Added,
            Err(error) => Became::Failed(error.to_string()),
        };
        self.told(became, None)
    }

    fn out_of_file(&self) -> Told {
        let server = Server {
            program: self.program,
        };
        let report = file::uninstall(&self.file(), &record(self.data), &server);
        let became = match report {
            Ok(report) if report.outcome == Outcome::Unchanged => Became::NotThere,
            Ok(_) => Became::Removed,
            Err(error) => Became::Failed(error.to_string()),
        };
        self.told(became, None)
    }

    fn by_client(&self) -> Told {
        let mcp = &self.spec.mcp;
        let current = self.current();
        let became = match current {
            Current::Ours => return self.told(Became::Unchanged, None),
            Current::Taken => return self.told(Became::Failed(taken()), None),
            Current::Old => Became::Updated,
            Current::Nothing => Became::Added,
        };
        let add = (mcp.add)(self.program);
        let Some(client) = client::find(&self.data.environment, mcp.client) else {
            return self.told(Became::ByHand, Some(add));
        };
        // The client does not replace a server; the old one has to go first.
        let cleared = match current {
            Current::Old => client::run(&client, &(mcp.remove)()),
            _ => Ok(()),
        };
        match cleared.and_then(|()| client::run(&client, &add)) {
            Ok(()) => self.told(became, None),
            Err(why) => self.told(Became::Failed(why), Some(add)),
        }
    }

    fn out_by_client(&self) -> Told {
        let mcp = &self.spec.mcp;
        if matches!(self.current(), Current::Nothing | Current::Taken) {
            return self.told(Became::NotThere, None);
        }
        let remove = (mcp.remove)();
        let Some(client) = client::find(&self.data.environment, mcp.client) else {
            return self.told(Became::ByHand, Some(remove));
        };
        match client::run(&client, &remove) {
            Ok(()) => self.told(Became::Removed, None),
            Err(why) => self.told(Became::Failed(why), Some(remove)),
        }
    }

    /// What the client's own book says of the person's servers.
    fn current(&self) -> Current {
        let Ok(text) = read_text(&self.file(), MAX_BOOK_BYTES) else {
            return Current::Nothing;
        };
        match find(&text) {
            Ok(Some(program)) if Path::new(&program) == self.program => Current::Ours,
            Ok(Some(_)) => Current::Old,
            _ if is_taken(&text) => Current::Taken,
            _ => Current::Nothing,
        }
    }
}

enum Current {
    Nothing,
    Ours,
    /// Ours, but it runs another program.
    Old,
    Taken,
}

fn taken() -> String {
    "a server called `remora` is there that runs something else; rename it and install again"
        .to_owned()
}

/// For programs: that nobody wanted it.
pub(super) fn left_out() -> Value {
    json!({ "outcome": "left out" })
}

/// Whether the client is there to be run.
pub(crate) fn has_client(environment: &Environment, spec: &AgentSpec) -> bool {
    client::find(environment, spec.mcp.client).is_some()
}

/// A command for a person to paste.
fn line(program: &str, args: &[OsString]) -> String {
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

impl Told {
    /// The list of servers.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn json(&self) -> Value {
        let mut value = json!({ "outcome": self.word(), "file": self.file });
        if let Some(command) = &self.command {
            value["command"] = json!(command);
        }
        if let Became::Failed(why) = &self.became {
            value["why"] = json!(why);
        }
        value
    }

    fn word(&self) -> &'static str {
        match self.became {
            Became::Added => "added",
            Became::Updated => "updated",
            Became::Unchanged => "unchanged",
            Became::Removed => "removed",
            Became::NotThere => "not there",
            Became::ByHand => "by hand",
            Became::Would => "would be added",
            Became::Failed(_) => "failed",
        }
    }

    pub(super) fn say(&self, out: &mut Output) -> Result<(), CliError> {
        let file = visible(&self.file.display().to_string());
        let text = match &self.became {
            // Nothing was there, and nothing needs to be said.
            Became::NotThere => return Ok(()),
            Became::ByHand => "MCP server: the client is not on the PATH; run this yourself".into(),
            Became::Failed(why) => {
                let bad = out.paint(Style::Yellow, "not changed");
                format!("MCP server: {bad}: {}", visible(why))
            }
            Became::Removed => format!("MCP server: removed from {file}"),
            _ => format!("MCP server: {}, in {file}", self.word()),
        };
        out.text(&format!("{text}\n"))?;
        match &self.command {
            Some(command) => out.text(&format!("  {command}\n")),
            None => Ok(()),
        }
    }
}
