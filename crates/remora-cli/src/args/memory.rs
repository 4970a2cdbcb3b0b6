//! The command line of what is asked of memory.

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use remora_protocol::record::Kind;

/// Which projects are meant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct Where {
    /// In every project, not only the one of the current directory
    #[arg(long, conflicts_with = "project")]
    pub(crate) all: bool,
    /// In the project with this key, name or path
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

/// Which time is meant.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct Span {
    /// From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday, monday, "last week", 3d, 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Up to this time; a day or week counts to its end
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Search {
    /// The words, in any order; "in quotes" one after the other; none list the newest
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) place: Where,
    /// Only this kind; may be given several times
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds())]
    pub(crate) kind: Vec<String>,
    /// Only what read or changed this file, or a file in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How many results at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Show the best result in full
    #[arg(long)]
    pub(crate) open: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name()))
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// Numbers such as 12 or #12, or the long names of rows
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Sessions {
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How many sessions at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Timeline {
    /// What came before and after this row
    #[arg(long, value_name = "ID")]
    pub(crate) around: Option<String>,
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// How many lines at most; with --around, before and after it each [default: 50, around: 10]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Recap {
    #[command(flatten)]
    pub(crate) place: Where,
    /// From this time on: 2026-11-15, today, monday, "last week", 3d, 2h
    #[arg(long, value_name = "TIME", default_value = "yesterday")]
    pub(crate) since: String,
    /// Up to this time; a day or week counts to its end
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
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
