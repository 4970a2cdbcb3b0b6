//! Tool calls: what was done to what, and how it ended.

use remora_protocol::record::{Item, Kind};
use serde_json::Value;

use super::{Work, item};
use crate::capture::Captured;
use crate::edit::{self, EditKind};
use crate::fix::{self, field};
use crate::lookup::{self, Worth};
use crate::output::{self, Outcome};
use crate::session::State;
use crate::store::{Result, Write};
use crate::{fingerprint, folder};

/// Why a call is not kept whose tool the person skips.
pub(super) const SKIPPED: &str = "the settings skip this tool";
/// Characters of output that are kept when nobody understands it.
const TEXT: usize = 1200;
/// Characters that are kept of what was merely looked at.
const LOOKED_AT: usize = 500;

impl Work<'_> {
    /// Keeps a call; says why if it does not.
    pub(super) fn call(
        &mut self,
        event: &Captured,
        state: &mut State,
    ) -> Result<Option<&'static str>> {
        let tool = event.text("tool_name");
        if self.policy.skip_tools.iter().any(|skip| skip == tool) {
            return Ok(Some(SKIPPED));
        }
        // What was asked of memory is not worth remembering; a saved fact has its
        // own row.
        let call = Call::of(event);
        if is_ours(tool, call.input("command")) {
            return Ok(Some("our own tool"));
        }
        if is_misused(tool, call.error) {
            return Ok(Some("a misuse of the edit tool, which is tried again"));
        }
        let row = match tool {
            "Bash" | "BashOutput" => Some(command(event, state, &call)),
            _ if call.error.is_none() => edited(event, state, &call),
            _ => None,
        };
        let row = match row {
            Some(row) => row,
            None => match looked_up(event, state, &call) {
                Some(row) => row,
                None => return Ok(Some("low value")),
            },
        };
        self.batch.files.extend(folder::touched(event, &row));
        let tried = state.failures.tried_before(&row);
        let row = match tried.as_slice() {
            [] => row,
            tried => fix::tell_reversal(row, tried),
        };
        for edit in tried {
            let edit = item::weigh(edit);
            state.tell_anew(&edit);
            self.batch.items.push(Write::Add(edit));
        }
        let row = item::weigh(row);
        self.learn(&row, state)?;
        self.add(row, state);
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
        look || QUIET.contains(&first.split_whitespace().next().unwrap_or_default())
    });
    tool == "Bash" && looks && quiet
}

/// Whether an edit was refused for how it was asked for. That says nothing of the
/// project: the agent reads the file and asks again.
fn is_misused(tool: &str, error: Option<&str>) -> bool {
    const MISUSES: &[&str] = &[
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
        && MISUSES.iter().any(|misuse| error.contains(misuse))
}

/// Commands that show nothing of their own.
const QUIET: &[&str] = &["cd", "echo", "export", "set", "true"];

/// Whether a single command prints what is remembered. One that saves is work.
fn looks_into_memory(command: &str) -> bool {
    const LOOKS: &[&str] = &[
        "context", "export", "folders", "ledger", "recap", "search", "sessions", "show", "timeline",
    ];
    const SAVED: &[&str] = &["check", "diff", "list", "review", "show"];
    let is_variable = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'))
    };
    let mut words = command.split_whitespace().skip_while(is_variable);
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    match (program, words.next(), words.next()) {
        ("remora", Some("memory"), Some(verb)) => SAVED.contains(&verb),
        ("remora", Some(verb), _) => LOOKS.contains(&verb),
        _ => false,
    }
}

/// The parts of a call.
struct Call<'a> {
    input: &'a Value,
    response: Option<&'a Value>,
    error: Option<&'a str>,
}

impl<'a> Call<'a> {
    fn of(event: &'a Captured) -> Self {
        let error = event.value("error").and_then(Value::as_str);
        Self {
            input: event.value("tool_input").unwrap_or(&Value::Null),
            response: event.value("tool_response"),
            error,
        }
    }

    fn input(&self, name: &str) -> &'a str {
        self.input.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// What the command printed.
    fn printed(&self) -> String {
        if let Some(error) = self.error {
            return error.to_owned();
        }
        self.response
            .map(output::printed_output)
            .unwrap_or_default()
    }
}

fn command(event: &Captured, state: &State, call: &Call<'_>) -> Item {
    let line = call.input("command");
    let printed = call.printed();
    let said = match call.error {
        Some(_) => Outcome::Failed,
        None => Outcome::Passed,
    };
    let key = output::same_command_key(line);
    let reading = output::read(line, &printed, said);
    let failed =
        call.error.is_some() || matches!(&reading, Some(r) if r.outcome == Outcome::Failed);
    let kind = if failed { Kind::Failure } else { Kind::Command };
    let signs = failed.then(|| fingerprint::error_signs(line, &printed, reading.as_ref()));
    let mut row = if let Some(reading) = &reading {
        let mut row = item::of(event, state, 0, kind, &reading.title);
        row.facts.clone_from(&reading.facts);
        row.concepts.clone_from(&reading.concepts);
        row.text.clone_from(&reading.compact);
        row.files_read = relative(&reading.files, event.root());
        row
    } else {
        let description = Some(call.input("description")).filter(|d| !d.is_empty());
        let mut title = output::describe_command(line, description);
        if failed {
            let told = signs.as_ref().and_then(|signs| signs.line.as_deref());
            title = format!("{title} failed{}", why(&printed, told));
        }
        let mut row = item::of(event, state, 0, kind, &title);
        row.text = output::compact(&printed, TEXT);
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
fn why(printed: &str, told: Option<&str>) -> String {
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

fn edited(event: &Captured, state: &State, call: &Call<'_>) -> Option<Item> {
    let tool = event.text("tool_name");
    let reading = edit::read_call(tool, call.input, call.response, event.root())?;
    let kind = match reading.kind {
        EditKind::Feature => Kind::Feature,
        EditKind::Bugfix => Kind::Bugfix,
        EditKind::Refactor => Kind::Refactor,
        EditKind::Change | EditKind::Docs | EditKind::Test | EditKind::Config => Kind::Change,
    };
    let path = ["file_path", "notebook_path"]
        .into_iter()
        .map(|name| call.input(name))
        .find(|path| !path.is_empty());
    let mending = path.and_then(|path| state.failures.behind(path));
    // An edit between a failure and the next run of what failed is an attempt
    // to mend it, whatever it looks like.
    let kind = match mending {
        Some(_) if kind != Kind::Feature => Kind::Bugfix,
        _ => kind,
    };
    let mut row = item::of(event, state, 0, kind, &reading.title);
    row.facts = reading.facts;
    if let Some(failure) = mending {
        row.facts.push(format!("after: {}", failure.title));
    }
    row.concepts = reading.concepts;
    row.concepts.extend(reading.symbols);
    row.text = reading.diff;
    row.files_modified = path
        .map(|path| folder::relative(path, event.root()))
        .into_iter()
        .collect();
    Some(row)
}

fn looked_up(event: &Captured, state: &State, call: &Call<'_>) -> Option<Item> {
    let tool = event.text("tool_name");
    let reading = lookup::read(tool, call.input, call.response, call.error, event.root());
    if reading.worth == Worth::Skip {
        return None;
    }
    let kind = match tool {
        _ if call.error.is_some() => Kind::Failure,
        "Agent" | "Task" | "TaskCreate" | "TaskUpdate" => Kind::Task,
        _ if !reading.files_modified.is_empty() => Kind::Change,
        _ => Kind::Discovery,
    };
    let mut row = item::of(event, state, 0, kind, &reading.title);
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
        Kind::Discovery => item::shorten(&reading.text, LOOKED_AT),
        _ => reading.text,
    };
    Some(row)
}

fn relative(files: &[String], root: &str) -> Vec<String> {
    files.iter().map(|f| folder::relative(f, root)).collect()
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
