//! Tool calls: what was done to what, and how it ended.

use remora_core::agent_event::EventKind;
use remora_core::detail::{DetailList, DetailText, ItemDetail};
use remora_core::record::{Item, Kind};
use remora_core::tool_call::{
    FileChange, FileEdit, NotebookEdit, OutputDetail, ShellCall, TaskAction, ToolCall, ToolOutcome,
    ToolUse,
};

use super::{BatchBuilder, item};
use crate::capture::CapturedEvent;
use crate::edit::{self, EditKind, EditReading};
use crate::fix::{self};
use crate::lookup::{self, LookupReading, LookupValue};
use crate::output::{self, CommandOutcome};
use crate::session::SessionState;
use crate::store::{ItemWrite, Result};
use crate::{fingerprint, folder};

/// Why a call is not kept whose tool the user skips.
pub(super) const SKIPPED_TOOL_REASON: &str = "the settings skip this tool";
/// Characters of output that are kept when nobody understands it.
const MAX_OUTPUT_CHARS: usize = 1200;
/// Characters of a fact that holds a command line or a list.
const MAX_FACT_CHARS: usize = 300;
/// Rows of one call that changes many files.
const MAX_EDIT_ROWS: usize = 20;
/// Characters that are kept of what was merely looked at.
const MAX_LOOKUP_BYTES: usize = 500;

impl BatchBuilder<'_> {
    /// Keeps a call; says why if it does not.
    pub(super) fn extract_tool_call(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Result<Option<&'static str>> {
        let EventKind::ToolFinished(tool, outcome) = &event.event.kind else {
            return Ok(Some("low value"));
        };
        if self.policy.skip_tools.contains(&tool.name) {
            return Ok(Some(SKIPPED_TOOL_REASON));
        }
        // What was asked of memory is not worth remembering; a saved fact has its
        // own row.
        if is_ours(&tool.call) {
            return Ok(Some("our own tool"));
        }
        if matches!(outcome, ToolOutcome::Failed(failure) if failure.is_misuse) {
            return Ok(Some("a misuse of the edit tool, which is tried again"));
        }
        let mut holds = None;
        let rows = match (&tool.call, outcome) {
            (ToolCall::Shell(shell), _) => vec![extract_command(event, state, shell, outcome)],
            (ToolCall::ShellPoll, _) => {
                let shell = ShellCall::default();
                vec![extract_command(event, state, &shell, outcome)]
            }
            (ToolCall::EditFiles(files), ToolOutcome::Done(_)) if !files.is_empty() => {
                extract_file_edits(event, state, files)
            }
            (ToolCall::EditNotebook(edit), ToolOutcome::Done(_)) => {
                vec![extract_notebook_edit(event, state, edit)]
            }
            _ => {
                let mut reading = lookup::read_lookup(tool, outcome, event.root());
                holds = reading.holds.take();
                let row = looked_up(event, state, tool, outcome, reading);
                row.into_iter().collect()
            }
        };
        let Some(first) = rows.first() else {
            return Ok(Some("low value"));
        };
        self.batch.files.extend(folder::collect_file_records(
            event, tool, outcome, first, holds,
        ));
        for row in rows {
            self.add_call_item(row, state)?;
        }
        Ok(None)
    }

    /// Stores a row of a call, with what it says of those before it.
    fn add_call_item(&mut self, row: Item, state: &mut SessionState) -> Result<()> {
        let tried = state.failures.tried_before(&row);
        let row = match tried.as_slice() {
            [] => row,
            tried => fix::tell_reversal(row, tried),
        };
        for edit in tried {
            let edit = item::with_token_count(edit);
            state.replace_step(&edit);
            self.batch.items.push(ItemWrite::Add(edit));
        }
        let row = item::with_token_count(row);
        self.update_fixes(&row, state)?;
        self.add_item(row, state);
        Ok(())
    }
}

/// Whether somebody looks into memory, with nothing else in the same line that is
/// worth keeping.
fn is_ours(call: &ToolCall) -> bool {
    match call {
        ToolCall::Mcp { server, tool, .. } => {
            server.ends_with(PROGRAM_NAME) || tool.contains(OUR_SERVER_PREFIX)
        }
        ToolCall::Shell(shell) => only_looks_into_memory(&shell.command),
        _ => false,
    }
}

fn only_looks_into_memory(command: &str) -> bool {
    let plain = command.replace("2>&1", "").replace("||", ";");
    let commands = plain.split(['\n', ';', '&']).map(str::trim);
    let mut commands = commands.filter(|command| !command.is_empty());
    let mut looks = false;
    // Whatever a look is piped into shows only what it found.
    let quiet = commands.all(|command| {
        let first = command.split('|').next().unwrap_or_default();
        let look = looks_into_memory(first);
        looks |= look;
        look || NO_OUTPUT_COMMANDS.contains(&first.split_whitespace().next().unwrap_or_default())
    });
    looks && quiet
}

/// What our program and our server are called.
const PROGRAM_NAME: &str = "remora";
/// Begins the names of our tools where a server passes on those of others.
const OUR_SERVER_PREFIX: &str = "remora__";
/// Commands that show nothing of their own.
const NO_OUTPUT_COMMANDS: &[&str] = &["cd", "echo", "export", "set", "true"];

/// Whether a single command prints what is remembered. One that saves is work.
fn looks_into_memory(command: &str) -> bool {
    const LOOKUP_SUBCOMMANDS: &[&str] = &[
        "context", "export", "folders", "ledger", "recap", "search", "sessions", "show", "timeline",
    ];
    const MEMORY_LOOKUP_SUBCOMMANDS: &[&str] = &["check", "diff", "list", "review", "show"];
    let is_variable = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'))
    };
    let mut words = command.split_whitespace().skip_while(is_variable);
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    match (program, words.next(), words.next()) {
        ("remora", Some("memory"), Some(verb)) => MEMORY_LOOKUP_SUBCOMMANDS.contains(&verb),
        ("remora", Some(verb), _) => LOOKUP_SUBCOMMANDS.contains(&verb),
        _ => false,
    }
}

fn extract_command(
    event: &CapturedEvent,
    state: &SessionState,
    shell: &ShellCall,
    outcome: &ToolOutcome,
) -> Item {
    let line = shell.command.as_str();
    let (printed, said) = match outcome {
        ToolOutcome::Done(output) => (output.text.as_str(), CommandOutcome::Passed),
        ToolOutcome::Failed(failure) => (failure.text.as_str(), CommandOutcome::Failed),
    };
    let key = output::same_command_key(line);
    let reading = output::read_output(line, printed, said);
    let failed = said == CommandOutcome::Failed
        || matches!(&reading, Some(r) if r.outcome == CommandOutcome::Failed);
    let kind = if failed { Kind::Failure } else { Kind::Command };
    let signs = failed.then(|| fingerprint::error_signs(line, printed, reading.as_ref()));
    let mut row = if let Some(reading) = &reading {
        let mut row = item::build_item(event, state, 0, kind, &reading.title);
        row.facts.clone_from(&reading.facts);
        row.concepts.clone_from(&reading.concepts);
        row.text.clone_from(&reading.compact);
        row.files_read = to_relative_paths(&reading.files, event.root());
        row
    } else {
        let mut title = output::describe_command(line, shell.description.as_deref());
        if failed {
            let told = signs.as_ref().and_then(|signs| signs.line.as_deref());
            title = format!("{title} failed{}", format_failure_reason(printed, told));
        }
        let mut row = item::build_item(event, state, 0, kind, &title);
        row.text = output::compact_output(printed, MAX_OUTPUT_CHARS);
        row
    };
    row.facts
        .insert(0, format!("$ {}", item::one_line(line, MAX_FACT_CHARS)));
    let mut detail = ItemDetail::new().with_text(DetailText::Command, Some(&key));
    if let Some(signs) = signs
        && let Some(print) = signs.print
    {
        detail.set_text(DetailText::Fingerprint, &print);
        detail.set_list(DetailList::Says, signs.says);
    }
    if let Some(reading) = &reading {
        detail.set_text(DetailText::Tool, reading.tool);
    }
    row.detail = Some(detail);
    row
}

/// The line that says why, with the exit code: the one that tells the error if
/// there is one.
fn format_failure_reason(printed: &str, told: Option<&str>) -> String {
    let mut lines = printed.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or("");
    let code = first.strip_prefix("Exit code ");
    let reason = if code.is_some() {
        lines.next_back()
    } else {
        Some(first)
    };
    let code = code.map(|c| format!(" (exit {c})")).unwrap_or_default();
    match told.or(reason) {
        Some(reason) if !reason.is_empty() => format!("{code}: {reason}"),
        _ => code,
    }
}

/// A row for every file that a call changed; those too many are named in the
/// last.
fn extract_file_edits(
    event: &CapturedEvent,
    state: &SessionState,
    edits: &[FileEdit],
) -> Vec<Item> {
    let (told, rest) = edits.split_at(edits.len().min(MAX_EDIT_ROWS));
    let rows = told.iter().enumerate();
    let mut rows: Vec<Item> = rows
        .map(|(nth, edit)| extract_file_edit(event, state, nth, edit))
        .collect();
    if let Some(last) = rows.last_mut()
        && !rest.is_empty()
    {
        let paths = rest.iter().map(|edit| edit.path.as_str());
        let names: Vec<String> = paths
            .map(|path| folder::relative_to_root(path, event.root()))
            .collect();
        let fact = format!("and {} more files: {}", names.len(), names.join(", "));
        last.facts.push(item::one_line(&fact, MAX_FACT_CHARS));
    }
    rows
}

fn extract_file_edit(
    event: &CapturedEvent,
    state: &SessionState,
    nth: usize,
    edit: &FileEdit,
) -> Item {
    let reading = edit::read_edit_call(edit, event.root());
    let path = Some(edit.path.as_str()).filter(|_| edit.is_named);
    let mut row = build_edit_item(event, state, nth, reading, path);
    if let FileChange::Moved { from } = &edit.change {
        let from = folder::relative_to_root(from, event.root());
        row.files_modified.push(from);
    }
    row
}

fn extract_notebook_edit(event: &CapturedEvent, state: &SessionState, edit: &NotebookEdit) -> Item {
    let reading = edit::read_notebook_edit(edit, event.root());
    let path = Some(edit.path.as_str()).filter(|_| edit.is_named);
    build_edit_item(event, state, 0, reading, path)
}

/// A row of an edit; `path` is the file as the call named it.
fn build_edit_item(
    event: &CapturedEvent,
    state: &SessionState,
    nth: usize,
    reading: EditReading,
    path: Option<&str>,
) -> Item {
    let kind = match reading.kind {
        EditKind::Feature => Kind::Feature,
        EditKind::Bugfix => Kind::Bugfix,
        EditKind::Refactor => Kind::Refactor,
        EditKind::Change | EditKind::Docs | EditKind::Test | EditKind::Config => Kind::Change,
    };
    let path = path.filter(|path| !path.is_empty());
    let mending = path.and_then(|path| state.failures.find_failure_behind(path));
    // An edit between a failure and the next run of what failed is an attempt
    // to mend it, whatever it looks like.
    let kind = match mending {
        Some(_) if kind != Kind::Feature => Kind::Bugfix,
        _ => kind,
    };
    let mut row = item::build_item(event, state, nth, kind, &reading.title);
    row.facts = reading.facts;
    if let Some(failure) = mending {
        row.facts.push(format!("after: {}", failure.title));
    }
    row.concepts = reading.concepts;
    row.concepts.extend(reading.symbols);
    row.text = reading.diff;
    row.files_modified = path
        .map(|path| folder::relative_to_root(path, event.root()))
        .into_iter()
        .collect();
    row
}

fn looked_up(
    event: &CapturedEvent,
    state: &SessionState,
    tool: &ToolUse,
    outcome: &ToolOutcome,
    reading: LookupReading,
) -> Option<Item> {
    if reading.worth == LookupValue::Skip {
        return None;
    }
    let kind = match &tool.call {
        _ if matches!(outcome, ToolOutcome::Failed(_)) => Kind::Failure,
        ToolCall::Subagent(_) => Kind::Task,
        // A task that is stopped has come to nothing.
        ToolCall::Task(task) if task.action != TaskAction::Stopped => Kind::Task,
        _ if !reading.files_modified.is_empty() => Kind::Change,
        _ => Kind::Discovery,
    };
    let mut row = item::build_item(event, state, 0, kind, &reading.title);
    row.facts = reading.facts;
    row.concepts = reading.concepts;
    row.files_read = reading.files_read;
    row.files_modified = reading.files_modified;
    let agent = match outcome {
        ToolOutcome::Done(output) => match &output.detail {
            OutputDetail::Subagent(became) => became.id.as_deref(),
            _ => None,
        },
        ToolOutcome::Failed(_) => None,
    };
    if let Some(told) = agent.and_then(|id| state.find_report(id)) {
        // One row for both: what was asked, and the result in its own words.
        row.uid.clone_from(&told.uid);
        row.subagent.clone_from(&told.subagent);
        row.speaker.clone_from(&told.speaker);
        row.text.clone_from(&told.text);
        return Some(row);
    }
    // What was looked at can be looked at again; a row only says what it was.
    row.text = match kind {
        Kind::Discovery => item::truncate_middle(&reading.text, MAX_LOOKUP_BYTES),
        _ => reading.text,
    };
    Some(row)
}

fn to_relative_paths(files: &[String], root: &str) -> Vec<String> {
    files
        .iter()
        .map(|f| folder::relative_to_root(f, root))
        .collect()
}

#[cfg(test)]
mod tests {
    use remora_core::tool_call::{ShellCall, ToolCall};
    use serde_json::Value;

    fn is_ours(command: &str) -> bool {
        super::is_ours(&ToolCall::Shell(ShellCall {
            command: command.to_owned(),
            description: None,
        }))
    }

    fn is_our_tool(server: &str, tool: &str) -> bool {
        super::is_ours(&ToolCall::Mcp {
            server: server.to_owned(),
            tool: tool.to_owned(),
            input: Value::Null,
        })
    }

    #[test]
    fn looks_into_memory_are_known_however_they_are_written() {
        for command in [
            "remora search cart",
            "/home/dev/.cargo/bin/remora show 12",
            "cd /home/dev/shop && remora timeline | head -20",
            "TZ=UTC remora recap --since monday 2>&1",
            "remora memory list",
            "remora export --events | grep cart | wc -l",
        ] {
            assert!(is_ours(command), "{command}");
        }
        for command in [
            "cargo test && remora search cart",
            "remora search cart || cargo test",
            "cat src/cart.rs; remora search cart",
            "remora remember 'Ask Ann.'",
            "remora memory add 'Ask Ann.'",
            "remora import jsonl c.jsonl",
            "grep remora search.rs",
            "cd shop",
            "./remora-tool search x",
        ] {
            assert!(!is_ours(command), "{command}");
        }
        assert!(is_our_tool("remora", "search"));
        assert!(is_our_tool("remora_remora", "get"));
        assert!(is_our_tool("gateway", "remora__get"));
        assert!(!is_our_tool("lab", "search"));
    }
}
