//! Items of the other system as items of ours. Names are made from theirs, so
//! that the same item is the same however often it comes.

use remora_agents::RecordedCall;
use remora_core::detail::{DetailList, DetailText, ItemDetail};
use remora_core::ids::AgentId;
use remora_core::record::{self, Item, Kind, Project};
use remora_core::request::{ENVELOPE_VERSION, Envelope};
use remora_core::{Event, tokens};
use remora_redact::private;
use remora_store::foreign::{
    ForeignObservation, ForeignPrompt, ForeignSession, ForeignSummary, ForeignToolUse,
};
use serde_json::Value;

use super::super::corpus::{IMPORT_AGENT, derive_title, derive_uid};

/// What items take from their session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionFields {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) agent: AgentId,
}

impl SessionFields {
    pub(super) fn from_session(session: &ForeignSession, project: &str) -> Self {
        let id = if session.id.is_empty() {
            &session.memory_id
        } else {
            &session.id
        };
        let agent = remora_agents::find_agent(&session.platform);
        let unnamed = || {
            session
                .platform
                .is_empty()
                .then(remora_agents::claude_mem_agent)
        };
        Self {
            id: id.clone(),
            project: project.to_owned(),
            agent: match agent.or_else(unnamed) {
                Some(agent) => agent.name.into(),
                None => session.platform.as_str().into(),
            },
        }
    }
}

pub(super) fn convert_session(session: &ForeignSession, known: &SessionFields) -> record::Session {
    let last = session.ended.unwrap_or(session.started);
    record::Session {
        id: known.id.clone().into(),
        agent: known.agent.clone(),
        project: known.project.clone().into(),
        cwd: String::new(),
        branch: None,
        started: session.started,
        last: last.max(session.started),
        // Also the mark by which a later import knows that it may move the
        // session.
        end_reason: Some(IMPORT_AGENT.to_owned()),
        prompts: session.prompts,
        title: match session.title.trim() {
            "" => String::new(),
            text => derive_title(&strip_private_and_injected(text)),
        },
    }
}

pub(super) fn convert_prompt(prompt: &ForeignPrompt, known: &SessionFields) -> Item {
    let text = strip_private_and_injected(&prompt.text);
    Item {
        prompt: Some(prompt.number).filter(|n| *n > 0),
        speaker: Some("user".to_owned()),
        ..build_item(Kind::Prompt, "prompt", prompt.id, prompt.time, text, known)
    }
}

pub(super) fn convert_observation(
    from: ForeignObservation,
    known: &SessionFields,
    project: &str,
) -> Item {
    let kind = Kind::parse(&from.kind)
        .filter(|kind| kind.is_observation())
        // Only kinds of observations: an imported item must not pass for a
        // user's statement or a fix that was seen to work.
        .unwrap_or(Kind::Discovery);
    let parts = [from.subtitle.trim(), from.narrative.trim()];
    let told: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = strip_private_and_injected(&told.join("\n"));
    let mut concepts = from.concepts;
    if kind.name() != from.kind && !from.kind.is_empty() {
        // A kind that is only theirs stays findable as a concept.
        concepts.insert(0, from.kind);
    }
    let mut row = build_item(kind, "observation", from.id, from.time, text, known);
    if !from.title.trim().is_empty() {
        row.title = derive_title(&strip_private_and_injected(&from.title));
    }
    row.facts = from
        .facts
        .iter()
        .map(|fact| strip_private_and_injected(fact))
        .collect();
    row.concepts = concepts;
    row.files_read = from.files_read;
    row.files_modified = from.files_modified;
    row.prompt = from.prompt;
    row.subagent = Some(from.agent).filter(|agent| !agent.is_empty());
    row.raw_tokens = row.raw_tokens.max(from.tokens);
    set_project(row, project)
}

pub(super) fn convert_summary(from: ForeignSummary, known: &SessionFields, project: &str) -> Item {
    let lists = [
        ("Investigated", &from.investigated),
        ("Learned", &from.learned),
        ("Completed", &from.completed),
        ("Next steps", &from.next_steps),
        ("Notes", &from.notes),
    ];
    let mut lines = Vec::new();
    if !from.request.trim().is_empty() {
        lines.push(format!("Request: {}", from.request.trim()));
    }
    for (name, text) in lists {
        let entries = parse_entries(text);
        if !entries.is_empty() {
            lines.push(format!("{name}:"));
            lines.extend(entries.iter().map(|entry| format!("- {entry}")));
        }
    }
    let text = strip_private_and_injected(&lines.join("\n"));
    let mut row = build_item(Kind::Summary, "summary", from.id, from.time, text, known);
    let head = [&from.request, &from.completed, &from.learned];
    if let Some(head) = head.into_iter().find(|text| !text.trim().is_empty()) {
        row.title = derive_title(&strip_private_and_injected(head));
    }
    let mut files = from.files_modified.clone();
    files.extend(from.files_read.iter().cloned());
    let request = strip_private_and_injected(from.request.trim());
    let detail = ItemDetail::new()
        .with_text(DetailText::Request, Some(&request))
        .with_list(DetailList::Investigated, parse_entries(&from.investigated))
        .with_list(DetailList::Learned, parse_entries(&from.learned))
        .with_list(DetailList::Completed, parse_entries(&from.completed))
        .with_list(DetailList::OpenSteps, parse_entries(&from.next_steps))
        .with_list(DetailList::Files, files)
        .with_list(DetailList::Notes, parse_entries(&from.notes));
    row.detail = Some(detail);
    row.files_read = from.files_read;
    row.files_modified = from.files_modified;
    row.prompt = from.prompt;
    set_project(row, project)
}

/// A call as a hook reports it.
pub(super) fn convert_tool_use(
    from: ForeignToolUse,
    table: &str,
    known: &SessionFields,
    project: Project,
) -> (Envelope, Event) {
    let parsed = |text: String| match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(_) => Value::String(text),
    };
    let id = derive_uid(&[
        &known.id,
        table,
        &from.id.to_string(),
        &from.time.to_string(),
    ]);
    let call = RecordedCall {
        session: known.id.clone(),
        cwd: from.cwd,
        tool: from.tool,
        input: parsed(from.input),
        response: parsed(from.response),
        call: from.call,
        subagent: from.agent,
    };
    let envelope = Envelope {
        v: ENVELOPE_VERSION,
        id,
        agent: known.agent.clone(),
        at: from.time,
        len: 0,
        cut: false,
        project: Some(project),
        branch: None,
    };
    (envelope, call.into_event())
}

fn build_item(
    kind: Kind,
    what: &str,
    id: i64,
    time: i64,
    text: String,
    known: &SessionFields,
) -> Item {
    let number = id.to_string();
    Item {
        id: 0,
        uid: derive_uid(&[&known.id, what, &number, &time.to_string()]).into(),
        external_id: Some(format!("{what}:{number}")),
        key: None,
        kind,
        title: derive_title(&text),
        digest_tokens: 0,
        raw_tokens: tokens::estimate_tokens(&text),
        text,
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        time,
        last_time: time,
        seen: 1,
        project: known.project.clone().into(),
        session: known.id.clone().into(),
        agent: known.agent.clone(),
        prompt: None,
        branch: None,
        subagent: None,
        speaker: None,
        tool: None,
        tool_use_id: None,
        detail: None,
    }
    .with_token_count()
}

trait WithTokenCount {
    fn with_token_count(self) -> Self;
}

impl WithTokenCount for Item {
    fn with_token_count(mut self) -> Self {
        let facts: u32 = self
            .facts
            .iter()
            .map(|fact| tokens::estimate_tokens(fact))
            .sum();
        self.digest_tokens =
            tokens::estimate_tokens(&self.title) + facts + tokens::estimate_tokens(&self.text);
        self
    }
}

/// An item names its project itself; without one it is that of the session.
fn set_project(mut row: Item, project: &str) -> Item {
    if !project.is_empty() {
        row.project = project.into();
    }
    row.with_token_count()
}

/// Without private passages and text that Remora injected.
fn strip_private_and_injected(text: &str) -> String {
    let text = private::strip_private(text);
    private::strip_injected(&text).into_owned()
}

/// The lines of a text, as entries of a list.
fn parse_entries(text: &str) -> Vec<String> {
    let marks = ['-', '*', '•', ' ', '\t'];
    text.lines()
        .map(|line| strip_private_and_injected(line.trim().trim_start_matches(marks).trim_end()))
        .filter(|line| !line.is_empty())
        .collect()
}
