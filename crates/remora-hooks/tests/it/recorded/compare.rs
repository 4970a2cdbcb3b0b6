//! What the client did and what the engine said, fact by fact.

use remora_core::{Event, EventName, Outcome, Permission};
use remora_hooks::{HandlerStatus, Report};
use serde_json::{Map, Value};

/// Every recorded fact that the report contradicts.
pub(super) fn differences(
    truth: &Map<String, Value>,
    event: &Event,
    report: &Report,
) -> Vec<String> {
    let mut facts = Facts {
        truth,
        event,
        report,
        outcome: &report.outcome,
        problems: Vec::new(),
    };
    facts.handler();
    facts.decision();
    facts.reasons();
    facts.context();
    facts.rewrites();
    facts.summary();
    facts.person();
    facts.session();
    facts.problems
}

struct Facts<'a> {
    truth: &'a Map<String, Value>,
    event: &'a Event,
    report: &'a Report,
    outcome: &'a Outcome,
    problems: Vec<String>,
}

impl<'a> Facts<'a> {
    /// A recorded fact; `null` means that it could not be observed.
    fn known(&self, key: &str) -> Option<&'a Value> {
        self.truth.get(key).filter(|v| !v.is_null())
    }

    fn expect(&mut self, what: &str, theirs: &Value, ours: &Value) {
        if theirs != ours {
            self.problems
                .push(format!("{what}: client {theirs}, engine {ours}"));
        }
    }

    /// The verdict on a single handler. The client calls every handler of
    /// `PreCompact` a success.
    fn handler(&mut self) {
        let own = self
            .report
            .handlers
            .iter()
            .find(|h| h.status != HandlerStatus::Skipped && !h.info.label.ends_with(" rec"));
        let verdict = self
            .known("outcome")
            .and_then(|o| o.as_object()?.values().next());
        if let (Some(own), Some(verdict)) = (own, verdict)
            && self.event.name != EventName::PreCompact
        {
            let ours = match own.status {
                HandlerStatus::Timeout => "cancelled",
                HandlerStatus::Error => "error",
                _ if own.exit_code.is_some_and(|c| c != 0) => "error",
                _ => "success",
            };
            self.expect("outcome", verdict, &ours.into());
        }
        if let Some(notice) = self.known("notice") {
            let status = if notice == "timed out" {
                HandlerStatus::Timeout
            } else {
                HandlerStatus::Error
            };
            if !self.report.handlers.iter().any(|h| h.status == status) {
                self.problems
                    .push(format!("notice: client {notice}, engine nothing"));
            }
        }
    }

    fn decision(&mut self) {
        let outcome = self.outcome;
        let has_call = matches!(
            self.event.name,
            EventName::PreToolUse | EventName::PermissionRequest
        );
        if let Some(theirs) = self.known("tool_ran").filter(|_| has_call) {
            self.expect(
                "tool_ran",
                theirs,
                &(outcome.final_decision == Some(Permission::Allow)).into(),
            );
        }
        if let Some(theirs) = self.known("permission") {
            let ours = outcome.permission.map_or("none", Permission::as_str);
            // "none" also stands for a rule that answered in the hook's place.
            let by_rule = outcome
                .final_why
                .as_ref()
                .is_some_and(|w| w.contains("rule `"));
            let rewrite_failed = theirs == "allow-but-updatedInput-invalid" && ours == "allow";
            let spoken_for = theirs == "none" && by_rule;
            if !spoken_for && !rewrite_failed {
                self.expect("permission", theirs, &ours.into());
            }
        }
        if let Some(theirs) = self.known("blocked") {
            self.expect("blocked", theirs, &outcome.blocked.into());
        }
        if let Some(theirs) = self.known("stopped") {
            self.expect("stopped", theirs, &(!outcome.go_on).into());
        }
        if let Some(theirs) = self.known("extra_requests") {
            let ours = outcome.go_on && (outcome.blocked || !outcome.context.is_empty());
            self.expect(
                "extra requests",
                &(theirs.as_u64() > Some(0)).into(),
                &ours.into(),
            );
        }
    }

    fn reasons(&mut self) {
        let ours = self.outcome.reason.as_deref().unwrap_or_default();
        for theirs in self
            .known("reason")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            // The client's own sentence around stderr is not ours to repeat,
            // and the recorder shortened very long texts in the middle.
            let text = theirs.as_str().unwrap();
            let text = if text.starts_with("failed;") {
                text.lines().last().unwrap()
            } else {
                text
            };
            if !ours.contains(text.split(" …[").next().unwrap()) {
                self.problems
                    .push(format!("reason: client {theirs}, engine {ours:?}"));
            }
        }
    }

    /// Several texts under one label are one recorded entry, so lines are
    /// compared.
    fn context(&mut self) {
        let Some(list) = self.known("context").and_then(Value::as_array) else {
            return;
        };
        let sorted = |texts: Vec<String>| {
            let mut lines: Vec<String> = texts
                .iter()
                .flat_map(|t| t.split('\n'))
                .map(str::to_owned)
                .collect();
            lines.sort();
            Value::from(lines)
        };
        let expected = sorted(
            list.iter()
                .map(|c| c["text"].as_str().unwrap().to_owned())
                .collect(),
        );
        let ours = sorted(self.outcome.context.iter().map(|t| spilled(t)).collect());
        self.expect("context", &expected, &ours);
    }

    fn rewrites(&mut self) {
        if let Some(theirs) = self.known("tool_input").and_then(|t| t.get("content")) {
            let ours = self
                .outcome
                .updated_input
                .as_ref()
                .and_then(|i| i.get("content"));
            self.expect("tool_input", theirs, ours.unwrap_or(&Value::Null));
        }
        if let Some(theirs) = self.known("tool_output").and_then(Value::as_str) {
            let ours = self
                .outcome
                .updated_output
                .as_ref()
                .map_or_else(|| "orig".into(), Value::to_string);
            if !ours.contains(theirs.trim()) {
                self.problems
                    .push(format!("tool_output: client {theirs}, engine {ours}"));
            }
        }
    }

    fn summary(&mut self) {
        if let Some(theirs) = self.known("instructions_added") {
            let ours = self
                .outcome
                .compact_instructions
                .clone()
                .unwrap_or_default();
            self.expect("instructions", theirs, &ours.into());
        }
        if let Some(theirs) = self.known("compacted") {
            self.expect("compacted", theirs, &(!self.outcome.blocked).into());
        }
    }

    fn person(&mut self) {
        if let Some(theirs) = self.known("system_messages") {
            let ours: Vec<String> = self.outcome.messages.iter().map(|t| spilled(t)).collect();
            self.expect("messages", theirs, &ours.into());
        }
        if let Some(text) = self
            .known("user_text")
            .and_then(Value::as_str)
            .filter(|_| self.outcome.blocked)
        {
            let quoted = text.contains("Original prompt:");
            let ours = !self.outcome.suppress_original_prompt.unwrap_or(false);
            self.expect("quoted prompt", &quoted.into(), &ours.into());
        }
    }

    fn session(&mut self) {
        if let Some(theirs) = self
            .known("bash_saw")
            .filter(|_| self.event.name == EventName::SessionStart)
        {
            let get = |name: &str| {
                self.outcome
                    .env
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let ours = format!("v={} w={} e=\n", get("HOOKVAR"), get("OTHER"));
            self.expect("session environment", theirs, &ours.into());
        }
    }
}

fn spilled(text: &str) -> String {
    if text.starts_with("<persisted-output>") {
        "<spilled>".to_owned()
    } else {
        text.to_owned()
    }
}
