//! How the timeline names the client's events.

use remora_core::agent_event::{EventLabel, LabelPart};
use remora_core::{Event, EventName, Subject};

use super::owned_field;

/// A field that is a part of a label.
#[derive(Clone, Copy)]
enum LabelField {
    /// A field as it is.
    Text(&'static str),
    /// A path.
    Path(&'static str),
    /// The tool call.
    Call,
}

use LabelField::{Call, Path, Text};

/// The parts of an event's label. Events that are not here are named by what
/// they are matched on and by the first of [`DISTINCTIVE_FIELDS`] that they
/// have.
const EVENT_LABEL_FIELDS: &[(EventName, &[LabelField])] = &[
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

pub(super) fn decode_label(event: &Event) -> EventLabel {
    let row = EVENT_LABEL_FIELDS
        .iter()
        .find(|(name, _)| *name == event.name);
    let Some((_, fields)) = row else {
        return EventLabel::Line(format_line(event));
    };
    let part = |field: &LabelField| match field {
        Text(field) => LabelPart::Text(owned_field(event, field)),
        Path(field) => LabelPart::Path(owned_field(event, field)),
        Call => LabelPart::Call,
    };
    EventLabel::Parts(fields.iter().map(part).collect())
}

fn format_line(event: &Event) -> String {
    let text = |field: &str| event.str_field(field).unwrap_or_default();
    let subject = match event.name.def().subject {
        Subject::Field(field) | Subject::FileName(field) => text(field),
        Subject::None => "",
    };
    let detail = DISTINCTIVE_FIELDS
        .iter()
        .map(|field| text(field))
        .find(|text| !text.is_empty() && *text != subject)
        .unwrap_or("");
    match (subject, detail) {
        ("", detail) => detail.to_owned(),
        (subject, "") => subject.to_owned(),
        (subject, detail) => format!("{subject}: {detail}"),
    }
}
