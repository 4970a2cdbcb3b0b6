//! The scripted model of a recorded session: rules first, then turns in order, answers that take
//! their time, failures. What asks is told apart, because a text counts for the conversation
//! that it reached.

use std::collections::{BTreeMap, VecDeque};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use super::runs::read_clock;
use crate::client::api::{build_message, json_response, point_to, to_server_events};
use crate::client::http::{HttpRequest, HttpResponse, HttpServer};

/// In the text of every prompt handler of the cases.
const HANDLER_MARK: &str = "HPROMPT";
/// Offered to the verifier of an agent handler alone.
const VERDICT_TOOL: &str = "StructuredOutput";

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum RequestKind {
    Main,
    Subagent,
    HookPrompt,
    HookAgent,
    /// The client for itself, such as for a title.
    Side,
}

impl RequestKind {
    /// As the recording calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::HookPrompt => "hook_prompt",
            Self::HookAgent => "hook_agent",
            Self::Side => "side",
        }
    }
}

/// One request, as it arrived.
#[derive(Clone)]
pub(super) struct SeenRequest {
    pub(super) kind: RequestKind,
    /// The how manieth of its kind.
    pub(super) number: usize,
    /// Of a subagent's conversation.
    pub(super) agent: Option<String>,
    /// Nanoseconds of the system's clock, as the stub's logs have them.
    pub(super) at: u128,
    pub(super) body: Value,
}

/// A running model.
pub(super) struct LiveModel {
    server: HttpServer,
    state: Arc<Mutex<ModelState>>,
}

struct ModelState {
    rules: Vec<(Value, Option<u64>)>,
    turns: VecDeque<Value>,
    requests: Vec<SeenRequest>,
    counts: BTreeMap<RequestKind, usize>,
}

impl LiveModel {
    pub(super) fn start(script: &Value) -> Result<Self> {
        let list = |key: &str| script[key].as_array().cloned().unwrap_or_default();
        let rules = list("rules").into_iter().map(|rule| {
            let times = rule["times"].as_u64();
            (rule, times)
        });
        let state = Arc::new(Mutex::new(ModelState {
            rules: rules.collect(),
            turns: list("turns").into(),
            requests: Vec::new(),
            counts: BTreeMap::new(),
        }));
        let shared = Arc::clone(&state);
        let server = HttpServer::start(move |request| answer_request(&shared, request))?;
        Ok(Self { server, state })
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// Lets a client talk to this model and to nobody else.
    pub(super) fn point_client(&self, client: &mut Command) {
        point_to(&self.server.url(), client);
    }

    /// All requests so far, in order.
    pub(super) fn requests(&self) -> Vec<SeenRequest> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests.clone()
    }

    pub(super) fn count(&self, kind: RequestKind) -> usize {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.counts.get(&kind).copied().unwrap_or_default()
    }
}

fn answer_request(state: &Mutex<ModelState>, request: &HttpRequest) -> HttpResponse {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => {}
        ("POST", "/v1/messages/count_tokens") => {
            return json_response(&json!({"input_tokens": request.body.len() / 4 + 1}));
        }
        ("GET", "/v1/models") => return json_response(&json!({"data": [], "has_more": false})),
        _ => return json_response(&json!({})),
    }
    let (turn, count) = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let agent = request.header("x-claude-code-agent-id").map(str::to_owned);
        let turn = state.choose_turn(&body, agent.is_some());
        let kind = find_kind(&body, agent.is_some());
        let number = state.counts.entry(kind).or_default();
        *number += 1;
        let seen = SeenRequest {
            kind,
            number: *number,
            agent,
            at: read_clock(),
            body: body.clone(),
        };
        state.requests.push(seen);
        (turn, state.requests.len())
    };
    if let Some(seconds) = turn["delay"].as_f64() {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < end {
            thread::park_timeout(end.saturating_duration_since(Instant::now()));
        }
    }
    if turn["error"].is_object() {
        let error = &turn["error"];
        let status = error["status"].as_u64().and_then(|s| s.try_into().ok());
        let kind = error["type"].as_str().unwrap_or("invalid_request_error");
        let text = error["message"].as_str().unwrap_or("scripted");
        let body = json!({"type": "error", "error": {"type": kind, "message": text}});
        return HttpResponse::new(status.unwrap_or(400), "application/json", body.to_string());
    }
    let message = build_message(&turn, &body, count);
    if body["stream"] == json!(true) {
        return HttpResponse::new(200, "text/event-stream", to_server_events(&message));
    }
    json_response(&message)
}

fn offers_tool(body: &Value, name: &str) -> bool {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.into_iter().any(|tool| tool["name"] == name)
}

fn offers_tools(body: &Value) -> bool {
    body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty())
}

fn find_kind(body: &Value, in_agent: bool) -> RequestKind {
    if offers_tool(body, VERDICT_TOOL) {
        return RequestKind::HookAgent;
    }
    if !offers_tools(body) {
        return if body.to_string().contains(HANDLER_MARK) {
            RequestKind::HookPrompt
        } else {
            RequestKind::Side
        };
    }
    if in_agent {
        RequestKind::Subagent
    } else {
        RequestKind::Main
    }
}

impl ModelState {
    fn choose_turn(&mut self, body: &Value, in_agent: bool) -> Value {
        let rule = self
            .rules
            .iter_mut()
            .find(|(rule, left)| *left != Some(0) && is_match(&rule["match"], body, in_agent));
        if let Some((rule, left)) = rule {
            *left = left.map(|left| left - 1);
            return rule["turn"].clone();
        }
        if !offers_tools(body) {
            return json!({"text": "side"});
        }
        let turn = self.turns.pop_front();
        turn.unwrap_or_else(|| json!({"text": "done"}))
    }
}

fn is_match(keys: &Value, body: &Value, in_agent: bool) -> bool {
    let holds = |part: &Value| body.to_string().contains(part.as_str().unwrap_or_default());
    let last_user = || {
        let mut messages = body["messages"].as_array().into_iter().flatten();
        let last = messages.rfind(|message| message["role"] == "user");
        last.map(|message| message["content"].to_string())
            .unwrap_or_default()
    };
    let keys = keys.as_object().into_iter().flatten();
    keys.into_iter().all(|(key, wanted)| match key.as_str() {
        "any" => holds(wanted),
        "not_any" => !holds(wanted),
        "last_user" => last_user().contains(wanted.as_str().unwrap_or_default()),
        "tools" => wanted.as_bool() == Some(offers_tools(body)),
        "tool" => offers_tool(body, wanted.as_str().unwrap_or_default()),
        "agent" => wanted.as_bool() == Some(in_agent),
        "model" => body["model"] == *wanted,
        _ => false,
    })
}
