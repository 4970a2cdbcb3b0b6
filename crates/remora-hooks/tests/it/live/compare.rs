//! What was seen against the recorded truth. A recorded case says everything; one of
//! our own is compared in what its truth names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::case::Case;
use super::client::{Client, Delivered};
use super::world::{Dispatch, Run};

pub(super) fn find_differences(client: &Client<'_>) -> Vec<String> {
    let case = client.world.case;
    let truth = &case.value["truth"];
    let mut problems = Vec::new();
    let mut equal = |what: &str, seen: Value, expected: Value| {
        if seen != expected {
            problems.push(format!("{what}: {seen}, the client: {expected}"));
        }
    };
    // A case of our own names what it is about; a recorded one names everything.
    let has = |key: &str| truth.get(key).is_some();
    if has("dispatches") {
        let expected = expected_dispatches(truth);
        equal("dispatches", list_dispatches(client), expected);
    }
    if has("handlers") {
        let expected = expected_handlers(case, truth);
        equal("handlers", count_handlers(client), expected);
    }
    if has("delivered") {
        let expected = expected_delivered(client, truth);
        equal("delivered", list_delivered(client), expected);
    }
    let tools = client.tools.borrow();
    let mut ended = client.world.seen.tools.lock().unwrap().clone();
    ended.extend(tools.iter().map(|(id, end)| (id.clone(), end.ended)));
    let expected: BTreeMap<&String, &Value> = truth["tools"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(id, end)| (id, &end["ended"]))
        .collect();
    // A turn that a hook stopped has no results in the recording.
    let was_stopped = was_stopped(truth)
        || case.is_interactive() && client.ends.borrow().contains(&Some("hook_stopped"));
    if has("tools") && (!expected.is_empty() || tools.is_empty() || !was_stopped) {
        equal("tools", json!(ended), json!(expected));
    }
    for (id, end) in truth["tools"].as_object().into_iter().flatten() {
        let result = end["result"].as_str().unwrap_or_default();
        // What a shell saw of the session's variables.
        if result.starts_with("MK") && !result.contains("hook") {
            let seen = tools.get(id).map_or("", |tool| tool.result.as_str());
            equal(&format!("result of {id}"), json!(seen), json!(result));
        }
    }
    if has("ends") && !case.is_interactive() {
        let ends = truth["ends"].as_array().cloned().unwrap_or_default();
        let expected: Vec<&Value> = ends.iter().map(|end| &end["terminal_reason"]).collect();
        let seen = client.ends.borrow();
        if !was_killed(truth) {
            equal("ends", json!(*seen), json!(expected));
        }
    }
    for (file, content) in truth["files_after"].as_object().into_iter().flatten() {
        let seen = fs::read_to_string(case.root.join(file)).ok();
        equal(file, json!(seen), content.clone());
    }
    drop(tools);
    if has("requests") {
        equal("requests", count_requests(client), expected_requests(truth));
    }
    let calls: Vec<Value> = client.world.servers.list_calls();
    let calls = json!(calls).to_string();
    equal(
        "calls of servers",
        serde_json::from_str(&case.restore_paths(&calls)).unwrap(),
        as_recorded(case, truth.get("mcp_calls").unwrap_or(&json!([]))),
    );
    equal(
        "overridden stops",
        json!(*client.overrides.borrow()),
        expected_overrides(truth),
    );
    problems
}

/// A recorded value without this test's own paths.
fn as_recorded(case: &Case, value: &Value) -> Value {
    serde_json::from_str(&case.restore_paths(&value.to_string())).unwrap()
}

fn count_requests(client: &Client<'_>) -> Value {
    json!(client.world.seen.copy_requests())
}

fn expected_requests(truth: &Value) -> Value {
    let counts = truth["requests"].as_object().into_iter().flatten();
    // What the client asks for its own ends is no part of the session.
    let counts: BTreeMap<_, _> = counts.filter(|(kind, _)| *kind != "side").collect();
    json!(counts)
}

/// After how many blocks the client ended an agent in spite of its hooks.
fn expected_overrides(truth: &Value) -> Value {
    let notices = truth["notices"].as_array().into_iter().flatten();
    let blocks = notices.filter_map(|notice| {
        let rest = notice.as_str()?.strip_prefix("stop_cap_override after ")?;
        rest.split(' ').next()?.parse::<u32>().ok()
    });
    json!(blocks.collect::<Vec<_>>())
}

fn was_stopped(truth: &Value) -> bool {
    let ends = truth["ends"].as_array().into_iter().flatten();
    ends.into_iter()
        .any(|end| end["terminal_reason"] == "hook_stopped")
}

fn was_killed(truth: &Value) -> bool {
    truth["ends"].as_array().is_none_or(Vec::is_empty)
}

fn list_dispatches(client: &Client<'_>) -> Value {
    let dispatches = client.world.seen.dispatches.lock().unwrap();
    let listed = dispatches.iter().enumerate();
    let list = listed.map(|(at, d): (usize, &Dispatch)| {
        let mut ran = d.ran.clone();
        let runs = client.world.runs.borrow();
        let of_verifier = runs
            .iter()
            .filter(|run| find_verifier_dispatch(&dispatches, run) == Some(at));
        ran.extend(of_verifier.map(|run| run.id.clone()));
        ran.sort();
        (d.title.clone(), ran)
    });
    let list = list.filter(|(title, ran)| !is_unlistened(title, ran));
    sort_if_varying(list.collect(), &client.world.case.value["truth"])
}

/// The dispatch in a verifier's name that a handler ran for.
fn find_verifier_dispatch(dispatches: &[Dispatch], run: &Run) -> Option<usize> {
    let event = run.read_event();
    if !event["agent_id"].as_str()?.starts_with("hook-agent-") {
        return None;
    }
    dispatches
        .iter()
        .position(|d| d.of_verifier.as_ref() == Some(&event))
}

fn expected_dispatches(truth: &Value) -> Value {
    let list: Vec<(String, Vec<String>)> =
        serde_json::from_value(truth["dispatches"].clone()).unwrap();
    let listed = list
        .into_iter()
        .filter(|(title, ran)| !is_unlistened(title, ran));
    sort_if_varying(listed.collect(), truth)
}

/// The recorder was not always on this event.
fn is_unlistened(title: &str, ran: &[String]) -> bool {
    title == "CwdChanged" && ran.is_empty()
}

fn sort_if_varying(mut list: Vec<(String, Vec<String>)>, truth: &Value) -> Value {
    if truth["dispatch_order"] == "varies" {
        list.sort();
    }
    json!(list)
}

fn count_handlers(client: &Client<'_>) -> Value {
    let runs = client.world.runs.borrow();
    let mut counts = BTreeMap::new();
    for id in runs.iter().map(|run| &run.id) {
        let of_id = || runs.iter().filter(|run| run.id == *id);
        let finished = of_id().filter(|run| run.is_finished()).count();
        let logs = of_id().map(Run::read_log).filter(|log| !log.is_empty());
        let logs = logs.map(|log| {
            let lines = log.iter().map(|line| client.world.case.restore_paths(line));
            lines.collect::<Vec<_>>()
        });
        let count = json!([
            of_id().count(),
            finished,
            of_id().count() - finished,
            logs.collect::<Vec<_>>()
        ]);
        counts.insert(id.clone(), count);
    }
    json!(counts)
}

fn expected_handlers(case: &Case, truth: &Value) -> Value {
    let mut counts = BTreeMap::new();
    for (id, handler) in truth["handlers"].as_object().into_iter().flatten() {
        let log = json!(handler["log"].as_array().cloned().unwrap_or_default());
        let log: Value = serde_json::from_str(&case.restore_paths(&log.to_string())).unwrap();
        let count = json!([handler["runs"], handler["finished"], handler["killed"], log]);
        counts.insert(id.clone(), count);
    }
    json!(counts)
}

/// Marker, whom, request, where, role, text; each marker at its first request.
type Row = (String, String, u64, String, String, String);

fn list_delivered(client: &Client<'_>) -> Value {
    let mut rows = BTreeSet::new();
    let mut first: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let of_handlers = client.world.seen.delivered.lock().unwrap();
    for delivered in client.delivered.borrow().iter().chain(of_handlers.iter()) {
        for marker in find_markers(&delivered.text) {
            let at = first.entry((marker.clone(), delivered.to));
            if *at.or_insert(delivered.request) != delivered.request {
                continue;
            }
            rows.insert(build_row(client, delivered, marker));
        }
    }
    json!(rows)
}

fn build_row(client: &Client<'_>, delivered: &Delivered, marker: String) -> Row {
    let place = if delivered.notification {
        "notification"
    } else {
        match requests_before(client, &marker, delivered.to) {
            Some(before) if delivered.request == before + 1 => "next request",
            Some(_) => "later request",
            // The recording does not say it of what servers answered.
            None => "",
        }
    };
    let text = name_commands(client, &client.world.case.restore_paths(&delivered.text));
    (
        marker,
        delivered.to.to_owned(),
        delivered.request as u64,
        place.to_owned(),
        delivered.role.to_owned(),
        cut_text(text.trim()),
    )
}

/// Requests of that conversation before the dispatch whose handler printed the marker.
fn requests_before(client: &Client<'_>, marker: &str, to: &str) -> Option<usize> {
    let runs = client.world.runs.borrow();
    let printed = |run: &&Run| {
        let text = run.read("out") + &run.read("err");
        find_markers(&text).iter().any(|found| found == marker)
    };
    let Some(run) = runs.iter().find(printed) else {
        let said = client.world.seen.said.lock().unwrap();
        let holds = |text: &str| find_markers(text).iter().any(|found| found == marker);
        let (_, requests) = said.iter().find(|(text, _)| holds(text))?;
        return Some(requests.get(to).copied().unwrap_or_default());
    };
    let dispatches = client.world.seen.dispatches.lock().unwrap();
    let at = find_verifier_dispatch(&dispatches, run).unwrap_or(run.dispatch);
    let requests = &dispatches.get(at)?.requests;
    Some(requests.get(to).copied().unwrap_or_default())
}

fn expected_delivered(client: &Client<'_>, truth: &Value) -> Value {
    let mut rows = BTreeSet::new();
    for delivered in truth["delivered"].as_array().into_iter().flatten() {
        let text = |key: &str| delivered[key].as_str().unwrap_or_default().to_owned();
        for form in delivered["forms"].as_array().unwrap() {
            let shown = client
                .world
                .case
                .restore_paths(form["text"].as_str().unwrap());
            rows.insert((
                text("marker"),
                text("to"),
                delivered["request"].as_u64().unwrap(),
                text("where"),
                form["role"].as_str().unwrap().to_owned(),
                cut_text(shown.trim()),
            ));
        }
    }
    json!(rows)
}

/// As the recording cuts long texts: its length counts, and how it begins.
fn cut_text(text: &str) -> String {
    const SHOWN_CHARS: usize = 300;
    let (start, length) = match text.rsplit_once("…[").and_then(|(start, rest)| {
        let length = rest.strip_suffix(" chars]")?.parse::<usize>().ok()?;
        Some((start, length))
    }) {
        Some(cut) => cut,
        None => (text, text.chars().count()),
    };
    let start: String = start.chars().take(SHOWN_CHARS).collect();
    if length > SHOWN_CHARS {
        format!("{start}…[{length} chars]")
    } else {
        start
    }
}

pub(super) fn find_markers(text: &str) -> Vec<String> {
    let mut markers = Vec::new();
    for (at, _) in text.match_indices("MK-") {
        let tail = &text[at + 3..];
        let end = tail
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(tail.len());
        let marker = format!("MK-{}", &tail[..end]);
        // In a command line the number is still open.
        let template = tail[end..].starts_with('@');
        if !template && !marker.ends_with('-') && !markers.contains(&marker) {
            markers.push(marker);
        }
    }
    markers
}

/// `<CMD id>` in the place of command lines.
fn name_commands(client: &Client<'_>, text: &str) -> String {
    let mut text = text.to_owned();
    for (id, command) in client.world.commands.borrow().iter() {
        text = text.replace(command, &format!("<CMD {id}>"));
    }
    text
}
