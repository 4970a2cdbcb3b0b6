//! A tool call in our own words: what was asked of the tool, and how it ended.
//!
//! An adapter decodes leniently: what a client sends in an unexpected form is
//! absent here, never an error, because an archived event must always decode.
//! An optional text is never empty unless its comment says so. Paths and texts
//! are as the client sent them: shortening is up to the code that shows them.

use serde_json::Value;

use crate::ids::CallId;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The call's id within its session.
    pub id: Option<CallId>,
    /// The tool as its client names it: stored, shown, and compared with names
    /// in the user's settings. Empty if the client named none. What the tool
    /// does is in `call`.
    pub name: String,
    /// What a permission rule for this call would name in parentheses; never
    /// blank.
    pub rule: Option<RuleText>,
    /// What the call is about; named when it fails.
    pub target: CallTarget,
    /// What the tool was asked to do.
    pub call: ToolCall,
}

/// What a permission rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleText {
    /// A shell command.
    Command(String),
    /// A file or folder, or a word that is written like one.
    Path(String),
    /// The address of which the host counts.
    Url(String),
}

/// What a call is about.
#[derive(Debug, Clone, PartialEq)]
pub enum CallTarget {
    /// A file.
    File(String),
    /// A text that was searched for.
    Pattern(String),
    /// An address.
    Url(String),
    /// A few words, or a path that is no file of the call.
    Subject(String),
    /// No argument is its subject: all of them, as they came.
    Arguments(Value),
}

/// What was asked of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCall {
    /// A shell command.
    Shell(ShellCall),
    /// More output of a shell command that still runs.
    ShellPoll,
    /// A file was read.
    ReadFile(FileRead),
    /// A folder was listed.
    ListFiles {
        /// The folder; absent for the current one.
        path: Option<String>,
    },
    /// Files were searched for a text.
    SearchFiles(FileSearch),
    /// Files were searched for by name.
    FindFiles {
        /// The pattern.
        pattern: Option<String>,
        /// The folder; absent for the current one.
        path: Option<String>,
    },
    /// Files were changed.
    EditFiles(Vec<FileEdit>),
    /// A cell of a notebook was changed.
    EditNotebook(NotebookEdit),
    /// A page was fetched.
    Fetch {
        /// Its address.
        url: Option<String>,
        /// What was asked of it.
        question: Option<String>,
    },
    /// The web was searched.
    SearchWeb {
        /// The words that were searched for.
        query: Option<String>,
    },
    /// A subagent was started.
    Subagent(SubagentCall),
    /// A skill or a command was used.
    Skill {
        /// Its name.
        name: Option<String>,
        /// Its arguments.
        arguments: Option<String>,
    },
    /// A task was planned, changed or stopped.
    Task(TaskCall),
    /// A worktree was entered or left.
    Worktree(WorktreeCall),
    /// The user was asked.
    AskUser {
        /// The first question; may be empty.
        question: Option<String>,
    },
    /// Planning began, or a plan was presented.
    Plan {
        /// Planning began.
        begins: bool,
        /// The plan.
        text: Option<String>,
    },
    /// A tool of an MCP server.
    Mcp {
        /// The server, without what a client puts before it; empty if the
        /// client's name for the tool names no server.
        server: String,
        /// The tool; all of the client's name for it if that names no server.
        tool: String,
        /// Its arguments.
        input: Value,
    },
    /// The client's own bookkeeping, not worth remembering unless it fails.
    Bookkeeping,
    /// A tool that we do not know.
    Other {
        /// Its arguments.
        input: Value,
    },
}

/// A shell command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellCall {
    /// The command; empty if the client sent none.
    pub command: String,
    /// What the agent says it does.
    pub description: Option<String>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRead {
    /// The file.
    pub path: Option<String>,
    /// The first line asked for, counted from 1.
    pub first_line: Option<u64>,
    /// The pages asked for.
    pub pages: Option<String>,
    /// Asked of a tool that reads nothing but notebooks. The folder's record
    /// does not count that as a file seen.
    pub is_notebook_tool: bool,
}

/// A search for a text in files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSearch {
    /// The text or pattern.
    pub pattern: Option<String>,
    /// Where; absent for the current folder.
    pub path: Option<String>,
    /// A pattern for the files that are searched.
    pub files: Option<String>,
    /// What was to be shown.
    pub shows: SearchOutput,
}

/// What a search shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchOutput {
    /// The files that match.
    #[default]
    Files,
    /// The lines that match.
    Lines,
    /// How many matches each file has.
    Counts,
}

/// One file that a call changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file; empty if the call names none.
    pub path: String,
    /// The call itself named the file; otherwise only its answer did.
    pub is_named: bool,
    /// What happened to the file.
    pub change: FileChange,
    /// Its text before; may be empty.
    pub original: Option<String>,
    /// The changes, from the client's answer or from the patch.
    pub hunks: Vec<Hunk>,
    /// The text that was replaced; may be empty. That of a whole file is its
    /// text before.
    pub old: Option<String>,
    /// The text in its place; may be empty.
    pub new: Option<String>,
    /// Several replacements in one call, used where there are no hunks.
    pub replacements: Vec<Replacement>,
    /// `new` is the whole file.
    pub is_whole_file: bool,
}

impl FileEdit {
    /// An edit of a file of which nothing more is known.
    pub fn new(path: &str, change: FileChange) -> Self {
        Self {
            path: path.to_owned(),
            is_named: true,
            change,
            original: None,
            hunks: Vec::new(),
            old: None,
            new: None,
            replacements: Vec::new(),
            is_whole_file: false,
        }
    }
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It is new.
    Created,
    /// Its text changed.
    Updated,
    /// It is gone.
    Deleted,
    /// It has another name, and perhaps another text.
    Moved {
        /// The name before.
        from: String,
    },
}

/// A replacement of one text by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The text before.
    pub old: String,
    /// The text after.
    pub new: String,
}

/// A piece of a patch. Lines begin with a blank, `-` or `+`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line before the change, counted from 1; 0 if unknown.
    pub old_start: usize,
    /// How many lines it covers before the change.
    pub old_lines: usize,
    /// The first line after the change, counted from 1; 0 if unknown.
    pub new_start: usize,
    /// How many lines it covers after the change.
    pub new_lines: usize,
    /// The lines.
    pub lines: Vec<String>,
}

/// A change of a notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotebookEdit {
    /// The notebook; empty if the call names none.
    pub path: String,
    /// The call itself named the notebook; otherwise only its answer did.
    pub is_named: bool,
    /// The cell's new text.
    pub source: String,
    /// Which cell; may be empty.
    pub cell: Option<String>,
    /// Whether the cell is prose, not code.
    pub is_prose: bool,
    /// The language of its code, if the answer says so; may be empty.
    pub language: Option<String>,
    /// What was done to the cell.
    pub change: CellChange,
}

/// What was done to a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CellChange {
    /// Its text was replaced.
    #[default]
    Replaced,
    /// It is new.
    Inserted,
    /// It is gone.
    Deleted,
}

/// A subagent that was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentCall {
    /// What sort of agent.
    pub kind: Option<String>,
    /// Its task in a few words.
    pub description: Option<String>,
    /// Its task.
    pub task: Option<String>,
    /// Its name, if it works beside the agent as one of a team.
    pub teammate: Option<String>,
}

/// A task of the agent's own list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCall {
    /// What was done to the task.
    pub action: TaskAction,
    /// Which task.
    pub id: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// Its new state.
    pub status: Option<String>,
    /// What it asks for.
    pub description: Option<String>,
}

/// What was done to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAction {
    /// It is new.
    Created,
    /// It was changed.
    Updated,
    /// It was stopped.
    Stopped,
}

/// A worktree that was entered or left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeCall {
    /// The session enters it; otherwise it leaves.
    pub enters: bool,
    /// Its name.
    pub name: Option<String>,
    /// It was to be removed.
    pub removes: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// It ran. A shell command whose client reports no exit code counts as run.
    Done(ToolOutput),
    /// It failed.
    Failed(ToolFailure),
}

/// Why a call failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFailure {
    /// The error. That of a shell command begins with a line `Exit code N` if
    /// the code is known; its output follows.
    pub text: String,
    /// The error without the marks that a client puts around it.
    pub plain_text: String,
    /// The tool was asked in a way it refuses, which says nothing of the
    /// project: the agent will ask again.
    pub is_misuse: bool,
    /// What the tool answered all the same; never blank.
    pub answer: Option<String>,
}

/// What a call brought.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// Whether there was an answer at all; an empty one counts.
    pub has_answer: bool,
    /// What it says in words: of a shell command what it printed, of a subagent
    /// its result, of any other tool the texts in its answer.
    pub text: String,
    /// What it says beyond words.
    pub detail: OutputDetail,
}

/// What an answer says beyond its words.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum OutputDetail {
    /// Nothing beyond the text is known.
    #[default]
    None,
    /// A file as it was shown. An answer that is nothing but a text has none:
    /// what it shows is the text.
    File(ShownFile),
    /// What a search found.
    Matches(Matches),
    /// What the web answered.
    Web {
        /// The status.
        status: Option<u64>,
        /// Titles and addresses that a search found.
        hits: Vec<(String, String)>,
    },
    /// What became of a subagent.
    Subagent(SubagentOutput),
    /// What became of a task.
    Task {
        /// The task.
        id: Option<String>,
        /// What it is about; may be empty.
        subject: Option<String>,
        /// Its state before; may be empty.
        from: Option<String>,
        /// Its state now; may be empty.
        to: Option<String>,
    },
    /// What became of a worktree.
    Worktree {
        /// Where it lies.
        path: Option<String>,
        /// Its branch.
        branch: Option<String>,
        /// It was removed; absent if the answer does not say.
        removed: Option<bool>,
        /// Changed files that were thrown away with it.
        discarded_files: u64,
        /// Commits that were thrown away with it.
        discarded_commits: u64,
    },
    /// The user's answers, each with its question.
    Answers(Vec<(String, String)>),
    /// The answer of a tool of a server, or of one that we do not know, in which
    /// no text was found.
    Json(Value),
}

/// A file as a tool showed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownFile {
    /// The file, if only the answer named it; may be empty.
    pub path: Option<String>,
    /// Whether it is text, an image or something else.
    pub form: FileForm,
    /// What was shown of it; may be empty.
    pub content: Option<String>,
    /// The first line shown, counted from 1.
    pub first_line: Option<u64>,
    /// How many lines were shown.
    pub line_count: Option<u64>,
    /// How many lines it has.
    pub total_lines: Option<u64>,
    /// Its size.
    pub size_bytes: Option<u64>,
}

/// The form of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileForm {
    /// Text.
    #[default]
    Text,
    /// A picture.
    Image,
    /// A notebook.
    Notebook {
        /// How many cells it has.
        cells: usize,
    },
    /// A document with pages.
    Document,
    /// Nothing was shown, because nothing had changed.
    Unchanged,
    /// Any other.
    Other,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The files that the answer names one by one, not those in front of the
    /// lines in `content`.
    pub files: Vec<String>,
    /// The answer was a list of files, not a text.
    pub is_list: bool,
    /// The lines.
    pub content: Option<String>,
    /// What is shown, if the answer says so.
    pub shows: Option<SearchOutput>,
    /// How many files.
    pub file_count: Option<usize>,
    /// How many lines.
    pub line_count: Option<usize>,
    /// How many matches.
    pub match_count: Option<usize>,
    /// The client left further matches out.
    pub is_truncated: bool,
}

/// What became of a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentOutput {
    /// It runs on by itself; its result comes later.
    pub is_launched: bool,
    /// It works beside the agent as one of a team.
    pub is_teammate: bool,
    /// Its name in the team.
    pub teammate: Option<String>,
    /// How many tools it called.
    pub tool_calls: Option<u64>,
    /// Its id.
    pub id: Option<String>,
}
