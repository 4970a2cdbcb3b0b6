//! The command line of what keeps memory in order.

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, ClapArgs)]
pub(crate) struct Rebuild {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Prune {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Audit {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Export {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// JSON lines
    Jsonl(ImportJsonl),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportJsonl {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Every value, and where it comes from
    Show(ConfigShow),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigShow {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Import a corpus, ask the queries, write what was found
    Retrieval(BenchRetrieval),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchRetrieval {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
