//! The port to a language model: what is asked, what comes back, and why it may
//! not. Values and one trait; the providers are in `remora-model`.
//!
//! It is here because the hooks engine asks models and must not bring providers
//! into the programs that embed it, and because jobs of the memory ask the same.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Answers questions. Blocking by design: the caller has a thread to wait in.
pub trait Model: Sync {
    /// Answers before the deadline, or says why not. Never panics, never waits
    /// longer than the deadline, and bounds what it reads.
    fn complete(&self, request: &ModelRequest, deadline: Instant)
    -> Result<ModelReply, ModelError>;
}

/// Which model answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// The one that the user configured.
    #[default]
    Configured,
    /// Exactly this name, as it is written.
    Named(String),
    /// This name, or what it is short for.
    Alias(String),
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// What the model is and what it must answer; outside the conversation.
    pub system: String,
    /// The conversation, oldest first; the last one is not the model's.
    pub messages: Vec<ModelMessage>,
    /// Tools that it may call instead of answering.
    pub tools: Vec<ModelTool>,
    /// The JSON schema of its answer, which providers enforce as far as they can.
    pub output_schema: Option<Value>,
    /// Which model.
    pub model: ModelChoice,
    /// How long the answer may be.
    pub max_tokens: u32,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelMessage {
    /// What the model is asked.
    User(String),
    /// What it answered earlier.
    Assistant {
        /// Its text; may be empty beside calls.
        text: String,
        /// The tools it called.
        calls: Vec<ModelToolCall>,
    },
    /// The results of the calls right before, in their order.
    ToolResults(Vec<ModelToolResult>),
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTool {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON schema of its input.
    pub input_schema: Value,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelToolCall {
    /// Joins the call with its result; unique within a conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its input; not an object where the model wrote something else.
    pub input: Value,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelToolResult {
    /// The call's id.
    pub call_id: String,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed or was refused.
    pub failed: bool,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnd {
    /// It had said everything.
    Complete,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The answer reached its longest length and is cut.
    Length,
    /// It declined to answer.
    Refused,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// Its text, all blocks together.
    pub text: String,
    /// The tools it calls.
    pub calls: Vec<ModelToolCall>,
    /// Why it stopped.
    pub end: ReplyEnd,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// What it took.
    pub usage: ModelUsage,
}

/// What an answer took, as the provider counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelUsage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// No model is configured, or its configuration is incomplete.
    NotConfigured,
    /// The key is missing, wrong, or not allowed to do this.
    Auth,
    /// Too many requests, or the service is overloaded.
    RateLimited,
    /// The provider does not accept the request, or knows no such model.
    BadRequest,
    /// The provider failed.
    Server,
    /// It cannot be reached, or the connection broke.
    Connection,
    /// The deadline came first.
    Timeout,
    /// The answer is not what the provider's format says.
    Malformed,
    /// The answer is longer than is read.
    TooLarge,
}

impl ModelErrorKind {
    /// A word for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConfigured => "not configured",
            Self::Auth => "not authorised",
            Self::RateLimited => "rate limited",
            Self::BadRequest => "bad request",
            Self::Server => "provider error",
            Self::Connection => "no connection",
            Self::Timeout => "timeout",
            Self::Malformed => "malformed answer",
            Self::TooLarge => "answer too large",
        }
    }
}

/// Why there is no answer. Holds no key and none of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// What happened, for users.
    pub message: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error without a time to wait.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

impl std::error::Error for ModelError {}
