//! How a call ended where only the text that the model was shown says so: calls
//! without items, refused patches, and files of older clients.

use serde_json::Value;

use super::super::wire::{EXIT_CODE_LABEL, OUTPUT_LABEL, tool};
use super::call::{FinishedCall, PendingCall, command_outcome};
use super::{join_texts, str_at};

/// A line of what the model is shown of a command that has ended.
const EXITED_LABEL: &str = "Process exited with code ";
/// A line of what it is shown of one that goes on.
const RUNNING_LABEL: &str = "Process running with session ID ";
/// How the text begins where a call was not made.
const NOT_RUN_PREFIXES: &[&str] = &["unsupported call", "aborted"];
/// The same, within the first line.
const NOT_RUN_PHRASES: &[&str] = &["blocked by PreToolUse hook", "rejected by user"];

/// What an output says.
#[derive(Debug, PartialEq)]
pub(super) enum OutputReading {
    Finished(FinishedCall),
    /// More is to come.
    Running(PendingCall),
    /// The call was refused, or the output does not show what happened.
    NotRun,
}

pub(super) fn finish_output(call: PendingCall, output: &Value) -> OutputReading {
    let text = match output {
        Value::String(text) => text.clone(),
        // Older clients.
        Value::Object(_) => str_at(output, "/content").unwrap_or_default().to_owned(),
        parts => join_texts(parts),
    };
    let first = text.lines().next().unwrap_or_default();
    if NOT_RUN_PREFIXES
        .iter()
        .any(|start| first.starts_with(start))
        || NOT_RUN_PHRASES.iter().any(|phrase| first.contains(phrase))
    {
        return OutputReading::NotRun;
    }
    match call.tool.as_str() {
        tool::SHELL => match read_command_output(&text) {
            Some((code, output)) => {
                let outcome = command_outcome(code, &output);
                OutputReading::Finished(call.finish_call(outcome))
            }
            None if text.contains(RUNNING_LABEL) => OutputReading::Running(call),
            None => OutputReading::NotRun,
        },
        tool::PATCH => {
            let has_worked = match read_command_output(&text) {
                Some((code, output)) if code != 0 => {
                    return OutputReading::Finished(call.finish_call(Err(output)));
                }
                Some(_) => true,
                None => text.starts_with("Success"),
            };
            let text_value = || Some(Value::String(text.clone()));
            OutputReading::Finished(call.finish_call(if has_worked {
                Ok(text_value())
            } else {
                Err(text)
            }))
        }
        // The user answers with JSON; any other text means that no user could be asked.
        tool::ASK_USER if !text.starts_with('{') => OutputReading::NotRun,
        // An agent is answered with its id, a picture with itself.
        tool::SPAWN_AGENT if !text.starts_with('{') => {
            OutputReading::Finished(call.finish_call(Err(text)))
        }
        tool::VIEW_IMAGE if output.is_string() => {
            OutputReading::Finished(call.finish_call(Err(text)))
        }
        _ => OutputReading::Finished(call.finish_call(Ok(Some(Value::String(text))))),
    }
}

/// The exit code and the output of a command, in any of the forms that clients
/// have shown them to the model.
fn read_command_output(text: &str) -> Option<(i64, String)> {
    if text.starts_with('{')
        && let Ok(reply) = serde_json::from_str::<Value>(text)
        && let Some(code) = reply.pointer("/metadata/exit_code").and_then(Value::as_i64)
    {
        let output = str_at(&reply, "/output").unwrap_or_default();
        return Some((code, output.to_owned()));
    }
    let (head, output) = text.split_once(OUTPUT_LABEL)?;
    let code = head.lines().find_map(|line| {
        let code = line.strip_prefix(EXITED_LABEL);
        code.or_else(|| line.strip_prefix(EXIT_CODE_LABEL))
    })?;
    Some((code.trim().parse().ok()?, output.to_owned()))
}
