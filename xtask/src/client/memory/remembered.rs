//! A day's work is found again, by every call; the next session is told of it.

use anyhow::Result;
use serde_json::{Value, json};

use super::Case;
use super::day::{Day, secrets};
use super::kept::brief;
use super::talk::{Ask, Talk};

const TIDE: &str = include_str!("tide.sh");
/// Those of the day; the client does not offer all of them by itself.
const TOOLS: &str = "Bash,Edit,Glob,Grep,Read,Task,ToolSearch,Write";
/// The tag around what Remora tells a model.
const TAG: &str = "remora-context";

/// Settings of somebody who had hooks before us.
const PERSON: &str = r#"{
  "model": "claude-opus-5-5",
  "hooks": {
    "PostToolUse": [
      {"matcher": "Write", "hooks": [{"type": "command", "command": "true"}]}
    ]
  },
  "permissions": {"allow": ["Bash(git status)"]}
}
"#;

pub(super) fn every_call(case: &mut Case) -> Result<()> {
    case.house.write("home/.claude/settings.json", PERSON)?;
    let talk = play_day(case, "project", "one")?;
    let day = Day::read(&case.house.path("project"), "one")?;
    let calls = day.calls();
    let seen = talk.calls();
    for call in &calls {
        let inner = call.id.ends_with("_inner");
        let wanted = call.id.ends_with("_failing");
        match seen.get(&call.id) {
            Some((failed, text)) => case.check(*failed == wanted, || {
                format!("{}: the script does not fit the client: {text}", call.id)
            }),
            None => case.check(inner, || format!("{}: the client did not run it", call.id)),
        }
    }
    case.house.drain()?;
    let fired = case.house.fired()?;
    let unaccounted = case.house.unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    let lost = case.house.not_found("project", &calls)?;
    case.problems.extend(lost);
    // What a subagent found is told once, by its own row.
    let found = case.house.rows_of("project", "marmot dams hold")?;
    case.equal("rows with the subagent's result", &found.len(), &1);
    for item in case.house.items("project", "spillway")? {
        let inner = item["tool_use_id"] == "toolu_one_inner";
        case.check(!inner || item["subagent"].is_string(), || {
            format!("a subagent's call is taken for the session's own: {item}")
        });
    }
    let decided = case.house.search("project", &day.decision)?;
    case.check(decided.iter().any(|row| row["kind"] == "decision"), || {
        format!("the decision is not found: {}", brief(&decided))
    });
    let status = case.house.ask("project", &["status", "--json"])?;
    fits(case, &status, &fired)?;
    let leaks = case.house.places_of(&secrets())?;
    case.problems.extend(leaks);
    Ok(())
}

/// The numbers of `remora status --json` against the witness.
fn fits(case: &mut Case, status: &Value, fired: &[Value]) -> Result<()> {
    case.equal("status: events", &status["events"], &json!(fired.len()));
    for key in ["spool", "dead"] {
        case.equal(&format!("status: {key}"), &status[key], &json!(0));
    }
    let calls = fired
        .iter()
        .filter(|event| event["hook_event_name"].as_str().is_some_and(ends_a_call));
    let calls = u64::try_from(calls.count())?;
    let rows = status["observations"].as_u64().unwrap_or_default();
    case.check(rows >= calls, || {
        format!("status: {rows} observations of {calls} calls")
    });
    case.check(status["db_bytes"].as_u64() > Some(0), || {
        format!("status: db_bytes is {}", status["db_bytes"])
    });
    let workers = case.house.workers();
    let worker = &status["worker"];
    case.check(
        worker["running"] == true && workers.iter().any(|id| worker["pid"] == json!(id)),
        || format!("status: worker {worker}, processes {workers:?}"),
    );
    Ok(())
}

fn ends_a_call(event: &str) -> bool {
    ["PostToolUse", "PostToolUseFailure"].contains(&event)
}

/// Installs for the user and plays the day.
pub(super) fn play_day(case: &mut Case, project: &str, tag: &str) -> Result<Talk> {
    case.house.remora(project, &["install", "claude-code"])?;
    let witness = case.house.witness(&case.house.user_settings())?;
    let server = case.house.script("bin/tide", TIDE)?;
    let servers = json!({"mcpServers": {"tide": {"command": server, "args": []}}});
    case.house.write("servers.json", &servers.to_string())?;
    let servers = case.house.path("servers.json").display().to_string();
    let day = Day::read(&case.house.path(project), tag)?;
    day.lay_out(&case.house, project)?;
    case.talk(&Ask {
        project,
        prompt: &day.prompt,
        turns: &day.turns,
        args: &[
            "--settings",
            &witness,
            "--mcp-config",
            &servers,
            "--tools",
            TOOLS,
        ],
        ..Ask::default()
    })
}

pub(super) fn next_session(case: &mut Case) -> Result<()> {
    let first = play_day(case, "project", "one")?;
    case.check(!first.beginning().contains(TAG), || {
        "the first session was told of something".to_owned()
    });
    case.house.drain()?;
    let ask = Ask {
        project: "project",
        prompt: "Go on.",
        turns: &[json!({"text": "I go on."})],
        ..Ask::default()
    };
    let next = case.talk(&ask)?;
    let told = context(&next);
    case.equal("texts of ours in the first request", &told.len(), &2);
    let (start, prompt) = (told.first().cloned(), told.get(1).cloned());
    let (start, prompt) = (start.unwrap_or_default(), prompt.unwrap_or_default());
    // By what they hold, not by their wording: what was asked, decided with its reason, and
    // concluded; at "go on" the conclusion again.
    for words in ["walrus", "integers", "fractions of a bird", "41 animals"] {
        case.check(start.contains(words), || {
            format!("`{words}` is not told at the start: {start}")
        });
    }
    case.check(prompt.contains("41 animals"), || {
        format!("\"go on\" does not bring where the work stood: {prompt}")
    });
    let told = told.join("\n");
    // What was only read, run or looked for is no news.
    for words in ["heron", "puffin", "gannet", "shearwater", "noddy"] {
        case.check(!told.contains(words), || {
            format!("`{words}` was only looked at, and is told: {told}")
        });
    }
    for secret in secrets() {
        case.check(!told.contains(&secret), || {
            "a secret is told to the model".to_owned()
        });
    }
    let other = case.talk(&Ask {
        project: "elsewhere/project",
        ..ask
    })?;
    let told = context(&other);
    case.check(told.is_empty(), || {
        format!("another folder of the same name is told: {told:?}")
    });
    let found = case.house.search("elsewhere/project", "walrus")?;
    case.check(found.is_empty(), || {
        format!("another folder of the same name finds: {}", brief(&found))
    });
    Ok(())
}

/// What stands between our tags in the first request.
pub(super) fn context(talk: &Talk) -> Vec<String> {
    let (open, close) = (format!("<{TAG}>"), format!("</{TAG}>"));
    let text = talk.beginning();
    let parts = text.split(&open).skip(1);
    let inside = |part: &str| part.split(&close).next().unwrap_or_default().to_owned();
    parts.map(inside).collect()
}
