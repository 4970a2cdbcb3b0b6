//! From the merged answers to the final word: permission rules, modes, and
//! what the host itself would refuse.

use std::path::{Path, PathBuf};

use remora_core::{Event, EventName, Outcome, Permission};
use serde_json::{Map, Value};

use crate::Engine;
use crate::answer::HandlerStatus;
use crate::host::{Host, Interactivity};
use crate::permissions::{PermissionDecision, Permissions};
use crate::plan::{Plan, PlanVerdict};
use crate::report::HandlerReport;

/// Completes an outcome.
pub(crate) fn complete_outcome(
    engine: &Engine,
    event: &Event,
    host: &Host<'_>,
    plan: &Plan<'_>,
    outcome: &mut Outcome,
    warnings: &mut Vec<String>,
) {
    match event.name {
        EventName::PreToolUse | EventName::PermissionRequest => {
            decide_permission(engine, event, host, plan, outcome, warnings);
        }
        EventName::WorktreeCreate => resolve_worktree(event, plan, outcome),
        // An unattended session cannot ask, so the client refuses the change of model.
        EventName::PreModelSwitch
            if outcome.permission == Some(Permission::Ask)
                && host.attendance == Interactivity::Unattended =>
        {
            outcome.blocked = true;
        }
        _ => {}
    }
}

/// Resolves the path that a handler printed for a new worktree: a relative one
/// against the session's directory. An absolute one with `.` or `..` is refused,
/// and so is one that passes through a link below that directory.
fn resolve_worktree(event: &Event, plan: &Plan<'_>, outcome: &mut Outcome) {
    let Some(printed) = outcome.worktree_path.take() else {
        // Handlers replace the host's own way, so one of them has to deliver.
        if !outcome.blocked && plan.rows.iter().any(|r| r.verdict == PlanVerdict::Runs) {
            outcome.blocked = true;
            outcome.reason = Some("no handler gave the path of the new worktree".into());
        }
        return;
    };
    let cwd = PathBuf::from(event.str_field("cwd").unwrap_or("/"));
    let path = cwd.join(&printed);
    let steps = printed.split('/').any(|part| part == "." || part == "..");
    // A link inside the repository could lead the new checkout anywhere.
    let linked = path
        .ancestors()
        .take_while(|dir| dir.starts_with(&cwd) && **dir != *cwd)
        .any(Path::is_symlink);
    if (steps && printed.starts_with('/')) || linked {
        outcome.blocked = true;
        let problem = if linked {
            "passes through a link"
        } else {
            "holds `.` or `..`"
        };
        outcome.reason = Some(format!(
            "the worktree path {printed} {problem}, so it is refused"
        ));
        return;
    }
    outcome.worktree_path = Some(path.to_string_lossy().into_owned());
}

/// Joins the hooks' decision with the permission rules, on the input as it
/// would be used.
fn decide_permission(
    engine: &Engine,
    event: &Event,
    host: &Host<'_>,
    plan: &Plan<'_>,
    outcome: &mut Outcome,
    warnings: &mut Vec<String>,
) {
    // No hook ran and no rule is asked: the host refused the call before both.
    if let Some(why) = &plan.refused {
        outcome.final_decision = Some(Permission::Deny);
        outcome.final_why = Some(why.clone());
        return;
    }
    // Deferring ends a print-mode run so that a caller can resume it. With a user present
    // the client ignores it.
    if outcome.permission == Some(Permission::Defer)
        && host.attendance == Interactivity::Interactive
    {
        warnings
            .push("a hook deferred the call, which counts only where no user can be asked".into());
        outcome.permission = None;
    }
    let empty = Map::new();
    let own = event
        .fields
        .get("tool_input")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    // A rewrite is checked against deny and ask rules again; otherwise a hook could move a
    // call to a path that a rule forbids.
    let input = outcome.updated_input.as_ref().unwrap_or(own);
    let mode = engine.permission_mode(event);
    let mut rules = engine.permissions.decide_call(
        event.str_field("tool_name").unwrap_or_default(),
        input,
        mode,
        engine.path_bases(event),
    );
    host.trace_step(|| format!("rules: {} ({})", rules.permission.as_str(), rules.why));
    // The request exists because of the ask rule, so a hook's allow answers it, unless the
    // hook changes the input that the question was about.
    let answers = event.name == EventName::PermissionRequest && outcome.updated_input.is_none();
    if answers
        && outcome.permission == Some(Permission::Allow)
        && rules.permission == Permission::Ask
    {
        rules = PermissionDecision {
            permission: Permission::Allow,
            rule: None,
            why: rules.why,
        };
    }
    let (mut decision, mut why) = Permissions::join(outcome.permission, &rules, mode);
    if let Some(missing) = outcome
        .updated_input
        .as_ref()
        .and_then(|new| missing_field(event, new))
    {
        decision = Permission::Deny;
        why = format!(
            "the rewritten input replaces the whole input and lacks `{missing}`, so the tool refuses it"
        );
    }
    // These two tools ask the user something: an allow without the answers, which come as
    // `updatedInput`, allows nothing.
    let question = matches!(
        event.str_field("tool_name"),
        Some("AskUserQuestion" | "ExitPlanMode")
    );
    if question && outcome.permission == Some(Permission::Allow) && outcome.updated_input.is_none()
    {
        decision = rules.permission.max(Permission::Ask);
        why =
            "this tool asks the user; a hook's allow counts only together with updatedInput".into();
    }
    // `continue: false` does not stop the tool. It takes effect once the call has been made
    // or a hook denied it; if the call is asked about, refused by a rule or deferred, the
    // client lets the turn go on.
    let settled = outcome.permission == Some(Permission::Deny) || decision == Permission::Allow;
    if !outcome.go_on && !settled {
        outcome.go_on = true;
    }
    outcome.final_decision = Some(decision);
    outcome.final_why = Some(why);
}

/// A field that a built-in tool cannot do without. `updatedInput` replaces the
/// whole input, so a hook that returns only the changed key loses the others.
fn missing_field(event: &Event, input: &Map<String, Value>) -> Option<&'static str> {
    let needed: &[&str] = match event.str_field("tool_name")? {
        "Bash" => &["command"],
        "Read" => &["file_path"],
        "Write" => &["file_path", "content"],
        "Edit" => &["file_path", "old_string", "new_string"],
        "Glob" | "Grep" => &["pattern"],
        "WebFetch" => &["url", "prompt"],
        _ => &[],
    };
    needed
        .iter()
        .find(|key| !input.contains_key(**key))
        .copied()
}

/// A removal that a handler took over and did not carry out has failed.
pub(crate) fn check_removal(event: &Event, handlers: &[HandlerReport], outcome: &mut Outcome) {
    let left = event
        .str_field("worktree_path")
        .is_some_and(|p| Path::new(p).exists());
    let failed = handlers
        .iter()
        .find(|h| matches!(h.status, HandlerStatus::Error | HandlerStatus::Timeout));
    if let (EventName::WorktreeRemove, true, Some(handler)) = (event.name, left, failed) {
        outcome.blocked = true;
        outcome.reason = Some(
            format!("{}\n{}", handler.why, handler.stderr)
                .trim()
                .to_owned(),
        );
    }
}
