//! What hooks have told of a session already, so that nothing is stored twice
//! that has no call to be known by.

use std::collections::HashSet;

use remora_memory::Captured;
use remora_memory::store::{Filter, Order, Page, Store};
use remora_protocol::EventName;
use remora_protocol::record::{EventRow, Kind};

use super::text;
use crate::ServerError;

/// Events of a session that are looked at.
const MOST: usize = 200_000;
/// A hook and a transcript tell the same within this time, in milliseconds.
const NEAR: i64 = 10_000;
/// Before a compaction is noted, the model writes the summary.
const COMPACTION: i64 = 300_000;

/// What is known of one session.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Events with the prompt they belong to.
    prompts: HashSet<(EventName, String)>,
    /// Events with their moment, and whether their prompt is known.
    moments: Vec<(EventName, i64, bool)>,
    /// Subagents that told their result.
    agents: HashSet<String>,
}

impl Heard {
    pub(super) fn of(store: &dyn Store, session: &str) -> Result<Self, ServerError> {
        let mut heard = Self::default();
        let filter = Filter {
            session: Some(session.to_owned()),
            ..Filter::default()
        };
        if store.sessions(&filter, 1)?.is_empty() {
            return Ok(heard);
        }
        let page = Page {
            order: Order::Oldest,
            beyond: None,
            limit: MOST,
        };
        for row in store.events(&filter, page)? {
            heard.note(&row);
        }
        let tasks = Filter {
            kinds: vec![Kind::Task],
            ..filter
        };
        for item in store.list(&tasks, page)? {
            if !is_own(&item.uid) && item.tool.is_none() {
                heard.agents.extend(item.subagent);
            }
        }
        Ok(heard)
    }

    fn note(&mut self, row: &EventRow) {
        let Some(name) = EventName::parse(&row.name).filter(|_| !is_own(&row.id)) else {
            return;
        };
        // Session, event, prompt and a print of the words.
        let prompt = row.call.as_deref().and_then(|call| {
            let mut parts = call.split(' ').skip(2);
            let prompt = parts.next()?;
            parts.next().map(|_| prompt.to_owned())
        });
        self.moments.push((name, row.time, prompt.is_some()));
        if let Some(prompt) = prompt {
            self.prompts.insert((name, prompt));
        }
    }

    /// Whether a hook has told this.
    pub(super) fn has(&self, event: &Captured) -> bool {
        let name = event.event.name;
        let at = event.envelope.at;
        let near = |span: i64| {
            self.moments
                .iter()
                .any(|(other, time, _)| *other == name && (time - at).abs() < span)
        };
        match name {
            EventName::SessionStart | EventName::SessionEnd => {
                self.moments.iter().any(|(other, ..)| *other == name)
            }
            EventName::SubagentStop => self.agents.contains(text(event, "agent_id")),
            EventName::PreCompact | EventName::PostCompact => near(COMPACTION),
            // They are known by their call.
            EventName::PostToolUse | EventName::PostToolUseFailure => false,
            _ => {
                let prompt = text(event, "prompt_id");
                let unknown = |(other, time, known): &(EventName, i64, bool)| {
                    *other == name && (!known || prompt.is_empty()) && (time - at).abs() < NEAR
                };
                self.prompts.contains(&(name, prompt.to_owned()))
                    || self.moments.iter().any(unknown)
            }
        }
    }
}

/// Whether the name was made from what a transcript says, not by a hook: the
/// version of the UUID tells.
fn is_own(id: &str) -> bool {
    id.as_bytes().get(14) == Some(&b'8')
}
