//! The `if` of a handler: one permission rule, tested on one tool call.
//!
//! It is a filter to save process starts, not a guard: a command that cannot be
//! parsed lets the handler run. Which rules exist here, and which never match,
//! follows the client, not its documentation.

use remora_core::Event;
use serde_json::Value;

use crate::matcher::TOOL_ALIASES;
use crate::path_rule::{PathBases, PathRule};
use crate::shell::{self, BashPattern, ShellReading};

/// A compiled condition.
#[derive(Debug)]
pub(crate) enum Condition {
    /// No `if` is written: always true.
    None,
    /// Not of the form `Tool` or `Tool(pattern)`: never true.
    Malformed,
    /// A rule for one tool, with or without a pattern.
    Rule {
        tool: String,
        pattern: ConditionPattern,
    },
}

#[derive(Debug)]
pub(crate) enum ConditionPattern {
    /// `Tool`, `Tool()`, `Tool(*)`.
    Any,
    Bash(BashPattern),
    Path(PathRule),
    /// A pattern for a tool whose calls the client does not look into.
    Dead,
}

/// The answer, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionResult {
    pub(crate) holds: bool,
    pub(crate) why: String,
}

/// One tool call, read once for all conditions.
#[derive(Debug)]
pub(crate) struct ToolCallView<'a> {
    tool: &'a str,
    path: Option<&'a str>,
    command: Option<&'a str>,
    reading: std::cell::OnceCell<ShellReading>,
    bases: PathBases<'a>,
}

/// The input field that holds the path of a file tool.
pub(crate) fn path_field(tool: &str) -> Option<&'static str> {
    match tool {
        // Glob and Grep are not here: `if` has no path rules for searches.
        "Read" | "Edit" | "Write" | "MultiEdit" => Some("file_path"),
        "NotebookEdit" => Some("notebook_path"),
        _ => None,
    }
}

impl<'a> ToolCallView<'a> {
    /// The call of a tool event.
    pub(crate) fn new(event: &'a Event, bases: PathBases<'a>) -> Self {
        let tool = event.str_field("tool_name").unwrap_or_default();
        let input = event.fields.get("tool_input");
        let field = |name: &str| input.and_then(|i| i.get(name)).and_then(Value::as_str);
        Self {
            tool,
            path: path_field(tool).and_then(field),
            // A `command` field of another tool is not a shell line.
            command: (tool == "Bash").then(|| field("command")).flatten(),
            reading: std::cell::OnceCell::new(),
            bases,
        }
    }

    fn shell_reading(&self) -> &ShellReading {
        self.reading.get_or_init(|| {
            shell::read_command(
                self.command.unwrap_or_default(),
                &self.bases.home.to_string_lossy(),
            )
        })
    }
}

/// Splits `Tool(pattern)`. The pattern ends at the last character, which must
/// be the closing parenthesis, so it may hold parentheses itself. Blanks around
/// the rule are not trimmed: the client never matches such a rule.
pub(crate) fn split_rule(text: &str) -> Option<(&str, Option<&str>)> {
    let is_name = |t: &str| {
        // MCP tools and plugins have dots, colons and `@` in their names. `Bash*` or
        // `Bash|Write` are no names, so such a condition never holds.
        !t.is_empty()
            && t.chars()
                .all(|c| c.is_alphanumeric() || "_-.:@".contains(c))
    };
    match text.split_once('(') {
        None => is_name(text).then_some((text, None)),
        Some((tool, rest)) => {
            let pattern = rest.strip_suffix(')')?;
            is_name(tool).then_some((tool, Some(pattern)))
        }
    }
}

/// The current name of a tool that may be written by its former one.
pub(crate) fn current_name(tool: &str) -> &str {
    TOOL_ALIASES
        .iter()
        .find(|(_, old)| *old == tool)
        .map_or(tool, |(now, _)| now)
}

impl Condition {
    pub(crate) fn new(text: Option<&str>) -> Self {
        let Some(text) = text.filter(|t| !t.is_empty()) else {
            return Self::None;
        };
        let Some((tool, pattern)) = split_rule(text) else {
            return Self::Malformed;
        };
        let tool = current_name(tool);
        let pattern = match pattern {
            // Stays true even for a command that is empty or not understood.
            None | Some("" | "*") => ConditionPattern::Any,
            Some(text) if tool == "Bash" => ConditionPattern::Bash(BashPattern::new(text)),
            Some(text) if path_field(tool).is_some() => ConditionPattern::Path(PathRule::new(text)),
            Some(_) => ConditionPattern::Dead,
        };
        Self::Rule {
            tool: tool.to_owned(),
            pattern,
        }
    }

    /// Why no call can ever fulfil the condition.
    pub(crate) fn never_reason(&self) -> Option<String> {
        match self {
            Self::Malformed => Some(
                "`if` must be exactly one rule, `Tool` or `Tool(pattern)`, without blanks around it; this one never holds"
                    .into(),
            ),
            Self::Rule { tool, pattern: ConditionPattern::Dead } => Some(format!(
                "`if` can look into Bash commands and file paths only; a pattern for {tool} never holds (use `{tool}` alone, or the matcher)"
            )),
            Self::Rule { pattern: ConditionPattern::Path(rule), .. } if rule.is_dead() => {
                Some("`if` names a path pattern that matches no path (check `..`, `!`, `#`, `.`)".into())
            }
            _ => None,
        }
    }

    /// Tests the call; `None` means that the event has none.
    pub(crate) fn test_call(&self, call: Option<&ToolCallView<'_>>) -> ConditionResult {
        let found = |holds, why: String| ConditionResult { holds, why };
        let (tool, pattern) = match self {
            Self::None => return found(true, String::new()),
            Self::Malformed => return found(false, self.never_reason().unwrap_or_default()),
            Self::Rule { tool, pattern } => (tool, pattern),
        };
        let Some(call) = call else {
            return found(
                false,
                "`if` needs a tool call; on this event the handler never runs".into(),
            );
        };
        // Exact: in `if` an Edit rule covers neither Write nor MultiEdit, unlike in
        // permission lists.
        if tool != call.tool {
            return found(
                false,
                format!("`if` is about {tool}, the call is {}", call.tool),
            );
        }
        match pattern {
            ConditionPattern::Any => found(true, format!("`if` takes every {tool} call")),
            ConditionPattern::Dead => found(false, self.never_reason().unwrap_or_default()),
            ConditionPattern::Bash(pattern) => {
                let verdict = pattern.matches(call.shell_reading());
                found(verdict.matches, format!("`if`: {}", verdict.why))
            }
            ConditionPattern::Path(rule) => match call.path {
                // Fails open, like everything here that cannot be decided.
                None => found(
                    true,
                    "`if` holds because the call names no path to test".into(),
                ),
                Some(path) => {
                    let holds = rule.matches(path, call.bases);
                    let verb = if holds { "fits" } else { "does not fit" };
                    found(holds, format!("`if`: the path {path} {verb}"))
                }
            },
        }
    }
}
