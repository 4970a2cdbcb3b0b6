//! `OpenAI`'s chat completions, as model servers speak them.

use remora_core::model::{
    ModelMessage, ModelReply, ModelRequest, ModelToolCall, ModelUsage, ReplyEnd,
};
use serde_json::{Value, json};

use super::Endpoint;
use crate::Secret;
use crate::names::OPENAI_HOST;

/// What models that think aloud put around their thoughts.
const THOUGHT_MARKS: (&str, &str) = ("<think>", "</think>");

pub(crate) fn headers(key: Option<&Secret>) -> Vec<(&'static str, String)> {
    let bearer = |key: &Secret| ("authorization", format!("Bearer {}", key.reveal()));
    key.map(bearer).into_iter().collect()
}

pub(crate) fn encode(request: &ModelRequest, model: &str, endpoint: &Endpoint) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        encode_message(message, &mut messages);
    }
    let mut body = json!({"model": model, "messages": messages, "stream": false});
    // Its inventor renamed the field and refuses the old name for newer models; model
    // servers know the old one.
    let limit = if endpoint.host() == OPENAI_HOST {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    body[limit] = json!(request.max_tokens);
    if !request.tools.is_empty() {
        let tool = |t: &remora_core::model::ModelTool| {
            json!({
                "type": "function",
                "function": {
                    "name": t.name,
                    "description": t.description,
                    "parameters": t.input_schema,
                },
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(schema) = &request.output_schema {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema},
        });
    }
    body
}

fn encode_message(message: &ModelMessage, messages: &mut Vec<Value>) {
    match message {
        ModelMessage::User(text) => messages.push(json!({"role": "user", "content": text})),
        ModelMessage::Assistant { text, calls } => {
            let mut value = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let call = |c: &ModelToolCall| {
                    json!({
                        "id": c.id,
                        "type": "function",
                        "function": {"name": c.name, "arguments": c.input.to_string()},
                    })
                };
                value["tool_calls"] = calls.iter().map(call).collect();
            }
            messages.push(value);
        }
        ModelMessage::ToolResults(results) => messages.extend(results.iter().map(|result| {
            // The format has no mark for failures, so the text says it.
            let text = if result.failed {
                format!("Error: {}", result.text)
            } else {
                result.text.clone()
            };
            json!({"role": "tool", "tool_call_id": result.call_id, "content": text})
        })),
    }
}

pub(crate) fn decode(body: &Value) -> Result<ModelReply, String> {
    let choice = body["choices"]
        .get(0)
        .ok_or("the answer has no `choices`")?;
    let message = choice["message"]
        .as_object()
        .ok_or("the answer has no `message`")?;
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|p| p["text"].as_str()).collect(),
        _ => String::new(),
    };
    let calls: Vec<ModelToolCall> = message
        .get("tool_calls")
        .and_then(Value::as_array)
        .map(|list| list.iter().map(decode_call).collect())
        .unwrap_or_default();
    let end = match choice["finish_reason"].as_str() {
        // Some servers say `stop` beside calls.
        _ if !calls.is_empty() => ReplyEnd::ToolCalls,
        Some("length") => ReplyEnd::Length,
        Some("content_filter") => ReplyEnd::Refused,
        _ => ReplyEnd::Complete,
    };
    let count = |key: &str| body["usage"][key].as_u64().unwrap_or(0);
    Ok(ModelReply {
        text: strip_thoughts(&text).to_owned(),
        calls,
        end,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        usage: ModelUsage {
            input_tokens: count("prompt_tokens"),
            output_tokens: count("completion_tokens"),
        },
    })
}

/// Arguments are JSON in a string; what does not parse is kept as it is, so that
/// the caller can refuse it.
fn decode_call(call: &Value) -> ModelToolCall {
    let arguments = &call["function"]["arguments"];
    let input = match arguments {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        other => other.clone(),
    };
    ModelToolCall {
        id: call["id"].as_str().unwrap_or_default().to_owned(),
        name: call["function"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        input,
    }
}

/// The answer without thoughts in front of it.
fn strip_thoughts(text: &str) -> &str {
    let (open, close) = THOUGHT_MARKS;
    let begun = text.trim_start().strip_prefix(open);
    match begun.and_then(|rest| rest.split_once(close)) {
        Some((_, answer)) => answer,
        None => text,
    }
}
