//! How a call ended.

use remora_core::tool_call::{OutputDetail, ToolCall, ToolFailure, ToolOutcome, ToolOutput};

use super::raw_call::RawCall;
use super::text::{printed_output, strip_error_tags, text_of};
use super::{agents, files, web};

/// What the client says of an edit that it refuses as a misuse of the tool, in
/// lower case.
const MISUSE_PHRASES: &[&str] = &[
    "string to replace not found",
    "matches of the string to replace",
    "has not been read yet",
    "modified since read",
    "unexpectedly modified",
    "no changes to make",
    "file does not exist",
    "file already exists",
    "inputvalidationerror",
];

pub(super) fn decode_outcome(raw: &RawCall<'_>, call: &ToolCall) -> ToolOutcome {
    let Some(error) = raw.error else {
        return ToolOutcome::Done(decode_output(raw, call));
    };
    ToolOutcome::Failed(ToolFailure {
        text: error.to_owned(),
        plain_text: strip_error_tags(error).to_owned(),
        is_misuse: is_misuse(call, error),
        answer: raw
            .response
            .map(text_of)
            .filter(|said| !said.trim().is_empty()),
    })
}

/// Whether the client refused an edit as a misuse of the tool, which says
/// nothing about the file.
fn is_misuse(call: &ToolCall, error: &str) -> bool {
    matches!(call, ToolCall::EditFiles(_) | ToolCall::EditNotebook(_)) && {
        let error = error.to_lowercase();
        MISUSE_PHRASES.iter().any(|phrase| error.contains(phrase))
    }
}

fn decode_output(raw: &RawCall<'_>, call: &ToolCall) -> ToolOutput {
    let text = match call {
        ToolCall::Shell(_) | ToolCall::ShellPoll => {
            raw.response.map(printed_output).unwrap_or_default()
        }
        ToolCall::Subagent(_) => agents::find_result_text(raw),
        _ => raw.result_text(),
    };
    let detail = decode_detail(raw, call, &text);
    ToolOutput {
        has_answer: raw.response.is_some(),
        text,
        detail,
    }
}

fn decode_detail(raw: &RawCall<'_>, call: &ToolCall, text: &str) -> OutputDetail {
    match call {
        ToolCall::ReadFile(_) => files::decode_shown_file(raw),
        ToolCall::SearchFiles(_) | ToolCall::FindFiles { .. } => files::decode_matches(raw),
        ToolCall::Fetch { .. } => web::decode_page(raw),
        ToolCall::SearchWeb { .. } => web::decode_hits(raw),
        ToolCall::Subagent(_) => agents::decode_subagent_output(raw),
        ToolCall::Task(_) => agents::decode_task_output(raw),
        ToolCall::Worktree(_) => agents::decode_worktree_output(raw),
        ToolCall::AskUser { .. } => agents::decode_answers(raw),
        // Tools of others answer in any shape; without a text their JSON is all
        // there is.
        ToolCall::Mcp { .. } | ToolCall::Other { .. } if text.is_empty() => {
            match raw.response.filter(|answer| !answer.is_null()) {
                Some(answer) => OutputDetail::Json(answer.clone()),
                None => OutputDetail::None,
            }
        }
        _ => OutputDetail::None,
    }
}
