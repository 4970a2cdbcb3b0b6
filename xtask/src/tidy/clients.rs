//! Where the words of the clients may appear: what a client calls itself, its
//! tools, the fields of its payloads, its variables and its files. Behind the
//! adapters everything is said in our own words.
//!
//! Literals of the shipped crates are checked. `xtask` is not: it plays the
//! real clients.

use super::Complaint;
use super::tree::{SourceFile, SourceTree};
use super::words::shipped_files;

/// Words of a client, and who may say them.
struct ClientWords {
    /// The words in a literal that belong to a client.
    find: fn(&str) -> Vec<&str>,
    /// How the paths of the files begin that may say them.
    owners: &'static [&'static str],
    /// What to do about them elsewhere.
    advice: &'static str,
}

/// One folder an agent, and what they share.
const ADAPTERS: &str = "crates/remora-agents/";
/// The engine is compatible with one client on purpose.
const ENGINE: &str = "crates/remora-hooks/";
/// The table of the engine's events, with samples in that client's words.
const EVENT_TABLE: &str = "crates/remora-core/src/event.rs";
/// What authors of that client's hooks use: it reads their settings and scripts.
const HOOK_TOOLS: &str = "crates/remora-hook-tools/";
/// The protocol says of events what the engine says.
const HOOKS_RPC: &str = "crates/remora-hooks-rpc/";
const HOOK_TOOLS_NAMES: &str = "crates/remora-hook-tools/src/names.rs";
const ENGINE_NAMES: &str = "crates/remora-hooks/src/names.rs";
/// One provider is that client's own command line.
const MODEL_NAMES: &str = "crates/remora-model/src/names.rs";
/// Predicts which files of that client are in its prompt.
const INSTRUCTIONS: &str = "crates/remora-instructions/";
const INSTRUCTIONS_NAMES: &str = "crates/remora-instructions/src/names.rs";

const PRODUCTS: ClientWords = ClientWords {
    find: find_products,
    owners: &[
        ADAPTERS,
        ENGINE_NAMES,
        HOOK_TOOLS_NAMES,
        INSTRUCTIONS_NAMES,
        MODEL_NAMES,
    ],
    advice: "an agent's id belongs in remora-agents; look it up in AGENTS",
};
const TOOLS: ClientWords = ClientWords {
    find: find_tools,
    owners: &[ADAPTERS, ENGINE, HOOK_TOOLS, EVENT_TABLE],
    advice: "a client's tool is named by its adapter; match on ToolCall, or ask remora-hooks",
};
const FIELDS: ClientWords = ClientWords {
    find: find_fields,
    owners: &[ADAPTERS, ENGINE, HOOK_TOOLS, HOOKS_RPC, EVENT_TABLE],
    advice: "a client's field is named by its adapter; read the decoded AgentEvent",
};
const VARIABLES: ClientWords = ClientWords {
    find: find_variables,
    owners: &[
        ADAPTERS,
        ENGINE_NAMES,
        HOOK_TOOLS_NAMES,
        INSTRUCTIONS_NAMES,
        MODEL_NAMES,
    ],
    advice: "a client's variable is named by its adapter or in names.rs; ask for its value there",
};
const FILES: ClientWords = ClientWords {
    find: find_files,
    owners: &[
        ADAPTERS,
        ENGINE_NAMES,
        HOOK_TOOLS_NAMES,
        EVENT_TABLE,
        INSTRUCTIONS,
        MODEL_NAMES,
    ],
    advice: "a client's file is named by its adapter or in names.rs; use that name",
};

/// What may say a client's words outside the owners, and why.
pub(super) struct ClientWordException {
    /// How the paths begin.
    pub(super) path: &'static str,
    /// Which words, each of which must still be said there; all if none is
    /// listed.
    pub(super) words: &'static [&'static str],
    pub(super) reason: &'static str,
}

impl ClientWordException {
    fn allows(&self, path: &str, word: &str) -> bool {
        path.starts_with(self.path) && (self.words.is_empty() || self.words.contains(&word))
    }
}

pub(super) const EXCEPTIONS: &[ClientWordException] = &[
    ClientWordException {
        path: "crates/remora-core/src/shapes.rs",
        words: &["claudeMdExcludes"],
        reason: "the keys of one settings format, read by the engine and the instructions",
    },
    ClientWordException {
        path: "crates/remora-notes/src/check/known.rs",
        words: &["claude", "CLAUDE", ".claude", "claude.md"],
        reason: "programs, files and prefixes of variables that a saved memory may name",
    },
    ClientWordException {
        path: "crates/remora-instructions/src/names.rs",
        words: &["file_path", "memory_type"],
        reason: "the payload of the one event that loading instructions fires",
    },
    ClientWordException {
        path: "crates/remora-wording/src/subject.rs",
        words: &["claude"],
        reason: "a word of headings that says nothing of their subject",
    },
    ClientWordException {
        path: "crates/remora-memory/src/recall/subject.rs",
        words: &["claude.md"],
        reason: "a file that every project has, as users name it in prompts",
    },
    ClientWordException {
        path: "crates/remora-memory/src/summary/steps.rs",
        words: &["Read"],
        reason: "a verb in a summary for people",
    },
    ClientWordException {
        path: "crates/remora-memory/src/testing",
        words: &[],
        reason: "made-up sessions and the contract suite, compiled for tests only",
    },
    ClientWordException {
        path: "crates/remora-model/src/wire/anthropic.rs",
        words: &["tool_use_id"],
        reason: "a field of a model's API, which the client's payloads took over",
    },
    ClientWordException {
        path: "crates/remora-store/src/foreign",
        words: &[],
        reason: "tables and columns of another program's database",
    },
    ClientWordException {
        path: "crates/remora-store/src/sqlite/",
        words: &["tool_use_id"],
        reason: "a column of our own schema, as the migrations name it",
    },
];

/// Ids that mean nothing but a product.
const PRODUCT_IDS: &[&str] = &["claude-code", "claude", "codex", "gemini-cli"];
/// Ids that are also plain words: only a literal of exactly this text counts.
const PRODUCT_WORDS: &[&str] = &["cursor", "opencode"];

/// Tools whose names mean nothing else.
const TOOL_NAMES: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "KillBash",
    "KillShell",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "SlashCommand",
    "TaskCreate",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "apply_patch",
    "close_agent",
    "exec_command",
    "local_shell_call",
    "request_user_input",
    "resume_agent",
    "send_input",
    "shell_command",
    "spawn_agent",
    "update_plan",
    "view_image",
    "wait_agent",
    "web_search",
    "write_stdin",
];
/// Tools that are also plain words: only a literal of exactly this text counts,
/// the name in quotes, or a rule such as `Bash(make)`.
const TOOL_WORDS: &[&str] = &[
    "Agent", "Bash", "Edit", "Glob", "Grep", "LS", "Read", "Skill", "Task", "Write",
];

/// Fields of payloads and of answers to them. Those that are plain words
/// (`cwd`, `prompt`, `command`, `error`) cannot be distinguished from ours.
const FIELD_NAMES: &[&str] = &[
    "additionalContext",
    "agent_id",
    "agent_transcript_path",
    "agent_type",
    "cell_id",
    "compact_summary",
    "custom_instructions",
    "edit_mode",
    "filePath",
    "file_path",
    "hookEventName",
    "hookSpecificOutput",
    "hook_event_name",
    "is_interrupt",
    "last_assistant_message",
    "memory_type",
    "new_source",
    "new_string",
    "notebook_path",
    "notification_type",
    "old_string",
    "originalFile",
    "permissionDecision",
    "permission_mode",
    "prompt_id",
    "session_id",
    "stop_hook_active",
    "structuredPatch",
    "subagent_type",
    "suppressOutput",
    "systemMessage",
    "tool_input",
    "tool_name",
    "tool_output",
    "tool_response",
    "tool_use_id",
    "transcript_path",
    "turn_id",
];

const VARIABLE_PREFIXES: &[&str] = &["CLAUDE_", "CLAUDECODE", "CODEX_"];

/// What the names of a client's files hold.
const FILE_WORDS: &[&str] = &["claude", "codex"];

pub(super) fn check_products(tree: &SourceTree) -> Vec<Complaint> {
    check_words(tree, &PRODUCTS)
}

pub(super) fn check_tools(tree: &SourceTree) -> Vec<Complaint> {
    check_words(tree, &TOOLS)
}

pub(super) fn check_fields(tree: &SourceTree) -> Vec<Complaint> {
    check_words(tree, &FIELDS)
}

pub(super) fn check_variables(tree: &SourceTree) -> Vec<Complaint> {
    check_words(tree, &VARIABLES)
}

pub(super) fn check_files(tree: &SourceTree) -> Vec<Complaint> {
    check_words(tree, &FILES)
}

/// A row that is no longer needed would hide the next word that slips in.
pub(super) fn check_exceptions(tree: &SourceTree) -> Vec<Complaint> {
    let found: Vec<_> = [&PRODUCTS, &TOOLS, &FIELDS, &VARIABLES, &FILES]
        .iter()
        .flat_map(|words| find_words(tree, words))
        .collect();
    let is_said = |path: &str, word: Option<&str>| {
        found.iter().any(|(file, _, said)| {
            file.path.starts_with(path) && word.is_none_or(|word| word == *said)
        })
    };
    let mut complaints = Vec::new();
    for ClientWordException {
        path,
        words,
        reason,
    } in EXCEPTIONS
    {
        let unsaid: Vec<_> = words
            .iter()
            .filter(|word| !is_said(path, Some(word)))
            .copied()
            .collect();
        if !unsaid.is_empty() || !is_said(path, None) {
            complaints.push(Complaint::for_path(
                *path,
                format!(
                    "no longer says {} ({reason}); remove it from EXCEPTIONS of xtask's clients.rs",
                    if unsaid.is_empty() {
                        "a client's word".to_owned()
                    } else {
                        format!("`{}`", unsaid.join("`, `"))
                    }
                ),
            ));
        }
    }
    complaints
}

fn check_words(tree: &SourceTree, words: &ClientWords) -> Vec<Complaint> {
    find_words(tree, words)
        .into_iter()
        .filter(|(file, _, word)| !EXCEPTIONS.iter().any(|row| row.allows(&file.path, word)))
        .map(|(file, at, word)| {
            Complaint::at_offset(file, at, format!("`{word}`: {}", words.advice))
        })
        .collect()
}

/// Every such word outside tests and outside its owners: the file, where its
/// literal begins, and the word.
fn find_words<'t>(
    tree: &'t SourceTree,
    words: &ClientWords,
) -> Vec<(&'t SourceFile, usize, &'t str)> {
    let mut found = Vec::new();
    for (file, source) in shipped_files(tree) {
        let owned = words.owners.iter().any(|own| file.path.starts_with(own));
        if owned || file.crate_name().is_none() {
            continue;
        }
        for (at, text) in &source.strings {
            if !source.in_tests(*at) {
                found.extend((words.find)(text).into_iter().map(|word| (file, *at, word)));
            }
        }
    }
    found
}

/// Products, in any case, as words of their own; part of a path or of a longer name
/// they are something that a format fixes.
fn find_products(text: &str) -> Vec<&str> {
    if PRODUCT_WORDS.contains(&text) {
        return vec![text];
    }
    split_tokens(text, "/\\-_.@")
        .filter(|token| PRODUCT_IDS.contains(&token.to_lowercase().as_str()))
        .collect()
}

fn find_tools(text: &str) -> Vec<&str> {
    let named = split_tokens(text, "_").filter(|name| TOOL_NAMES.contains(name));
    let plain = TOOL_WORDS.iter().flat_map(|word| {
        text.match_indices(word).filter_map(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            let is_rule = !before.is_some_and(is_name_char) && after == Some('(');
            let is_quoted = before == Some('"') && matches!(after, Some('"' | '\\'));
            (text == *word || is_rule || is_quoted).then_some(found)
        })
    });
    named.chain(plain).collect()
}

fn find_fields(text: &str) -> Vec<&str> {
    split_tokens(text, "_")
        .filter(|name| FIELD_NAMES.contains(name))
        .collect()
}

fn find_variables(text: &str) -> Vec<&str> {
    split_tokens(text, "_")
        .filter(|name| is_variable(name))
        .collect()
}

/// Names that hold a client's and are neither a variable nor the client itself:
/// `.claude/settings.json`, `CLAUDE.md`, a key of its settings.
fn find_files(text: &str) -> Vec<&str> {
    split_tokens(text, "/\\-_.@")
        .filter(|token| {
            let lower = token.to_lowercase();
            FILE_WORDS.iter().any(|word| lower.contains(word))
                && !PRODUCT_IDS.contains(&lower.as_str())
                && !is_variable(token)
        })
        .collect()
}

fn is_variable(name: &str) -> bool {
    VARIABLE_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The runs of letters, digits and these characters.
fn split_tokens<'t>(text: &'t str, joining: &'static str) -> impl Iterator<Item = &'t str> {
    text.split(|c: char| !(c.is_alphanumeric() || joining.contains(c)))
        .filter(|token| !token.is_empty())
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
