//! The command line of what brings memories in from elsewhere.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::{MemoryLocationArgs, MemoryOwnerArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// JSON lines: an export of Remora, or messages of conversations
    Jsonl(ImportJsonlArgs),
    /// Past sessions of Claude Code, from its transcripts
    ClaudeCode(ImportClaudeCodeArgs),
    /// The database of claude-mem
    ClaudeMem(ImportClaudeMemArgs),
    /// What commits say: messages with a body, reverts, pull requests
    Git(ImportGitArgs),
    /// A folder of Markdown notes, as saved memories
    Memory(ImportMemoryArgs),
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
    /// Leave it to the worker to work out what the rows mean
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportClaudeCodeArgs {
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
    /// Leave it to the worker to work out what the rows mean
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
    /// Leave it to the worker to work out what the rows mean
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
    /// Leave it to the worker to work out what the rows mean
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
