//! Describes what a call of any other tool looked up or did, from what was
//! asked and what came back. Guesses nothing.

mod agents;
mod files;
mod remote;
mod search;
#[cfg(test)]
mod tests;
mod values;

use remora_core::tool_call::{CallTarget, FileEdit, ToolCall, ToolFailure, ToolOutcome, ToolUse};

use crate::edit::{self, EditReading, fit_title, one_line, short_path, truncate_chars};

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
    /// The main symbols of a file that was read, if it showed what it holds.
    pub(crate) holds: Option<String>,
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
            holds: None,
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

/// Reads one call and how it ended.
pub fn read_lookup(tool: &ToolUse, outcome: &ToolOutcome, root: &str) -> LookupReading {
    let output = match outcome {
        ToolOutcome::Done(output) => output,
        ToolOutcome::Failed(failure) => return read_failed_call(tool, failure, root),
    };
    match &tool.call {
        // They come with every step and say nothing about the work.
        ToolCall::Bookkeeping | ToolCall::ShellPoll => {
            let mut reading = LookupReading::new(&format!("Used {}", tool.name));
            reading.worth = LookupValue::Skip;
            reading
        }
        ToolCall::ReadFile(read) => files::describe_read(read, output, root),
        ToolCall::ListFiles { path } => files::describe_listing(path.as_deref(), output, root),
        ToolCall::SearchFiles(search) => search::describe_search(search, output, root),
        ToolCall::FindFiles { pattern, path } => {
            search::describe_find(pattern.as_deref(), path.as_deref(), output, root)
        }
        ToolCall::Fetch { url, question } => {
            remote::describe_fetch(url.as_deref(), question.as_deref(), output)
        }
        ToolCall::SearchWeb { query } => remote::describe_web_search(query.as_deref(), output),
        ToolCall::Subagent(call) => agents::describe_subagent(call, output),
        ToolCall::Skill { name, arguments } => {
            agents::describe_skill(name.as_deref(), arguments.as_deref(), output)
        }
        ToolCall::Task(call) => agents::describe_task(call, output),
        ToolCall::Worktree(call) => agents::describe_worktree(call, output, root),
        ToolCall::AskUser { question } => agents::describe_question(question.as_deref(), output),
        ToolCall::Plan { begins, text } => agents::describe_plan(*begins, text.as_deref()),
        ToolCall::Mcp { input, .. } => remote::describe_mcp_call(tool, input, output),
        ToolCall::Other { input } => remote::describe_unknown_call(tool, input, output),
        ToolCall::EditFiles(files) => match files.as_slice() {
            [file, ..] => describe_file_edit(file, root),
            [] => LookupReading::new(&format!("Used {}", values::display_name(tool))),
        },
        ToolCall::EditNotebook(edit) => {
            let path = Some(edit.path.as_str()).filter(|_| edit.is_named);
            describe_edit(edit::read_notebook_edit(edit, root), path, root)
        }
        ToolCall::Shell(_) => LookupReading::new(&format!("Used {}", values::display_name(tool))),
    }
}

/// Edits, for callers that do not tell them apart.
fn describe_file_edit(file: &FileEdit, root: &str) -> LookupReading {
    let path = Some(file.path.as_str()).filter(|_| file.is_named);
    describe_edit(edit::read_edit_call(file, root), path, root)
}

fn describe_edit(stated: EditReading, path: Option<&str>, root: &str) -> LookupReading {
    let mut reading = LookupReading::new(&stated.title);
    reading.facts = stated.facts;
    reading.concepts = stated.concepts;
    reading.text = truncate_chars(&stated.diff, MAX_TEXT_CHARS);
    let path = path.filter(|path| !path.is_empty());
    reading
        .files_modified
        .extend(path.map(|path| values::relative_path(path, root)));
    reading
}

/// A failed call is always kept: what does not work is worth knowing.
fn read_failed_call(tool: &ToolUse, failure: &ToolFailure, root: &str) -> LookupReading {
    // The short reason names the failure; the whole text stays searchable
    // below.
    let reason = values::format_reason(&failure.plain_text, root);
    let name = values::display_name(tool);
    let mut file = None;
    let head = match &tool.target {
        CallTarget::File(path) => {
            let path = file.insert(values::relative_path(path, root));
            format!("{name} of {} failed", short_path(path))
        }
        CallTarget::Pattern(pattern) => {
            let pattern = one_line(&pattern.replace('`', "'"), 50);
            format!("{name} for `{pattern}` failed")
        }
        CallTarget::Url(url) => format!("{name} on {} failed", remote::format_address(url)),
        CallTarget::Subject(subject) => {
            let subject = one_line(&values::relative_path(subject, root), 60);
            format!("{name} on {subject} failed")
        }
        CallTarget::Arguments(passed) => match values::format_arguments(passed, 50) {
            passed if passed.is_empty() => format!("{name} failed"),
            passed => format!("{name} ({passed}) failed"),
        },
    };
    let mut reading = LookupReading::new(&format!("{head}: {reason}"))
        .with_concept("failure")
        .with_fact(&format!("{name} failed: {reason}"))
        .with_text(&failure.plain_text);
    if let Some(path) = file {
        reading.add_fact(&format!("file: {path}"));
    }
    if let Some(said) = failure.answer.as_ref().filter(|t| !t.trim().is_empty()) {
        reading.add_fact(&format!("answer: {said}"));
    }
    reading
}
