//! The scripted model as Codex asks for it: enough of the Responses API for whole sessions.
//!
//! Requests that offer tools take the turns in order; any other gets a fixed text. Every request
//! body is kept, because it shows what reached the model.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde_json::{Value, json};

use super::http::{HttpRequest, HttpResponse, HttpServer};

/// Stands for the id of a subagent, which the client chooses.
pub(super) const STARTED_AGENT: &str = "STARTED-AGENT";

/// A running model.
pub(super) struct ScriptedResponses {
    server: HttpServer,
    state: Arc<Mutex<ModelState>>,
}

struct ModelState {
    turns: VecDeque<Value>,
    requests: Vec<Value>,
}

impl ScriptedResponses {
    /// `turns`: `{"text": ..}` or `{"tools": [..]}` or both. A tool is `{"id", "name", "input"}`,
    /// or with `"patch"` in place of the input the tool that takes bare text. A turn with `"task"`
    /// is for the subagent that was sent that task, whenever it asks. In an input
    /// [`STARTED_AGENT`] stands for the subagent that was started last. A turn with `"is_summary"`
    /// answers the client when it sums up; `"used_tokens"` is what a turn says that it took.
    pub(super) fn start(turns: &[Value]) -> Result<Self> {
        let state = Arc::new(Mutex::new(ModelState {
            turns: turns.iter().cloned().collect(),
            requests: Vec::new(),
        }));
        let shared = Arc::clone(&state);
        let server = HttpServer::start(move |request| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            answer_request(&mut state, request)
        })?;
        Ok(Self { server, state })
    }

    /// `http://127.0.0.1:PORT/v1`
    pub(super) fn base_url(&self) -> String {
        format!("{}/v1", self.server.url())
    }

    /// Bodies of the conversation's requests so far, in order.
    pub(super) fn requests(&self) -> Vec<Value> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests.clone()
    }
}

fn answer_request(state: &mut ModelState, request: &HttpRequest) -> HttpResponse {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    if request.method != "POST" || !request.path.ends_with("/responses") {
        let models = json!({"object": "list", "data": [], "models": []});
        return HttpResponse::new(200, "application/json", models.to_string());
    }
    let offers_tools = body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    let turn = if offers_tools {
        let count = state.requests.len();
        let turn = take_turn(&mut state.turns, &body);
        state.requests.push(body);
        turn.unwrap_or_else(|| json!({"text": format!("done {count}")}))
    } else {
        let summary = state
            .turns
            .iter()
            .position(|turn| turn["is_summary"] == true);
        let summary = summary.and_then(|at| state.turns.remove(at));
        summary.unwrap_or_else(|| json!({"text": "aside"}))
    };
    let used_tokens = turn["used_tokens"].as_u64().unwrap_or(100);
    let events = to_server_events(&build_items(&turn, state.requests.len()), used_tokens);
    HttpResponse::new(200, "text/event-stream", events)
}

/// The next turn of the conversation that this request belongs to.
fn take_turn(turns: &mut VecDeque<Value>, body: &Value) -> Option<Value> {
    let is_due = |turn: &Value| match turn["task"].as_str() {
        Some(task) => asks_for(body, task),
        None => !turns
            .iter()
            .filter_map(|turn| turn["task"].as_str())
            .any(|task| asks_for(body, task)),
    };
    let at = turns.iter().position(is_due)?;
    let mut turn = turns.remove(at)?;
    if let Some(agent) = find_started_agent(body) {
        for tool in turn["tools"].as_array_mut().into_iter().flatten() {
            let input = tool["input"].to_string().replace(STARTED_AGENT, &agent);
            tool["input"] = serde_json::from_str(&input).unwrap_or_default();
        }
    }
    Some(turn)
}

/// Whether a user's message of the conversation is this text. In the conversation that sent
/// it to a subagent it is a call.
fn asks_for(body: &Value, text: &str) -> bool {
    let messages = list_input(body).filter(|item| item["role"] == "user");
    let mut parts = messages.flat_map(|item| item["content"].as_array().into_iter().flatten());
    parts.any(|part| part["text"] == text)
}

fn find_started_agent(body: &Value) -> Option<String> {
    let outputs = list_input(body).filter_map(|item| item["output"].as_str());
    let answers = outputs.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let agents = answers.filter_map(|answer| answer["agent_id"].as_str().map(str::to_owned));
    agents.last()
}

fn list_input(body: &Value) -> impl Iterator<Item = &Value> {
    body["input"].as_array().into_iter().flatten()
}

fn build_items(turn: &Value, count: usize) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(text) = turn["text"].as_str() {
        items.push(json!({
            "type": "message", "role": "assistant", "id": format!("msg_{count}"),
            "content": [{"type": "output_text", "text": text}],
        }));
    }
    for tool in turn["tools"].as_array().into_iter().flatten() {
        let id = tool["id"].as_str().unwrap_or_default();
        let mut item = if tool["patch"].is_string() {
            json!({
                "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id,
                "name": tool["name"], "input": tool["patch"],
            })
        } else {
            json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                "name": tool["name"], "arguments": tool["input"].to_string(),
            })
        };
        if tool["namespace"].is_string() {
            item["namespace"] = tool["namespace"].clone();
        }
        items.push(item);
    }
    items
}

fn to_server_events(items: &[Value], used_tokens: u64) -> String {
    let mut out = String::new();
    let mut send = |data: Value| {
        let name = data["type"].as_str().unwrap_or_default();
        let _ = write!(out, "event: {name}\ndata: {data}\n\n"); // a String takes everything
    };
    send(json!({"type": "response.created", "response": {"id": "resp"}}));
    for (index, item) in items.iter().enumerate() {
        for step in ["response.output_item.added", "response.output_item.done"] {
            send(json!({"type": step, "output_index": index, "item": item}));
        }
    }
    let usage = json!({
        "input_tokens": used_tokens, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used_tokens + 10,
    });
    send(json!({
        "type": "response.completed",
        "response": {"id": "resp", "status": "completed", "usage": usage, "output": items},
    }));
    out
}
