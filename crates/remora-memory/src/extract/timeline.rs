//! A few words for every event, for the timeline. A tool call is written as a
//! permission rule for it would be, so that what was asked and what then ran
//! can be found to be the same.

use remora_core::{EventName, Subject};

use super::item::one_line;
use crate::capture::CapturedEvent;
use crate::folder::relative_to_root;

/// A part of a label.
#[derive(Clone, Copy)]
enum LabelPart {
    /// A field as it is.
    Text(&'static str),
    /// A path, as seen from the project's root.
    Path(&'static str),
    /// The tool call.
    Call,
}

use LabelPart::{Call, Path, Text};

/// What is told of an event: the first part, a colon, and the others. Parts
/// that are missing are left out. Events that are not here are told by what
/// they are matched on and by the first field of `TELLING` that they have.
const EVENT_LABEL_PARTS: &[(EventName, &[LabelPart])] = &[
    (EventName::PreToolUse, &[Call]),
    (EventName::PostToolUse, &[Call]),
    (EventName::PostToolUseFailure, &[Call, Text("error")]),
    (EventName::PermissionRequest, &[Call]),
    (EventName::PermissionDenied, &[Call, Text("reason")]),
    (
        EventName::Notification,
        &[Text("notification_type"), Text("message")],
    ),
    (EventName::TaskCreated, &[Text("task_subject")]),
    (EventName::TaskCompleted, &[Text("task_subject")]),
    (EventName::TeammateIdle, &[Text("teammate_name")]),
    (
        EventName::ConfigChange,
        &[Text("source"), Path("file_path")],
    ),
    (EventName::CwdChanged, &[Path("new_cwd")]),
    (
        EventName::DirectoryAdded,
        &[Path("directory"), Text("source")],
    ),
    (EventName::FileChanged, &[Path("file_path"), Text("event")]),
    (
        EventName::InstructionsLoaded,
        &[
            Path("file_path"),
            Text("load_reason"),
            Path("trigger_file_path"),
            Path("parent_file_path"),
        ],
    ),
    (EventName::WorktreeCreate, &[Text("name")]),
    (EventName::WorktreeRemove, &[Path("worktree_path")]),
    (
        EventName::Elicitation,
        &[Text("mcp_server_name"), Text("message")],
    ),
    (
        EventName::ElicitationResult,
        &[Text("mcp_server_name"), Text("action")],
    ),
    (
        EventName::PreModelSwitch,
        &[Text("to_model"), Text("source")],
    ),
    (
        EventName::PostModelSwitch,
        &[Text("to_model"), Text("source")],
    ),
];

/// Fields that say what an event is about, the most telling first.
const DISTINCTIVE_FIELDS: &[&str] = &[
    "message",
    "reason",
    "error",
    "file_path",
    "name",
    "command_name",
    "agent_type",
    "source",
    "trigger",
];

/// Where a call says what it is about: fields of its input, the first that is
/// there. Calls of other tools are told by the tool's name alone.
const CALL_SUBJECT_FIELDS: &[(&str, &[&str])] = &[
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
];

/// The longest label, and the longest call in one.
const MAX_LABEL_CHARS: usize = 100;
const MAX_CALL_CHARS: usize = 200;
/// Stands where a command goes on in a new line: there it is no longer the
/// same command, and a blank would hide that.
const NEW_LINE_MARK: char = '⏎';

/// What this event is about, in a few words; may be empty.
pub(super) fn format_label(event: &CapturedEvent) -> String {
    let row = EVENT_LABEL_PARTS
        .iter()
        .find(|(name, _)| *name == event.event.name);
    let Some((_, parts)) = row else {
        return one_line(&by_fields(event), MAX_LABEL_CHARS);
    };
    let mut told = parts.iter().map(|part| part.format_for_event(event));
    let mut label = told.next().unwrap_or_default();
    let others: Vec<String> = told.filter(|text| !text.is_empty()).collect();
    let others = others.join(", ");
    if !others.is_empty() {
        if !label.is_empty() {
            label.push_str(": ");
        }
        label.push_str(&others);
    }
    label
}

impl LabelPart {
    fn format_for_event(self, event: &CapturedEvent) -> String {
        match self {
            // Whoever reads a label back finds the end of a call by these
            // three characters.
            Text(field) => {
                one_line(event.text_field(field), MAX_LABEL_CHARS).replace("): ", ") - ")
            }
            Path(field) => one_line(
                &relative_to_root(event.text_field(field), event.root()),
                MAX_LABEL_CHARS,
            ),
            Call => format_call(event),
        }
    }
}

/// The call as a rule: `Bash(cargo test)`, `Edit(src/cart.rs)`, `WebSearch`.
fn format_call(event: &CapturedEvent) -> String {
    let tool = one_line(event.text_field("tool_name"), MAX_LABEL_CHARS);
    let input = |field: &str| {
        let value = event.json_field("tool_input")?.get(field)?;
        value.as_str().filter(|text| !text.trim().is_empty())
    };
    if tool == "WebFetch" {
        return match input("url").and_then(parse_host) {
            Some(host) => format!("{tool}(domain:{host})"),
            None => tool,
        };
    }
    let fields = CALL_SUBJECT_FIELDS.iter().find(|(name, _)| *name == tool);
    let found = fields.and_then(|(_, fields)| fields.iter().find_map(|f| input(f)));
    let Some(found) = found else {
        return tool;
    };
    let text = if tool == "Bash" {
        let lines = found.trim().lines().map(str::trim_end);
        lines
            .collect::<Vec<_>>()
            .join(&format!(" {NEW_LINE_MARK} "))
    } else {
        relative_to_root(found, event.root())
    };
    let room = MAX_CALL_CHARS.saturating_sub(tool.chars().count() + 2);
    format!("{tool}({})", one_line(&text, room))
}

/// The host of a URL, without user, password and port.
fn parse_host(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#', '\\']).next()?;
    let rest = rest.rsplit('@').next()?;
    let host = if rest.starts_with('[') {
        rest.split_inclusive(']').next()?
    } else {
        rest.split(':').next()?
    };
    let host = one_line(host, MAX_LABEL_CHARS).to_lowercase();
    (!host.is_empty()).then_some(host)
}

fn by_fields(event: &CapturedEvent) -> String {
    let subject = match event.event.name.def().subject {
        Subject::Field(field) | Subject::FileName(field) => event.text_field(field),
        Subject::None => "",
    };
    let telling = DISTINCTIVE_FIELDS
        .iter()
        .map(|field| event.text_field(field))
        .find(|text| !text.is_empty() && *text != subject)
        .unwrap_or("");
    match (subject, telling) {
        ("", telling) => telling.to_owned(),
        (subject, "") => subject.to_owned(),
        (subject, telling) => format!("{subject}: {telling}"),
    }
}

#[cfg(test)]
mod tests;
