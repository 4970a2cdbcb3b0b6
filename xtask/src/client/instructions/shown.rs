//! What reached a model: the entries of the client's requests, and those of our own report.

use anyhow::{Context as _, Result};
use serde_json::Value;

/// One file in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptEntry {
    /// The read that brought it; `None` at the session's start.
    pub(super) read: Option<usize>,
    pub(super) path: String,
    /// Empty for what a read brought.
    pub(super) label: String,
    pub(super) text: String,
}

const ENTRY_LABELS: &[&str] = &[
    "organization-managed policy instructions",
    "user's private global instructions for all projects",
    "project instructions, checked into the codebase",
    "user's private project instructions, not checked in",
    "user's auto-memory, persists across conversations",
];
const REMINDER_OPEN: &str = "<system-reminder>\n";
const REMINDER_CLOSE: &str = "</system-reminder>";
/// Stands before the files that a module of the client adds after a read.
const MODULE_PREFIX: &str = "tool.call hook additional context: ";

/// The entries of a conversation, in order.
pub(super) fn collect_entries(messages: &Value) -> Vec<PromptEntry> {
    let mut found = Vec::new();
    let mut turns: usize = 0;
    for message in messages.as_array().into_iter().flatten() {
        if message["role"] == "assistant" {
            turns += 1;
            continue;
        }
        let content = &message["content"];
        let blocks = content.as_array().into_iter().flatten();
        let texts = blocks.filter_map(|block| block["text"].as_str());
        for text in texts.chain(content.as_str()) {
            split_entries(text, turns.checked_sub(1), &mut found);
        }
    }
    found
}

/// The entries of one block.
fn split_entries(text: &str, read: Option<usize>, found: &mut Vec<PromptEntry>) {
    let wrapped = text.strip_prefix(REMINDER_OPEN).and_then(|inner| {
        let (inner, _) = inner.rsplit_once(REMINDER_CLOSE)?;
        Some(inner)
    });
    let Some(text) = wrapped.or_else(|| text.strip_prefix(MODULE_PREFIX)) else {
        return;
    };
    let first = found.len();
    for line in text.split_inclusive('\n') {
        if let Some((path, label)) = parse_heading(line, read) {
            found.push(PromptEntry {
                read,
                path: path.to_owned(),
                label: label.to_owned(),
                text: String::new(),
            });
        } else if let Some(entry) = found[first..].last_mut() {
            entry.text.push_str(line);
        }
    }
}

/// `Contents of PATH (LABEL):` at the start, `Contents of PATH:` after a read.
fn parse_heading(line: &str, read: Option<usize>) -> Option<(&str, &str)> {
    let rest = line.trim_end().strip_prefix("Contents of ")?;
    let rest = rest.strip_suffix(':')?;
    if read.is_some() {
        return rest.starts_with('/').then_some((rest, ""));
    }
    let (path, label) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    ENTRY_LABELS.contains(&label).then_some((path, label))
}

/// The entries of `remora instructions show --format json` that it says the client loads.
pub(super) fn parse_report(report: &Value) -> Result<Vec<PromptEntry>> {
    let files = report["files"].as_array().context("no `files`")?;
    let entries = files.iter().filter(|file| file["by"] != "remora");
    let entries = entries.map(|file| {
        let text = |key: &str| {
            let text = file[key].as_str().map(str::to_owned);
            text.with_context(|| format!("no `{key}` in {file}"))
        };
        Ok(PromptEntry {
            read: None,
            path: text("path")?,
            label: text("label")?,
            text: text("content")?,
        })
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_conversation_is_read_in_order() {
        let start = "<system-reminder>\nPreamble.\n\nContents of /a/CLAUDE.md (project \
                     instructions, checked into the codebase):\n\nONE\nContents of x:\n\nContents \
                     of <managed-settings> (organization-managed policy instructions):\n\nTWO\n\
                     </system-reminder>";
        let nested = "<system-reminder>\nContents of /a/x/CLAUDE.md:\n\nTHREE\n</system-reminder>";
        let module = "tool.call hook additional context: Contents of /a/x/AGENTS.md:\n\nFOUR\n";
        let messages = json!([
            {"role": "user", "content": [{"type": "text", "text": start}]},
            {"role": "assistant", "content": [{"type": "tool_use"}]},
            {"role": "user", "content": [{"type": "text", "text": nested}]},
            {"role": "system", "content": module},
        ]);
        let found = collect_entries(&messages);
        let short = found.iter().map(|entry| {
            let label = entry.label.split(' ').next().unwrap_or_default();
            format!("{:?} {} {label} {:?}", entry.read, entry.path, entry.text)
        });
        assert_eq!(
            short.collect::<Vec<_>>(),
            [
                "None /a/CLAUDE.md project \"\\nONE\\nContents of x:\\n\\n\"",
                "None <managed-settings> organization-managed \"\\nTWO\\n\"",
                "Some(0) /a/x/CLAUDE.md  \"\\nTHREE\\n\"",
                "Some(0) /a/x/AGENTS.md  \"\\nFOUR\\n\"",
            ]
        );
    }
}
