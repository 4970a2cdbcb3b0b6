//! A model that answers by rules.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use remora_core::model::{
    Model, ModelChoice, ModelError, ModelErrorKind, ModelMessage, ModelReply, ModelRequest,
    ModelToolCall, ModelUsage, ReplyEnd,
};
use serde_json::Value;

/// What was asked.
pub(crate) struct Asked {
    /// The handler's own text.
    pub(crate) text: String,
    /// The model, if the handler names it literally.
    pub(crate) named: Option<String>,
    /// The results of the calls right before, failed ones with a mark.
    pub(crate) results: Vec<String>,
    /// The messages before the last one.
    pub(crate) before: usize,
    pub(crate) last: String,
}

pub(crate) struct ScriptedModel<'a> {
    rules: Vec<&'a Value>,
    state: Mutex<State>,
}

struct State {
    used: Vec<u64>,
    asked: Vec<Asked>,
}

impl<'a> ScriptedModel<'a> {
    pub(crate) fn new(rules: &'a Value) -> Self {
        let rules: Vec<&Value> = rules.as_array().into_iter().flatten().collect();
        Self {
            state: Mutex::new(State {
                used: vec![0; rules.len()],
                asked: Vec::new(),
            }),
            rules,
        }
    }

    pub(crate) fn into_asked(self) -> Vec<Asked> {
        self.state.into_inner().unwrap().asked
    }

    fn find_turn(&self, request: &ModelRequest) -> &'a Value {
        let mut state = self.state.lock().unwrap();
        let texts: Vec<&str> = request
            .messages
            .iter()
            .filter_map(|message| match message {
                ModelMessage::User(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let named = match &request.model {
            ModelChoice::Named(name) => Some(name.clone()),
            _ => None,
        };
        let results = match request.messages.last() {
            Some(ModelMessage::ToolResults(results)) => results
                .iter()
                .map(|r| format!("{}{}", if r.failed { "! " } else { "" }, r.text))
                .collect(),
            _ => Vec::new(),
        };
        state.asked.push(Asked {
            text: texts[0].to_owned(),
            named,
            results,
            before: request.messages.len() - 1,
            last: texts.last().unwrap().to_string(),
        });
        let fits = |rule: &Value| {
            let fields = rule["match"].as_object().unwrap();
            fields.iter().all(|(key, value)| match key.as_str() {
                "any" => texts.iter().any(|t| t.contains(value.as_str().unwrap())),
                "not_any" => !texts.iter().any(|t| t.contains(value.as_str().unwrap())),
                "tools" => *value == !request.tools.is_empty(),
                "tool" => request.tools.iter().any(|t| *value == *t.name),
                // Verifiers have no mark of an agent.
                "agent" => *value == false,
                "last_user" => texts
                    .last()
                    .is_some_and(|t| t.contains(value.as_str().unwrap())),
                other => panic!("match {other}"),
            })
        };
        let at = (0..self.rules.len()).find(|at| {
            let times = self.rules[*at]["times"].as_u64();
            times.is_none_or(|t| state.used[*at] < t) && fits(self.rules[*at])
        });
        let at = at.unwrap_or_else(|| panic!("no rule for {texts:?}"));
        state.used[at] += 1;
        &self.rules[at]["turn"]
    }
}

impl Model for ScriptedModel<'_> {
    fn complete(
        &self,
        request: &ModelRequest,
        deadline: Instant,
    ) -> Result<ModelReply, ModelError> {
        let turn = self.find_turn(request);
        // Nothing is waited for: what would come too late has come too late.
        let delay = Duration::from_secs_f64(turn["delay"].as_f64().unwrap_or(0.0));
        if Instant::now() + delay >= deadline {
            return Err(ModelError::new(ModelErrorKind::Timeout, "too late"));
        }
        if let Some(status) = turn["error"]["status"].as_u64() {
            let kind = match status {
                400..=499 => ModelErrorKind::BadRequest,
                _ => ModelErrorKind::Server,
            };
            let message = turn["error"]["message"].as_str().unwrap();
            return Err(ModelError::new(kind, format!("{status} {message}")));
        }
        let calls: Vec<ModelToolCall> = turn["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|call| ModelToolCall {
                id: call["id"].as_str().unwrap_or_default().to_owned(),
                name: call["name"].as_str().unwrap().to_owned(),
                input: call["input"].clone(),
            })
            .collect();
        Ok(ModelReply {
            text: turn["text"].as_str().unwrap_or_default().to_owned(),
            end: if calls.is_empty() {
                ReplyEnd::Complete
            } else {
                ReplyEnd::ToolCalls
            },
            calls,
            model: "scripted".into(),
            usage: ModelUsage::default(),
        })
    }
}
