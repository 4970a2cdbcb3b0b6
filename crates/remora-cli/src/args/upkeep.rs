//! The command line of what keeps memory in order.

use std::path::PathBuf;

use super::SearchTierArg;
use clap::{Args as ClapArgs, Subcommand};

use super::{BenchDecisionsArgs, BenchRecallArgs, BenchReplayArgs};

#[derive(Debug, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct RebuildArgs {
    /// Embed all items again, for search, and leave the items as they are
    #[arg(long)]
    pub(crate) vectors: bool,
    /// With --vectors: only items that still wait for it
    #[arg(long, requires = "vectors")]
    pub(crate) missing: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PruneArgs {
    /// Remove what is older, such as `90d`, `12w` or `2026-01-31` [default: retention.days]
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: Option<String>,
    /// Remove the oldest until the database is smaller, in megabytes [default: `retention.max_mb`]
    #[arg(long, value_name = "N")]
    pub(crate) max_mb: Option<u64>,
    /// Only in the project with this key, name or path
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Also decisions, preferences, corrections, fixes and memories
    #[arg(long)]
    pub(crate) everything: bool,
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AuditArgs {
    /// Take out what is found
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// Also the raw events of the archive, redacted
    #[arg(long)]
    pub(crate) events: bool,
    /// Only the project with this key, name or path
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only what is newer, such as `7d`, `yesterday` or `2026-01-31`
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every value, where it comes from and what it means
    Show(ConfigShowArgs),
    /// Change a value
    Set(ConfigSetArgs),
    /// Go back to the default
    Unset(ConfigUnsetArgs),
    /// Where the file is
    Path(ConfigShowArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigShowArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigSetArgs {
    /// The key, such as `worker.idle_minutes`; `redact.patterns.NAME` adds one pattern
    pub(crate) key: String,
    /// The value; a list takes several
    #[arg(required = true)]
    pub(crate) value: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigUnsetArgs {
    /// The key
    pub(crate) key: String,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Import a corpus, ask the queries, write what was found
    Retrieval(BenchRetrievalArgs),
    /// Play situations, and compare what would be injected with what should be
    Recall(BenchRecallArgs),
    /// Play chats in which something was decided, and see whether a task gets the decision
    Decisions(BenchDecisionsArgs),
    /// Play past sessions in the order of time, and see whether what would have been injected was of use
    Replay(BenchReplayArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchRetrievalArgs {
    /// A folder with corpus.jsonl and queries.jsonl; may be given several times
    #[arg(long, value_name = "DIR", required_unless_present = "corpus")]
    pub(crate) set: Vec<PathBuf>,
    /// Messages, one a line: id, conv, session, seq, timestamp, speaker, text; as often as --queries
    #[arg(long, value_name = "FILE", requires = "queries")]
    pub(crate) corpus: Vec<PathBuf>,
    /// Queries, one a line: id, conv, category, text, relevant
    #[arg(long, value_name = "FILE", requires = "corpus")]
    pub(crate) queries: Vec<PathBuf>,
    /// Which tier of search is asked
    #[arg(long, value_enum, default_value_t = SearchTierArg::Full)]
    pub(crate) tier: SearchTierArg,
    /// Ask again with each part of the ranking switched off
    #[arg(long)]
    pub(crate) ablate: bool,
    /// Where results go, one line a query: id, results, ms; with several sets a folder
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
