//! Permission rules: what the merged `permissions` blocks and the mode say about
//! one tool call, and how that joins with what the hooks said. Pure.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use remora_core::Permission;
use serde_json::{Map, Value};

use crate::condition::{current_name, path_field};
use crate::path_rule::PathBases;

mod bash;
mod modes;
mod rule;
mod tools;

pub use modes::PermissionMode;
pub use rule::RuleText;
pub use tools::{RuleSubject, build_call_input};

use bash::{CommandPaths, FILE_COMMANDS, ShellLine};
use modes::WorkingDirs;
use rule::PermissionRule;

/// Why a decision is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionDecision {
    /// What the rules and the mode say.
    pub permission: Permission,
    /// The rule that decided; `None` when the mode did.
    pub rule: Option<String>,
    /// In plain words.
    pub why: String,
}

impl PermissionDecision {
    fn by_mode(permission: Permission, why: impl Into<String>) -> Self {
        Self {
            permission,
            rule: None,
            why: why.into(),
        }
    }
}

/// The merged rules of a session.
#[derive(Debug, Default)]
pub struct Permissions {
    rules: Vec<PermissionRule>,
    directories: Vec<PathBuf>,
    /// What the user should fix in their rules.
    pub warnings: Vec<String>,
}

impl Permissions {
    /// Compiles rules; `directories` are the additional ones.
    pub fn new(texts: &[RuleText], directories: Vec<PathBuf>) -> Self {
        let mut warnings = Vec::new();
        let mut rules = Vec::new();
        for text in texts {
            // One bad rule does not void the file: the client keeps it, too.
            let Some(rule) = PermissionRule::new(text) else {
                warnings.push(format!(
                    "{text} is not a rule (`Tool` or `Tool(pattern)`); it is ignored"
                ));
                continue;
            };
            if let Some(why) = rule.void_reason() {
                warnings.push(format!("{text} has no effect: {why}"));
            }
            rules.push(rule);
        }
        Self {
            rules,
            directories,
            warnings,
        }
    }

    /// What rules and mode say of a call: deny over ask over allow over the mode.
    pub fn decide_call(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        mode: PermissionMode,
        bases: PathBases<'_>,
    ) -> PermissionDecision {
        let call = PermissionCall::new(tool, input, bases);
        // Lists decide, not layers: a deny of a repository beats an allow of the user.
        for list in [Permission::Deny, Permission::Ask, Permission::Allow] {
            let rule = self
                .rules
                .iter()
                .find(|r| r.text.list == list && r.matches_call(&call, bases));
            if let Some(rule) = rule {
                return PermissionDecision {
                    permission: list,
                    rule: Some(rule.text.text.clone()),
                    why: format!("{} covers the call", rule.text),
                };
            }
        }
        let area = WorkingDirs {
            bases,
            extra: &self.directories,
        };
        // Allow rules with a Bash pattern were not asked above: a line needs each of its
        // commands covered.
        self.allows_each_command(&call, mode, area)
            .unwrap_or_else(|| modes::decide_by_mode(&call, mode, area))
    }

    /// The deny rule that keeps the host from even announcing a call: one for
    /// the whole tool, or one on the path of a file tool.
    pub(crate) fn hidden_by(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        bases: PathBases<'_>,
    ) -> Option<String> {
        let call = PermissionCall::new(tool, input, bases);
        let hides = |r: &&PermissionRule| {
            r.text.list == Permission::Deny && r.hides_call(&call) && r.matches_call(&call, bases)
        };
        self.rules.iter().find(hides).map(|r| r.text.to_string())
    }

    /// Joins the hooks' decision with the rules. A hook can tighten; it can
    /// spare the question; it cannot undo a deny or ask rule.
    pub(crate) fn join(
        hooks: Option<Permission>,
        rules: &PermissionDecision,
        mode: PermissionMode,
    ) -> (Permission, String) {
        let refused_by_mode = |why: &str| (Permission::Deny, why.to_owned());
        match hooks {
            Some(Permission::Deny) => (Permission::Deny, "a hook denied it".into()),
            Some(Permission::Defer) => (Permission::Defer, "a hook deferred it".into()),
            Some(Permission::Ask) if rules.permission == Permission::Deny => {
                (Permission::Deny, rules.why.clone())
            }
            // After the deny rule: a hook's question cannot soften it.
            Some(Permission::Ask) if mode == PermissionMode::DontAsk => {
                refused_by_mode("a hook asked, and the dontAsk mode refuses what needs a question")
            }
            Some(Permission::Ask)
                if rules.rule.is_some() && rules.permission == Permission::Ask =>
            {
                (Permission::Ask, format!("a hook asked, and {}", rules.why))
            }
            Some(Permission::Ask) => (Permission::Ask, "a hook asked".into()),
            Some(Permission::Allow) => match rules.permission {
                Permission::Allow => (
                    Permission::Allow,
                    "a hook allowed it and no rule objects".into(),
                ),
                _ if rules.rule.is_some() => (
                    rules.permission,
                    format!("a hook allowed it, but {}", rules.why),
                ),
                // Plan mode refuses in spite of an allow; a mere question is spared.
                Permission::Deny if mode == PermissionMode::Plan => {
                    (Permission::Deny, rules.why.clone())
                }
                _ => (
                    Permission::Allow,
                    "a hook allowed it and no rule objects".into(),
                ),
            },
            None => (rules.permission, rules.why.clone()),
        }
    }

    /// A Bash line is allowed when each of its commands is, by whichever rule,
    /// and when it writes only where a rule or the mode lets it.
    fn allows_each_command(
        &self,
        call: &PermissionCall<'_>,
        mode: PermissionMode,
        area: WorkingDirs<'_>,
    ) -> Option<PermissionDecision> {
        // `None` everywhere below means "cannot be sure", and the mode decides.
        let line = call.shell_line()?;
        let commands = line.commands()?;
        let mut used: Vec<&str> = Vec::new();
        let allows = || {
            self.rules
                .iter()
                .filter(|r| r.text.list == Permission::Allow)
        };
        for command in commands {
            match allows().find(|r| r.allows_command(command)) {
                Some(rule) => {
                    let changes = command
                        .words
                        .first()
                        .is_some_and(|w| FILE_COMMANDS.contains(&w.as_str()));
                    // An allow for `rm *` is an allow for the project, not for the disk.
                    if changes && !area.keeps_inside(command) {
                        return None;
                    }
                    used.push(&rule.text.text);
                }
                // Reading needs no rule of its own inside the working directories.
                None if modes::is_read_only(command) => {
                    let CommandPaths::Read(read) = bash::extract_paths(&command.words) else {
                        return None;
                    };
                    for path in read.iter().filter(|path| !area.contains_path(path)) {
                        let rule = allows()
                            .find(|r| r.reads_paths() && r.covers_path(path, area.bases))?;
                        used.push(&rule.text.text);
                    }
                }
                None => return None,
            }
        }
        // A change of directory would move the paths that were looked at.
        let moves = commands
            .iter()
            .any(|c| c.words.first().is_some_and(|w| w == "cd"));
        if moves && commands.iter().any(|c| !modes::is_read_only(c)) {
            return None;
        }
        let written = line.redirected_writes();
        for path in written {
            match allows().find(|r| r.edits_paths() && r.covers_path(path, area.bases)) {
                Some(rule) => used.push(&rule.text.text),
                None if mode == PermissionMode::AcceptEdits && area.is_free(path) => {}
                None => return None,
            }
        }
        used.dedup();
        // A line without any rule is the mode's business, even if every command only reads.
        (!used.is_empty()).then(|| PermissionDecision {
            permission: Permission::Allow,
            rule: Some(used.join(", ")),
            why: format!(
                "every part of the line is covered by allow rules ({})",
                used.join(", ")
            ),
        })
    }
}

/// A call, read once for all rules.
struct PermissionCall<'a> {
    tool: &'a str,
    input: &'a Map<String, Value>,
    home: &'a Path,
    /// The command of a Bash call, read when a rule first asks.
    line: OnceCell<Option<ShellLine>>,
}

impl<'a> PermissionCall<'a> {
    fn new(tool: &'a str, input: &'a Map<String, Value>, bases: PathBases<'a>) -> Self {
        Self {
            // Rules and calls may both use a tool's former name.
            tool: current_name(tool),
            input,
            home: bases.home,
            line: OnceCell::new(),
        }
    }

    fn is_line(&self) -> bool {
        self.tool == "Bash"
    }

    fn shell_line(&self) -> Option<&ShellLine> {
        let read = || {
            let command = self.input_str("command").unwrap_or_default();
            self.is_line()
                .then(|| ShellLine::new(command, &self.home.to_string_lossy()))
        };
        self.line.get_or_init(read).as_ref()
    }

    fn input_str(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }

    /// The path of a file tool; for searches the directory they look in.
    fn path(&self) -> Option<&str> {
        match path_field(self.tool) {
            Some(field) => self.input_str(field),
            None if matches!(self.tool, "Glob" | "Grep") => self.input_str("path"),
            None => None,
        }
    }

    fn is_edit(&self) -> bool {
        matches!(self.tool, "Edit" | "Write" | "MultiEdit" | "NotebookEdit")
    }

    fn is_read(&self) -> bool {
        matches!(self.tool, "Read" | "Glob" | "Grep" | "LS")
    }
}

#[cfg(test)]
mod tests;
