//! Loaded files as the block a model reads, and as JSON. No file can break out of
//! the block: our tags and headings inside a text are escaped, because a
//! repository must not speak with the user's voice.

mod system;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use remora_core::text::defuse_tags;
use serde_json::{Value, json};

use crate::file::{InstructionKind, LoadReason, LoadedFile};
use crate::names::field;
use crate::{Instructions, SkippedFile};

pub use system::{SystemPromptPart, build_system_prompt};

/// Tags that only we may write.
const REMINDER_TAG: &str = "system-reminder";
const TEAM_MEMORY_TAG: &str = "team-memory-content";
/// What a heading begins with.
const HEADING_PREFIX: &str = "Contents of ";

/// Said once, before the first file.
const PREAMBLE: &str = "These are the standing instructions for this codebase and from the user \
                        you work for. Keep to them exactly; where they differ from how you would \
                        otherwise act, they decide.";

/// The block of the session's start; empty if there is nothing to say.
pub fn render_prompt(files: &[LoadedFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    push_opening_tag(&mut text);
    text.push_str(PREAMBLE);
    text.push('\n');
    for file in files {
        text.push('\n');
        push_file(&mut text, file);
    }
    push_closing_tag(&mut text);
    text
}

fn push_opening_tag(text: &mut String) {
    text.push('<');
    text.push_str(REMINDER_TAG);
    text.push_str(">\n");
}

fn push_closing_tag(text: &mut String) {
    text.push_str("</");
    text.push_str(REMINDER_TAG);
    text.push_str(">\n");
}

/// What a touched file brought in, as the blocks that follow a tool's result.
pub fn render_on_demand(files: &[LoadedFile]) -> String {
    let mut text = String::new();
    for file in files {
        push_opening_tag(&mut text);
        push_file(&mut text, file);
        push_closing_tag(&mut text);
    }
    text
}

fn push_file(text: &mut String, file: &LoadedFile) {
    let path = heading_path(file);
    let content = escape_markup(&file.content);
    // Writing into a string cannot fail.
    let _ = match file.label() {
        "" => writeln!(text, "{HEADING_PREFIX}{path}:\n"),
        label => writeln!(text, "{HEADING_PREFIX}{path} ({label}):\n"),
    };
    let _ = if file.kind == InstructionKind::TeamMem {
        writeln!(
            text,
            "<{TEAM_MEMORY_TAG} source=\"shared\">\n{content}\n</{TEAM_MEMORY_TAG}>"
        )
    } else {
        writeln!(text, "{content}")
    };
}

/// A path in a heading: one line, and nothing that is a tag of ours.
fn heading_path(file: &LoadedFile) -> String {
    // A file name may contain anything but a slash, line breaks and tags included.
    let path = file.path.to_string_lossy();
    let visible: String = path
        .chars()
        .flat_map(|c| {
            let shown = if is_break(c) || c.is_control() {
                c.escape_unicode().to_string()
            } else {
                c.to_string()
            };
            shown.chars().collect::<Vec<_>>()
        })
        .collect();
    escape_markup(&visible)
}

/// What ends a line for some reader.
fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// A text in which none of our tags, no control tag and none of our headings
/// occurs.
pub(crate) fn escape_markup(text: &str) -> String {
    let text = defuse_tags(text);
    let mut out = String::with_capacity(text.len());
    let mut line_start = true;
    for (at, c) in text.char_indices() {
        if line_start && text[at..].starts_with(HEADING_PREFIX) {
            out.push('\\');
        }
        out.push(c);
        // An indented heading would still look like one to a model.
        line_start = is_break(c) || (line_start && c.is_whitespace());
    }
    out
}

/// Everything as JSON, files in prompt order.
pub fn instructions_to_json(instructions: &Instructions) -> Value {
    let files = instructions
        .start()
        .iter()
        .chain(instructions.loaded_on_demand());
    json!({
        "files": files.map(file_json).collect::<Vec<_>>(),
        "skipped": instructions.skipped().map(skipped_json).collect::<Vec<_>>(),
        "warnings": instructions.warnings().collect::<Vec<_>>(),
    })
}

/// One file as JSON.
pub fn file_json(file: &LoadedFile) -> Value {
    json!({
        "path": file.path.to_string_lossy(),
        "kind": file.kind.as_str(),
        "label": file.label(),
        "reason": file.reason.as_str(),
        "by": if file.is_loaded_by_client() { "client" } else { "remora" },
        "parent": file.parent.as_ref().map(|p| p.to_string_lossy()),
        "globs": file.globs,
        "trigger": file.trigger.as_ref().map(|p| p.to_string_lossy()),
        "bytes": file.bytes,
        "tokens": file.estimate_tokens(),
        "content": file.content,
    })
}

fn skipped_json(skipped: &SkippedFile) -> Value {
    json!({
        "path": skipped.path.to_string_lossy(),
        "why": skipped.why.to_string(),
        "parent": skipped.parent.as_ref().map(|p| p.to_string_lossy()),
    })
}

/// The payload that hooks receive for a file, without the fields that the host
/// adds; `None` for files that are not announced.
pub fn build_hook_payload(file: &LoadedFile) -> Option<Value> {
    if file.announce == crate::HookNotice::No {
        return None;
    }
    let mut fact = json!({
        (field::FILE_PATH): file.path.to_string_lossy(),
        (field::MEMORY_TYPE): file.kind.as_str(),
        (field::LOAD_REASON): file.reason.as_str(),
    });
    let fields = fact.as_object_mut()?;
    // The client sends patterns for rules that they woke, and for nothing else.
    if let (Some(globs), LoadReason::PathGlobMatch) = (&file.globs, file.reason) {
        fields.insert(field::GLOBS.into(), json!(globs));
    }
    if let Some(trigger) = &file.trigger {
        fields.insert(
            field::TRIGGER_FILE_PATH.into(),
            json!(trigger.to_string_lossy()),
        );
    }
    if let Some(parent) = &file.parent {
        fields.insert(
            field::PARENT_FILE_PATH.into(),
            json!(parent.to_string_lossy()),
        );
    }
    Some(fact)
}
