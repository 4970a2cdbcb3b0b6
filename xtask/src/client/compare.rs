//! Facts about one event, drawn from what each side left behind, and their comparison.
//!
//! A fact is only what both sides can show: which handlers ran, whether the tool ran, which
//! of the case's marked texts (`MK-...`) arrived as reason, context, message or output.
//! Empty facts are left out. Wording around a marked text is each side's own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::case::EventCheck;
use super::seen::{ShownTexts, collect_marks, list_informational};
use super::session::{ClientRun, EngineRun, HandlerRun};

/// Facts by name, sorted, empty ones left out.
pub(super) type Facts = BTreeMap<String, Value>;

/// The runs that belong to the check's event: the `nth` of its kind.
pub(super) fn runs_of<'a>(check: &EventCheck, runs: &'a [HandlerRun]) -> Vec<&'a HandlerRun> {
    let mut events = group_events(&check.event, check.tool.as_deref(), runs);
    if check.nth < events.len() {
        events.swap_remove(check.nth)
    } else {
        Vec::new()
    }
}

/// Runs of one event have the same stdin.
fn group_events<'a>(
    name: &str,
    tool: Option<&str>,
    runs: &'a [HandlerRun],
) -> Vec<Vec<&'a HandlerRun>> {
    let mut events: Vec<(Value, Vec<&HandlerRun>)> = Vec::new();
    for run in runs {
        let Ok(event) = serde_json::from_str::<Value>(&run.stdin) else {
            continue;
        };
        let call = &event["tool_use_id"]; // PermissionRequest has none
        let same_tool = tool.is_none_or(|tool| call.is_null() || *call == *tool);
        if event["hook_event_name"] != *name || !same_tool {
            continue;
        }
        match events.iter_mut().find(|(other, _)| *other == event) {
            Some((_, runs)) => runs.push(run),
            None => events.push((event, vec![run])),
        }
    }
    events.into_iter().map(|(_, runs)| runs).collect()
}

/// Can the client's word on each handler be kept apart? Only if the event happened once.
pub(super) fn only_one(check: &EventCheck, client: &ClientRun) -> bool {
    group_events(&check.event, None, &client.runs).len() < 2
}

/// What the client did with the check's event.
pub(super) fn client_facts(check: &EventCheck, client: &ClientRun) -> Facts {
    let seen = ShownTexts::new(client);
    let ours = runs_of(check, &client.runs);
    let mut facts = handler_facts(&ours);
    if only_one(check, client) {
        insert_fact(
            &mut facts,
            "outcomes",
            json!(client_outcomes(check, client)),
        );
    }
    let line = client
        .stream
        .iter()
        .rfind(|line| line["type"] == "result")
        .cloned();
    let result = line.unwrap_or_default();
    let ended = result["terminal_reason"].as_str().unwrap_or_default();
    let mut stopped = ended == "hook_stopped" || ended == "stop_hook_prevented";
    let tool_name = tool_name(check, client);
    let label = match tool_name.as_str() {
        "" => check.event.clone(),
        name => format!("{}:{name}", check.event),
    };
    let (context, blocks) = seen.labelled_texts(&label);
    let (context, mut reasons) = (collect_marks(&context), collect_marks(&blocks));
    let mut blocked = !blocks.is_empty();
    match check.event.as_str() {
        "PreToolUse" | "PermissionRequest" => {
            let (tool, text) = seen.find_tool_result(check, ended);
            if tool != "ran" {
                reasons = collect_marks(&[text]);
            }
            insert_fact(&mut facts, "tool", json!(tool));
            insert_fact(&mut facts, "input", json!(effective_input(check, client)));
            blocked = false; // `tool` says it
        }
        "PostToolUse" | "PostToolUseFailure" => {
            let (_, text) = seen.find_tool_result(check, ended);
            insert_fact(&mut facts, "output", json!(collect_marks(&[text])));
        }
        "UserPromptSubmit" => {
            let dropped = client.requests.is_empty();
            stopped = client
                .stream
                .iter()
                .any(|line| line["prompt_submit_outcome"]["prompt_kept"] == json!(true));
            blocked = dropped && !stopped;
            reasons = if dropped {
                collect_marks(&[result.to_string()])
            } else {
                BTreeSet::new()
            };
        }
        "Stop" => {
            blocked = seen.feedback.len() > check.nth;
            reasons = seen
                .feedback
                .get(check.nth)
                .map(|text| collect_marks(&[text]))
                .unwrap_or_default();
        }
        _ => {}
    }
    let variables = check.env.iter().map(|(name, call)| {
        let output = seen.results.get(call.as_str().unwrap_or_default());
        (name.clone(), json!(output.map(|(_, text)| text.trim())))
    });
    insert_fact(&mut facts, "env", Value::Object(variables.collect()));
    insert_fact(&mut facts, "blocked", json!(blocked));
    insert_fact(&mut facts, "reason", json!(&reasons));
    insert_fact(&mut facts, "context", json!(context));
    let mut messages = list_informational(client);
    messages.retain(|text| !reasons.contains(text)); // the user sees a block, too
    insert_fact(&mut facts, "messages", json!(messages));
    insert_fact(&mut facts, "stopped", json!(stopped));
    keep_only(facts, check)
}

/// What the engine says it did with the same event.
pub(super) fn engine_facts(
    check: &EventCheck,
    client: &ClientRun,
    event: &Value,
    engine: &EngineRun,
) -> Facts {
    let ours: Vec<&HandlerRun> = engine.runs.iter().collect();
    let mut facts = handler_facts(&ours);
    if only_one(check, client) {
        insert_fact(&mut facts, "outcomes", json!(engine_outcomes(engine)));
    }
    let outcome = &engine.report["outcome"];
    let text = |name: &str| collect_marks(&[outcome[name].to_string()]);
    let mut blocked = outcome["blocked"] == json!(true);
    let mut stopped = outcome["continue"] == json!(false);
    let mut reasons = if blocked {
        text("reason")
    } else {
        BTreeSet::new()
    };
    match check.event.as_str() {
        "PreToolUse" | "PermissionRequest" => {
            let answer = if check.event == "PreToolUse" {
                "final"
            } else {
                "permission"
            };
            let tool = match outcome[answer].as_str() {
                Some("allow") => "ran",
                Some("defer") => "deferred",
                // The client words the refusal of the plan mode as a question that nobody answered.
                Some("deny") if event["permission_mode"] == "plan" => "asked",
                Some("deny") => "denied",
                Some("ask") => "asked",
                _ if check.event == "PermissionRequest" => "asked", // no hook answered in its place
                _ => "undecided",
            };
            // The reason of an allow is shown to nobody.
            reasons = if outcome["permission"] == "allow" {
                BTreeSet::new()
            } else {
                text("reason")
            };
            insert_fact(&mut facts, "tool", json!(tool));
            if tool == "ran" {
                insert_fact(&mut facts, "input", outcome["updated_input"].clone());
            }
            blocked = false;
        }
        "PostToolUse" | "PostToolUseFailure" => {
            let shown = match &outcome["updated_output"] {
                Value::Null => &event["tool_response"],
                updated => updated,
            };
            insert_fact(
                &mut facts,
                "output",
                json!(collect_marks(&[shown.to_string()])),
            );
        }
        "PostToolBatch" => {
            stopped |= blocked; // a block ends the turn there
            (blocked, reasons) = (false, BTreeSet::new());
        }
        "UserPromptSubmit" if stopped => reasons.extend(text("stop_reason")),
        _ => {}
    }
    let variables = check
        .env
        .keys()
        .map(|name| (name.clone(), outcome["env"][name].clone()));
    insert_fact(&mut facts, "env", Value::Object(variables.collect()));
    insert_fact(&mut facts, "blocked", json!(blocked));
    insert_fact(&mut facts, "reason", json!(reasons));
    insert_fact(&mut facts, "context", json!(text("context")));
    insert_fact(&mut facts, "messages", json!(text("messages")));
    insert_fact(&mut facts, "stopped", json!(stopped));
    keep_only(facts, check)
}

/// Differences in words, one line each.
pub(super) fn list_differences(left: &str, a: &Facts, right: &str, b: &Facts) -> Vec<String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let absent = json!("-");
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| {
            let (x, y) = (
                a.get(name).unwrap_or(&absent),
                b.get(name).unwrap_or(&absent),
            );
            format!("{name}: {left} {x}, {right} {y}")
        })
        .collect()
}

/// Where a handler's stdin or working directory differ between the two sides.
pub(super) fn input_differences(
    event: &Value,
    client: &[&HandlerRun],
    engine: &[HandlerRun],
) -> Vec<String> {
    let mut found = Vec::new();
    for run in engine {
        let payload: Value = serde_json::from_str(&run.stdin).unwrap_or_default();
        if payload != *event {
            found.push(format!(
                "stdin of {}: client {event}, engine {}",
                run.id,
                run.stdin.trim()
            ));
        }
        let Some(other) = client.iter().find(|other| other.id == run.id) else {
            continue;
        };
        if other.cwd != run.cwd {
            let (a, b) = (other.cwd.as_deref(), run.cwd.as_deref());
            found.push(format!("cwd of {}: client {a:?}, engine {b:?}", run.id));
        }
        if other.stdin.ends_with('\n') != run.stdin.ends_with('\n') {
            found.push(format!(
                "stdin of {}: only one side ends it with a newline",
                run.id
            ));
        }
    }
    found
}

fn handler_facts(runs: &[&HandlerRun]) -> Facts {
    let mut headers: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for run in runs {
        for (name, value) in &run.headers {
            headers.entry(&run.id).or_default().insert(name, value);
        }
    }
    let mut facts = Facts::new();
    insert_fact(
        &mut facts,
        "ran",
        json!(count_words(runs.iter().map(|run| run.id.as_str()))),
    );
    insert_fact(&mut facts, "headers", json!(headers));
    facts
}

/// How the handlers ended, counted by the client's words.
fn client_outcomes(check: &EventCheck, client: &ClientRun) -> BTreeMap<String, u64> {
    let responses = client
        .stream
        .iter()
        .filter(|line| line["subtype"] == "hook_response" && line["hook_event"] == *check.event);
    count_words(responses.filter_map(|line| line["outcome"].as_str()))
}

/// The engine's words in the client's, who knows no `blocked` and calls every other exit an error.
fn engine_outcomes(engine: &EngineRun) -> BTreeMap<String, u64> {
    let handlers = engine.report["handlers"].as_array().into_iter().flatten();
    count_words(
        handlers.filter_map(|handler| match handler["status"].as_str()? {
            "skipped" => None,
            "timeout" | "cancelled" => Some("cancelled"),
            "error" => Some("error"),
            _ if handler["exit_code"].as_i64().is_some_and(|code| code != 0) => Some("error"),
            _ => Some("success"),
        }),
    )
}

fn count_words<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    words.for_each(|word| *counts.entry(word.to_owned()).or_default() += 1);
    counts
}

fn insert_fact(facts: &mut Facts, name: &str, value: Value) {
    let empty = match &value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    if !empty {
        facts.insert(name.to_owned(), value);
    }
}

fn keep_only(mut facts: Facts, check: &EventCheck) -> Facts {
    if let Some(only) = &check.only {
        facts.retain(|name, _| only.contains(name));
    }
    facts
}

fn tool_name(check: &EventCheck, client: &ClientRun) -> String {
    let Some(id) = &check.tool else {
        return String::new();
    };
    let lines = client
        .stream
        .iter()
        .filter(|line| line["type"] == "assistant");
    let blocks = lines.flat_map(|line| line["message"]["content"].as_array().into_iter().flatten());
    let mut calls = blocks.filter(|block| block["id"] == **id);
    calls
        .next()
        .and_then(|call| call["name"].as_str())
        .unwrap_or_default()
        .to_owned()
}

/// The input the tool really got, when it is not what the model asked for.
fn effective_input(check: &EventCheck, client: &ClientRun) -> Option<Value> {
    let input = |event: &str| {
        let runs = group_events(event, check.tool.as_deref(), &client.runs);
        let event: Value = serde_json::from_str(&runs.first()?.first()?.stdin).ok()?;
        Some(event["tool_input"].clone())
    };
    let (asked, got) = (input(&check.event)?, input("PostToolUse")?);
    (asked != got).then_some(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_both_sides() {
        let a = Facts::from([("tool".to_owned(), json!("ran"))]);
        let found = list_differences("client", &a, "engine", &Facts::new());
        assert_eq!(found, ["tool: client \"ran\", engine \"-\""]);
    }
}
