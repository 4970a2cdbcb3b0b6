//! Resolves flags, environment and defaults once into what the engine needs.

use std::path::{Path, PathBuf};

use remora_files::{MAX_CLIENT_STATE_BYTES, read_file};
use remora_hooks::{
    Engine, EngineMode, EngineOptions, FlagSettings, Interactivity, PermissionMode, SettingSources,
    SettingsPaths, Trust, names,
};
use remora_instructions::normalise_path;
use serde_json::Value;

use crate::args::SessionArgs;
use crate::environment::Environment;
use crate::error::CliError;

/// A session, resolved.
#[derive(Debug)]
pub(crate) struct SessionSettings {
    pub(crate) places: SettingsPaths,
    pub(crate) options: EngineOptions,
    pub(crate) attendance: Interactivity,
    pub(crate) environment: Environment,
}

impl SessionSettings {
    pub(crate) fn from_args(
        session: &SessionArgs,
        environment: Environment,
    ) -> Result<Self, CliError> {
        let usage = |text: &str| CliError::Usage(text.to_owned());
        let here = || {
            environment
                .directory()
                .cloned()
                .ok_or_else(|| usage("the current directory is gone; pass --cwd DIR"))
        };
        let absolute = |path: &Path| -> Result<PathBuf, CliError> {
            if path.is_absolute() {
                Ok(path.to_path_buf())
            } else {
                Ok(normalise_path(&here()?.join(path)))
            }
        };
        let project = session.directory.resolve(&environment)?;
        let home = match &session.home {
            Some(dir) => absolute(dir)?,
            None => environment
                .home()
                .ok_or_else(|| usage("$HOME is not set; pass --home DIR"))?,
        };
        let mut places = SettingsPaths::new(project, home);
        // With another home the variable still names a folder of the real one.
        if session.home.is_none() {
            places.config_dir = environment.get(names::CONFIG_DIR_VAR).map(PathBuf::from);
        }
        places.managed = Some(match &session.managed {
            Some(dir) => absolute(dir)?,
            None => PathBuf::from(names::MANAGED_SETTINGS_DIR),
        });
        places.flag = session
            .settings
            .as_ref()
            .map(|text| {
                if text.trim().is_empty() {
                    Err(usage("--settings is empty; give a file or a JSON object"))
                } else if text.trim_start().starts_with('{') {
                    match serde_json::from_str::<Value>(text) {
                        Ok(_) => Ok(FlagSettings::Json(text.clone())),
                        Err(e) => Err(CliError::Usage(format!(
                            "--settings: the JSON is not valid ({e})"
                        ))),
                    }
                } else {
                    absolute(Path::new(text)).map(FlagSettings::File)
                }
            })
            .transpose()?;
        places.plugins = session
            .plugin
            .iter()
            .map(|dir| absolute(dir))
            .collect::<Result<_, _>>()?;
        if let Some(list) = &session.setting_sources {
            places.sources = parse_sources(list)?;
        }
        // Bare before safe: it switches off more.
        let mode = if session.bare || environment.is_on(names::SIMPLE_VAR) {
            EngineMode::Bare
        } else if session.safe_mode || environment.is_on(names::SAFE_MODE_VAR) {
            EngineMode::Safe
        } else {
            EngineMode::Full
        };
        let permission_mode = session
            .permission_mode
            .as_deref()
            .map(permission_mode)
            .transpose()?;
        let attendance = if session.interactive {
            Interactivity::Interactive
        } else {
            Interactivity::Unattended
        };
        let trust = if session.untrusted {
            Trust::Untrusted
        } else if session.trusted || attendance == Interactivity::Unattended || is_trusted(&places)
        {
            // Observed: without a terminal the client does not ask and treats
            // the folder as trusted.
            Trust::Trusted
        } else {
            Trust::Untrusted
        };
        Ok(Self {
            places,
            options: EngineOptions {
                trust,
                mode,
                permission_mode,
            },
            attendance,
            environment,
        })
    }

    pub(crate) fn load_engine(&self) -> Result<Engine, CliError> {
        Ok(Engine::load(self.places.clone(), self.options)?)
    }
}

pub(crate) fn parse_sources(list: &str) -> Result<SettingSources, CliError> {
    let mut sources = SettingSources {
        user: false,
        project: false,
        local: false,
    };
    for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match name {
            "user" => sources.user = true,
            "project" => sources.project = true,
            "local" => sources.local = true,
            other => {
                return Err(CliError::Usage(format!(
                    "--setting-sources: `{other}` is not one of user, project, local"
                )));
            }
        }
    }
    Ok(sources)
}

fn permission_mode(text: &str) -> Result<PermissionMode, CliError> {
    PermissionMode::parse(text).ok_or_else(|| {
        let names: Vec<&str> = PermissionMode::WIRE_NAMES
            .iter()
            .map(|(name, _)| *name)
            .collect();
        CliError::Usage(format!(
            "--permission-mode: `{text}` is not one of {}",
            names.join(", ")
        ))
    })
}

/// What the user answered when the client asked about the folder. A parent's
/// answer counts for its folders.
fn is_trusted(places: &SettingsPaths) -> bool {
    let mut folders = places.project.ancestors();
    let book = read_book(places);
    folders.any(|dir| has_accepted(book.as_ref(), dir))
}

/// The same of this very folder.
pub(crate) fn is_accepted(places: &SettingsPaths) -> bool {
    has_accepted(read_book(places).as_ref(), &places.project)
}

/// The client's own state. Read, never written.
fn read_book(places: &SettingsPaths) -> Option<Value> {
    let folder = places.config_dir.as_ref().unwrap_or(&places.home);
    let file = folder.join(names::HOST_STATE_FILE);
    let bytes = read_file(&file, MAX_CLIENT_STATE_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn has_accepted(book: Option<&Value>, dir: &Path) -> bool {
    book.and_then(|book| {
        book.get("projects")?
            .get(dir.to_str()?)?
            .get("hasTrustDialogAccepted")
    })
    .is_some_and(|v| v == true)
}
