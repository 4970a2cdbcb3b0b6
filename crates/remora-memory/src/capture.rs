//! An event as it was captured, and the key of the tool call it reports.

use remora_core::agent_event::{AgentEvent, EventHeader};
use remora_core::hash::stable_hash;
use remora_core::ids::SessionId;
use remora_core::record::Project;
use remora_core::request::Envelope;
use remora_core::{Event, EventName};

use crate::store::EventKey;

/// Whether anything of an event may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaptureDecision {
    /// It may.
    #[default]
    Keep,
    /// The user has excluded the file it is about.
    Ignored,
}

/// One captured event, already redacted.
#[derive(Debug, Clone)]
pub struct CapturedEvent {
    /// How it was captured.
    pub envelope: Envelope,
    /// What the client sent: for the archive, and to find the same again.
    pub raw: Event,
    /// The same in our own words.
    pub event: AgentEvent,
    /// The tool call it reports; see [`call_key`].
    pub call: Option<String>,
    /// Whether anything of it may be kept.
    pub worth: CaptureDecision,
    /// Estimated tokens of the payload as it came.
    pub raw_tokens: u32,
}

impl CapturedEvent {
    /// What names it in the ledger.
    pub fn key(&self) -> EventKey<'_> {
        EventKey {
            id: &self.envelope.id,
            call: self.call.as_deref(),
        }
    }

    /// The session; events of a client that names none share one.
    pub fn session(&self) -> &SessionId {
        &self.event.session
    }

    /// The project's key.
    pub fn project(&self) -> &str {
        match &self.envelope.project {
            // The hook has read the project from `.git`: by now the folder may
            // be gone or on another branch.
            Some(project) => &project.key,
            None => &self.event.cwd,
        }
    }

    /// The project; without one of its own an event is about its folder.
    pub fn project_record(&self) -> Project {
        self.envelope.project.clone().unwrap_or_else(|| {
            let root = self.event.cwd.as_str();
            Project {
                key: root.into(),
                name: root.rsplit('/').next().unwrap_or(root).to_owned(),
                root: root.to_owned(),
            }
        })
    }

    /// The root of the project, as text.
    pub fn root(&self) -> &str {
        match &self.envelope.project {
            Some(project) => &project.root,
            None => &self.event.cwd,
        }
    }
}

/// The same call reported twice, by two installations for example, has the same
/// key. Computed before redaction; it holds no text of the event.
pub fn call_key(header: &EventHeader<'_>, raw: &Event) -> Option<String> {
    let session = header.session?;
    if let Some(id) = header.call {
        // A call succeeds or fails; before it there may be an announcement.
        let name = match header.name {
            EventName::PostToolUseFailure => EventName::PostToolUse,
            other => other,
        };
        return Some(format!("{session} {} {id}", name.as_str()));
    }
    // The same request or notice may come again within one prompt, and each
    // counts.
    if matches!(
        header.name,
        EventName::PermissionRequest | EventName::Notification
    ) {
        return None;
    }
    let turn = header.turn?;
    // Without an id of its own an event is known by all it says within its
    // turn.
    let fields = serde_json::to_vec(&raw.fields).ok()?;
    let print = stable_hash(&fields);
    Some(format!(
        "{session} {} {turn} {print:016x}",
        header.name.as_str()
    ))
}
