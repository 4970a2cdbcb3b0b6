//! The methods, one function each.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use remora_core::Event;
use remora_core::model::ModelMessage;
use remora_hooks::{
    CallbackHandler, CancelToken, FileChangeKind, Fired, HandlerObserver, HeadHooks, Host,
    Interactivity, NamedHooks, PermissionMode, RegisterError, Reload, RequestPoint,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::{FAILED, INVALID_PARAMS, RpcError};
use crate::observer::FireObserver;
use crate::params::Params;
use crate::server::Server;
use crate::session::{MemoryUse, OpenError, OpenRequest, Served};
use crate::table::METHODS;

/// Raised when a host that was written for an older one would break.
const PROTOCOL: u32 = 1;
/// The longest time limit of an event, in seconds.
const MAX_TIMEOUT_SECONDS: f64 = 86_400.0;

#[expect(
    clippy::unnecessary_wraps,
    reason = "a row of the table like those that can fail"
)]
pub(crate) fn initialize(_: &Arc<Server>, params: Params) -> Result<Value, RpcError> {
    params.finish();
    let methods: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
    let events: Vec<&str> = remora_core::EVENTS
        .iter()
        .map(|e| e.name.as_str())
        .collect();
    Ok(json!({
        "name": "remora",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": PROTOCOL,
        "methods": methods,
        "events": events,
    }))
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Attendance {
    Unattended,
    Streaming,
    Interactive,
}

pub(crate) fn open(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let attendance = params.take_optional("attendance")?;
    let watches: Option<bool> = params.take_optional("watch")?;
    let observes: Option<bool> = params.take_optional("observe_handlers")?;
    let memory: Option<bool> = params.take_optional("memory")?;
    let request = OpenRequest {
        project: params.take_optional("project")?,
        home: params.take_optional("home")?,
        managed: params.take_optional("managed")?,
        settings: params.take_optional("settings")?,
        plugins: params.take_optional("plugins")?.unwrap_or_default(),
        mcp_config: params.take_optional("mcp_config")?.unwrap_or_default(),
        setting_sources: params.take_optional("setting_sources")?,
        permission_mode: params.take_optional("permission_mode")?,
        mode: params.take_optional("mode")?,
        attendance: match attendance {
            None | Some(Attendance::Unattended) => Interactivity::Unattended,
            Some(Attendance::Streaming) => Interactivity::Streaming,
            Some(Attendance::Interactive) => Interactivity::Interactive,
        },
        trusted: params.take_optional("trusted")?,
        state: params.take_optional("state")?,
        environment: params.take_optional("environment")?.unwrap_or_default(),
        memory: if memory.unwrap_or_default() {
            MemoryUse::On
        } else {
            MemoryUse::Off
        },
    };
    params.finish();
    if let Some(mode) = &request.permission_mode
        && PermissionMode::parse(mode).is_none()
    {
        let why = format!("`{mode}` is no mode");
        return Err(RpcError::about(INVALID_PARAMS, "permission_mode", why));
    }
    server.check_room()?;
    let opened = server.opener.open(request).map_err(|error| match error {
        OpenError::Param { key, why } => RpcError::about(INVALID_PARAMS, key, why),
        OpenError::Failed(why) => RpcError::failed(why),
    })?;
    let mut warnings = opened.session.engine().load_warnings();
    warnings.extend(opened.warnings.iter().cloned());
    let name = server.next_name();
    let link = Arc::clone(&server.link);
    let observes = observes.unwrap_or_default();
    let session = Arc::new(Served::new(name.clone(), opened, link, observes));
    if watches.unwrap_or_default() {
        server.start_watching(&session)?;
    }
    server.add_session(session);
    Ok(json!({"session": name, "warnings": warnings}))
}

/// One message of the conversation, which prompt handlers judge at a stop.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    role: Role,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

impl From<Message> for ModelMessage {
    fn from(message: Message) -> Self {
        match message.role {
            Role::User => Self::User(message.text),
            Role::Assistant => Self::Assistant {
                text: message.text,
                calls: Vec::new(),
            },
        }
    }
}

/// An event that is about to be fired.
struct Fire {
    event: Event,
    conversation: Vec<ModelMessage>,
    deadline: Option<Instant>,
    cancel: CancelToken,
    request: Option<Value>,
}

/// Checks the request and fires the event in a thread, so that events of parallel
/// calls run at the same time.
pub(crate) fn start_fire(
    server: &Arc<Server>,
    id: Option<Value>,
    mut params: Params,
) -> Result<(), RpcError> {
    let session = server.find_session(&mut params)?;
    let event = take_event(&mut params)?;
    let conversation: Option<Vec<Message>> = params.take_optional("conversation")?;
    let limit: Option<f64> = params.take_optional("timeout_seconds")?;
    params.finish();
    let limit = limit
        .map(|seconds| {
            if seconds > 0.0 && seconds <= MAX_TIMEOUT_SECONDS {
                Ok(Duration::from_secs_f64(seconds))
            } else {
                let why = format!("must be above 0 and at most {MAX_TIMEOUT_SECONDS}");
                Err(RpcError::about(INVALID_PARAMS, "timeout_seconds", why))
            }
        })
        .transpose()?;
    let (number, cancel) = server.begin_fire(&session.name)?;
    let fire = Fire {
        event,
        conversation: conversation
            .unwrap_or_default()
            .into_iter()
            .map(Into::into)
            .collect(),
        deadline: limit.map(|limit| Instant::now() + limit),
        cancel,
        request: id,
    };
    let thread_server = Arc::clone(server);
    let thread = thread::Builder::new().name("event".into());
    let started = thread.spawn(move || {
        let fired = run_fire(&session, &fire);
        thread_server.answer(fire.request.as_ref(), Ok(build_fired(&fired)));
        thread_server.follow_up(&session);
        // Before it counts as over: the session's folder goes with its last owner.
        drop(session);
        thread_server.end_fire(number);
    });
    started.map(|_| ()).map_err(|error| {
        server.end_fire(number);
        RpcError::failed(format!("no thread for it ({error})"))
    })
}

fn run_fire(session: &Served, fire: &Fire) -> Fired {
    let observer = FireObserver {
        session,
        request: fire.request.as_ref(),
    };
    let host = Host {
        observer: session
            .observes
            .then_some(&observer as &dyn HandlerObserver),
        callbacks: Some(session.callbacks()),
        cancel: Some(fire.cancel.clone()),
        deadline: fire.deadline,
        conversation: &fire.conversation,
        ..session.host.lend()
    };
    let mut fired = session.session.fire(&fire.event, &host);
    if fired.reload == Some(Reload::Accepted) {
        let engine = session.session.engine();
        let warnings = session.host.follow_reload(&engine);
        fired.report.warnings.extend(warnings);
    }
    fired
}

fn build_fired(fired: &Fired) -> Value {
    json!({
        "event": fired.event.fields,
        "report": fired.report,
        "deliveries": fired.deliveries,
        "stop": fired.stop,
        "reload": fired.reload,
    })
}

fn take_event(params: &mut Params) -> Result<Event, RpcError> {
    let value: Value = params.take("event")?;
    Event::from_value(value, None)
        .map_err(|error| RpcError::about(INVALID_PARAMS, "event", format!("is wrong: {error}")))
}

pub(crate) fn preview(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let event = take_event(&mut params)?;
    params.finish();
    Ok(json!(session.session.preview(&event)))
}

pub(crate) fn take_deliveries(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let point: RequestPoint = params.take("point")?;
    params.finish();
    Ok(json!({"deliveries": session.session.take_deliveries(point)}))
}

pub(crate) fn end_turn(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    params.finish();
    session.session.end_turn();
    server.follow_up(&session);
    Ok(json!({}))
}

pub(crate) fn read_status(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    params.finish();
    // In this order: who reads that nothing runs and no wake-up is on its way has been told
    // of all that ran.
    let running = session.session.list_running();
    session.send_notices();
    let session = &session.session;
    Ok(json!({
        "phase": session.phase(),
        "stop_hook_active": session.is_stop_hook_active(),
        "shell_prelude": session.shell_prelude(),
        "running": running,
    }))
}

pub(crate) fn snapshot(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    params.finish();
    Ok(json!({"state": session.session.snapshot()}))
}

pub(crate) fn reload(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    params.finish();
    session.session.reload().map_err(RpcError::failed)?;
    let engine = session.session.engine();
    let mut warnings = engine.load_warnings();
    warnings.extend(session.host.follow_reload(&engine));
    Ok(json!({"warnings": warnings}))
}

pub(crate) fn register_callback(
    server: &Arc<Server>,
    mut params: Params,
) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let callback = CallbackHandler {
        id: params.take("callback")?,
        event: params.take("event")?,
        matcher: params.take_optional("matcher")?,
        timeout_seconds: params.take_optional("timeout_seconds")?,
        failure_blocks: params.take_optional("failure_blocks")?.unwrap_or_default(),
    };
    params.finish();
    let added = session.session.add_callback(callback);
    added.map_err(|error| explain_refusal("event", &error))?;
    Ok(json!({}))
}

pub(crate) fn remove_callback(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let id: String = params.take("callback")?;
    params.finish();
    Ok(json!({"removed": session.session.remove_callback(&id)}))
}

fn take_head(params: &mut Params) -> Result<HeadHooks, RpcError> {
    Ok(HeadHooks {
        name: params.take("name")?,
        hooks: params.take("hooks")?,
        file: params.take_optional("file")?,
        origin: params.take("origin")?,
    })
}

pub(crate) fn add_skill(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let head = take_head(&mut params)?;
    params.finish();
    let added = session.session.add_skill(head);
    added.map_err(|error| explain_refusal("hooks", &error))?;
    Ok(json!({}))
}

pub(crate) fn clear_skills(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    params.finish();
    session.session.clear_skills();
    Ok(json!({}))
}

/// Hooks for the whole session, by a name of the host's.
pub(crate) fn add_hooks(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let named = NamedHooks {
        name: params.take("name")?,
        hooks: params.take("hooks")?,
        file: params.take_optional("file")?,
    };
    params.finish();
    let added = session.session.add_hooks(named);
    added.map_err(|error| explain_refusal("hooks", &error))?;
    Ok(json!({}))
}

pub(crate) fn remove_hooks(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let name: String = params.take("name")?;
    params.finish();
    Ok(json!({"removed": session.session.remove_hooks(&name)}))
}

/// A subagent's hooks; without `agent_id` those of the session's own agent.
pub(crate) fn add_agent(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let agent_id: Option<String> = params.take_optional("agent_id")?;
    let head = take_head(&mut params)?;
    params.finish();
    let added = match agent_id {
        Some(id) => session.session.add_agent(&id, head),
        None => session.session.add_main_agent(head),
    };
    added.map_err(|error| explain_refusal("hooks", &error))?;
    Ok(json!({}))
}

/// The same way round: without `agent_id` the session is no agent any more.
pub(crate) fn remove_agent(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let agent_id: Option<String> = params.take_optional("agent_id")?;
    params.finish();
    let removed = match agent_id {
        Some(id) => session.session.remove_agent(&id),
        None => session.session.remove_main_agent(),
    };
    Ok(json!({"removed": removed}))
}

/// Malformed hooks are a wrong parameter, refused ones are not.
fn explain_refusal(key: &str, error: &RegisterError) -> RpcError {
    let (code, key) = match error {
        RegisterError::Malformed { .. } | RegisterError::UnknownEvent(_) => {
            (INVALID_PARAMS, Some(key.to_owned()))
        }
        RegisterError::PluginAgent(_) | RegisterError::Untrusted(_) => (FAILED, None),
    };
    RpcError {
        code,
        message: error.to_string(),
        key,
    }
}

pub(crate) fn list_watched_paths(
    server: &Arc<Server>,
    mut params: Params,
) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    params.finish();
    Ok(json!({"paths": session.session.list_watched_paths()}))
}

/// The events to fire because of a change that the host saw.
pub(crate) fn describe_change(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let path: std::path::PathBuf = params.take("path")?;
    let kind: FileChangeKind = params.take("kind")?;
    params.finish();
    let events = session.session.describe_change(&path, kind);
    let events: Vec<_> = events.into_iter().map(|event| event.fields).collect();
    Ok(json!({"events": events}))
}

pub(crate) fn close(server: &Arc<Server>, mut params: Params) -> Result<Value, RpcError> {
    let session = server.find_session(&mut params)?;
    let ends_all: Option<bool> = params.take_optional("end_all")?;
    params.finish();
    let left = server.close_session(&session, ends_all.unwrap_or_default());
    Ok(json!({"running": left}))
}
