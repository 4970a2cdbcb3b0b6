//! `remora hooks try`: a realistic event from a few flags.

use remora_core::{Event, EventName};
use remora_hooks::SettingsPaths;
use remora_instructions::auto_memory::slugify_path;
use serde_json::{Map, Value, json};

use crate::args::EventFieldArgs;
use crate::error::CliError;
use crate::settings::SessionSettings;

const SAMPLE_SESSION_ID: &str = "00000000-0000-4000-8000-000000000000";

/// What every event of a made-up session carries.
pub(in crate::commands) fn build_common_fields(places: &SettingsPaths) -> Map<String, Value> {
    let project = places.project.to_string_lossy().into_owned();
    let transcript = places
        .config_dir()
        .join("projects")
        .join(slugify_path(&project))
        .join(format!("{SAMPLE_SESSION_ID}.jsonl"));
    let mut event = Map::new();
    event.insert("session_id".into(), SAMPLE_SESSION_ID.into());
    event.insert(
        "transcript_path".into(),
        transcript.to_string_lossy().into(),
    );
    event.insert("cwd".into(), project.into());
    event
}

/// The event's sample, with what the flags say laid over it.
pub(super) fn build_event(
    name: &str,
    fields: &EventFieldArgs,
    settings: &SessionSettings,
) -> Result<Event, CliError> {
    let name = super::event_name(name)?;
    let project = settings.places.project.to_string_lossy().into_owned();
    let mut event = build_common_fields(&settings.places);
    let mut set = |key: &str, value: Value| event.insert(key.to_owned(), value);
    let sample: Map<String, Value> = serde_json::from_str(name.def().sample)?;
    if name.def().has_tool {
        set("permission_mode", "default".into());
    }
    set("hook_event_name", name.as_str().into());
    event.extend(sample);
    if name.def().has_tool {
        overlay_tool_call(&mut event, name, fields, &project)?;
    } else {
        let path = fields
            .file_path
            .as_ref()
            .map(|p| make_absolute(p, &project));
        overlay_field(&mut event, "file_path", path.as_deref());
    }
    for (key, value) in [
        ("error", &fields.error),
        ("prompt", &fields.prompt),
        ("source", &fields.source),
        ("trigger", &fields.trigger),
        ("reason", &fields.reason),
        ("message", &fields.message),
        ("notification_type", &fields.notification_type),
        ("agent_type", &fields.agent_type),
    ] {
        overlay_field(&mut event, key, value.as_deref());
    }
    if fields.stop_hook_active {
        event.insert("stop_hook_active".into(), true.into());
    }
    for text in &fields.field {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--field {text}: write NAME=VALUE")))?;
        event.insert(key.into(), json_or_text(value));
    }
    Ok(Event::from_value(Value::Object(event), None)?)
}

fn overlay_field(event: &mut Map<String, Value>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        event.insert(key.to_owned(), value.into());
    }
}

/// The call: the tool is named, or follows from the other flags.
fn overlay_tool_call(
    event: &mut Map<String, Value>,
    name: EventName,
    fields: &EventFieldArgs,
    project: &str,
) -> Result<(), CliError> {
    let tool = match (
        &fields.tool,
        &fields.command,
        &fields.file_path,
        &fields.url,
    ) {
        (Some(tool), ..) => tool.as_str(),
        (None, Some(_), ..) => "Bash",
        (None, None, Some(_), _) if fields.content.is_some() => "Write",
        (None, None, Some(_), _) => "Edit",
        (None, None, None, Some(_)) => "WebFetch",
        (None, None, None, None) if fields.tool_input.is_some() => {
            return Err(CliError::Usage("--tool-input needs --tool NAME".into()));
        }
        _ => return Ok(()),
    };
    let path = make_absolute(fields.file_path.as_deref().unwrap_or("file.txt"), project);
    // The client drops one needless change into the current directory.
    let command = fields.command.as_deref().unwrap_or("echo hello");
    let command = command
        .strip_prefix(&format!("cd {project} && "))
        .unwrap_or(command);
    let text =
        |value: &Option<String>, default: &str| value.clone().unwrap_or_else(|| default.to_owned());
    let (input, response) = match tool {
        "Bash" => (
            json!({"command": command, "description": "Try it"}),
            json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false}),
        ),
        "Write" => {
            let content = text(&fields.content, "text\n");
            let response = json!({"type": "create", "filePath": path, "content": content, "structuredPatch": [], "originalFile": null, "userModified": false});
            (json!({"file_path": path, "content": content}), response)
        }
        "Edit" => (
            json!({"file_path": path, "old_string": "a", "new_string": "b", "replace_all": false}),
            json!({"filePath": path, "oldString": "a", "newString": "b", "originalFile": "a\n", "structuredPatch": [], "userModified": false, "replaceAll": false}),
        ),
        "Read" => (
            json!({"file_path": path}),
            json!({"type": "text", "file": {"filePath": path, "content": ""}}),
        ),
        "NotebookEdit" => (json!({"notebook_path": path, "new_source": "0"}), json!({})),
        "WebFetch" => (
            json!({"url": text(&fields.url, "https://example.com/"), "prompt": "Sum it up"}),
            json!({}),
        ),
        "Agent" | "Task" => (
            json!({"description": "Try it", "prompt": text(&fields.prompt, "hello"), "subagent_type": text(&fields.agent_type, "general-purpose")}),
            json!({}),
        ),
        _ => (json!({}), json!({})),
    };
    event.insert("tool_name".into(), tool.into());
    let given = fields.tool_input.as_deref().map(json_or_text);
    if given.as_ref().is_some_and(|v| !v.is_object()) {
        return Err(CliError::Usage("--tool-input must be a JSON object".into()));
    }
    event.insert("tool_input".into(), given.unwrap_or(input));
    if name == EventName::PostToolUse {
        let given = fields.tool_response.as_deref().map(json_or_text);
        event.insert("tool_response".into(), given.unwrap_or(response));
    }
    Ok(())
}

fn make_absolute(path: &str, project: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{project}/{path}")
    }
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
