//! Events as the handlers saw them: which runs belong together, and what the recording calls
//! them.

use serde_json::Value;

use super::runs::{RECORDER_ID, StubRun};

/// One event, and the handlers that it ran.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) at: u128,
    pub(super) event: Value,
    stdin: String,
    /// Indices of runs, without the recorder's.
    pub(super) runs: Vec<usize>,
    /// When the recorder had ended, if it was on the event.
    pub(super) recorded: Option<u128>,
}

impl Dispatch {
    /// Whether it was a call of an agent handler's verifier.
    pub(super) fn is_of_verifier(&self) -> bool {
        let agent = self.event["agent_id"].as_str();
        agent.is_some_and(|id| id.starts_with("hook-agent-"))
    }

    pub(super) fn name(&self) -> &str {
        self.event["hook_event_name"].as_str().unwrap_or_default()
    }
}

/// All events in the order in which they began.
pub(super) fn group_dispatches(runs: &[StubRun]) -> Vec<Dispatch> {
    let mut dispatches: Vec<Dispatch> = runs
        .iter()
        .filter(|run| run.id == RECORDER_ID)
        .map(|run| Dispatch {
            at: run.began,
            event: run.event(),
            stdin: run.stdin.clone(),
            runs: Vec::new(),
            recorded: Some(run.ended.unwrap_or(run.began)),
        })
        .collect();
    for (index, run) in runs.iter().enumerate() {
        if run.id == RECORDER_ID {
            continue;
        }
        // All handlers of an event read the same; of equal events the nearest in time is meant.
        let same = dispatches
            .iter_mut()
            .filter(|dispatch| dispatch.stdin == run.stdin)
            .min_by_key(|dispatch| dispatch.at.abs_diff(run.began));
        if let Some(dispatch) = same {
            dispatch.at = dispatch.at.min(run.began);
            dispatch.runs.push(index);
        } else {
            dispatches.push(Dispatch {
                at: run.began,
                event: run.event(),
                stdin: run.stdin.clone(),
                runs: vec![index],
                recorded: None,
            });
        }
    }
    dispatches.sort_by_key(|dispatch| dispatch.at);
    dispatches
}

/// How the recording calls it: the event, its subject, and what else tells it apart.
pub(super) fn title_event(event: &Value) -> String {
    let text = |key: &str| event[key].as_str().filter(|text| !text.is_empty());
    let mut title = text("hook_event_name").unwrap_or_default().to_owned();
    let about_agent = title.starts_with("Subagent");
    let keys = ["tool_name", "source", "trigger", "reason", "agent_type"];
    if let Some(subject) = keys.iter().find_map(|key| text(key)) {
        title.push(':');
        title.push_str(subject);
    }
    if !event["stop_hook_active"].is_null() {
        title = format!("{title} active={}", event["stop_hook_active"]);
    }
    if !event["agent_id"].is_null() && !about_agent {
        title.push_str(" in-agent");
    }
    title
}
