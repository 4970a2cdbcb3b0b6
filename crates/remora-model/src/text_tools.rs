//! Tools for a model that takes and gives text alone: described in words, called
//! by one JSON object.

use remora_core::model::{ModelReply, ModelRequest, ModelTool, ModelToolCall, ReplyEnd};
use serde_json::{Value, json};

/// The same request without tools: they are part of the system text, and the
/// answer's schema is that of one call.
pub(crate) fn describe_tools(request: &ModelRequest) -> ModelRequest {
    let describe = |tool: &ModelTool| {
        format!(
            "- {}: {}\n  input: {}",
            tool.name, tool.description, tool.input_schema
        )
    };
    let tools: Vec<String> = request.tools.iter().map(describe).collect();
    let names: Vec<&str> = request.tools.iter().map(|t| t.name.as_str()).collect();
    let system = format!(
        "{}\n\nYou call tools by answering with one JSON object and nothing else: \
         {{\"tool\": NAME, \"input\": {{...}}}}. The result comes with the next message. \
         The tools:\n{}",
        request.system,
        tools.join("\n")
    );
    ModelRequest {
        system,
        tools: Vec::new(),
        output_schema: Some(json!({
            "type": "object",
            "properties": {
                "tool": {"type": "string", "enum": names},
                "input": {"type": "object"},
            },
            "required": ["tool", "input"],
        })),
        ..request.clone()
    }
}

/// Turns an answer that is a call into one.
pub(crate) fn find_call(reply: &mut ModelReply, position: usize) {
    let Ok(Value::Object(mut object)) = serde_json::from_str(reply.text.trim()) else {
        return;
    };
    let (Some(Value::String(name)), Some(input)) = (object.remove("tool"), object.remove("input"))
    else {
        return;
    };
    reply.calls.push(ModelToolCall {
        // One call a message, so its place in the conversation is unique.
        id: format!("call_{position}"),
        name,
        input,
    });
    reply.text.clear();
    reply.end = ReplyEnd::ToolCalls;
}

/// A call as the model wrote it.
pub(crate) fn format_call(call: &ModelToolCall) -> String {
    json!({"tool": call.name, "input": call.input}).to_string()
}
