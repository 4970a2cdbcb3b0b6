//! The table of events: what each is matched against, which handlers it takes,
//! how long they may run, what exit code 2 does and which answers count.
//!
//! It is the table of the hooks engine, which is compatible with one client on
//! purpose: subjects and samples are in that client's own words. Memory reads
//! what the adapters decode, never a field named here.
//!
//! A new event is one entry here and one recorded payload in `fixtures/agents`.
//! Nothing else in the workspace lists the events.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::text::{SwapCost, edit_distance};

/// The text that matchers of an event are tested against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The event has none: matchers are ignored.
    None,
    /// A top-level string field of the payload.
    Field(&'static str),
    /// The last path segment of a top-level string field.
    FileName(&'static str),
}

/// Which characters keep a matcher a plain list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherStyle {
    /// Letters, digits, `_ - space , |`; both `|` and `,` separate.
    Wide,
    /// Letters, digits, `_ |`; only `|` separates.
    Narrow,
}

/// What exit code 2 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTwo {
    /// Blocks what the event announces.
    Blocks,
    /// An ordinary failure; nothing is blocked.
    Fails,
}

/// What `continue: false` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopEffect {
    /// The turn ends.
    EndsTurn,
    /// The subagent ends and blocks are void; the turn goes on.
    EndsAgent,
    /// The event goes on as if it had not been said.
    Ignored,
}

/// Where text that is not a JSON object goes when the handler exits 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// It is dropped.
    Ignored,
    /// To the model.
    Context,
    /// To the instructions of the summary, JSON or not.
    CompactInstructions,
    /// Its last line is a path.
    WorktreePath,
}

/// A set of handler kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerKinds(u8);

impl HandlerKinds {
    /// A child process.
    pub const COMMAND: Self = Self(1);
    /// A POST request.
    pub const HTTP: Self = Self(2);
    /// A tool of a connected server.
    pub const MCP_TOOL: Self = Self(4);
    /// A question to a small model.
    pub const PROMPT: Self = Self(8);
    /// A verifying agent.
    pub const AGENT: Self = Self(16);
    const ALL: Self = Self(31);
    const OBSERVERS: Self = Self(7);
    const START: Self = Self(5);
    const REQUEST: Self = Self(15);

    /// Whether all of `other` are in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A set of answers an event honours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers(u32);

macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident = $bit:expr;)*) => {
        impl Answers { $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)* }
    };
}

answers! {
    /// `hookSpecificOutput.permissionDecision`.
    PERMISSION = 0;
    /// `hookSpecificOutput.decision`, the answer to a permission request.
    REQUEST = 1;
    /// Top-level `decision: block`.
    BLOCK = 2;
    /// `additionalContext`.
    CONTEXT = 3;
    /// `updatedInput`.
    INPUT = 4;
    /// `updatedToolOutput`, `updatedMCPToolOutput`, `classifierContext`.
    OUTPUT = 5;
    /// `sessionTitle`.
    TITLE = 6;
    /// `suppressOriginalPrompt`.
    SUPPRESS = 7;
    /// `initialUserMessage` and `reloadSkills`.
    OPENING = 8;
    /// `watchPaths`.
    WATCH = 9;
    /// `retry`.
    RETRY = 10;
    /// `displayContent`.
    DISPLAY = 11;
    /// `action` and `content`.
    ELICIT = 12;
    /// `worktreePath`.
    WORKTREE = 13;
    /// `systemMessage`.
    MESSAGE = 14;
    /// Top-level `decision: approve` is an old spelling of allow.
    APPROVE = 15;
}

impl Answers {
    /// No answer counts.
    pub const NONE: Self = Self(0);

    /// Both sets together.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventDef {
    /// Which event it is.
    pub name: EventName,
    /// Its name on the wire and in settings.
    pub text: &'static str,
    /// One line for lists and help.
    pub doc: &'static str,
    /// What matchers are tested against.
    pub subject: Subject,
    /// What separates a matcher of names from a regular expression.
    pub style: MatcherStyle,
    /// Handler kinds that may be registered.
    pub handlers: HandlerKinds,
    /// How long a command, http or `mcp_tool` handler may run by default.
    pub timeout: Duration,
    /// What exit code 2 does.
    pub exit_two: ExitTwo,
    /// What `continue: false` does.
    pub stop: StopEffect,
    /// Where plain text goes.
    pub plain: PlainText,
    /// Which answers the event honours.
    pub answers: Answers,
    /// The event is about one tool call, so an `if` condition can be tested.
    pub has_tool: bool,
    /// Handlers get a file to set session variables in.
    pub env_file: bool,
    /// `onFailure: block` turns a failure into a block.
    pub failure_can_block: bool,
    /// Its own fields, filled in as a host would: an example to try handlers on.
    pub sample: &'static str,
}

const fn base(name: EventName, text: &'static str, doc: &'static str) -> EventDef {
    EventDef {
        name,
        text,
        doc,
        subject: Subject::None,
        style: MatcherStyle::Wide,
        handlers: HandlerKinds::OBSERVERS,
        timeout: Duration::from_mins(10),
        exit_two: ExitTwo::Fails,
        stop: StopEffect::Ignored,
        plain: PlainText::Ignored,
        answers: Answers::NONE,
        has_tool: false,
        env_file: false,
        failure_can_block: false,
        sample: "{}",
    }
}

macro_rules! events {
    ($($(#[doc = $doc:literal])* $name:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        /// The name of an event. Generated from the table below.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventName { $($(#[doc = $doc])* $name,)* }

        /// Every event, in the order of a session's life.
        pub const EVENTS: &[EventDef] = &[$(
            EventDef {
                $($field: $value,)*
                ..base(EventName::$name, stringify!($name), concat!($($doc),*))
            },
        )*];
    };
}

const TOOL_NAME_SUBJECT: Subject = Subject::Field("tool_name");
const BLOCK_CONTEXT_ANSWERS: Answers = Answers::BLOCK.or(Answers::CONTEXT).or(Answers::MESSAGE);
const SHORT_TIMEOUT: Duration = Duration::from_secs(30);

events! {
    /// A session begins, resumes, or restarts after a clear, a compaction or a fork.
    SessionStart { sample: r#"{"source":"startup"}"#,
        subject: Subject::Field("source"), handlers: HandlerKinds::START, plain: PlainText::Context,
        answers: Answers::CONTEXT.or(Answers::OPENING).or(Answers::TITLE).or(Answers::WATCH).or(Answers::MESSAGE),
        env_file: true }
    /// The host was asked to initialise or maintain the project.
    Setup { sample: r#"{"trigger":"init"}"#,
        subject: Subject::Field("trigger"), handlers: HandlerKinds::START,
        answers: Answers::CONTEXT.or(Answers::MESSAGE), env_file: true }
    /// An instruction file entered the context.
    InstructionsLoaded { sample: r#"{"file_path":"CLAUDE.md","memory_type":"Project","load_reason":"session_start"}"#,
        subject: Subject::Field("load_reason") }
    /// A prompt was submitted and is about to be processed.
    UserPromptSubmit { sample: r#"{"prompt":"hello"}"#,
        handlers: HandlerKinds::ALL, timeout: SHORT_TIMEOUT, exit_two: ExitTwo::Blocks,
        stop: StopEffect::EndsTurn, plain: PlainText::Context,
        answers: BLOCK_CONTEXT_ANSWERS.or(Answers::TITLE).or(Answers::SUPPRESS), failure_can_block: true }
    /// A typed command expands to a prompt.
    UserPromptExpansion { sample: r#"{"expansion_type":"slash_command","command_name":"greet","command_args":"","command_source":"projectSettings","prompt":"/greet"}"#,
        subject: Subject::Field("command_name"), handlers: HandlerKinds::ALL,
        exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn, plain: PlainText::Context,
        answers: BLOCK_CONTEXT_ANSWERS.or(Answers::SUPPRESS), failure_can_block: true }
    /// A piece of the assistant's text is about to be shown.
    MessageDisplay { sample: r#"{"turn_id":"turn","message_id":"message","index":0,"final":true,"delta":"Done."}"#,
        timeout: Duration::from_secs(10), answers: Answers::DISPLAY }
    /// A tool call is ready and has not been made.
    PreToolUse { sample: r#"{"tool_name":"Bash","tool_input":{"command":"echo hello","description":"Say hello"},"tool_use_id":"toolu_try"}"#,
        subject: TOOL_NAME_SUBJECT, handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn,
        answers: BLOCK_CONTEXT_ANSWERS.or(Answers::PERMISSION).or(Answers::INPUT).or(Answers::APPROVE),
        has_tool: true, failure_can_block: true }
    /// A call needs permission.
    PermissionRequest { sample: r#"{"tool_name":"Bash","tool_input":{"command":"echo hello","description":"Say hello"},"permission_suggestions":[]}"#,
        subject: TOOL_NAME_SUBJECT, handlers: HandlerKinds::REQUEST, answers: Answers::REQUEST,
        has_tool: true, failure_can_block: true }
    /// The automatic mode refused a call.
    PermissionDenied { sample: r#"{"tool_name":"Bash","tool_input":{"command":"echo hello","description":"Say hello"},"tool_use_id":"toolu_try","reason":"not allowed"}"#,
        subject: TOOL_NAME_SUBJECT, handlers: HandlerKinds::ALL, answers: Answers::RETRY.or(Answers::MESSAGE),
        has_tool: true }
    /// A tool returned.
    PostToolUse { sample: r#"{"tool_name":"Bash","tool_input":{"command":"echo hello","description":"Say hello"},"tool_response":{"stdout":"hello","stderr":"","interrupted":false,"isImage":false},"tool_use_id":"toolu_try","duration_ms":12}"#,
        subject: TOOL_NAME_SUBJECT, handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn,
        answers: BLOCK_CONTEXT_ANSWERS.or(Answers::OUTPUT), has_tool: true, failure_can_block: true }
    /// A tool failed.
    PostToolUseFailure { sample: r#"{"tool_name":"Bash","tool_input":{"command":"false","description":"Fail"},"tool_use_id":"toolu_try","error":"Exit code 1","is_interrupt":false,"duration_ms":12}"#,
        subject: TOOL_NAME_SUBJECT, handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks,
        answers: BLOCK_CONTEXT_ANSWERS, has_tool: true, failure_can_block: true }
    /// All calls of one assistant message are done.
    PostToolBatch { sample: r#"{"tool_calls":[{"tool_name":"Bash","tool_input":{"command":"echo hello"},"tool_use_id":"toolu_try","tool_response":"hello"}]}"#,
        handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn,
        answers: BLOCK_CONTEXT_ANSWERS, failure_can_block: true }
    /// A subagent was started.
    SubagentStart { sample: r#"{"agent_id":"agent-try","agent_type":"general-purpose"}"#,
        subject: Subject::Field("agent_type"), answers: Answers::CONTEXT.or(Answers::MESSAGE) }
    /// A subagent finished its answer.
    SubagentStop { sample: r#"{"stop_hook_active":false,"agent_id":"agent-try","agent_type":"general-purpose","last_assistant_message":"Done.","background_tasks":[],"session_crons":[]}"#,
        subject: Subject::Field("agent_type"), handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks,
        stop: StopEffect::EndsAgent, answers: BLOCK_CONTEXT_ANSWERS }
    /// A task was created.
    TaskCreated { sample: r#"{"task_id":"1","task_subject":"Try it","task_description":""}"#,
        handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks,
        answers: Answers::BLOCK.or(Answers::MESSAGE), failure_can_block: true }
    /// A task is about to count as done.
    TaskCompleted { sample: r#"{"task_id":"1","task_subject":"Try it","task_description":""}"#,
        handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn,
        answers: Answers::BLOCK.or(Answers::MESSAGE) }
    /// A member of a team is about to go idle.
    TeammateIdle { sample: r#"{"teammate_name":"alice","team_name":"team"}"#,
        handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn,
        answers: Answers::BLOCK.or(Answers::MESSAGE) }
    /// The main agent finished its answer.
    Stop { sample: r#"{"stop_hook_active":false,"last_assistant_message":"Done.","background_tasks":[],"session_crons":[]}"#,
        handlers: HandlerKinds::ALL, exit_two: ExitTwo::Blocks, stop: StopEffect::EndsTurn, answers: BLOCK_CONTEXT_ANSWERS }
    /// The turn ended with an error of the model's service.
    StopFailure { sample: r#"{"error":"rate_limit","last_assistant_message":"The service is busy."}"#,
        subject: Subject::Field("error"), style: MatcherStyle::Narrow }
    /// The conversation is about to be summarised.
    PreCompact { sample: r#"{"trigger":"manual","custom_instructions":null}"#,
        subject: Subject::Field("trigger"), exit_two: ExitTwo::Blocks, plain: PlainText::CompactInstructions,
        answers: Answers::BLOCK, failure_can_block: true }
    /// The conversation was summarised.
    PostCompact { sample: r#"{"trigger":"manual","compact_summary":"A summary."}"#,
        subject: Subject::Field("trigger") }
    /// A change of model was asked for.
    PreModelSwitch { sample: r#"{"from_model":"model-a","to_model":"model-b","requested_model":"model-b","source":"command"}"#,
        subject: Subject::Field("to_model"), timeout: SHORT_TIMEOUT, exit_two: ExitTwo::Blocks,
        answers: Answers::BLOCK.or(Answers::PERMISSION).or(Answers::MESSAGE), failure_can_block: true }
    /// The model changed.
    PostModelSwitch { sample: r#"{"from_model":"model-a","to_model":"model-b","requested_model":"model-b","source":"command"}"#,
        subject: Subject::Field("to_model"), timeout: SHORT_TIMEOUT,
        answers: Answers::CONTEXT.or(Answers::MESSAGE) }
    /// The host notifies the user.
    Notification { sample: r#"{"message":"Permission is needed","notification_type":"permission_prompt"}"#,
        subject: Subject::Field("notification_type") }
    /// A server asks the user for input.
    Elicitation { sample: r#"{"mcp_server_name":"server","message":"Your name?","mode":"form","requested_schema":{"type":"object","properties":{}}}"#,
        subject: Subject::Field("mcp_server_name"), exit_two: ExitTwo::Blocks,
        answers: Answers::ELICIT.or(Answers::BLOCK), failure_can_block: true }
    /// The user answered a server.
    ElicitationResult { sample: r#"{"mcp_server_name":"server","mode":"form","action":"accept","content":{}}"#,
        subject: Subject::Field("mcp_server_name"), exit_two: ExitTwo::Blocks,
        answers: Answers::ELICIT.or(Answers::BLOCK), failure_can_block: true }
    /// A settings or skill file changed on disk.
    ConfigChange { sample: r#"{"source":"user_settings","file_path":"settings.json"}"#,
        subject: Subject::Field("source"), exit_two: ExitTwo::Blocks, answers: Answers::BLOCK,
        failure_can_block: true }
    /// The working directory changed.
    CwdChanged { sample: r#"{"old_cwd":"/","new_cwd":"/tmp"}"#,
        answers: Answers::WATCH.or(Answers::MESSAGE), env_file: true }
    /// A watched file changed.
    FileChanged { sample: r#"{"file_path":"/tmp/file.txt","event":"change"}"#,
        subject: Subject::FileName("file_path"), style: MatcherStyle::Narrow,
        answers: Answers::WATCH.or(Answers::MESSAGE), env_file: true }
    /// A directory was added to the session.
    DirectoryAdded { sample: r#"{"directory":"/tmp","source":"slash_command"}"#,
        subject: Subject::Field("source"), answers: Answers::MESSAGE }
    /// A worktree is needed; the handler makes it.
    WorktreeCreate { sample: r#"{"name":"try"}"#,
        exit_two: ExitTwo::Blocks, plain: PlainText::WorktreePath, answers: Answers::WORKTREE,
        failure_can_block: true }
    /// A worktree is no longer needed.
    WorktreeRemove { sample: r#"{"worktree_path":"/tmp/try"}"# }
    /// The session ends.
    SessionEnd { sample: r#"{"reason":"other"}"#,
        subject: Subject::Field("reason"), timeout: Duration::from_millis(1500) }
}

impl EventName {
    /// This event's entry in the event table.
    pub fn def(self) -> &'static EventDef {
        // The table and the enum come from one macro, in one order.
        &EVENTS[self as usize]
    }

    /// The event of that name, if there is one. Case-sensitive.
    pub fn parse(text: &str) -> Option<Self> {
        EVENTS.iter().find(|d| d.text == text).map(|d| d.name)
    }

    /// The same, with the nearest known name in the error.
    pub fn find(text: &str) -> Result<Self, DecodeError> {
        Self::parse(text).ok_or_else(|| DecodeError::UnknownName {
            name: text.to_owned(),
            hint: find_nearest_name(text),
        })
    }

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        self.def().text
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a payload is not an event.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not JSON.
    #[error("the event is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but not an object.
    #[error("the event must be a JSON object, found {0}")]
    NotAnObject(&'static str),
    /// No name to go by.
    #[error("the event has no `hook_event_name`; add the field or pass --event NAME")]
    NoName,
    /// A name that is not a string.
    #[error("`hook_event_name` must be a string")]
    NameNotAString,
    /// A name that is not in the table.
    #[error("unknown event `{name}`{}", hint.map(|h| format!("; did you mean `{h}`?")).unwrap_or_default())]
    UnknownName {
        /// The name as it was written.
        name: String,
        /// The nearest known one.
        hint: Option<&'static str>,
    },
}

/// One event as the host sends it. The fields are kept exactly as they came,
/// unknown ones and their order included, because handlers read them on stdin.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Which event it is.
    pub name: EventName,
    /// All fields, in the order in which they came.
    pub fields: Map<String, Value>,
}

impl Event {
    /// Reads an event. `name` fills in for a missing `hook_event_name`.
    pub fn decode(json: &[u8], name: Option<EventName>) -> Result<Self, DecodeError> {
        // Files that were saved on Windows may begin with a byte order mark.
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        Self::from_value(serde_json::from_slice(json)?, name)
    }

    /// The same from a parsed value.
    pub fn from_value(value: Value, name: Option<EventName>) -> Result<Self, DecodeError> {
        let mut fields = match value {
            Value::Object(fields) => fields,
            other => return Err(DecodeError::NotAnObject(json_type_name(&other))),
        };
        let name = match fields.get("hook_event_name") {
            Some(Value::String(text)) => EventName::find(text)?,
            Some(_) => return Err(DecodeError::NameNotAString),
            // Written into the fields, too: handlers read the event on stdin and expect its
            // name.
            None => {
                let name = name.ok_or(DecodeError::NoName)?;
                fields.insert("hook_event_name".into(), name.as_str().into());
                name
            }
        };
        Ok(Self { name, fields })
    }

    /// A top-level string field.
    pub fn str_field(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    /// What matchers are tested against; `None` when the event has no subject
    /// or the payload lacks it.
    pub fn subject_text(&self) -> Option<&str> {
        match self.name.def().subject {
            Subject::None => None,
            Subject::Field(field) => self.str_field(field),
            Subject::FileName(field) => {
                let path = self.str_field(field)?;
                path.rsplit(['/', '\\']).next()
            }
        }
    }

    /// The event as one line of JSON, without the newline.
    pub fn to_line(&self) -> String {
        Value::Object(self.fields.clone()).to_string()
    }
}

/// What a value is, for messages that say what was found instead.
pub fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// How many letters may differ for a name to be suggested.
const MAX_HINT_DISTANCE: usize = 3;

/// The known name that differs only in case or by a letter or two.
fn find_nearest_name(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let distance = |name: &str| {
        edit_distance(
            &lower,
            &name.to_lowercase(),
            SwapCost::Two,
            MAX_HINT_DISTANCE,
        )
    };
    EVENTS
        .iter()
        .filter_map(|d| Some((distance(d.text)?, d.text)))
        // The text is part of the key, so that of two equally near names the same one is
        // suggested each time.
        .min()
        .map(|(_, t)| t)
}

#[cfg(test)]
mod tests;
