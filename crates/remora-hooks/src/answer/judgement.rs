//! What a model's judgement means: ok or not, and why. Pure. The counterpart of
//! exit codes and output objects, for handlers that ask a model.

use remora_core::EventName;
use serde_json::{Map, Value, json};

use super::{
    Answer, HandlerOutput, HandlerResult, HandlerStatus, ProcessExit, StopRequest, js_trim,
};
use crate::config::AfterNo;
use crate::limits::{MAX_TEXT_UTF16_UNITS, truncate_utf16};

/// A model's judgement of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Whether the condition holds.
    pub(crate) ok: bool,
    /// Why not.
    pub(crate) reason: Option<String>,
    /// The condition can never hold, so insisting on it is of no use.
    pub(crate) impossible: bool,
}

/// Reads the text of a prompt handler's model: one object, alone or in a code
/// fence. The object comes back with it, for the report.
pub(crate) fn parse_judgement(text: &str) -> Result<(Judgement, Value), String> {
    let object: Map<String, Value> = serde_json::from_str(strip_fence(js_trim(text)))
        .map_err(|e| format!("the model's answer is not one JSON object ({e})"))?;
    let flag = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!(
            "`{key}` of the model's answer must be true or false"
        )),
    };
    let judgement = Judgement {
        ok: flag("ok")?.ok_or("the model's answer has no `ok`")?,
        reason: match object.get("reason") {
            None => None,
            Some(Value::String(reason)) => Some(cap_reason(reason)),
            Some(_) => return Err("`reason` of the model's answer must be a string".into()),
        },
        impossible: flag("impossible")?.unwrap_or(false),
    };
    Ok((judgement, Value::Object(object)))
}

/// Reads the input of the tool that a verifier ends with. As in the client, values
/// of other types count as what they spell, and unknown fields go; hooks see what
/// is left.
pub(crate) fn read_verdict(input: &Value) -> Result<(Judgement, Value), String> {
    let object = input.as_object().ok_or("the input must be an object")?;
    let mut read = Map::new();
    for (key, value) in object {
        let value = match (key.as_str(), value) {
            ("ok" | "impossible", value) => {
                json!(spell_flag(value).ok_or_else(|| format!("`{key}` must be true or false"))?)
            }
            ("reason", Value::String(reason)) => json!(cap_reason(reason)),
            ("reason", Value::Null) => json!(""),
            ("reason", Value::Bool(_) | Value::Number(_)) => json!(value.to_string()),
            ("reason", _) => return Err("`reason` must be a string".into()),
            _ => continue,
        };
        read.insert(key.clone(), value);
    }
    let judgement = Judgement {
        ok: read
            .get("ok")
            .and_then(Value::as_bool)
            .ok_or("`ok` is missing")?,
        reason: read
            .get("reason")
            .and_then(Value::as_str)
            .map(str::to_owned),
        // It changes nothing in a verdict.
        impossible: false,
    };
    Ok((judgement, Value::Object(read)))
}

fn spell_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Null => Some(false),
        Value::String(text) => text.parse().ok(),
        Value::Number(n) => match n.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// Reasons reach the model that works, so they are bounded.
fn cap_reason(reason: &str) -> String {
    truncate_utf16(reason, MAX_TEXT_UTF16_UNITS).to_owned()
}

fn strip_fence(text: &str) -> &str {
    let inner = text
        .strip_prefix("```")
        .and_then(|t| t.strip_suffix("```"))
        // The first line names the language.
        .and_then(|t| t.split_once('\n'));
    match inner {
        Some((language, body)) if language.trim().chars().all(char::is_alphanumeric) => {
            js_trim(body)
        }
        _ => text,
    }
}

/// What a prompt handler's judgement means on an event.
pub(crate) fn answer_prompt(
    event: EventName,
    prompt: &str,
    after_no: AfterNo,
    judgement: &Judgement,
) -> Answer {
    let is_stop = matches!(event, EventName::Stop | EventName::SubagentStop);
    if judgement.ok || ignores_judgements(event) || (is_stop && judgement.impossible) {
        return Answer::default();
    }
    let reason = judgement.reason.clone().unwrap_or_default();
    let ends_turn = after_no == AfterNo::EndTurn
        && matches!(
            event,
            EventName::PreToolUse
                | EventName::PostToolUse
                | EventName::PostToolBatch
                | EventName::UserPromptSubmit
                | EventName::UserPromptExpansion
                | EventName::TeammateIdle
        );
    // The model that works sees the template as the handler's name.
    let labelled = format!("[{prompt}]: {reason}");
    Answer {
        // A turn that ends has no reader for the reason. The call must be denied all the
        // same: a stop alone lets it run.
        block: (!ends_turn || event == EventName::PreToolUse).then_some(labelled),
        stop: ends_turn.then_some(StopRequest(Some(reason))),
        is_judgement: true,
        ..Answer::default()
    }
}

/// What a verifier's verdict means on an event.
pub(crate) fn answer_agent(event: EventName, judgement: &Judgement) -> Answer {
    if judgement.ok || ignores_judgements(event) {
        return Answer::default();
    }
    // The client prints what JavaScript makes of a missing text.
    let reason = judgement.reason.as_deref().unwrap_or("undefined");
    Answer {
        block: Some(format!("Agent hook condition was not met: {reason}")),
        ..Answer::default()
    }
}

/// A judgement decides nothing about permissions.
fn ignores_judgements(event: EventName) -> bool {
    matches!(
        event,
        EventName::PermissionRequest | EventName::PermissionDenied
    )
}

/// The result of a handler whose model judged.
pub(crate) fn build_judged(judgement: &Judgement, object: Value, answer: Answer) -> HandlerResult {
    let status = if answer.is_blocking() {
        HandlerStatus::Blocked
    } else {
        HandlerStatus::Ok
    };
    let why = match (judgement.ok, status) {
        (true, _) | (_, HandlerStatus::Blocked) => String::new(),
        _ if judgement.impossible => "the model says that it cannot be met".to_owned(),
        _ => "the model says no, which decides nothing on this event".to_owned(),
    };
    HandlerResult {
        status,
        why,
        object: Some(object),
        answer,
    }
}

/// The result of a handler that gave no judgement: the event goes on, whatever
/// `onFailure` says, as in the client.
pub(crate) fn build_unjudged(ended: ProcessExit) -> (HandlerResult, HandlerOutput) {
    let (status, why) = match &ended {
        ProcessExit::TimedOut => (
            HandlerStatus::Timeout,
            "it did not answer in time".to_owned(),
        ),
        ProcessExit::Failed(why) => (HandlerStatus::Error, why.clone()),
        _ => (HandlerStatus::Error, String::new()),
    };
    let result = HandlerResult {
        status,
        why,
        object: None,
        answer: Answer::default(),
    };
    let output = HandlerOutput {
        ended,
        stdout: String::new(),
        stderr: String::new(),
    };
    (result, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(bool, Option<String>, bool)> {
        let (judgement, _) = parse_judgement(text).ok()?;
        Some((judgement.ok, judgement.reason, judgement.impossible))
    }

    #[test]
    fn one_object_is_an_answer() {
        let no = |reason: &str| Some((false, Some(reason.to_owned()), false));
        for (text, expected) in [
            (r#"{"ok":true}"#, Some((true, None, false))),
            (" \u{feff}{\"ok\": false, \"reason\": \"r\"}\n", no("r")),
            (r#"{"ok":false,"reason":"","x":[1]}"#, no("")),
            ("```json\n{\"ok\": false, \"reason\": \"r\"}\n```", no("r")),
            ("```\n{\"ok\": false, \"reason\": \"r\"}```", no("r")),
            (
                r#"{"ok":false,"impossible":true}"#,
                Some((false, None, true)),
            ),
            ("", None),
            ("no", None),
            (r#"Sure: {"ok":false}"#, None),
            (r#"{"ok":false} done"#, None),
            (r#"{"ok":false}{"ok":true}"#, None),
            (r#"[{"ok":false}]"#, None),
            (r#"{"ok":false"#, None),
            (r#"{"ok":"false"}"#, None),
            (r#"{"ok":null}"#, None),
            (r#"{"ok":0}"#, None),
            (r#"{"reason":"r"}"#, None),
            (r#"{"ok":false,"reason":5}"#, None),
            (r#"{"ok":false,"reason":null}"#, None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_huge_reason_is_cut() {
        let text = json!({"ok": false, "reason": "x".repeat(1 << 20)}).to_string();
        let (_, reason, _) = read(&text).unwrap();
        assert_eq!(reason.unwrap().len(), MAX_TEXT_UTF16_UNITS);
    }

    #[test]
    fn a_verdict_may_spell_its_values() {
        let read = |input: Value| {
            let (verdict, _) = read_verdict(&input).ok()?;
            Some((verdict.ok, verdict.reason))
        };
        let no = |reason: &str| Some((false, Some(reason.to_owned())));
        for (input, expected) in [
            (json!({"ok": true, "x": 1}), Some((true, None))),
            (json!({"ok": "false", "reason": "r"}), no("r")),
            (json!({"ok": "true"}), Some((true, None))),
            (json!({"ok": 0, "reason": 5}), no("5")),
            (json!({"ok": null}), Some((false, None))),
            (json!({"ok": "no"}), None),
            (json!({"reason": "r"}), None),
            (json!({"ok": false, "reason": []}), None),
            (json!([]), None),
        ] {
            assert_eq!(read(input.clone()), expected, "{input}");
        }
    }
}
