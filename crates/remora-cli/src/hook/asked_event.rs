//! The event that a hook answers, as what it asks of memory.

use remora_agents::AgentSpec;
use remora_core::agent_event::{AgentEvent, EventKind, PromptOrigin, StartSource};
use remora_core::tool_call::{CallTarget, SubagentCall, ToolCall, ToolOutcome, ToolUse};
use remora_memory::output;
use serde_json::Value;

/// An event in our own words. What it does not say is empty.
#[derive(Debug)]
pub(super) struct AskedEvent {
    pub(super) event: AgentEvent,
    /// The kind of a subagent for which none was named.
    default_subagent: &'static str,
}

/// A call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FailedCall<'a> {
    /// The command line; empty if it was no command.
    pub(super) command: &'a str,
    /// The error as the agent saw it.
    pub(super) error: &'a str,
    /// The file that it was about; empty if it was none.
    pub(super) path: &'a str,
}

impl FailedCall<'_> {
    /// Whether a file was to be opened that is not there.
    pub(super) fn misses_a_file(&self) -> bool {
        let says = ["does not exist", "no such file", "ENOENT"];
        !self.path.is_empty() && says.iter().any(|said| self.error.contains(said))
    }
}

impl AskedEvent {
    pub(super) fn new(event: AgentEvent, spec: &AgentSpec) -> Self {
        Self {
            event,
            default_subagent: spec.hook.default_subagent,
        }
    }

    /// How the session starts, if it does.
    pub(super) fn start_source(&self) -> Option<StartSource> {
        match self.event.kind {
            EventKind::SessionStarted(source) => Some(source),
            _ => None,
        }
    }

    /// What the user asked, or the client in its own name.
    pub(super) fn prompt(&self) -> Option<&str> {
        match &self.event.kind {
            EventKind::PromptSubmitted(prompt) if prompt.origin != PromptOrigin::SubagentTask => {
                Some(&prompt.text)
            }
            _ => None,
        }
    }

    /// The task with which a subagent begins, where it comes as a prompt.
    pub(super) fn prompted_task(&self) -> Option<&str> {
        match &self.event.kind {
            EventKind::PromptSubmitted(prompt) if prompt.origin == PromptOrigin::SubagentTask => {
                Some(&prompt.text)
            }
            _ => None,
        }
    }

    /// The subagent in which it happened; `None` in the session itself.
    pub(super) fn subagent_id(&self) -> Option<&str> {
        let id = self.event.subagent.as_ref().map(|agent| agent.id.as_str());
        id.filter(|id| !id.is_empty())
    }

    /// The kind of subagent in which it happened; empty for the client's own
    /// helpers.
    pub(super) fn subagent_kind(&self) -> &str {
        let agent = self.event.subagent.as_ref();
        agent.and_then(|agent| agent.kind.as_deref()).unwrap_or("")
    }

    fn announced(&self) -> Option<&ToolUse> {
        match &self.event.kind {
            EventKind::ToolAnnounced(tool_use) => Some(tool_use),
            _ => None,
        }
    }

    /// The file that is about to be read.
    pub(super) fn file_to_read(&self) -> Option<&str> {
        match &self.announced()?.call {
            ToolCall::ReadFile(read) if !read.is_notebook_tool => read.path.as_deref(),
            _ => None,
        }
    }

    /// The subagent that is about to be started with a task: its kind, and the
    /// task.
    pub(super) fn subagent_to_start(&self) -> Option<(&str, String)> {
        let ToolCall::Subagent(SubagentCall {
            kind,
            description,
            task: Some(task),
            ..
        }) = &self.announced()?.call
        else {
            return None;
        };
        let description = description.as_deref().unwrap_or("");
        let kind = kind.as_deref().unwrap_or(self.default_subagent);
        Some((kind, format!("{description}\n{task}")))
    }

    /// The call that failed.
    pub(super) fn failed_call(&self) -> Option<FailedCall<'_>> {
        let EventKind::ToolFinished(tool_use, ToolOutcome::Failed(failure)) = &self.event.kind
        else {
            return None;
        };
        Some(FailedCall {
            command: command_of(&tool_use.call),
            error: &failure.text,
            path: path_of(tool_use),
        })
    }

    /// The command that exited with 0, and what it printed.
    pub(super) fn command_output(&self) -> Option<(&str, &str)> {
        match &self.event.kind {
            EventKind::ToolFinished(
                ToolUse {
                    call: ToolCall::Shell(shell),
                    ..
                },
                ToolOutcome::Done(output),
            ) => Some((&shell.command, &output.text)),
            _ => None,
        }
    }

    /// The file that a command showed.
    pub(super) fn shown_file(&self) -> Option<String> {
        let (command, _) = self.command_output()?;
        output::shown_file(command)
    }

    /// The first file that an edit was about; empty if the call named none.
    pub(super) fn edited_file(&self) -> Option<&str> {
        match &self.event.kind {
            EventKind::ToolFinished(tool_use, ToolOutcome::Done(_)) => match &tool_use.call {
                ToolCall::EditFiles(edits) => {
                    let named = edits.iter().find(|edit| edit.is_named);
                    Some(named.map_or("", |edit| edit.path.as_str()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a hook has sent the agent back to work in this turn already.
    pub(super) fn is_continued(&self) -> bool {
        matches!(
            self.event.kind,
            EventKind::TurnEnded {
                continued: true,
                ..
            }
        )
    }

    /// What makes this event another one than the one before it.
    pub(super) fn claim_key(&self) -> String {
        let call = match &self.event.kind {
            EventKind::ToolAnnounced(tool_use) | EventKind::ToolFinished(tool_use, _) => {
                tool_use.id.as_deref()
            }
            _ => None,
        };
        let id = call
            // Several subagents begin within one prompt.
            .or_else(|| self.subagent_id())
            .or(self.event.turn.as_deref())
            .or_else(|| self.start_source().map(source_word))
            .unwrap_or_default();
        // Two installations send the same event with the same ids; the folder
        // distinguishes what has none.
        format!("{} {id} {}", self.event.name.as_str(), self.event.cwd)
    }
}

/// How a start is noted: another installation of ours must find the same word.
pub(super) fn source_word(source: StartSource) -> &'static str {
    match source {
        StartSource::Startup => "startup",
        StartSource::Resumed => "resume",
        StartSource::Forked => "fork",
        StartSource::Cleared => "clear",
        StartSource::Compacted => "compact",
        StartSource::Other => "",
    }
}

/// The command line of a shell, or of another server's tool that runs one.
fn command_of(call: &ToolCall) -> &str {
    match call {
        ToolCall::Shell(shell) => &shell.command,
        ToolCall::Mcp { input, .. } | ToolCall::Other { input } => {
            let command = input.get("command").and_then(Value::as_str);
            command.unwrap_or_default()
        }
        _ => "",
    }
}

/// The file that a call is about; cells of notebooks are not files.
fn path_of(tool_use: &ToolUse) -> &str {
    match (&tool_use.call, &tool_use.target) {
        // Nothing is recorded under a cell, so recall would look for a file
        // that no item names.
        (ToolCall::EditNotebook(_), _) => "",
        (ToolCall::ReadFile(read), _) if read.is_notebook_tool => "",
        (_, CallTarget::File(path)) => path,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use remora_agents::recorded_agent;
    use remora_core::EventName;
    use remora_core::agent_event::Prompt;
    use remora_core::ids::{AgentId, Timestamp};
    use serde_json::json;

    use super::*;

    fn asked(name: EventName, mut fields: Value) -> AskedEvent {
        let spec = recorded_agent();
        fields["hook_event_name"] = json!(name.as_str());
        let bytes = fields.to_string().into_bytes();
        let raw = (spec.parse_payload)(&bytes).unwrap().event;
        let event = (spec.decode_event)(&raw, AgentId::from(spec.name), Timestamp::from(0));
        AskedEvent::new(event, spec)
    }

    #[test]
    fn an_event_is_claimed_by_what_sets_it_apart() {
        for (name, fields, key) in [
            (
                EventName::PreToolUse,
                json!({"tool_use_id": "t1", "agent_id": "a1", "prompt_id": "p1", "cwd": "/w"}),
                "PreToolUse t1 /w",
            ),
            (
                EventName::SubagentStart,
                json!({"agent_id": "a1", "prompt_id": "p1", "cwd": "/w"}),
                "SubagentStart a1 /w",
            ),
            (
                EventName::UserPromptSubmit,
                json!({"prompt_id": "p1", "prompt": "x"}),
                "UserPromptSubmit p1 ",
            ),
            (
                EventName::SessionStart,
                json!({"source": "resume", "cwd": "/w"}),
                "SessionStart resume /w",
            ),
            (EventName::Stop, json!({}), "Stop  "),
        ] {
            assert_eq!(asked(name, fields).claim_key(), key);
        }
    }

    #[test]
    fn a_call_asks_for_what_it_is_about() {
        let call = |tool: &str, input: Value| {
            let fields = json!({"tool_name": tool, "tool_input": input});
            asked(EventName::PreToolUse, fields)
        };
        let read = call("Read", json!({"file_path": "/w/a.rs"}));
        assert_eq!(read.file_to_read(), Some("/w/a.rs"));
        let notebook = call("NotebookRead", json!({"notebook_path": "/w/a.ipynb"}));
        assert_eq!(notebook.file_to_read(), None);
        let started = call(
            "Agent",
            json!({"subagent_type": "Explore", "description": "look", "prompt": "find it"}),
        );
        assert_eq!(
            started.subagent_to_start(),
            Some(("Explore", "look\nfind it".to_owned()))
        );
        let unnamed = call("Task", json!({"prompt": "find it"}));
        assert_eq!(
            unnamed.subagent_to_start(),
            Some(("general-purpose", "\nfind it".to_owned()))
        );
        assert_eq!(call("Agent", json!({})).subagent_to_start(), None);
    }

    #[test]
    fn a_failure_tells_of_a_command_or_of_a_file() {
        let failed = |tool: &str, input: Value, error: &str| {
            let fields = json!({"tool_name": tool, "tool_input": input, "error": error});
            let asked = asked(EventName::PostToolUseFailure, fields);
            let failed = asked.failed_call().unwrap();
            let (command, path) = (failed.command.to_owned(), failed.path.to_owned());
            (command, path, failed.misses_a_file())
        };
        let told =
            |command: &str, path: &str, missing| (command.to_owned(), path.to_owned(), missing);
        assert_eq!(
            failed("Bash", json!({"command": "make"}), "Exit code 2"),
            told("make", "", false)
        );
        assert_eq!(
            failed("mcp__box__run", json!({"command": "make"}), "ENOENT"),
            told("make", "", false)
        );
        assert_eq!(
            failed("Read", json!({"file_path": "/w/a"}), "File does not exist."),
            told("", "/w/a", true)
        );
        assert_eq!(
            failed(
                "Edit",
                json!({"file_path": "/w/a"}),
                "String to replace not found"
            ),
            told("", "/w/a", false)
        );
        assert_eq!(
            failed("NotebookEdit", json!({"notebook_path": "/w/a"}), "ENOENT"),
            told("", "", false)
        );
    }

    #[test]
    fn what_came_of_a_call_is_an_output_or_an_edit() {
        let done = |tool: &str, input: Value, response: Value| {
            let fields = json!({"tool_name": tool, "tool_input": input, "tool_response": response});
            asked(EventName::PostToolUse, fields)
        };
        let shell = done(
            "Bash",
            json!({"command": "make | tail"}),
            json!({"stdout": "1 failed", "stderr": ""}),
        );
        assert_eq!(shell.command_output(), Some(("make | tail", "1 failed")));
        assert_eq!((shell.edited_file(), shell.failed_call()), (None, None));
        assert_eq!(shell.shown_file(), None);
        let edit = done(
            "Write",
            json!({"file_path": "/w/a", "content": ""}),
            json!({}),
        );
        assert_eq!(edit.edited_file(), Some("/w/a"));
        assert_eq!(edit.command_output(), None);
    }

    #[test]
    fn a_command_shows_a_file() {
        let ran = |command: &str, name: EventName| {
            let mut fields = json!({"tool_name": "Bash", "tool_input": {"command": command}});
            match name {
                EventName::PostToolUse => fields["tool_response"] = json!({"stdout": "x"}),
                _ => fields["error"] = json!("Exit code 1"),
            }
            asked(name, fields).shown_file()
        };
        for (command, name, shown) in [
            ("cat src/a.rs", EventName::PostToolUse, Some("src/a.rs")),
            (
                "sed -n '1,40p' /w/a.rs",
                EventName::PostToolUse,
                Some("/w/a.rs"),
            ),
            ("cat src/a.rs > b.rs", EventName::PostToolUse, None),
            ("cat a.rs b.rs", EventName::PostToolUse, None),
            ("tail build.log", EventName::PostToolUse, None),
            ("cargo test", EventName::PostToolUse, None),
            // It showed nothing, or has not yet.
            ("cat src/a.rs", EventName::PostToolUseFailure, None),
            ("cat src/a.rs", EventName::PreToolUse, None),
        ] {
            assert_eq!(ran(command, name).as_deref(), shown, "{command} {name:?}");
        }
    }

    #[test]
    fn a_task_that_comes_as_a_prompt_is_nobodys_wish() {
        let mut event = asked(EventName::UserPromptSubmit, json!({"prompt": "find it"}));
        assert_eq!(
            (event.prompt(), event.prompted_task()),
            (Some("find it"), None)
        );
        event.event.kind = EventKind::PromptSubmitted(Prompt {
            text: "find it".to_owned(),
            origin: PromptOrigin::SubagentTask,
        });
        assert_eq!(
            (event.prompt(), event.prompted_task()),
            (None, Some("find it"))
        );
    }
}
