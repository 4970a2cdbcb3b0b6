//! Anthropic's Messages API.

use remora_core::model::{
    ModelMessage, ModelReply, ModelRequest, ModelToolCall, ModelUsage, ReplyEnd,
};
use serde_json::{Value, json};

use crate::Secret;
use crate::names::ANTHROPIC_VERSION;

pub(crate) fn headers(key: Option<&Secret>) -> Vec<(&'static str, String)> {
    let mut headers = vec![("anthropic-version", ANTHROPIC_VERSION.to_owned())];
    headers.extend(key.map(|key| ("x-api-key", key.reveal().to_owned())));
    headers
}

pub(crate) fn encode(request: &ModelRequest, model: &str) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": request.messages.iter().map(encode_message).collect::<Vec<_>>(),
    });
    if !request.system.is_empty() {
        body["system"] = json!(request.system);
    }
    if !request.tools.is_empty() {
        let tool = |t: &remora_core::model::ModelTool| {
            json!({
                "name": t.name,
                "description": t.description,
                "input_schema": t.input_schema,
            })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(schema) = &request.output_schema {
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body
}

fn encode_message(message: &ModelMessage) -> Value {
    match message {
        ModelMessage::User(text) => json!({"role": "user", "content": text}),
        ModelMessage::Assistant { text, calls } => {
            let mut blocks = Vec::new();
            // An empty block is refused.
            if !text.is_empty() {
                blocks.push(json!({"type": "text", "text": text}));
            }
            blocks.extend(calls.iter().map(|call| {
                json!({
                    "type": "tool_use",
                    "id": call.id,
                    "name": call.name,
                    "input": call.input,
                })
            }));
            json!({"role": "assistant", "content": blocks})
        }
        ModelMessage::ToolResults(results) => {
            let blocks: Vec<_> = results
                .iter()
                .map(|result| {
                    json!({
                        "type": "tool_result",
                        "tool_use_id": result.call_id,
                        "content": result.text,
                        "is_error": result.failed,
                    })
                })
                .collect();
            json!({"role": "user", "content": blocks})
        }
    }
}

pub(crate) fn decode(body: &Value) -> Result<ModelReply, String> {
    let blocks = body["content"]
        .as_array()
        .ok_or("the answer has no `content`")?;
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => calls.push(ModelToolCall {
                id: block["id"].as_str().unwrap_or_default().to_owned(),
                name: block["name"].as_str().unwrap_or_default().to_owned(),
                input: block["input"].clone(),
            }),
            // Thinking, and what comes later: not part of the answer.
            _ => {}
        }
    }
    let end = match body["stop_reason"].as_str() {
        Some("tool_use") => ReplyEnd::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => ReplyEnd::Length,
        Some("refusal") => ReplyEnd::Refused,
        _ => ReplyEnd::Complete,
    };
    let count = |key: &str| body["usage"][key].as_u64().unwrap_or(0);
    Ok(ModelReply {
        text,
        calls,
        end,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        usage: ModelUsage {
            input_tokens: count("input_tokens")
                + count("cache_creation_input_tokens")
                + count("cache_read_input_tokens"),
            output_tokens: count("output_tokens"),
        },
    })
}
