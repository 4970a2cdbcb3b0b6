//! The command line, as clap types and nothing else, so that completions and
//! help can be made from it.

mod bench_recall;
mod conformance;
mod correct;
mod hook_tools;
mod import;
mod install;
mod instructions;
mod ledger;
mod man;
mod mcp;
mod memory;
mod models;
mod project;
mod recall;
mod saved;
mod upkeep;

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use bench_recall::*;
pub(crate) use conformance::*;
pub(crate) use correct::*;
pub(crate) use hook_tools::*;
pub(crate) use import::*;
pub(crate) use install::*;
pub(crate) use instructions::*;
pub(crate) use ledger::*;
pub(crate) use man::*;
pub(crate) use mcp::*;
pub(crate) use memory::*;
pub(crate) use models::*;
pub(crate) use project::*;
pub(crate) use recall::*;
pub(crate) use saved::*;
pub(crate) use upkeep::*;

/// One memory and one set of hooks for every coding agent.
#[derive(Debug, Parser)]
#[command(
    name = "remora",
    version,
    propagate_version = true,
    max_term_width = 120,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Verbs by what a user is after; every verb is in one group.
const COMMAND_GROUPS: &[(&str, &[&str])] = &[
    (
        "Memory",
        &[
            "search",
            "show",
            "sessions",
            "timeline",
            "recap",
            "context",
            "ledger",
            "memory",
            "remember",
            "wrong",
            "edit",
            "pin",
            "forget",
            "folders",
            "permissions",
            "mcp",
        ],
    ),
    ("Hooks", &["hooks", "models", "conformance", "demo"]),
    ("Instructions", &["instructions"]),
    (
        "Getting in and out",
        &["install", "uninstall", "import", "export"],
    ),
    (
        "Upkeep",
        &[
            "status",
            "doctor",
            "pause",
            "worker",
            "config",
            "rebuild",
            "projects",
            "prune",
            "audit",
            "bench",
            "completions",
            "man",
            "help",
        ],
    ),
];

impl Args {
    /// The command with its verbs in groups.
    pub(crate) fn build_command() -> clap::Command {
        let mut command = Self::command();
        command.build();
        let about = |name: &str| -> String {
            let verb = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            verb.map(ToString::to_string).unwrap_or_default()
        };
        let mut list = String::new();
        for (title, verbs) in COMMAND_GROUPS {
            // Writing into a string cannot fail.
            let _ = writeln!(list, "{title}:");
            for verb in *verbs {
                let _ = writeln!(list, "  {verb:<13} {}", about(verb));
            }
            list.push('\n');
        }
        let template = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}\n"
        );
        Self::command().help_template(template)
    }

    /// Reads the command line.
    pub(crate) fn from_command_line() -> Result<Self, clap::Error> {
        let matches = accept_local_flag(Self::build_command())
            .try_get_matches_from(protect_search_words(std::env::args_os()))?;
        refuse_local_flag(&matches)?;
        Self::from_arg_matches(&matches)
    }
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value, made once, by clap")]
pub(crate) enum Command {
    /// Install Remora's hooks into an agent's settings, and test them
    Install(InstallArgs),
    /// Remove Remora's hooks from an agent's settings
    Uninstall(UninstallArgs),
    /// Search what was done, said and learned
    Search(SearchArgs),
    /// Show items in full
    Show(ShowArgs),
    /// List sessions, newest first
    Sessions(SessionsArgs),
    /// Show what happened, in order
    Timeline(TimelineArgs),
    /// Summarize recent work by project and session
    Recap(RecapArgs),
    /// Preview the context Remora would inject, and why
    Context(ContextArgs),
    /// Show what was injected into past sessions and whether it was used
    Ledger(LedgerArgs),
    /// Write notes on recent work into the folders of a project
    Folders(FoldersArgs),
    /// Show what was allowed and denied, and suggest permission rules
    Permissions(PermissionsArgs),
    /// Pause capture and recall
    Pause(PauseArgs),
    /// Serve memory to an agent over MCP, on stdin and stdout
    Mcp(McpArgs),
    /// Manage saved memories: add, list, check, review
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Save a fact for later sessions; the same as `memory add`
    Remember(MemoryAddArgs),
    /// Mark an item as wrong, so that it is never injected again
    Wrong(WrongArgs),
    /// Replace an item's text with your own
    Edit(EditArgs),
    /// Inject an item at the start of every session of a project
    Pin(PinArgs),
    /// Delete items, sessions or projects for good, or a saved fact
    Forget(ForgetArgs),
    /// Show how much is stored and whether everything runs
    Status(StatusArgs),
    /// Diagnose problems and suggest fixes
    Doctor(DoctorArgs),
    /// Rebuild the database from archived events
    Rebuild(RebuildArgs),
    /// List projects; join checkouts and keys of one
    Projects(ProjectsArgs),
    /// Remove old items and archived events
    Prune(PruneArgs),
    /// Scan everything stored for secrets
    Audit(AuditArgs),
    /// Export everything as JSON lines
    Export(ExportArgs),
    /// Import past sessions and memories
    #[command(subcommand)]
    Import(ImportCommand),
    /// Show and change settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Measure how well search and recall work
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Control the background process that stores captured events
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// Test, lint, explain, edit and measure hooks
    #[command(subcommand)]
    Hooks(HooksCommand),
    /// Choose the model that prompt and agent hooks ask
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Play recorded cases against an engine
    Conformance(ConformanceArgs),
    /// Show which instruction files are in the prompt, and why
    #[command(subcommand)]
    Instructions(InstructionsCommand),
    /// Play recorded sessions: what hooks do, what is stored, what the next session gets
    Demo(DemoArgs),
    /// Write manual pages, one a verb
    Man(ManArgs),
    /// Print a completion script for your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value, made once, by clap")]
pub(crate) enum HooksCommand {
    /// Run one event's handlers for real and print the merged decision
    Run(HooksRunArgs),
    /// Say for every handler of an event whether it would run, and why; runs nothing
    Explain(HooksExplainArgs),
    /// Build an event from flags and run (or explain) it
    Try(HooksTryArgs),
    /// List all hooks by event, with the layer they come from
    List(HooksListArgs),
    /// Find what is wrong, or likely not meant, in the hooks of settings files
    Lint(HooksLintArgs),
    /// Play the test cases of hooks and compare what they decide
    Test(HooksTestArgs),
    /// Record every event of a session, as a hook
    Record(HooksRecordArgs),
    /// Play recorded events again and show what would be decided otherwise
    Replay(HooksReplayArgs),
    /// Show how hooks fared in past sessions, failing ones first
    Health(HooksHealthArgs),
    /// Serve sessions to an agent in any language, on stdin and stdout
    Serve(HooksServeArgs),
    /// Print a JSON schema of what hooks read and write
    Schema(HooksSchemaArgs),
    /// Browse and edit hooks in the terminal
    Ui(HooksUiArgs),
    /// Put a hook into a settings file
    Add(HooksAddArgs),
    /// Take a hook out of its settings file
    Remove(HooksChooseArgs),
    /// Switch a hook on again
    Enable(HooksChooseArgs),
    /// Switch a hook off, and keep it in its settings file
    Disable(HooksChooseArgs),
}

/// Where settings are read from, and how the session is set up.
#[derive(Debug, Clone, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
#[command(next_help_heading = "Where and how")]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,
    /// The home directory [default: $HOME]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The directory of managed settings [default: the system's own]
    #[arg(long, value_name = "DIR")]
    pub(crate) managed: Option<PathBuf>,
    /// One more settings layer
    #[arg(long, value_name = "FILE_OR_JSON")]
    pub(crate) settings: Option<String>,
    /// A plugin directory; may be given several times
    #[arg(long, value_name = "DIR", alias = "plugin-dir")]
    pub(crate) plugin: Vec<PathBuf>,
    /// More MCP servers, in a file or as JSON; may be given several times
    #[arg(long, value_name = "SERVERS")]
    pub(crate) mcp_config: Vec<String>,
    /// Which of user, project and local are read, separated by commas
    #[arg(long, value_name = "LIST")]
    pub(crate) setting_sources: Option<String>,
    /// The permission mode, instead of the event's own
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<String>,
    /// As with the client's --bare: managed hooks only
    #[arg(long)]
    pub(crate) bare: bool,
    /// As with the client's --safe-mode: managed hooks only
    #[arg(long)]
    pub(crate) safe_mode: bool,
    /// Treat the session as interactive
    #[arg(long)]
    pub(crate) interactive: bool,
    /// The folder counts as trusted
    #[arg(long, conflicts_with = "untrusted")]
    pub(crate) trusted: bool,
    /// The folder counts as not trusted
    #[arg(long)]
    pub(crate) untrusted: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Trace every step on stderr
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// The event to use.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct EventArgs {
    /// Read the event from a file instead of stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// The event's name, if the JSON lacks `hook_event_name`
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HooksRunArgs {
    #[command(flatten)]
    pub(crate) event: EventArgs,
    /// Wait for handlers in the background instead of ending them
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HooksExplainArgs {
    #[command(flatten)]
    pub(crate) event: EventArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HooksListArgs {
    /// Only this event
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HooksTryArgs {
    /// The event's name, such as `PreToolUse`
    pub(crate) event: String,
    /// Only say what would run
    #[arg(long)]
    pub(crate) explain: bool,
    /// Wait for handlers in the background instead of ending them
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) fields: EventFieldArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// What goes into a tried event.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "The event")]
pub(crate) struct EventFieldArgs {
    /// The tool that is called
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The command of a Bash call
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,
    /// The path of a file tool; also of file events
    #[arg(long, value_name = "PATH")]
    pub(crate) file_path: Option<String>,
    /// The content of a Write call
    #[arg(long, value_name = "TEXT")]
    pub(crate) content: Option<String>,
    /// The URL of a `WebFetch` call
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The whole tool input, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) tool_input: Option<String>,
    /// The tool's answer, as JSON or text
    #[arg(long, value_name = "JSON")]
    pub(crate) tool_response: Option<String>,
    /// The error of a failed call
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
    /// The user's prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The `source` field
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// The `trigger` field
    #[arg(long, value_name = "TEXT")]
    pub(crate) trigger: Option<String>,
    /// The `reason` field
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The message of a notification
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// The type of a notification
    #[arg(long, value_name = "TEXT")]
    pub(crate) notification_type: Option<String>,
    /// The type of a subagent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_type: Option<String>,
    /// A stop that follows a block
    #[arg(long)]
    pub(crate) stop_hook_active: bool,
    /// Any other field: NAME=JSON, or NAME=TEXT
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DemoArgs {
    /// Print JSON lines instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Start it, unless it runs
    Start(WorkerArgs),
    /// End it; what waits stays in the spool
    Stop(WorkerArgs),
    /// End it and start it again
    Restart(WorkerArgs),
    /// Say whether it runs, and what it has done
    Status(WorkerArgs),
    /// Show what it wrote down
    Logs(WorkerLogsArgs),
    /// Be the worker, in this process
    Run,
    /// Wait until everything captured so far can be searched
    Drain(WorkerArgs),
    /// Try dead letters again
    Retry(WorkerArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WorkerArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WorkerLogsArgs {
    /// The last lines to show
    #[arg(long, short = 'n', default_value_t = 50)]
    pub(crate) lines: usize,
    /// Only lines about this event
    #[arg(long, value_name = "ID")]
    pub(crate) event: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group() {
        let mut command = Args::command();
        command.build();
        let mut verbs: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = COMMAND_GROUPS
            .iter()
            .flat_map(|(_, verbs)| *verbs)
            .copied()
            .collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, verbs);
    }
}
