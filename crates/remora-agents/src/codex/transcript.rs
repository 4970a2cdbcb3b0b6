//! Past sessions of Codex: the file of a session, line by line, as the events
//! that hooks would have sent, field by field, so that a session which hooks
//! reported in its time comes in once.
//!
//! A line is `{timestamp, type, payload}`. What was done is in
//! `item_completed` lines, whose ids are the ids that hooks use; what was asked
//! of a tool, and what it answered where no such line says so, in lines of the
//! conversation. Files of older clients have no items, so neither is required.

mod call;
mod location;
mod result;

use std::collections::HashMap;

use remora_core::{Event, EventName};
use serde_json::{Map, Value, json};

pub(super) use self::call::finish_item;
use self::call::{FinishedCall, PendingCall};
use self::location::{SessionMeta, classify_file, read_start_folder, session_folders};
use super::sender::is_session_file;
use super::wire::field;
use crate::transcript::name::{parse_timestamp, stable_uuid};
use crate::transcript::{
    ReadTranscript, TranscriptEnd, TranscriptEvent, TranscriptLineError, TranscriptSource,
    TranscriptSpec,
};

/// Where the files of sessions lie and how they are read.
pub(super) const TRANSCRIPT_SPEC: TranscriptSpec = TranscriptSpec {
    folders: session_folders,
    // One for the year, one for the month, one for the day.
    session_depth: 3,
    is_transcript: is_session_file,
    classify_file,
    // The files of subagents lie among the others.
    subagents_dir: |_| None,
    note_file: |_, _| None,
    began_in: read_start_folder,
    open_reader: |source| Box::new(RolloutReader::open(source)),
};

/// Calls whose results are waited for. A client makes a few at once.
const MAX_OPEN_CALLS: usize = 512;
/// How hooks name the mode in which the user is never asked.
const UNASKED_MODE: &str = "bypassPermissions";

/// Reads the file of one session, or of a subagent in one.
#[derive(Debug, Default)]
pub(super) struct RolloutReader {
    /// The path of the file, as hooks name it.
    path: String,
    meta: SessionMeta,
    has_begun: bool,
    cwd: String,
    model: String,
    permission_mode: String,
    at: i64,
    calls: HashMap<String, PendingCall>,
    turn: Option<Turn>,
    /// The summary that the model wrote, before the line that says so.
    summary: Option<String>,
}

/// The model at work.
#[derive(Debug, Default)]
struct Turn {
    /// Empty in files of older clients.
    id: String,
    /// The user asked for nothing but a summary.
    is_compaction: bool,
    has_prompt: bool,
    /// A hook sent the model back to work.
    was_continued: bool,
    last_message: String,
}

impl RolloutReader {
    pub(super) fn open(source: TranscriptSource<'_>) -> Self {
        let mut reader = Self {
            path: source.path.display().to_string(),
            ..Self::default()
        };
        if let Some(line) = source.first_line
            && let Ok(line) = serde_json::from_slice::<Value>(line)
        {
            reader.take_meta(&line);
        }
        reader
    }

    /// A reader for further lines of the session that sent this event.
    pub(super) fn follow_event(event: &Event) -> Self {
        let text = |name: &str| event.str_field(name).unwrap_or_default().to_owned();
        let path = match event.str_field(field::AGENT_TRANSCRIPT) {
            Some(own) => own.to_owned(),
            None => text(field::TRANSCRIPT),
        };
        Self {
            path,
            meta: SessionMeta::of_event(event),
            has_begun: true,
            cwd: text(field::CWD),
            model: text(field::MODEL),
            permission_mode: text(field::PERMISSION_MODE),
            turn: Some(Turn {
                id: text(field::TURN),
                ..Turn::default()
            }),
            ..Self::default()
        }
    }

    /// The lines that follow are not, or not all, of the event's turn.
    pub(super) fn leave_turn(&mut self) {
        self.turn = None;
    }

    fn take_meta(&mut self, line: &Value) {
        // A file of an older client that went on from another session begins
        // with what is its own; the other's follows.
        if self.meta.is_known() {
            return;
        }
        if let Some(meta) = SessionMeta::from_line(line) {
            self.cwd.clone_from(&meta.cwd);
            self.meta = meta;
        }
    }

    fn read_value(&mut self, line: &Value, take: &mut dyn FnMut(TranscriptEvent)) {
        if let Some(at) = str_at(line, "/timestamp").and_then(parse_timestamp) {
            self.at = at;
        }
        let payload = &line["payload"];
        let kind = str_at(line, "/payload/type").unwrap_or_default();
        match (str_at(line, "/type").unwrap_or_default(), kind) {
            ("session_meta", _) => self.take_meta(line),
            ("turn_context", _) => self.read_turn_context(payload),
            ("event_msg", "task_started") => self.start_turn(payload),
            ("event_msg", "task_complete") => self.complete_turn(payload, take),
            ("event_msg", "turn_aborted") => {
                // No hook reports such an end; the work counts to the next turn.
                self.turn = None;
                self.calls.clear();
            }
            ("event_msg", "item_completed") => self.read_item(payload, take),
            // Older clients.
            ("event_msg", "user_message") => {
                let text = str_at(payload, "/message").unwrap_or_default();
                self.read_prompt(text, "", take);
            }
            ("event_msg", "agent_message") => {
                self.note_message(str_at(payload, "/message").unwrap_or_default());
            }
            ("response_item", "message") => self.read_message(line),
            ("response_item", "function_call" | "custom_tool_call" | "local_shell_call") => {
                self.note_call(payload);
            }
            ("response_item", "function_call_output" | "custom_tool_call_output") => {
                self.read_output(payload, take);
            }
            ("compacted", _) => self.read_compaction(payload, take),
            _ => {}
        }
    }

    fn read_turn_context(&mut self, context: &Value) {
        if let Some(cwd) = str_at(context, "/cwd") {
            cwd.clone_into(&mut self.cwd);
        }
        if let Some(model) = str_at(context, "/model") {
            model.clone_into(&mut self.model);
        }
        if let Some(policy) = str_at(context, "/approval_policy") {
            let mode = if policy == "never" {
                UNASKED_MODE
            } else {
                "default"
            };
            mode.clone_into(&mut self.permission_mode);
        }
    }

    fn start_turn(&mut self, payload: &Value) {
        // Calls do not outlive their turn; an id that is still open belongs to one that was
        // aborted.
        self.calls.clear();
        self.turn = Some(Turn {
            id: str_at(payload, "/turn_id").unwrap_or_default().to_owned(),
            is_compaction: payload.get("turn_attribution").is_none_or(Value::is_null),
            ..Turn::default()
        });
    }

    fn complete_turn(&mut self, payload: &Value, take: &mut dyn FnMut(TranscriptEvent)) {
        if let Some(error) = payload.get("error").filter(|error| !error.is_null()) {
            if let Some(turn) = self.turn.take()
                && !self.meta.is_subagent()
            {
                let kind = str_at(error, "/codex_error_info").unwrap_or("unknown");
                let more = json!({ field::ERROR: kind, field::LAST_MESSAGE: turn.last_message });
                take(self.build_event(EventName::StopFailure, &turn.id, "", more));
            }
            self.calls.clear();
            return;
        }
        self.note_message(str_at(payload, "/last_agent_message").unwrap_or_default());
        self.stop_turn(take);
    }

    /// The end of a turn, if the model was at work.
    fn stop_turn(&mut self, take: &mut dyn FnMut(TranscriptEvent)) {
        self.calls.clear();
        let Some(turn) = self.turn.take() else { return };
        // A summary that the user asked for is no turn to the hooks.
        if !turn.has_prompt && turn.last_message.is_empty() {
            return;
        }
        self.begin(take);
        let name = if self.meta.is_subagent() {
            EventName::SubagentStop
        } else {
            EventName::Stop
        };
        let mut more = Map::new();
        more.insert(field::STOP_HOOK_ACTIVE.into(), turn.was_continued.into());
        if name == EventName::SubagentStop {
            more.extend(self.meta.agent_fields());
        }
        more.insert(field::LAST_MESSAGE.into(), turn.last_message.into());
        take(self.build_event(name, &turn.id, "", Value::Object(more)));
    }

    fn read_item(&mut self, payload: &Value, take: &mut dyn FnMut(TranscriptEvent)) {
        let item = &payload["item"];
        let id = str_at(item, "/id").unwrap_or_default();
        match str_at(item, "/type").unwrap_or_default() {
            "UserMessage" => self.read_prompt(&join_texts(&item["content"]), id, take),
            "AgentMessage" => self.note_message(&join_texts(&item["content"])),
            "HookPrompt" => {
                if let Some(turn) = &mut self.turn {
                    turn.was_continued = true;
                }
            }
            kind if call::ENDING_ITEMS.contains(&kind) => {
                let pending = self.calls.remove(id);
                if let Some(call) = call::finish_item(item, pending, &self.cwd) {
                    let turn = str_at(payload, "/turn_id").unwrap_or_default();
                    self.emit_call(call, id, turn, take);
                }
            }
            _ => {}
        }
    }

    fn read_prompt(&mut self, text: &str, item: &str, take: &mut dyn FnMut(TranscriptEvent)) {
        if text.trim().is_empty() {
            return;
        }
        // In files without turns the next prompt ends the one before.
        if self.turn.as_ref().is_some_and(|turn| turn.id.is_empty()) {
            self.stop_turn(take);
        }
        self.begin(take);
        let turn = self.turn.get_or_insert_default();
        turn.has_prompt = true;
        let turn = turn.id.clone();
        let timestamp = self.at.to_string();
        // Older clients give messages no id. The time keeps two prompts of a turn apart and
        // is the same when the file is read again.
        let key = if item.is_empty() { &timestamp } else { item };
        let more = json!({ field::PROMPT: text });
        take(self.build_event(EventName::UserPromptSubmit, &turn, key, more));
    }

    fn note_message(&mut self, text: &str) {
        if let Some(turn) = self.turn.as_mut().filter(|_| !text.is_empty()) {
            text.clone_into(&mut turn.last_message);
        }
    }

    fn read_message(&mut self, line: &Value) {
        if str_at(line, "/payload/role") != Some("assistant") {
            return;
        }
        let text = join_texts(&line["payload"]["content"]);
        if line.pointer("/metadata/compaction_output") == Some(&Value::Bool(true)) {
            self.summary = Some(text);
        } else {
            self.note_message(&text);
        }
    }

    fn note_call(&mut self, payload: &Value) {
        if self.calls.len() < MAX_OPEN_CALLS
            && let Some((id, call)) = PendingCall::from_payload(payload)
        {
            self.calls.insert(id, call);
        }
    }

    fn read_output(&mut self, payload: &Value, take: &mut dyn FnMut(TranscriptEvent)) {
        let id = str_at(payload, "/call_id").unwrap_or_default();
        let Some(call) = self.calls.remove(id) else {
            return;
        };
        match result::finish_output(call, &payload["output"]) {
            result::OutputReading::Finished(call) => self.emit_call(call, id, "", take),
            // The command still runs; another output with the same id will end it.
            result::OutputReading::Running(call) => {
                self.calls.insert(id.to_owned(), call);
            }
            result::OutputReading::NotRun => {}
        }
    }

    fn emit_call(
        &mut self,
        call: FinishedCall,
        id: &str,
        turn: &str,
        take: &mut dyn FnMut(TranscriptEvent),
    ) {
        self.begin(take);
        let turn = match (turn, &self.turn) {
            // Output lines name no turn, only items do.
            ("", Some(open)) => open.id.clone(),
            (turn, _) => turn.to_owned(),
        };
        let (name, outcome) = match call.outcome {
            Ok(response) => (
                EventName::PostToolUse,
                response.map(|response| (field::TOOL_RESPONSE, response)),
            ),
            Err(error) => (
                EventName::PostToolUseFailure,
                Some((field::ERROR, Value::String(error))),
            ),
        };
        let mut more = Map::new();
        more.insert(field::TOOL_NAME.into(), call.tool.into());
        more.insert(field::TOOL_INPUT.into(), call.input);
        if let Some((name, value)) = outcome {
            more.insert(name.into(), value);
        }
        more.insert(field::CALL.into(), id.into());
        let mut event = self.build_event(name, &turn, id, Value::Object(more));
        // Hooks say where the command ran.
        if let Some(cwd) = call.cwd {
            event.event.fields.insert(field::CWD.into(), cwd.into());
        }
        take(event);
    }

    fn read_compaction(&mut self, payload: &Value, take: &mut dyn FnMut(TranscriptEvent)) {
        let written = self.summary.take();
        if self.meta.is_subagent() {
            return;
        }
        self.begin(take);
        let whole = || str_at(payload, "/message").unwrap_or_default().to_owned();
        let summary = written.unwrap_or_else(whole);
        let (turn, is_manual) = match &self.turn {
            Some(turn) => (turn.id.clone(), turn.is_compaction && !turn.has_prompt),
            None => (String::new(), false),
        };
        let trigger = if is_manual { "manual" } else { "auto" };
        let timestamp = self.at.to_string();
        let before = json!({ field::TRIGGER: trigger });
        take(self.build_event(EventName::PreCompact, &turn, &timestamp, before));
        let after = json!({ field::TRIGGER: trigger, field::SUMMARY: summary });
        take(self.build_event(EventName::PostCompact, &turn, &timestamp, after));
    }

    /// The first event begins the session, as for hooks.
    fn begin(&mut self, take: &mut dyn FnMut(TranscriptEvent)) {
        if std::mem::replace(&mut self.has_begun, true) || self.meta.is_subagent() {
            return;
        }
        let source = if self.meta.is_fork { "fork" } else { "startup" };
        let more = json!({ field::SOURCE: source });
        let event = self.build_event(EventName::SessionStart, "", &self.meta.thread, more);
        take(event);
    }

    /// An event with the fields that hooks send, in their order: code that counts
    /// an event twice compares them as they lie.
    fn build_event(&self, name: EventName, turn: &str, key: &str, more: Value) -> TranscriptEvent {
        let mut fields = Map::new();
        let mut put = |name: &str, text: &str| {
            fields.insert(name.to_owned(), text.into());
        };
        put(field::SESSION, &self.meta.session);
        if !turn.is_empty() {
            put(field::TURN, turn);
        }
        if name == EventName::SubagentStop {
            put(field::AGENT_TRANSCRIPT, &self.path);
        } else {
            if self.meta.is_subagent() {
                put(field::AGENT_ID, &self.meta.thread);
                put(field::AGENT_TYPE, &self.meta.agent_type);
            }
            put(field::TRANSCRIPT, &self.path);
        }
        put(field::CWD, &self.cwd);
        put(field::EVENT_NAME, name.as_str());
        // Which fields an event has follows the client's hooks, or a session that both
        // report would come in twice.
        if name != EventName::SessionEnd && !self.model.is_empty() {
            put(field::MODEL, &self.model);
        }
        let has_mode = !matches!(
            name,
            EventName::SessionEnd | EventName::PreCompact | EventName::PostCompact
        );
        if has_mode && !self.permission_mode.is_empty() {
            put(field::PERMISSION_MODE, &self.permission_mode);
        }
        if let Value::Object(more) = more {
            fields.extend(more);
        }
        // A turn has a name of its own, which a copy of the session keeps.
        let whole = if turn.is_empty() {
            self.meta.thread.as_str()
        } else {
            turn
        };
        TranscriptEvent {
            id: stable_uuid(&[whole, key, name.as_str()]),
            at: self.at,
            branch: self.meta.branch.clone(),
            event: Event { name, fields },
        }
    }
}

impl ReadTranscript for RolloutReader {
    fn mark_resumed(&mut self) {
        self.has_begun = true;
    }

    fn is_settled(&self) -> bool {
        self.turn.is_none()
    }

    fn read_line(
        &mut self,
        line: &[u8],
        take: &mut dyn FnMut(TranscriptEvent),
    ) -> Result<(), TranscriptLineError> {
        let line: Value =
            serde_json::from_slice(line).map_err(|e| TranscriptLineError::Json(e.column()))?;
        if !line.is_object() {
            return Err(TranscriptLineError::NotAnObject);
        }
        self.read_value(&line, take);
        Ok(())
    }

    fn finish_transcript(&mut self, ending: TranscriptEnd, take: &mut dyn FnMut(TranscriptEvent)) {
        // Another run may append to the file; its last turn is reported then.
        if ending == TranscriptEnd::Open {
            return;
        }
        self.stop_turn(take);
        if self.has_begun && !self.meta.is_subagent() && self.meta.is_known() {
            let more = json!({ field::REASON: "other" });
            let event = self.build_event(EventName::SessionEnd, "", &self.meta.thread, more);
            take(event);
        }
    }
}

fn str_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The texts of a list of parts, in lines.
fn join_texts(parts: &Value) -> String {
    let parts = parts.as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| str_at(part, "/text"))
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests;
