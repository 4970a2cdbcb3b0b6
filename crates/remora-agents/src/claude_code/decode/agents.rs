//! Subagents, skills, tasks, worktrees, questions and plans.

use remora_core::tool_call::{
    OutputDetail, SubagentCall, SubagentOutput, TaskAction, TaskCall, ToolCall, WorktreeCall,
};
use serde_json::Value;

use super::raw_call::RawCall;
use super::text::text_of;

/// What the answer to a call says whose subagent works on by itself.
const LAUNCHED_STATUSES: &[&str] = &[
    "async_launched",
    TEAMMATE_STATUS,
    "launched",
    "remote_launched",
];
/// The same of one that is a member of a team.
const TEAMMATE_STATUS: &str = "teammate_spawned";

pub(super) fn decode_subagent_call(raw: &RawCall<'_>) -> SubagentCall {
    SubagentCall {
        kind: raw.owned_input("subagent_type"),
        description: raw.owned_input("description"),
        task: raw.owned_input("prompt"),
        teammate: raw.owned_input("name"),
    }
}

pub(super) fn decode_subagent_output(raw: &RawCall<'_>) -> OutputDetail {
    let status = raw.answer_text("status").unwrap_or("");
    let is_async = raw.answer_value("isAsync") == Some(&Value::Bool(true));
    OutputDetail::Subagent(SubagentOutput {
        is_launched: is_async || LAUNCHED_STATUSES.contains(&status),
        is_teammate: status == TEAMMATE_STATUS,
        teammate: raw.owned_answer("name"),
        tool_calls: raw.answer_number("totalToolUseCount"),
        id: raw.owned_answer("agentId"),
    })
}

/// What a subagent said at its end.
pub(super) fn find_result_text(raw: &RawCall<'_>) -> String {
    let found = raw
        .answer_value("content")
        .or_else(|| raw.answer_value("result"));
    match found {
        Some(inner) => text_of(inner),
        None => raw
            .response
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned(),
    }
}

pub(super) fn decode_skill(raw: &RawCall<'_>) -> ToolCall {
    ToolCall::Skill {
        name: raw
            .owned_input("skill")
            // The older tool `SlashCommand` has it in this field.
            .or_else(|| raw.owned_input("command"))
            .or_else(|| raw.owned_answer("commandName")),
        arguments: raw.owned_input("args"),
    }
}

pub(super) fn decode_task(raw: &RawCall<'_>) -> TaskCall {
    TaskCall {
        action: match raw.tool {
            "TaskCreate" => TaskAction::Created,
            "TaskStop" => TaskAction::Stopped,
            _ => TaskAction::Updated,
        },
        id: raw.owned_input("taskId"),
        subject: raw.owned_input("subject"),
        status: raw.owned_input("status"),
        description: raw.owned_input("description"),
    }
}

pub(super) fn decode_task_output(raw: &RawCall<'_>) -> OutputDetail {
    let part = |of: &str, key: &str| {
        let text = raw.answer_value(of)?.get(key)?.as_str()?;
        Some(text.to_owned())
    };
    OutputDetail::Task {
        id: raw.owned_answer("taskId"),
        subject: part("task", "subject"),
        from: part("statusChange", "from"),
        to: part("statusChange", "to"),
    }
}

pub(super) fn decode_worktree(raw: &RawCall<'_>) -> WorktreeCall {
    WorktreeCall {
        enters: raw.tool == "EnterWorktree",
        name: raw.owned_input("name"),
        removes: raw.input_text("action").is_some_and(is_removal),
    }
}

pub(super) fn decode_worktree_output(raw: &RawCall<'_>) -> OutputDetail {
    OutputDetail::Worktree {
        path: raw.owned_answer("worktreePath"),
        branch: raw.owned_answer("worktreeBranch"),
        removed: raw.answer_text("action").map(is_removal),
        discarded_files: raw.answer_number("discardedFiles").unwrap_or(0),
        discarded_commits: raw.answer_number("discardedCommits").unwrap_or(0),
    }
}

fn is_removal(action: &str) -> bool {
    action == "remove"
}

pub(super) fn decode_question(raw: &RawCall<'_>) -> ToolCall {
    let first = raw.input.get("questions").and_then(|list| {
        let question = list.as_array()?.first()?.get("question")?;
        question.as_str().map(str::to_owned)
    });
    ToolCall::AskUser {
        question: first.or_else(|| raw.owned_input("question")),
    }
}

pub(super) fn decode_answers(raw: &RawCall<'_>) -> OutputDetail {
    let answers = raw.answer_value("answers").and_then(Value::as_object);
    let said = answers
        .into_iter()
        .flatten()
        .filter_map(|(question, answer)| {
            let answer = answer.as_str()?;
            Some((question.clone(), answer.to_owned()))
        });
    OutputDetail::Answers(said.collect())
}

pub(super) fn decode_plan(raw: &RawCall<'_>) -> ToolCall {
    ToolCall::Plan {
        begins: raw.tool == "EnterPlanMode",
        text: raw.owned_input("plan").or_else(|| raw.owned_answer("plan")),
    }
}
