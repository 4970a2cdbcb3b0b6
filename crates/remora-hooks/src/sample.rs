//! Events of a made-up session, shaped as the client sends them: what a host
//! builds when a user tries a hook. Pure; nothing here is run.

use std::path::PathBuf;

use remora_core::{DecodeError, Event, EventName};
use serde_json::{Map, Value, json};

/// The id of every made-up session.
pub const SAMPLE_SESSION_ID: &str = "00000000-0000-4000-8000-000000000000";

/// The session that made-up events belong to.
#[derive(Debug, Clone)]
pub struct SampleSession {
    /// Where it was started.
    pub project: String,
    /// Where its transcript would be.
    pub transcript: PathBuf,
}

/// What the caller says of a made-up event. The sample in the event table says the
/// rest, as far as the event has it.
#[derive(Debug, Clone, Default)]
pub struct SampleFields<'a> {
    /// The tool that is called; without it the other fields imply one.
    pub tool: Option<&'a str>,
    /// The command of a shell call.
    pub command: Option<&'a str>,
    /// The path of a file tool, or of a file event; relative to the project.
    pub path: Option<&'a str>,
    /// What is written to the file.
    pub content: Option<&'a str>,
    /// What is fetched.
    pub url: Option<&'a str>,
    /// The whole input of the call, in place of a made-up one.
    pub input: Option<Map<String, Value>>,
    /// The answer of the tool, in place of a made-up one.
    pub response: Option<Value>,
    /// The error of a failed call.
    pub error: Option<&'a str>,
    /// The user's prompt, or a subagent's.
    pub prompt: Option<&'a str>,
    /// What began it.
    pub source: Option<&'a str>,
    /// What set it off.
    pub trigger: Option<&'a str>,
    /// Why it ends.
    pub reason: Option<&'a str>,
    /// The text of a notification.
    pub message: Option<&'a str>,
    /// The type of a notification.
    pub notification_type: Option<&'a str>,
    /// The type of a subagent.
    pub agent_type: Option<&'a str>,
    /// Whether the stop follows a block.
    pub follows_block: bool,
    /// Any other field, laid over everything else.
    pub others: Vec<(&'a str, Value)>,
}

impl SampleSession {
    /// The fields that every event of this session begins with.
    pub fn begin_event(&self, name: EventName) -> Map<String, Value> {
        let mut event = Map::new();
        let mut insert = |field: &str, value: Value| event.insert(field.to_owned(), value);
        insert("session_id", SAMPLE_SESSION_ID.into());
        insert("transcript_path", self.transcript.to_string_lossy().into());
        insert("cwd", self.project.clone().into());
        if name.def().has_tool {
            insert("permission_mode", "default".into());
        }
        insert("hook_event_name", name.as_str().into());
        event
    }

    /// The event's sample, with what is said of it laid over it.
    pub fn build_event(
        &self,
        name: EventName,
        fields: SampleFields<'_>,
    ) -> Result<Event, DecodeError> {
        let mut event = self.begin_event(name);
        let sample: Map<String, Value> = serde_json::from_str(name.def().sample)?;
        event.extend(sample);
        let path = fields.path.map(|path| self.make_absolute(path));
        let mut overlay = |field: &str, value: Option<Value>| {
            if let Some(value) = value {
                event.insert(field.to_owned(), value);
            }
        };
        if !name.def().has_tool {
            overlay("file_path", path.map(Value::from));
        } else if let Some(tool) = fields.implied_tool() {
            let (input, response) = self.build_call(tool, &fields);
            overlay("tool_name", Some(tool.into()));
            overlay("tool_input", Some(fields.input.map_or(input, Value::from)));
            if name == EventName::PostToolUse {
                overlay("tool_response", Some(fields.response.unwrap_or(response)));
            }
        }
        for (field, value) in [
            ("error", fields.error),
            ("prompt", fields.prompt),
            ("source", fields.source),
            ("trigger", fields.trigger),
            ("reason", fields.reason),
            ("message", fields.message),
            ("notification_type", fields.notification_type),
            ("agent_type", fields.agent_type),
        ] {
            overlay(field, value.map(Value::from));
        }
        overlay(
            "stop_hook_active",
            fields.follows_block.then_some(Value::Bool(true)),
        );
        for (field, value) in fields.others {
            overlay(field, Some(value));
        }
        Event::from_value(Value::Object(event), None)
    }

    /// The input of the tool, and what it would answer.
    fn build_call(&self, tool: &str, fields: &SampleFields<'_>) -> (Value, Value) {
        let path = self.make_absolute(fields.path.unwrap_or("file.txt"));
        match tool {
            "Bash" => {
                // The client drops one needless change into the current directory.
                let command = fields.command.unwrap_or("echo hello");
                let command = command
                    .strip_prefix(&format!("cd {} && ", self.project))
                    .unwrap_or(command);
                (
                    json!({"command": command, "description": "Try it"}),
                    json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false}),
                )
            }
            "Write" => {
                let content = fields.content.unwrap_or("text\n");
                (
                    json!({"file_path": path, "content": content}),
                    json!({"type": "create", "filePath": path, "content": content, "structuredPatch": [], "originalFile": null, "userModified": false}),
                )
            }
            "Edit" => (
                json!({"file_path": path, "old_string": "a", "new_string": "b", "replace_all": false}),
                json!({"filePath": path, "oldString": "a", "newString": "b", "originalFile": "a\n", "structuredPatch": [], "userModified": false, "replaceAll": false}),
            ),
            "Read" => (
                json!({"file_path": path}),
                json!({"type": "text", "file": {"filePath": path, "content": ""}}),
            ),
            "NotebookEdit" => (json!({"notebook_path": path, "new_source": "0"}), json!({})),
            "WebFetch" => (
                json!({"url": fields.url.unwrap_or("https://example.com/"), "prompt": "Sum it up"}),
                json!({}),
            ),
            "Agent" | "Task" => (
                json!({"description": "Try it", "prompt": fields.prompt.unwrap_or("hello"), "subagent_type": fields.agent_type.unwrap_or("general-purpose")}),
                json!({}),
            ),
            _ => (json!({}), json!({})),
        }
    }

    fn make_absolute(&self, path: &str) -> String {
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.project)
        }
    }
}

impl<'a> SampleFields<'a> {
    /// The tool that is called: named, or the one that takes the other fields.
    pub fn implied_tool(&self) -> Option<&'a str> {
        let of_file = if self.content.is_some() {
            "Write"
        } else {
            "Edit"
        };
        self.tool
            .or(self.command.map(|_| "Bash"))
            .or(self.path.map(|_| of_file))
            .or(self.url.map(|_| "WebFetch"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_line(name: EventName, fields: SampleFields<'_>) -> String {
        let session = SampleSession {
            project: "/w".to_owned(),
            transcript: PathBuf::from("/t.jsonl"),
        };
        session.build_event(name, fields).unwrap().to_line()
    }

    #[test]
    fn a_call_has_the_fields_of_the_client_in_its_order() {
        let fields = SampleFields {
            command: Some("cd /w && make"),
            others: vec![("effort", json!(1))],
            ..SampleFields::default()
        };
        let line = build_line(EventName::PreToolUse, fields);
        assert!(
            line.starts_with(
                r#"{"session_id":"00000000-0000-4000-8000-000000000000","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make","description":"Try it"}"#
            ),
            "{line}"
        );
        assert!(line.ends_with(r#","effort":1}"#), "{line}");
    }

    #[test]
    fn a_path_is_of_a_tool_or_of_the_event_itself() {
        let fields = || SampleFields {
            path: Some("a.rs"),
            ..SampleFields::default()
        };
        let call = build_line(EventName::PostToolUse, fields());
        assert!(call.contains(r#""tool_name":"Edit","tool_input":{"file_path":"/w/a.rs","#));
        assert!(call.contains(r#""tool_response":{"filePath":"/w/a.rs","#));
        let change = build_line(EventName::FileChanged, fields());
        assert!(change.ends_with(r#""file_path":"/w/a.rs","event":"change"}"#));
    }
}
