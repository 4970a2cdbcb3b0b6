//! The scripted model of recorded cases: rules first, then its turns in order.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use remora_core::model::{
    Model, ModelChoice, ModelError, ModelErrorKind, ModelMessage, ModelReply, ModelRequest,
    ModelToolCall, ModelUsage, ReplyEnd,
};
use serde_json::{Value, json};

/// The tool by which a verifier is known.
const VERDICT_TOOL: &str = "StructuredOutput";

/// One request as rules see it.
pub(crate) struct Question<'a> {
    /// What was said so far, with roles.
    pub(crate) texts: Vec<(&'a str, &'a str)>,
    pub(crate) model: &'a str,
    /// A subagent asks; the verifier of a hook is none.
    pub(crate) in_agent: bool,
    pub(crate) tools: Offer,
}

/// Which tools a request offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// None, as requests of prompt handlers.
    Nothing,
    /// Those of a conversation.
    Conversation,
    /// Those of a verifier.
    Verifier,
}

impl Offer {
    fn has(self, tool: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Conversation => tool != VERDICT_TOOL,
            Self::Verifier => tool != "Agent",
        }
    }
}

impl Question<'_> {
    /// Whether the part occurs in what is sent, as text or as JSON has it.
    fn holds(&self, part: &Value) -> bool {
        let plain = part.as_str().unwrap();
        self.texts
            .iter()
            .any(|(_, text)| text.contains(plain) || json!(text).to_string().contains(plain))
    }

    /// Whether the part occurs in the last message of the user, which may have several texts.
    fn ends_with_user(&self, part: &Value) -> bool {
        let mut said = self
            .texts
            .iter()
            .rev()
            .skip_while(|(role, _)| *role != "user");
        let mut said = said.by_ref().take_while(|(role, _)| *role == "user");
        said.any(|(_, text)| text.contains(part.as_str().unwrap()))
    }

    fn fits(&self, rule: &Value) -> bool {
        let keys = rule["match"].as_object().into_iter().flatten();
        keys.into_iter().all(|(key, value)| match key.as_str() {
            "any" => self.holds(value),
            "not_any" => !self.holds(value),
            "last_user" => self.ends_with_user(value),
            "model" => self.model.contains(value.as_str().unwrap()),
            "tools" => *value == (self.tools != Offer::Nothing),
            "tool" => self.tools.has(value.as_str().unwrap()),
            "agent" => *value == self.in_agent,
            other => panic!("a rule matches by {other}"),
        })
    }
}

/// What is left of a script.
pub(crate) struct Script {
    rules: Vec<(Value, Option<u64>)>,
    turns: std::vec::IntoIter<Value>,
}

impl Script {
    pub(crate) fn new(script: &Value) -> Self {
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

    /// The turn that answers. Turns in order are for requests that offer tools.
    pub(crate) fn choose_turn(&mut self, question: &Question<'_>) -> Value {
        let rule = self
            .rules
            .iter_mut()
            .find(|(rule, left)| *left != Some(0) && question.fits(rule));
        let turn = if let Some((rule, left)) = rule {
            *left = left.map(|n| n - 1);
            rule["turn"].clone()
        } else if question.tools == Offer::Nothing {
            json!({"text": "side"})
        } else {
            self.turns.next().unwrap_or_else(|| json!({"text": "done"}))
        };
        join_blocks(turn)
    }
}

/// A turn that is written as blocks, as text and tools.
fn join_blocks(mut turn: Value) -> Value {
    let Some(blocks) = turn.get("blocks").and_then(Value::as_array).cloned() else {
        return turn;
    };
    let of_type = |kind: &'static str| blocks.iter().filter(move |b| b["type"] == kind);
    let text: String = of_type("text").filter_map(|b| b["text"].as_str()).collect();
    let tools: Vec<&Value> = of_type("tool_use").collect();
    if !tools.is_empty() {
        turn["tools"] = json!(tools);
    }
    turn["text"] = text.into();
    turn
}

/// What a turn says, or its error.
pub(crate) fn read_turn(turn: &Value) -> Result<ModelReply, ModelError> {
    if let Some(status) = turn["error"]["status"].as_u64() {
        let kind = match status {
            400..=499 => ModelErrorKind::BadRequest,
            _ => ModelErrorKind::Server,
        };
        let message = turn["error"]["message"].as_str().unwrap_or_default();
        return Err(ModelError::new(kind, format!("{status} {message}")));
    }
    let calls = turn["tools"].as_array().into_iter().flatten();
    let calls: Vec<ModelToolCall> = calls
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

/// The texts of a handler's request, with roles.
pub(crate) fn list_texts(request: &ModelRequest) -> Vec<(&str, &str)> {
    let mut texts = Vec::new();
    for message in &request.messages {
        match message {
            ModelMessage::User(text) => texts.push(("user", text.as_str())),
            ModelMessage::Assistant { text, .. } => texts.push(("assistant", text)),
            ModelMessage::ToolResults(results) => {
                texts.extend(results.iter().map(|result| ("user", result.text.as_str())));
            }
        }
    }
    texts
}

/// The tools of a handler's request.
pub(crate) fn read_offer(request: &ModelRequest) -> Offer {
    if request.tools.is_empty() {
        Offer::Nothing
    } else {
        Offer::Verifier
    }
}

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

/// Answers handlers by a script, without a clock.
pub(crate) struct ScriptedModel {
    state: Mutex<State>,
}

struct State {
    script: Script,
    asked: Vec<Asked>,
}

impl ScriptedModel {
    pub(crate) fn new(script: &Value) -> Self {
        Self {
            state: Mutex::new(State {
                script: Script::new(script),
                asked: Vec::new(),
            }),
        }
    }

    pub(crate) fn into_asked(self) -> Vec<Asked> {
        self.state.into_inner().unwrap().asked
    }

    fn find_turn(&self, request: &ModelRequest) -> Value {
        let mut state = self.state.lock().unwrap();
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
        let texts = list_texts(request);
        let said = request.messages.iter().rev().find_map(|m| match m {
            ModelMessage::User(text) => Some(text.clone()),
            _ => None,
        });
        state.asked.push(Asked {
            text: texts[0].1.to_owned(),
            named: named.clone(),
            results,
            before: request.messages.len() - 1,
            last: said.unwrap_or_default(),
        });
        state.script.choose_turn(&Question {
            texts,
            model: named.as_deref().unwrap_or_default(),
            // Verifiers have no mark of an agent.
            in_agent: false,
            tools: read_offer(request),
        })
    }
}

impl Model for ScriptedModel {
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
        read_turn(&turn)
    }
}
