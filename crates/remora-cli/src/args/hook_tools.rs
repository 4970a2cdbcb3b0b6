//! The command line of what authors of hooks use.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::args::{DirectoryArgs, SessionArgs};

/// Which settings files are meant.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Where")]
pub(crate) struct SettingsPlaceArgs {
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
    /// Which of user, project and local are read, separated by commas
    #[arg(long, value_name = "LIST")]
    pub(crate) setting_sources: Option<String>,
}

impl SettingsPlaceArgs {
    /// A session there, with everything else as usual.
    pub(crate) fn to_session(&self) -> SessionArgs {
        SessionArgs {
            directory: self.directory.clone(),
            home: self.home.clone(),
            managed: self.managed.clone(),
            settings: self.settings.clone(),
            plugin: self.plugin.clone(),
            mcp_config: Vec::new(),
            setting_sources: self.setting_sources.clone(),
            permission_mode: None,
            bare: false,
            safe_mode: false,
            interactive: false,
            trusted: false,
            untrusted: false,
            json: false,
            verbose: false,
        }
    }
}

/// The text under the flags of `remora hooks lint`.
const LINT_HELP: &str =
    "Without FILES: all settings files of a session, plugins included. Nothing is run;
scripts that hooks name are read.

The exit code is 1 if there are errors, else 0; --strict counts warnings too.

Examples:
  remora hooks lint                                 everything that a session reads
  remora hooks lint settings.json                   one file
  remora hooks lint --sarif > hooks.sarif           for code hosts";

#[derive(Debug, ClapArgs)]
#[command(after_help = LINT_HELP)]
pub(crate) struct HooksLintArgs {
    /// Settings files, plugin hook files or plugin manifests
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,
    /// Print SARIF 2.1.0 instead of text
    #[arg(long)]
    pub(crate) sarif: bool,
    /// Fail on warnings too
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) place: SettingsPlaceArgs,
}

/// The text under the flags of `remora hooks test`.
const TEST_HELP: &str =
    "Without FILES: hooks.test.json, hooks.test.yaml or hooks.test.yml beside the project's
settings. A file tests the settings beside it: those of the project (shared and
local), of the user, or of a plugin (beside its hooks.json). --all-layers takes
everything that a session reads.

  cases:
    - name: nothing deletes the root
      event: PreToolUse
      command: rm -rf /
      expect:
        blocked: true
        reason: no deleting

The hooks run for real, in the project, several at once. The exit code is 1 if a
case fails or a file cannot be used. All keys: docs/guide/hooks.md.";

#[derive(Debug, ClapArgs)]
#[command(after_help = TEST_HELP)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct HooksTestArgs {
    /// Files with cases, JSON or YAML
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only cases whose name holds this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// How many cases are played at once [default: one a core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Also write the results to this file, as XML in the form of `JUnit`
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Test all settings of a session, not only those beside the file
    #[arg(long)]
    pub(crate) all_layers: bool,
    /// Play the cases again whenever settings, scripts or cases change
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Show what every hook did, also of cases that pass
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) place: SettingsPlaceArgs,
}

/// A settings file that users write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SettingsTarget {
    /// The user's, for all projects
    User,
    /// The project's, shared with everyone who works on it
    Project,
    /// The user's own in this project
    Local,
}

/// What editing has in common.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct HooksEditArgs {
    /// Change nothing, and show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,
    /// The home directory [default: $HOME]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

/// The text under the flags of `remora hooks add`.
const ADD_HELP: &str = "The handler joins a group of the same event and matcher, else it gets one of its own.
The file before the edit stays beside it (settings.json.before-edit).

Examples:
  remora hooks add PreToolUse --matcher Bash --command my-guard --timeout 5
  remora hooks add Stop --command 'notify-send done' --to user
  remora hooks add PostToolUse --handler '{\"type\": \"http\", \"url\": \"http://localhost:8080/\"}'";

#[derive(Debug, ClapArgs)]
#[command(after_help = ADD_HELP)]
pub(crate) struct HooksAddArgs {
    /// The event's name, such as `PreToolUse`
    pub(crate) event: String,
    /// The settings file
    #[arg(long, value_name = "FILE", default_value = "project")]
    pub(crate) to: SettingsTarget,
    /// What the event is matched against; without it everything
    #[arg(long, value_name = "TEXT")]
    pub(crate) matcher: Option<String>,
    /// The command to run
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["url", "prompt", "handler"])]
    pub(crate) command: Option<String>,
    /// An argument: the command is then a program, run without a shell
    #[arg(
        long = "arg",
        value_name = "TEXT",
        requires = "command",
        allow_hyphen_values = true
    )]
    pub(crate) args: Vec<String>,
    /// The address to post the event to
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// The question to a model
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["command", "url"])]
    pub(crate) prompt: Option<String>,
    /// The whole handler, as JSON
    #[arg(long, value_name = "JSON", conflicts_with_all = ["command", "url", "prompt"])]
    pub(crate) handler: Option<String>,
    /// Only for calls that this rule covers, such as `Bash(git *)`
    #[arg(long = "if", value_name = "RULE")]
    pub(crate) condition: Option<String>,
    /// Its time limit, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// What the user sees while it runs
    #[arg(long, value_name = "TEXT")]
    pub(crate) status_message: Option<String>,
    /// Do not wait for it
    #[arg(long = "async")]
    pub(crate) background: bool,
    #[command(flatten)]
    pub(crate) edit: HooksEditArgs,
}

/// The text under the flags of `remove`, `enable` and `disable`.
const CHOOSE_HELP: &str =
    "Without HOOK: the hooks there are, with their ids. Only the settings of the user, of
the project and of the user in the project are changed. A hook that is disabled is
kept in its file under \"remora:disabledHooks\", which the agent ignores.";

/// One hook of the settings that users write.
#[derive(Debug, ClapArgs)]
#[command(after_help = CHOOSE_HELP)]
pub(crate) struct HooksChooseArgs {
    /// Its id, or a part of what it runs that no other hook has
    #[arg(value_name = "HOOK")]
    pub(crate) hook: Option<String>,
    #[command(flatten)]
    pub(crate) edit: HooksEditArgs,
}

/// The text under the flags of `remora hooks health`.
const HEALTH_HELP: &str =
    "Reads the transcripts that the agent keeps of this project; nothing needs to be
installed. The agent writes down runs that failed, ran out of time, blocked or said
something; of silent runs it writes down those at a stop. A hook without a trace has
either never fired or was always silent.

Examples:
  remora hooks health                    this project
  remora hooks health --all --days 7     all projects, the last week
  remora hooks health session.jsonl      one transcript";

#[derive(Debug, ClapArgs)]
#[command(after_help = HEALTH_HELP)]
pub(crate) struct HooksHealthArgs {
    /// Transcripts, or folders of them, instead of this project's
    #[arg(value_name = "PATH", conflicts_with = "all")]
    pub(crate) paths: Vec<PathBuf>,
    /// The transcripts of all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Only runs of the last days
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) days: Option<u32>,
    /// Only this event
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: SettingsPlaceArgs,
}

/// The text under the flags of `remora hooks record`.
const RECORD_HELP: &str =
    "As a hook it adds the event on stdin to FILE, redacted, and answers nothing. FILE is for
its owner alone. Start the agent with it on every event:

  ... --settings \"$(remora hooks record session.jsonl --print-settings)\"

WorktreeCreate is left out, because a hook on it takes the place of the agent's own
worktrees. What is recorded can be played again: remora hooks replay session.jsonl";

#[derive(Debug, ClapArgs)]
#[command(after_help = RECORD_HELP)]
pub(crate) struct HooksRecordArgs {
    /// Where events are written, one a line
    pub(crate) file: PathBuf,
    /// Print settings that record every event, and record nothing
    #[arg(long)]
    pub(crate) print_settings: bool,
}

/// The text under the flags of `remora hooks replay`.
const REPLAY_HELP: &str =
    "The hooks run for real, with REMORA_OFF=1 and a made-up session id; --plan runs nothing
and compares which would run.

Without saved decisions, what the recording itself shows is compared: a call that was
made then and would be kept from running now, or the other way round.

  remora hooks replay session.jsonl --save     keeps what the hooks decide today
  ... change the hooks ...
  remora hooks replay session.jsonl            shows what would be decided otherwise

The exit code is 1 if something differs.";

#[derive(Debug, ClapArgs)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct HooksReplayArgs {
    /// A recording of `remora hooks record`
    pub(crate) file: PathBuf,
    /// Keep the decisions, to compare later ones with them
    #[arg(long)]
    pub(crate) save: bool,
    /// Where decisions are kept [default: FILE.decisions.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,
    /// Run nothing, and compare which hooks would run
    #[arg(long)]
    pub(crate) plan: bool,
    /// Only this event
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// The text under the flags of `remora hooks ui`.
const UI_HELP: &str =
    "Hooks by event, each with its layer: [User] [Project] [Local] can be edited, [Policy],
[Plugin] and [Flag] are read-only. ? shows the keys: add, edit, switch off and on,
remove, undo, search, and which hooks a made-up event would run.

Every change is shown before it is written, except on and off; u takes it back. Bytes
outside the hook stay as they are, and nothing is written when the file was changed by
somebody else meanwhile.";

#[derive(Debug, ClapArgs)]
#[command(after_help = UI_HELP)]
pub(crate) struct HooksUiArgs {
    #[command(flatten)]
    pub(crate) place: SettingsPlaceArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HooksSchemaArgs {
    /// Which schema; without it their names are listed
    pub(crate) name: Option<String>,
}

/// The text under the flags of `remora hooks serve`.
const SERVE_HELP: &str =
    "Reads one JSON object a line on stdin and answers on stdout, in JSON-RPC 2.0:
initialize, open, fire, preview, close and more. Where settings are read from is
said with `open`. When stdin ends, all sessions are closed and their handlers are
ended. All methods: docs/guide/embedding.md.

Example:
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}' | remora hooks serve";

#[derive(Debug, ClapArgs)]
#[command(after_help = SERVE_HELP)]
pub(crate) struct HooksServeArgs {}
