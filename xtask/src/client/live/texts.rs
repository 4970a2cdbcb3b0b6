//! Texts in requests: where the marked ones are, and how the recording writes them down.

use std::collections::BTreeMap;

use serde_json::Value;

use super::folder::LiveFolder;

/// The recording shows so much of a text.
const SHOWN_CHARS: usize = 300;

/// Markers in a text: `MK-` and letters and digits.
pub(super) fn find_markers(text: &str) -> Vec<String> {
    let mut markers = Vec::new();
    for (at, sign) in text.match_indices("MK-") {
        let tail = &text[at + sign.len()..];
        let end = tail.find(|c: char| !c.is_ascii_alphanumeric());
        let (name, rest) = tail.split_at(end.unwrap_or(tail.len()));
        // In a command line the number of the run is still open.
        if !name.is_empty() && !rest.starts_with('@') {
            markers.push(format!("MK-{name}"));
        }
    }
    markers.sort();
    markers.dedup();
    markers
}

/// Role and text of all that is not the model's own in a request.
pub(super) fn list_texts(body: &Value) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let messages = body["messages"].as_array().into_iter().flatten();
    for message in messages.filter(|message| message["role"] != "assistant") {
        let role = message["role"].as_str().unwrap_or_default();
        for text in list_parts(&message["content"]) {
            texts.push((role.to_owned(), strip_reminder(&text)));
        }
    }
    texts
}

fn list_parts(content: &Value) -> Vec<String> {
    if let Some(text) = content.as_str() {
        return vec![text.to_owned()];
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .flat_map(|block| match block["type"].as_str() {
            Some("text") => block["text"]
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .collect(),
            Some("tool_result") => list_parts(&block["content"]),
            _ => Vec::new(),
        })
        .collect()
}

/// Without the tags in which the client hands on what is not the user's.
fn strip_reminder(text: &str) -> String {
    text.replace("<system-reminder>\n", "")
        .replace("\n</system-reminder>", "")
}

/// As the recording cuts long texts: how it begins, and how long it is.
pub(super) fn cut_text(text: &str) -> String {
    let recorded = text.rsplit_once("…[").and_then(|(start, rest)| {
        let length = rest.strip_suffix(" chars]")?.parse::<usize>().ok()?;
        Some((start, length))
    });
    let (start, length) = recorded.unwrap_or_else(|| (text, text.chars().count()));
    let start: String = start.chars().take(SHOWN_CHARS).collect();
    if length > SHOWN_CHARS {
        format!("{start}…[{length} chars]")
    } else {
        start
    }
}

/// Whether a text is this one, or one of the paragraphs that it was put together of.
pub(super) fn holds_text(text: &str, part: &str) -> bool {
    let part = part.trim();
    let part = part.rsplit_once("…[").map_or(part, |(start, _)| start);
    text.match_indices(part).any(|(at, _)| {
        let before = text[..at].trim_end_matches(' ');
        let behind = &text[at + part.len()..];
        let begins = before.is_empty() || before.ends_with('\n');
        begins && (behind.is_empty() || behind.starts_with('\n') || part.len() >= SHOWN_CHARS)
    })
}

/// The stub's command lines in a case, as recorded -> the id.
pub(super) fn list_commands(folder: &LiveFolder) -> BTreeMap<String, String> {
    let mut commands = BTreeMap::new();
    for (_, text) in folder.value["files"].as_object().into_iter().flatten() {
        let text = text.as_str().unwrap_or_default();
        if let Ok(document) = serde_json::from_str::<Value>(text) {
            collect_commands(folder, &document, &mut commands);
            continue;
        }
        // The head of a page.
        let lines = text.lines().filter_map(|line| line.split_once("command: "));
        for (_, command) in lines {
            let command = serde_json::from_str(command).unwrap_or_default();
            add_command(folder, &command, &mut commands);
        }
    }
    collect_commands(folder, &folder.value["drive"], &mut commands);
    commands
}

fn collect_commands(folder: &LiveFolder, value: &Value, to: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(list) => list
            .iter()
            .for_each(|item| collect_commands(folder, item, to)),
        Value::Object(map) => {
            for (key, item) in map {
                if key == "command" {
                    add_command(folder, item, to);
                } else {
                    collect_commands(folder, item, to);
                }
            }
        }
        _ => {}
    }
}

fn add_command(folder: &LiveFolder, command: &Value, to: &mut BTreeMap<String, String>) {
    let command = folder.restore_paths(command.as_str().unwrap_or_default());
    if let Some(id) = find_stub_id(&command) {
        to.insert(command.clone(), id);
    }
}

/// The id of the stub in a command line.
pub(super) fn find_stub_id(command: &str) -> Option<String> {
    let rest = command.split("/bin/h.sh ").nth(1)?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// `<CMD id>` in the place of command lines.
pub(super) fn name_commands(commands: &BTreeMap<String, String>, text: &str) -> String {
    let mut commands: Vec<_> = commands.iter().collect();
    // One may be the beginning of another.
    commands.sort_by_key(|(command, _)| std::cmp::Reverse(command.len()));
    commands
        .iter()
        .fold(text.to_owned(), |text, (command, id)| {
            text.replace(command.as_str(), &format!("<CMD {id}>"))
        })
}
