//! How a recording calls handlers and dispatches.

use remora_core::{Event, EventName};

/// The id of the stub in a handler's command.
pub(super) fn stub_id(label: &str) -> Option<String> {
    let rest = label.split("/bin/h.sh ").nth(1)?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// How the recording calls a dispatch.
pub(super) fn title_of(event: &Event) -> String {
    let mut title = event.name.to_string();
    let keys = ["tool_name", "source", "trigger", "reason", "agent_type"];
    let subject = keys
        .iter()
        .find_map(|key| event.str_field(key))
        .unwrap_or_default();
    if !subject.is_empty() {
        title.push(':');
        title.push_str(subject);
    }
    if let Some(active) = event.fields.get("stop_hook_active") {
        title = format!("{title} active={active}");
    }
    let about_agent = matches!(
        event.name,
        EventName::SubagentStart | EventName::SubagentStop
    );
    if event.str_field("agent_id").is_some() && !about_agent {
        title.push_str(" in-agent");
    }
    title
}
