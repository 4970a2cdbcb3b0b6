//! One case as files in a folder of its own, and the request for it. Every path
//! of the recording moves along.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{CaseBook, RecordedCase};
use crate::names::{RECORDED_LAYER_FILES, RECORDED_MANIFEST_FILE};

/// The home of the recording.
const RECORDED_HOME: &str = "/home/dev";
/// Handlers that recorded and are not part of a case.
const RECORDER_ID: &str = "rec";

/// What an engine gets on stdin. Paths are absolute.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EngineRequest {
    /// The version of this format.
    pub format: u32,
    /// The case, for messages.
    pub name: String,
    /// The user's home.
    pub home: PathBuf,
    /// Where the session starts.
    pub project: PathBuf,
    /// The user's settings folder, if it is not in the home.
    pub config_dir: Option<PathBuf>,
    /// The organisation's settings folder.
    pub managed_dir: PathBuf,
    /// The file of `--settings`.
    pub flag_settings: Option<PathBuf>,
    /// Plugin folders.
    pub plugins: Vec<PathBuf>,
    /// Which of user, project and local count; all without it.
    pub setting_sources: Option<Vec<String>>,
    /// The client's `--bare`.
    pub bare: bool,
    /// The client's `--safe-mode`.
    pub safe_mode: bool,
    /// A folder for what the session keeps.
    pub session_dir: PathBuf,
    /// What handlers find set, and nothing else.
    pub environment: Map<String, Value>,
    /// The event to fire.
    pub event: Value,
}

/// A case that is ready to be played.
pub(super) struct StagedCase {
    pub(super) request: EngineRequest,
    log: PathBuf,
}

/// Writes a program that can be run.
pub(super) fn write_program(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

impl StagedCase {
    pub(super) fn lay_out(
        case: &RecordedCase,
        book: &CaseBook,
        stub: &Path,
        top: &Path,
    ) -> io::Result<Self> {
        let home = top.join(RECORDED_HOME.trim_start_matches('/'));
        let moved = |value: &Value| -> Value { move_paths(value, top) };
        let write = |file: &str, text: &str| {
            let path = home.join(file);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)
        };
        for folder in ["bin", "app/.git", "app/src"] {
            fs::create_dir_all(home.join(folder))?;
        }
        fs::hard_link(stub, home.join("bin/h.sh"))?;
        let layers = case.layers.as_str().map_or(&case.layers, |key| {
            book.layer_sets.get(key).unwrap_or(&Value::Null)
        });
        let layers = moved(layers);
        let layers = layers.as_object().cloned().unwrap_or_default();
        for (layer, content) in &layers {
            let text = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            let file = RECORDED_LAYER_FILES.iter().find(|(name, _)| name == layer);
            let Some((_, file)) = file else {
                return Err(io::Error::other(format!("unknown layer {layer}")));
            };
            if layer == "plugin" {
                let manifest = json!({"name": "labplug", "version": "1.0.0"});
                write(RECORDED_MANIFEST_FILE, &manifest.to_string())?;
            }
            write(file, &text)?;
        }
        for (file, text) in &case.files {
            let text = moved(text);
            write(file, text.as_str().unwrap_or_default())?;
        }
        for line in &case.setup {
            let line = moved(&json!(line));
            Command::new("/bin/sh")
                .args(["-c", line.as_str().unwrap_or_default()])
                .current_dir(home.join("app"))
                .env("HOME", &home)
                .status()?;
        }
        let log = home.join("rec");
        let request = build_request(case, &home, &log, &layers, &moved);
        Ok(Self { request, log })
    }

    /// Runs by the id of the handler, as the handlers themselves wrote them down.
    pub(super) fn count_runs(&self) -> BTreeMap<String, u64> {
        let mut ran = BTreeMap::new();
        for entry in fs::read_dir(&self.log).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            // The recorder could tell an event only by its input.
            if text.lines().nth(1).unwrap_or_default().is_empty() {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = name.split('.').next().unwrap_or_default().to_owned();
            *ran.entry(id).or_insert(0) += 1;
        }
        ran.remove(RECORDER_ID);
        ran
    }
}

fn build_request(
    case: &RecordedCase,
    home: &Path,
    log: &Path,
    layers: &Map<String, Value>,
    moved: &dyn Fn(&Value) -> Value,
) -> EngineRequest {
    let env = moved(&Value::Object(case.env.clone()));
    let env = env.as_object().cloned().unwrap_or_default();
    let text = |name: &str| env.get(name).and_then(Value::as_str);
    let has = |flag: &str| case.args.iter().any(|arg| arg == flag);
    let sources = case.args.iter().position(|arg| arg == "--setting-sources");
    let sources = sources.and_then(|at| case.args.get(at + 1));
    let mut environment = Map::new();
    let mut set = |name: &str, value: String| environment.insert(name.to_owned(), value.into());
    set("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned());
    set("HOME", home.to_string_lossy().into_owned());
    set("H_LOG", log.to_string_lossy().into_owned());
    set("LANG", "C.UTF-8".to_owned());
    environment.extend(env.clone());
    let cwd = case.cwd.as_ref().map(|cwd| moved(&json!(cwd)));
    EngineRequest {
        format: 1,
        name: case.name.clone(),
        home: home.to_path_buf(),
        project: cwd
            .as_ref()
            .and_then(Value::as_str)
            .map_or_else(|| home.join("app"), PathBuf::from),
        config_dir: text(remora_hooks::names::CONFIG_DIR_VAR).map(PathBuf::from),
        managed_dir: home.join("managed"),
        flag_settings: layers.contains_key("flag").then(|| home.join("flag.json")),
        plugins: layers
            .contains_key("plugin")
            .then(|| home.join("plug"))
            .into_iter()
            .collect(),
        setting_sources: sources.map(|list| {
            let names = list.split(',').map(|name| name.trim().to_owned());
            names.filter(|name| !name.is_empty()).collect()
        }),
        bare: has("--bare") || env.contains_key(remora_hooks::names::SIMPLE_VAR),
        safe_mode: has("--safe-mode") || env.contains_key(remora_hooks::names::SAFE_MODE_VAR),
        session_dir: home.join("session"),
        environment,
        event: moved(&case.event),
    }
}

/// The value with the recording's home under another root.
fn move_paths(value: &Value, top: &Path) -> Value {
    match value {
        Value::String(text) => {
            Value::String(text.replace("/home/", &format!("{}/home/", top.display())))
        }
        Value::Array(list) => list.iter().map(|value| move_paths(value, top)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), move_paths(value, top)))
            .collect(),
        other => other.clone(),
    }
}
