//! `remora memory` on the command line: memories that are files.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::DirectoryArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Save a fact for later sessions
    Add(MemoryAddArgs),
    /// List what is saved
    List(MemoryListArgs),
    /// Show memories in full
    Show(MemoryShowArgs),
    /// Change a memory
    Edit(MemoryEditArgs),
    /// Accept memories that a repository brought along or an agent saved, after reading them
    Accept(MemoryAcceptArgs),
    /// Remove memories
    Rm(MemoryRmArgs),
    /// Verify what memories name against the working tree
    Check(MemoryCheckArgs),
    /// Make the index true again
    Index(MemoryIndexArgs),
    /// Say where memories lie
    Path(MemoryPathArgs),
    /// Propose what to move, join and remove; change nothing
    Review(MemoryReviewArgs),
}

/// Whose memories are meant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct MemoryOwnerArgs {
    /// Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<MemoryScopeArg>,
    /// The same as --scope team
    #[arg(long, conflicts_with_all = ["scope", "user"])]
    pub(crate) team: bool,
    /// The same as --scope user
    #[arg(long, conflicts_with = "scope")]
    pub(crate) user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryScopeArg {
    Project,
    Team,
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryTypeArg {
    /// Who you are: role, skills, preferences
    User,
    /// How you want work to be done
    Feedback,
    /// Who does what, why, and until when
    Project,
    /// Where outside information lives
    Reference,
}

/// Where the project is, and how to answer.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct MemoryLocationArgs {
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,
    /// The home directory [default: $HOME]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryAddArgs {
    /// The fact; `-` reads it from stdin
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// What to call it [default: its first sentence]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// The name of its file [default: made from the title]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// One line that says when it matters
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// What it is about [default: guessed from its words]
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryTypeArg>,
    /// 1 to 5; 1 and 2 are core [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) priority: Option<u8>,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryListArgs {
    /// Only this type
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryTypeArg>,
    /// Only those of priority 1 and 2
    #[arg(long)]
    pub(crate) core: bool,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryShowArgs {
    /// Names or addresses, such as `no-mocks` or `memory://team/no-mocks`
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryEditArgs {
    /// Its name or address
    pub(crate) name: String,
    /// New words; `-` reads them from stdin. Without any flag, $EDITOR opens the file
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// A new title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// A new description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Another type
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<MemoryTypeArg>,
    /// Another priority, 1 to 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) priority: Option<u8>,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryAcceptArgs {
    /// Names or addresses of memories of the repository or of agents
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// All that wait
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryRmArgs {
    /// Names or addresses
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryCheckArgs {
    /// Names or addresses [default: all of the project and the team]
    pub(crate) names: Vec<String>,
    /// Also list what holds, and what cannot be decided
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryIndexArgs {
    /// Only say whether it is true; exit code 1 when it is not
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryPathArgs {
    /// A memory's name or address [default: the folders]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryReviewArgs {
    /// Carry out one proposal, by its number or key, after showing its diff
    #[arg(long, value_name = "N")]
    pub(crate) apply: Option<String>,
    /// With --apply: only show the diff
    #[arg(long, requires = "apply")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}
