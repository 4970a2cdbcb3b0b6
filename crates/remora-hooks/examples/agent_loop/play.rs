//! Puts the agent together: a session, the host's own hook, a scripted world.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use remora_hooks::{
    CallbackCall, CallbackHandler, Callbacks, Host, Interactivity, Session, SessionOptions,
    SettingsPaths, Trust,
};
use serde_json::{Map, Value, json};

use super::agent::Agent;
use super::world::{Script, ScriptedWorld};

/// The host's own hook: the answer is what a command would print.
struct ReleaseGuard;

impl Callbacks for ReleaseGuard {
    fn call(&self, call: CallbackCall) -> Result<Option<Value>, String> {
        let input = call.event.fields.get("tool_input");
        let command = input.and_then(|input| input["command"].as_str());
        let deploys = command.is_some_and(|command| command.starts_with("deploy"));
        Ok(deploys.then(|| json!({"decision": "block", "reason": "not on a Friday"})))
    }
}

/// Plays the script in the project. Returns what the model read and the user saw.
pub(crate) fn play_script(
    project: &Path,
    home: &Path,
    session_dir: PathBuf,
    environment: Vec<(OsString, OsString)>,
    mut script: Script,
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let paths = SettingsPaths::new(project, home);
    let options = SessionOptions {
        attendance: Interactivity::Interactive,
        folder: Trust::Trusted,
        session_dir: Some(session_dir),
        ..SessionOptions::default()
    };
    let session = Session::open(paths, options)?;
    session.add_callback(CallbackHandler {
        id: "release_guard".into(),
        event: "PreToolUse".into(),
        matcher: Some("Bash".into()),
        timeout_seconds: Some(5.0),
        failure_blocks: true,
    })?;
    let prompts = std::mem::take(&mut script.prompts);
    let base = [
        ("session_id", json!("example")),
        ("cwd", json!(project)),
        ("permission_mode", json!("default")),
    ];
    let mut agent = Agent {
        session: &session,
        host: Host {
            environment,
            callbacks: Some(Arc::new(ReleaseGuard)),
            ..Host::default()
        },
        world: ScriptedWorld {
            script,
            session: &session,
            cwd: project.to_owned(),
            transcript: Vec::new(),
        },
        base: Map::from_iter(base.map(|(key, value)| (key.to_owned(), value))),
        asides: Vec::new(),
    };
    agent.run_session(prompts);
    Ok(agent.world.transcript)
}
