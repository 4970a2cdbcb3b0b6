//! Correcting what is remembered, on the command line.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::MemoryOwnerArgs;

/// The text under the flags of `remora forget`.
const FORGET_HELP: &str =
    "What is forgotten is deleted: its rows, its words and vectors in the index,
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
#[command(after_help = FORGET_HELP)]
pub(crate) struct ForgetArgs {
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
    pub(crate) whose: MemoryOwnerArgs,
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

/// The text under the flags of `remora wrong`.
const WRONG_HELP: &str =
    "The item stays as a tombstone: it is shown as wrong with its reason, but no
session is told of it again, and saying, importing or rebuilding the same statement does not
bring it back. Summaries lose the lines that quote it when they are injected.

Examples:
  remora wrong 12 --because \"the API moved to port 9090\"
  remora wrong 12 --undo                     it counts again";

#[derive(Debug, ClapArgs)]
#[command(after_help = WRONG_HELP)]
pub(crate) struct WrongArgs {
    /// The item, by its number
    #[arg(value_name = "ITEM")]
    pub(crate) item: String,
    /// Why it is wrong; shown wherever the item would have come
    #[arg(long, value_name = "TEXT", conflicts_with = "undo")]
    pub(crate) because: Option<String>,
    /// Take it back
    #[arg(long)]
    pub(crate) undo: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The text under the flags of `remora edit`.
const EDIT_HELP: &str =
    "Your words take the place of the extracted ones: they are searched, embedded
and injected, also after a rebuild. Without --title and --text, $VISUAL or $EDITOR opens with
the title in the first line and the text below.

Examples:
  remora edit 12 --title \"Use port 9090 for the API\"
  remora edit 12                             in your editor
  remora edit 12 --undo                      the extracted words again";

#[derive(Debug, ClapArgs)]
#[command(after_help = EDIT_HELP)]
pub(crate) struct EditArgs {
    /// The item, by its number
    #[arg(value_name = "ITEM")]
    pub(crate) item: String,
    /// The new title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// The new text
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Bring the extracted words back
    #[arg(long, conflicts_with_all = ["title", "text"])]
    pub(crate) undo: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The text under the flags of `remora pin`.
const PIN_HELP: &str = "A pinned item is the first thing that every session of its project is told,
within recall.start_tokens, and it is never pruned. Without an item, pins are listed.

Examples:
  remora pin 12                              every session begins with it
  remora pin 12 --off                        no longer
  remora pin                                 what is pinned in this project";

#[derive(Debug, ClapArgs)]
#[command(after_help = PIN_HELP)]
pub(crate) struct PinArgs {
    /// The item, by its number
    #[arg(value_name = "ITEM")]
    pub(crate) item: Option<String>,
    /// End the pin
    #[arg(long, requires = "item")]
    pub(crate) off: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
