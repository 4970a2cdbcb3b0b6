//! What hooks have reported of a session already, so that nothing is stored twice
//! that has no call to be known by.

use std::collections::HashSet;

use remora_core::EventName;
use remora_core::ids::SessionId;
use remora_core::record::{Kind, LoggedEvent};
use remora_memory::CapturedEvent;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};

use crate::ServerError;

/// Events of a session that are read.
const MAX_SESSION_EVENTS: usize = 200_000;
/// A hook and a transcript report the same event within this time, in milliseconds.
const ECHO_WINDOW_MS: i64 = 10_000;
/// Before a compaction is noted, the model writes the summary.
const COMPACTION_WINDOW_MS: i64 = 300_000;

/// What is known of one session.
#[derive(Debug, Default)]
pub(super) struct KnownEvents {
    /// Events with the prompt they belong to.
    prompts: HashSet<(EventName, String)>,
    /// Events with their time, and whether their prompt is known.
    timed_events: Vec<(EventName, i64, bool)>,
    /// Subagents that reported their result.
    agents: HashSet<String>,
}

impl KnownEvents {
    pub(super) fn for_session(store: &dyn Store, session: &SessionId) -> Result<Self, ServerError> {
        let mut known = Self::default();
        let filter = Filter {
            session: Some(session.clone()),
            ..Filter::default()
        };
        if store.list_sessions(&filter, 1)?.is_empty() {
            return Ok(known);
        }
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit: MAX_SESSION_EVENTS,
        };
        for row in store.list_events(&filter, page)? {
            known.add_event(&row);
        }
        let tasks = Filter {
            kinds: vec![Kind::Task],
            ..filter
        };
        for item in store.list_items(&tasks, page)? {
            if !is_own(&item.uid) && item.tool.is_none() {
                known.agents.extend(item.subagent);
            }
        }
        Ok(known)
    }

    fn add_event(&mut self, row: &LoggedEvent) {
        let Some(name) = EventName::parse(&row.name).filter(|_| !is_own(&row.id)) else {
            return;
        };
        // Session, event, prompt and a print of the words.
        let prompt = row.call.as_deref().and_then(|call| {
            let mut parts = call.split(' ').skip(2);
            let prompt = parts.next()?;
            parts.next().map(|_| prompt.to_owned())
        });
        self.timed_events.push((name, row.time, prompt.is_some()));
        if let Some(prompt) = prompt {
            self.prompts.insert((name, prompt));
        }
    }

    /// Whether a hook has reported this.
    pub(super) fn contains_event(&self, event: &CapturedEvent) -> bool {
        let name = event.event.name;
        let at = event.envelope.at;
        let near = |span: i64| {
            self.timed_events
                .iter()
                .any(|(other, time, _)| *other == name && (time - at).abs() < span)
        };
        match name {
            EventName::SessionStart | EventName::SessionEnd => {
                self.timed_events.iter().any(|(other, ..)| *other == name)
            }
            EventName::SubagentStop => {
                let subagent = event.event.subagent_id().unwrap_or_default();
                self.agents.contains(subagent)
            }
            EventName::PreCompact | EventName::PostCompact => near(COMPACTION_WINDOW_MS),
            // They are known by their call.
            EventName::PostToolUse | EventName::PostToolUseFailure => false,
            _ => {
                let prompt = event.event.turn.as_deref().unwrap_or_default();
                let unknown = |(other, time, known): &(EventName, i64, bool)| {
                    *other == name
                        && (!known || prompt.is_empty())
                        && (time - at).abs() < ECHO_WINDOW_MS
                };
                self.prompts.contains(&(name, prompt.to_owned()))
                    || self.timed_events.iter().any(unknown)
            }
        }
    }
}

/// Whether the name was made from what a transcript says, not by a hook: the
/// version of the UUID shows.
fn is_own(id: &str) -> bool {
    id.as_bytes().get(14) == Some(&b'8')
}
