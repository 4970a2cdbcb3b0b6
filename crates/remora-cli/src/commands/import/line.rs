//! What a line of an imported file is: part of an export of ours, its first
//! line, or a message of a conversation.

use serde::Deserialize;
use serde_json::Value;

use super::corpus::Message;
use super::source::Line;
use crate::commands::parts::Part;

/// The newest form of an export that this version reads.
pub(crate) const VERSION: u32 = 1;

/// The keys of an export's lines.
const PARTS: &[&str] = &[
    "project", "override", "session", "item", "file", "event", "raw",
];
/// The longest reason that is told.
const REASON: usize = 200;

/// What a line says.
pub(super) enum Said {
    /// The first line of an export.
    Head,
    /// A part of an export.
    Part(Part),
    /// A message.
    Message(Message),
}

#[derive(Deserialize)]
struct Head {
    remora: String,
    version: u32,
}

/// Reads a line, or says why it cannot be read.
pub(super) fn read(line: &Line<'_>) -> Result<Said, String> {
    let Line::Whole(bytes) = line else {
        return Err("the line is too long".to_owned());
    };
    // The form is told by the first key, so the wrong one fails at once.
    let part = match serde_json::from_slice::<Part>(bytes) {
        Ok(part) => return Ok(Said::Part(part)),
        Err(e) => e,
    };
    let message = match serde_json::from_slice::<Message>(bytes) {
        Ok(message) => return Ok(Said::Message(message)),
        Err(e) => e,
    };
    if let Ok(head) = serde_json::from_slice::<Head>(bytes)
        && head.remora == "export"
    {
        return if head.version <= VERSION {
            Ok(Said::Head)
        } else {
            Err(format!(
                "version {} of an export is newer than this program; update remora",
                head.version
            ))
        };
    }
    Err(reason(bytes, &part, &message))
}

fn reason(bytes: &[u8], part: &serde_json::Error, message: &serde_json::Error) -> String {
    let fault = match serde_json::from_slice::<Value>(bytes) {
        Err(e) => return format!("not JSON: {}", plain(&e)),
        Ok(Value::Object(map)) if map.keys().all(|key| PARTS.contains(&key.as_str())) => part,
        Ok(Value::Object(_)) => message,
        Ok(_) => return "not a JSON object".to_owned(),
    };
    plain(fault)
}

/// The error without the number of the line within the line.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match text.rsplit_once(" at line 1 column ") {
        Some((text, _)) if error.is_data() => text.to_owned(),
        Some((text, column)) => format!("{text} at column {column}"),
        None => text,
    };
    text.chars().take(REASON).collect()
}
