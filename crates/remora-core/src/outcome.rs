//! What all handlers together mean for the host: one decision, with its texts.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A decision about one tool call. Ordered by strictness: a later variant wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Go on without asking the user.
    Allow,
    /// Ask the user first.
    Ask,
    /// End the turn here; the host decides later (print mode only).
    Defer,
    /// Do not make the call.
    Deny,
}

impl Permission {
    /// The word used in settings, answers and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Deny => "deny",
        }
    }

    /// Reads the word; case-sensitive, as answers are.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Defer, Self::Deny]
            .into_iter()
            .find(|p| p.as_str() == text)
    }
}

/// An answer in the user's place to a server that asked for input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitationResponse {
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    /// The form's content, with `accept`.
    pub content: Option<Value>,
}

/// The one result of an event. Field names are stable: they are the JSON that
/// `remora hooks run` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Some handler blocked what the event announces.
    pub blocked: bool,
    /// The hooks' own decision about a tool call; `None` when none decided.
    pub permission: Option<Permission>,
    /// Why: the texts of the deciding kind, in enumeration order, one a line.
    pub reason: Option<String>,
    /// Hooks and permission rules together; `None` on events without a call.
    #[serde(rename = "final")]
    pub final_decision: Option<Permission>,
    /// Why `final` is what it is, in plain words.
    pub final_why: Option<String>,
    /// Whether the turn goes on.
    #[serde(rename = "continue")]
    pub go_on: bool,
    /// What the user sees when the turn ends.
    pub stop_reason: Option<String>,
    /// The input that replaces the call's own.
    pub updated_input: Option<Map<String, Value>>,
    /// The output that the model sees instead of the tool's own.
    pub updated_output: Option<Value>,
    /// Permission updates to apply with an allowed request.
    pub updated_permissions: Option<Value>,
    /// A denied request also ends the run.
    pub interrupt: Option<bool>,
    /// Texts for the model, in enumeration order, each within its cap.
    pub context: Vec<String>,
    /// Texts for the user.
    pub messages: Vec<String>,
    /// A first prompt to play before the user's own.
    pub initial_user_message: Option<String>,
    /// A title for the session.
    pub session_title: Option<String>,
    /// A blocked prompt is not quoted back.
    pub suppress_original_prompt: Option<bool>,
    /// Text that joins the instructions of the summary.
    pub compact_instructions: Option<String>,
    /// What the screen shows instead of the message.
    pub display_content: Option<String>,
    /// Escape sequences to send to the terminal, checked.
    pub terminal_sequence: Option<String>,
    /// Notes for the host's own safety check of the call.
    pub classifier_context: Option<String>,
    /// Paths to watch from now on.
    pub watch_paths: Vec<String>,
    /// Variables that handlers set for the session's shell commands.
    pub env: Map<String, Value>,
    /// A denied call may be tried again.
    pub retry: Option<bool>,
    /// Skills on disk changed; read them again.
    pub reload_skills: Option<bool>,
    /// Where the new worktree is.
    pub worktree_path: Option<String>,
    /// An answer to a server's question.
    pub elicitation: Option<ElicitationResponse>,
}

impl Default for Outcome {
    /// Nothing decided, nothing said: the host goes on.
    fn default() -> Self {
        Self {
            blocked: false,
            permission: None,
            reason: None,
            final_decision: None,
            final_why: None,
            go_on: true,
            stop_reason: None,
            updated_input: None,
            updated_output: None,
            updated_permissions: None,
            interrupt: None,
            context: Vec::new(),
            messages: Vec::new(),
            initial_user_message: None,
            session_title: None,
            suppress_original_prompt: None,
            compact_instructions: None,
            display_content: None,
            terminal_sequence: None,
            classifier_context: None,
            watch_paths: Vec::new(),
            env: Map::new(),
            retry: None,
            reload_skills: None,
            worktree_path: None,
            elicitation: None,
        }
    }
}
