//! What the client wrote down of hook runs, read line by line out of its
//! transcripts. A line that is not understood is no run.

use std::collections::HashSet;

use remora_core::tokens::estimate_tokens;
use serde_json::Value;

/// How much of an error text is kept.
const MAX_ERROR_CHARS: usize = 300;
/// How the client introduces what a failed hook printed.
const FAILURE_PREFIX: &str = "Failed with non-blocking status code: ";
/// What it says when a hook printed nothing.
const NO_STDERR: &str = "No stderr output";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// It succeeded.
    Succeeded,
    /// It failed, and the session went on.
    Failed,
    /// Its time limit ended it.
    TimedOut,
    /// The client ended it for another reason.
    Cancelled,
    /// It blocked.
    Blocked,
}

/// One run of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRun {
    /// The event's name.
    pub event: String,
    /// What ran.
    pub command: String,
    /// How it ended.
    pub end: RunEnd,
    /// How long it took, if that was written down.
    pub duration_ms: Option<u64>,
    /// Whether it printed anything.
    pub said_something: bool,
    /// What the model read because of it, estimated.
    pub injected_tokens: u32,
    /// What a failure said.
    pub error: Option<String>,
    /// When the client wrote it down.
    pub at: String,
}

/// The state of reading one transcript: a stop is written down twice.
#[derive(Debug, Default)]
pub struct TranscriptReading {
    /// Stops whose hooks are known by themselves: the call and the command.
    seen: HashSet<(String, String)>,
}

impl TranscriptReading {
    /// Whether a line can be about a hook: most are not, and need no parsing.
    pub fn is_about_hooks(line: &str) -> bool {
        line.contains("\"hook") || line.contains("hook error: [")
    }

    /// The runs that a line is about.
    pub fn read_line(&mut self, line: &str) -> Vec<HookRun> {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            return Vec::new();
        };
        let at = text(&value, "timestamp").unwrap_or_default();
        if let Some(attachment) = value.get("attachment") {
            let run = self.read_attachment(attachment, at);
            return run.into_iter().collect();
        }
        if text(&value, "subtype") == Some("stop_hook_summary") {
            return self.read_summary(&value, at);
        }
        read_denials(&value, at)
    }

    fn read_attachment(&mut self, attachment: &Value, at: &str) -> Option<HookRun> {
        let kind = text(attachment, "type")?;
        let end = match kind {
            "hook_success" => RunEnd::Succeeded,
            "hook_cancelled" if attachment.get("timedOut") == Some(&Value::Bool(true)) => {
                RunEnd::TimedOut
            }
            "hook_cancelled" => RunEnd::Cancelled,
            "hook_blocking_error" => RunEnd::Blocked,
            _ if kind.starts_with("hook_") && kind.contains("error") => RunEnd::Failed,
            // Texts that a run delivered; the run itself has its own line.
            _ => return None,
        };
        let event = text(attachment, "hookEvent")?;
        let blocking = attachment.get("blockingError");
        let command = text(attachment, "command")
            .or_else(|| text(blocking?, "command"))
            .unwrap_or_default();
        let call = text(attachment, "toolUseID").unwrap_or_default();
        let known = !self.seen.insert((call.to_owned(), command.to_owned()));
        // A hook that blocks and says more is written down once for each.
        if known && end == RunEnd::Succeeded {
            return None;
        }
        let stdout = text(attachment, "stdout").unwrap_or_default();
        let content = text(attachment, "content").unwrap_or_default();
        let stderr = text(attachment, "stderr").unwrap_or_default();
        let error = match end {
            RunEnd::Failed => Some(describe_failure(attachment, stderr)),
            RunEnd::TimedOut => {
                let limit = attachment.get("timeoutMs").and_then(Value::as_u64);
                Some(limit.map_or_else(
                    || "its time limit ended it".to_owned(),
                    |limit| format!("its time limit of {limit} ms ended it"),
                ))
            }
            _ => None,
        };
        Some(HookRun {
            event: event.to_owned(),
            command: command.to_owned(),
            end,
            duration_ms: attachment.get("durationMs").and_then(Value::as_u64),
            said_something: [stdout, content, stderr]
                .iter()
                .any(|text| !text.trim().is_empty()),
            injected_tokens: count_injected(content, stdout, blocking),
            error,
            at: at.to_owned(),
        })
    }

    /// The summary of a stop names every hook; what is known of one by a line
    /// of its own is not counted again.
    fn read_summary(&mut self, value: &Value, at: &str) -> Vec<HookRun> {
        let call = text(value, "toolUseID").unwrap_or_default();
        let infos = list(value, "hookInfos");
        let errors: Vec<&str> = list(value, "hookErrors")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let failures: Vec<&&str> = errors.iter().filter(|e| !e.starts_with('[')).collect();
        let event = "Stop".to_owned();
        let mut runs = Vec::new();
        for info in infos {
            let Some(command) = text(info, "command") else {
                continue;
            };
            if !self.seen.insert((call.to_owned(), command.to_owned())) {
                continue;
            }
            let label = format!("[{command}]: ");
            let blocked = errors.iter().find_map(|error| error.strip_prefix(&label));
            // Older clients do not say which hook failed; with one hook, or when all
            // failed, there is no doubt.
            let failure = failures.first().filter(|_| failures.len() == infos.len());
            let end = match (blocked, failure) {
                (Some(_), _) => RunEnd::Blocked,
                (None, Some(_)) => RunEnd::Failed,
                (None, None) => RunEnd::Succeeded,
            };
            let error = failure.filter(|_| end == RunEnd::Failed);
            runs.push(HookRun {
                event: event.clone(),
                command: command.to_owned(),
                end,
                duration_ms: info.get("durationMs").and_then(Value::as_u64),
                said_something: blocked.is_some() || error.is_some(),
                injected_tokens: blocked.map_or(0, estimate_tokens),
                error: error.map(|error| shorten(error.trim_start_matches(FAILURE_PREFIX))),
                at: at.to_owned(),
            });
        }
        runs
    }
}

/// A denied call has no line of its own; its result says which hook it was.
fn read_denials(value: &Value, at: &str) -> Vec<HookRun> {
    let Some(message) = value.get("message") else {
        return Vec::new();
    };
    let results = list(message, "content").iter().filter_map(|block| {
        let failed = block.get("is_error") == Some(&Value::Bool(true));
        failed.then(|| text(block, "content")).flatten()
    });
    results
        .filter_map(|content| {
            let (name, rest) = content.split_once(" hook error: [")?;
            let (command, reason) = rest.split_once("]: ")?;
            let event = name.split(':').next().unwrap_or(name);
            let plain = event.chars().all(|c| c.is_ascii_alphanumeric());
            plain.then(|| HookRun {
                event: event.to_owned(),
                command: command.to_owned(),
                end: RunEnd::Blocked,
                duration_ms: None,
                said_something: true,
                injected_tokens: estimate_tokens(reason),
                error: None,
                at: at.to_owned(),
            })
        })
        .collect()
}

fn describe_failure(attachment: &Value, stderr: &str) -> String {
    let said = stderr.trim_start_matches(FAILURE_PREFIX).trim();
    let code = attachment.get("exitCode").and_then(Value::as_i64);
    match (code, said) {
        (Some(code), NO_STDERR | "") => format!("exit {code}, nothing on stderr"),
        (Some(code), said) => shorten(&format!("exit {code}: {said}")),
        (None, said) => shorten(said),
    }
}

/// Plain output goes to the model as it is; of an answer, the context or the
/// reason.
fn count_injected(content: &str, stdout: &str, blocking: Option<&Value>) -> u32 {
    if let Some(reason) = blocking.and_then(|b| text(b, "blockingError")) {
        return estimate_tokens(reason);
    }
    if !content.trim().is_empty() {
        return estimate_tokens(content);
    }
    let answer: Option<Value> = serde_json::from_str(stdout.trim()).ok();
    let delivered = answer.as_ref().and_then(|answer| {
        let specific = answer.get("hookSpecificOutput")?;
        text(specific, "additionalContext")
    });
    delivered.map_or(0, estimate_tokens)
}

fn shorten(text: &str) -> String {
    let first = text.trim().replace('\n', " ");
    first.chars().take(MAX_ERROR_CHARS).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
