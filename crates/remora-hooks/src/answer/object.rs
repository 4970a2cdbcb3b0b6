//! What a JSON object on a handler's stdout says, as far as the event honours it.

use remora_core::{Answers, ElicitationResponse, EventDef, Permission, StopEffect};
use serde_json::{Map, Value};

use super::{
    Answer, ContextText, DEFAULT_BLOCK_REASON, DEFAULT_DENIAL_MESSAGE, RequestDecision, StopRequest,
};

/// Takes from a checked object what the event honours.
pub(super) fn answer_from_object(def: &EventDef, object: &Map<String, Value>) -> Answer {
    let empty = Map::new();
    let specific = object
        .get("hookSpecificOutput")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let own = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut answer = Answer {
        terminal_sequence: own("terminalSequence"),
        ..Answer::default()
    };
    // `"continue": true` is the default and says nothing.
    if def.stop != StopEffect::Ignored && object.get("continue") == Some(&Value::Bool(false)) {
        answer.stop = Some(StopRequest(own("stopReason")));
    }
    if def.answers.contains(Answers::MESSAGE) {
        answer.message = own("systemMessage").filter(|t| !t.is_empty());
    }
    read_decisions(def, object, specific, &mut answer);
    read_details(def, specific, &mut answer);
    answer
}

fn read_decisions(
    def: &EventDef,
    object: &Map<String, Value>,
    specific: &Map<String, Value>,
    answer: &mut Answer,
) {
    let can = |set: Answers| def.answers.contains(set);
    let text = |map: &Map<String, Value>, key: &str| {
        map.get(key)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
    };
    let reason = text(object, "reason");
    let decision = object.get("decision").and_then(Value::as_str);
    if can(Answers::PERMISSION) {
        let named = specific
            .get("permissionDecision")
            .and_then(Value::as_str)
            .and_then(Permission::parse);
        let old = match decision {
            Some("block") => Some(Permission::Deny),
            Some("approve") if can(Answers::APPROVE) => Some(Permission::Allow),
            _ => None,
        };
        // The stricter of the two forms wins, with its own reason; of two equal ones the
        // newer form. `None` is below every decision.
        let (winner, why) = if named >= old {
            (named, text(specific, "permissionDecisionReason"))
        } else {
            (old, reason)
        };
        answer.permission = winner.map(|p| match p {
            // A denial always needs a text, because the model gets it as the tool's result.
            Permission::Deny => (p, Some(why.unwrap_or_else(|| DEFAULT_BLOCK_REASON.into()))),
            _ => (p, why),
        });
    } else if can(Answers::BLOCK) && decision == Some("block") {
        answer.block = Some(reason.unwrap_or_else(|| DEFAULT_BLOCK_REASON.into()));
    }
    if can(Answers::REQUEST) {
        answer.request = specific
            .get("decision")
            .and_then(Value::as_object)
            .map(read_request_decision);
    }
}

fn read_details(def: &EventDef, specific: &Map<String, Value>, answer: &mut Answer) {
    let can = |set: Answers| def.answers.contains(set);
    let text = |key: &str| specific.get(key).and_then(Value::as_str).map(str::to_owned);
    let flag = |key: &str| specific.get(key).and_then(Value::as_bool);
    if can(Answers::CONTEXT) {
        let text = text("additionalContext").filter(|t| !t.is_empty());
        answer.context = text.map(|text| ContextText { text, plain: false });
    }
    if can(Answers::INPUT) {
        answer.updated_input = specific
            .get("updatedInput")
            .and_then(Value::as_object)
            .cloned();
    }
    if can(Answers::OUTPUT) {
        // Any type is kept: whether it has the tool's shape is decided when it is merged.
        answer.updated_output = specific.get("updatedToolOutput").cloned();
        answer.updated_mcp_output = specific.get("updatedMCPToolOutput").cloned();
        answer.classifier_context = text("classifierContext");
    }
    if can(Answers::TITLE) {
        answer.session_title = text("sessionTitle");
    }
    if can(Answers::SUPPRESS) {
        answer.suppress_original_prompt = flag("suppressOriginalPrompt");
    }
    if can(Answers::OPENING) {
        answer.initial_user_message = text("initialUserMessage");
        answer.reload_skills = flag("reloadSkills");
    }
    if can(Answers::WATCH) {
        let list = specific.get("watchPaths").and_then(Value::as_array);
        // An empty list is an answer: it clears what was watched.
        answer.watch_paths = list.map(|l| {
            l.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        });
    }
    if can(Answers::RETRY) {
        answer.retry = flag("retry");
    }
    if can(Answers::DISPLAY) {
        answer.display_content = text("displayContent");
    }
    if can(Answers::ELICIT) {
        let content = specific.get("content").cloned();
        answer.elicitation = text("action").map(|action| ElicitationResponse { action, content });
    }
    if can(Answers::WORKTREE) {
        answer.worktree_path = text("worktreePath");
    }
}

fn read_request_decision(decision: &Map<String, Value>) -> RequestDecision {
    if decision.get("behavior").is_some_and(|b| b == "allow") {
        RequestDecision::Allow {
            updated_input: decision
                .get("updatedInput")
                .and_then(Value::as_object)
                .cloned(),
            updated_permissions: decision.get("updatedPermissions").cloned(),
        }
    } else {
        let message = decision
            .get("message")
            .and_then(Value::as_str)
            .filter(|m| !m.is_empty());
        RequestDecision::Deny {
            message: message.unwrap_or(DEFAULT_DENIAL_MESSAGE).to_owned(),
            interrupt: decision
                .get("interrupt")
                .and_then(Value::as_bool)
                .unwrap_or(false),
        }
    }
}
