//! What a mode says of a call that no rule covers.

use std::path::{Path, PathBuf};

use remora_protocol::Permission;

use super::bash::FILE_COMMANDS;
use super::{Call, Decision};
use crate::path_rule::{Bases, normal};
use crate::shell::SimpleCommand;

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
const HARMLESS: &[&str] = &[
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

/// Commands that only look. Their paths must lie where they may look.
const LOOKERS: &[&str] = &[
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

/// Sub-commands of git that only look.
const GIT_LOOKERS: &[&str] = &[
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

/// Places that steer tools; editing them is always asked about.
const SENSITIVE: &[&str] = &[
    ".git",
    ".claude",
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
pub(super) struct Area<'a> {
    pub(super) bases: Bases<'a>,
    pub(super) extra: &'a [PathBuf],
}

impl Area<'_> {
    /// Whether a path lies in the project or an added directory.
    pub(super) fn holds(self, path: &str) -> bool {
        let path = normal(path, self.bases);
        [self.bases.start, self.bases.cwd]
            .into_iter()
            .chain(self.extra.iter().map(PathBuf::as_path))
            .any(|dir| Path::new(&path).starts_with(normal(&dir.to_string_lossy(), self.bases)))
    }

    /// Whether an edit there needs no question in the mode that accepts edits.
    pub(super) fn is_free(self, path: &str) -> bool {
        let whole = normal(path, self.bases);
        self.holds(path) && !whole.split('/').any(|part| SENSITIVE.contains(&part))
    }

    /// Whether a command changes only files that it may: no wildcards, no path
    /// outside.
    pub(super) fn keeps_inside(self, command: &SimpleCommand) -> bool {
        command
            .words
            .iter()
            .skip(1)
            .filter(|w| !w.starts_with('-'))
            .all(|w| self.is_free(w) && !w.contains(['*', '?', '[']))
    }
}

pub(super) fn decide(call: &Call<'_>, mode: PermissionMode, area: Area<'_>) -> Decision {
    let allow = |why: &str| Decision::by_mode(Permission::Allow, why);
    if mode == PermissionMode::BypassPermissions {
        return allow("the bypassPermissions mode allows what no rule forbids");
    }
    if looks_only(call, area) {
        return allow("the call only looks, and only where it may");
    }
    if mode == PermissionMode::Plan && (call.edits() || edits_by_command(call, area)) {
        return Decision::by_mode(Permission::Deny, "the plan mode changes no file");
    }
    if mode == PermissionMode::AcceptEdits {
        let free = call.edits() && call.path().is_some_and(|p| area.is_free(p));
        if free || edits_by_command(call, area) {
            return allow("the acceptEdits mode allows edits in the project");
        }
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

fn looks_only(call: &Call<'_>, area: Area<'_>) -> bool {
    if HARMLESS.contains(&call.tool) {
        return true;
    }
    if call.reads() {
        return call.path().is_none_or(|p| area.holds(p));
    }
    let Some(line) = call.line() else {
        return false;
    };
    line.writes.is_empty()
        && line.reads.iter().all(|p| area.holds(p))
        && line
            .commands()
            .is_some_and(|list| list.iter().all(is_read_only))
}

/// Whether a command only looks.
pub(super) fn is_read_only(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        []
        | ["git", "remote"]
        | ["git", "remote", "-v"]
        | ["git", "stash", "list"]
        | ["docker", "ps"]
        | ["node" | "python" | "python3", "--version"] => true,
        ["git", sub, ..] => GIT_LOOKERS.contains(sub),
        ["cd", dir] => !dir.starts_with(['/', '~']),
        ["sed", "-n", script, ..] => script.ends_with('p'),
        ["find", rest @ ..] => !rest
            .iter()
            .any(|w| w.starts_with("-exec") || w.starts_with("-ok") || *w == "-delete"),
        [name, ..] => LOOKERS.contains(name),
    }
}

fn edits_by_command(call: &Call<'_>, area: Area<'_>) -> bool {
    let Some(line) = call.line() else {
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
        && line.reads.iter().all(|p| area.holds(p))
}
