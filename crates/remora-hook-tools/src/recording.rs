//! Events of real sessions in a file, one a line, and what hooks decide when they
//! are played again.
//!
//! The file itself shows a part of what was decided then: a call that was made
//! reports back under its id, one that was kept from it does not.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use remora_core::{Event, EventName, Permission};
use remora_files::open_regular;
use remora_hooks::{HandlerStatus, Report, SAMPLE_SESSION_ID};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The longest line that is read: an event and a little around it.
const MAX_LINE_BYTES: usize = 96 << 20;
/// How much of a call is shown beside its event.
const MAX_SUBJECT_CHARS: usize = 70;

/// Why a recording cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The disk said no.
    #[error("{}: {source}", file.display())]
    Io {
        /// The recording.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line that is no recorded event.
    #[error("{}:{line}: {problem}", file.display())]
    Line {
        /// The recording.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// One recorded event.
#[derive(Debug, Clone)]
pub struct RecordedEvent {
    /// Its line in the file, from 1.
    pub line: usize,
    /// When it happened.
    pub at: String,
    /// The event as it came, redacted.
    pub event: Event,
}

impl RecordedEvent {
    /// The event under the id of no real session, so that no memory takes it for
    /// something that happened.
    pub fn make_unreal(&self) -> Event {
        let mut event = self.event.clone();
        if let Some(id) = event.fields.get_mut("session_id") {
            *id = SAMPLE_SESSION_ID.into();
        }
        event
    }

    /// What it is about, in a few words.
    pub fn describe_subject(&self) -> String {
        let event = &self.event;
        let input = event.fields.get("tool_input").and_then(Value::as_object);
        let first = input.into_iter().flatten().find_map(|(_, v)| v.as_str());
        let words = [event.subject_text(), first.or(event.str_field("prompt"))];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        let text = words.join(" ").replace('\n', " ");
        text.chars().take(MAX_SUBJECT_CHARS).collect()
    }
}

/// Adds an event to a recording that only its owner can read. One write, so
/// that hooks that run at once do not mix their lines.
pub fn append_event(file: &Path, at: &str, event: &Value) -> Result<(), RecordingError> {
    let failed = |source| RecordingError::Io {
        file: file.to_path_buf(),
        source,
    };
    let mut line = json!({ "at": at, "event": event }).to_string();
    line.push('\n');
    let mut file = open_private(file).map_err(failed)?;
    file.write_all(line.as_bytes()).map_err(failed)
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A file that was there may be readable by others; what is recorded is not.
        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Reads a recording. The last line may be cut off by a session that goes on.
pub fn read_recording(file: &Path) -> Result<Vec<RecordedEvent>, RecordingError> {
    let failed = |source| RecordingError::Io {
        file: file.to_path_buf(),
        source,
    };
    let opened = open_regular(file).map_err(|error| failed(error.into()))?;
    let mut reader = BufReader::new(opened);
    let mut events = Vec::new();
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        if reader.read_until(b'\n', &mut text).map_err(failed)? == 0 {
            break;
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match read_line(&text, line) {
            Ok(event) => events.push(event),
            Err(_) if text.last() != Some(&b'\n') => break,
            Err(problem) => {
                return Err(RecordingError::Line {
                    file: file.to_path_buf(),
                    line,
                    problem,
                });
            }
        }
    }
    Ok(events)
}

fn read_line(text: &[u8], line: usize) -> Result<RecordedEvent, String> {
    if text.len() > MAX_LINE_BYTES {
        return Err(format!("is longer than {} MiB", MAX_LINE_BYTES >> 20));
    }
    let mut value: Value =
        serde_json::from_slice(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let at = value.get("at").and_then(Value::as_str).unwrap_or_default();
    let at = at.to_owned();
    let event = value
        .get_mut("event")
        .map(Value::take)
        .ok_or("there is no `event` in it")?;
    let event = Event::from_value(event, None).map_err(|error| error.to_string())?;
    Ok(RecordedEvent { line, at, event })
}

/// What the recording shows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownThen {
    /// The call was made.
    Ran,
    /// The session went on without it.
    DidNotRun,
    /// The recording does not say.
    Unknown,
}

/// What became of each event then, as far as later ones show it.
pub fn find_shown(events: &[RecordedEvent]) -> Vec<ShownThen> {
    let mut reported: HashSet<&str> = HashSet::new();
    for recorded in events {
        let event = &recorded.event;
        if matches!(
            event.name,
            EventName::PostToolUse | EventName::PostToolUseFailure
        ) {
            reported.extend(event.str_field("tool_use_id"));
        }
    }
    let shown = |at: usize, recorded: &RecordedEvent| {
        let event = &recorded.event;
        let Some(call) = event.str_field("tool_use_id") else {
            return ShownThen::Unknown;
        };
        if event.name != EventName::PreToolUse {
            return ShownThen::Unknown;
        }
        if reported.contains(call) {
            return ShownThen::Ran;
        }
        // A call that is still running has nothing after it but other calls.
        let session = event.str_field("session_id");
        let over = events[at + 1..].iter().any(|later| {
            later.event.str_field("session_id") == session
                && matches!(
                    later.event.name,
                    EventName::Stop | EventName::UserPromptSubmit | EventName::PostToolBatch
                )
        });
        if over {
            ShownThen::DidNotRun
        } else {
            ShownThen::Unknown
        }
    };
    events
        .iter()
        .enumerate()
        .map(|(at, recorded)| shown(at, recorded))
        .collect()
}

/// What hooks decide on an event, as far as it is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// `deny`, `ask`, `defer`, `allow`, `blocked`, `stopped` or `go on`.
    pub decision: String,
    /// Why.
    pub reason: Option<String>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Texts for the user.
    pub messages: Vec<String>,
    /// The input in place of the call's own.
    pub updated_input: Option<Map<String, Value>>,
    /// What ran, in its order.
    pub ran: Vec<String>,
    /// What failed or ran out of time.
    pub failed: Vec<String>,
}

impl Decision {
    /// What a run decided.
    pub fn from_report(report: &Report) -> Self {
        let outcome = &report.outcome;
        let decision = match outcome.permission {
            Some(permission) if permission != Permission::Allow => permission.as_str(),
            _ if outcome.blocked => "blocked",
            _ if !outcome.go_on => "stopped",
            Some(permission) => permission.as_str(),
            None => "go on",
        };
        let labels = |wanted: &dyn Fn(HandlerStatus) -> bool| {
            let handlers = report.handlers.iter().filter(|h| wanted(h.status));
            handlers.map(|h| h.info.label.clone()).collect()
        };
        Self {
            decision: decision.to_owned(),
            reason: outcome.reason.clone(),
            context: outcome.context.clone(),
            messages: outcome.messages.clone(),
            updated_input: outcome.updated_input.clone(),
            ran: labels(&|status| status != HandlerStatus::Skipped),
            failed: labels(&|status| {
                matches!(status, HandlerStatus::Error | HandlerStatus::Timeout)
            }),
        }
    }

    /// Whether the event does not happen, or the turn ends.
    pub fn keeps_from_running(&self) -> bool {
        matches!(self.decision.as_str(), "deny" | "blocked" | "ask" | "defer")
    }

    /// What differs, as name, before and after.
    pub fn list_differences(&self, after: &Self) -> Vec<(&'static str, String, String)> {
        let lines = |list: &[String]| list.join("\n");
        let option = |text: &Option<String>| text.clone().unwrap_or_default();
        let input = |input: &Option<Map<String, Value>>| {
            input
                .clone()
                .map_or_else(String::new, |map| Value::Object(map).to_string())
        };
        let rows = [
            ("decision", self.decision.clone(), after.decision.clone()),
            ("reason", option(&self.reason), option(&after.reason)),
            (
                "updated input",
                input(&self.updated_input),
                input(&after.updated_input),
            ),
            ("for the model", lines(&self.context), lines(&after.context)),
            (
                "for the user",
                lines(&self.messages),
                lines(&after.messages),
            ),
            ("failed", lines(&self.failed), lines(&after.failed)),
            ("ran", lines(&self.ran), lines(&after.ran)),
        ];
        rows.into_iter()
            .filter(|(_, before, after)| before != after)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(events: &[Value]) -> Vec<RecordedEvent> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.jsonl");
        for event in events {
            append_event(&file, "2026-01-01T00:00:00.000Z", event).unwrap();
        }
        read_recording(&file).unwrap()
    }

    #[test]
    fn later_events_show_what_became_of_a_call() {
        let call = |name: &str, id: &str| json!({"hook_event_name": name, "session_id": "s", "tool_use_id": id, "tool_name": "Bash", "tool_input": {}});
        let events = recording(&[
            call("PreToolUse", "made"),
            call("PostToolUse", "made"),
            call("PreToolUse", "denied"),
            json!({"hook_event_name": "Stop", "session_id": "s"}),
            call("PreToolUse", "open"),
        ]);
        assert_eq!(
            find_shown(&events),
            [
                ShownThen::Ran,
                ShownThen::Unknown,
                ShownThen::DidNotRun,
                ShownThen::Unknown,
                ShownThen::Unknown
            ]
        );
    }

    #[test]
    fn a_recording_is_private_and_a_cut_end_is_no_mistake() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.jsonl");
        std::fs::write(&file, "").unwrap();
        append_event(&file, "t", &json!({"hook_event_name": "Stop"})).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let whole = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{whole}{{\"at\": \"t\", \"ev")).unwrap();
        assert_eq!(read_recording(&file).unwrap().len(), 1);
        std::fs::write(&file, format!("{{}}\n{whole}")).unwrap();
        let error = read_recording(&file).unwrap_err().to_string();
        assert!(
            error.ends_with("r.jsonl:1: there is no `event` in it"),
            "{error}"
        );
    }

    #[test]
    fn only_what_differs_is_listed() {
        let before = Decision {
            decision: "go on".to_owned(),
            ..Decision::default()
        };
        let after = Decision {
            decision: "deny".to_owned(),
            reason: Some("no".to_owned()),
            ..Decision::default()
        };
        assert_eq!(before.list_differences(&before), []);
        assert_eq!(
            before.list_differences(&after),
            [
                ("decision", "go on".to_owned(), "deny".to_owned()),
                ("reason", String::new(), "no".to_owned())
            ]
        );
        assert!(after.keeps_from_running() && !before.keeps_from_running());
    }
}
