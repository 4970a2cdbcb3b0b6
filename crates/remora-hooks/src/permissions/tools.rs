//! What permission rules can say of each tool: one table of the client's tools,
//! for hosts that show calls and propose rules. Pure.

use std::path::Path;

use serde_json::{Map, Value};

/// What a call is about, which decides how a rule can be written for it. Calls
/// are written as `Tool(text)`, or as the tool alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSubject {
    /// A command line: a rule may cover all that begin alike.
    Command,
    /// A file that is changed: rules for it are written for one tool.
    EditedFile,
    /// A file that is read.
    ReadFile,
    /// A name or a host: a rule covers it and nothing like it.
    Named,
    /// Nothing in particular: a rule covers the tool.
    WholeTool,
    /// A question to the user: asking is what the tool is for.
    Question,
    /// A tool that rules say nothing of.
    Other,
}

impl RuleSubject {
    /// What calls of this tool are about.
    pub fn of_tool(tool: &str) -> Self {
        match tool {
            "Bash" => Self::Command,
            "Edit" | "MultiEdit" | "NotebookEdit" | "Write" => Self::EditedFile,
            "Read" => Self::ReadFile,
            "Agent" | "Skill" | "WebFetch" => Self::Named,
            "WebSearch" => Self::WholeTool,
            "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode" => Self::Question,
            _ if tool.starts_with("mcp__") => Self::WholeTool,
            _ => Self::Other,
        }
    }

    /// Whether a call is about a file.
    pub fn is_file(self) -> bool {
        matches!(self, Self::EditedFile | Self::ReadFile)
    }

    /// A rule with a pattern, written for the tool that the client looks such
    /// rules up by; `None` where it knows no patterns.
    pub fn write_rule(self, pattern: &str) -> Option<String> {
        let tool = match self {
            Self::Command => "Bash",
            Self::EditedFile => "Edit",
            Self::ReadFile => "Read",
            Self::Named | Self::WholeTool | Self::Question | Self::Other => return None,
        };
        Some(format!("{tool}({pattern})"))
    }
}

/// The input that a call's text describes; paths are relative to `root`.
pub fn build_call_input(tool: &str, text: &str, root: &Path) -> Map<String, Value> {
    let path = || root.join(text).display().to_string();
    let (field, value) = match tool {
        "Bash" => ("command", text.to_owned()),
        "NotebookEdit" => ("notebook_path", path()),
        "Glob" | "Grep" | "LS" => ("path", path()),
        "WebFetch" => {
            let host = text.strip_prefix("domain:").unwrap_or(text);
            ("url", format!("https://{host}/"))
        }
        "Agent" => ("subagent_type", text.to_owned()),
        "Skill" => ("skill", text.to_owned()),
        _ if RuleSubject::of_tool(tool).is_file() => ("file_path", path()),
        _ => return Map::new(),
    };
    Map::from_iter([(field.to_owned(), value.into())])
}

#[cfg(test)]
mod tests {
    use remora_core::Permission;

    use super::*;
    use crate::path_rule::PathBases;
    use crate::{LayerSource, PermissionMode, Permissions, RuleText};

    #[test]
    fn a_rule_written_for_a_call_covers_it() {
        let root = Path::new("/w");
        let bases = PathBases {
            home: root,
            start: root,
            cwd: root,
        };
        for (tool, text, pattern) in [
            ("Bash", "cargo test -q", "cargo test:*"),
            ("Edit", "src/a.rs", "/src/**"),
            ("MultiEdit", "src/a.rs", "/src/**"),
            ("NotebookEdit", "src/a.ipynb", "/src/**"),
            ("Write", "src/a.rs", "/src/a.rs"),
            ("Read", "src/a.rs", "/src/**"),
        ] {
            let text_of_rule = RuleSubject::of_tool(tool).write_rule(pattern).unwrap();
            let rule = RuleText {
                list: Permission::Deny,
                text: text_of_rule,
                source: LayerSource::Local,
                file: None,
            };
            let permissions = Permissions::new(&[rule], Vec::new());
            let input = build_call_input(tool, text, root);
            let decision = permissions.decide_call(tool, &input, PermissionMode::Default, bases);
            assert_eq!(decision.permission, Permission::Deny, "{tool}({text})");
        }
    }

    #[test]
    fn tools_without_patterns_get_none() {
        for (tool, subject) in [
            ("WebFetch", RuleSubject::Named),
            ("mcp__a__b", RuleSubject::WholeTool),
            ("ExitPlanMode", RuleSubject::Question),
            ("Glob", RuleSubject::Other),
        ] {
            assert_eq!(RuleSubject::of_tool(tool), subject, "{tool}");
            assert_eq!(subject.write_rule("x"), None, "{tool}");
        }
    }
}
