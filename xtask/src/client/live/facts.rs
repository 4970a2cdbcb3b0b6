//! What was seen of a session, in the words of the recording, and what was recorded.
//!
//! A fact is a JSON value under a name; both sides are built alike, so that they can be compared
//! as they are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::dispatches::{Dispatch, title_event};
use super::folder::LiveFolder;
use super::model::{RequestKind, SeenRequest};
use super::runs::{RECORDER_ID, StubRun};
use super::session::ClientPlay;
use super::texts::{cut_text, find_markers, holds_text, list_commands, list_texts, name_commands};

/// Name of a fact -> its value.
pub(super) type LiveFacts = BTreeMap<String, Value>;

/// One text of a hook that reached a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeliveryRow {
    pub(super) marker: String,
    pub(super) to: &'static str,
    /// The how manieth of its kind.
    pub(super) request: usize,
    /// How soon it arrived; nothing of what no stub printed.
    pub(super) place: String,
    pub(super) role: String,
    pub(super) text: String,
}

impl DeliveryRow {
    pub(super) fn to_json(&self) -> Value {
        let text = cut_text(self.text.trim());
        json!([
            self.marker,
            self.to,
            self.request,
            self.place,
            self.role,
            text
        ])
    }
}

/// As JSON. The client puts several texts into one message, so of a text that holds an expected
/// one this is shown.
pub(super) fn show_rows(rows: &BTreeSet<DeliveryRow>, expected: &BTreeSet<DeliveryRow>) -> Value {
    let shown: BTreeSet<String> = rows
        .iter()
        .map(|row| {
            let mut row = row.clone();
            let meant = expected.iter().find(|other| {
                let same =
                    (&other.marker, other.to, &other.role) == (&row.marker, row.to, &row.role);
                same && holds_text(&row.text, &other.text)
            });
            if let Some(meant) = meant {
                row.text.clone_from(&meant.text);
            }
            row.to_json().to_string()
        })
        .collect();
    json!(shown)
}

/// What the client did.
pub(super) fn read_client_facts(
    folder: &LiveFolder,
    play: &ClientPlay,
    dispatches: &[Dispatch],
) -> LiveFacts {
    let truth = &folder.value["truth"];
    let mut facts = LiveFacts::new();
    let listed = dispatches.iter().map(|dispatch| {
        let ran = dispatch.runs.iter().map(|at| play.runs[*at].id.clone());
        (title_event(&dispatch.event), ran.collect())
    });
    add_fact(&mut facts, "dispatches", list_dispatches(listed, truth));
    add_fact(&mut facts, "handlers", count_handlers(folder, &play.runs));
    let rows = list_delivered(folder, play, dispatches);
    let recorded = list_recorded_delivered(folder, play);
    add_fact(&mut facts, "delivered", show_rows(&rows, &recorded));
    add_tool_facts(&mut facts, truth, &play.requests, dispatches);
    let ends = play.stream.iter().filter(|line| line["type"] == "result");
    let ends: Vec<&Value> = ends.map(|end| &end["terminal_reason"]).collect();
    if has_ends(folder) {
        add_fact(&mut facts, "ends", json!(ends));
    }
    let calls = json!(play.calls).to_string();
    add_fact(&mut facts, "mcp_calls", folder.restore_paths(&calls).into());
    for (name, text) in &play.files {
        add_fact(&mut facts, name, json!(text));
    }
    facts
}

/// The record, with the paths that it was made with.
fn read_truth(folder: &LiveFolder) -> Value {
    let text = folder.restore_paths(&folder.value["truth"].to_string());
    serde_json::from_str(&text).unwrap_or_default()
}

/// What was recorded.
pub(super) fn read_recorded_facts(folder: &LiveFolder, play: &ClientPlay) -> LiveFacts {
    let truth = read_truth(folder);
    let mut facts = LiveFacts::new();
    let listed: Vec<(String, Vec<String>)> =
        serde_json::from_value(truth["dispatches"].clone()).unwrap_or_default();
    add_fact(
        &mut facts,
        "dispatches",
        list_dispatches(listed.into_iter(), &truth),
    );
    let handlers = truth["handlers"].as_object().into_iter().flatten();
    let handlers = handlers.map(|(id, handler)| {
        let log = handler["log"].as_array().cloned().unwrap_or_default();
        let counts = json!([handler["runs"], handler["finished"], handler["killed"], log]);
        (id.clone(), counts)
    });
    add_fact(&mut facts, "handlers", Value::Object(handlers.collect()));
    let rows = list_recorded_delivered(folder, play);
    add_fact(&mut facts, "delivered", show_rows(&rows, &rows));
    let tools = truth["tools"].as_object().into_iter().flatten();
    let ended: BTreeMap<&String, &Value> = tools
        .clone()
        .map(|(id, tool)| (id, &tool["ended"]))
        .collect();
    if knows_tools(&truth) {
        add_fact(&mut facts, "tools", json!(ended));
    }
    for (id, tool) in tools {
        if let Some(result) = telling_result(tool) {
            add_fact(&mut facts, &format!("result of {id}"), result.into());
        }
    }
    let ends = truth["ends"].as_array().into_iter().flatten();
    let ends: Vec<&Value> = ends.map(|end| &end["terminal_reason"]).collect();
    if has_ends(folder) {
        add_fact(&mut facts, "ends", json!(ends));
    }
    let calls = truth["mcp_calls"].as_array().cloned().unwrap_or_default();
    add_fact(&mut facts, "mcp_calls", json!(calls).to_string().into());
    for (name, text) in truth["files_after"].as_object().into_iter().flatten() {
        add_fact(&mut facts, name, text.clone());
    }
    facts
}

/// One line for each fact on which they differ.
pub(super) fn list_differences(
    ours: &str,
    expected: &LiveFacts,
    theirs: &str,
    seen: &LiveFacts,
) -> Vec<String> {
    let names: BTreeSet<&String> = expected.keys().chain(seen.keys()).collect();
    let differ = names
        .into_iter()
        .filter(|name| expected.get(*name) != seen.get(*name));
    differ
        .map(|name| {
            let show =
                |facts: &LiveFacts| facts.get(name).map_or("nothing".into(), Value::to_string);
            format!(
                "{name}: {ours}: {}; {theirs}: {}",
                show(expected),
                show(seen)
            )
        })
        .collect()
}

fn add_fact(facts: &mut LiveFacts, name: &str, value: Value) {
    facts.insert(name.to_owned(), value);
}

fn list_dispatches(list: impl Iterator<Item = (String, Vec<String>)>, truth: &Value) -> Value {
    // Nobody waits for a change of the directory: it may come before or after the call's end.
    let mut floats = false;
    let list = list.inspect(|(title, _)| floats |= title == "CwdChanged");
    // The recorder was not always on this event.
    let listed = list.filter(|(title, ran)| title != "CwdChanged" || !ran.is_empty());
    let mut listed: Vec<(String, Vec<String>)> = listed
        .map(|(title, mut ran)| {
            ran.sort();
            (title, ran)
        })
        .collect();
    if floats || truth["dispatch_order"] == "varies" {
        listed.sort();
    }
    json!(listed)
}

/// Handler -> runs, those that ended by themselves, those that did not, what they logged.
pub(super) fn count_handlers(folder: &LiveFolder, runs: &[StubRun]) -> Value {
    let mut counts = BTreeMap::new();
    for id in runs
        .iter()
        .map(|run| &run.id)
        .filter(|id| *id != RECORDER_ID)
    {
        let of_id = || runs.iter().filter(|run| run.id == *id);
        let finished = of_id().filter(|run| run.ended.is_some()).count();
        let logs = of_id().filter(|run| !run.log.is_empty()).map(|run| {
            let lines = run.log.iter().map(|line| folder.restore_paths(line));
            lines.collect::<Vec<_>>()
        });
        let logs: Vec<_> = logs.collect();
        let count = json!([of_id().count(), finished, of_id().count() - finished, logs]);
        counts.insert(id.clone(), count);
    }
    json!(counts)
}

/// Markers that are looked for: what handlers printed, and what the record knows of.
fn list_known_markers(folder: &LiveFolder, runs: &[StubRun]) -> BTreeSet<String> {
    let truth = &folder.value["truth"];
    let mut known: BTreeSet<String> = runs
        .iter()
        .flat_map(|run| find_markers(&run.printed))
        .collect();
    let delivered = truth["delivered"].as_array().into_iter().flatten();
    known.extend(delivered.filter_map(|row| row["marker"].as_str().map(str::to_owned)));
    let lost = truth["not_delivered"].as_array().into_iter().flatten();
    known.extend(lost.filter_map(|marker| marker.as_str().map(str::to_owned)));
    known
}

/// Everything marked that a model read, each text where it arrived first.
pub(super) fn list_delivered(
    folder: &LiveFolder,
    play: &ClientPlay,
    dispatches: &[Dispatch],
) -> BTreeSet<DeliveryRow> {
    let known = list_known_markers(folder, &play.runs);
    let commands = list_commands(folder);
    let mut first: BTreeMap<(String, RequestKind), usize> = BTreeMap::new();
    let mut rows = BTreeSet::new();
    let asked = play
        .requests
        .iter()
        .filter(|request| request.kind != RequestKind::Side);
    for request in asked {
        for (role, text) in list_texts(&request.body) {
            for marker in find_markers(&text)
                .into_iter()
                .filter(|m| known.contains(m))
            {
                let at = (marker.clone(), request.kind);
                if *first.entry(at).or_insert(request.number) != request.number {
                    continue;
                }
                let place = find_place(&marker, &text, request, play, dispatches);
                rows.insert(DeliveryRow {
                    marker,
                    to: request.kind.name(),
                    request: request.number,
                    place,
                    role: role.clone(),
                    text: name_commands(&commands, &folder.restore_paths(&text)),
                });
            }
        }
    }
    rows
}

/// How soon it arrived after the event whose handler printed it; what no stub printed has no
/// such event here.
fn find_place(
    marker: &str,
    text: &str,
    request: &SeenRequest,
    play: &ClientPlay,
    dispatches: &[Dispatch],
) -> String {
    let is_printed = |at: &usize| {
        find_markers(&play.runs[*at].printed)
            .iter()
            .any(|m| m == marker)
    };
    let Some(dispatch) = dispatches.iter().find(|d| d.runs.iter().any(is_printed)) else {
        return String::new();
    };
    if text.contains("<task-notification>") {
        return "notification".into();
    }
    let before = play
        .requests
        .iter()
        .filter(|seen| seen.kind == request.kind && seen.at < dispatch.at)
        .count();
    if request.number == before + 1 {
        "next request".into()
    } else {
        "later request".into()
    }
}

fn list_recorded_delivered(folder: &LiveFolder, play: &ClientPlay) -> BTreeSet<DeliveryRow> {
    let truth = read_truth(folder);
    let printed: BTreeSet<String> = play
        .runs
        .iter()
        .flat_map(|run| find_markers(&run.printed))
        .collect();
    let mut rows = BTreeSet::new();
    for delivered in truth["delivered"].as_array().into_iter().flatten() {
        let text = |key: &str| delivered[key].as_str().unwrap_or_default().to_owned();
        let kinds = [
            RequestKind::Main,
            RequestKind::Subagent,
            RequestKind::HookPrompt,
            RequestKind::HookAgent,
            RequestKind::Side,
        ];
        let to = kinds.into_iter().find(|kind| kind.name() == text("to"));
        let number = delivered["request"].as_u64().unwrap_or_default();
        let by_stub = printed.contains(&text("marker"));
        for form in delivered["forms"].as_array().into_iter().flatten() {
            let part = |key: &str| form[key].as_str().unwrap_or_default();
            rows.insert(DeliveryRow {
                marker: text("marker"),
                to: to.map_or("?", RequestKind::name),
                request: usize::try_from(number).unwrap_or_default(),
                place: if by_stub {
                    text("where")
                } else {
                    String::new()
                },
                role: part("role").to_owned(),
                text: part("text").to_owned(),
            });
        }
    }
    rows
}

/// How calls of tools ended, and what telling ones gave.
fn add_tool_facts(
    facts: &mut LiveFacts,
    truth: &Value,
    requests: &[SeenRequest],
    dispatches: &[Dispatch],
) {
    let tools = truth["tools"].as_object().into_iter().flatten();
    let mut ended: BTreeMap<String, &str> =
        tools.clone().map(|(id, _)| (id.clone(), "none")).collect();
    for dispatch in dispatches {
        let event = &dispatch.event;
        let name = event["hook_event_name"].as_str().unwrap_or_default();
        if let ("PostToolUse" | "PostToolUseFailure", Some(id), false) = (
            name,
            event["tool_use_id"].as_str(),
            dispatch.is_of_verifier(),
        ) {
            let name = if name == "PostToolUse" {
                "PostToolUse"
            } else {
                "PostToolUseFailure"
            };
            ended.insert(id.to_owned(), name);
        }
    }
    if knows_tools(truth) {
        add_fact(facts, "tools", json!(ended));
    }
    for (id, _) in tools.filter(|(_, tool)| telling_result(tool).is_some()) {
        let seen = requests
            .iter()
            .find_map(|request| find_result(&request.body, id));
        let seen = seen.map(|text| text.trim().to_owned());
        add_fact(facts, &format!("result of {id}"), json!(seen));
    }
}

/// A turn that a hook stopped has no results in the recording.
fn knows_tools(truth: &Value) -> bool {
    let ends = truth["ends"].as_array().into_iter().flatten();
    let stopped = ends
        .into_iter()
        .any(|end| end["terminal_reason"] == "hook_stopped");
    let recorded = truth["tools"].as_object();
    !stopped || recorded.is_some_and(|tools| !tools.is_empty())
}

/// What a shell saw of the session's variables.
fn telling_result(tool: &Value) -> Option<String> {
    let result = tool["result"].as_str()?;
    let tells = result.starts_with("MK") && !result.contains("hook");
    tells.then(|| result.trim().to_owned())
}

fn find_result(body: &Value, id: &str) -> Option<String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let block = blocks.flatten().find(|block| block["tool_use_id"] == id)?;
    let parts = block["content"].as_array().into_iter().flatten();
    let joined: String = parts.filter_map(|part| part["text"].as_str()).collect();
    Some(block["content"].as_str().map_or(joined, str::to_owned))
}

/// A terminal prints no results, and a session that was killed has none.
fn has_ends(folder: &LiveFolder) -> bool {
    let recorded = folder.value["truth"]["ends"].as_array();
    !folder.is_interactive() && recorded.is_some_and(|ends| !ends.is_empty())
}
