//! Other agents, skills, tasks and worktrees. A launch is never told as a
//! result.

use serde_json::Value;

use super::LookupReading;
use super::values::{LookupCall, find_first_sentence, format_count};
use crate::edit::{one_line, short_path};

pub(super) fn parse_agent_call(call: &LookupCall<'_>) -> LookupReading {
    let status = call.answer_text("status").unwrap_or("");
    let kind = call.input_text("subagent_type").unwrap_or("general");
    let name = call
        .input_text("description")
        .or_else(|| call.input_text("prompt"))
        .unwrap_or("a task");
    let name = one_line(name, 60);
    let launched = call.answer_value("isAsync").and_then(Value::as_bool) == Some(true)
        || matches!(
            status,
            "async_launched" | "teammate_spawned" | "launched" | "remote_launched"
        );
    let result = if launched {
        String::new()
    } else {
        find_content_text(call)
    };
    let title = if status == "teammate_spawned" {
        let mate = call
            .answer_text("name")
            .or_else(|| call.input_text("name"))
            .unwrap_or("a teammate");
        format!("Launched teammate {}: {name}", one_line(mate, 30))
    } else if launched {
        format!("Launched {kind} agent: {name}")
    } else if result.trim().is_empty() {
        format!("Ran {kind} agent: {name}")
    } else {
        format!(
            "Agent on \"{name}\": {}",
            one_line(find_first_sentence(&result), 100)
        )
    };
    let mut reading = LookupReading::new(&title).with_concept("agent");
    reading.add_fact(&format!("agent: {kind}"));
    if let Some(prompt) = call.input_text("prompt") {
        reading.add_fact(&format!("asked: {}", find_first_sentence(prompt)));
    }
    if launched {
        reading.add_fact("no result yet");
        return reading;
    }
    if let Some(tools) = call
        .answer_value("totalToolUseCount")
        .and_then(Value::as_u64)
        .filter(|n| *n > 0)
    {
        reading.add_fact(&format_count(
            usize::try_from(tools).unwrap_or(usize::MAX),
            "tool call",
        ));
    }
    reading.with_text(&result)
}

fn find_content_text(call: &LookupCall<'_>) -> String {
    let found = call
        .answer_value("content")
        .or_else(|| call.answer_value("result"));
    match found {
        Some(inner) => super::text_of(inner),
        None => call
            .response
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned(),
    }
}

pub(super) fn parse_skill_call(call: &LookupCall<'_>) -> LookupReading {
    let name = call
        .input_text("skill")
        .or_else(|| call.input_text("command"))
        .or_else(|| call.answer_text("commandName"))
        .unwrap_or("a skill");
    let given = call
        .input_text("args")
        .map(|a| format!(": {}", one_line(a, 60)));
    LookupReading::new(&format!(
        "Used skill {}{}",
        one_line(name, 50),
        given.unwrap_or_default()
    ))
    .with_concept("skill")
    .with_text(&call.result_text())
}

pub(super) fn parse_task_call(call: &LookupCall<'_>) -> LookupReading {
    let subject = call
        .answer_value("task")
        .and_then(|t| t.get("subject"))
        .and_then(Value::as_str)
        .or_else(|| call.input_text("subject"));
    let id = call
        .input_text("taskId")
        .or_else(|| call.answer_text("taskId"))
        .unwrap_or("?");
    let change = call.answer_value("statusChange");
    let part = |key: &str| change.and_then(|c| c.get(key)).and_then(Value::as_str);
    let title = match (call.tool, subject, part("from"), part("to")) {
        ("TaskCreate", Some(subject), ..) => format!("Planned task: {subject}"),
        ("TaskCreate", None, ..) => "Planned a task".to_owned(),
        ("TaskStop", ..) => format!("Stopped task {id}"),
        (_, _, Some(from), Some(to)) => format!("Task {id}: {from} -> {to}"),
        (_, Some(subject), ..) => format!("Renamed task {id}: {subject}"),
        _ => match call.input_text("status") {
            Some(status) => format!("Task {id}: {status}"),
            None => format!("Updated task {id}"),
        },
    };
    let mut reading = LookupReading::new(&title).with_concept("task");
    if let Some(description) = call.input_text("description") {
        reading.add_fact(&format!("description: {description}"));
    }
    reading
}

pub(super) fn parse_worktree_call(call: &LookupCall<'_>) -> LookupReading {
    let path = call
        .answer_text("worktreePath")
        .map(|p| call.relative_path(p))
        .unwrap_or_default();
    let branch = call.answer_text("worktreeBranch");
    let name = branch
        .or_else(|| call.input_text("name"))
        .map_or_else(|| short_path(&path), |b| one_line(b, 50));
    let title = match (
        call.tool,
        call.answer_text("action")
            .or_else(|| call.input_text("action")),
    ) {
        ("EnterWorktree", _) => format!("Entered worktree {name}"),
        (_, Some("remove")) => format!("Left and removed worktree {name}"),
        _ => format!("Left worktree {name}"),
    };
    let mut reading = LookupReading::new(&title).with_concept("git");
    if !path.is_empty() {
        reading.add_fact(&format!("path: {path}"));
    }
    if let Some(branch) = branch {
        reading.add_fact(&format!("branch: {branch}"));
    }
    for (key, what) in [("discardedFiles", "file"), ("discardedCommits", "commit")] {
        if let Some(count) = call
            .answer_value(key)
            .and_then(Value::as_u64)
            .filter(|n| *n > 0)
        {
            reading.add_fact(&format!(
                "discarded {}",
                format_count(usize::try_from(count).unwrap_or(usize::MAX), what)
            ));
        }
    }
    reading
}

pub(super) fn parse_question_call(call: &LookupCall<'_>) -> LookupReading {
    let questions = call.input.get("questions").and_then(Value::as_array);
    let first = questions
        .and_then(|q| q.first())
        .and_then(|q| q.get("question"))
        .and_then(Value::as_str)
        .or_else(|| call.input_text("question"))
        .unwrap_or("a question");
    let answers = call.answer_value("answers").and_then(Value::as_object);
    let said = answers
        .and_then(|a| a.values().next())
        .and_then(Value::as_str);
    let title = match said {
        Some(said) => format!("Asked \"{}\": {}", one_line(first, 60), one_line(said, 40)),
        None => format!("Asked \"{}\"", one_line(first, 90)),
    };
    let mut reading = LookupReading::new(&title).with_concept("decision");
    for (question, answer) in answers.into_iter().flatten() {
        if let Some(answer) = answer.as_str() {
            reading.add_fact(&format!("{}: {answer}", one_line(question, 90)));
        }
    }
    reading
}

pub(super) fn parse_plan_call(call: &LookupCall<'_>) -> LookupReading {
    let plan = call
        .input_text("plan")
        .or_else(|| call.answer_text("plan"))
        .unwrap_or("");
    let title = match (call.tool, find_first_sentence(plan)) {
        ("EnterPlanMode", _) => "Began to plan".to_owned(),
        (_, "") => "Presented a plan".to_owned(),
        (_, first) => format!("Presented a plan: {}", one_line(first, 90)),
    };
    LookupReading::new(&title)
        .with_concept("plan")
        .with_text(plan)
}
