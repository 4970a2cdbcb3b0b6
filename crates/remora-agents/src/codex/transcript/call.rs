//! Calls of tools: what was asked, under the names that hooks use, and how it
//! ended where an item says so.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::super::wire::{EXIT_CODE_LABEL, OUTPUT_LABEL, field, tool};
use super::{join_texts, str_at};

/// Tools whose calls hooks do not report: they go on with a call that was
/// reported, or run a script whose calls are reported one by one.
const UNREPORTED_TOOLS: &[&str] = &["write_stdin", "exec", "wait", "tool_search"];

/// Items that say how a call ended; other calls end with their output.
pub(super) const ENDING_ITEMS: &[&str] =
    &["CommandExecution", "FileChange", "McpToolCall", "WebSearch"];

/// A call that waits for its result.
#[derive(Debug, PartialEq)]
pub(in super::super) struct PendingCall {
    /// As hooks name it.
    pub(super) tool: String,
    /// As hooks send it.
    pub(super) input: Value,
}

/// A call with its result.
#[derive(Debug, PartialEq)]
pub(in super::super) struct FinishedCall {
    pub(super) tool: String,
    pub(super) input: Value,
    /// Where it ran, if elsewhere than the session.
    pub(super) cwd: Option<String>,
    /// The answer, or what went wrong.
    pub(in super::super) outcome: Result<Option<Value>, String>,
}

impl PendingCall {
    /// The call's id and the call, of a line that asks for it.
    pub(super) fn from_payload(payload: &Value) -> Option<(String, Self)> {
        let text = |pointer: &str| str_at(payload, pointer).filter(|text| !text.is_empty());
        let id = text("/call_id").or_else(|| text("/id"))?;
        let call = if text("/type") == Some("local_shell_call") {
            Self::shell(&join_command(&payload["action"]["command"])?)
        } else {
            Self::from_name(text("/name")?, text("/namespace"), payload)?
        };
        Some((id.to_owned(), call))
    }

    fn from_name(name: &str, namespace: Option<&str>, payload: &Value) -> Option<Self> {
        if UNREPORTED_TOOLS.contains(&name) && namespace.is_none() {
            return None;
        }
        // A patch is text; what else a tool is asked is JSON as text.
        if let Some(input) = str_at(payload, "/input") {
            return Some(Self {
                tool: name.to_owned(),
                input: json!({ field::COMMAND: input }),
            });
        }
        let arguments = str_at(payload, "/arguments").unwrap_or_default();
        let arguments: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
        match (name, namespace) {
            ("exec_command", None) => Some(Self::shell(str_at(&arguments, "/cmd")?)),
            ("shell" | "shell_command" | "container.exec", None) => {
                Some(Self::shell(&join_command(&arguments[field::COMMAND])?))
            }
            (tool::PATCH, None) => {
                let patch = str_at(&arguments, "/input").unwrap_or_default();
                Some(Self {
                    tool: name.to_owned(),
                    input: json!({ field::COMMAND: patch }),
                })
            }
            _ => Some(Self {
                tool: join_name(name, namespace),
                input: arguments,
            }),
        }
    }

    fn shell(command: &str) -> Self {
        Self {
            tool: tool::SHELL.to_owned(),
            input: json!({ field::COMMAND: command }),
        }
    }

    pub(super) fn finish_call(self, outcome: Result<Option<Value>, String>) -> FinishedCall {
        FinishedCall {
            tool: self.tool,
            input: self.input,
            cwd: None,
            outcome,
        }
    }
}

/// The name of a tool as hooks write it.
fn join_name(name: &str, namespace: Option<&str>) -> String {
    match namespace {
        Some(server) if server.starts_with(tool::MCP_PREFIX) => {
            format!("{}__{name}", server.trim_end_matches('_'))
        }
        // Hooks report this one tool without the namespace of the client's agents.
        Some(_) if name == tool::SPAWN_AGENT => name.to_owned(),
        Some(space) => format!("{space}{name}"),
        None => name.to_owned(),
    }
}

/// A command as it was typed: a text, or the last word of `bash -lc COMMAND`,
/// or words.
fn join_command(command: &Value) -> Option<String> {
    if let Value::String(command) = command {
        return Some(command.clone());
    }
    let words: Option<Vec<&str>> = command.as_array()?.iter().map(Value::as_str).collect();
    match words?.as_slice() {
        // Hooks report the command alone, without the shell that runs it. The same text
        // makes the two events one.
        [_, "-lc" | "-c", command] => Some((*command).to_owned()),
        [] => None,
        words => Some(words.join(" ")),
    }
}

/// A call of which an item says how it ended; `None` for other items, and for
/// calls that were refused or never ended.
pub(in super::super) fn finish_item(
    item: &Value,
    pending: Option<PendingCall>,
    session_cwd: &str,
) -> Option<FinishedCall> {
    match str_at(item, "/type")? {
        "CommandExecution" => finish_command(item, pending, session_cwd),
        "FileChange" => finish_patch(item, pending, session_cwd),
        "McpToolCall" => finish_mcp(item, pending),
        "WebSearch" => {
            let query = str_at(item, "/query")?;
            let call = PendingCall {
                tool: tool::WEB_SEARCH.to_owned(),
                input: json!({ "query": query }),
            };
            Some(call.finish_call(Ok(None)))
        }
        _ => None,
    }
}

fn finish_command(
    item: &Value,
    pending: Option<PendingCall>,
    session_cwd: &str,
) -> Option<FinishedCall> {
    // Killed with the session: it has no result.
    let code = item.get("exit_code")?.as_i64().filter(|code| *code >= 0)?;
    let output = str_at(item, "/aggregated_output").unwrap_or_default();
    let call = match pending {
        Some(call) => call,
        None => PendingCall::shell(&join_command(&item["command"])?),
    };
    let cwd = str_at(item, "/cwd").map(|cwd| cwd.strip_prefix("file://").unwrap_or(cwd));
    let mut finished = call.finish_call(command_outcome(code, output));
    finished.cwd = cwd
        .filter(|cwd| !cwd.is_empty() && *cwd != session_cwd)
        .map(str::to_owned);
    Some(finished)
}

/// What a command printed, or with what it failed, in the words that memory
/// reads from every agent.
pub(super) fn command_outcome(code: i64, output: &str) -> Result<Option<Value>, String> {
    match code {
        0 => Ok(Some(Value::String(output.to_owned()))),
        code => Err(format!("Exit code {code}\n{output}")),
    }
}

fn finish_patch(
    item: &Value,
    pending: Option<PendingCall>,
    session_cwd: &str,
) -> Option<FinishedCall> {
    let call = match pending {
        Some(call) => call,
        None => PendingCall {
            tool: tool::PATCH.to_owned(),
            input: json!({ field::COMMAND: format_patch(&item["changes"], session_cwd)? }),
        },
    };
    let said = |name: &str| str_at(item, name).unwrap_or_default();
    match said("/status") {
        "completed" => {
            let answer = format!(
                "{EXIT_CODE_LABEL}0\nWall time: 0 seconds\n{OUTPUT_LABEL}{}",
                said("/stdout")
            );
            Some(call.finish_call(Ok(Some(Value::String(answer)))))
        }
        "failed" => Some(call.finish_call(Err(said("/stderr").to_owned()))),
        _ => None,
    }
}

/// The patch that makes these changes, where the one that was asked for is
/// inside a script.
fn format_patch(changes: &Value, cwd: &str) -> Option<String> {
    let root = format!("{}/", cwd.trim_end_matches('/'));
    let relative = |path: &str| path.strip_prefix(&root).unwrap_or(path).to_owned();
    let mut patch = "*** Begin Patch\n".to_owned();
    for (file, change) in changes.as_object()? {
        let file = relative(file);
        match str_at(change, "/type")? {
            "add" => {
                // Written in the form that hooks send, so that one reader of patches serves
                // both.
                let _ = writeln!(patch, "*** Add File: {file}");
                for line in str_at(change, "/content").unwrap_or_default().lines() {
                    let _ = writeln!(patch, "+{line}");
                }
            }
            "delete" => {
                let _ = writeln!(patch, "*** Delete File: {file}");
            }
            "update" => {
                let _ = writeln!(patch, "*** Update File: {file}");
                if let Some(target) = str_at(change, "/move_path") {
                    let _ = writeln!(patch, "*** Move to: {}", relative(target));
                }
                for line in str_at(change, "/unified_diff").unwrap_or_default().lines() {
                    match line.as_bytes().first() {
                        // Line numbers mean nothing in the client's patches.
                        Some(b'@') => patch.push_str("@@\n"),
                        // `\ No newline at end of file`
                        Some(b'\\') => {}
                        _ => {
                            let _ = writeln!(patch, "{line}");
                        }
                    }
                }
            }
            _ => return None,
        }
    }
    patch.push_str("*** End Patch");
    Some(patch)
}

fn finish_mcp(item: &Value, pending: Option<PendingCall>) -> Option<FinishedCall> {
    let call = match pending {
        Some(call) => call,
        None => PendingCall {
            tool: format!(
                "{}{}__{}",
                tool::MCP_PREFIX,
                str_at(item, "/server")?,
                str_at(item, "/tool")?
            ),
            input: item.get("arguments").cloned().unwrap_or(Value::Null),
        },
    };
    let result = item.get("result").filter(|result| !result.is_null());
    // A server reports an error of its tool inside a completed call.
    let failed = str_at(item, "/status") == Some("failed")
        || item.pointer("/result/isError") == Some(&Value::Bool(true));
    if failed {
        let said = result.map(|result| join_texts(&result["content"]));
        let said = said.filter(|said| !said.is_empty());
        let error = || str_at(item, "/error/message").unwrap_or("the call failed");
        return Some(call.finish_call(Err(said.unwrap_or_else(|| error().to_owned()))));
    }
    if str_at(item, "/status") != Some("completed") {
        return None;
    }
    let parts = result.and_then(|result| result.get("content"));
    let parts = parts.and_then(Value::as_array).map(Vec::as_slice);
    let parts: Vec<Value> = parts.unwrap_or_default().iter().map(strip_bytes).collect();
    Some(call.finish_call(Ok(Some(json!({ "content": parts })))))
}

/// A part of an answer without the bytes of pictures, which say nothing.
fn strip_bytes(part: &Value) -> Value {
    match part {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "data");
            Value::Object(
                kept.map(|(name, value)| (name.clone(), value.clone()))
                    .collect::<Map<_, _>>(),
            )
        }
        other => other.clone(),
    }
}
