//! The scripted model of a session. One script answers the conversations and the
//! handlers; what handlers ask of it is noted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use remora_core::model::{
    Model, ModelChoice, ModelError, ModelErrorKind, ModelMessage, ModelReply, ModelRequest,
};
use serde_json::Value;

use super::case::Case;
use super::client::Delivered;
use super::compare::find_markers;
use super::naps::Naps;
use super::world::Dispatch;
use crate::models::script::{Offer, Question, Script, list_texts, read_offer, read_turn};

/// The model of a session that names none.
const SESSION_MODEL: &str = "claude-opus-5-5";
/// Variables that name the model of prompt handlers.
const SMALL_MODEL_VARS: [&str; 2] = [
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
];

/// What is seen by several threads at once.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) dispatches: Mutex<Vec<Dispatch>>,
    /// Requests so far, by conversation.
    pub(super) requests: Mutex<BTreeMap<&'static str, usize>>,
    /// What models of handlers read of hooks.
    pub(super) delivered: Mutex<Vec<Delivered>>,
    /// Calls of verifiers that have events of their end, by id.
    pub(super) ended: Mutex<BTreeMap<String, &'static str>>,
    /// Calls of verifiers whose results a model read, with how they ended.
    pub(super) tools: Mutex<BTreeMap<String, &'static str>>,
    /// What models of handlers said, with the requests before the event.
    pub(super) said: Mutex<Vec<(String, BTreeMap<&'static str, usize>)>>,
}

impl Seen {
    pub(super) fn count_request(&self, kind: &'static str) -> usize {
        let mut requests = self.requests.lock().unwrap();
        let n = requests.entry(kind).or_insert(0);
        *n += 1;
        *n
    }

    pub(super) fn copy_requests(&self) -> BTreeMap<&'static str, usize> {
        self.requests.lock().unwrap().clone()
    }
}

pub(super) struct ScriptedModel {
    script: Mutex<Script>,
    session: String,
    small: Option<String>,
    naps: Arc<Naps>,
    seen: Arc<Seen>,
    /// Texts of hooks in the conversation that a prompt handler judges.
    judged: Mutex<Vec<Delivered>>,
}

impl ScriptedModel {
    pub(super) fn new(case: &Case, naps: Arc<Naps>, seen: Arc<Seen>) -> Self {
        let env = &case.value["env"];
        let small = SMALL_MODEL_VARS.iter().find_map(|name| env[*name].as_str());
        Self {
            script: Mutex::new(Script::new(&case.value["model"])),
            session: case
                .arg_value("--model")
                .unwrap_or_else(|| SESSION_MODEL.into()),
            small: small.map(str::to_owned),
            naps,
            seen,
            judged: Mutex::default(),
        }
    }

    /// Older models have no place for texts of the system inside a conversation.
    pub(super) fn is_old_style(&self) -> bool {
        let old = [
            "claude-3",
            "claude-haiku-4",
            "claude-sonnet-4",
            "claude-opus-4",
        ];
        old.iter().any(|name| self.session.starts_with(name))
    }

    /// The conversation that the next event's handlers judge has these texts.
    pub(super) fn note_judged(&self, texts: Vec<Delivered>) {
        *self.judged.lock().unwrap() = texts;
    }

    /// The turn that answers a conversation.
    pub(super) fn answer(&self, in_agent: bool, messages: &[(&'static str, String)]) -> Value {
        let texts = messages.iter().map(|(role, text)| (*role, text.as_str()));
        self.script.lock().unwrap().choose_turn(&Question {
            texts: texts.collect(),
            model: &self.session,
            in_agent,
            tools: Offer::Conversation,
        })
    }

    fn name_model<'a>(&'a self, request: &'a ModelRequest, offer: Offer) -> &'a str {
        match (&request.model, &self.small) {
            (ModelChoice::Named(name) | ModelChoice::Alias(name), _) => name,
            (ModelChoice::Configured, Some(small)) if offer == Offer::Nothing => small,
            (ModelChoice::Configured, _) => &self.session,
        }
    }

    /// What a handler's request carries of hooks.
    fn note_texts(&self, request: &ModelRequest, kind: &'static str, n: usize) {
        let mut delivered = self.seen.delivered.lock().unwrap();
        let texts = list_texts(request);
        if kind == "hook_prompt" {
            let judged = self.judged.lock().unwrap();
            let sent = judged.iter().filter(|judged| {
                let mut before = texts[..texts.len() - 1].iter();
                before.any(|(_, text)| text.contains(&judged.text))
            });
            delivered.extend(sent.map(|judged| Delivered {
                to: kind,
                request: n,
                ..judged.clone()
            }));
            return;
        }
        for message in &request.messages[1..] {
            let ModelMessage::ToolResults(results) = message else {
                continue;
            };
            let ended = self.seen.ended.lock().unwrap();
            // The engine gives ids to calls without one.
            for result in results.iter().filter(|r| !r.call_id.starts_with("call_")) {
                let end = ended.get(&result.call_id).copied().unwrap_or("none");
                let mut tools = self.seen.tools.lock().unwrap();
                tools.insert(result.call_id.clone(), end);
            }
            for result in results {
                let lines = result
                    .text
                    .lines()
                    .filter(|line| !find_markers(line).is_empty());
                delivered.extend(lines.map(|line| Delivered {
                    to: kind,
                    request: n,
                    role: if result.failed { "user" } else { "system" },
                    text: line.to_owned(),
                    notification: false,
                }));
            }
        }
    }
}

impl Model for ScriptedModel {
    fn complete(
        &self,
        request: &ModelRequest,
        deadline: Instant,
    ) -> Result<ModelReply, ModelError> {
        let offer = read_offer(request);
        // How often a request is made that the provider does not accept: the client asks
        // again in another form, a verifier's request twice as often.
        let (kind, most) = match offer {
            Offer::Nothing => ("hook_prompt", 2),
            _ => ("hook_agent", 4),
        };
        let before = self
            .seen
            .dispatches
            .lock()
            .unwrap()
            .last()
            .map(|d| d.requests.clone());
        for tried in 1.. {
            let n = self.seen.count_request(kind);
            self.note_texts(request, kind, n);
            let turn = self.script.lock().unwrap().choose_turn(&Question {
                texts: list_texts(request),
                model: self.name_model(request, offer),
                // Verifiers have no mark of an agent.
                in_agent: false,
                tools: offer,
            });
            let seconds = turn["delay"].as_f64().unwrap_or(0.0);
            let left = deadline
                .saturating_duration_since(Instant::now())
                .as_secs_f64();
            if seconds > 0.0 {
                self.naps.sleep(seconds.min(left));
            }
            if seconds >= left {
                return Err(ModelError::new(ModelErrorKind::Timeout, "too late"));
            }
            let status = turn["error"]["status"].as_u64();
            if matches!(status, Some(400 | 404)) && tried < most {
                continue;
            }
            let said = (turn.to_string(), before.unwrap_or_default());
            self.seen.said.lock().unwrap().push(said);
            return read_turn(&turn);
        }
        unreachable!("the last try returns")
    }
}
