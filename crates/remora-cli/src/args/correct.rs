//! Correcting what is remembered, on the command line.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::Whose;

/// What stands under the flags of `remora forget`.
const FORGET: &str = "What is forgotten is deleted: its rows, its words and vectors in the index,
its events in the archive, dead letters, and summaries that quote it. It does not come back
by a rebuild or an import. A record stays that something was deleted, without its content.

Examples:
  remora forget #12                          one item, with the event it was made from
  remora forget --matching \"staging token\"   everything with these words in this project
  remora forget --session 3f2a               a whole session
  remora forget --project github.com/acme/x  everything of a project
  remora forget no-mocks                     a saved memory, by its name";

#[derive(Debug, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
#[command(after_help = FORGET)]
pub(crate) struct Forget {
    /// Items (#12), or names or addresses of saved memories
    #[arg(value_name = "ITEM", required_unless_present_any = ["session", "project", "matching"])]
    pub(crate) names: Vec<String>,
    /// Everything of this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["names", "project", "matching"])]
    pub(crate) session: Option<String>,
    /// Everything of the project with this key, name or path; with --matching, only in it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Everything with all of these words
    #[arg(long, value_name = "WORDS", conflicts_with = "names")]
    pub(crate) matching: Option<String>,
    /// With --matching: in all projects
    #[arg(long, requires = "matching", conflicts_with = "project")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// The directory that a saved memory is of [default: the current one]
    #[arg(long, value_name = "DIR", conflicts_with = "project")]
    pub(crate) cwd: Option<PathBuf>,
    /// The home directory that a saved memory is in [default: $HOME]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
