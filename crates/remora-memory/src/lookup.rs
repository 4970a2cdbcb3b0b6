//! Tells what a call of any other tool looked up or did, from its input and
//! its answer. Takes any JSON without complaint; decides nothing by guessing.

mod agents;
mod files;
mod remote;
mod search;
#[cfg(test)]
mod tests;
mod values;

use serde_json::Value;

use self::values::{CallTarget, LookupCall, text_of};
use crate::edit::{self, fit_title, one_line, short_path, truncate_chars};

/// The most facts of one call.
const MAX_FACTS: usize = 12;
/// The longest fact, in characters.
const MAX_FACT_CHARS: usize = 160;
/// The longest text, in characters.
const MAX_TEXT_CHARS: usize = 1_500;

/// Whether a call is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LookupValue {
    /// It says something about the work.
    Keep,
    /// Bookkeeping of the agent: to-do lists, listings of tools.
    Skip,
}

/// What a call did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupReading {
    /// At most 120 characters.
    pub title: String,
    /// At most 12 lines.
    pub facts: Vec<String>,
    /// A few words for what the call is about.
    pub concepts: Vec<String>,
    /// Paths as shown.
    pub files_read: Vec<String>,
    /// Paths as shown.
    pub files_modified: Vec<String>,
    /// Compact, at most 1,500 characters.
    pub text: String,
    /// Whether it is worth keeping.
    pub worth: LookupValue,
}

impl LookupReading {
    fn new(title: &str) -> Self {
        Self {
            title: fit_title(title),
            facts: Vec::new(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            text: String::new(),
            worth: LookupValue::Keep,
        }
    }

    fn with_concept(mut self, concept: &str) -> Self {
        self.concepts.push(concept.to_owned());
        self
    }

    fn with_fact(mut self, line: &str) -> Self {
        self.add_fact(line);
        self
    }

    fn add_fact(&mut self, line: &str) {
        let line = one_line(line, MAX_FACT_CHARS);
        if !line.is_empty() && self.facts.len() < MAX_FACTS && !self.facts.contains(&line) {
            self.facts.push(line);
        }
    }

    fn with_text(mut self, text: &str) -> Self {
        self.text = values::compact_text(text, MAX_TEXT_CHARS);
        self
    }
}

/// Tools that only keep the agent's own books.
const BOOKKEEPING_TOOLS: &[&str] = &[
    "TodoWrite",
    "TodoRead",
    "TaskList",
    "TaskGet",
    "TaskOutput",
    "ToolSearch",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "ListAgents",
    "ListSkills",
    "CronList",
    "BashOutput",
];

/// Reads one call; `error` is what a failed call gave in place of an answer.
pub fn read_lookup(
    tool: &str,
    input: &Value,
    response: Option<&Value>,
    error: Option<&str>,
    root: &str,
) -> LookupReading {
    let call = LookupCall {
        tool,
        input,
        response,
        root,
    };
    if let Some(error) = error {
        return read_failed_call(&call, error);
    }
    if BOOKKEEPING_TOOLS.contains(&tool) {
        let mut reading = LookupReading::new(&format!("Used {tool}"));
        reading.worth = LookupValue::Skip;
        return reading;
    }
    match tool {
        "Read" | "NotebookRead" => files::parse_read_call(&call),
        "LS" => files::parse_list_call(&call),
        "Grep" => search::parse_grep_call(&call),
        "Glob" => search::parse_glob_call(&call),
        "WebFetch" => remote::parse_fetch_call(&call),
        "WebSearch" => remote::parse_web_search_call(&call),
        "Agent" | "Task" => agents::parse_agent_call(&call),
        "Skill" | "SlashCommand" => agents::parse_skill_call(&call),
        "TaskCreate" | "TaskUpdate" | "TaskStop" => agents::parse_task_call(&call),
        "EnterWorktree" | "ExitWorktree" => agents::parse_worktree_call(&call),
        "AskUserQuestion" => agents::parse_question_call(&call),
        "EnterPlanMode" | "ExitPlanMode" => agents::parse_plan_call(&call),
        _ if tool.starts_with("mcp__") => remote::parse_mcp_call(&call),
        _ => read_edit_call(&call).unwrap_or_else(|| remote::parse_unknown_call(&call)),
    }
}

/// The tools that edit, for callers that do not tell them apart.
fn read_edit_call(call: &LookupCall<'_>) -> Option<LookupReading> {
    let told = edit::read_call(call.tool, call.input, call.response, call.root)?;
    let mut reading = LookupReading::new(&told.title);
    reading.facts = told.facts;
    reading.concepts = told.concepts;
    reading.text = truncate_chars(&told.diff, MAX_TEXT_CHARS);
    let path = call
        .path("file_path")
        .or_else(|| call.path("notebook_path"));
    reading.files_modified.extend(path);
    Some(reading)
}

/// A failed call is always kept: what does not work is worth knowing.
fn read_failed_call(call: &LookupCall<'_>, error: &str) -> LookupReading {
    let reason = values::format_reason(error, call.root);
    let name = values::tool_name(call.tool);
    let target = values::find_target(call);
    let head = match &target {
        CallTarget::File(path) => format!("{name} of {} failed", short_path(path)),
        CallTarget::Pattern(pattern) => format!("{name} for {pattern} failed"),
        CallTarget::Matter(matter) => format!("{name} on {matter} failed"),
        CallTarget::Arguments(given) if given.is_empty() => format!("{name} failed"),
        CallTarget::Arguments(given) => format!("{name} ({given}) failed"),
    };
    let mut reading = LookupReading::new(&format!("{head}: {reason}"))
        .with_concept("failure")
        .with_fact(&format!("{name} failed: {reason}"))
        .with_text(values::strip_error_tags(error));
    if let CallTarget::File(path) = &target {
        reading.add_fact(&format!("file: {path}"));
    }
    if let Some(said) = call.response.map(text_of).filter(|t| !t.trim().is_empty()) {
        reading.add_fact(&format!("answer: {said}"));
    }
    reading
}
