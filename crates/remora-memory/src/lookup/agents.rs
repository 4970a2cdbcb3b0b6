//! Other agents, skills, tasks and worktrees. A launch is never reported as a
//! result.

use remora_core::tool_call::{
    OutputDetail, SubagentCall, SubagentOutput, TaskAction, TaskCall, ToolOutput, WorktreeCall,
};

use super::LookupReading;
use super::values::{find_first_sentence, format_count, relative_path};
use crate::edit::{one_line, short_path};

pub(super) fn describe_subagent(call: &SubagentCall, output: &ToolOutput) -> LookupReading {
    let nothing = SubagentOutput::default();
    let became = match &output.detail {
        OutputDetail::Subagent(became) => became,
        _ => &nothing,
    };
    let kind = call.kind.as_deref().unwrap_or("general");
    let name = call.description.as_deref().or(call.task.as_deref());
    let name = one_line(name.unwrap_or("a task"), 60);
    let launched = became.is_launched;
    // What a launch answers is a receipt of the client, not a finding.
    let result = if launched { "" } else { output.text.as_str() };
    let title = if became.is_teammate {
        let mate = became.teammate.as_deref().or(call.teammate.as_deref());
        let mate = mate.unwrap_or("a teammate");
        format!("Launched teammate {}: {name}", one_line(mate, 30))
    } else if launched {
        format!("Launched {kind} agent: {name}")
    } else if result.trim().is_empty() {
        format!("Ran {kind} agent: {name}")
    } else {
        format!(
            "Agent on \"{name}\": {}",
            one_line(find_first_sentence(result), 100)
        )
    };
    let mut reading = LookupReading::new(&title).with_concept("agent");
    reading.add_fact(&format!("agent: {kind}"));
    if let Some(task) = &call.task {
        reading.add_fact(&format!("asked: {}", find_first_sentence(task)));
    }
    if launched {
        reading.add_fact("no result yet");
        return reading;
    }
    if let Some(calls) = became.tool_calls.filter(|n| *n > 0) {
        let calls = usize::try_from(calls).unwrap_or(usize::MAX);
        reading.add_fact(&format_count(calls, "tool call"));
    }
    reading.with_text(result)
}

pub(super) fn describe_skill(
    name: Option<&str>,
    arguments: Option<&str>,
    output: &ToolOutput,
) -> LookupReading {
    let name = one_line(name.unwrap_or("a skill"), 50);
    let shown = arguments.map(|shown| format!(": {}", one_line(shown, 60)));
    LookupReading::new(&format!("Used skill {name}{}", shown.unwrap_or_default()))
        .with_concept("skill")
        .with_text(&output.text)
}

pub(super) fn describe_task(call: &TaskCall, output: &ToolOutput) -> LookupReading {
    let (told_id, told_subject, from, to) = match &output.detail {
        OutputDetail::Task {
            id,
            subject,
            from,
            to,
        } => (
            id.as_deref(),
            subject.as_deref(),
            from.as_deref(),
            to.as_deref(),
        ),
        _ => (None, None, None, None),
    };
    let subject = told_subject.or(call.subject.as_deref());
    let id = call.id.as_deref().or(told_id).unwrap_or("?");
    let title = match (call.action, subject, from, to) {
        (TaskAction::Created, Some(subject), ..) => format!("Planned task: {subject}"),
        (TaskAction::Created, None, ..) => "Planned a task".to_owned(),
        (TaskAction::Stopped, ..) => format!("Stopped task {id}"),
        (TaskAction::Updated, _, Some(from), Some(to)) => format!("Task {id}: {from} -> {to}"),
        (TaskAction::Updated, Some(subject), ..) => format!("Renamed task {id}: {subject}"),
        (TaskAction::Updated, ..) => match &call.status {
            Some(status) => format!("Task {id}: {status}"),
            None => format!("Updated task {id}"),
        },
    };
    let mut reading = LookupReading::new(&title).with_concept("task");
    if let Some(description) = &call.description {
        reading.add_fact(&format!("description: {description}"));
    }
    reading
}

pub(super) fn describe_worktree(
    call: &WorktreeCall,
    output: &ToolOutput,
    root: &str,
) -> LookupReading {
    let (path, branch, removed, discarded) = match &output.detail {
        OutputDetail::Worktree {
            path,
            branch,
            removed,
            discarded_files,
            discarded_commits,
        } => (
            path.as_deref(),
            branch.as_deref(),
            *removed,
            [(*discarded_files, "file"), (*discarded_commits, "commit")],
        ),
        _ => (None, None, None, [(0, "file"), (0, "commit")]),
    };
    let path = path.map(|p| relative_path(p, root)).unwrap_or_default();
    let name = branch
        .or(call.name.as_deref())
        .map_or_else(|| short_path(&path), |b| one_line(b, 50));
    let title = if call.enters {
        format!("Entered worktree {name}")
    } else if removed.unwrap_or(call.removes) {
        // The answer decides: a worktree with changes may stay although its
        // removal was requested.
        format!("Left and removed worktree {name}")
    } else {
        format!("Left worktree {name}")
    };
    let mut reading = LookupReading::new(&title).with_concept("git");
    if !path.is_empty() {
        reading.add_fact(&format!("path: {path}"));
    }
    if let Some(branch) = branch {
        reading.add_fact(&format!("branch: {branch}"));
    }
    for (count, what) in discarded.into_iter().filter(|(count, _)| *count > 0) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        reading.add_fact(&format!("discarded {}", format_count(count, what)));
    }
    reading
}

pub(super) fn describe_question(question: Option<&str>, output: &ToolOutput) -> LookupReading {
    let first = question.unwrap_or("a question");
    let answers = match &output.detail {
        OutputDetail::Answers(answers) => answers.as_slice(),
        _ => &[],
    };
    let title = match answers.first() {
        Some((_, said)) => format!("Asked \"{}\": {}", one_line(first, 60), one_line(said, 40)),
        None => format!("Asked \"{}\"", one_line(first, 90)),
    };
    let mut reading = LookupReading::new(&title).with_concept("decision");
    for (question, answer) in answers {
        reading.add_fact(&format!("{}: {answer}", one_line(question, 90)));
    }
    reading
}

pub(super) fn describe_plan(begins: bool, plan: Option<&str>) -> LookupReading {
    let plan = plan.unwrap_or("");
    let title = match find_first_sentence(plan) {
        _ if begins => "Began to plan".to_owned(),
        "" => "Presented a plan".to_owned(),
        first => format!("Presented a plan: {}", one_line(first, 90)),
    };
    LookupReading::new(&title)
        .with_concept("plan")
        .with_text(plan)
}
