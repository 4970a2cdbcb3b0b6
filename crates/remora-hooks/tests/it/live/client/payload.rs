//! Events as the client writes them.

use serde_json::{Map, Value, json};

use super::{Client, Talk};

const SESSION_ID: &str = "11111111-2222-4333-8444-555555555555";
const PROMPT_ID: &str = "00000000-0000-4000-8000-000000000001";

/// Events without a permission mode.
const WITHOUT_MODE: [&str; 9] = [
    "SessionStart",
    "SessionEnd",
    "Setup",
    "PreCompact",
    "PostCompact",
    "CwdChanged",
    "SubagentStart",
    "TaskCreated",
    "TaskCompleted",
];
/// Events that name the session's effort.
const WITH_EFFORT: [&str; 7] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "Stop",
    "SubagentStop",
];

impl Client<'_> {
    pub(super) fn build_payload(&self, talk: Option<&Talk>, event: &str, own: &Value) -> Value {
        let case = self.world.case;
        let main_cwd = self.main.borrow().cwd.clone();
        let cwd = talk.map_or(main_cwd, |talk| talk.cwd.clone());
        let cwd = if cwd.as_os_str().is_empty() {
            case.app()
        } else {
            cwd
        };
        let transcripts = case.root.join(".claude/projects/-home-dev-app");
        let transcript = transcripts.join(format!("{SESSION_ID}.jsonl"));
        let mut fields = Map::new();
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        set("session_id", SESSION_ID.into());
        set("transcript_path", transcript.to_string_lossy().into());
        set("cwd", cwd.to_string_lossy().into());
        if self.prompted.get() {
            set("prompt_id", PROMPT_ID.into());
        }
        if !WITHOUT_MODE.contains(&event) {
            set("permission_mode", self.mode.borrow().clone().into());
            if let Some(agent) = case.arg_value("--agent") {
                set("agent_type", agent.into());
            }
        }
        if let Some((id, kind)) = talk.and_then(|talk| talk.agent.as_ref()) {
            set("agent_id", id.clone().into());
            set("agent_type", kind.clone().into());
        }
        if WITH_EFFORT.contains(&event) && !self.world.model.is_old_style() {
            set("effort", json!({"level": "medium"}));
        }
        set("hook_event_name", event.into());
        if let (Some(talk), "Stop" | "SubagentStop") = (talk, event) {
            set("stop_hook_active", false.into());
            if let Some((id, _)) = &talk.agent {
                let file = format!("{SESSION_ID}/subagents/agent-{id}.jsonl");
                let path = transcripts.join(file);
                set("agent_transcript_path", path.to_string_lossy().into());
            }
            set("last_assistant_message", talk.last_text.clone().into());
            set("background_tasks", json!([]));
            set("session_crons", json!([]));
        }
        fields.extend(own.as_object().unwrap().clone());
        Value::Object(fields)
    }
}
