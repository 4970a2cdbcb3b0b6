//! What a mode says of a call that no rule covers.

use std::path::{Path, PathBuf};

use remora_protocol::Permission;

use super::{Call, Decision};
use crate::path_rule::{Bases, normal};
use crate::shell::Reading;

/// The permission mode of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PermissionMode {
    /// Ask before anything that changes something.
    #[default]
    Default,
    /// Edits in the project need no question.
    AcceptEdits,
    /// Nothing is changed.
    Plan,
    /// What would be asked is refused.
    DontAsk,
    /// Nothing is asked.
    BypassPermissions,
    /// The host's own check decides.
    Auto,
}

impl PermissionMode {
    /// Every mode's name on the wire.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("default", Self::Default),
        ("acceptEdits", Self::AcceptEdits),
        ("plan", Self::Plan),
        ("dontAsk", Self::DontAsk),
        ("bypassPermissions", Self::BypassPermissions),
        ("auto", Self::Auto),
    ];

    /// Reads a mode; `manual` is an old word for the default.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "manual" {
            return Some(Self::Default);
        }
        Self::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, mode)| *mode)
    }
}

/// Tools that change nothing outside the session.
const HARMLESS: [&str; 14] = [
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskOutput",
    "TaskStop",
    "ToolSearch",
    "Agent",
    "AskUserQuestion",
    "EnterPlanMode",
    "ListAgents",
    "BashOutput",
    "KillShell",
];

/// First words of commands that only look.
const LOOKERS: [&str; 26] = [
    "ls", "cat", "echo", "pwd", "head", "tail", "wc", "which", "diff", "stat", "du", "df", "grep",
    "rg", "cd", "true", "false", "date", "whoami", "uname", "basename", "dirname", "realpath",
    "sort", "uniq", "cut",
];

/// Sub-commands of git that only look.
const GIT_LOOKERS: [&str; 7] = [
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "ls-files",
    "blame",
];

/// Commands that the acceptEdits mode takes for edits.
const FILE_COMMANDS: [&str; 7] = ["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

pub(super) fn decide(
    call: &Call<'_>,
    mode: PermissionMode,
    bases: Bases<'_>,
    extra: &[PathBuf],
) -> Decision {
    let allow = |why: &str| Decision::by_mode(Permission::Allow, why);
    if mode == PermissionMode::BypassPermissions {
        return allow("the bypassPermissions mode allows what no rule forbids");
    }
    if looks_only(call, bases, extra) {
        return allow("the call only looks, and only where it may");
    }
    let edit = call.edits() || edits_by_command(call);
    if mode == PermissionMode::Plan && edit {
        return Decision::by_mode(Permission::Deny, "the plan mode changes no file");
    }
    let inside = call.path().is_none_or(|p| is_inside(p, bases, extra));
    if mode == PermissionMode::AcceptEdits && edit && inside {
        return allow("the acceptEdits mode allows edits in the project");
    }
    match mode {
        PermissionMode::DontAsk => Decision::by_mode(
            Permission::Deny,
            "the dontAsk mode refuses what needs a question",
        ),
        PermissionMode::Auto => Decision::by_mode(
            Permission::Ask,
            "the auto mode leaves it to the host's own check, which is not modelled here",
        ),
        _ => Decision::by_mode(
            Permission::Ask,
            "no rule covers the call, so the person is asked",
        ),
    }
}

fn looks_only(call: &Call<'_>, bases: Bases<'_>, extra: &[PathBuf]) -> bool {
    if HARMLESS.contains(&call.tool) {
        return true;
    }
    if call.reads() {
        return call.path().is_none_or(|p| is_inside(p, bases, extra));
    }
    match (&call.reading, call.command()) {
        (
            Some(Reading::Understood {
                commands,
                unknown_argument: false,
                ..
            }),
            Some(line),
        ) => {
            !commands.is_empty()
                && !redirects(line)
                && commands.iter().all(|c| is_read_only(&c.text))
        }
        _ => false,
    }
}

/// Whether a command only looks.
pub(super) fn is_read_only(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match words.next() {
        Some("git") => words.next().is_some_and(|sub| GIT_LOOKERS.contains(&sub)),
        Some(word) => LOOKERS.contains(&word),
        None => false,
    }
}

/// Whether a line writes to a file by redirection. Errs towards yes.
pub(super) fn redirects(line: &str) -> bool {
    let quiet = line
        .replace("2>&1", "")
        .replace("2>/dev/null", "")
        .replace(">/dev/null", "");
    quiet.contains('>')
}

fn edits_by_command(call: &Call<'_>) -> bool {
    let Some(Reading::Understood {
        commands,
        unknown_argument: false,
        ..
    }) = &call.reading
    else {
        return false;
    };
    !commands.is_empty()
        && commands.iter().all(|c| {
            let text = &c.text;
            let mut words = text.split_whitespace();
            words.next().is_some_and(|w| FILE_COMMANDS.contains(&w))
                && words.all(|w| !w.starts_with(['/', '~']) && !w.split('/').any(|s| s == ".."))
        })
}

/// Whether a path lies in the project or an added directory.
fn is_inside(path: &str, bases: Bases<'_>, extra: &[PathBuf]) -> bool {
    let path = normal(path, bases);
    [bases.start, bases.cwd]
        .into_iter()
        .chain(extra.iter().map(PathBuf::as_path))
        .any(|dir| Path::new(&path).starts_with(normal(&dir.to_string_lossy(), bases)))
}
