//! The command line of the ledger of injections.

use clap::Args as ClapArgs;

use super::{ProjectScopeArgs, TimeSpanArgs};

#[derive(Debug, ClapArgs)]
pub(crate) struct LedgerArgs {
    #[command(flatten)]
    pub(crate) place: ProjectScopeArgs,
    /// Only this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) span: TimeSpanArgs,
    /// How many of the last lines are shown; the sums are those of all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
