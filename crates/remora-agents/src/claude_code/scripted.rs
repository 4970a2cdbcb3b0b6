//! Events in the client's own form, made from what a script says happened: the
//! same fields as in recorded events.

use std::path::Path;

use remora_core::EventName;
use serde_json::{Map, Value, json};

use super::wire::{field, tool};

/// Lines that a patch shows around what it changes.
const CONTEXT_LINES: usize = 3;

/// The place of a scripted event in its session.
#[derive(Debug, Clone, Copy)]
pub struct ScriptPosition<'a> {
    /// The directory of the session; files are relative to it.
    pub root: &'a Path,
    /// The session.
    pub session: &'a str,
    /// The number of the prompt; 0 before the first.
    pub prompt: usize,
    /// The number of the event.
    pub step: usize,
}

/// Something that happened in a session.
#[derive(Debug, Clone, Copy)]
pub enum ScriptedEvent<'a> {
    /// It began.
    SessionStarted,
    /// The user asked.
    PromptSubmitted(&'a str),
    /// A whole file was read.
    FileRead {
        /// The file.
        file: &'a str,
        /// What it holds.
        content: &'a str,
    },
    /// One place of a file was changed.
    FileEdited {
        /// The file.
        file: &'a str,
        /// What it held.
        before: &'a str,
        /// What went, where it occurs first.
        old: &'a str,
        /// What came.
        new: &'a str,
    },
    /// A file was written as a whole.
    FileWritten {
        /// The file.
        file: &'a str,
        /// What it held, if it was there.
        before: Option<&'a str>,
        /// What it holds.
        content: &'a str,
    },
    /// A command ended well.
    CommandRan {
        /// The command line.
        command: &'a str,
        /// What it printed.
        output: &'a str,
    },
    /// A command failed.
    CommandFailed {
        /// The command line.
        command: &'a str,
        /// Its exit code and what it printed.
        error: &'a str,
    },
    /// Files were searched for texts.
    TextSearched {
        /// The pattern.
        pattern: &'a str,
        /// The files that hold it.
        found: &'a [String],
    },
    /// Files were searched by their names.
    FilesSearched {
        /// The pattern.
        pattern: &'a str,
        /// The files.
        found: &'a [String],
    },
    /// The agent said its last word of the turn.
    TurnEnded {
        /// What it said.
        message: &'a str,
    },
    /// It ended.
    SessionEnded,
}

impl ScriptedEvent<'_> {
    /// The payload that a hook would have been sent.
    pub fn into_payload(self, position: &ScriptPosition<'_>) -> Value {
        match self {
            Self::SessionStarted => {
                position.build_event(EventName::SessionStart, json!({ "source": "startup" }))
            }
            Self::PromptSubmitted(prompt) => position.build_event(
                EventName::UserPromptSubmit,
                json!({ (field::PROMPT): prompt }),
            ),
            Self::FileRead { file, content } => build_read(position, file, content),
            Self::FileEdited {
                file,
                before,
                old,
                new,
            } => build_edit(position, file, before, (old, new)),
            Self::FileWritten {
                file,
                before,
                content,
            } => build_write(position, file, before, content),
            Self::CommandRan { command, output } => position.build_call(
                tool::SHELL,
                &json!({ "command": command }),
                &json!({
                    "stdout": output, "stderr": "", "interrupted": false,
                    "isImage": false, "noOutputExpected": false,
                }),
            ),
            Self::CommandFailed { command, error } => position.build_event(
                EventName::PostToolUseFailure,
                json!({
                    (field::TOOL_NAME): tool::SHELL, (field::TOOL_INPUT): { "command": command },
                    (field::TOOL_USE_ID): position.call_id(), "error": error,
                    "is_interrupt": false, "duration_ms": 900,
                }),
            ),
            Self::TextSearched { pattern, found } => position.build_call(
                "Grep",
                &json!({ "pattern": pattern }),
                &json!({
                    "mode": "files_with_matches", "numFiles": found.len(),
                    "filenames": position.paths(found),
                }),
            ),
            Self::FilesSearched { pattern, found } => position.build_call(
                "Glob",
                &json!({ "pattern": pattern }),
                &json!({
                    "durationMs": 8, "numFiles": found.len(), "truncated": false,
                    "filenames": position.paths(found),
                }),
            ),
            Self::TurnEnded { message } => position.build_event(
                EventName::Stop,
                json!({
                    "stop_hook_active": false, "last_assistant_message": message,
                    "background_tasks": [], "session_crons": [],
                }),
            ),
            Self::SessionEnded => {
                position.build_event(EventName::SessionEnd, json!({ "reason": "other" }))
            }
        }
    }
}

impl ScriptPosition<'_> {
    fn build_event(&self, name: EventName, rest: Value) -> Value {
        let folder = self.root.display();
        let mut event = Map::new();
        let mut insert = |field: &str, value: Value| event.insert(field.to_owned(), value);
        insert(field::SESSION_ID, self.session.into());
        let transcript = format!("{folder}/../{}.jsonl", self.session);
        insert("transcript_path", transcript.into());
        insert(field::CWD, folder.to_string().into());
        if self.prompt > 0 {
            let id = format!("{}-p{}", self.session, self.prompt);
            insert("prompt_id", id.into());
        }
        insert("permission_mode", "default".into());
        insert(field::EVENT_NAME, name.as_str().into());
        if let Value::Object(rest) = rest {
            event.extend(rest);
        }
        Value::Object(event)
    }

    fn build_call(&self, tool: &str, input: &Value, response: &Value) -> Value {
        self.build_event(
            EventName::PostToolUse,
            json!({
                (field::TOOL_NAME): tool,
                (field::TOOL_INPUT): input,
                (field::TOOL_RESPONSE): response,
                (field::TOOL_USE_ID): self.call_id(),
                "duration_ms": 40,
            }),
        )
    }

    fn call_id(&self) -> String {
        format!("toolu_{}_{}", self.session, self.step)
    }

    fn path(&self, file: &str) -> String {
        self.root.join(file).display().to_string()
    }

    fn paths(&self, files: &[String]) -> Vec<String> {
        files.iter().map(|file| self.path(file)).collect()
    }
}

fn build_read(position: &ScriptPosition<'_>, file: &str, content: &str) -> Value {
    let lines = content.lines().count() + 1;
    let path = position.path(file);
    position.build_call(
        "Read",
        &json!({ "file_path": path }),
        &json!({ "type": "text", "file": {
            "filePath": path, "content": content, "numLines": lines,
            "startLine": 1, "totalLines": lines,
        } }),
    )
}

fn build_edit(
    position: &ScriptPosition<'_>,
    file: &str,
    before: &str,
    (old, new): (&str, &str),
) -> Value {
    let after = before.replacen(old, new, 1);
    let hunks: Vec<Value> = before
        .find(old)
        .map(|at| build_hunk(before, &after, at..at + old.len(), new.len()))
        .into_iter()
        .collect();
    let path = position.path(file);
    position.build_call(
        "Edit",
        &json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false }),
        &json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": before,
            "structuredPatch": hunks, "userModified": false, "replaceAll": false,
        }),
    )
}

fn build_write(
    position: &ScriptPosition<'_>,
    file: &str,
    before: Option<&str>,
    content: &str,
) -> Value {
    let path = position.path(file);
    let hunks = match before {
        Some(before) => vec![build_hunk(before, content, 0..before.len(), content.len())],
        None => Vec::new(),
    };
    position.build_call(
        "Write",
        &json!({ "file_path": path, "content": content }),
        &json!({
            "type": if before.is_some() { "update" } else { "create" },
            "filePath": path, "content": content, "structuredPatch": hunks,
            "originalFile": before, "userModified": false,
        }),
    )
}

/// One hunk of a patch: whole lines, with a few around them. `range` is what
/// was replaced in `before` by `length` bytes.
fn build_hunk(before: &str, after: &str, range: std::ops::Range<usize>, length: usize) -> Value {
    let first = before[..range.start].matches('\n').count();
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    // Lines from the first that differs to the last that does.
    let spans = |text: &str, lines: usize, end: usize| {
        let last = text[..end].trim_end_matches('\n').matches('\n').count() + 1;
        last.clamp(first, lines)
    };
    let old_end = spans(before, old.len(), range.end);
    let new_end = spans(after, new.len(), range.start + length);
    let top = first.saturating_sub(CONTEXT_LINES);
    let tail = (old.len() - old_end)
        .min(new.len() - new_end)
        .min(CONTEXT_LINES);
    let part = |lines: &[&str], from: usize, to: usize, mark: char| -> Vec<String> {
        let lines = lines.get(from..to).unwrap_or_default();
        lines.iter().map(|line| format!("{mark}{line}")).collect()
    };
    let mut lines = part(&old, top, first, ' ');
    lines.extend(part(&old, first, old_end, '-'));
    lines.extend(part(&new, first, new_end, '+'));
    lines.extend(part(&old, old_end, old_end + tail, ' '));
    json!({
        "oldStart": top + 1, "oldLines": old_end + tail - top,
        "newStart": top + 1, "newLines": new_end + tail - top,
        "lines": lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_shows_whole_lines_and_three_around_them() {
        let before = "a\nb\nc\nd\nlet x = 1;\ne\nf\ng\nh\n";
        let at = before.find("1;").unwrap();
        let after = before.replace("1;", "2;\nlet y = 3;");
        let hunk = build_hunk(before, &after, at..at + 2, "2;\nlet y = 3;".len());
        let expected = json!({
            "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 8,
            "lines": [" b", " c", " d", "-let x = 1;", "+let x = 2;", "+let y = 3;", " e", " f", " g"],
        });
        assert_eq!(hunk, expected);
    }

    #[test]
    fn a_call_is_a_payload_in_the_order_of_the_client() {
        let position = ScriptPosition {
            root: Path::new("/w"),
            session: "s",
            prompt: 2,
            step: 7,
        };
        let read = ScriptedEvent::FileRead {
            file: "a.rs",
            content: "x\n",
        };
        assert_eq!(
            read.into_payload(&position).to_string(),
            r#"{"session_id":"s","transcript_path":"/w/../s.jsonl","cwd":"/w","prompt_id":"s-p2","permission_mode":"default","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/w/a.rs"},"tool_response":{"type":"text","file":{"filePath":"/w/a.rs","content":"x\n","numLines":2,"startLine":1,"totalLines":2}},"tool_use_id":"toolu_s_7","duration_ms":40}"#
        );
    }
}
