//! `remora hooks serve`: sessions for a host that speaks JSON-RPC. The protocol is
//! `remora_hooks_rpc`'s; here a session gets its settings, model and servers.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use remora_core::model::Model;
use remora_hooks::{Engine, Host, Interactivity, Session, SessionOptions, ToolServers, Trust};
use remora_hooks_rpc::{MemoryUse, OpenError, OpenRequest, Opened, Opener, SessionHost};
use serde_json::Value;
use tempfile::TempDir;

use crate::args::{DirectoryArgs, HooksServeArgs, SessionArgs};
use crate::commands::guard::start_guard;
use crate::commands::hooks::servers::{HookServers, read_servers};
use crate::commands::hooks::{HookModels, read_models};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::settings::{SessionSettings, is_accepted, parse_sources};
use crate::signals;

pub(super) fn run(_args: &HooksServeArgs) -> Result<Exit, CliError> {
    // One folder for all sessions, so that a signal finds it.
    let folder = tempfile::Builder::new().prefix("remora-").tempdir()?;
    signals::watch_signals(Some(folder.path().to_path_buf()))?;
    let mut guard = start_guard(folder.path())?;
    let opener = SessionOpener {
        environment: Environment::from_process(),
        folder: folder.path().to_path_buf(),
    };
    // Not the lock of stdout, which cannot go from thread to thread.
    let output = Box::new(io::stdout());
    let served = remora_hooks_rpc::serve(io::stdin().lock(), output, Box::new(opener));
    // What does not end when asked to.
    signals::end_children();
    // Its input ends, and with it the guard.
    drop(guard.stdin.take());
    guard.wait()?;
    served.map_err(CliError::Stdin)?;
    Ok(Exit::GoOn)
}

struct SessionOpener {
    environment: Environment,
    folder: PathBuf,
}

impl Opener for SessionOpener {
    fn open(&self, request: OpenRequest) -> Result<Opened, OpenError> {
        check_request(&request)?;
        let attendance = request.attendance;
        let trusted = request.trusted;
        let more = build_arguments("mcp_config", request.mcp_config.iter())?;
        let state = request.state.clone();
        let memory = request.memory;
        let environment = (self.environment.clone()).with_variables(request.environment.clone());
        let args = build_args(request)?;
        let mut settings = SessionSettings::from_args(&args, environment)
            .map_err(|error| OpenError::Failed(error.to_string()))?;
        settings.attendance = attendance;
        let folder = TempDir::new_in(&self.folder)
            .map_err(|error| OpenError::Failed(format!("no folder for the session ({error})")))?;
        let accepted = trusted.unwrap_or_else(|| is_accepted(&settings.places));
        let options = SessionOptions {
            engine: settings.options,
            attendance,
            folder: if accepted {
                Trust::Trusted
            } else {
                Trust::Untrusted
            },
            session_dir: Some(folder.path().to_path_buf()),
        };
        let places = settings.places.clone();
        let opened = match state {
            None => Session::open(places, options),
            Some(state) => Session::resume(*state, places, options),
        };
        let session = opened.map_err(|error| OpenError::Failed(error.to_string()))?;
        let mut warnings = Vec::new();
        let environment = match memory {
            MemoryUse::Off => settings.environment.for_handlers(&settings.places.home),
            MemoryUse::On => (settings.environment).for_real_handlers(&settings.places.home),
        };
        let engine = session.engine();
        let servers = read_servers(&engine, &settings, &environment, &more, &mut warnings)
            .map_err(|error| OpenError::Param {
                key: "mcp_config",
                why: error.to_string(),
            })?;
        let mut models = read_models(&settings.environment);
        warnings.extend(models.warning.take());
        let host = ServedHost {
            settings,
            mcp_config: more,
            environment,
            models,
            servers,
            _folder: folder,
        };
        Ok(Opened {
            session,
            host: Box::new(host),
            warnings,
        })
    }
}

/// What a session is lent.
struct ServedHost {
    settings: SessionSettings,
    /// Servers of the host's own, as they were named.
    mcp_config: Vec<String>,
    environment: Vec<(OsString, OsString)>,
    models: HookModels,
    servers: HookServers,
    /// Of the session's variables and long texts.
    _folder: TempDir,
}

impl SessionHost for ServedHost {
    fn lend(&self) -> Host<'_> {
        Host {
            environment: self.environment.clone(),
            model: self.models.provider.as_ref().map(|p| p as &dyn Model),
            servers: Some(&self.servers as &dyn ToolServers),
            verifier_shell: self.models.verifier_shell,
            ..Host::default()
        }
    }

    fn follow_reload(&self, engine: &Engine) -> Vec<String> {
        let mut warnings = Vec::new();
        let read = self.servers.read_again(
            engine,
            &self.settings,
            &self.environment,
            &self.mcp_config,
            &mut warnings,
        );
        if let Err(error) = read {
            warnings.push(format!("{error}; the MCP servers stay as they were"));
        }
        warnings
    }
}

fn check_request(request: &OpenRequest) -> Result<(), OpenError> {
    let wrong = |key, why: String| Err(OpenError::Param { key, why });
    if let Some(project) = &request.project
        && !project.is_dir()
    {
        return wrong("project", format!("{} is not a folder", project.display()));
    }
    for (name, value) in &request.environment {
        let holds_nul = value.as_ref().is_some_and(|value| value.contains('\0'));
        if name.is_empty() || name.contains(['=', '\0']) || holds_nul {
            let why = format!(
                "holds `{}`, which cannot be a variable",
                name.escape_debug()
            );
            return wrong("environment", why);
        }
    }
    if let Some(mode) = &request.mode
        && !["full", "bare", "safe"].contains(&mode.as_str())
    {
        return wrong("mode", format!("`{mode}` is not one of full, bare, safe"));
    }
    if let Some(sources) = &request.setting_sources
        && parse_sources(&sources.join(",")).is_err()
    {
        let why = "holds something other than user, project, local".to_owned();
        return wrong("setting_sources", why);
    }
    Ok(())
}

/// What the command line would say.
fn build_args(request: OpenRequest) -> Result<SessionArgs, OpenError> {
    let settings = build_arguments("settings", request.settings.iter())?.pop();
    let mode = request.mode.as_deref();
    Ok(SessionArgs {
        directory: DirectoryArgs::from_cwd(request.project),
        home: request.home,
        managed: request.managed,
        settings,
        plugin: request.plugins,
        mcp_config: Vec::new(),
        setting_sources: request.setting_sources.map(|list| list.join(",")),
        permission_mode: request.permission_mode,
        bare: mode == Some("bare"),
        safe_mode: mode == Some("safe"),
        interactive: request.attendance == Interactivity::Interactive,
        trusted: request.trusted == Some(true),
        untrusted: request.trusted == Some(false),
        json: false,
        verbose: false,
    })
}

/// Files as they are named, objects as JSON.
fn build_arguments<'a>(
    key: &'static str,
    values: impl Iterator<Item = &'a Value>,
) -> Result<Vec<String>, OpenError> {
    let texts = values.map(|value| match value {
        Value::String(file) => Ok(file.clone()),
        Value::Object(_) => Ok(value.to_string()),
        _ => Err(OpenError::Param {
            key,
            why: "must be the path of a file or an object".to_owned(),
        }),
    });
    texts.collect()
}
