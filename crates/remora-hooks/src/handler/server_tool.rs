//! An `mcp_tool` handler: one call of a connected server's tool, its text read as
//! a command's output.

use std::time::Instant;

use remora_core::{EventName, PlainText};
use serde_json::{Map, Value};

use super::{HandlerCall, HandlerCompletion};
use crate::answer::{self, HandlerOutput, ProcessExit, js_trim};
use crate::config::OnFailure;
use crate::host::{ServerCall, ServerCallError, ToolServers};

pub(super) fn run_server_tool(
    call: &HandlerCall<'_>,
    server: &str,
    tool: &str,
    input: &Map<String, Value>,
    servers: &dyn ToolServers,
    deadline: Instant,
) -> HandlerCompletion {
    let output = if let Some(why) = absence_reason(call) {
        end_with(ProcessExit::Failed(format!("{server}: {why}")))
    } else {
        let filled = fill_input(input, &call.event.fields);
        let call = ServerCall {
            server,
            tool,
            input: &filled,
        };
        read_reply(servers.call_tool(&call, deadline))
    };
    let def = call.event.name.def();
    let text = js_trim(&output.stdout);
    let is_object = text.starts_with('{') && text.ends_with('}');
    // Unlike a command's output, plain text of a server never becomes context.
    let counted = if is_object || def.plain == PlainText::WorktreePath {
        output.clone()
    } else {
        HandlerOutput {
            stdout: String::new(),
            ..output.clone()
        }
    };
    // As in the client, `onFailure` says nothing of servers.
    let result = answer::read_answer(def, &counted, OnFailure::Continue);
    HandlerCompletion::Judged(Box::new((result, output)))
}

/// Why no server is connected when the event fires: a session connects after its
/// start and hangs up before its end.
fn absence_reason(call: &HandlerCall<'_>) -> Option<&'static str> {
    match call.event.name {
        EventName::SessionStart
            if !matches!(call.event.str_field("source"), Some("clear" | "compact")) =>
        {
            Some("servers are not connected yet at the start")
        }
        EventName::Setup => Some("servers are not connected yet"),
        EventName::SessionEnd => Some("servers are no longer connected at the end"),
        _ => None,
    }
}

fn read_reply(reply: Result<crate::host::ServerReply, ServerCallError>) -> HandlerOutput {
    match reply {
        Ok(reply) if reply.failed => end_with(ProcessExit::Failed(format!(
            "the tool failed: {}",
            reply.texts.join("\n")
        ))),
        Ok(reply) => HandlerOutput {
            stdout: reply.texts.join("\n"),
            ..end_with(ProcessExit::Exit(0))
        },
        Err(ServerCallError::TimedOut) => end_with(ProcessExit::TimedOut),
        Err(ServerCallError::Failed(why)) => end_with(ProcessExit::Failed(why)),
    }
}

fn end_with(ended: ProcessExit) -> HandlerOutput {
    HandlerOutput {
        ended,
        stdout: String::new(),
        stderr: String::new(),
    }
}

/// The input with values of the event in it: in strings, at any depth, never in
/// keys.
fn fill_input(input: &Map<String, Value>, event: &Map<String, Value>) -> Map<String, Value> {
    input
        .iter()
        .map(|(key, value)| (key.clone(), fill_value(value, event)))
        .collect()
}

fn fill_value(value: &Value, event: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, event)),
        Value::Array(list) => list.iter().map(|v| fill_value(v, event)).collect(),
        Value::Object(map) => Value::Object(fill_input(map, event)),
        other => other.clone(),
    }
}

/// Fills in `${path}`, once.
fn fill_text(text: &str, event: &Map<String, Value>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let end = inside.find(|c| !is_path(c)).unwrap_or(inside.len());
        if end > 0 && inside[end..].starts_with('}') {
            out.push_str(&find_text(event, &inside[..end]));
            rest = &inside[end + 1..];
        } else {
            out.push_str("${");
            rest = inside;
        }
    }
    out.push_str(rest);
    out
}

/// The value at a path, as JavaScript finds it: dots index lists, too, and a list
/// or a text has a length.
fn find_text(event: &Map<String, Value>, path: &str) -> String {
    let mut segments = path.split('.');
    let first = segments.next().and_then(|name| event.get(name)).cloned();
    let found = segments.fold(first, |value, segment| step_into(&value?, segment));
    match found {
        None => String::new(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

fn step_into(value: &Value, segment: &str) -> Option<Value> {
    match value {
        Value::Object(map) => map.get(segment).cloned(),
        Value::Array(list) if segment == "length" => Some(list.len().into()),
        Value::Array(list) => {
            let index: usize = segment.parse().ok()?;
            // `01` is another name than `1`.
            (index.to_string() == segment)
                .then(|| list.get(index).cloned())
                .flatten()
        }
        Value::String(text) if segment == "length" => Some(text.encode_utf16().count().into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_are_filled_as_the_client_does() {
        let event = json!({
            "tool_name": "Write",
            "n": 5,
            "z": null,
            "o": {"a": "${tool_name}", "b": [1, "x", {"c": true}]},
            "q": "say \"hi\"\n",
        });
        let event = event.as_object().unwrap();
        for (text, expected) in [
            ("${tool_name}", "Write"),
            ("a ${n} b ${o.b.1}", "a 5 b x"),
            ("${o.b}", r#"[1,"x",{"c":true}]"#),
            ("${o.b.2.c} ${o.b.length} ${tool_name.length}", "true 3 5"),
            ("${o.b.01}|${o.b.9}|${o.x.y}|${HOME}|${o..a}", "||||"),
            // What comes in is not looked at again.
            ("${o.a}", "${tool_name}"),
            ("${q}", "say \"hi\"\n"),
            (
                "${} $tool_name {{tool_name}} ${tool_name",
                "${} $tool_name {{tool_name}} ${tool_name",
            ),
            ("${ tool_name } ${o[0]}", "${ tool_name } ${o[0]}"),
            ("\\${tool_name} $${tool_name}", "\\Write $Write"),
            ("${z}", "null"),
        ] {
            assert_eq!(fill_text(text, event), expected, "{text}");
        }
    }

    #[test]
    fn only_strings_are_filled_and_never_keys() {
        let event = json!({"t": "x"});
        let input = json!({"${t}": ["${t}", 1, {"k": "${t}"}], "b": true, "n": null});
        assert_eq!(
            fill_value(&input, event.as_object().unwrap()),
            json!({"${t}": ["x", 1, {"k": "x"}], "b": true, "n": null})
        );
    }
}
