//! Everything a session remembers between two events, as a value. Pure: no
//! clock, no disk, no process; what happened comes in as arguments.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use remora_core::{Event, EventName, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::env_files::EnvFiles;
use super::hooks::SessionHooks;
use super::stop_loop::{StopDecision, StopLoop};
use super::watch::WatchLists;
use crate::deliver::{Delivery, DeliveryPlace};
use crate::run::WakeUp;

/// Whether the agent works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionPhase {
    /// No turn is under way.
    #[default]
    Idle,
    /// A wake-up was handed to the host, which has not begun its turn yet.
    Waking,
    /// A turn is under way.
    Busy,
}

/// What the request that is about to be built carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestPoint {
    /// A new prompt.
    NextPrompt,
    /// The results of tools.
    NextRequest,
}

/// What waits for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Pending {
    /// Texts of a handler in the background.
    Text(String),
    /// A wake-up.
    Wake(WakeUp),
}

/// The memory of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    pub(crate) phase: SessionPhase,
    pub(crate) cwd: PathBuf,
    main_stops: StopLoop,
    agent_stops: BTreeMap<String, StopLoop>,
    pending: VecDeque<Pending>,
    /// The wake-up that the host has and has not fired yet.
    handed: Option<WakeUp>,
    pub(crate) watch: WatchLists,
    pub(crate) env_files: EnvFiles,
    pub(crate) hooks: SessionHooks,
    /// Events fired so far.
    fired: u64,
}

impl SessionState {
    pub(crate) fn new(cwd: PathBuf, watch: WatchLists) -> Self {
        Self {
            cwd,
            watch,
            ..Self::default()
        }
    }

    /// The event as handlers read it: what the session knows better than the host
    /// is filled in.
    pub(crate) fn complete_event(&self, event: &Event) -> Event {
        let mut event = event.clone();
        if let Some(stops) = self.stops_of(&event) {
            let active = Value::Bool(stops.active);
            event.fields.insert("stop_hook_active".into(), active);
        }
        event
    }

    /// Whether `stop_hook_active` is set for the main agent.
    pub(crate) fn is_stop_hook_active(&self) -> bool {
        self.main_stops.active
    }

    fn stops_of(&self, event: &Event) -> Option<StopLoop> {
        match event.name {
            EventName::Stop => Some(self.main_stops.clone()),
            EventName::SubagentStop => {
                let id = event.str_field("agent_id").unwrap_or_default();
                Some(self.agent_stops.get(id).cloned().unwrap_or_default())
            }
            _ => None,
        }
    }

    /// The number of the event that is fired now, from 1.
    pub(crate) fn number_event(&mut self) -> u64 {
        self.fired += 1;
        self.fired
    }

    /// What happens before the event's handlers are planned.
    pub(crate) fn begin_event(&mut self, event: &Event) {
        let cleared =
            event.name == EventName::SessionEnd && event.str_field("reason") == Some("clear");
        if cleared {
            self.hooks.remove_skills();
        }
        if event.name == EventName::PreToolUse {
            match event.str_field("agent_id") {
                None => self.main_stops.note_tool_call(),
                Some(id) => {
                    if let Some(stops) = self.agent_stops.get_mut(id) {
                        stops.note_tool_call();
                    }
                }
            }
        }
    }

    /// What the event's outcome changes. The decision is there on the events that
    /// end an agent.
    pub(crate) fn finish_event(
        &mut self,
        event: &Event,
        outcome: &Outcome,
        cap: Option<u32>,
    ) -> Option<StopDecision> {
        match event.name {
            EventName::UserPromptSubmit => self.note_prompt(event, outcome),
            EventName::Stop => return Some(self.decide_stop(outcome, cap)),
            EventName::SubagentStop => return Some(self.decide_agent_stop(event, outcome, cap)),
            EventName::StopFailure | EventName::SessionEnd => self.end_turn(),
            EventName::SessionStart | EventName::FileChanged => {
                self.watch.take_paths(&outcome.watch_paths);
            }
            EventName::CwdChanged => {
                if let Some(cwd) = event.str_field("new_cwd") {
                    self.cwd = PathBuf::from(cwd);
                }
                self.watch.change_directory(&outcome.watch_paths);
            }
            _ => {}
        }
        None
    }

    /// The working directory changed without an event.
    pub(crate) fn change_directory(&mut self, cwd: &Path) {
        if self.cwd != cwd {
            cwd.clone_into(&mut self.cwd);
            self.watch.change_directory(&[]);
        }
    }

    /// A turn begins: the loop of the prompt before is over.
    pub(crate) fn begin_turn(&mut self, woken: bool) {
        self.phase = SessionPhase::Busy;
        self.main_stops = StopLoop::begin(woken);
    }

    /// The turn is over, for whatever reason.
    pub(crate) fn end_turn(&mut self) {
        self.phase = SessionPhase::Idle;
        self.agent_stops.clear();
    }

    fn note_prompt(&mut self, event: &Event, outcome: &Outcome) {
        let prompt = event.str_field("prompt").unwrap_or_default();
        let woken = self.handed.as_ref().is_some_and(|w| w.prompt == prompt);
        if woken {
            self.handed = None;
        }
        let goes_on = !outcome.blocked && outcome.go_on;
        match (self.phase, goes_on) {
            // It joins the turn that is under way.
            (SessionPhase::Busy, _) => {}
            (_, true) => self.begin_turn(woken),
            (SessionPhase::Waking, false) if woken => self.phase = SessionPhase::Idle,
            (_, false) => {}
        }
    }

    fn decide_stop(&mut self, outcome: &Outcome, cap: Option<u32>) -> StopDecision {
        let decision = self.main_stops.decide(wants_more(outcome), cap);
        if decision != StopDecision::Continues {
            self.end_turn();
        }
        decision
    }

    fn decide_agent_stop(
        &mut self,
        event: &Event,
        outcome: &Outcome,
        cap: Option<u32>,
    ) -> StopDecision {
        let id = event.str_field("agent_id").unwrap_or_default();
        let stops = self.agent_stops.entry(id.to_owned()).or_default();
        let decision = stops.decide(wants_more(outcome), cap);
        if decision != StopDecision::Continues {
            self.agent_stops.remove(id);
            self.hooks.remove_agent(id);
        }
        decision
    }

    /// A handler in the background has ended with something to say.
    pub(crate) fn add_text(&mut self, text: String) {
        self.pending.push_back(Pending::Text(text));
    }

    /// A handler in the background wakes the model.
    pub(crate) fn add_wake(&mut self, wake: WakeUp) {
        self.pending.push_back(Pending::Wake(wake));
    }

    /// The next wake-up, if the agent is idle. Each begins a turn of its own.
    pub(crate) fn take_wake(&mut self) -> Option<WakeUp> {
        if self.phase != SessionPhase::Idle {
            return None;
        }
        let at = self
            .pending
            .iter()
            .position(|p| matches!(p, Pending::Wake(_)))?;
        let Some(Pending::Wake(wake)) = self.pending.remove(at) else {
            return None;
        };
        self.phase = SessionPhase::Waking;
        self.handed = Some(wake.clone());
        Some(wake)
    }

    /// What the next request of the main conversation carries besides.
    pub(crate) fn take_deliveries(&mut self, point: RequestPoint) -> Vec<Delivery> {
        let waiting = std::mem::take(&mut self.pending);
        let mut deliveries = Vec::new();
        for pending in waiting {
            let (place, text) = match pending {
                Pending::Text(text) => (DeliveryPlace::Aside, text),
                // A wake-up waits for tool results, or for the end of the turn.
                Pending::Wake(wake) if point == RequestPoint::NextRequest => {
                    let prompt = wake.prompt;
                    (DeliveryPlace::Notification { prompt }, wake.text)
                }
                wake @ Pending::Wake(_) => {
                    self.pending.push_back(wake);
                    continue;
                }
            };
            deliveries.push(Delivery {
                agent: None,
                place,
                text,
            });
        }
        deliveries
    }
}

/// A block, or a text to go on with; `continue: false` beats both.
fn wants_more(outcome: &Outcome) -> bool {
    outcome.go_on && (outcome.blocked || !outcome.context.is_empty())
}

#[cfg(test)]
mod tests;
