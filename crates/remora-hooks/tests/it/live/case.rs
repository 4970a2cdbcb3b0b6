//! One recorded case in a folder of its own: its files, and what is asked of it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use remora_hooks::{
    EngineOptions, FlagSettings, Interactivity, SessionOptions, SettingsPaths, Trust,
};
use serde_json::{Map, Value, json};

const ROOT: &str = "/home/dev";

/// What the recorder runs: nothing.
pub(super) const RECORDER: &str = ": recorder";

pub(super) struct Case {
    pub(super) name: String,
    pub(super) value: Value,
    /// Events that the recording listens to besides, so that it has all of them.
    recorded_events: Vec<String>,
    /// Where `/home/dev` is now.
    pub(super) root: PathBuf,
    top: PathBuf,
    _dir: tempfile::TempDir,
}

impl Case {
    pub(super) fn lay_out(book: &Value, original: &Value, stub: &Path, sleep: &Path) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join(&ROOT[1..]);
        let text = original
            .to_string()
            .replace("/home/", &format!("{}/home/", top.display()));
        let value: Value = serde_json::from_str(&text).unwrap();
        let case = Self {
            name: original["name"].as_str().unwrap().to_owned(),
            value,
            recorded_events: list_strings(&book["recorder"]["events"]),
            root,
            top,
            _dir: dir,
        };
        for folder in ["bin", "fakebin", "rec/run", "app/.git", "app/src"] {
            fs::create_dir_all(case.root.join(folder)).unwrap();
        }
        fs::hard_link(stub, case.root.join("bin/h.sh")).unwrap();
        fs::hard_link(sleep, case.root.join("fakebin/sleep")).unwrap();
        for (file, text) in [
            ("README.md", "# app\n"),
            ("src/a.py", "0\n"),
            ("src/b.py", "0\n"),
        ] {
            fs::write(case.root.join("app").join(file), text).unwrap();
        }
        for (path, text) in case.value["files"].as_object().into_iter().flatten() {
            write_file(Path::new(path), text.as_str().unwrap());
        }
        for file in case.strings("exe") {
            let path = case.root.join(file);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        case
    }

    pub(super) fn strings(&self, key: &str) -> Vec<String> {
        list_strings(&self.value[key])
    }

    fn has_arg(&self, arg: &str) -> bool {
        self.strings("args").iter().any(|a| a == arg)
    }

    pub(super) fn arg_value(&self, arg: &str) -> Option<String> {
        let args = self.strings("args");
        let at = args.iter().position(|a| a == arg)?;
        args.get(at + 1).cloned()
    }

    pub(super) fn is_interactive(&self) -> bool {
        self.value["mode"] == "interactive"
    }

    pub(super) fn app(&self) -> PathBuf {
        self.root.join("app")
    }

    pub(super) fn permission_mode(&self) -> String {
        if self.has_arg("--dangerously-skip-permissions") {
            return "bypassPermissions".into();
        }
        self.arg_value("--permission-mode")
            .unwrap_or_else(|| "default".into())
    }

    pub(super) fn setup_trigger(&self) -> Option<&'static str> {
        let triggers = [("--init", "init"), ("--maintenance", "maintenance")];
        let asked = triggers.iter().find(|(arg, _)| self.has_arg(arg));
        asked.map(|(_, trigger)| *trigger)
    }

    pub(super) fn settings_paths(&self) -> SettingsPaths {
        let mut hooks = Map::new();
        for event in &self.recorded_events {
            let handler = json!({"type": "command", "command": RECORDER});
            hooks.insert(event.clone(), json!([{"hooks": [handler]}]));
        }
        let allowed: Vec<String> = self.arg_value("--allowedTools").into_iter().collect();
        // The recorder takes the place of `--settings`, as it did when the case was recorded.
        let flag = json!({"hooks": hooks, "permissions": {"allow": allowed}});
        let mut paths = SettingsPaths::new(self.app(), self.root.clone());
        paths.flag = Some(FlagSettings::Json(flag.to_string()));
        paths.plugins = self
            .arg_value("--plugin-dir")
            .map(PathBuf::from)
            .into_iter()
            .collect();
        paths
    }

    pub(super) fn session_options(&self) -> SessionOptions {
        let streams = self.value["drive"].is_array();
        let untrusted = self
            .strings("setup")
            .iter()
            .any(|line| line.contains("\"hasTrustDialogAccepted\": false"));
        SessionOptions {
            engine: EngineOptions::default(),
            attendance: match (self.is_interactive(), streams) {
                (true, _) => Interactivity::Interactive,
                (false, true) => Interactivity::Streaming,
                (false, false) => Interactivity::Unattended,
            },
            folder: if untrusted {
                Trust::Untrusted
            } else {
                Trust::Trusted
            },
            session_dir: Some(self.root.join("session")),
        }
    }

    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let root = self.root.display();
        let mut list: Vec<(OsString, OsString)> = vec![
            (
                "PATH".into(),
                format!("{root}/fakebin:/usr/bin:/bin").into(),
            ),
            ("HOME".into(), self.root.clone().into()),
            ("USER".into(), "dev".into()),
            ("LIVE_GATES".into(), self.gates().into()),
            ("H_LOG".into(), self.runs().into()),
        ];
        for (name, value) in self.value["env"].as_object().into_iter().flatten() {
            list.push((name.into(), value.as_str().unwrap().into()));
        }
        list
    }

    pub(super) fn gates(&self) -> PathBuf {
        self.root.join("gates")
    }

    pub(super) fn runs(&self) -> PathBuf {
        self.root.join("rec/run")
    }

    /// A text as it would read in the recording.
    pub(super) fn restore_paths(&self, text: &str) -> String {
        text.replace(&format!("{}/home/", self.top.display()), "/home/")
    }
}

fn list_strings(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(super) fn write_file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
