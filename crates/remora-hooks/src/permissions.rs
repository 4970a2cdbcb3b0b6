//! Permission rules: what the merged `permissions` blocks and the mode say of
//! one tool call, and how that joins with what the hooks said. Pure.

use std::fmt;
use std::path::{Path, PathBuf};

use remora_protocol::Permission;
use serde_json::{Map, Value};

use crate::condition::{current_name, path_field, split_rule};
use crate::config::PermissionLists;
use crate::layers::{Place, Source};
use crate::path_rule::{Bases, PathRule, wildcard};
use crate::shell::{self, BashPattern, Reading};

mod modes;

pub use modes::PermissionMode;

/// One rule as written, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// The list it stands in.
    pub list: Permission,
    /// The rule.
    pub text: String,
    /// The layer.
    pub source: Source,
    /// The file.
    pub file: Option<PathBuf>,
}

impl RuleText {
    pub(crate) fn of(place: &Place, lists: &PermissionLists) -> Vec<Self> {
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
enum Target {
    /// The whole tool, or with `server` all tools of a server.
    Tool,
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

#[derive(Debug)]
struct Rule {
    text: RuleText,
    tool: String,
    target: Target,
}

/// Why a decision is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What the rules and the mode say.
    pub permission: Permission,
    /// The rule that decided; `None` when the mode did.
    pub rule: Option<String>,
    /// In plain words.
    pub why: String,
}

impl Decision {
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
    rules: Vec<Rule>,
    directories: Vec<PathBuf>,
    /// What a person should mend in their rules.
    pub warnings: Vec<String>,
}

impl Permissions {
    /// Compiles rules; `directories` are the additional ones.
    pub fn new(texts: &[RuleText], directories: Vec<PathBuf>) -> Self {
        let mut warnings = Vec::new();
        let mut rules = Vec::new();
        for text in texts {
            let Some(rule) = Rule::new(text) else {
                warnings.push(format!(
                    "{text} is not a rule (`Tool` or `Tool(pattern)`); it is ignored"
                ));
                continue;
            };
            if let Target::Void(why) = rule.target {
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
    pub fn decide(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        mode: PermissionMode,
        bases: Bases<'_>,
    ) -> Decision {
        let call = Call::new(tool, input, bases.home);
        for list in [Permission::Deny, Permission::Ask, Permission::Allow] {
            if let Some(rule) = self
                .rules
                .iter()
                .find(|r| r.text.list == list && r.covers(&call, bases))
            {
                return Decision {
                    permission: list,
                    rule: Some(rule.text.text.clone()),
                    why: format!("{} covers the call", rule.text),
                };
            }
        }
        if let Some(decision) = self.allows_each_command(&call) {
            return decision;
        }
        modes::decide(&call, mode, bases, &self.directories)
    }

    /// The deny rule that keeps the host from even announcing a call: one for
    /// the whole tool, or one on the path of a file tool.
    pub(crate) fn hidden_by(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        bases: Bases<'_>,
    ) -> Option<String> {
        let call = Call::new(tool, input, bases.home);
        self.rules
            .iter()
            .filter(|r| r.text.list == Permission::Deny)
            .filter(|r| matches!(r.target, Target::Tool | Target::Server(_) | Target::Path(_)))
            .find(|r| r.covers(&call, bases))
            .map(|r| r.text.to_string())
    }

    /// Joins the hooks' decision with the rules. A hook can tighten; it can
    /// spare the question; it cannot undo a deny or ask rule.
    pub(crate) fn join(
        hooks: Option<Permission>,
        rules: &Decision,
        mode: PermissionMode,
    ) -> (Permission, String) {
        let refused_by_mode = |why: &str| (Permission::Deny, why.to_owned());
        match hooks {
            Some(Permission::Deny) => (Permission::Deny, "a hook denied it".into()),
            Some(Permission::Defer) => (Permission::Defer, "a hook deferred it".into()),
            Some(Permission::Ask) if rules.permission == Permission::Deny => {
                (Permission::Deny, rules.why.clone())
            }
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

    /// A Bash line is allowed when each of its commands is, by whichever rule.
    fn allows_each_command(&self, call: &Call<'_>) -> Option<Decision> {
        let Reading::Understood {
            commands,
            unknown_argument,
            ..
        } = call.reading.as_ref()?
        else {
            return None;
        };
        if commands.is_empty() || *unknown_argument {
            return None;
        }
        let mut used: Vec<&str> = Vec::new();
        for command in commands {
            let rule = self.rules.iter().find(|r| {
                r.text.list == Permission::Allow
                    && matches!(&r.target, Target::Bash(pattern) if pattern.fits_command(command))
            });
            match rule {
                Some(rule) => used.push(&rule.text.text),
                None if modes::is_read_only(&command.text)
                    && !modes::redirects(call.command()?) => {}
                None => return None,
            }
        }
        (!used.is_empty()).then(|| Decision {
            permission: Permission::Allow,
            rule: Some(used.join(", ")),
            why: format!(
                "every command of the line is covered by allow rules ({})",
                used.join(", ")
            ),
        })
    }
}

/// A call, read once for all rules.
struct Call<'a> {
    tool: &'a str,
    input: &'a Map<String, Value>,
    reading: Option<Reading>,
}

impl<'a> Call<'a> {
    fn new(tool: &'a str, input: &'a Map<String, Value>, home: &Path) -> Self {
        let tool = current_name(tool);
        let command = input.get("command").and_then(Value::as_str);
        let reading = (tool == "Bash")
            .then(|| shell::read(command.unwrap_or_default(), &home.to_string_lossy()));
        Self {
            tool,
            input,
            reading,
        }
    }

    fn command(&self) -> Option<&str> {
        self.text("command")
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.input.get(field).and_then(Value::as_str)
    }

    /// The path of a file tool; for searches the directory they look in.
    fn path(&self) -> Option<&str> {
        match path_field(self.tool) {
            Some(field) => self.text(field),
            None if matches!(self.tool, "Glob" | "Grep") => self.text("path"),
            None => None,
        }
    }

    fn edits(&self) -> bool {
        matches!(self.tool, "Edit" | "Write" | "MultiEdit" | "NotebookEdit")
    }

    fn reads(&self) -> bool {
        matches!(self.tool, "Read" | "Glob" | "Grep" | "LS")
    }
}

impl Rule {
    fn new(text: &RuleText) -> Option<Self> {
        // `mcp__server__*` is the one rule whose tool name may hold a wildcard.
        let starred = text.text.starts_with("mcp__") && !text.text.contains('(');
        let (tool, pattern) = if starred {
            (text.text.as_str(), None)
        } else {
            split_rule(&text.text)?
        };
        let tool = current_name(tool);
        let target = match pattern {
            None | Some("" | "*") => match tool.strip_prefix("mcp__") {
                // `mcp__server` and `mcp__server__*` stand for all its tools.
                Some(rest) if !rest.contains("__") => Target::Server(format!("{tool}__")),
                _ => Target::Tool,
            },
            Some(pattern) => match tool {
                "Bash" => Target::Bash(BashPattern::new(pattern)),
                "Edit" | "Read" => Target::Path(PathRule::new(pattern)),
                "Write" | "MultiEdit" | "NotebookEdit" | "Glob" | "Grep" => Target::Void(
                    "path rules are written `Edit(path)` for every editing tool and `Read(path)` for reading",
                ),
                "WebFetch" => match pattern.strip_prefix("domain:") {
                    Some(domain) => Target::Domain(domain.trim_end_matches('.').to_lowercase()),
                    None => param(pattern)?,
                },
                "Agent" => Target::Named {
                    field: "subagent_type",
                    pattern: pattern.to_owned(),
                },
                "Skill" => Target::Named {
                    field: "skill",
                    pattern: pattern.to_owned(),
                },
                _ => param(pattern)?,
            },
        };
        Some(Self {
            text: text.clone(),
            tool: tool.to_owned(),
            target,
        })
    }

    fn covers(&self, call: &Call<'_>, bases: Bases<'_>) -> bool {
        // `mcp__server__*` arrives as a tool name with a wildcard in it.
        if self.tool.contains('*') {
            return wildcard(&self.tool, call.tool);
        }
        match &self.target {
            Target::Void(_) => false,
            Target::Server(prefix) => call.tool.starts_with(prefix.as_str()),
            Target::Path(rule) => {
                let fits_tool = match self.tool.as_str() {
                    "Edit" => call.edits(),
                    _ => call.reads(),
                };
                fits_tool && call.path().is_some_and(|path| rule.matches(path, bases))
            }
            _ if self.tool != call.tool => false,
            Target::Tool => true,
            Target::Bash(pattern) => match &call.reading {
                // An allow needs every command; that is looked at elsewhere.
                Some(Reading::Understood { commands, .. })
                    if self.text.list != Permission::Allow =>
                {
                    commands.iter().any(|c| pattern.fits_command(c))
                }
                // What cannot be read is asked about rather than allowed, and
                // only the plain text can be held against a deny or ask rule.
                Some(_) => call
                    .command()
                    .is_some_and(|c| self.text.list != Permission::Allow && pattern.fits(c)),
                None => false,
            },
            Target::Domain(domain) => call
                .text("url")
                .and_then(host)
                .is_some_and(|h| domain_fits(domain, &h)),
            Target::Named { field, pattern } => call.text(field).is_some_and(|name| {
                let prefix = pattern.strip_suffix(":*");
                name == pattern
                    || prefix.is_some_and(|p| name == p || name.starts_with(&format!("{p}:")))
                    || (pattern.contains('*') && prefix.is_none() && wildcard(pattern, name))
            }),
            Target::Param { field, pattern } => {
                call.input.get(field).is_some_and(|value| match value {
                    Value::String(text) => wildcard(pattern, text),
                    Value::Number(_) | Value::Bool(_) => wildcard(pattern, &value.to_string()),
                    _ => false,
                })
            }
        }
    }
}

fn param(pattern: &str) -> Option<Target> {
    let (field, value) = pattern.split_once(':')?;
    Some(Target::Param {
        field: field.to_owned(),
        pattern: value.to_owned(),
    })
}

/// The host of a URL, lower case, without port, user or trailing dot.
fn host(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = if host.starts_with('[') {
        host.split(']').next()?
    } else {
        host.split(':').next()?
    };
    Some(host.trim_end_matches('.').to_lowercase()).filter(|h| !h.is_empty())
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
    p.len() == h.len() && p.iter().zip(&h).all(|(p, h)| wildcard(p, h))
}

#[cfg(test)]
mod tests;
