//! `remora hooks record`: a hook that keeps every event of a session in a file,
//! redacted as everything that is kept.

use std::io;

use remora_agents::{field_roles, recorded_agent};
use remora_core::time::format_rfc3339;
use remora_core::{EVENTS, Event, EventName};
use remora_hook_tools::recording::append_event;
use remora_instructions::normalise_path;
use remora_redact::private;
use remora_redact::{RedactionCounts, RedactionRules, Redactor};
use serde_json::{Map, Value, json};

use super::{MAX_EVENT_BYTES, read_bounded};
use crate::args::HooksRecordArgs;
use crate::clock;
use crate::commands::data::DataDir;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::OFF_VARIABLE;
use crate::output::{Output, print_note, quote_for_shell};

/// How long the agent waits for it, in seconds.
const RECORD_TIMEOUT_SECS: u64 = 10;

pub(super) fn run(args: &HooksRecordArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let here = environment
        .directory()
        .ok_or_else(|| CliError::Usage("the current directory is gone".to_owned()))?;
    let file = normalise_path(&here.join(&args.file));
    if args.print_settings {
        let own = std::env::current_exe()?;
        let command = format!(
            "{} hooks record {}",
            quote_for_shell(&own.to_string_lossy()),
            quote_for_shell(&file.to_string_lossy())
        );
        out.print_json(&build_settings(&command))?;
        return Ok(Exit::GoOn);
    }
    // An event that a user tries out never happened.
    if environment.is_on(OFF_VARIABLE) {
        return Ok(Exit::GoOn);
    }
    // A recorder never harms the session that it records.
    let recorded = read_bounded(io::stdin().lock())
        .map_err(CliError::Stdin)
        .and_then(|bytes| {
            if bytes.len() as u64 > MAX_EVENT_BYTES {
                return Err(CliError::Usage("the event is too long".to_owned()));
            }
            let event = redact_event(Event::decode(&bytes, None)?)?;
            append_event(&file, &format_rfc3339(clock::now_ms()), &event)
                .map_err(|error| CliError::Usage(error.to_string()))
        });
    if let Err(error) = recorded {
        print_note(&format!("the event is not recorded: {error}"));
    }
    Ok(Exit::GoOn)
}

/// A hook on every event that can be recorded without changing what it does.
fn build_settings(command: &str) -> Value {
    let mut hooks = Map::new();
    let recorded = |name: EventName| name != EventName::WorktreeCreate;
    for event in EVENTS.iter().filter(|event| recorded(event.name)) {
        let handler = json!({
            "type": "command",
            "command": command,
            "timeout": RECORD_TIMEOUT_SECS,
        });
        hooks.insert(event.text.to_owned(), json!([{ "hooks": [handler] }]));
    }
    json!({ "hooks": hooks })
}

fn redact_event(event: Event) -> Result<Value, CliError> {
    // The user's own rules count too, if they can be read.
    let redactor = DataDir::open().and_then(|data| Ok(data.app.build_redactor()?));
    let redactor = match redactor {
        Ok(redactor) => redactor,
        Err(_) => Redactor::new(&RedactionRules::default())
            .map_err(|error| CliError::Usage(error.to_string()))?,
    };
    let mut value = Value::Object(event.fields);
    private::strip_value(&mut value);
    let roles = field_roles(recorded_agent().name);
    redactor.redact_json(&mut value, roles, &mut RedactionCounts::new());
    Ok(value)
}
