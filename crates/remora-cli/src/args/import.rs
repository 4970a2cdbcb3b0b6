//! The command line of what brings memories in from elsewhere.

use std::path::PathBuf;

use clap::{ArgMatches, Args as ClapArgs, Command, FromArgMatches, Subcommand};
use remora_agents::AgentSpec;

use super::{MemoryLocationArgs, MemoryOwnerArgs};

/// Where memories come from.
#[derive(Debug)]
pub(crate) enum ImportCommand {
    /// The past sessions of an agent: one verb for each that keeps transcripts.
    Sessions(&'static AgentSpec, ImportSessionsArgs),
    Source(ImportSourceCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportSourceCommand {
    /// JSON lines: an export of Remora, or messages of conversations
    Jsonl(ImportJsonlArgs),
    /// The database of claude-mem
    ClaudeMem(ImportClaudeMemArgs),
    /// What commits say: messages with a body, reverts, pull requests
    Git(ImportGitArgs),
    /// A folder of Markdown notes, as saved memories
    Memory(ImportMemoryArgs),
}

impl ImportCommand {
    /// The agents whose past sessions can be read.
    fn agents() -> impl Iterator<Item = &'static AgentSpec> {
        let all = remora_agents::AGENTS.iter().copied();
        all.filter(|spec| spec.transcripts.is_some())
    }

    fn agent_verb(spec: &AgentSpec) -> Command {
        let about = format!("Past sessions of {}, from its transcripts", spec.title);
        ImportSessionsArgs::augment_args(Command::new(spec.name)).about(about)
    }

    fn find_agent(name: &str) -> Option<&'static AgentSpec> {
        Self::agents().find(|spec| spec.name == name)
    }
}

impl Subcommand for ImportCommand {
    fn augment_subcommands(command: Command) -> Command {
        // Our own format first, then the agents, then what others keep.
        let sources = ImportSourceCommand::augment_subcommands(Command::new(""));
        let mut sources = sources.get_subcommands().cloned();
        let first = sources.next();
        let verbs = first
            .into_iter()
            .chain(Self::agents().map(Self::agent_verb));
        command
            .subcommands(verbs.chain(sources))
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Self::find_agent(name).is_some() || ImportSourceCommand::has_subcommand(name)
    }
}

impl FromArgMatches for ImportCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if let Some((name, of_agent)) = matches.subcommand()
            && let Some(spec) = Self::find_agent(name)
        {
            let args = ImportSessionsArgs::from_arg_matches(of_agent)?;
            return Ok(Self::Sessions(spec, args));
        }
        ImportSourceCommand::from_arg_matches(matches).map(Self::Source)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportJsonlArgs {
    /// The file; `-` reads from stdin
    pub(crate) file: PathBuf,
    /// Put everything into the project with this key, name or path; a new key begins a project [default: as the lines say]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Leave out lines that cannot be read, instead of refusing the file
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Leave embedding to the worker
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportSessionsArgs {
    /// Transcripts, or folders of them [default: all that the client keeps]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Put everything into the project with this key, name or path; a new key begins a project [default: that of the folder each was written in]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only what happened since: 2026-11-15, yesterday, "last week", 30d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only say what would be read
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave embedding to the worker
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportClaudeMemArgs {
    /// The database
    pub(crate) file: PathBuf,
    /// Put their project THEIRS into OURS (a key, name or path), or everything into OURS; moves what was imported before [default: that of this folder or any other, if it has the same name]
    #[arg(long, value_name = "[THEIRS=]OURS")]
    pub(crate) project: Vec<String>,
    /// Leave embedding to the worker
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportGitArgs {
    /// The checkout, or a project by key or name [default: that of this folder]
    #[arg(long, value_name = "PROJECT|PATH")]
    pub(crate) project: Option<String>,
    /// Only commits written since: 2026-11-15, yesterday, "last week", 30d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The newest so many commits that say something
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) limit: usize,
    /// Only say what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave embedding to the worker
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportMemoryArgs {
    /// The folder, or a single file
    pub(crate) dir: PathBuf,
    /// Make a memory of every part under a `##` heading
    #[arg(long)]
    pub(crate) split: bool,
    /// Only say what would be saved
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) whose: MemoryOwnerArgs,
    #[command(flatten)]
    pub(crate) place: MemoryLocationArgs,
}
