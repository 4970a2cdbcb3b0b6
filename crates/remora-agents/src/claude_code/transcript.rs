//! Past sessions of Claude Code: a transcript of the client, line by line, as
//! the events that hooks would have received.
//!
//! Ids of events come from the lines alone, so that reading twice, or a copy of
//! a session in another file, stores nothing new.

mod entry;
mod transcript_path;
mod words;

use std::collections::HashMap;

use remora_core::{Event, EventName};
use serde_json::{Map, Value, json};

use self::entry::{MessageBlock, MessageContent, TranscriptLine};
use self::words::UserMessage;

use self::transcript_path::{
    SubagentMetadata, began_in, classify_path, note_file, read_note, subagents_dir, transcripts_dir,
};
use crate::transcript::name;
use crate::transcript::{
    ReadTranscript, TranscriptEnd, TranscriptEvent, TranscriptKind, TranscriptLineError,
    TranscriptSource, TranscriptSpec,
};

/// Where transcripts lie and how they are read.
pub(super) const TRANSCRIPT_SPEC: TranscriptSpec = TranscriptSpec {
    folders: |places| vec![transcripts_dir(places)],
    session_depth: 1,
    is_transcript: |path| classify_path(path).is_some(),
    classify_file: |path, _| classify_path(path),
    subagents_dir: |session| Some(subagents_dir(session)),
    note_file,
    began_in,
    open_reader,
};

/// Calls whose results are waited for. A client makes a few at once.
const MAX_OPEN_CALLS: usize = 512;
/// What the model is shown of a command that printed nothing.
const NO_OUTPUT_TEXT: &str = "(Bash completed with no output)";

/// Reads one transcript.
#[derive(Debug)]
struct TranscriptReader {
    kind: TranscriptKind,
    /// The path of the session's transcript, as hooks name it.
    path: String,
    begun: bool,
    now: LineContext,
    calls: HashMap<String, PendingCall>,
    turn: Option<Turn>,
    /// What set off the compaction whose summary comes next.
    trigger: String,
}

/// What the last line said of itself: session, folder, branch, agent and time.
#[derive(Debug, Default)]
struct LineContext {
    session: String,
    cwd: String,
    branch: String,
    prompt: String,
    agent_id: String,
    agent_type: String,
    at: i64,
}

/// A call that waits for its result.
#[derive(Debug)]
struct PendingCall {
    tool: String,
    input: Value,
}

/// The model at work.
#[derive(Debug, Default)]
struct Turn {
    /// The line that spoke last.
    uuid: String,
    at: i64,
    message: String,
    text: String,
    over: bool,
}

impl TranscriptReader {
    /// Reads the transcript `path` of a session, or of a subagent in it.
    fn new(path: String, kind: TranscriptKind, note: Option<SubagentMetadata>) -> Self {
        let now = LineContext {
            agent_type: note.map(|note| note.agent_type).unwrap_or_default(),
            ..LineContext::default()
        };
        Self {
            kind,
            path,
            begun: false,
            now,
            calls: HashMap::new(),
            turn: None,
            trigger: String::new(),
        }
    }

    /// Notes who speaks, where and when; the first who does begins the session.
    fn update_context(
        &mut self,
        entry: &TranscriptLine<'_>,
        take: &mut dyn FnMut(TranscriptEvent),
    ) {
        let now = &mut self.now;
        if let Some(at) = name::parse_timestamp(&entry.timestamp.0) {
            now.at = at;
        }
        let set = |slot: &mut String, text: Option<&str>| {
            if let Some(text) = text.filter(|text| text != slot) {
                text.clone_into(slot);
            }
        };
        set(&mut now.session, entry.session_id.non_empty());
        set(&mut now.cwd, entry.cwd.non_empty());
        set(&mut now.branch, entry.git_branch.non_empty());
        set(&mut now.agent_type, entry.attribution_agent.non_empty());
        // Set on every line, also to nothing: the session's own lines follow
        // those of a subagent.
        entry.agent_id.0.as_ref().clone_into(&mut now.agent_id);
        if !self.begun && !now.session.is_empty() {
            self.begun = true;
            if self.kind == TranscriptKind::Session {
                let fields = json!({ "source": "startup" });
                take(self.build_event(
                    EventName::SessionStart,
                    &entry.uuid.0,
                    0,
                    self.now.at,
                    fields,
                ));
            }
        }
    }

    fn read_user(&mut self, entry: TranscriptLine<'_>, take: &mut dyn FnMut(TranscriptEvent)) {
        if entry.is_compact_summary.0 {
            let summary = words::extract_summary(&entry.message.0.content);
            let fields = json!({ "trigger": self.trigger, "compact_summary": summary });
            take(self.build_event(
                EventName::PostCompact,
                &entry.uuid.0,
                0,
                self.now.at,
                fields,
            ));
            return;
        }
        if let MessageContent::Blocks(blocks) = &entry.message.0.content
            && blocks.iter().any(|block| block.kind.0 == "tool_result")
        {
            self.read_results(entry, take);
            return;
        }
        // The prompts of a subagent are the model's words.
        if entry.is_sidechain.0 || self.kind == TranscriptKind::Subagent {
            return;
        }
        let words = words::classify_message(&entry);
        if words == UserMessage::Nothing {
            return;
        }
        if words == UserMessage::Interrupted {
            // No hook reports such an end; the work counts to the next turn.
            self.turn = None;
            self.calls.clear();
            return;
        }
        self.stop(take);
        self.calls.clear();
        entry.prompt_id.0.as_ref().clone_into(&mut self.now.prompt);
        if let UserMessage::Prompt(prompt) = words {
            take(self.build_prompt(&entry.uuid.0, &prompt));
        }
    }

    fn build_prompt(&self, id: &str, prompt: &str) -> TranscriptEvent {
        self.build_event(
            EventName::UserPromptSubmit,
            id,
            0,
            self.now.at,
            json!({ "prompt": prompt }),
        )
    }

    fn read_queued(&self, entry: &TranscriptLine<'_>, take: &mut dyn FnMut(TranscriptEvent)) {
        let attachment = &entry.attachment.0;
        let typed = self.kind == TranscriptKind::Session
            && !entry.is_sidechain.0
            && matches!(&*attachment.command_mode.0, "" | "prompt");
        if typed && let UserMessage::Prompt(prompt) = words::classify_text(&attachment.prompt.0) {
            take(self.build_prompt(&entry.uuid.0, &prompt));
        }
    }

    fn read_results(
        &mut self,
        mut entry: TranscriptLine<'_>,
        take: &mut dyn FnMut(TranscriptEvent),
    ) {
        let MessageContent::Blocks(blocks) = std::mem::take(&mut entry.message.0.content) else {
            return;
        };
        if let Some(prompt) = entry.prompt_id.non_empty() {
            prompt.clone_into(&mut self.now.prompt);
        }
        let results = blocks.iter().filter(|b| b.kind.0 == "tool_result").count();
        // With several results the line holds the response of only one of them.
        let mut response = entry.tool_use_result.take().filter(|_| results == 1);
        for (n, block) in blocks.into_iter().enumerate() {
            if block.kind.0 != "tool_result" {
                continue;
            }
            // The call was before the place where reading began, or is not one
            // of this file.
            let Some(call) = self.calls.remove(&block.tool_use_id.0) else {
                continue;
            };
            // A refused call never ran, and hooks report none.
            if entry.tool_denial_kind.non_empty().is_some() {
                continue;
            }
            let (event, mut fields) = build_call_event(call, block, response.take());
            let agent_id = self.now.agent_id.as_str();
            if entry.is_sidechain.0 || self.kind == TranscriptKind::Subagent {
                // Early clients wrote the work of subagents between the lines
                // of the session, without a name.
                let id = if agent_id.is_empty() {
                    "sidechain"
                } else {
                    agent_id
                };
                fields.insert("agent_id".into(), id.into());
                if !self.now.agent_type.is_empty() {
                    fields.insert("agent_type".into(), self.now.agent_type.as_str().into());
                }
            }
            take(self.build_event(event, &entry.uuid.0, n, self.now.at, Value::Object(fields)));
        }
    }

    fn read_assistant(&mut self, entry: TranscriptLine<'_>, take: &mut dyn FnMut(TranscriptEvent)) {
        let aside = entry.is_sidechain.0 && self.kind == TranscriptKind::Session;
        let MessageContent::Blocks(blocks) = entry.message.0.content else {
            return;
        };
        let text = words::join_texts(&blocks);
        if entry.is_api_error_message.0 {
            if !aside {
                let error = entry.error.non_empty().unwrap_or("unknown");
                let fields = json!({ "error": error, "last_assistant_message": text });
                take(self.build_event(
                    EventName::StopFailure,
                    &entry.uuid.0,
                    0,
                    self.now.at,
                    fields,
                ));
                self.turn = None;
            }
            return;
        }
        let mut calls = false;
        for block in blocks {
            if block.kind.0 == "tool_use"
                && !block.id.0.is_empty()
                // A transcript whose results are missing must not fill the
                // memory.
                && self.calls.len() < MAX_OPEN_CALLS
            {
                calls = true;
                let input = block.input.unwrap_or(Value::Null);
                let call = PendingCall {
                    tool: block.name.0,
                    input,
                };
                self.calls.insert(block.id.0, call);
            }
        }
        if aside {
            return;
        }
        let turn = self.turn.get_or_insert_default();
        entry.uuid.0.as_ref().clone_into(&mut turn.uuid);
        turn.at = self.now.at;
        // One message comes in several lines; only the last message is the
        // turn's conclusion.
        if turn.message != entry.message.0.id.0 {
            entry.message.0.id.0.as_ref().clone_into(&mut turn.message);
            turn.text.clear();
        }
        if !text.is_empty() {
            if !turn.text.is_empty() {
                turn.text.push('\n');
            }
            turn.text.push_str(&text);
        }
        turn.over = !calls && !text.is_empty() && &*entry.message.0.stop_reason.0 != "tool_use";
    }

    fn read_compaction(
        &mut self,
        entry: &TranscriptLine<'_>,
        take: &mut dyn FnMut(TranscriptEvent),
    ) {
        // Between two turns the user requested it; within one the turn goes on.
        if self.calls.is_empty() && self.turn.as_ref().is_some_and(|turn| turn.over) {
            self.stop(take);
        }
        let trigger = entry
            .compact_metadata
            .0
            .trigger
            .non_empty()
            .unwrap_or("auto");
        trigger.clone_into(&mut self.trigger);
        let fields = json!({ "trigger": trigger, "custom_instructions": null });
        take(self.build_event(EventName::PreCompact, &entry.uuid.0, 0, self.now.at, fields));
    }

    /// The end of a turn, if the model was at work.
    fn stop(&mut self, take: &mut dyn FnMut(TranscriptEvent)) {
        let Some(turn) = self.turn.take() else { return };
        let (name, fields) = match self.kind {
            TranscriptKind::Session => (
                EventName::Stop,
                json!({ "stop_hook_active": false, "last_assistant_message": turn.text }),
            ),
            TranscriptKind::Subagent => (
                EventName::SubagentStop,
                json!({
                    "stop_hook_active": false,
                    "agent_id": self.now.agent_id,
                    "agent_type": self.now.agent_type,
                    "last_assistant_message": turn.text,
                }),
            ),
        };
        take(self.build_event(name, &turn.uuid, 0, turn.at, fields));
    }

    fn build_event(
        &self,
        name: EventName,
        line: &str,
        nth: usize,
        at: i64,
        more: Value,
    ) -> TranscriptEvent {
        let now = &self.now;
        let mut fields = Map::new();
        fields.insert("session_id".into(), now.session.as_str().into());
        fields.insert("transcript_path".into(), self.path.as_str().into());
        fields.insert("cwd".into(), now.cwd.as_str().into());
        if !now.prompt.is_empty() {
            fields.insert("prompt_id".into(), now.prompt.as_str().into());
        }
        fields.insert("hook_event_name".into(), name.as_str().into());
        if let Value::Object(more) = more {
            fields.extend(more);
        }
        // `HEAD` is what the client writes when no branch is checked out.
        let branch = Some(&now.branch).filter(|branch| !branch.is_empty() && *branch != "HEAD");
        // A line without a name is identified by its session and its time.
        let timestamp = at.to_string();
        let line = if line.is_empty() {
            [now.session.as_str(), timestamp.as_str()]
        } else {
            [line, ""]
        };
        TranscriptEvent {
            id: name::stable_uuid(&[line[0], line[1], name.as_str(), &nth.to_string()]),
            at,
            branch: branch.cloned(),
            event: Event { name, fields },
        }
    }
}

impl ReadTranscript for TranscriptReader {
    fn mark_resumed(&mut self) {
        self.begun = true;
    }

    fn is_settled(&self) -> bool {
        self.calls.is_empty() && self.turn.is_none()
    }

    fn read_line(
        &mut self,
        line: &[u8],
        take: &mut dyn FnMut(TranscriptEvent),
    ) -> Result<(), TranscriptLineError> {
        let text = String::from_utf8_lossy(line);
        if !text.trim_start().starts_with('{') {
            return Err(TranscriptLineError::NotAnObject);
        }
        let entry: TranscriptLine<'_> =
            serde_json::from_str(&text).map_err(|e| TranscriptLineError::Json(e.column()))?;
        match &*entry.kind.0 {
            "user" => {
                self.update_context(&entry, take);
                self.read_user(entry, take);
            }
            "assistant" => {
                self.update_context(&entry, take);
                self.read_assistant(entry, take);
            }
            "system" if &*entry.subtype.0 == "compact_boundary" => {
                self.update_context(&entry, take);
                self.read_compaction(&entry, take);
            }
            // Words typed while the model was at work.
            "attachment" if &*entry.attachment.0.kind.0 == "queued_command" => {
                self.update_context(&entry, take);
                self.read_queued(&entry, take);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish_transcript(&mut self, ending: TranscriptEnd, take: &mut dyn FnMut(TranscriptEvent)) {
        let over = self.calls.is_empty() && self.turn.as_ref().is_none_or(|turn| turn.over);
        // A session that may go on keeps its open turn: the next read starts
        // before it.
        if over || ending == TranscriptEnd::Closed {
            self.stop(take);
            self.calls.clear();
        }
        if ending == TranscriptEnd::Closed
            && self.kind == TranscriptKind::Session
            && !self.now.session.is_empty()
        {
            let fields = json!({ "reason": "other" });
            let session = self.now.session.clone();
            take(self.build_event(EventName::SessionEnd, &session, 0, self.now.at, fields));
        }
    }
}

fn open_reader(source: TranscriptSource<'_>) -> Box<dyn ReadTranscript> {
    let note = source.note.and_then(read_note);
    let path = source.session.display().to_string();
    Box::new(TranscriptReader::new(path, source.kind, note))
}

/// A call with its result, as a hook would have reported it.
fn build_call_event(
    call: PendingCall,
    block: MessageBlock,
    response: Option<Value>,
) -> (EventName, Map<String, Value>) {
    let mut fields = Map::new();
    let is_command = call.tool == "Bash";
    fields.insert("tool_name".into(), call.tool.into());
    fields.insert("tool_input".into(), call.input);
    if block.is_error.0 {
        let text = content_text(block.content);
        let text = text
            .strip_prefix("<tool_use_error>")
            .map_or(text.as_str(), |inner| {
                inner.strip_suffix("</tool_use_error>").unwrap_or(inner)
            });
        fields.insert("tool_use_id".into(), block.tool_use_id.0.into());
        fields.insert("error".into(), text.into());
        return (EventName::PostToolUseFailure, fields);
    }
    let response = match response {
        Some(mut response) => {
            strip_images(&mut response);
            response
        }
        // Subagents' transcripts hold only what the model was shown.
        None if is_command => {
            let shown = content_text(block.content);
            let printed = if shown == NO_OUTPUT_TEXT { "" } else { &shown };
            json!({ "stdout": printed, "stderr": "" })
        }
        None => Value::String(content_text(block.content)),
    };
    fields.insert("tool_response".into(), response);
    fields.insert("tool_use_id".into(), block.tool_use_id.0.into());
    (EventName::PostToolUse, fields)
}

/// Takes images out: their bytes say nothing that can be searched.
fn strip_images(response: &mut Value) {
    let Value::Object(fields) = response else {
        return;
    };
    for (name, value) in fields {
        match value {
            Value::String(bytes) if name == "base64" => bytes.clear(),
            Value::Object(_) => strip_images(value),
            _ => {}
        }
    }
}

/// The text of what the model was shown.
fn content_text(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.get("text").and_then(Value::as_str))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
