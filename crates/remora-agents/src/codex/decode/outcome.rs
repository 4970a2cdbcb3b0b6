//! How a call ended.
//!
//! Hooks hear of a shell command whether it failed or not, without its exit
//! code; of other calls only when they succeed. An answer is a text, or the
//! answer of a server as it gave it.

use remora_core::Event;
use remora_core::tool_call::{
    FileForm, OutputDetail, ShownFile, SubagentOutput, ToolCall, ToolFailure, ToolOutcome,
    ToolOutput,
};
use serde_json::Value;

use super::super::wire::{EXIT_CODE_LABEL, OUTPUT_LABEL, PATCH_REFUSED, field, tool};

/// Bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 200_000;

pub(super) fn decode_outcome(event: &Event, call: &ToolCall) -> ToolOutcome {
    let response = event.fields.get(field::TOOL_RESPONSE);
    let text = response.map(find_text).unwrap_or_default();
    if let Some(error) = event.str_field(field::ERROR) {
        let answer = (!text.trim().is_empty()).then_some(text);
        return build_failure(error, answer);
    }
    let is_patch = event.str_field(field::TOOL_NAME) == Some(tool::PATCH);
    let text = match split_exit_code(&text).filter(|_| is_patch) {
        Some((0, output)) => output.to_owned(),
        Some((_, output)) => return build_failure(output, None),
        None => text,
    };
    ToolOutcome::Done(ToolOutput {
        has_answer: response.is_some(),
        detail: decode_detail(call, response, &text),
        // What is answered at once is which agent it is, not what it found.
        text: match call {
            ToolCall::Subagent(_) => String::new(),
            _ => text,
        },
    })
}

fn build_failure(error: &str, answer: Option<String>) -> ToolOutcome {
    ToolOutcome::Failed(ToolFailure {
        text: error.to_owned(),
        plain_text: error.trim().to_owned(),
        // The lines to change were not there, or the file was not.
        is_misuse: error.trim_start().starts_with(PATCH_REFUSED),
        answer,
    })
}

fn decode_detail(call: &ToolCall, response: Option<&Value>, text: &str) -> OutputDetail {
    match call {
        ToolCall::Subagent(_) => {
            let answer: Option<Value> = serde_json::from_str(text).ok();
            let id = answer.as_ref().and_then(|answer| answer.get("agent_id"));
            let id = id.and_then(Value::as_str).filter(|id| !id.is_empty());
            OutputDetail::Subagent(SubagentOutput {
                is_launched: id.is_some(),
                id: id.map(str::to_owned),
                ..SubagentOutput::default()
            })
        }
        ToolCall::ReadFile(_) => OutputDetail::File(ShownFile {
            form: FileForm::Image,
            ..ShownFile::default()
        }),
        ToolCall::Mcp { .. } | ToolCall::Other { .. } if text.is_empty() => {
            match response.filter(|answer| !answer.is_null()) {
                Some(answer) => OutputDetail::Json(answer.clone()),
                None => OutputDetail::None,
            }
        }
        _ => OutputDetail::None,
    }
}

/// The exit code that the answer of a patch begins with, and its output.
pub(super) fn split_exit_code(text: &str) -> Option<(i64, &str)> {
    let rest = text.strip_prefix(EXIT_CODE_LABEL)?;
    let (code, rest) = rest.split_once('\n')?;
    let code = code.trim().parse().ok()?;
    // The lines between say how long it took.
    let output = rest.find(OUTPUT_LABEL).map(|at| at + OUTPUT_LABEL.len());
    Some((code, &rest[output.unwrap_or(0)..]))
}

/// The words of an answer: a text, or the texts of its parts in lines.
fn find_text(response: &Value) -> String {
    let parts = match response {
        Value::String(text) => return text.clone(),
        Value::Array(parts) => parts,
        Value::Object(answer) => match answer.get("content") {
            Some(Value::Array(parts)) => parts,
            Some(Value::String(text)) => return text.clone(),
            _ => return String::new(),
        },
        _ => return String::new(),
    };
    let mut text = String::new();
    for part in parts {
        if text.len() > MAX_ANSWER_BYTES {
            break;
        }
        let said = match (part.get("text"), part.get("type")) {
            (Some(Value::String(said)), _) => said.clone(),
            // What is no text is represented by its kind.
            (_, Some(Value::String(kind))) => format!("[{kind}]"),
            _ => continue,
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&said);
    }
    text
}
