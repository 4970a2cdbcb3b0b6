//! The fields of each event, typed. What a payload holds beyond them is kept
//! in `extra`, so decoding and encoding again loses nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::{Event, EventName};

/// Fields that any event may carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Common {
    /// The session.
    pub session_id: String,
    /// Its transcript; written with a delay.
    pub transcript_path: String,
    /// The current directory.
    pub cwd: String,
    /// The event's name.
    pub hook_event_name: String,
    /// The prompt this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The permission mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The model's effort, `{level}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Value>,
}

macro_rules! payloads {
    ($($name:ident { $(req $req:ident: $rt:ty,)* $(opt $opt:ident: $ot:ty,)* })*) => {
        $(
            #[doc = concat!("Fields of `", stringify!($name), "`.")]
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            pub struct $name {
                /// Fields shared with other events.
                #[serde(flatten)]
                pub common: Common,
                $(#[doc = concat!("`", stringify!($req), "`, always sent.")]
                pub $req: $rt,)*
                $(#[doc = concat!("`", stringify!($opt), "`, sent when known.")]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $opt: Option<$ot>,)*
                /// Everything else.
                #[serde(flatten)]
                pub extra: Map<String, Value>,
            }
        )*

        /// A payload of any event.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Payload { $(#[doc = concat!("`", stringify!($name), "`.")] $name(Box<$name>),)* }

        impl Payload {
            /// Reads the fields of an event.
            pub fn decode(event: &Event) -> Result<Self, serde_json::Error> {
                let value = Value::Object(event.fields.clone());
                Ok(match event.name { $(EventName::$name => Self::$name(Box::new(serde_json::from_value(value)?)),)* })
            }

            /// The fields again, as an event.
            pub fn encode(&self) -> Result<Event, serde_json::Error> {
                let (name, value) = match self { $(Self::$name(p) => (EventName::$name, serde_json::to_value(p)?),)* };
                let fields = match value { Value::Object(fields) => fields, _ => Map::new() };
                Ok(Event { name, fields })
            }
        }
    };
}

payloads! {
    SessionStart { req source: String, opt model: String, opt agent_type: String, opt session_title: String,
        opt seconds_since_last_response: Number, opt context_tokens: u64, opt prompt_cache_likely_expired: bool,
        opt estimated_cache_write_usd: Number, }
    Setup { req trigger: String, }
    InstructionsLoaded { req file_path: String, req memory_type: String, req load_reason: String,
        opt globs: Vec<String>, opt trigger_file_path: String, opt parent_file_path: String, }
    UserPromptSubmit { req prompt: String, opt source: String, opt session_title: String, }
    UserPromptExpansion { req expansion_type: String, req command_name: String, req command_args: String,
        req prompt: String, opt command_source: String, }
    MessageDisplay { req turn_id: String, req message_id: String, req index: u64, req r#final: bool, req delta: String, }
    PreToolUse { req tool_name: String, req tool_input: Value, req tool_use_id: String, opt mcp_server: Value,
        opt agent_id: String, opt agent_type: String, }
    PermissionRequest { req tool_name: String, req tool_input: Value, opt permission_suggestions: Value,
        opt mcp_server: Value, opt agent_id: String, opt agent_type: String, }
    PermissionDenied { req tool_name: String, req tool_input: Value, req tool_use_id: String, req reason: String,
        opt mcp_server: Value, opt agent_id: String, opt agent_type: String, }
    PostToolUse { req tool_name: String, req tool_input: Value, req tool_response: Value, req tool_use_id: String,
        opt duration_ms: u64, opt mcp_server: Value, opt agent_id: String, opt agent_type: String, }
    PostToolUseFailure { req tool_name: String, req tool_input: Value, req tool_use_id: String, req error: String,
        opt is_interrupt: bool, opt duration_ms: u64, opt mcp_server: Value, opt agent_id: String,
        opt agent_type: String, }
    PostToolBatch { req tool_calls: Vec<Value>, opt agent_id: String, opt agent_type: String, }
    SubagentStart { req agent_id: String, req agent_type: String, }
    SubagentStop { req stop_hook_active: bool, req agent_id: String, req agent_type: String,
        opt agent_transcript_path: String, opt last_assistant_message: String, opt background_tasks: Vec<Value>,
        opt session_crons: Vec<Value>, }
    TaskCreated { req task_id: String, req task_subject: String, opt task_description: String,
        opt teammate_name: String, opt team_name: String, }
    TaskCompleted { req task_id: String, req task_subject: String, opt task_description: String,
        opt teammate_name: String, opt team_name: String, }
    TeammateIdle { req teammate_name: String, opt team_name: String, opt agent_id: String, opt agent_type: String, }
    Stop { req stop_hook_active: bool, opt last_assistant_message: String, opt background_tasks: Vec<Value>,
        opt session_crons: Vec<Value>, }
    StopFailure { req error: String, opt error_details: Value, opt last_assistant_message: String, }
    PreCompact { req trigger: String, req custom_instructions: Option<String>, }
    PostCompact { req trigger: String, req compact_summary: String, }
    PreModelSwitch { req from_model: String, req to_model: String, req requested_model: Option<String>,
        req source: String, opt context_tokens: u64, opt prompt_cache_warm: bool, opt cache_ttl: String,
        opt estimated_cache_write_usd: Number, opt pricing: String, }
    PostModelSwitch { req from_model: String, req to_model: String, req requested_model: Option<String>,
        req source: String, opt context_tokens: u64, opt prompt_cache_warm: bool, opt cache_ttl: String,
        opt estimated_cache_write_usd: Number, opt pricing: String, }
    Notification { req message: String, req notification_type: String, opt title: String, }
    Elicitation { req mcp_server_name: String, req message: String, opt mode: String, opt url: String,
        opt elicitation_id: String, opt requested_schema: Value, }
    ElicitationResult { req mcp_server_name: String, req action: String, opt mode: String,
        opt elicitation_id: String, opt content: Value, }
    ConfigChange { req source: String, opt file_path: String, }
    CwdChanged { req old_cwd: String, req new_cwd: String, }
    FileChanged { req file_path: String, req event: String, }
    DirectoryAdded { req directory: String, req source: String, }
    WorktreeCreate { req name: String, }
    WorktreeRemove { req worktree_path: String, }
    SessionEnd { req reason: String, }
}
