//! Other agents, skills, tasks and worktrees. A launch is never told as a
//! result.

use serde_json::Value;

use super::LookupReading;
use super::values::{Call, counted, sentence};
use crate::edit::{one_line, short_path};

pub(super) fn agent(call: &Call<'_>) -> LookupReading {
    let status = call.said("status").unwrap_or("");
    let kind = call.text("subagent_type").unwrap_or("general");
    let name = call
        .text("description")
        .or_else(|| call.text("prompt"))
        .unwrap_or("a task");
    let name = one_line(name, 60);
    let launched = call.answer("isAsync").and_then(Value::as_bool) == Some(true)
        || matches!(
            status,
            "async_launched" | "teammate_spawned" | "launched" | "remote_launched"
        );
    let result = if launched {
        String::new()
    } else {
        content(call)
    };
    let title = if status == "teammate_spawned" {
        let mate = call
            .said("name")
            .or_else(|| call.text("name"))
            .unwrap_or("a teammate");
        format!("Launched teammate {}: {name}", one_line(mate, 30))
    } else if launched {
        format!("Launched {kind} agent: {name}")
    } else if result.trim().is_empty() {
        format!("Ran {kind} agent: {name}")
    } else {
        format!("Agent on \"{name}\": {}", one_line(sentence(&result), 100))
    };
    let mut reading = LookupReading::new(&title).about("agent");
    reading.say(&format!("agent: {kind}"));
    if let Some(prompt) = call.text("prompt") {
        reading.say(&format!("asked: {}", sentence(prompt)));
    }
    if launched {
        reading.say("no result yet");
        return reading;
    }
    if let Some(tools) = call
        .answer("totalToolUseCount")
        .and_then(Value::as_u64)
        .filter(|n| *n > 0)
    {
        reading.say(&counted(
            usize::try_from(tools).unwrap_or(usize::MAX),
            "tool call",
        ));
    }
    reading.with_text(&result)
}

fn content(call: &Call<'_>) -> String {
    let found = call.answer("content").or_else(|| call.answer("result"));
    match found {
        Some(inner) => super::text_of(inner),
        None => call
            .response
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned(),
    }
}

pub(super) fn skill(call: &Call<'_>) -> LookupReading {
    let name = call
        .text("skill")
        .or_else(|| call.text("command"))
        .or_else(|| call.said("commandName"))
        .unwrap_or("a skill");
    let given = call.text("args").map(|a| format!(": {}", one_line(a, 60)));
    LookupReading::new(&format!(
        "Used skill {}{}",
        one_line(name, 50),
        given.unwrap_or_default()
    ))
    .about("skill")
    .with_text(&call.result())
}

pub(super) fn task(call: &Call<'_>) -> LookupReading {
    let subject = call
        .answer("task")
        .and_then(|t| t.get("subject"))
        .and_then(Value::as_str)
        .or_else(|| call.text("subject"));
    let id = call
        .text("taskId")
        .or_else(|| call.said("taskId"))
        .unwrap_or("?");
    let change = call.answer("statusChange");
    let part = |key: &str| change.and_then(|c| c.get(key)).and_then(Value::as_str);
    let title = match (call.tool, subject, part("from"), part("to")) {
        ("TaskCreate", Some(subject), ..) => format!("Planned task: {subject}"),
        ("TaskCreate", None, ..) => "Planned a task".to_owned(),
        ("TaskStop", ..) => format!("Stopped task {id}"),
        (_, _, Some(from), Some(to)) => format!("Task {id}: {from} -> {to}"),
        (_, Some(subject), ..) => format!("Renamed task {id}: {subject}"),
        _ => match call.text("status") {
            Some(status) => format!("Task {id}: {status}"),
            None => format!("Updated task {id}"),
        },
    };
    let mut reading = LookupReading::new(&title).about("task");
    if let Some(description) = call.text("description") {
        reading.say(&format!("description: {description}"));
    }
    reading
}

pub(super) fn worktree(call: &Call<'_>) -> LookupReading {
    let path = call
        .said("worktreePath")
        .map(|p| call.relative(p))
        .unwrap_or_default();
    let branch = call.said("worktreeBranch");
    let name = branch
        .or_else(|| call.text("name"))
        .map_or_else(|| short_path(&path), |b| one_line(b, 50));
    let title = match (
        call.tool,
        call.said("action").or_else(|| call.text("action")),
    ) {
        ("EnterWorktree", _) => format!("Entered worktree {name}"),
        (_, Some("remove")) => format!("Left and removed worktree {name}"),
        _ => format!("Left worktree {name}"),
    };
    let mut reading = LookupReading::new(&title).about("git");
    if !path.is_empty() {
        reading.say(&format!("path: {path}"));
    }
    if let Some(branch) = branch {
        reading.say(&format!("branch: {branch}"));
    }
    for (key, what) in [("discardedFiles", "file"), ("discardedCommits", "commit")] {
        if let Some(count) = call.answer(key).and_then(Value::as_u64).filter(|n| *n > 0) {
            reading.say(&format!(
                "discarded {}",
                counted(usize::try_from(count).unwrap_or(usize::MAX), what)
            ));
        }
    }
    reading
}

pub(super) fn question(call: &Call<'_>) -> LookupReading {
    let questions = call.input.get("questions").and_then(Value::as_array);
    let first = questions
        .and_then(|q| q.first())
        .and_then(|q| q.get("question"))
        .and_then(Value::as_str)
        .or_else(|| call.text("question"))
        .unwrap_or("a question");
    let answers = call.answer("answers").and_then(Value::as_object);
    let said = answers
        .and_then(|a| a.values().next())
        .and_then(Value::as_str);
    let title = match said {
        Some(said) => format!("Asked \"{}\": {}", one_line(first, 60), one_line(said, 40)),
        None => format!("Asked \"{}\"", one_line(first, 90)),
    };
    let mut reading = LookupReading::new(&title).about("decision");
    for (question, answer) in answers.into_iter().flatten() {
        if let Some(answer) = answer.as_str() {
            reading.say(&format!("{}: {answer}", one_line(question, 90)));
        }
    }
    reading
}

pub(super) fn plan(call: &Call<'_>) -> LookupReading {
    let plan = call
        .text("plan")
        .or_else(|| call.said("plan"))
        .unwrap_or("");
    let title = match (call.tool, sentence(plan)) {
        ("EnterPlanMode", _) => "Began to plan".to_owned(),
        (_, "") => "Presented a plan".to_owned(),
        (_, first) => format!("Presented a plan: {}", one_line(first, 90)),
    };
    LookupReading::new(&title).about("plan").with_text(plan)
}
