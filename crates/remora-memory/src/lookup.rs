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

use self::values::{Call, Target, text_of};
use crate::edit::{self, clip, fit, one_line, short_path};

/// The most facts of one call.
const FACT_CAP: usize = 12;
/// The longest fact, in characters.
const FACT_LENGTH: usize = 160;
/// The longest text, in characters.
const TEXT_CAP: usize = 1_500;

/// Whether a call is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Worth {
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
    pub worth: Worth,
}

impl LookupReading {
    fn new(title: &str) -> Self {
        Self {
            title: fit(title),
            facts: Vec::new(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            text: String::new(),
            worth: Worth::Keep,
        }
    }

    fn about(mut self, concept: &str) -> Self {
        self.concepts.push(concept.to_owned());
        self
    }

    fn fact(mut self, line: &str) -> Self {
        self.say(line);
        self
    }

    fn say(&mut self, line: &str) {
        let line = one_line(line, FACT_LENGTH);
        if !line.is_empty() && self.facts.len() < FACT_CAP && !self.facts.contains(&line) {
            self.facts.push(line);
        }
    }

    fn with_text(mut self, text: &str) -> Self {
        self.text = values::compact(text, TEXT_CAP);
        self
    }
}

/// Tools that only keep the agent's own books.
const BOOKKEEPING: &[&str] = &[
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
pub fn read(
    tool: &str,
    input: &Value,
    response: Option<&Value>,
    error: Option<&str>,
    root: &str,
) -> LookupReading {
    let call = Call {
        tool,
        input,
        response,
        root,
    };
    if let Some(error) = error {
        return failed(&call, error);
    }
    if BOOKKEEPING.contains(&tool) {
        let mut reading = LookupReading::new(&format!("Used {tool}"));
        reading.worth = Worth::Skip;
        return reading;
    }
    match tool {
        "Read" | "NotebookRead" => files::read(&call),
        "LS" => files::list(&call),
        "Grep" => search::grep(&call),
        "Glob" => search::glob(&call),
        "WebFetch" => remote::fetch(&call),
        "WebSearch" => remote::search(&call),
        "Agent" | "Task" => agents::agent(&call),
        "Skill" | "SlashCommand" => agents::skill(&call),
        "TaskCreate" | "TaskUpdate" | "TaskStop" => agents::task(&call),
        "EnterWorktree" | "ExitWorktree" => agents::worktree(&call),
        "AskUserQuestion" => agents::question(&call),
        "EnterPlanMode" | "ExitPlanMode" => agents::plan(&call),
        _ if tool.starts_with("mcp__") => remote::mcp(&call),
        _ => edited(&call).unwrap_or_else(|| remote::unknown(&call)),
    }
}

/// The tools that edit, for callers that do not tell them apart.
fn edited(call: &Call<'_>) -> Option<LookupReading> {
    let told = edit::read_call(call.tool, call.input, call.response, call.root)?;
    let mut reading = LookupReading::new(&told.title);
    reading.facts = told.facts;
    reading.concepts = told.concepts;
    reading.text = clip(&told.diff, TEXT_CAP);
    let path = call
        .path("file_path")
        .or_else(|| call.path("notebook_path"));
    reading.files_modified.extend(path);
    Some(reading)
}

/// A failed call is always kept: what does not work is worth knowing.
fn failed(call: &Call<'_>, error: &str) -> LookupReading {
    let reason = values::reason(error, call.root);
    let name = values::tool_name(call.tool);
    let target = values::target(call);
    let head = match &target {
        Target::File(path) => format!("{name} of {} failed", short_path(path)),
        Target::Pattern(pattern) => format!("{name} for {pattern} failed"),
        Target::Matter(matter) => format!("{name} on {matter} failed"),
        Target::Arguments(given) if given.is_empty() => format!("{name} failed"),
        Target::Arguments(given) => format!("{name} ({given}) failed"),
    };
    let mut reading = LookupReading::new(&format!("{head}: {reason}"))
        .about("failure")
        .fact(&format!("{name} failed: {reason}"))
        .with_text(values::unmarked(error));
    if let Target::File(path) = &target {
        reading.say(&format!("file: {path}"));
    }
    if let Some(said) = call.response.map(text_of).filter(|t| !t.trim().is_empty()) {
        reading.say(&format!("answer: {said}"));
    }
    reading
}
