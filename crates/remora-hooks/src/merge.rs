//! Folds the answers of all handlers into one outcome. Pure: same answers in
//! the same order, same outcome, whatever the timing.

use remora_core::{
    Answers, ElicitationResponse, Event, EventDef, EventName, Outcome, Permission, StopEffect,
};
use serde_json::{Map, Value};

use crate::answer::{Answer, RequestDecision};
use crate::limits;

/// Joins the answers, which come in enumeration order. Where the client lets the
/// first or last handler to finish win, here the first or last in order wins
/// (`docs/design/0002`).
pub(crate) fn merge_answers(event: &Event, answers: &[Answer]) -> Outcome {
    let def = event.name.def();
    let mut outcome = Outcome::default();
    merge_texts(&mut outcome, answers);
    // The client sets a title on startup, resume and fork only; clearing and compacting
    // keep the title of the conversation.
    if matches!(event.str_field("source"), Some("clear" | "compact")) {
        outcome.session_title = None;
    }
    if def.answers.contains(Answers::REQUEST) {
        merge_requests(&mut outcome, answers);
    } else if def.answers.contains(Answers::PERMISSION) {
        merge_permissions(&mut outcome, def, answers);
    } else {
        merge_blocks(&mut outcome, event, answers);
    }
    // After the decisions, because a stop voids some of them.
    merge_stops(&mut outcome, def, answers);
    if def.answers.contains(Answers::OUTPUT) {
        outcome.updated_output = merge_output(event, answers);
    }
    // A call that does not happen has no input.
    if outcome.blocked {
        outcome.updated_input = None;
    }
    // In these cases the user sees the reason of the block or stop alone.
    let prompt = is_prompt(def.name) && (outcome.blocked || !outcome.go_on);
    if prompt || (def.name == EventName::PostToolUse && !outcome.go_on) {
        outcome.messages.clear();
    }
    outcome
}

fn last_value<T>(answers: &[Answer], field: impl Fn(&Answer) -> Option<T>) -> Option<T> {
    answers.iter().rev().find_map(field)
}

// `None` and "no" differ in the report, so the field stays absent if no handler set it.
fn any_true(answers: &[Answer], field: impl Fn(&Answer) -> Option<bool>) -> Option<bool> {
    answers.iter().filter_map(field).reduce(|a, b| a || b)
}

fn is_prompt(event: EventName) -> bool {
    matches!(
        event,
        EventName::UserPromptSubmit | EventName::UserPromptExpansion
    )
}

fn rewrites_output(answer: &Answer) -> bool {
    answer.updated_output.is_some() || answer.updated_mcp_output.is_some()
}

fn join_texts<'a>(texts: impl Iterator<Item = &'a str>, with: &str) -> Option<String> {
    let list: Vec<&str> = texts.collect();
    (!list.is_empty()).then(|| list.join(with))
}

/// Everything that is not a decision.
fn merge_texts(outcome: &mut Outcome, answers: &[Answer]) {
    outcome.context = answers
        .iter()
        .filter_map(|a| a.context.as_ref().map(|c| c.text.clone()))
        .collect();
    outcome.messages = answers.iter().filter_map(|a| a.message.clone()).collect();
    outcome.initial_user_message = last_value(answers, |a| a.initial_user_message.clone());
    outcome.session_title = last_value(answers, |a| a.session_title.clone());
    outcome.suppress_original_prompt = any_true(answers, |a| a.suppress_original_prompt);
    outcome.compact_instructions = join_texts(
        answers
            .iter()
            .filter_map(|a| a.compact_instructions.as_deref()),
        "\n\n",
    );
    outcome.display_content = last_value(answers, |a| a.display_content.clone());
    outcome.terminal_sequence = join_texts(
        answers
            .iter()
            .filter_map(|a| a.terminal_sequence.as_deref())
            .filter(|t| limits::terminal_sequence_is_safe(t)),
        "",
    );
    // A note describes the output that its handler wrote; if that rewrite loses, the note
    // would describe something that no reader sees.
    let winner = answers.iter().rposition(rewrites_output);
    let stays = |at: usize| !rewrites_output(&answers[at]) || Some(at) == winner;
    let notes = (0..answers.len())
        .filter(|at| stays(*at))
        .filter_map(|at| answers[at].classifier_context.as_deref());
    outcome.classifier_context = join_texts(notes, "\n")
        .map(|n| limits::truncate_utf16(&n, limits::MAX_CLASSIFIER_UTF16_UNITS).to_owned());
    outcome.retry = any_true(answers, |a| a.retry);
    outcome.reload_skills = any_true(answers, |a| a.reload_skills);
    outcome.worktree_path = last_value(answers, |a| a.worktree_path.clone());
    for path in answers
        .iter()
        .filter_map(|a| a.watch_paths.as_ref())
        .flatten()
    {
        if !outcome.watch_paths.contains(path) {
            outcome.watch_paths.push(path.clone());
        }
    }
    // Of two handlers that answer in the user's place, the one that refuses is safer.
    let said = || answers.iter().filter_map(|a| a.elicitation.as_ref());
    outcome.elicitation = said()
        .find(|e| e.action != "accept")
        .or_else(|| said().next_back())
        .cloned();
}

/// Before a call: deny over defer over ask over allow.
fn merge_permissions(outcome: &mut Outcome, def: &EventDef, answers: &[Answer]) {
    let decision = |a: &Answer| match &a.block {
        Some(_) => Some(Permission::Deny),
        None => a.permission.as_ref().map(|(p, _)| *p),
    };
    // `Permission` is ordered by strictness, so the order of handlers cannot lose a denial.
    let winner = answers.iter().filter_map(decision).max();
    // Of several judgements the client shows the reason of the last to finish.
    let shown = answers
        .iter()
        .rposition(|a| a.is_judgement && decision(a) == winner);
    let reasons = answers
        .iter()
        .enumerate()
        .filter(|(_, a)| decision(a) == winner && winner.is_some())
        .filter(|(at, a)| !a.is_judgement || Some(*at) == shown)
        .filter_map(|(_, a)| {
            a.block.as_deref().or_else(|| {
                a.permission
                    .as_ref()
                    .and_then(|(_, reason)| reason.as_deref())
            })
        });
    outcome.reason = join_texts(reasons, "\n");
    outcome.permission = winner;
    outcome.blocked = winner == Some(Permission::Deny);
    if def.answers.contains(Answers::INPUT) {
        outcome.updated_input = last_value(answers, |a| a.updated_input.clone());
    }
}

/// A request: the first decision counts, even an allow before a later deny. The
/// client takes the first to finish and kills the others.
fn merge_requests(outcome: &mut Outcome, answers: &[Answer]) {
    match answers.iter().find_map(|a| a.request.as_ref()) {
        None => {}
        Some(RequestDecision::Allow {
            updated_input,
            updated_permissions,
        }) => {
            outcome.permission = Some(Permission::Allow);
            outcome.updated_input.clone_from(updated_input);
            outcome.updated_permissions.clone_from(updated_permissions);
        }
        Some(RequestDecision::Deny { message, interrupt }) => {
            outcome.permission = Some(Permission::Deny);
            outcome.blocked = true;
            outcome.reason = Some(message.clone());
            outcome.interrupt = interrupt.then_some(true);
        }
    }
}

fn merge_blocks(outcome: &mut Outcome, event: &Event, answers: &[Answer]) {
    let def = event.name.def();
    outcome.reason = join_texts(answers.iter().filter_map(|a| a.block.as_deref()), "\n");
    outcome.blocked = outcome.reason.is_some();
    // Hooks may veto a change of settings, except one of the organisation.
    if def.name == EventName::ConfigChange && event.str_field("source") == Some("policy_settings") {
        outcome.blocked = false;
    }
    // A blocked question still needs a reply to the server: it is declined.
    if outcome.blocked && def.answers.contains(Answers::ELICIT) {
        outcome.elicitation = Some(ElicitationResponse {
            action: "decline".into(),
            content: None,
        });
    }
    // The worktree exists, so the host must use it even if another handler failed.
    if def.name == EventName::WorktreeCreate && outcome.worktree_path.is_some() {
        outcome.blocked = false;
    }
}

fn merge_stops(outcome: &mut Outcome, def: &EventDef, answers: &[Answer]) {
    let first = answers.iter().position(|a| a.stop.is_some());
    match (def.stop, first) {
        (StopEffect::Ignored, _) | (_, None) => {}
        (StopEffect::EndsAgent, Some(at)) => {
            // The agent has ended; a reason or a context would have no reader.
            outcome.blocked = false;
            outcome.reason = None;
            outcome.context.clear();
            outcome.stop_reason = answers[at].stop.as_ref().and_then(|s| s.0.clone());
        }
        (StopEffect::EndsTurn, Some(at)) => {
            // A prompt is either blocked or stopped: the first to say so decides.
            let prompt = is_prompt(def.name);
            if prompt && answers[..at].iter().any(|a| a.block.is_some()) {
                return;
            }
            outcome.go_on = false;
            outcome.stop_reason = answers.iter().find_map(|a| a.stop.as_ref()?.0.clone());
            // On Stop a block means "go on", the opposite: the client lets `continue: false` win.
            if prompt || def.name == EventName::Stop {
                outcome.blocked = false;
                outcome.reason = None;
            }
            // A stopped prompt is answered with the reason alone.
            if prompt {
                outcome.reason.clone_from(&outcome.stop_reason);
            }
        }
    }
    // The calls of the batch are done; all a block can stop is the next model request.
    if def.name == EventName::PostToolBatch && outcome.blocked {
        outcome.go_on = false;
    }
}

/// The rewrite of the last handler that has one. If that one does not have the
/// tool's shape, the tool's own output stays and an earlier rewrite is lost, as
/// in the client.
fn merge_output(event: &Event, answers: &[Answer]) -> Option<Value> {
    let from_server = event
        .str_field("tool_name")
        .is_some_and(|t| t.starts_with("mcp__"));
    let rewritten = last_value(answers, |a| {
        a.updated_output
            .clone()
            .or_else(|| a.updated_mcp_output.clone().filter(|_| from_server))
    })?;
    // The shape of a server's output is not known, and the client does not check it.
    if from_server {
        return Some(rewritten);
    }
    let original = event.fields.get("tool_response").and_then(Value::as_object);
    has_shape(event.str_field("tool_name")?, original, &rewritten).then_some(rewritten)
}

/// Built-in tools: the keys that make up the output must be there with the
/// types they had; more keys do no harm.
fn has_shape(tool: &str, original: Option<&Map<String, Value>>, rewritten: &Value) -> bool {
    let (Some(original), Some(rewritten)) = (original, rewritten.as_object()) else {
        return false;
    };
    let optional: &[&str] = match tool {
        // The client accepts a rewrite that lacks these.
        "Bash" => &[
            "noOutputExpected",
            "isImage",
            "returnCodeInterpretation",
            "backgroundTaskId",
        ],
        _ => &["userModified"],
    };
    let kind = |v: &Value| std::mem::discriminant(v);
    original
        .iter()
        .filter(|(k, _)| !optional.contains(&k.as_str()))
        .all(|(k, v)| {
            rewritten
                .get(k)
                // A null says nothing about the type a field has otherwise.
                .is_some_and(|g| v.is_null() || g.is_null() || kind(g) == kind(v))
        })
}

#[cfg(test)]
mod tests;
