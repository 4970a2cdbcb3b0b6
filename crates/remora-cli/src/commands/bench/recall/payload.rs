//! What the client would send for a step: the same fields as in recorded
//! events, made from the script and the tree as it stands.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::set::ScriptStep;

/// Lines that a patch shows around what it changes.
const CONTEXT_LINES: usize = 3;

/// The files of the working tree, as the steps so far left them.
pub(super) type FileTree = BTreeMap<String, String>;

/// Where in which session a step stands.
pub(super) struct StepPosition<'a> {
    pub(super) root: &'a Path,
    pub(super) session: &'a str,
    /// The number of the prompt.
    pub(super) prompt: usize,
    /// The number of the step.
    pub(super) step: usize,
}

impl StepPosition<'_> {
    fn build_event(&self, name: &str, rest: Value) -> Value {
        let folder = self.root.display();
        let mut event = Map::new();
        event.insert("session_id".into(), self.session.into());
        let transcript = format!("{folder}/../{}.jsonl", self.session);
        event.insert("transcript_path".into(), transcript.into());
        event.insert("cwd".into(), folder.to_string().into());
        if self.prompt > 0 {
            let id = format!("{}-p{}", self.session, self.prompt);
            event.insert("prompt_id".into(), id.into());
        }
        event.insert("permission_mode".into(), "default".into());
        event.insert("hook_event_name".into(), name.into());
        if let Value::Object(rest) = rest {
            event.extend(rest);
        }
        Value::Object(event)
    }

    fn build_tool_event(&self, tool: &str, input: &Value, response: &Value) -> Value {
        self.build_event(
            "PostToolUse",
            json!({
                "tool_name": tool,
                "tool_input": input,
                "tool_response": response,
                "tool_use_id": self.call_id(),
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
}

/// The event of a step; the tree becomes what the step makes of it. `None` for
/// what no hook tells. An error says why the step cannot be.
pub(super) fn build_payload(
    place: &StepPosition<'_>,
    step: &ScriptStep,
    tree: &mut FileTree,
) -> Result<Option<Value>, String> {
    Ok(Some(match step {
        ScriptStep::File { file, content } => {
            tree.insert(file.clone(), content.clone());
            return Ok(None);
        }
        ScriptStep::Memory { .. } => return Ok(None),
        ScriptStep::Session { .. } => {
            place.build_event("SessionStart", json!({ "source": "startup" }))
        }
        ScriptStep::Prompt { prompt } => {
            place.build_event("UserPromptSubmit", json!({ "prompt": prompt }))
        }
        ScriptStep::Read { read } => {
            let content = tree
                .get(read)
                .ok_or_else(|| format!("`{read}` is not there to be read"))?;
            let lines = content.lines().count() + 1;
            let path = place.path(read);
            place.build_tool_event(
                "Read",
                &json!({ "file_path": path }),
                &json!({ "type": "text", "file": {
                    "filePath": path, "content": content, "numLines": lines,
                    "startLine": 1, "totalLines": lines,
                } }),
            )
        }
        ScriptStep::Edit { edit, old, new } => build_edit(place, tree, edit, (old, new))?,
        ScriptStep::Write { write, content } => build_write(place, tree, write, content),
        ScriptStep::Bash { bash, output } => place.build_tool_event(
            "Bash",
            &json!({ "command": bash }),
            &json!({
                "stdout": output, "stderr": "", "interrupted": false,
                "isImage": false, "noOutputExpected": false,
            }),
        ),
        ScriptStep::Failed { bash, fails } => place.build_event(
            "PostToolUseFailure",
            json!({
                "tool_name": "Bash", "tool_input": { "command": bash },
                "tool_use_id": place.call_id(), "error": fails, "is_interrupt": false,
                "duration_ms": 900,
            }),
        ),
        ScriptStep::Grep { grep, found } => place.build_tool_event(
            "Grep",
            &json!({ "pattern": grep }),
            &json!({
                "mode": "files_with_matches", "numFiles": found.len(),
                "filenames": found.iter().map(|f| place.path(f)).collect::<Vec<_>>(),
            }),
        ),
        ScriptStep::Glob { glob, found } => place.build_tool_event(
            "Glob",
            &json!({ "pattern": glob }),
            &json!({
                "durationMs": 8, "numFiles": found.len(), "truncated": false,
                "filenames": found.iter().map(|f| place.path(f)).collect::<Vec<_>>(),
            }),
        ),
        ScriptStep::Say { say } => place.build_event(
            "Stop",
            json!({
                "stop_hook_active": false, "last_assistant_message": say,
                "background_tasks": [], "session_crons": [],
            }),
        ),
        ScriptStep::End { .. } => place.build_event("SessionEnd", json!({ "reason": "other" })),
    }))
}

fn build_edit(
    place: &StepPosition<'_>,
    tree: &mut FileTree,
    file: &str,
    (old, new): (&str, &str),
) -> Result<Value, String> {
    let before = tree.get(file).cloned();
    let before = before.ok_or_else(|| format!("`{file}` is not there to be edited"))?;
    let at = match before.matches(old).count() {
        1 => before.find(old).unwrap_or(0),
        n => return Err(format!("`{file}` holds the old text {n} times")),
    };
    let after = before.replacen(old, new, 1);
    let hunk = build_hunk(&before, &after, at..at + old.len(), new.len());
    tree.insert(file.to_owned(), after);
    let path = place.path(file);
    Ok(place.build_tool_event(
        "Edit",
        &json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false }),
        &json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": before,
            "structuredPatch": [hunk], "userModified": false, "replaceAll": false,
        }),
    ))
}

fn build_write(place: &StepPosition<'_>, tree: &mut FileTree, file: &str, content: &str) -> Value {
    let before = tree.insert(file.to_owned(), content.to_owned());
    let path = place.path(file);
    let hunks = match &before {
        Some(before) => vec![build_hunk(before, content, 0..before.len(), content.len())],
        None => Vec::new(),
    };
    place.build_tool_event(
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
    fn a_step_that_cannot_be_says_why() {
        let mut tree = FileTree::from([("a.rs".to_owned(), "one one".to_owned())]);
        let place = StepPosition {
            root: Path::new("/home/dev/app"),
            session: "s",
            prompt: 1,
            step: 1,
        };
        let edit = ScriptStep::Edit {
            edit: "a.rs".to_owned(),
            old: "one".to_owned(),
            new: "two".to_owned(),
        };
        let why = build_payload(&place, &edit, &mut tree).unwrap_err();
        assert_eq!(why, "`a.rs` holds the old text 2 times");
        let read = ScriptStep::Read {
            read: "b.rs".to_owned(),
        };
        let why = build_payload(&place, &read, &mut tree).unwrap_err();
        assert_eq!(why, "`b.rs` is not there to be read");
    }
}
