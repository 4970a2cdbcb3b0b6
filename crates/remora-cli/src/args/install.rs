//! `remora install` and `uninstall`.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args as ClapArgs, Command, ValueEnum};

/// The verbs of this file.
pub(crate) const INSTALL_VERBS: [&str; 2] = ["install", "uninstall"];
/// A scope that agents have and Remora has not.
const LOCAL_FLAG: &str = "local";

/// Understands `--local`, to say what to use instead. It is no field of the
/// arguments, so that no completion offers it.
pub(crate) fn accept_local_flag(command: Command) -> Command {
    let flag = || {
        Arg::new(LOCAL_FLAG)
            .long(LOCAL_FLAG)
            .hide(true)
            .action(ArgAction::SetTrue)
    };
    INSTALL_VERBS.iter().fold(command, |command, verb| {
        command.mut_subcommand(verb, |verb| verb.arg(flag()))
    })
}

pub(crate) fn refuse_local_flag(matches: &ArgMatches) -> Result<(), clap::Error> {
    match matches.subcommand() {
        Some((verb, args)) if INSTALL_VERBS.contains(&verb) && args.get_flag(LOCAL_FLAG) => {
            Err(clap::Error::raw(
                ErrorKind::UnknownArgument,
                "--local: there is no such scope. Leave it out to use your own settings, for all \
                 your projects, or say --project for the settings that a project shares; what is \
                 remembered stays on this machine in both cases\n",
            ))
        }
        _ => Ok(()),
    }
}

/// The agents that can be named. Aliases are understood, not shown.
fn parse_agent() -> PossibleValuesParser {
    let values = remora_agents::AGENTS.iter().map(|agent| {
        PossibleValue::new(agent.name)
            .aliases(agent.aliases.iter().copied())
            .help(agent.title)
    });
    PossibleValuesParser::new(values)
}

#[derive(Debug, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_parser = parse_agent())]
    pub(crate) agent: Option<String>,
    /// For whom: user (all your projects) or project (this one, for everybody who shares it)
    #[arg(long, value_enum, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: InstallScopeArg,
    /// The same as --scope user
    #[arg(long, hide = true, conflicts_with_all = ["scope", "project"])]
    pub(crate) user: bool,
    /// The same as --scope project
    #[arg(long, hide = true, conflicts_with = "scope")]
    pub(crate) project: bool,
    /// Let the agent read memory without asking: its read-only tools, `remora search` and `remora show`
    #[arg(long)]
    pub(crate) allow_reads: bool,
    /// Leave out the MCP server
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct UninstallArgs {
    /// The agent
    #[arg(value_parser = parse_agent())]
    pub(crate) agent: Option<String>,
    /// From where: user (your own settings) or project (those of the current directory)
    #[arg(long, value_enum, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: InstallScopeArg,
    /// The same as --scope user
    #[arg(long, hide = true, conflicts_with_all = ["scope", "project"])]
    pub(crate) user: bool,
    /// The same as --scope project
    #[arg(long, hide = true, conflicts_with = "scope")]
    pub(crate) project: bool,
    /// Remove the data directory, too: all that was remembered, of all projects
    #[arg(long)]
    pub(crate) purge: bool,
    /// With --purge: do not ask
    #[arg(long, requires = "purge")]
    pub(crate) yes: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose settings are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallScopeArg {
    User,
    Project,
}

impl InstallArgs {
    pub(crate) fn is_for_project(&self) -> bool {
        self.project || self.scope == InstallScopeArg::Project
    }
}

impl UninstallArgs {
    pub(crate) fn is_for_project(&self) -> bool {
        self.project || self.scope == InstallScopeArg::Project
    }
}
