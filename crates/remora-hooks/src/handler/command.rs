//! A command: the event on stdin, the answer on stdout, placeholders and
//! environment as the format says.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use super::process::{Spawn, WaitLimits, WaitOutcome};
use super::{HandlerCall, HandlerCompletion, failed_output};
use crate::config::{HandlerKind, Shell};
use crate::host::Interactivity;
use crate::layers::{LayerSource, PluginOptions, fill_options};
use crate::names;
use crate::run::BackgroundKind;

pub(super) fn run_command(
    call: &HandlerCall<'_>,
    deadline: Instant,
    background: bool,
) -> HandlerCompletion {
    let HandlerKind::Command {
        command,
        args,
        shell,
        waiting,
        rewake,
    } = &call.entry.config.kind
    else {
        return HandlerCompletion::Done(failed_output("not a command"));
    };
    let (program, args) = match resolve_command(call, command, args.as_deref(), *shell) {
        Ok(words) => words,
        Err(why) => return HandlerCompletion::Done(failed_output(why)),
    };
    if let Some(plugin) = &call.entry.place.plugin {
        // Created on first use. If that fails, a handler that needs the directory reports it
        // better than we could.
        let _ = std::fs::create_dir_all(&plugin.data);
    }
    let mut environment = build_environment(call);
    if let Some(options) = own_options(call) {
        let variables = options.variables();
        environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
    }
    let cwd = working_directory(call);
    let spawn = Spawn {
        program: &program,
        args: &args,
        cwd: &cwd,
        environment: &environment,
    };
    let running = match spawn.start(call.line) {
        Ok(running) => running,
        Err(why) => return HandlerCompletion::Done(failed_output(why)),
    };
    if background {
        let kind = BackgroundKind::of_started(*waiting, rewake);
        return HandlerCompletion::Background(running, kind);
    }
    let limits = WaitLimits {
        deadline: Some(deadline),
        cancel: call.host.cancel.as_ref(),
        progress: call.progress,
    };
    match running.wait(limits) {
        WaitOutcome::Ended(output) => HandlerCompletion::Done(output),
        WaitOutcome::WentAsync(running) => {
            HandlerCompletion::Background(running, BackgroundKind::Plain)
        }
    }
}

/// The program and its arguments, with placeholders filled in.
fn resolve_command(
    call: &HandlerCall<'_>,
    command: &str,
    args: Option<&[String]>,
    shell: Shell,
) -> Result<(String, Vec<String>), String> {
    let plugin = call.entry.place.plugin.as_ref();
    let texts =
        || std::iter::once(command).chain(args.unwrap_or_default().iter().map(String::as_str));
    // The client does not run such a handler at all. Only the braced spelling counts;
    // `$CLAUDE_PLUGIN_ROOT` and `${CLAUDE_PLUGIN_ROOT:-x}` are the shell's business.
    if plugin.is_none() {
        for name in [names::PLUGIN_ROOT_VAR, names::PLUGIN_DATA_VAR] {
            let placeholder = format!("${{{name}}}");
            if texts().any(|t| t.contains(&placeholder)) {
                return Err(format!(
                    "{placeholder} is filled in for plugins only, so the handler is not run"
                ));
            }
        }
    }
    // Only what a plugin's own files configure gets its options.
    let options = own_options(call);
    if options.is_some() && args.is_none() && command.contains(names::PLUGIN_OPTION_PLACEHOLDER) {
        return Err(format!(
            "{}…}} is filled in only where `args` are, so the handler is not run; add `args`, or use the variable {}KEY",
            names::PLUGIN_OPTION_PLACEHOLDER,
            names::PLUGIN_OPTION_VAR_PREFIX
        ));
    }
    // Shell form: placeholders are left to the shell, which finds the variables in its
    // environment. Pasting paths into the text would break on quotes and blanks.
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
    // Exec form: plain text replacement, each element one argument whatever it contains.
    let fill = |text: &str| -> Result<String, String> {
        let mut text = text.replace(&format!("${{{}}}", names::PROJECT_DIR_VAR), &project);
        if let Some(plugin) = plugin {
            text = text.replace(
                &format!("${{{}}}", names::PLUGIN_ROOT_VAR),
                &plugin.root.to_string_lossy(),
            );
            text = text.replace(
                &format!("${{{}}}", names::PLUGIN_DATA_VAR),
                &plugin.data.to_string_lossy(),
            );
        }
        let Some(options) = options else {
            return Ok(text);
        };
        fill_options(&text, options).map_err(|key| {
            format!(
                "the plugin's option `{key}` is not set, so the handler is not run; its default does not count here"
            )
        })
    };
    let args = args.iter().map(|arg| fill(arg)).collect::<Result<_, _>>()?;
    Ok((fill(command)?, args))
}

/// The options of the plugin whose own files configure the handler. The head of a
/// plugin's skill gets none.
fn own_options<'a>(call: &HandlerCall<'a>) -> Option<&'a PluginOptions> {
    let place = &call.entry.place;
    let plugin = place.plugin.as_ref()?;
    (place.source == LayerSource::Plugin).then_some(&plugin.options)
}

/// The session's directory; if that is gone the project, else the home.
pub(super) fn working_directory(call: &HandlerCall<'_>) -> PathBuf {
    let cwd = call.event.str_field("cwd").map(PathBuf::from);
    let candidates = [
        cwd,
        Some(call.places.project.clone()),
        Some(call.places.home.clone()),
    ];
    candidates
        .into_iter()
        .flatten()
        // A directory that cannot be entered would make the spawn fail, and with it a guard.
        .find(|d| rustix::fs::access(d, rustix::fs::Access::EXEC_OK).is_ok() && d.is_dir())
        .unwrap_or_else(|| PathBuf::from("/"))
}

pub(super) fn build_environment(call: &HandlerCall<'_>) -> Vec<(OsString, OsString)> {
    let scrub = call.host.find_variable(names::SCRUB_VAR) == Some("1");
    let dropped = |name: &str| {
        name.starts_with(names::DROPPED_VAR_PREFIX)
            || names::HANDLER_VARS.contains(&name)
            || (scrub && names::CREDENTIAL_VARS.contains(&name))
    };
    let inherited = call
        .host
        .environment
        .iter()
        .filter(|(k, _)| !dropped(&k.to_string_lossy()));
    let mut list: Vec<(OsString, OsString)> = inherited.cloned().collect();
    let mut set = |name: &str, value: OsString| list.push((name.into(), value));
    // Later entries win (`spawn.rs`), so settings override what is inherited, and the
    // engine's own variables below override both.
    for (name, value) in &call.layers.env {
        set(name, value.into());
    }
    set(names::PROJECT_DIR_VAR, call.places.project.clone().into());
    for (name, value) in names::FIXED_VARS {
        set(name, value.into());
    }
    set(names::HOST_PID_VAR, std::process::id().to_string().into());
    let (entrypoint, attended) = match call.host.attendance {
        Interactivity::Interactive => ("cli", "1"),
        Interactivity::Unattended | Interactivity::Streaming => ("sdk-cli", "0"),
    };
    set(names::ENTRYPOINT_VAR, entrypoint.into());
    set(names::ATTENDED_VAR, attended.into());
    if let Some(id) = call.event.str_field("session_id") {
        set(names::SESSION_ID_VAR, id.into());
    }
    if let Some(level) = call
        .event
        .fields
        .get("effort")
        .and_then(|e| e.get("level"))
        .and_then(Value::as_str)
    {
        set(names::EFFORT_VAR, level.into());
    }
    if let Some(file) = &call.env_file {
        set(names::ENV_FILE_VAR, file.clone().into());
    }
    if let Some(plugin) = &call.entry.place.plugin {
        set(names::PLUGIN_ROOT_VAR, plugin.root.clone().into());
        set(names::PLUGIN_DATA_VAR, plugin.data.clone().into());
    }
    list
}
