//! Takes secrets out of whole records: every text that a person, a tool or a
//! client wrote. Names that machines give (ids of rows, sessions and calls)
//! stay, because records hang together by them.

use std::borrow::Cow;

use remora_memory::private;
use remora_memory::redact::{Marks, Redactor};
use remora_protocol::record::{Item, Override};
use serde_json::{Value, json};

use super::parts::Part;

/// Takes secrets out of a part, and counts them.
pub(crate) fn scrub(redactor: &Redactor, part: &mut Part, marks: &mut Marks) {
    let mut texts: Vec<&mut String> = Vec::new();
    match part {
        Part::Project(project) => {
            texts.extend([&mut project.key, &mut project.name, &mut project.root]);
        }
        Part::Override(said) => texts.extend(words_of(said, redactor, marks)),
        Part::Session(session) => {
            texts.extend([&mut session.project, &mut session.cwd, &mut session.title]);
            texts.extend(session.branch.as_mut());
            texts.extend(session.end_reason.as_mut());
        }
        Part::Item(item) => {
            deny(redactor, item, marks);
            if let Some(detail) = &mut item.detail {
                redactor.json(detail, marks);
            }
            texts.extend([&mut item.title, &mut item.text, &mut item.project]);
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
        Part::File(file) => {
            texts.extend([
                &mut file.project,
                &mut file.folder,
                &mut file.name,
                &mut file.holds,
            ]);
            texts.extend(file.from.as_mut());
        }
        Part::Event(event) => texts.push(&mut event.label),
        Part::Given(given) => texts.push(&mut given.why),
        Part::Raw(raw) => {
            let mut value = Value::Object(std::mem::take(&mut raw.event));
            private::strip_value(&mut value);
            redactor.json(&mut value, marks);
            if let Value::Object(fields) = value {
                raw.event = fields;
            }
            if let Some(project) = &mut raw.envelope.project {
                texts.extend([&mut project.key, &mut project.name, &mut project.root]);
            }
            texts.extend(raw.envelope.branch.as_mut());
        }
    }
    for text in texts {
        if let Cow::Owned(clean) = redactor.text(text, marks) {
            *text = clean;
        }
    }
}

/// What a user typed, and what it stands in place of.
fn words_of<'a>(
    said: &'a mut Override,
    redactor: &Redactor,
    marks: &mut Marks,
) -> Vec<&'a mut String> {
    let mut texts = vec![&mut said.project];
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
                redactor.json(detail, marks);
            }
            texts.extend([&mut original.title, &mut original.text]);
            texts.extend(original.facts.iter_mut());
        }
    }
    texts
}

/// Text that a tool took from a file which the configuration denies goes whole.
/// Where redaction has been at work already, the contents are gone.
fn deny(redactor: &Redactor, item: &mut Item, marks: &mut Marks) {
    if item.tool.is_none() || item.text.contains("[redacted:") {
        return;
    }
    let mut files = item.files_read.iter().chain(&item.files_modified);
    if let Some(file) = files.find(|file| redactor.denies(file)) {
        let mut value = json!({ "file_path": file, "content": item.text });
        redactor.json(&mut value, marks);
        if let Some(text) = value.get("content").and_then(Value::as_str) {
            text.clone_into(&mut item.text);
        }
    }
}
