//! The scripted model: rules first, then its turns in order.

use serde_json::Value;

/// What the model says.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    Text(String),
    Tools(Vec<Value>),
}

#[derive(Debug)]
pub(super) struct Model {
    turns: std::vec::IntoIter<Value>,
    rules: Vec<(Value, Option<u64>)>,
}

impl Model {
    pub(super) fn new(script: &Value) -> Self {
        let list = |key: &str| script[key].as_array().cloned().unwrap_or_default();
        let rules = list("rules").into_iter().map(|rule| {
            let times = rule["times"].as_u64();
            (rule, times)
        });
        Self {
            rules: rules.collect(),
            turns: list("turns").into_iter(),
        }
    }

    /// The answer, and how many seconds it takes.
    pub(super) fn answer(
        &mut self,
        in_agent: bool,
        messages: &[(&'static str, String)],
    ) -> (Reply, Option<f64>) {
        let rule = self
            .rules
            .iter_mut()
            .find(|(rule, times)| *times != Some(0) && matches(&rule["match"], in_agent, messages));
        let turn = match rule {
            Some((rule, times)) => {
                *times = times.map(|n| n - 1);
                rule["turn"].clone()
            }
            None => self
                .turns
                .next()
                .unwrap_or_else(|| serde_json::json!({"text": "done"})),
        };
        let reply = match turn["tools"].as_array() {
            Some(calls) => Reply::Tools(calls.clone()),
            None => Reply::Text(turn["text"].as_str().unwrap_or_default().to_owned()),
        };
        (reply, turn["delay"].as_f64())
    }
}

fn matches(keys: &Value, in_agent: bool, messages: &[(&'static str, String)]) -> bool {
    let holds = |part: &Value| {
        let part = part.as_str().unwrap_or_default();
        messages.iter().any(|(_, text)| text.contains(part))
    };
    let last_user = messages.iter().rfind(|(role, _)| *role == "user");
    keys.as_object()
        .unwrap()
        .iter()
        .all(|(key, value)| match key.as_str() {
            "agent" => value.as_bool() == Some(in_agent),
            "any" => holds(value),
            "not_any" => !holds(value),
            "last_user" => {
                last_user.is_some_and(|(_, text)| text.contains(value.as_str().unwrap()))
            }
            _ => false,
        })
}
