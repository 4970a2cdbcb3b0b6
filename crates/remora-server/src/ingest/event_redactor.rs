//! An event as it may be kept: private passages and secrets out, then decoded.
//! The first step of every way into the store; needs no store itself.

use std::borrow::Cow;
use std::fmt::Write as _;

use remora_agents::{decode_event, field_roles, read_header};
use remora_core::request::Envelope;
use remora_core::{Event, tokens};
use remora_memory::{CaptureDecision, CapturedEvent, call_key};
use remora_redact::{RedactionCounts, Redactor, private};
use serde_json::Value;

use crate::archive::ArchivedEvent;
use crate::ignore::ProjectIgnores;

/// Texts of one event that are read; what is more is left out.
const MAX_EVENT_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// A cut goes back to the beginning of a word, if none is longer than this.
const MAX_WORD_BYTES: usize = 16 * 1024;

/// Takes out of events what must not be kept. Needs no store, so it can work
/// ahead in a thread of its own.
#[derive(Debug)]
pub struct EventRedactor<'a> {
    redactor: &'a Redactor,
    ignores: ProjectIgnores,
}

impl<'a> EventRedactor<'a> {
    /// With the user's own patterns of files that are not captured.
    pub fn new(redactor: &'a Redactor, ignore: Vec<String>) -> Self {
        Self {
            redactor,
            ignores: ProjectIgnores::new(ignore),
        }
    }

    /// An event as it may be kept; what was redacted is counted.
    pub fn redact_event(
        &mut self,
        envelope: Envelope,
        event: Event,
        marks: &mut RedactionCounts,
    ) -> CapturedEvent {
        let raw_tokens = event.fields.values().map(estimate_tokens).sum();
        redact_event(
            self.redactor,
            &mut self.ignores,
            envelope,
            event,
            raw_tokens,
            marks,
        )
    }
}

/// Takes private passages and secrets out of an event.
pub(crate) fn redact_event(
    redactor: &Redactor,
    ignores: &mut ProjectIgnores,
    mut envelope: Envelope,
    mut raw: Event,
    raw_tokens: u32,
    marks: &mut RedactionCounts,
) -> CapturedEvent {
    // Header and key are read from the texts as they came: redaction may alter an id or a
    // path, and the same call must have the same key wherever it is reported.
    let header = read_header(&envelope.agent, &raw);
    let call = call_key(&header, &raw);
    let root = envelope.project.as_ref().map_or("", |p| &p.root);
    let worth = if ignores.ignores_event(&header, root) {
        CaptureDecision::Ignored
    } else {
        CaptureDecision::Keep
    };
    redact_envelope(redactor, &mut envelope, marks);
    let mut value = Value::Object(std::mem::take(&mut raw.fields));
    let mut budget = MAX_EVENT_TEXT_BYTES;
    bound_texts(&mut value, &mut budget);
    private::strip_value(&mut value);
    redactor.redact_json(&mut value, field_roles(&envelope.agent), marks);
    if let Value::Object(fields) = value {
        raw.fields = fields;
    }
    build_captured_event(envelope, raw, call, worth, raw_tokens)
}

/// An event of the archive, which was redacted before it went there; nothing if it
/// is no event.
pub(crate) fn read_archived_event(archived: ArchivedEvent) -> Option<CapturedEvent> {
    let raw_tokens = tokens::estimate_tokens(&serde_json::to_string(&archived.event).ok()?);
    let raw = Event::from_value(Value::Object(archived.event), None).ok()?;
    let call = call_key(&read_header(&archived.envelope.agent, &raw), &raw);
    let worth = CaptureDecision::Keep;
    let envelope = archived.envelope;
    Some(build_captured_event(envelope, raw, call, worth, raw_tokens))
}

/// Decodes what was redacted, and not before, so that no later step sees a text
/// with a secret in it.
fn build_captured_event(
    envelope: Envelope,
    raw: Event,
    call: Option<String>,
    worth: CaptureDecision,
    raw_tokens: u32,
) -> CapturedEvent {
    CapturedEvent {
        event: decode_event(&envelope.agent, &raw, envelope.at.into()),
        envelope,
        raw,
        call,
        worth,
        raw_tokens,
    }
}

/// Takes secrets out of what the hook noted beside the payload: names of
/// branches, remotes and folders are chosen by users too.
pub(crate) fn redact_envelope(
    redactor: &Redactor,
    envelope: &mut Envelope,
    marks: &mut RedactionCounts,
) {
    if let Some(project) = &mut envelope.project
        && let Cow::Owned(clean) = redactor.redact_text(&project.key, marks)
    {
        project.key = clean.into();
    }
    let project = envelope.project.iter_mut();
    let texts = project.flat_map(|p| [&mut p.name, &mut p.root]);
    for text in texts.chain(&mut envelope.branch) {
        if let Cow::Owned(clean) = redactor.redact_text(text, marks) {
            *text = clean;
        }
    }
}

/// Cuts texts once all of them together are larger than the budget. Everything
/// behind this looks at every byte, some of it several times over.
fn bound_texts(value: &mut Value, budget: &mut usize) {
    match value {
        Value::String(text) if text.len() > *budget => {
            let end = last_gap(text, text.floor_char_boundary(*budget));
            let left = text.len() - end;
            text.truncate(end);
            // Writing into a string cannot fail.
            let _ = write!(text, "[{left} bytes left out]");
            *budget = 0;
        }
        Value::String(text) => *budget -= text.len(),
        Value::Array(list) => list.iter_mut().for_each(|value| bound_texts(value, budget)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|value| bound_texts(value, budget)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where a word ends, not far before `end`: half a secret may not look like one.
fn last_gap(text: &str, end: usize) -> usize {
    let from = text.floor_char_boundary(end.saturating_sub(MAX_WORD_BYTES));
    let gap = text[from..end].rfind(char::is_whitespace);
    gap.map_or(from, |at| from + at)
}

/// Estimated tokens of all texts of a value.
fn estimate_tokens(value: &Value) -> u32 {
    match value {
        Value::String(text) => tokens::estimate_tokens(text),
        Value::Array(list) => list
            .iter()
            .map(estimate_tokens)
            .fold(0, u32::saturating_add),
        Value::Object(map) => map
            .values()
            .map(estimate_tokens)
            .fold(0, u32::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}
