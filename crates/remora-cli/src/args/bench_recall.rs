//! The command line of the bench of recall.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::commands::tier::Tier;

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchRecall {
    /// A folder with halves.json and one folder a project; in Remora's repository `fixtures/recall` is meant
    #[arg(long, value_name = "DIR")]
    pub(crate) set: Option<PathBuf>,
    /// Only the projects of this half
    #[arg(long, value_enum, value_name = "HALF")]
    pub(crate) half: Option<Half>,
    /// Which tier of search is asked
    #[arg(long, value_enum, default_value_t = Tier::Full)]
    pub(crate) tier: Tier,
    /// Tell of each situation what was missed and what was wrong
    #[arg(long)]
    pub(crate) verbose: bool,
    /// List what is stored of each project with its labels, and judge nothing
    #[arg(long, conflicts_with_all = ["json", "verbose"])]
    pub(crate) rows: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Thresholds are chosen on one half and reported on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Half {
    /// Where thresholds may be chosen
    Dev,
    /// Where they are reported
    Test,
}

impl Half {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}
