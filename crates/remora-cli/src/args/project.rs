//! The command line of what a project sees of its memory.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use remora_instructions::names::INSTRUCTION_FILE;

use crate::args::ProjectScopeArgs;

/// Days that the tables in folders cover, unless the user says how many.
pub(crate) const DEFAULT_NOTE_DAYS: u32 = 14;

/// The text under the flags of `remora folders`.
fn folders_help() -> String {
    format!(
        "A table of recent work stands in the {INSTRUCTION_FILE} of each folder, between
<remora-activity> tags; what stands outside them is never touched. At most 20
folders, the busiest first, that git knows; never the root of the project, never
hidden or vendored folders. `folders.auto = true` lets the worker keep them up to
date.

Examples:
  remora folders                shows what would be written
  remora folders --write        writes it
  remora folders --clean        takes it out again, byte for byte"
    )
}

#[derive(Debug, ClapArgs)]
#[command(after_help = folders_help())]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct FoldersArgs {
    /// Write the tables; without it they are only shown
    #[arg(long, conflicts_with = "clean")]
    pub(crate) write: bool,
    /// Remove exactly what was written
    #[arg(long)]
    pub(crate) clean: bool,
    /// Change nothing, and show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How many days back
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NOTE_DAYS, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) days: u32,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The text under the flags of `remora permissions`.
const PERMISSIONS_HELP: &str =
    "Nothing is granted and no file is written: the rules are yours to paste.";

#[derive(Debug, ClapArgs)]
#[command(after_help = PERMISSIONS_HELP)]
pub(crate) struct PermissionsArgs {
    #[command(flatten)]
    pub(crate) place: ProjectScopeArgs,
    /// From this time on: 2026-11-15, today, monday, "last week", 3d, 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Propose a rule after so many answers, all of them the same
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) at_least: u32,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The text under the flags of `remora pause`.
const PAUSE_HELP: &str =
    "While it is paused, hooks answer empty and capture nothing: what happens in a
pause is not remembered, also not later. What is stored already stays, and
searching it works. A session that is under way is quiet from its next event.

With --recall, capture goes on and nothing is injected: sessions start clean. For one session
alone, start the agent with REMORA_RECALL=off.

Examples:
  remora pause --for 2h             everywhere, for two hours
  remora pause --project            this project, until it is ended
  remora pause --off --project      ends that
  remora pause --recall --project   sessions of this project start clean
  remora pause --status             what is paused, and until when";

#[derive(Debug, ClapArgs)]
#[command(after_help = PAUSE_HELP)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct PauseArgs {
    /// Pause recall alone: capture goes on, nothing is injected
    #[arg(long, conflicts_with = "status")]
    pub(crate) recall: bool,
    /// End the pause
    #[arg(long)]
    pub(crate) off: bool,
    /// Only the project with this key, name or path [default: this one]
    #[arg(long, value_name = "PROJECT", num_args = 0..=1, default_missing_value = ".", conflicts_with = "session")]
    pub(crate) project: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// End by itself after this time: 30m, 2h, 1d
    #[arg(long = "for", value_name = "TIME", conflicts_with = "off")]
    pub(crate) span: Option<String>,
    /// Show what is paused, and change nothing
    #[arg(long, conflicts_with_all = ["off", "project", "session", "span"])]
    pub(crate) status: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProjectsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProjectsCommand>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectsCommand {
    /// Let this checkout share the memory of its remote, or bring the memory of
    /// an old key under a new one
    Join(ProjectsJoinArgs),
    /// Give a checkout a memory of its own from now on
    Leave(ProjectsLeaveArgs),
}

/// The text under the flags of `remora projects join`.
const PROJECTS_JOIN_HELP: &str =
    "A project is known by its remote, else by its folder. The first checkout of a
remote has its memory; another one has its own until you join it here, because
anyone can write any remote into a repository. Another remote is another key. A
folder that gets its first remote is joined by itself.

Examples:
  remora projects join                                            this checkout, with its remote
  remora projects join ~/work/app2 github.com/acme/app            another one, from anywhere
  remora projects join github.com/acme/old                        an old key, with this project
  remora projects join github.com/acme/old github.com/acme/new    from anywhere";

#[derive(Debug, ClapArgs)]
pub(crate) struct ProjectsLeaveArgs {
    /// The checkout [default: this one]
    pub(crate) folder: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = PROJECTS_JOIN_HELP)]
pub(crate) struct ProjectsJoinArgs {
    /// The key, name or folder that the project had before [default: this
    /// checkout]
    pub(crate) old: Option<String>,
    /// What it has now [default: the project of this folder]
    pub(crate) new: Option<String>,
    /// Say what would go where, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
