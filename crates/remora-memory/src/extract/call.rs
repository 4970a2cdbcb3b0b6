//! Tool calls: what was done to what, and how it ended.

use remora_core::record::{Item, Kind};
use serde_json::Value;

use super::{BatchBuilder, item};
use crate::capture::CapturedEvent;
use crate::edit::{self, EditKind};
use crate::fix::{self, field};
use crate::lookup::{self, LookupValue};
use crate::output::{self, CommandOutcome};
use crate::session::SessionState;
use crate::store::{ItemWrite, Result};
use crate::{fingerprint, folder};

/// Why a call is not kept whose tool the person skips.
pub(super) const SKIPPED_TOOL_REASON: &str = "the settings skip this tool";
/// Characters of output that are kept when nobody understands it.
const MAX_OUTPUT_CHARS: usize = 1200;
/// Characters that are kept of what was merely looked at.
const MAX_LOOKUP_BYTES: usize = 500;

impl BatchBuilder<'_> {
    /// Keeps a call; says why if it does not.
    pub(super) fn extract_tool_call(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Result<Option<&'static str>> {
        let tool = event.text_field("tool_name");
        if self.policy.skip_tools.iter().any(|skip| skip == tool) {
            return Ok(Some(SKIPPED_TOOL_REASON));
        }
        // What was asked of memory is not worth remembering; a saved fact has its
        // own row.
        let call = ToolCallParts::from_event(event);
        if is_ours(tool, call.input_text("command")) {
            return Ok(Some("our own tool"));
        }
        if is_misused(tool, call.error) {
            return Ok(Some("a misuse of the edit tool, which is tried again"));
        }
        let row = match tool {
            "Bash" | "BashOutput" => Some(extract_command(event, state, &call)),
            _ if call.error.is_none() => extract_edit(event, state, &call),
            _ => None,
        };
        let row = match row {
            Some(row) => row,
            None => match looked_up(event, state, &call) {
                Some(row) => row,
                None => return Ok(Some("low value")),
            },
        };
        self.batch
            .files
            .extend(folder::collect_file_records(event, &row));
        let tried = state.failures.tried_before(&row);
        let row = match tried.as_slice() {
            [] => row,
            tried => fix::tell_reversal(row, tried),
        };
        for edit in tried {
            let edit = item::with_token_count(edit);
            state.tell_anew(&edit);
            self.batch.items.push(ItemWrite::Add(edit));
        }
        let row = item::with_token_count(row);
        self.update_fixes(&row, state)?;
        self.add_item(row, state);
        Ok(None)
    }
}

/// Whether somebody looks into memory, with nothing else in the same line that is
/// worth keeping.
fn is_ours(tool: &str, command: &str) -> bool {
    if tool.starts_with("mcp__") {
        return tool.contains("remora__");
    }
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
    tool == "Bash" && looks && quiet
}

/// Whether an edit was refused for how it was asked for. That says nothing of the
/// project: the agent reads the file and asks again.
fn is_misused(tool: &str, error: Option<&str>) -> bool {
    const MISUSE_PHRASES: &[&str] = &[
        "string to replace not found",
        "matches of the string to replace",
        "has not been read yet",
        "modified since read",
        "unexpectedly modified",
        "no changes to make",
        "file does not exist",
        "file already exists",
        "inputvalidationerror",
    ];
    let error = error.unwrap_or_default().to_lowercase();
    matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit")
        && MISUSE_PHRASES.iter().any(|misuse| error.contains(misuse))
}

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

/// The parts of a call.
struct ToolCallParts<'a> {
    input: &'a Value,
    response: Option<&'a Value>,
    error: Option<&'a str>,
}

impl<'a> ToolCallParts<'a> {
    fn from_event(event: &'a CapturedEvent) -> Self {
        let error = event.json_field("error").and_then(Value::as_str);
        Self {
            input: event.json_field("tool_input").unwrap_or(&Value::Null),
            response: event.json_field("tool_response"),
            error,
        }
    }

    fn input_text(&self, name: &str) -> &'a str {
        self.input.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// What the command printed.
    fn printed_output(&self) -> String {
        if let Some(error) = self.error {
            return error.to_owned();
        }
        self.response
            .map(output::printed_output)
            .unwrap_or_default()
    }
}

fn extract_command(event: &CapturedEvent, state: &SessionState, call: &ToolCallParts<'_>) -> Item {
    let line = call.input_text("command");
    let printed = call.printed_output();
    let said = match call.error {
        Some(_) => CommandOutcome::Failed,
        None => CommandOutcome::Passed,
    };
    let key = output::same_command_key(line);
    let reading = output::read_output(line, &printed, said);
    let failed =
        call.error.is_some() || matches!(&reading, Some(r) if r.outcome == CommandOutcome::Failed);
    let kind = if failed { Kind::Failure } else { Kind::Command };
    let signs = failed.then(|| fingerprint::error_signs(line, &printed, reading.as_ref()));
    let mut row = if let Some(reading) = &reading {
        let mut row = item::build_item(event, state, 0, kind, &reading.title);
        row.facts.clone_from(&reading.facts);
        row.concepts.clone_from(&reading.concepts);
        row.text.clone_from(&reading.compact);
        row.files_read = to_relative_paths(&reading.files, event.root());
        row
    } else {
        let description = Some(call.input_text("description")).filter(|d| !d.is_empty());
        let mut title = output::describe_command(line, description);
        if failed {
            let told = signs.as_ref().and_then(|signs| signs.line.as_deref());
            title = format!("{title} failed{}", format_failure_reason(&printed, told));
        }
        let mut row = item::build_item(event, state, 0, kind, &title);
        row.text = output::compact_output(&printed, MAX_OUTPUT_CHARS);
        row
    };
    row.facts
        .insert(0, format!("$ {}", item::one_line(line, 300)));
    let mut detail = serde_json::Map::new();
    detail.insert(field::COMMAND.into(), key.into());
    if let Some(signs) = signs
        && let Some(print) = signs.print
    {
        detail.insert(field::FINGERPRINT.into(), print.into());
        detail.insert(field::SAYS.into(), signs.says.into());
    }
    if let Some(reading) = &reading {
        detail.insert(field::TOOL.into(), reading.tool.into());
    }
    row.detail = Some(Value::Object(detail));
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

fn extract_edit(
    event: &CapturedEvent,
    state: &SessionState,
    call: &ToolCallParts<'_>,
) -> Option<Item> {
    let tool = event.text_field("tool_name");
    let reading = edit::read_call(tool, call.input, call.response, event.root())?;
    let kind = match reading.kind {
        EditKind::Feature => Kind::Feature,
        EditKind::Bugfix => Kind::Bugfix,
        EditKind::Refactor => Kind::Refactor,
        EditKind::Change | EditKind::Docs | EditKind::Test | EditKind::Config => Kind::Change,
    };
    let path = ["file_path", "notebook_path"]
        .into_iter()
        .map(|name| call.input_text(name))
        .find(|path| !path.is_empty());
    let mending = path.and_then(|path| state.failures.find_failure_behind(path));
    // An edit between a failure and the next run of what failed is an attempt
    // to mend it, whatever it looks like.
    let kind = match mending {
        Some(_) if kind != Kind::Feature => Kind::Bugfix,
        _ => kind,
    };
    let mut row = item::build_item(event, state, 0, kind, &reading.title);
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
    Some(row)
}

fn looked_up(
    event: &CapturedEvent,
    state: &SessionState,
    call: &ToolCallParts<'_>,
) -> Option<Item> {
    let tool = event.text_field("tool_name");
    let reading = lookup::read_lookup(tool, call.input, call.response, call.error, event.root());
    if reading.worth == LookupValue::Skip {
        return None;
    }
    let kind = match tool {
        _ if call.error.is_some() => Kind::Failure,
        "Agent" | "Task" | "TaskCreate" | "TaskUpdate" => Kind::Task,
        _ if !reading.files_modified.is_empty() => Kind::Change,
        _ => Kind::Discovery,
    };
    let mut row = item::build_item(event, state, 0, kind, &reading.title);
    row.facts = reading.facts;
    row.concepts = reading.concepts;
    row.files_read = reading.files_read;
    row.files_modified = reading.files_modified;
    let agent = call.response.and_then(|r| r.get("agentId")?.as_str());
    if let Some(told) = agent.and_then(|id| state.told_by(id)) {
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
    use super::is_ours;

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
            assert!(is_ours("Bash", command), "{command}");
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
            assert!(!is_ours("Bash", command), "{command}");
        }
        assert!(is_ours("mcp__remora__search", ""));
        assert!(is_ours("mcp__plugin_remora_remora__get", ""));
        assert!(!is_ours("mcp__lab__search", ""));
    }
}
