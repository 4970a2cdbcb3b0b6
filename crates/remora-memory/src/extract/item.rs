//! A row in the making: what every row takes from its event.

use remora_core::record::{Item, Kind};
use remora_core::tokens;

use crate::capture::CapturedEvent;
use crate::session::SessionState;

/// The longest title.
pub(super) const MAX_TITLE_CHARS: usize = 140;

/// A row of this event; the `nth` of it.
pub(super) fn build_item(
    event: &CapturedEvent,
    state: &SessionState,
    nth: usize,
    kind: Kind,
    title: &str,
) -> Item {
    let envelope = &event.envelope;
    let tool = event.event.tool_use();
    let uid = match nth {
        0 => envelope.id.clone(),
        n => format!("{}/{n}", envelope.id),
    };
    Item {
        id: 0,
        uid: uid.into(),
        external_id: None,
        key: None,
        kind,
        title: one_line(title, MAX_TITLE_CHARS),
        text: String::new(),
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        time: envelope.at,
        last_time: envelope.at,
        seen: 1,
        project: event.project().into(),
        session: event.session().to_owned(),
        agent: envelope.agent.clone(),
        prompt: Some(state.session.prompts).filter(|n| *n > 0),
        branch: envelope.branch.clone(),
        subagent: event.event.subagent_id().map(str::to_owned),
        speaker: None,
        tool: tool
            .map(|tool| tool.name.clone())
            .filter(|name| !name.is_empty()),
        tool_use_id: tool.and_then(|tool| tool.id.clone()).map(String::from),
        raw_tokens: event.raw_tokens,
        digest_tokens: 0,
        detail: None,
    }
}

/// Counts what the row costs whoever reads it.
pub(super) fn with_token_count(mut item: Item) -> Item {
    let facts: u32 = item.facts.iter().map(|f| tokens::estimate_tokens(f)).sum();
    item.digest_tokens =
        tokens::estimate_tokens(&item.title) + facts + tokens::estimate_tokens(&item.text);
    item
}

/// One line of at most `limit` characters, cut at a word where there is one.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let mut line = text
        .split_whitespace()
        .fold(String::new(), |mut line, word| {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            line
        });
    if line.chars().count() > limit {
        let end = line
            .char_indices()
            .nth(limit.saturating_sub(1))
            .map_or(line.len(), |(at, _)| at);
        let cut = line[..end].rfind(' ').filter(|at| *at > end / 2);
        line.truncate(cut.unwrap_or(end));
        line.push('…');
    }
    line
}

/// At most `limit` characters, the end kept as well as the beginning.
pub(super) fn truncate_middle(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - limit / 4);
    format!("{}\n[…]\n{}", &text[..head], &text[tail..])
}
