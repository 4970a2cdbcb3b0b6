//! `remora instructions` on the command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::DirectoryArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum InstructionsCommand {
    /// List what is in the prompt, in order, with the reason
    Show(InstructionsShowArgs),
    /// Say whether a file is in the prompt, and why or why not (exit 1: there is no such file)
    Why(InstructionsWhyArgs),
    /// Find what should be fixed: dead imports, rules that never match, contradictions (exit 1: an error)
    Lint(InstructionsLintArgs),
    /// Allow this project's files to import files from outside it
    Approve(InstructionsApproveArgs),
    /// Load as a session would, and run hooks for each file
    Load(InstructionsLoadArgs),
}

/// Scene instructions are read from.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Scene and how")]
pub(crate) struct InstructionSessionArgs {
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,
    /// The home directory [default: $HOME]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The directory of managed files [default: the system's own]
    #[arg(long, value_name = "DIR")]
    pub(crate) managed: Option<PathBuf>,
    /// Directories that the session adds
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Which of user, project and local are read, separated by commas
    #[arg(long, value_name = "LIST")]
    pub(crate) setting_sources: Option<String>,
    /// One more settings layer
    #[arg(long, value_name = "FILE_OR_JSON")]
    pub(crate) settings: Option<String>,
    /// As with the client's --bare: nothing is loaded
    #[arg(long)]
    pub(crate) bare: bool,
    /// What this subagent gets, instead of the session itself
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// A file that the session reads; may be given several times, in order
    #[arg(long, value_name = "FILE")]
    pub(crate) read: Vec<PathBuf>,
}

/// How instructions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstructionsFormat {
    /// One line per file, with its cost
    Tree,
    /// The text that a model reads
    Prompt,
    /// Our own system-prompt text, each part with its source
    System,
    /// Everything, for programs
    Json,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InstructionsShowArgs {
    /// How to show it
    #[arg(long, value_enum, default_value_t = InstructionsFormat::Tree)]
    pub(crate) format: InstructionsFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// How many tokens instructions may cost; bars show shares of it
    #[arg(long, value_name = "TOKENS", default_value_t = 20_000)]
    pub(crate) budget: u32,
    #[command(flatten)]
    pub(crate) place: InstructionSessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InstructionsWhyArgs {
    /// The file
    pub(crate) file: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: InstructionSessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InstructionsLintArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: InstructionSessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InstructionsApproveArgs {
    /// Take it back
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Only list what would be allowed
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: InstructionSessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InstructionsLoadArgs {
    /// Run the hooks that listen to `InstructionsLoaded`
    #[arg(long)]
    pub(crate) fire: bool,
    /// Play a compaction, or a cleared cache, after the reads
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) reset: Option<ResetKind>,
    /// Print JSON lines instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: InstructionSessionArgs,
}

/// What drops the loaded files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResetKind {
    /// The conversation was compacted: hooks hear of the files again
    Compact,
    /// A cache was cleared: hooks hear nothing
    Clear,
}
