//! The files of a labelled set: what sessions did, step by step, and moments
//! with what should and should not be given. Reads and checks their shape only.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::args::BenchHalf;
use crate::error::CliError;

/// Which project is in which half.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Halves {
    dev: Vec<String>,
    test: Vec<String>,
}

/// One step of a session, and the label that others know it by.
#[derive(Debug, Deserialize)]
pub(in crate::commands::bench) struct ScriptLine {
    #[serde(flatten)]
    pub(in crate::commands::bench) step: ScriptStep,
    #[serde(default)]
    pub(in crate::commands::bench) label: Option<String>,
}

/// What happens in a session; each is known by its first field.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(in crate::commands::bench) enum ScriptStep {
    /// A file that is there before anything happens.
    File {
        file: String,
        content: String,
    },
    Session {
        session: String,
        #[serde(deserialize_with = "moment")]
        at: jiff::Timestamp,
        branch: String,
    },
    Prompt {
        prompt: String,
    },
    Read {
        read: String,
    },
    Edit {
        edit: String,
        old: String,
        new: String,
    },
    Write {
        write: String,
        content: String,
    },
    Failed {
        bash: String,
        fails: String,
    },
    Bash {
        bash: String,
        output: String,
    },
    Grep {
        grep: String,
        found: Vec<String>,
    },
    Glob {
        glob: String,
        found: Vec<String>,
    },
    Say {
        say: String,
    },
    /// Saved by the user.
    Memory {
        memory: String,
        text: String,
        priority: u8,
    },
    End {
        #[serde(rename = "end")]
        _end: bool,
    },
}

/// A moment, and the judgement on what may be given then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands::bench) struct Situation {
    pub(in crate::commands::bench) id: String,
    pub(in crate::commands::bench) moment: SituationKind,
    pub(in crate::commands::bench) prompt: Option<String>,
    pub(in crate::commands::bench) intent: Option<String>,
    pub(in crate::commands::bench) file: Option<String>,
    pub(in crate::commands::bench) command: Option<String>,
    pub(in crate::commands::bench) error: Option<String>,
    pub(in crate::commands::bench) summary: Option<String>,
    /// The task that a subagent begins with; without it, what the user asked
    /// for last counts.
    pub(in crate::commands::bench) task: Option<String>,
    /// Which kind of subagent begins.
    #[serde(rename = "agent")]
    _agent: Option<String>,
    /// The stored session that it happens in; a new one when missing.
    pub(in crate::commands::bench) session: Option<String>,
    pub(in crate::commands::bench) branch: Option<String>,
    #[serde(rename = "at", deserialize_with = "moment")]
    _at: jiff::Timestamp,
    #[serde(default)]
    pub(in crate::commands::bench) given_before: Vec<String>,
    #[serde(default)]
    pub(in crate::commands::bench) must: Vec<String>,
    #[serde(default)]
    pub(in crate::commands::bench) may: Vec<String>,
    #[serde(default)]
    pub(in crate::commands::bench) must_not: Vec<String>,
    #[serde(default)]
    pub(in crate::commands::bench) nothing: bool,
    #[serde(rename = "note")]
    _note: String,
}

/// The kinds of moments, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands::bench) enum SituationKind {
    Start,
    Prompt,
    Read,
    Failure,
    Compact,
    Subagent,
}

impl SituationKind {
    pub(in crate::commands::bench) const ALL: [Self; 6] = [
        Self::Start,
        Self::Prompt,
        Self::Read,
        Self::Failure,
        Self::Compact,
        Self::Subagent,
    ];

    pub(in crate::commands::bench) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Prompt => "prompt",
            Self::Read => "read",
            Self::Failure => "failure",
            Self::Compact => "compact",
            Self::Subagent => "subagent",
        }
    }
}

/// One invented project.
#[derive(Debug)]
pub(in crate::commands::bench) struct BenchProject {
    pub(in crate::commands::bench) name: String,
    pub(in crate::commands::bench) half: BenchHalf,
    pub(in crate::commands::bench) steps: Vec<ScriptLine>,
    pub(in crate::commands::bench) situations: Vec<Situation>,
    /// For errors.
    pub(in crate::commands::bench) moments: PathBuf,
    pub(in crate::commands::bench) sessions: PathBuf,
}

/// The projects of a set, those of one half if that is asked for.
pub(in crate::commands::bench) fn read_projects(
    folder: &Path,
    only: Option<BenchHalf>,
) -> Result<Vec<BenchProject>, CliError> {
    let file = folder.join("halves.json");
    let halves: Halves = serde_json::from_str(&text_of(&file)?)
        .map_err(|e| CliError::Usage(format!("{}: {e}", file.display())))?;
    let dev = halves.dev.into_iter().map(|name| (BenchHalf::Dev, name));
    let test = halves.test.into_iter().map(|name| (BenchHalf::Test, name));
    dev.chain(test)
        .filter(|(half, _)| only.is_none_or(|only| only == *half))
        .map(|(half, name)| {
            let sessions = folder.join(&name).join("sessions.jsonl");
            let moments = folder.join(&name).join("moments.jsonl");
            Ok(BenchProject {
                steps: read_json_lines(&sessions)?,
                situations: read_json_lines(&moments)?,
                name,
                half,
                moments,
                sessions,
            })
        })
        .collect()
}

fn read_json_lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, CliError> {
    let text = text_of(file)?;
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| serde_json::from_str(line).map_err(|e| line_error(file, at + 1, &e)))
        .collect()
}

/// An error that names the line.
pub(in crate::commands::bench) fn line_error(
    file: &Path,
    line: usize,
    what: &dyn std::fmt::Display,
) -> CliError {
    CliError::Usage(format!("{}:{line}: {what}", file.display()))
}

fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<jiff::Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(D::Error::custom)
}

fn text_of(file: &Path) -> Result<String, CliError> {
    fs::read_to_string(file).map_err(|source| CliError::File {
        path: file.to_path_buf(),
        source,
    })
}
