//! What a call requested of a tool.

use remora_core::Event;
use remora_core::ids::CallId;
use remora_core::tool_call::{CallTarget, RuleText, ShellCall, ToolCall, ToolUse};

use super::raw_call::RawCall;
use super::{agents, edit, files, non_empty_field, web};

/// What the names of tools of MCP servers begin with.
const MCP_PREFIX: &str = "mcp__";

/// Where a call says what a permission rule for it would name: fields of its
/// input, the first that is there. Rules for other tools name the tool alone.
const RULE_FIELDS: &[(&str, &[&str])] = &[
    ("Bash", &["command"]),
    ("Edit", &["file_path"]),
    ("MultiEdit", &["file_path"]),
    ("Write", &["file_path"]),
    ("NotebookEdit", &["notebook_path", "file_path"]),
    ("Read", &["file_path"]),
    ("Glob", &["path", "pattern"]),
    ("Grep", &["path", "pattern"]),
    ("LS", &["path"]),
    ("Agent", &["subagent_type"]),
    ("Task", &["subagent_type"]),
    ("Skill", &["skill", "command"]),
    ("WebFetch", &["url"]),
];

/// Fields that say in a few words what a call is about, the most telling first.
const SUBJECT_FIELDS: &[&str] = &["description", "path", "skill", "subject", "taskId", "name"];

pub(super) fn decode_tool_use(event: &Event, raw: &RawCall<'_>) -> ToolUse {
    ToolUse {
        id: non_empty_field(event, "tool_use_id").map(CallId::from),
        name: raw.tool.to_owned(),
        rule: decode_rule(raw),
        target: decode_target(raw),
        call: decode_call(raw),
    }
}

fn decode_rule(raw: &RawCall<'_>) -> Option<RuleText> {
    let tool = raw.tool.trim();
    let (_, fields) = RULE_FIELDS.iter().find(|(name, _)| *name == tool)?;
    let found = fields.iter().find_map(|field| {
        let text = raw.any_input_text(field)?;
        (!text.trim().is_empty()).then(|| text.to_owned())
    })?;
    Some(match tool {
        "Bash" => RuleText::Command(found),
        "WebFetch" => RuleText::Url(found),
        _ => RuleText::Path(found),
    })
}

fn decode_target(raw: &RawCall<'_>) -> CallTarget {
    let find_text = |keys: &[&str]| keys.iter().find_map(|key| raw.owned_input(key));
    if let Some(path) = find_text(&["file_path", "notebook_path"]) {
        return CallTarget::File(path);
    }
    // What a server's tool means by its fields is its own affair.
    let is_own = !raw.tool.starts_with(MCP_PREFIX);
    if is_own && let Some(pattern) = find_text(&["pattern", "query"]) {
        return CallTarget::Pattern(pattern);
    }
    if let Some(url) = raw.owned_input("url") {
        return CallTarget::Url(url);
    }
    match find_text(SUBJECT_FIELDS).filter(|_| is_own) {
        Some(subject) => CallTarget::Subject(subject),
        None => CallTarget::Arguments(raw.input.clone()),
    }
}

fn decode_call(raw: &RawCall<'_>) -> ToolCall {
    match raw.tool {
        "Bash" => ToolCall::Shell(ShellCall {
            command: raw.any_input_text("command").unwrap_or("").to_owned(),
            description: raw.owned_input("description"),
        }),
        "BashOutput" => ToolCall::ShellPoll,
        "Read" | "NotebookRead" => ToolCall::ReadFile(files::decode_read(raw)),
        "LS" => ToolCall::ListFiles {
            path: raw.owned_input("path"),
        },
        "Grep" => ToolCall::SearchFiles(files::decode_search(raw)),
        "Glob" => ToolCall::FindFiles {
            pattern: raw.owned_input("pattern"),
            path: raw.owned_input("path"),
        },
        "Edit" | "Write" | "MultiEdit" => ToolCall::EditFiles(vec![edit::decode_file_edit(raw)]),
        "NotebookEdit" => ToolCall::EditNotebook(edit::decode_notebook_edit(raw)),
        "WebFetch" => web::decode_fetch(raw),
        "WebSearch" => web::decode_search(raw),
        // `Task` is the older name; archived events and transcripts still have
        // it.
        "Agent" | "Task" => ToolCall::Subagent(agents::decode_subagent_call(raw)),
        "Skill" | "SlashCommand" => agents::decode_skill(raw),
        "TaskCreate" | "TaskUpdate" | "TaskStop" => ToolCall::Task(agents::decode_task(raw)),
        "EnterWorktree" | "ExitWorktree" => ToolCall::Worktree(agents::decode_worktree(raw)),
        "AskUserQuestion" => agents::decode_question(raw),
        "EnterPlanMode" | "ExitPlanMode" => agents::decode_plan(raw),
        // Bookkeeping of the agent itself: nothing about the work.
        "TodoWrite"
        | "TodoRead"
        | "TaskList"
        | "TaskGet"
        | "TaskOutput"
        | "ToolSearch"
        | "ListMcpResources"
        | "ListMcpResourcesTool"
        | "ListAgents"
        | "ListSkills"
        | "CronList" => ToolCall::Bookkeeping,
        tool if tool.starts_with(MCP_PREFIX) => decode_mcp_call(raw),
        _ => ToolCall::Other {
            input: raw.input.clone(),
        },
    }
}

/// `mcp__server__tool`; a plugin's name may come before its server's.
fn decode_mcp_call(raw: &RawCall<'_>) -> ToolCall {
    let named = raw.tool.strip_prefix(MCP_PREFIX);
    let (server, tool) = named
        .and_then(|named| named.split_once("__"))
        .unwrap_or(("", raw.tool));
    ToolCall::Mcp {
        // The same server, whether a plugin or the settings brought it.
        server: server.strip_prefix("plugin_").unwrap_or(server).to_owned(),
        tool: tool.to_owned(),
        input: raw.input.clone(),
    }
}
