//! The scripted model: enough of the Messages API for one whole session of the client.
//!
//! Requests of the main conversation take the case's turns in order, a subagent's those
//! marked `agent`; side requests (no tools offered) get a fixed text. Every request body is
//! kept, because it shows what reached the model. It must not decide anything about hooks.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde_json::{Value, json};

use super::http::{HttpRequest, HttpResponse, HttpServer};

/// The client's key; no real one has this form.
pub(super) const API_KEY: &str = "test-key-0000";

/// A running model.
pub(super) struct ScriptedModel {
    server: HttpServer,
    state: Arc<Mutex<ModelState>>,
}

#[derive(Default)]
struct ModelState {
    turns: VecDeque<Value>,
    agents: VecDeque<Value>,
    observed: ObservedRequests,
    count: usize,
}

/// Bodies of the requests so far, in order.
#[derive(Default, Clone)]
pub(super) struct ObservedRequests {
    /// Those of the main conversation.
    pub(super) main: Vec<Value>,
    /// Those of subagents.
    pub(super) agents: Vec<Value>,
    /// Those that offer no tools.
    pub(super) aside: Vec<Value>,
}

impl ScriptedModel {
    /// `turns`: `{"text": ..}` or `{"tools": [{"id", "name", "input"}]}` or both; with
    /// `"agent": true` it is for a subagent.
    pub(super) fn start(turns: &[Value]) -> Result<Self> {
        let (agents, turns) = turns
            .iter()
            .cloned()
            .partition(|turn| turn["agent"] == json!(true));
        let state = Arc::new(Mutex::new(ModelState {
            turns,
            agents,
            ..ModelState::default()
        }));
        let shared = Arc::clone(&state);
        let server = HttpServer::start(move |request| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            answer_request(&mut state, request)
        })?;
        Ok(Self { server, state })
    }

    /// Lets a client talk to this model and to nobody else.
    pub(super) fn point_client(&self, client: &mut Command) {
        point_to(&self.server.url(), client);
    }

    /// Bodies of the main conversation's requests so far, in order.
    pub(super) fn main_requests(&self) -> Vec<Value> {
        self.observed_requests().main
    }

    /// All bodies so far.
    pub(super) fn observed_requests(&self) -> ObservedRequests {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.observed.clone()
    }
}

/// Lets a client talk to the model at this address and to nobody else.
pub(super) fn point_to(url: &str, client: &mut Command) {
    client
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", API_KEY);
    for switch in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "IS_SANDBOX", // or it refuses bypassPermissions to root
    ] {
        client.env(switch, "1");
    }
}

fn answer_request(state: &mut ModelState, request: &HttpRequest) -> HttpResponse {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => {}
        ("POST", "/v1/messages/count_tokens") => {
            let tokens = json!({"input_tokens": request.body.len() / 4 + 1});
            return json_response(&tokens);
        }
        ("GET", "/v1/models") => {
            return json_response(&json!({"data": [], "has_more": false}));
        }
        _ => return json_response(&json!({})),
    }
    state.count += 1;
    let offered = body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    let aside = json!({"text": "aside"});
    // A request without tools is one of the client's own, such as for a title. It must not
    // use up a turn of the script.
    let turn = if !offered {
        state.observed.aside.push(body.clone());
        aside
    } else if request.header("x-claude-code-agent-id").is_some() {
        state.observed.agents.push(body.clone());
        state.agents.pop_front().unwrap_or(aside)
    } else {
        state.observed.main.push(body.clone());
        state
            .turns
            .pop_front()
            .unwrap_or_else(|| json!({"text": "done"}))
    };
    let message = build_message(&turn, &body, state.count);
    if body["stream"] == json!(true) {
        return HttpResponse::new(200, "text/event-stream", to_server_events(&message));
    }
    json_response(&message)
}

pub(super) fn json_response(value: &Value) -> HttpResponse {
    HttpResponse::new(200, "application/json", value.to_string())
}

pub(super) fn build_message(turn: &Value, body: &Value, count: usize) -> Value {
    let mut blocks = Vec::new();
    if let Some(text) = turn["text"].as_str() {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for tool in turn["tools"].as_array().into_iter().flatten() {
        blocks.push(json!({
            "type": "tool_use", "id": tool["id"], "name": tool["name"], "input": tool["input"],
        }));
    }
    let stop = if turn["tools"].is_array() {
        "tool_use"
    } else {
        "end_turn"
    };
    json!({
        "id": format!("msg_{count:06}"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": 100, "output_tokens": 20,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        },
    })
}

/// The same message as server-sent events.
pub(super) fn to_server_events(message: &Value) -> String {
    let mut out = String::new();
    let mut send = |data: Value| {
        let name = data["type"].as_str().unwrap_or_default();
        let _ = write!(out, "event: {name}\ndata: {data}\n\n"); // a String takes everything
    };
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    send(json!({"type": "message_start", "message": start}));
    for (index, block) in message["content"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let (empty, delta) = if block["type"] == "text" {
            (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": block["text"]}),
            )
        } else {
            let mut empty = block.clone();
            empty["input"] = json!({});
            let input = block["input"].to_string();
            (
                empty,
                json!({"type": "input_json_delta", "partial_json": input}),
            )
        };
        send(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        send(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        send(json!({"type": "content_block_stop", "index": index}));
    }
    send(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": message["usage"],
    }));
    send(json!({"type": "message_stop"}));
    out
}
