//! What a model gets to read of hooks, in the client's own words: which text,
//! under which label, in which place. Pure.
//!
//! The labels are a part of the behaviour: models are told what they mean.

use remora_core::{Event, EventName, Outcome};
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::config::RewakeTexts;
use crate::run::{WakeUp, display_name};

/// One text for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The subagent whose conversation it belongs to; `None` for the main one.
    pub agent: Option<String>,
    /// Where in the conversation.
    pub place: DeliveryPlace,
    /// The text, with its label.
    pub text: String,
}

/// Where a text belongs in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryPlace {
    /// A text of the system, behind the tool results or the prompt that the next
    /// request carries.
    Aside,
    /// The result of the call itself, as an error; the call is not made.
    ToolResult,
    /// A message of the user, which makes the next request.
    UserMessage,
    /// As `Aside`, but a prompt of its own: `UserPromptSubmit` is fired with the
    /// text that is given here, and its block drops the delivery.
    Notification {
        /// The prompt.
        prompt: String,
    },
}

/// One handler that answered, as deliveries name it.
pub(crate) struct Speaker<'a> {
    /// What stands in "command" places.
    pub(crate) label: String,
    /// A model answered in its place.
    pub(crate) is_model: bool,
    pub(crate) answer: &'a Answer,
}

/// Lists what the model reads because of this event, at once.
pub(crate) fn list_deliveries(
    event: &Event,
    speakers: &[Speaker<'_>],
    outcome: &Outcome,
) -> Vec<Delivery> {
    let mut list = DeliveryList {
        agent: event.str_field("agent_id").map(str::to_owned),
        name: display_name(event),
        items: Vec::new(),
    };
    let contexts = list_contexts(speakers, outcome);
    match event.name {
        EventName::SessionStart | EventName::Setup | EventName::SubagentStart => {
            for (_, text) in contexts.iter().filter(|(plain, _)| *plain) {
                list.add_aside(format!("{} hook success: {text}", list.name));
            }
            // All of them under one label, which does not name the source.
            let joined = join_texts(contexts.iter().filter(|(plain, _)| !plain));
            if let Some(text) = joined {
                list.add_aside(format!("{} hook additional context: {text}", event.name));
            }
        }
        EventName::PreToolUse => {
            if outcome.blocked {
                let reason = join_reasons(speakers, outcome);
                let text = format!("{} hook error: {reason}", list.name);
                list.add(DeliveryPlace::ToolResult, text);
            }
            if let Some(text) = join_texts(contexts.iter()) {
                list.add_aside(format!("{} hook additional context: {text}", list.name));
            }
        }
        EventName::PermissionRequest if outcome.blocked => {
            let text = outcome.reason.clone().unwrap_or_default();
            list.add(DeliveryPlace::ToolResult, text);
        }
        // Of a prompt that does not reach the model nothing does.
        EventName::UserPromptSubmit | EventName::UserPromptExpansion
            if outcome.blocked || !outcome.go_on => {}
        EventName::PostToolUse | EventName::PostToolUseFailure => {
            for (speaker, reason) in list_blocks(speakers, outcome) {
                let label = &speaker.label;
                list.add_aside(format!(
                    "{} hook blocking error from command: \"{label}\": {reason}",
                    list.name
                ));
            }
            list.add_contexts(&contexts);
        }
        EventName::Stop | EventName::SubagentStop => list.add_stop(speakers, outcome, &contexts),
        EventName::TaskCreated | EventName::TaskCompleted if outcome.blocked => {
            let reason = join_reasons(speakers, outcome);
            let text = format!("{} hook feedback:\n{reason}", event.name);
            list.add(DeliveryPlace::ToolResult, text);
        }
        EventName::UserPromptSubmit
        | EventName::UserPromptExpansion
        | EventName::PostToolBatch
        | EventName::PostModelSwitch => list.add_contexts(&contexts),
        _ => {}
    }
    list.items
}

struct DeliveryList {
    agent: Option<String>,
    name: String,
    items: Vec<Delivery>,
}

impl DeliveryList {
    fn add(&mut self, place: DeliveryPlace, text: String) {
        self.items.push(Delivery {
            agent: self.agent.clone(),
            place,
            text,
        });
    }

    fn add_aside(&mut self, text: String) {
        self.add(DeliveryPlace::Aside, text);
    }

    fn add_contexts(&mut self, contexts: &[(bool, &str)]) {
        for (plain, text) in contexts {
            let label = context_label(*plain);
            self.add_aside(format!("{} hook {label}: {text}", self.name));
        }
    }

    fn add_stop(&mut self, speakers: &[Speaker<'_>], outcome: &Outcome, texts: &[(bool, &str)]) {
        if !outcome.go_on {
            return;
        }
        // The subagent's type is no part of these labels.
        let event = self.name.split(':').next().unwrap_or_default().to_owned();
        for (speaker, reason) in list_blocks(speakers, outcome) {
            // Also in a subagent it is called a Stop hook.
            let text = format!("Stop hook feedback:\n{reason}");
            self.add(DeliveryPlace::UserMessage, text);
            let label = &speaker.label;
            if !speaker.answer.reason_is_stderr && !speaker.is_model {
                self.add_aside(format!(
                    "{event} hook blocking error from command: \"{label}\": {reason}"
                ));
            }
        }
        for (_, text) in texts {
            let text = format!("{event} hook additional context: {text}");
            self.add(DeliveryPlace::UserMessage, text);
        }
    }
}

fn context_label(plain: bool) -> &'static str {
    if plain {
        "success"
    } else {
        "additional context"
    }
}

/// The texts of the outcome, which are within their cap, with how each was given.
fn list_contexts<'a>(speakers: &[Speaker<'_>], outcome: &'a Outcome) -> Vec<(bool, &'a str)> {
    let given = speakers.iter().filter_map(|s| s.answer.context.as_ref());
    given
        .zip(&outcome.context)
        .map(|(context, text)| (context.plain, text.as_str()))
        .collect()
}

/// The blocks that count, with the reason as the model reads it.
fn list_blocks<'a>(
    speakers: &'a [Speaker<'_>],
    outcome: &Outcome,
) -> impl Iterator<Item = (&'a Speaker<'a>, String)> {
    let speakers = if outcome.reason.is_some() {
        speakers
    } else {
        &[]
    };
    speakers.iter().filter_map(|speaker| {
        let reason = speaker.answer.block.as_deref()?;
        let text = speaker.label_reason(reason);
        Some((speaker, text))
    })
}

/// The reasons of the denial, one a line.
fn join_reasons(speakers: &[Speaker<'_>], outcome: &Outcome) -> String {
    use remora_core::Permission;
    // Of several judgements one is shown, as in the outcome.
    let shown = (speakers.iter()).rposition(|s| s.answer.is_judgement && s.answer.block.is_some());
    let reasons: Vec<String> = speakers
        .iter()
        .enumerate()
        .filter(|(at, speaker)| !speaker.answer.is_judgement || Some(*at) == shown)
        .filter_map(|(_, speaker)| {
            let denied = match &speaker.answer.permission {
                Some((Permission::Deny, reason)) => reason.as_deref(),
                _ => None,
            };
            let reason = speaker.answer.block.as_deref().or(denied)?;
            Some(speaker.label_reason(reason))
        })
        .collect();
    if reasons.is_empty() {
        return outcome.reason.clone().unwrap_or_default();
    }
    reasons.join("\n")
}

impl Speaker<'_> {
    fn label_reason(&self, reason: &str) -> String {
        if self.answer.reason_is_stderr {
            format!("[{}]: {reason}", self.label)
        } else {
            reason.to_owned()
        }
    }
}

fn join_texts<'a>(texts: impl Iterator<Item = &'a (bool, &'a str)>) -> Option<String> {
    let list: Vec<&str> = texts.map(|(_, text)| *text).collect();
    (!list.is_empty()).then(|| list.join("\n"))
}

/// What wakes the model: what the handler said, under the label of its event.
pub(crate) fn build_wake_up(name: &str, texts: &RewakeTexts, said: &str) -> WakeUp {
    // "Stop" for every event: the client's own words.
    let summary = texts.summary.as_deref().unwrap_or("Stop hook feedback");
    let label = texts
        .message
        .clone()
        .unwrap_or_else(|| format!("Stop hook blocking error from command \"{name}\":"));
    let head = format!("<task-notification>\n<summary>{summary}</summary>\n</task-notification>\n");
    WakeUp {
        text: format!("{head}{label} {}", said.trim_end())
            .trim_end()
            .to_owned(),
        prompt: format!("{head}<system-reminder>\n{label} {said}\n</system-reminder>"),
    }
}

#[cfg(test)]
mod tests;
