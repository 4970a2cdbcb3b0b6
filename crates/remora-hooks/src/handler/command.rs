//! A command: the event on stdin, the answer on stdout, placeholders and
//! environment as the format says.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use super::process::{Spawn, Stopped};
use super::{Call, Finished, failure};
use crate::config::{Kind, Shell};
use crate::host::Attendance;
use crate::names;

pub(super) fn run(call: &Call<'_>, deadline: Instant, background: bool) -> Finished {
    let Kind::Command {
        command,
        args,
        shell,
        ..
    } = &call.entry.config.kind
    else {
        return Finished::Done(failure("not a command"));
    };
    let (program, args) = match words(call, command, args.as_deref(), *shell) {
        Ok(words) => words,
        Err(why) => return Finished::Done(failure(why)),
    };
    if let Some(plugin) = &call.entry.place.plugin {
        // Made on first use; a handler that needs it will say so itself.
        let _ = std::fs::create_dir_all(&plugin.data);
    }
    let environment = environment(call);
    let cwd = directory(call);
    let spawn = Spawn {
        program: &program,
        args: &args,
        cwd: &cwd,
        environment: &environment,
    };
    let running = match spawn.start(call.line) {
        Ok(running) => running,
        Err(why) => return Finished::Done(failure(why)),
    };
    if background {
        return Finished::Background(running);
    }
    match running.wait(deadline) {
        Stopped::Ended(output) => Finished::Done(output),
        Stopped::WentAsync(running) => Finished::Background(running),
    }
}

/// The program and its arguments, with placeholders filled in.
fn words(
    call: &Call<'_>,
    command: &str,
    args: Option<&[String]>,
    shell: Shell,
) -> Result<(String, Vec<String>), String> {
    let plugin = call.entry.place.plugin.as_ref();
    let texts =
        || std::iter::once(command).chain(args.unwrap_or_default().iter().map(String::as_str));
    if plugin.is_none() {
        for name in [names::PLUGIN_ROOT, names::PLUGIN_DATA] {
            let placeholder = format!("${{{name}}}");
            if texts().any(|t| t.contains(&placeholder)) {
                return Err(format!(
                    "{placeholder} is filled in for plugins only, so the handler is not run"
                ));
            }
        }
    } else if texts().any(|t| t.contains("${user_config.")) {
        return Err("${user_config.…} has no value here, so the handler is not run; plugin options are passed as variables".into());
    }
    let Some(args) = args else {
        return Ok(match shell {
            Shell::Posix => ("/bin/sh".into(), vec!["-c".into(), command.into()]),
            Shell::PowerShell => (
                "pwsh".into(),
                ["-NoProfile", "-NonInteractive", "-Command", command]
                    .map(Into::into)
                    .into(),
            ),
        });
    };
    let project = call.places.project.to_string_lossy();
    let fill = |text: &str| {
        let mut text = text.replace(&format!("${{{}}}", names::PROJECT_DIR), &project);
        if let Some(plugin) = plugin {
            text = text.replace(
                &format!("${{{}}}", names::PLUGIN_ROOT),
                &plugin.root.to_string_lossy(),
            );
            text = text.replace(
                &format!("${{{}}}", names::PLUGIN_DATA),
                &plugin.data.to_string_lossy(),
            );
        }
        text
    };
    Ok((fill(command), args.iter().map(|a| fill(a)).collect()))
}

/// The session's directory; if that is gone the project, else the home.
fn directory(call: &Call<'_>) -> PathBuf {
    let cwd = call.event.str("cwd").map(PathBuf::from);
    let candidates = [
        cwd,
        Some(call.places.project.clone()),
        Some(call.places.home.clone()),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|d| rustix::fs::access(d, rustix::fs::Access::EXEC_OK).is_ok() && d.is_dir())
        .unwrap_or_else(|| PathBuf::from("/"))
}

fn environment(call: &Call<'_>) -> Vec<(OsString, OsString)> {
    let scrub = call.host.variable(names::SCRUB) == Some("1");
    let dropped = |name: &str| {
        name.starts_with(names::DROPPED_PREFIX)
            || names::OWN.contains(&name)
            || (scrub && names::CREDENTIALS.contains(&name))
    };
    let inherited = call
        .host
        .environment
        .iter()
        .filter(|(k, _)| !dropped(&k.to_string_lossy()));
    let mut list: Vec<(OsString, OsString)> = inherited.cloned().collect();
    let mut set = |name: &str, value: OsString| list.push((name.into(), value));
    for (name, value) in &call.layers.env {
        set(name, value.into());
    }
    set(names::PROJECT_DIR, call.places.project.clone().into());
    for (name, value) in names::FIXED {
        set(name, value.into());
    }
    set(names::HOST_PID, std::process::id().to_string().into());
    let (entrypoint, attended) = match call.host.attendance {
        Attendance::Interactive => ("cli", "1"),
        Attendance::Unattended => ("sdk-cli", "0"),
    };
    set(names::ENTRYPOINT, entrypoint.into());
    set(names::ATTENDED, attended.into());
    if let Some(id) = call.event.str("session_id") {
        set(names::SESSION_ID, id.into());
    }
    if let Some(level) = call
        .event
        .fields
        .get("effort")
        .and_then(|e| e.get("level"))
        .and_then(Value::as_str)
    {
        set(names::EFFORT, level.into());
    }
    if let Some(file) = &call.env_file {
        set(names::ENV_FILE, file.clone().into());
    }
    if let Some(plugin) = &call.entry.place.plugin {
        set(names::PLUGIN_ROOT, plugin.root.clone().into());
        set(names::PLUGIN_DATA, plugin.data.clone().into());
    }
    list
}
