//! `remora hooks try`: flags become what is said of a made-up event; the engine
//! knows what such an event looks like.

use remora_core::{Event, EventName};
use remora_hooks::{SAMPLE_SESSION_ID, SampleFields, SampleSession, SettingsPaths};
use remora_instructions::auto_memory::slugify_path;
use serde_json::{Map, Value};

use crate::args::EventFieldArgs;
use crate::error::CliError;
use crate::settings::SessionSettings;

/// The made-up session of a project.
pub(in crate::commands) fn sample_session(places: &SettingsPaths) -> SampleSession {
    let project = places.project.to_string_lossy().into_owned();
    let transcript = places
        .config_dir()
        .join("projects")
        .join(slugify_path(&project))
        .join(format!("{SAMPLE_SESSION_ID}.jsonl"));
    SampleSession {
        project,
        transcript,
    }
}

/// The event's sample, with what the flags say laid over it.
pub(super) fn build_event(
    name: &str,
    args: &EventFieldArgs,
    settings: &SessionSettings,
) -> Result<Event, CliError> {
    let name = super::event_name(name)?;
    let mut fields = SampleFields {
        tool: args.tool.as_deref(),
        command: args.command.as_deref(),
        path: args.file_path.as_deref(),
        content: args.content.as_deref(),
        url: args.url.as_deref(),
        input: None,
        response: args.tool_response.as_deref().map(json_or_text),
        error: args.error.as_deref(),
        prompt: args.prompt.as_deref(),
        source: args.source.as_deref(),
        trigger: args.trigger.as_deref(),
        reason: args.reason.as_deref(),
        message: args.message.as_deref(),
        notification_type: args.notification_type.as_deref(),
        agent_type: args.agent_type.as_deref(),
        follows_block: args.stop_hook_active,
        others: Vec::new(),
    };
    fields.input = read_tool_input(name, args, &fields)?;
    for text in &args.field {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--field {text}: write NAME=VALUE")))?;
        fields.others.push((key, json_or_text(value)));
    }
    Ok(sample_session(&settings.places).build_event(name, fields)?)
}

/// What `--tool-input` says; events without a tool ignore it.
fn read_tool_input(
    name: EventName,
    args: &EventFieldArgs,
    fields: &SampleFields<'_>,
) -> Result<Option<Map<String, Value>>, CliError> {
    let Some(text) = args.tool_input.as_deref().filter(|_| name.def().has_tool) else {
        return Ok(None);
    };
    if fields.implied_tool().is_none() {
        return Err(CliError::Usage("--tool-input needs --tool NAME".into()));
    }
    match json_or_text(text) {
        Value::Object(input) => Ok(Some(input)),
        _ => Err(CliError::Usage("--tool-input must be a JSON object".into())),
    }
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
