//! What the client did and what an engine answered, fact by fact. A fact that
//! could not be observed is `null` and not compared.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::stage::StagedCase;

/// Every recorded fact that the answer contradicts.
pub(super) fn list_differences(
    client: &Map<String, Value>,
    event: &Value,
    answer: &Value,
    staged: &StagedCase,
) -> Vec<String> {
    let refused = answer.get("refused").is_some_and(|r| !r.is_null());
    match (client.contains_key("refused_to_start"), refused) {
        (true, true) => return Vec::new(),
        (true, false) => return vec!["loads, the client refused to start".to_owned()],
        (false, true) => return vec![format!("refuses to load: {}", answer["refused"])],
        (false, false) => {}
    }
    let mut facts = Facts {
        client,
        event,
        outcome: answer.get("outcome").unwrap_or(&Value::Null),
        differences: Vec::new(),
    };
    facts.compare_runs(staged.count_runs());
    facts.compare_decision();
    facts.compare_reasons();
    facts.compare_context();
    facts.compare_rewrites();
    facts.compare_rest();
    facts.differences
}

struct Facts<'a> {
    client: &'a Map<String, Value>,
    event: &'a Value,
    outcome: &'a Value,
    differences: Vec<String>,
}

impl<'a> Facts<'a> {
    fn known(&self, key: &str) -> Option<&'a Value> {
        self.client.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> &'a str {
        self.outcome
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        self.outcome
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or(default)
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let list = self.outcome.get(key).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        // Where a long text went is the engine's own affair.
        texts
            .map(|text| {
                if text.starts_with("<persisted-output>") {
                    "<spilled>".to_owned()
                } else {
                    text.to_owned()
                }
            })
            .collect()
    }

    fn expect(&mut self, what: &str, theirs: &Value, ours: &Value) {
        if theirs != ours {
            self.differences
                .push(format!("{what}: client {theirs}, engine {ours}"));
        }
    }

    fn compare_runs(&mut self, mut ran: BTreeMap<String, u64>) {
        let mut expected: BTreeMap<String, u64> = self
            .known("ran")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(id, count)| Some((id.clone(), count.as_u64()?)))
            .collect();
        // Slower siblings that the client ends may run to their end elsewhere.
        let free = self.known("may_run").and_then(Value::as_array);
        let free = free.into_iter().flatten().filter_map(Value::as_str);
        for id in free.chain(["rec"]) {
            ran.remove(id);
            expected.remove(id);
        }
        self.expect("ran", &json!(expected), &json!(ran));
    }

    fn compare_decision(&mut self) {
        let name = self.event.get("hook_event_name").and_then(Value::as_str);
        let has_call = matches!(name, Some("PreToolUse" | "PermissionRequest"));
        if let Some(theirs) = self.known("tool_ran").filter(|_| has_call) {
            let ours = self.text("final") == "allow";
            self.expect("tool_ran", theirs, &ours.into());
        }
        if let Some(theirs) = self.known("permission") {
            let ours = match self.text("permission") {
                "" => "none",
                ours => ours,
            };
            // "none" also stands for a rule that answered in the hook's place.
            let by_rule = theirs == "none" && self.text("final_why").contains("rule `");
            let rewrite_failed = theirs == "allow-but-updatedInput-invalid" && ours == "allow";
            if !by_rule && !rewrite_failed {
                self.expect("permission", theirs, &ours.into());
            }
        }
        let (blocked, go_on) = (self.flag("blocked", false), self.flag("continue", true));
        if let Some(theirs) = self.known("blocked") {
            self.expect("blocked", theirs, &blocked.into());
        }
        if let Some(theirs) = self.known("stopped") {
            self.expect("stopped", theirs, &(!go_on).into());
        }
        if let Some(theirs) = self.known("extra_requests") {
            let ours = go_on && (blocked || !self.texts("context").is_empty());
            let theirs = theirs.as_u64() > Some(0);
            self.expect("extra requests", &theirs.into(), &ours.into());
        }
        if let Some(theirs) = self.known("compacted") {
            self.expect("compacted", theirs, &(!blocked).into());
        }
    }

    fn compare_reasons(&mut self) {
        let ours = self.text("reason");
        let reasons = self.known("reason").and_then(Value::as_array);
        for theirs in reasons.into_iter().flatten() {
            // The client's own sentence around stderr need not be repeated, and the
            // recorder shortened very long texts in the middle.
            let text = theirs.as_str().unwrap_or_default();
            let text = if text.starts_with("failed;") {
                text.lines().last().unwrap_or_default()
            } else {
                text
            };
            let part = text.split(" …[").next().unwrap_or_default();
            if !ours.contains(part) {
                self.differences
                    .push(format!("reason: client {theirs}, engine {ours:?}"));
            }
        }
    }

    /// Several texts under one label are one recorded entry, so lines are
    /// compared.
    fn compare_context(&mut self) {
        let sorted = |texts: Vec<String>| {
            let lines = texts.iter().flat_map(|text| text.split('\n'));
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            json!(lines)
        };
        if let Some(list) = self.known("context").and_then(Value::as_array) {
            let texts = list.iter().filter_map(|c| c.get("text")?.as_str());
            let theirs = sorted(texts.map(str::to_owned).collect());
            let ours = sorted(self.texts("context"));
            self.expect("context", &theirs, &ours);
        }
    }

    fn compare_rewrites(&mut self) {
        if let Some(theirs) = self.known("tool_input").and_then(|t| t.get("content")) {
            let input = self.outcome.get("updated_input");
            let ours = input.and_then(|i| i.get("content"));
            self.expect("tool_input", theirs, ours.unwrap_or(&Value::Null));
        }
        if let Some(theirs) = self.known("tool_output").and_then(Value::as_str) {
            let output = self.outcome.get("updated_output");
            let ours = output
                .filter(|output| !output.is_null())
                .map_or_else(|| "orig".to_owned(), Value::to_string);
            if !ours.contains(theirs.trim()) {
                self.differences
                    .push(format!("tool_output: client {theirs}, engine {ours}"));
            }
        }
    }

    fn compare_rest(&mut self) {
        if let Some(theirs) = self.known("instructions_added") {
            let ours = self.text("compact_instructions");
            self.expect("instructions", theirs, &ours.into());
        }
        if let Some(theirs) = self.known("system_messages") {
            let ours = self.texts("messages");
            self.expect("messages", theirs, &json!(ours));
        }
    }
}
