//! The command lines of the benches of recall.

use std::path::PathBuf;

use super::SearchTierArg;
use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchRecallArgs {
    /// A folder with halves.json and one folder a project; in Remora's repository `fixtures/recall` is meant
    #[arg(long, value_name = "DIR")]
    pub(crate) set: Option<PathBuf>,
    /// Only the projects of this half
    #[arg(long, value_enum, value_name = "HALF")]
    pub(crate) half: Option<BenchHalf>,
    /// Which tier of search is asked
    #[arg(long, value_enum, default_value_t = SearchTierArg::Full)]
    pub(crate) tier: SearchTierArg,
    /// Tell of each situation what was missed and what was wrong
    #[arg(long)]
    pub(crate) verbose: bool,
    /// List what is stored of each project with its labels, and judge nothing
    #[arg(long, conflicts_with = "verbose")]
    pub(crate) rows: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchDecisionsArgs {
    /// Messages of chats, one a line: id, session, seq, timestamp, speaker, text
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: PathBuf,
    /// Tasks, one a line: id, category, text, and in `relevant` the messages of the chats that decided it
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Which tier of search is asked
    #[arg(long, value_enum, default_value_t = SearchTierArg::Full)]
    pub(crate) tier: SearchTierArg,
    /// Show for each task what is injected and what was considered
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchReplayArgs {
    /// A folder with Claude Code transcripts; each folder directly in it is a project
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: PathBuf,
    /// Which tier of search is asked
    #[arg(long, value_enum, default_value_t = SearchTierArg::Full)]
    pub(crate) tier: SearchTierArg,
    /// How many injections at prompts, and how many after failures, are written out to be read
    #[arg(long, value_name = "N", requires = "out")]
    pub(crate) sample: Option<usize>,
    /// Where they go; they hold words of the sessions
    #[arg(long, value_name = "FILE", requires = "sample")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Thresholds are chosen on one half and reported on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum BenchHalf {
    /// Where thresholds may be chosen
    Dev,
    /// Where they are reported
    Test,
}

impl BenchHalf {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}
