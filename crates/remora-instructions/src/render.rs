//! Loaded files as the block a model reads, and as JSON. The block cannot be
//! broken by what files hold: our tags and headings in a text are disarmed.

mod system;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use remora_protocol::text::defuse;
use serde_json::{Value, json};

use crate::file::{Kind, Loaded, Reason};
use crate::{Instructions, Skipped};

pub use system::{Part, system};

/// Tags that only we may write.
const OUTER: &str = "system-reminder";
const TEAM: &str = "team-memory-content";
/// What a heading begins with.
const HEADING: &str = "Contents of ";

/// Said once, before the first file.
const PREAMBLE: &str = "These are the standing instructions for this codebase and from the person \
                        you work for. Keep to them exactly; where they differ from how you would \
                        otherwise act, they decide.";

/// The block of the session's start; empty if there is nothing to say.
pub fn prompt(files: &[Loaded]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    open(&mut text);
    text.push_str(PREAMBLE);
    text.push('\n');
    for file in files {
        text.push('\n');
        push_file(&mut text, file);
    }
    close(&mut text);
    text
}

fn open(text: &mut String) {
    text.push('<');
    text.push_str(OUTER);
    text.push_str(">\n");
}

fn close(text: &mut String) {
    text.push_str("</");
    text.push_str(OUTER);
    text.push_str(">\n");
}

/// What a touched file brought in, as the blocks that stand beside a tool's
/// result.
pub fn beside(files: &[Loaded]) -> String {
    let mut text = String::new();
    for file in files {
        open(&mut text);
        push_file(&mut text, file);
        close(&mut text);
    }
    text
}

fn push_file(text: &mut String, file: &Loaded) {
    let path = heading_path(file);
    let content = disarm(&file.content);
    // Writing into a string cannot fail.
    let _ = match file.label() {
        "" => writeln!(text, "{HEADING}{path}:\n"),
        label => writeln!(text, "{HEADING}{path} ({label}):\n"),
    };
    let _ = if file.kind == Kind::TeamMem {
        writeln!(text, "<{TEAM} source=\"shared\">\n{content}\n</{TEAM}>")
    } else {
        writeln!(text, "{content}")
    };
}

/// A path in a heading: one line, and nothing that is a tag of ours.
fn heading_path(file: &Loaded) -> String {
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
    disarm(&visible)
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
pub(crate) fn disarm(text: &str) -> String {
    let text = defuse(text);
    let mut out = String::with_capacity(text.len());
    let mut line_start = true;
    for (at, c) in text.char_indices() {
        if line_start && text[at..].starts_with(HEADING) {
            out.push('\\');
        }
        out.push(c);
        // A heading indented by blanks would still look like one.
        line_start = is_break(c) || (line_start && c.is_whitespace());
    }
    out
}

/// Everything as JSON, files in prompt order.
pub fn json(instructions: &Instructions) -> Value {
    let files = instructions.start().iter().chain(instructions.later());
    json!({
        "files": files.map(file_json).collect::<Vec<_>>(),
        "skipped": instructions.skipped().map(skipped_json).collect::<Vec<_>>(),
        "warnings": instructions.warnings().collect::<Vec<_>>(),
    })
}

/// One file as JSON.
pub fn file_json(file: &Loaded) -> Value {
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
        "tokens": file.tokens(),
        "content": file.content,
    })
}

fn skipped_json(skipped: &Skipped) -> Value {
    json!({
        "path": skipped.path.to_string_lossy(),
        "why": skipped.why.to_string(),
        "parent": skipped.parent.as_ref().map(|p| p.to_string_lossy()),
    })
}

/// What hooks are told of a file, without the fields that the host adds:
/// `None` for files they do not hear of.
pub fn fact(file: &Loaded) -> Option<Value> {
    if file.announce == crate::Announce::No {
        return None;
    }
    let mut fact = json!({
        "file_path": file.path.to_string_lossy(),
        "memory_type": file.kind.as_str(),
        "load_reason": file.reason.as_str(),
    });
    let fields = fact.as_object_mut()?;
    if let (Some(globs), Reason::PathGlobMatch) = (&file.globs, file.reason) {
        fields.insert("globs".into(), json!(globs));
    }
    if let Some(trigger) = &file.trigger {
        fields.insert("trigger_file_path".into(), json!(trigger.to_string_lossy()));
    }
    if let Some(parent) = &file.parent {
        fields.insert("parent_file_path".into(), json!(parent.to_string_lossy()));
    }
    Some(fact)
}
