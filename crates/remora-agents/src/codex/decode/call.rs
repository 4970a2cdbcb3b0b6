//! What was asked of a tool.

use remora_core::Event;
use remora_core::ids::CallId;
use remora_core::tool_call::{
    CallTarget, FileChange, FileEdit, FileRead, RuleText, ShellCall, SubagentCall, ToolCall,
    ToolUse,
};
use serde_json::Value;

use super::super::patch::{list_patch_paths, parse_patch};
use super::super::wire::{field, tool};
use super::{non_empty_field, owned_field};

/// Tools that keep the client's own books, or wait for what another call began.
const BOOKKEEPING_TOOLS: &[&str] = &[
    "close_agent",
    "create_goal",
    "get_goal",
    "list_agents",
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "resume_agent",
    "send_input",
    "tool_search",
    "update_goal",
    "update_plan",
    "wait",
    "wait_agent",
    "write_stdin",
];

pub(super) fn decode_tool_use(event: &Event) -> ToolUse {
    let name = owned_field(event, field::TOOL_NAME);
    let input = event.fields.get(field::TOOL_INPUT).unwrap_or(&Value::Null);
    let cwd = event.str_field(field::CWD).unwrap_or_default();
    let call = decode_call(&name, input, cwd);
    ToolUse {
        id: non_empty_field(event, field::CALL).map(CallId::from),
        rule: find_rule(&name, input, cwd),
        target: find_target(&name, input, cwd),
        name,
        call,
    }
}

fn decode_call(name: &str, input: &Value, cwd: &str) -> ToolCall {
    let text = |key: &str| input_text(input, key).map(str::to_owned);
    match strip_namespace(name) {
        tool::SHELL => ToolCall::Shell(ShellCall {
            command: text(field::COMMAND).unwrap_or_default(),
            description: text("description"),
        }),
        tool::PATCH => {
            // A patch that cannot be read whole is kept as an opaque call: half of its
            // files would be a change that was never made.
            let patch = input_text(input, field::COMMAND).and_then(parse_patch);
            match patch.filter(|edits| !edits.is_empty()) {
                Some(mut edits) => {
                    for edit in &mut edits {
                        resolve_edit(edit, cwd);
                    }
                    ToolCall::EditFiles(edits)
                }
                None => ToolCall::Other {
                    input: input.clone(),
                },
            }
        }
        tool::SPAWN_AGENT => ToolCall::Subagent(SubagentCall {
            kind: text(field::AGENT_TYPE),
            description: None,
            task: text("message"),
            teammate: None,
        }),
        tool::WEB_SEARCH => ToolCall::SearchWeb {
            query: text("query"),
        },
        tool::VIEW_IMAGE => ToolCall::ReadFile(FileRead {
            path: text("path").map(|path| resolve_path(cwd, &path)),
            ..FileRead::default()
        }),
        tool::ASK_USER => ToolCall::AskUser {
            question: input
                .pointer("/questions/0/question")
                .and_then(Value::as_str)
                .map(str::to_owned),
        },
        // Compared without the namespace, which carries a version and changes with the
        // client.
        plain if BOOKKEEPING_TOOLS.contains(&plain) => ToolCall::Bookkeeping,
        _ => match name.strip_prefix(tool::MCP_PREFIX) {
            Some(rest) => {
                let (server, tool) = rest.split_once("__").unwrap_or(("", name));
                ToolCall::Mcp {
                    server: server.to_owned(),
                    tool: tool.to_owned(),
                    input: input.clone(),
                }
            }
            None => ToolCall::Other {
                input: input.clone(),
            },
        },
    }
}

/// A tool's name without the version of the client's agents, which comes
/// before it with no mark between: `multi_agent_v1wait_agent`.
fn strip_namespace(name: &str) -> &str {
    match name.strip_prefix(tool::AGENTS_PREFIX) {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => name,
    }
}

fn find_rule(name: &str, input: &Value, cwd: &str) -> Option<RuleText> {
    let command = input_text(input, field::COMMAND).filter(|text| !text.trim().is_empty())?;
    match name {
        tool::SHELL => Some(RuleText::Command(command.to_owned())),
        tool::PATCH => {
            // One rule names one file; the first represents the patch.
            let first = list_patch_paths(command).first().copied()?;
            Some(RuleText::Path(resolve_path(cwd, first)))
        }
        _ => None,
    }
}

fn find_target(name: &str, input: &Value, cwd: &str) -> CallTarget {
    let text = |key: &str| input_text(input, key);
    let file = match name {
        tool::PATCH => list_patch_paths(text(field::COMMAND).unwrap_or_default())
            .first()
            .copied(),
        tool::VIEW_IMAGE => text("path"),
        _ => None,
    };
    if let Some(file) = file {
        return CallTarget::File(resolve_path(cwd, file));
    }
    let subject = match name {
        tool::SHELL => text("description"),
        tool::SPAWN_AGENT => text("message"),
        _ => None,
    };
    if let Some(subject) = subject {
        return CallTarget::Subject(subject.to_owned());
    }
    match (name, text("query"), text("url")) {
        (tool::WEB_SEARCH, Some(query), _) => CallTarget::Pattern(query.to_owned()),
        (_, _, Some(url)) => CallTarget::Url(url.to_owned()),
        _ => CallTarget::Arguments(input.clone()),
    }
}

fn resolve_edit(edit: &mut FileEdit, cwd: &str) {
    edit.path = resolve_path(cwd, &edit.path);
    if let FileChange::Moved { from } = &mut edit.change {
        *from = resolve_path(cwd, from);
    }
}

/// Patches name files from the working directory, which may lie below the
/// project; memory names them from the project.
fn resolve_path(cwd: &str, path: &str) -> String {
    // Also paths of Windows, which begin with a backslash or a drive.
    let is_absolute = path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":");
    if is_absolute || cwd.is_empty() {
        return path.to_owned();
    }
    let mut folder = cwd.trim_end_matches('/');
    let mut rest = path;
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(above) = rest.strip_prefix("../")
            && let Some((parent, _)) = folder.rsplit_once('/')
        {
            (folder, rest) = (parent, above);
        } else {
            return format!("{folder}/{rest}");
        }
    }
}

fn input_text<'a>(input: &'a Value, key: &str) -> Option<&'a str> {
    let text = input.get(key)?.as_str()?;
    (!text.is_empty()).then_some(text)
}
