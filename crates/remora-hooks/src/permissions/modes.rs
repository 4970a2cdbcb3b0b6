//! What a mode decides about a call that no rule covers. Shell lines are decided
//! as `cases/bash-permissions.json` records it of the client.

use std::path::{Path, PathBuf};

use remora_core::Permission;

use super::bash::FILE_COMMANDS;
use super::{PermissionCall, PermissionDecision};
use crate::names::SETTINGS_DIR;
use crate::path_rule::{PathBases, normalise_path};
use crate::shell::SimpleCommand;

/// The permission mode of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PermissionMode {
    /// Ask before anything that changes something.
    #[default]
    Default,
    /// Edits in the project need no question.
    AcceptEdits,
    /// Nothing is changed: edits are refused.
    Plan,
    /// What would be asked is refused.
    DontAsk,
    /// Nothing is asked; only deny and ask rules still count.
    BypassPermissions,
    /// The host's own check decides.
    Auto,
}

impl PermissionMode {
    /// Every mode's name on the wire.
    pub const WIRE_NAMES: [(&'static str, Self); 6] = [
        ("default", Self::Default),
        ("acceptEdits", Self::AcceptEdits),
        ("plan", Self::Plan),
        ("dontAsk", Self::DontAsk),
        ("bypassPermissions", Self::BypassPermissions),
        ("auto", Self::Auto),
    ];

    /// Parses a mode; `manual` is a former name of the default.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "manual" {
            return Some(Self::Default);
        }
        Self::WIRE_NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, mode)| *mode)
    }
}

/// Tools that change nothing outside the session.
const HARMLESS_TOOLS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "KillShell",
    "ListAgents",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
];

/// Commands that only read. Their paths must be inside the working directories.
const READ_ONLY_COMMANDS: &[&str] = &[
    "[",
    "[[",
    "arch",
    "base64",
    "basename",
    "cal",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "expand",
    "expr",
    "false",
    "file",
    "find",
    "fmt",
    "fold",
    "free",
    "grep",
    "head",
    "hexdump",
    "history",
    "hostname",
    "id",
    "jq",
    "locale",
    "ls",
    "lsof",
    "man",
    "md5sum",
    "netstat",
    "nl",
    "nproc",
    "od",
    "paste",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "seq",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "tsort",
    "type",
    "uname",
    "uptime",
    "wc",
    "which",
    "whoami",
];

/// Sub-commands of git that only read.
const READ_ONLY_GIT_COMMANDS: &[&str] = &[
    "blame",
    "branch",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "reflog",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "tag",
];

/// Files and directories that make tools run code or change what they do. Even
/// the mode that accepts edits asks about them.
const SENSITIVE_PATHS: &[&str] = &[
    ".git",
    SETTINGS_DIR,
    ".vscode",
    ".idea",
    ".husky",
    ".mcp.json",
    ".bashrc",
    ".bash_profile",
    ".zshrc",
    ".profile",
    ".gitconfig",
    ".gitmodules",
];

/// The directories a session works in.
#[derive(Clone, Copy)]
pub(super) struct WorkingDirs<'a> {
    pub(super) bases: PathBases<'a>,
    pub(super) extra: &'a [PathBuf],
}

impl WorkingDirs<'_> {
    /// Whether a path lies in the project or an added directory.
    pub(super) fn contains_path(self, path: &str) -> bool {
        let path = normalise_path(path, self.bases);
        [self.bases.start, self.bases.cwd]
            .into_iter()
            .chain(self.extra.iter().map(PathBuf::as_path))
            .any(|dir| {
                Path::new(&path).starts_with(normalise_path(&dir.to_string_lossy(), self.bases))
            })
    }

    /// Whether an edit there needs no question in the mode that accepts edits.
    pub(super) fn is_free(self, path: &str) -> bool {
        let whole = normalise_path(path, self.bases);
        self.contains_path(path) && !whole.split('/').any(|part| SENSITIVE_PATHS.contains(&part))
    }

    /// Whether a command changes only files inside the working directories. A
    /// wildcard could expand to anything, so it counts as outside.
    pub(super) fn keeps_inside(self, command: &SimpleCommand) -> bool {
        command
            .words
            .iter()
            .skip(1)
            .filter(|w| !w.starts_with('-'))
            .all(|w| self.is_free(w) && !w.contains(['*', '?', '[']))
    }
}

pub(super) fn decide_by_mode(
    call: &PermissionCall<'_>,
    mode: PermissionMode,
    area: WorkingDirs<'_>,
) -> PermissionDecision {
    let allow = |why: &str| PermissionDecision::by_mode(Permission::Allow, why);
    // Rules were asked before: even here a deny or ask rule counts.
    if mode == PermissionMode::BypassPermissions {
        return allow("the bypassPermissions mode allows what no rule forbids");
    }
    // Before the modes, because reading is allowed in all of them, also where a question
    // would be refused.
    if is_read_only_call(call, area) {
        return allow("the call only reads, and only where it may");
    }
    if mode == PermissionMode::Plan && (call.is_edit() || edits_by_command(call, area)) {
        return PermissionDecision::by_mode(Permission::Deny, "the plan mode changes no file");
    }
    if mode == PermissionMode::AcceptEdits {
        let free = call.is_edit() && call.path().is_some_and(|p| area.is_free(p));
        if free || edits_by_command(call, area) {
            return allow("the acceptEdits mode allows edits in the project");
        }
    }
    match mode {
        PermissionMode::DontAsk => PermissionDecision::by_mode(
            Permission::Deny,
            "the dontAsk mode refuses what needs a question",
        ),
        PermissionMode::Auto => PermissionDecision::by_mode(
            Permission::Ask,
            "the auto mode leaves it to the host's own check, which is not modelled here",
        ),
        _ => PermissionDecision::by_mode(
            Permission::Ask,
            "no rule covers the call, so the user is asked",
        ),
    }
}

fn is_read_only_call(call: &PermissionCall<'_>, area: WorkingDirs<'_>) -> bool {
    if HARMLESS_TOOLS.contains(&call.tool) {
        return true;
    }
    if call.is_read() {
        return call.path().is_none_or(|p| area.contains_path(p));
    }
    let Some(line) = call.shell_line() else {
        return false;
    };
    line.writes.is_empty()
        && line.reads.iter().all(|p| area.contains_path(p))
        // A line that is not understood has no list, and is never taken for harmless.
        && line
            .commands()
            .is_some_and(|list| list.iter().all(is_read_only))
}

/// Whether a command only reads.
pub(super) fn is_read_only(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        []
        | ["git", "remote"]
        | ["git", "remote", "-v"]
        | ["git", "stash", "list"]
        | ["docker", "ps"]
        | ["node" | "python" | "python3", "--version"] => true,
        ["git", sub, ..] => READ_ONLY_GIT_COMMANDS.contains(sub),
        // An absolute target may lie outside the working directories.
        ["cd", dir] => !dir.starts_with(['/', '~']),
        // Other scripts of sed may write files or run commands.
        ["sed", "-n", script, ..] => script.ends_with('p'),
        // `find` reads, unless one of its actions runs or deletes something.
        ["find", rest @ ..] => !rest
            .iter()
            .any(|w| w.starts_with("-exec") || w.starts_with("-ok") || *w == "-delete"),
        [name, ..] => READ_ONLY_COMMANDS.contains(name),
    }
}

fn edits_by_command(call: &PermissionCall<'_>, area: WorkingDirs<'_>) -> bool {
    let Some(line) = call.shell_line() else {
        return false;
    };
    let changes = |c: &SimpleCommand| {
        c.words
            .first()
            .is_some_and(|w| FILE_COMMANDS.contains(&w.as_str()))
    };
    let inside = |c: &SimpleCommand| {
        // The script of sed is no path.
        c.words.first().is_some_and(|w| w == "sed") || area.keeps_inside(c)
    };
    line.commands().is_some_and(|list| {
        list.iter()
            .all(|c| is_read_only(c) || (changes(c) && inside(c)))
    }) && line.writes.iter().all(|p| area.is_free(p))
        && line.reads.iter().all(|p| area.contains_path(p))
}
