//! Takes secrets out of whole records: every text that a user, a tool or a
//! client wrote. Names that machines give (ids of items, sessions and calls)
//! stay, because records hang together by them.

use std::borrow::Cow;

use remora_agents::field_roles;
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Override};
use remora_redact::private;
use remora_redact::{RedactionCounts, Redactor};
use serde_json::Value;

use super::parts::StorePart;

/// Takes secrets out of a part, and counts them.
pub(crate) fn redact_part(redactor: &Redactor, part: &mut StorePart, marks: &mut RedactionCounts) {
    let mut texts: Vec<&mut String> = Vec::new();
    match part {
        StorePart::Project(project) => {
            redact_key(redactor, &mut project.key, marks);
            texts.extend([&mut project.name, &mut project.root]);
        }
        StorePart::Override(said) => texts.extend(words_of(said, redactor, marks)),
        StorePart::Session(session) => {
            redact_key(redactor, &mut session.project, marks);
            texts.extend([&mut session.cwd, &mut session.title]);
            texts.extend(session.branch.as_mut());
            texts.extend(session.end_reason.as_mut());
        }
        StorePart::Item(item) => {
            redact_denied_file(redactor, item, marks);
            if let Some(detail) = &mut item.detail {
                redactor.redact_detail(detail, field_roles(&item.agent), marks);
            }
            redact_key(redactor, &mut item.project, marks);
            texts.extend([&mut item.title, &mut item.text]);
            texts.extend(item.facts.iter_mut().chain(&mut item.concepts));
            texts.extend(item.files_read.iter_mut().chain(&mut item.files_modified));
            let single = [
                &mut item.external_id,
                &mut item.key,
                &mut item.branch,
                &mut item.subagent,
                &mut item.speaker,
                &mut item.tool,
            ];
            texts.extend(single.into_iter().filter_map(Option::as_mut));
        }
        StorePart::File(file) => {
            redact_key(redactor, &mut file.project, marks);
            texts.extend([&mut file.folder, &mut file.name, &mut file.holds]);
            texts.extend(file.from.as_mut());
        }
        StorePart::Event(event) => texts.push(&mut event.label),
        StorePart::Injection(injection) => texts.push(&mut injection.why),
        StorePart::Raw(raw) => {
            let mut value = Value::Object(std::mem::take(&mut raw.event));
            private::strip_value(&mut value);
            let roles = field_roles(&raw.envelope.agent);
            redactor.redact_json(&mut value, roles, marks);
            if let Value::Object(fields) = value {
                raw.event = fields;
            }
            if let Some(project) = &mut raw.envelope.project {
                redact_key(redactor, &mut project.key, marks);
                texts.extend([&mut project.name, &mut project.root]);
            }
            texts.extend(raw.envelope.branch.as_mut());
        }
    }
    for text in texts {
        if let Cow::Owned(clean) = redactor.redact_text(text, marks) {
            *text = clean;
        }
    }
}

/// A key may be a remote, and its address may hold a token.
fn redact_key(redactor: &Redactor, key: &mut ProjectKey, marks: &mut RedactionCounts) {
    if let Cow::Owned(clean) = redactor.redact_text(key, marks) {
        *key = clean.into();
    }
}

/// What a user typed, and what it replaces.
fn words_of<'a>(
    said: &'a mut Override,
    redactor: &Redactor,
    marks: &mut RedactionCounts,
) -> Vec<&'a mut String> {
    redact_key(redactor, &mut said.project, marks);
    let mut texts = Vec::new();
    texts.extend(
        said.rejected
            .as_mut()
            .map(|rejection| &mut rejection.reason),
    );
    if let Some(edit) = &mut said.edit {
        texts.extend(edit.title.as_mut());
        texts.extend(edit.text.as_mut());
        texts.extend(edit.facts.iter_mut().flatten());
        if let Some(original) = edit.original.as_deref_mut() {
            if let Some(detail) = &mut original.detail {
                redactor.redact_detail(detail, field_roles(""), marks);
            }
            texts.extend([&mut original.title, &mut original.text]);
            texts.extend(original.facts.iter_mut());
        }
    }
    texts
}

/// Text that a tool took from a file which the configuration denies goes whole.
/// Where redaction has been at work already, the contents are gone.
fn redact_denied_file(redactor: &Redactor, item: &mut Item, marks: &mut RedactionCounts) {
    if item.tool.is_none() || item.text.contains("[redacted:") {
        return;
    }
    let mut files = item.files_read.iter().chain(&item.files_modified);
    if let Some(file) = files.find(|file| redactor.denies_path(file)) {
        redactor.redact_file_text(file, &mut item.text, marks);
    }
}
