//! What a line of an imported file is: part of an export of ours, its first
//! line, or a message of a conversation.

use serde::Deserialize;
use serde_json::Value;

use super::corpus::CorpusMessage;
use super::source::SourceLine;
use crate::commands::parts::StorePart;

/// The newest form of an export that this version reads.
pub(crate) const EXPORT_VERSION: u32 = 1;

/// The keys of an export's lines.
const PART_KEYS: &[&str] = &[
    "project", "override", "session", "item", "file", "event", "raw",
];
/// The longest reason that a message quotes.
const MAX_REASON_CHARS: usize = 200;

/// What a line says.
pub(super) enum ImportLine {
    /// The first line of an export.
    Head,
    /// A part of an export.
    Part(StorePart),
    /// A message.
    Message(CorpusMessage),
}

#[derive(Deserialize)]
struct ExportHeader {
    remora: String,
    version: u32,
}

/// Reads a line, or says why it cannot be read.
pub(super) fn parse_line(line: &SourceLine<'_>) -> Result<ImportLine, String> {
    let SourceLine::Whole(bytes) = line else {
        return Err("the line is too long".to_owned());
    };
    // The first key decides the form, so the wrong one fails at once.
    let part = match serde_json::from_slice::<StorePart>(bytes) {
        Ok(part) => return Ok(ImportLine::Part(part)),
        Err(e) => e,
    };
    let message = match serde_json::from_slice::<CorpusMessage>(bytes) {
        Ok(message) => return Ok(ImportLine::Message(message)),
        Err(e) => e,
    };
    if let Ok(head) = serde_json::from_slice::<ExportHeader>(bytes)
        && head.remora == "export"
    {
        return if head.version <= EXPORT_VERSION {
            Ok(ImportLine::Head)
        } else {
            Err(format!(
                "version {} of an export is newer than this program; update remora",
                head.version
            ))
        };
    }
    Err(format_reason(bytes, &part, &message))
}

fn format_reason(bytes: &[u8], part: &serde_json::Error, message: &serde_json::Error) -> String {
    let fault = match serde_json::from_slice::<Value>(bytes) {
        Err(e) => return format!("not JSON: {}", format_json_error(&e)),
        Ok(Value::Object(map)) if map.keys().all(|key| PART_KEYS.contains(&key.as_str())) => part,
        Ok(Value::Object(_)) => message,
        Ok(_) => return "not a JSON object".to_owned(),
    };
    format_json_error(fault)
}

/// The error without the number of the line within the line.
fn format_json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match text.rsplit_once(" at line 1 column ") {
        Some((text, _)) if error.is_data() => text.to_owned(),
        Some((text, column)) => format!("{text} at column {column}"),
        None => text,
    };
    text.chars().take(MAX_REASON_CHARS).collect()
}
