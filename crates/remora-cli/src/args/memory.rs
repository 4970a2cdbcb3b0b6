//! The command line of what is asked of memory.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct Search {
    /// The words, in any order
    pub(crate) words: Vec<String>,
    /// In every project, not only this one
    #[arg(long, conflicts_with = "project")]
    pub(crate) all: bool,
    /// In the project with this key or name
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// How many results at most
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Sessions {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Timeline {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Recap {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Status {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
