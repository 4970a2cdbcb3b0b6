//! Recorded truth: what the real client did with known settings, events and
//! handlers. The engine must do the same.
//!
//! Every case is laid out in a temporary root of its own. Cases whose question
//! is only which handlers run are answered by the plan; all others run their
//! handlers for real.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use remora_core::Event;
use remora_hooks::{
    Engine, EngineMode, EngineOptions, FlagSettings, Host, PlanVerdict, SettingSources,
    SettingsPaths,
};
use serde_json::{Map, Value};

mod compare;

/// Cases on which the engine differs, each with its reason. A case listed here
/// that agrees fails the test too.
const DIFFERENT: &[(&str, &str)] = &[(
    "json-PreToolUse-ctx-lines",
    "the recorder cut the text at its blank line; the client delivered all of it",
)];

const ROOT: &str = "/home/dev";

#[test]
fn the_engine_does_what_the_client_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks/recorded.json");
    let book: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let cases = book["cases"].as_array().unwrap();
    // Written once, before any child is started: a program that is open for
    // writing somewhere cannot be run.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let stub = folder.path().join("h.sh");
    fs::write(&stub, book["stub"].as_str().unwrap()).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // Most cases wait for a child, so there are more threads than cores.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case["name"].as_str().unwrap();
                    let problems = Case::lay_out(&book, &stub, case).check();
                    let excuse = DIFFERENT.iter().find(|(n, _)| *n == name);
                    match (problems.is_empty(), excuse) {
                        (true, Some(_)) => found
                            .lock()
                            .unwrap()
                            .push(format!("{name}: agrees; take it off the list")),
                        (false, None) => found
                            .lock()
                            .unwrap()
                            .push(format!("{name}: {}", problems.join("; "))),
                        _ => {}
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(
        found.is_empty(),
        "{} of {} cases differ:\n{}",
        found.len(),
        cases.len(),
        found.join("\n")
    );
}

struct Case<'a> {
    truth: &'a Map<String, Value>,
    given: Value,
    root: PathBuf,
    _dir: tempfile::TempDir,
}

impl<'a> Case<'a> {
    fn lay_out(book: &Value, stub: &Path, original: &'a Value) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join(&ROOT[1..]);
        // The same tree under another root: every mention moves along.
        let moved = |v: &Value| -> Value {
            serde_json::from_str(
                &v.to_string()
                    .replace("/home/", &format!("{}/home/", top.display())),
            )
            .unwrap()
        };
        let mut case = moved(original);
        if let Some(key) = case["layers"].as_str() {
            case["layers"] = moved(&book["layer_sets"][key]);
        }
        let write = |file: &str, text: &str| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::hard_link(stub, root.join("bin/h.sh")).unwrap();
        fs::create_dir_all(root.join("app/.git")).unwrap();
        fs::create_dir_all(root.join("app/src")).unwrap();
        for (layer, content) in case["layers"].as_object().unwrap() {
            let text = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            let file = match layer.as_str() {
                "user" => ".claude/settings.json",
                "project" => "app/.claude/settings.json",
                "local" => "app/.claude/settings.local.json",
                "managed" => "managed/managed-settings.json",
                "flag" => "flag.json",
                "plugin" => {
                    write(
                        "plug/.claude-plugin/plugin.json",
                        r#"{"name":"labplug","version":"1.0.0"}"#,
                    );
                    "plug/hooks/hooks.json"
                }
                other => panic!("layer {other}"),
            };
            write(file, &text);
        }
        if let Some(files) = case.get("files").and_then(Value::as_object) {
            for (file, text) in files {
                write(file, text.as_str().unwrap());
            }
        }
        Self {
            truth: original["truth"].as_object().unwrap(),
            given: case,
            root,
            _dir: dir,
        }
    }

    fn check(&self) -> Vec<String> {
        let engine = match Engine::load(self.places(), self.options()) {
            Ok(engine) => engine,
            Err(_) if self.truth.contains_key("refused_to_start") => return Vec::new(),
            Err(error) => return vec![format!("does not load: {error}")],
        };
        if self.truth.contains_key("refused_to_start") {
            return vec!["loads, the client refused to start".into()];
        }
        let event = Event::from_value(self.given["event"].clone(), None).unwrap();
        let mut problems = Vec::new();
        if self.truth.len() == 1 {
            let plan = engine.plan(&event);
            let mut ran = BTreeMap::new();
            for row in plan.rows.iter().filter(|r| r.verdict == PlanVerdict::Runs) {
                let label = remora_hooks::HandlerInfo::new(row.entry).label;
                let id = label
                    .split_whitespace()
                    .nth(1)
                    .unwrap_or_default()
                    .to_owned();
                *ran.entry(id).or_insert(0_u64) += 1;
            }
            self.compare_ran(ran, &mut problems);
            return problems;
        }
        for line in self
            .given
            .get("setup")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            Command::new("/bin/sh")
                .arg("-c")
                .arg(line.as_str().unwrap())
                .current_dir(self.root.join("app"))
                .env("HOME", &self.root)
                .status()
                .unwrap();
        }
        let host = Host {
            environment: self.environment(),
            session_dir: Some(self.root.join("session")),
            ..Host::default()
        };
        let run = engine.run(&event, &host);
        self.compare_ran(self.logged(), &mut problems);
        problems.extend(compare::differences(self.truth, &event, &run.report));
        self.compare_logs(&mut problems);
        problems
    }

    fn args(&self) -> Vec<&str> {
        self.given
            .get("args")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    fn variable(&self, name: &str) -> bool {
        self.given.get("env").and_then(|e| e.get(name)).is_some()
    }

    fn places(&self) -> SettingsPaths {
        let start = self
            .given
            .get("cwd")
            .and_then(Value::as_str)
            .map_or(self.root.join("app"), PathBuf::from);
        let mut places = SettingsPaths::new(start, &self.root);
        places.config_dir = self.given["env"]["CLAUDE_CONFIG_DIR"]
            .as_str()
            .map(PathBuf::from);
        places.managed = Some(self.root.join("managed"));
        let layers = self.given["layers"].as_object().unwrap();
        if layers.contains_key("flag") {
            places.flag = Some(FlagSettings::File(self.root.join("flag.json")));
        }
        if layers.contains_key("plugin") {
            places.plugins.push(self.root.join("plug"));
        }
        let args = self.args();
        if let Some(at) = args.iter().position(|a| *a == "--setting-sources") {
            let has = |name: &str| args[at + 1].split(',').any(|s| s.trim() == name);
            places.sources = SettingSources {
                user: has("user"),
                project: has("project"),
                local: has("local"),
            };
        }
        places
    }

    fn options(&self) -> EngineOptions {
        let args = self.args();
        let mode = if args.contains(&"--bare") || self.variable("CLAUDE_CODE_SIMPLE") {
            EngineMode::Bare
        } else if args.contains(&"--safe-mode") || self.variable("CLAUDE_CODE_SAFE_MODE") {
            EngineMode::Safe
        } else {
            EngineMode::Full
        };
        EngineOptions {
            mode,
            ..EngineOptions::default()
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut list: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), self.root.clone().into()),
            ("H_LOG".into(), self.root.join("rec").into()),
            ("LANG".into(), "C.UTF-8".into()),
        ];
        for (name, value) in self
            .given
            .get("env")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            list.push((name.into(), value.as_str().unwrap().into()));
        }
        list
    }

    /// Runs by id, from the stub's own log.
    fn logged(&self) -> BTreeMap<String, u64> {
        let mut ran = BTreeMap::new();
        for entry in fs::read_dir(self.root.join("rec"))
            .into_iter()
            .flatten()
            .flatten()
        {
            // The recorder could tell an event only by its input.
            if fs::read_to_string(entry.path())
                .unwrap()
                .lines()
                .nth(1)
                .unwrap_or_default()
                .is_empty()
            {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            *ran.entry(name.split('.').next().unwrap().to_owned())
                .or_insert(0) += 1;
        }
        ran
    }

    fn logs(&self, id: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for entry in fs::read_dir(self.root.join("rec"))
            .into_iter()
            .flatten()
            .flatten()
        {
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(&format!("{id}."))
            {
                let text = fs::read_to_string(entry.path()).unwrap();
                lines.extend(
                    text.lines()
                        .skip(2)
                        .filter(|l| !l.is_empty())
                        .map(str::to_owned),
                );
            }
        }
        lines
    }

    fn compare_ran(&self, mut ran: BTreeMap<String, u64>, problems: &mut Vec<String>) {
        let mut expected: BTreeMap<String, u64> = self.truth["ran"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(k, v)| (k.clone(), v.as_u64().unwrap()))
            .collect();
        // Slower siblings that the client ends run here to their end.
        let free = self
            .truth
            .get("may_run")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        for id in free.chain(["rec"]) {
            ran.remove(id);
            expected.remove(id);
        }
        if ran != expected {
            let missing: Vec<_> = expected
                .iter()
                .filter(|(k, v)| ran.get(*k) != Some(v))
                .collect();
            let extra: Vec<_> = ran
                .iter()
                .filter(|(k, v)| expected.get(*k) != Some(v))
                .collect();
            let extra: Vec<_> = extra
                .iter()
                .map(|(k, v)| format!("{k}x{v} {}", self.describe(k)))
                .collect();
            let missing: Vec<_> = missing
                .iter()
                .map(|(k, v)| format!("{k}x{v} {}", self.describe(k)))
                .collect();
            let subject = &self.given["event"]["tool_input"];
            problems.push(format!(
                "ran too few {missing:?}, too many {extra:?} on {subject}"
            ));
        }
    }

    fn describe(&self, id: &str) -> String {
        for layer in self.given["layers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(_, v)| v)
        {
            for group in layer["hooks"]
                .as_object()
                .into_iter()
                .flatten()
                .flat_map(|(_, v)| v.as_array().into_iter().flatten())
            {
                for handler in group["hooks"].as_array().into_iter().flatten() {
                    if handler["command"]
                        .as_str()
                        .is_some_and(|c| c.split_whitespace().nth(1) == Some(id))
                    {
                        return format!("[{} {}]", group["matcher"], handler["if"]);
                    }
                }
            }
        }
        String::new()
    }

    fn compare_logs(&self, problems: &mut Vec<String>) {
        for (id, theirs) in self
            .truth
            .get("logs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let moved = theirs
                .to_string()
                .replace(ROOT, self.root.to_str().unwrap());
            let mut expected: Vec<String> = serde_json::from_str(&moved).unwrap();
            let mut ours = self.logs(id);
            // Names that only the client's own process and its folders have.
            let own = |l: &String| {
                !l.starts_with("CLAUDE_ENV_FILE=")
                    && !l.contains("MESSAGING")
                    && !l.starts_with("ANTHROPIC_")
            };
            if ours.iter().any(|l| l == "CLAUDECODE") {
                let shared = |l: &String| {
                    own(l)
                        && (l.starts_with("CLAUDE") || l == "AI_AGENT" || l.starts_with("COREPACK"))
                };
                expected.retain(|l| shared(l) && l != "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC");
                ours.retain(shared);
            }
            expected.retain(own);
            ours.retain(own);
            expected.sort();
            ours.sort();
            if expected != ours {
                problems.push(format!("log of {id}: client {theirs}, engine {ours:?}"));
            }
        }
    }
}
