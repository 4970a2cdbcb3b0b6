//! A day's work is found again, by every call, and injected into the next session.

use anyhow::Result;
use serde_json::{Value, json};

use super::MemoryCase;
use super::day::{ScriptedDay, list_secrets};
use super::kept::format_items;
use super::talk::{TalkRequest, TalkResult};

const TIDE_SCRIPT: &str = include_str!("tide.sh");
/// Those of the day; the client does not offer all of them by itself.
const TOOL_NAMES: &str = "Bash,Edit,Glob,Grep,Read,Task,ToolSearch,Write";
/// The tag around what Remora injects.
const CONTEXT_TAG: &str = "remora-context";

/// Settings of somebody who had hooks before us.
const USER_SETTINGS: &str = r#"{
  "model": "claude-opus-5-5",
  "hooks": {
    "PostToolUse": [
      {"matcher": "Write", "hooks": [{"type": "command", "command": "true"}]}
    ]
  },
  "permissions": {"allow": ["Bash(git status)"]}
}
"#;

pub(super) fn every_call(case: &mut MemoryCase) -> Result<()> {
    case.house
        .write_file("home/.claude/settings.json", USER_SETTINGS)?;
    let talk = play_day(case, "project", "one")?;
    let day = ScriptedDay::read_day(&case.house.path("project"), "one")?;
    let calls = day.list_calls();
    let seen = talk.call_results();
    for call in &calls {
        let inner = call.id.ends_with("_inner");
        let wanted = call.id.ends_with("_failing");
        match seen.get(&call.id) {
            Some((failed, text)) => case.check_that(*failed == wanted, || {
                format!("{}: the script does not fit the client: {text}", call.id)
            }),
            None => case.check_that(inner, || format!("{}: the client did not run it", call.id)),
        }
    }
    case.house.drain_spool()?;
    let fired = case.house.drain_fired()?;
    let unaccounted = case.house.find_unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    let lost = case.house.not_found("project", &calls)?;
    case.problems.extend(lost);
    // What a subagent found is remembered once, by its own item.
    let found = case
        .house
        .find_matching_items("project", "marmot dams hold")?;
    case.check_equal("items with the subagent's result", &found.len(), &1);
    for item in case.house.find_items("project", "spillway")? {
        let inner = item["tool_use_id"] == "toolu_one_inner";
        case.check_that(!inner || item["subagent"].is_string(), || {
            format!("a subagent's call is mistaken for the session's own: {item}")
        });
    }
    let decided = case.house.search_items("project", &day.decision)?;
    case.check_that(
        decided.iter().any(|item| item["kind"] == "decision"),
        || format!("the decision is not found: {}", format_items(&decided)),
    );
    let status = case
        .house
        .run_remora_json("project", &["status", "--json"])?;
    check_status(case, &status, &fired)?;
    let leaks = case.house.places_of(&list_secrets())?;
    case.problems.extend(leaks);
    Ok(())
}

/// The numbers of `remora status --json` against the witness.
fn check_status(case: &mut MemoryCase, status: &Value, fired: &[Value]) -> Result<()> {
    case.check_equal("status: events", &status["events"], &json!(fired.len()));
    for key in ["spool", "dead"] {
        case.check_equal(&format!("status: {key}"), &status[key], &json!(0));
    }
    let calls = fired
        .iter()
        .filter(|event| event["hook_event_name"].as_str().is_some_and(ends_a_call));
    let calls = u64::try_from(calls.count())?;
    let items = status["observations"].as_u64().unwrap_or_default();
    case.check_that(items >= calls, || {
        format!("status: {items} observations of {calls} calls")
    });
    case.check_that(status["db_bytes"].as_u64() > Some(0), || {
        format!("status: db_bytes is {}", status["db_bytes"])
    });
    let workers = case.house.list_workers();
    let worker = &status["worker"];
    case.check_that(
        worker["running"] == true && workers.iter().any(|id| worker["pid"] == json!(id)),
        || format!("status: worker {worker}, processes {workers:?}"),
    );
    Ok(())
}

fn ends_a_call(event: &str) -> bool {
    ["PostToolUse", "PostToolUseFailure"].contains(&event)
}

/// Installs for the user and plays the day.
pub(super) fn play_day(case: &mut MemoryCase, project: &str, tag: &str) -> Result<TalkResult> {
    case.house
        .run_remora(project, &["install", "claude-code"])?;
    let witness = case.house.write_witness(&case.house.user_settings())?;
    let server = case.house.write_script("bin/tide", TIDE_SCRIPT)?;
    let servers = json!({"mcpServers": {"tide": {"command": server, "args": []}}});
    case.house
        .write_file("servers.json", &servers.to_string())?;
    let servers = case.house.path("servers.json").display().to_string();
    let day = ScriptedDay::read_day(&case.house.path(project), tag)?;
    day.lay_out(&case.house, project)?;
    case.run_talk(&TalkRequest {
        project,
        prompt: &day.prompt,
        turns: &day.turns,
        args: &[
            "--settings",
            &witness,
            "--mcp-config",
            &servers,
            "--tools",
            TOOL_NAMES,
        ],
        ..TalkRequest::default()
    })
}

pub(super) fn next_session(case: &mut MemoryCase) -> Result<()> {
    let first = play_day(case, "project", "one")?;
    case.check_that(!first.start_text().contains(CONTEXT_TAG), || {
        "something was injected into the first session".to_owned()
    });
    case.house.drain_spool()?;
    let ask = TalkRequest {
        project: "project",
        prompt: "Go on.",
        turns: &[json!({"text": "I go on."})],
        ..TalkRequest::default()
    };
    let next = case.run_talk(&ask)?;
    let injected = list_context(&next);
    case.check_equal("texts of ours in the first request", &injected.len(), &2);
    let (start, prompt) = (injected.first().cloned(), injected.get(1).cloned());
    let (start, prompt) = (start.unwrap_or_default(), prompt.unwrap_or_default());
    // By what they hold, not by their wording: what was asked, decided with its reason, and
    // concluded; at "go on" the conclusion again.
    for words in ["walrus", "integers", "fractions of a bird", "41 animals"] {
        case.check_that(start.contains(words), || {
            format!("`{words}` is not injected at the start: {start}")
        });
    }
    case.check_that(prompt.contains("41 animals"), || {
        format!("\"go on\" does not bring the state of the work: {prompt}")
    });
    let injected = injected.join("\n");
    // What was only read, run or looked for is no news.
    for words in ["heron", "puffin", "gannet", "shearwater", "noddy"] {
        case.check_that(!injected.contains(words), || {
            format!("`{words}` was only read, and is injected: {injected}")
        });
    }
    for secret in list_secrets() {
        case.check_that(!injected.contains(&secret), || {
            "a secret is injected".to_owned()
        });
    }
    let other = case.run_talk(&TalkRequest {
        project: "elsewhere/project",
        ..ask
    })?;
    let injected = list_context(&other);
    case.check_that(injected.is_empty(), || {
        format!("another folder of the same name gets: {injected:?}")
    });
    let found = case.house.search_items("elsewhere/project", "walrus")?;
    case.check_that(found.is_empty(), || {
        format!(
            "another folder of the same name finds: {}",
            format_items(&found)
        )
    });
    Ok(())
}

/// The texts between our tags in the first request.
pub(super) fn list_context(talk: &TalkResult) -> Vec<String> {
    let (open, close) = (format!("<{CONTEXT_TAG}>"), format!("</{CONTEXT_TAG}>"));
    let text = talk.start_text();
    let parts = text.split(&open).skip(1);
    let inside = |part: &str| part.split(&close).next().unwrap_or_default().to_owned();
    parts.map(inside).collect()
}
