//! A few words for every event, for the timeline. A tool call is written as a
//! permission rule for it would be, so that what was asked and what then ran
//! can be found to be the same.

use remora_core::agent_event::{EventLabel, LabelPart};
use remora_core::tool_call::{RuleText, ToolUse};

use super::item::one_line;
use crate::capture::CapturedEvent;
use crate::folder::relative_to_root;

/// The longest label, and the longest call in one.
const MAX_LABEL_CHARS: usize = 100;
const MAX_CALL_CHARS: usize = 200;
/// Stands where a command goes on in a new line: there it is no longer the
/// same command, and a blank would hide that.
const NEW_LINE_MARK: char = '⏎';

/// What this event is about, in a few words; may be empty.
pub(super) fn format_label(event: &CapturedEvent) -> String {
    let parts = match &event.event.label {
        EventLabel::Line(line) => return one_line(line, MAX_LABEL_CHARS),
        EventLabel::Parts(parts) => parts,
    };
    let mut texts = parts.iter().map(|part| format_part(part, event));
    let mut label = texts.next().unwrap_or_default();
    let others: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    let others = others.join(", ");
    if !others.is_empty() {
        if !label.is_empty() {
            label.push_str(": ");
        }
        label.push_str(&others);
    }
    label
}

fn format_part(part: &LabelPart, event: &CapturedEvent) -> String {
    match part {
        // Whoever reads a label back finds the end of a call by these three
        // characters.
        LabelPart::Text(text) => one_line(text, MAX_LABEL_CHARS).replace("): ", ") - "),
        LabelPart::Path(path) => one_line(&relative_to_root(path, event.root()), MAX_LABEL_CHARS),
        LabelPart::Call => {
            let tool = event.event.tool_use();
            tool.map(|tool| format_call(tool, event.root()))
                .unwrap_or_default()
        }
    }
}

/// The call as a rule: `Bash(cargo test)`, `Edit(src/cart.rs)`, `WebSearch`.
fn format_call(tool: &ToolUse, root: &str) -> String {
    let name = one_line(&tool.name, MAX_LABEL_CHARS);
    let text = match &tool.rule {
        None => return name,
        Some(RuleText::Url(url)) => {
            return match parse_host(url) {
                Some(host) => format!("{name}(domain:{host})"),
                None => name,
            };
        }
        Some(RuleText::Command(command)) => {
            let lines: Vec<&str> = command.trim().lines().map(str::trim_end).collect();
            lines.join(&format!(" {NEW_LINE_MARK} "))
        }
        Some(RuleText::Path(path)) => relative_to_root(path, root),
    };
    let width = MAX_CALL_CHARS.saturating_sub(name.chars().count() + 2);
    format!("{name}({})", one_line(&text, width))
}

/// The host of a URL, without user, password and port.
fn parse_host(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#', '\\']).next()?;
    let rest = rest.rsplit('@').next()?;
    let host = if rest.starts_with('[') {
        rest.split_inclusive(']').next()?
    } else {
        rest.split(':').next()?
    };
    let host = one_line(host, MAX_LABEL_CHARS).to_lowercase();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests;
