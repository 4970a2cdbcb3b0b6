//! A few words for every event, for the timeline.

use remora_protocol::Subject;

use super::item::one_line;
use crate::capture::Captured;

/// Fields that say what an event is about, the most telling first.
const TELLING: &[&str] = &[
    "message",
    "task_subject",
    "reason",
    "error",
    "to_model",
    "new_cwd",
    "directory",
    "worktree_path",
    "file_path",
    "name",
    "command_name",
    "mcp_server_name",
    "agent_type",
    "source",
    "trigger",
];
const LONGEST: usize = 100;

/// What this event is about, in a few words; may be empty.
pub(super) fn label(event: &Captured) -> String {
    let subject = match event.event.name.def().subject {
        Subject::Field(field) | Subject::FileName(field) => event.text(field),
        Subject::None => "",
    };
    let telling = TELLING
        .iter()
        .map(|field| event.text(field))
        .find(|text| !text.is_empty() && *text != subject)
        .unwrap_or("");
    let text = match (subject, telling) {
        ("", telling) => telling.to_owned(),
        (subject, "") => subject.to_owned(),
        (subject, telling) => format!("{subject}: {telling}"),
    };
    one_line(&text, LONGEST)
}
