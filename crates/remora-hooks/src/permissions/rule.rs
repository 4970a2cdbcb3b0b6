//! One permission rule: compiled once, tested on calls.

use std::fmt;
use std::path::{Path, PathBuf};

use remora_core::Permission;
use serde_json::Value;

use super::PermissionCall;
use super::bash::{WrapperKinds, unwrap_command};
use crate::condition::{current_name, split_rule};
use crate::config::PermissionLists;
use crate::layers::{LayerFile, LayerSource};
use crate::path_rule::{PathBases, PathRule};
use crate::shell::{BashPattern, SimpleCommand};
use crate::url::Url;
use crate::wildcard::matches_wildcard;

/// One rule as written, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// The list it is written in.
    pub list: Permission,
    /// The rule as it is written.
    pub text: String,
    /// The layer that it is written in.
    pub source: LayerSource,
    /// The file; `None` for JSON passed on the command line.
    pub file: Option<PathBuf>,
}

impl RuleText {
    pub(crate) fn from_lists(place: &LayerFile, lists: &PermissionLists) -> Vec<Self> {
        let rows = [
            (Permission::Deny, &lists.deny),
            (Permission::Ask, &lists.ask),
            (Permission::Allow, &lists.allow),
        ];
        rows.into_iter()
            .flat_map(|(list, texts)| texts.iter().map(move |text| (list, text)))
            .map(|(list, text)| Self {
                list,
                text: text.clone(),
                source: place.source,
                file: place.file.clone(),
            })
            .collect()
    }

    /// The directory that a leading `/` in a path rule means: that of the file for
    /// the user's settings and for a settings file named on the command line, else
    /// where the session started. In `if` it is the start directory for all layers.
    fn anchor_dir<'a>(&'a self, start: &'a Path) -> &'a Path {
        match (self.source, &self.file) {
            (LayerSource::User | LayerSource::Flag, Some(file)) => file.parent().unwrap_or(start),
            _ => start,
        }
    }
}

impl fmt::Display for RuleText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rule `{}` {}",
            self.list.as_str(),
            self.text,
            self.source.label()
        )
    }
}

#[derive(Debug)]
enum RuleTarget {
    Tool,
    /// All tools of a server.
    Server(String),
    Bash(BashPattern),
    Path(PathRule),
    Domain(String),
    /// An exact or prefix name in an input field.
    Named {
        field: &'static str,
        pattern: String,
    },
    Param {
        field: String,
        pattern: String,
    },
    /// Written, but without effect.
    Void(&'static str),
}

/// A compiled rule.
#[derive(Debug)]
pub(super) struct PermissionRule {
    pub(super) text: RuleText,
    tool: String,
    target: RuleTarget,
}

impl PermissionRule {
    pub(super) fn new(text: &RuleText) -> Option<Self> {
        // `mcp__server__*` is the one rule whose tool name may hold a wildcard.
        let starred = text.text.starts_with("mcp__") && !text.text.contains('(');
        let (tool, pattern) = if starred {
            (text.text.as_str(), None)
        } else {
            split_rule(&text.text)?
        };
        let tool = current_name(tool);
        let target = match pattern {
            // Empty parentheses are no rule here, although `if` takes them.
            Some("") => return None,
            None | Some("*") => match tool.strip_prefix("mcp__") {
                // In permission lists a bare server name covers all its tools; in matchers
                // and `if` it covers none.
                Some(rest) if !rest.contains("__") => RuleTarget::Server(format!("{tool}__")),
                _ => RuleTarget::Tool,
            },
            Some(pattern) => match tool {
                "Bash" => RuleTarget::Bash(BashPattern::new(pattern)),
                "Edit" | "Read" => RuleTarget::Path(path_rule(pattern, text.list)),
                // The client accepts these and matches nothing, so a user who wrote
                // `deny: Write(..)` is unprotected: worth a warning.
                "Write" | "MultiEdit" | "NotebookEdit" | "Glob" | "Grep" => RuleTarget::Void(
                    "path rules are written `Edit(path)` for every editing tool and `Read(path)` for reading",
                ),
                "WebFetch" => match pattern.strip_prefix("domain:") {
                    Some(domain) => RuleTarget::Domain(domain.trim_end_matches('.').to_lowercase()),
                    None => parse_param(pattern)?,
                },
                "Agent" => RuleTarget::Named {
                    field: "subagent_type",
                    pattern: pattern.to_owned(),
                },
                "Skill" => RuleTarget::Named {
                    field: "skill",
                    pattern: pattern.to_owned(),
                },
                _ => parse_param(pattern)?,
            },
        };
        Some(Self {
            text: text.clone(),
            tool: tool.to_owned(),
            target,
        })
    }

    /// Why the rule does nothing, if so.
    pub(super) fn void_reason(&self) -> Option<&'static str> {
        match self.target {
            RuleTarget::Void(why) => Some(why),
            _ => None,
        }
    }

    /// Whether the host refuses a call under this deny rule before any hook. Paths
    /// in a shell line are checked only after the hooks.
    pub(super) fn hides_call(&self, call: &PermissionCall<'_>) -> bool {
        match self.target {
            RuleTarget::Tool | RuleTarget::Server(_) => true,
            RuleTarget::Path(_) => !call.is_line(),
            _ => false,
        }
    }

    pub(super) fn matches_call(&self, call: &PermissionCall<'_>, bases: PathBases<'_>) -> bool {
        if self.tool.contains('*') {
            return matches_wildcard(&self.tool, call.tool);
        }
        match &self.target {
            RuleTarget::Void(_) => false,
            RuleTarget::Server(prefix) => call.tool.starts_with(prefix.as_str()),
            RuleTarget::Path(_) => {
                // `Edit(path)` covers every tool that edits, and what a shell line writes.
                let edits = self.tool == "Edit";
                match call.shell_line() {
                    // A path cannot allow a line, which may do other things as well.
                    Some(line) if self.text.list != Permission::Allow => {
                        let paths = if edits { &line.writes } else { &line.reads };
                        paths.iter().any(|path| self.covers_path(path, bases))
                    }
                    Some(_) => false,
                    None => {
                        let fits = if edits {
                            call.is_edit()
                        } else {
                            call.is_read()
                        };
                        fits && call
                            .path()
                            .is_some_and(|path| self.covers_path(path, bases))
                    }
                }
            }
            _ if self.tool != call.tool => false,
            RuleTarget::Tool => true,
            // An allow needs every command to be covered: `Permissions::allows_each_command`.
            RuleTarget::Bash(pattern) => match call.shell_line() {
                Some(line) if self.text.list != Permission::Allow => line
                    .candidates()
                    .iter()
                    .any(|text| pattern.matches_text(text)),
                _ => false,
            },
            RuleTarget::Domain(domain) => call
                .input_str("url")
                .and_then(Url::parse)
                .is_some_and(|url| domain_fits(domain, &url.host)),
            RuleTarget::Named { field, pattern } => call.input_str(field).is_some_and(|name| {
                let prefix = pattern.strip_suffix(":*");
                name == pattern
                    || prefix.is_some_and(|p| name == p || name.starts_with(&format!("{p}:")))
                    || (pattern.contains('*')
                        && prefix.is_none()
                        && matches_wildcard(pattern, name))
            }),
            RuleTarget::Param { field, pattern } => {
                call.input.get(field).is_some_and(|value| match value {
                    Value::String(text) => matches_wildcard(pattern, text),
                    Value::Number(_) | Value::Bool(_) => {
                        matches_wildcard(pattern, &value.to_string())
                    }
                    _ => false,
                })
            }
        }
    }

    /// Whether a path rule covers a path.
    pub(super) fn covers_path(&self, path: &str, bases: PathBases<'_>) -> bool {
        let RuleTarget::Path(rule) = &self.target else {
            return false;
        };
        rule.matches(
            path,
            PathBases {
                start: self.text.anchor_dir(bases.start),
                ..bases
            },
        )
    }

    /// Whether the rule is about editing files under a path.
    pub(super) fn edits_paths(&self) -> bool {
        self.tool == "Edit" && matches!(self.target, RuleTarget::Path(_))
    }

    /// Whether the rule is about reading files under a path.
    pub(super) fn reads_paths(&self) -> bool {
        self.tool == "Read" && matches!(self.target, RuleTarget::Path(_))
    }

    /// Whether an allow rule lets one command of a line run.
    pub(super) fn allows_command(&self, command: &SimpleCommand) -> bool {
        let RuleTarget::Bash(pattern) = &self.target else {
            return false;
        };
        let inner = unwrap_command(&command.words, WrapperKinds::Harmless);
        pattern.matches_text(&command.text)
            || inner.is_some_and(|words| pattern.matches_text(&words.join(" ")))
    }
}

/// In deny and ask rules a single directory counts at any depth.
fn path_rule(pattern: &str, list: Permission) -> PathRule {
    // The stricter lists reach further: `deny: Read(secrets/**)` is meant for every such
    // directory, while an allow must not grow beyond what was written.
    let single = pattern
        .strip_suffix("/**")
        .is_some_and(|dir| !dir.is_empty() && !dir.contains(['/', '~', '*']));
    if single && list != Permission::Allow {
        return PathRule::new(&format!("**/{pattern}"));
    }
    PathRule::new(pattern)
}

fn parse_param(pattern: &str) -> Option<RuleTarget> {
    let (field, value) = pattern.split_once(':')?;
    Some(RuleTarget::Param {
        field: field.to_owned(),
        pattern: value.to_owned(),
    })
}

/// `*.x.com` takes any subdomain but not `x.com`; elsewhere `*` stays in its label.
fn domain_fits(pattern: &str, host: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    if let Some(rest) = pattern.strip_prefix("*.") {
        return host
            .strip_suffix(rest)
            .is_some_and(|h| h.len() > 1 && h.ends_with('.'));
    }
    let (p, h): (Vec<&str>, Vec<&str>) = (pattern.split('.').collect(), host.split('.').collect());
    p.len() == h.len() && p.iter().zip(&h).all(|(p, h)| matches_wildcard(p, h))
}
