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

use remora_hooks::{
    Engine, FlagSettings, HandlerReport, Host, Mode, Options, Places, SettingSources, Status,
    Verdict,
};
use remora_protocol::{Event, EventName, Outcome, Permission};
use serde_json::{Map, Value};

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
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // Most cases wait for a child, so there are more threads than cores.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case["name"].as_str().unwrap();
                    let problems = Case::lay_out(&book, case).check();
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
    case: Value,
    root: PathBuf,
    _dir: tempfile::TempDir,
}

impl<'a> Case<'a> {
    fn lay_out(book: &Value, original: &'a Value) -> Self {
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
        write("bin/h.sh", book["stub"].as_str().unwrap());
        fs::set_permissions(root.join("bin/h.sh"), fs::Permissions::from_mode(0o755)).unwrap();
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
            case,
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
        let event = Event::from_value(self.case["event"].clone(), None).unwrap();
        let mut problems = Vec::new();
        if self.truth.len() == 1 {
            let plan = engine.plan(&event);
            let mut ran = BTreeMap::new();
            for row in plan.rows.iter().filter(|r| r.verdict == Verdict::Runs) {
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
            .case
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
        self.compare(
            &event,
            &run.report.outcome,
            &run.report.handlers,
            &mut problems,
        );
        problems
    }

    fn args(&self) -> Vec<&str> {
        self.case
            .get("args")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    fn variable(&self, name: &str) -> bool {
        self.case.get("env").and_then(|e| e.get(name)).is_some()
    }

    fn places(&self) -> Places {
        let start = self
            .case
            .get("cwd")
            .and_then(Value::as_str)
            .map_or(self.root.join("app"), PathBuf::from);
        let mut places = Places::new(start, &self.root);
        places.config_dir = self.case["env"]["CLAUDE_CONFIG_DIR"]
            .as_str()
            .map(PathBuf::from);
        places.managed = Some(self.root.join("managed"));
        let layers = self.case["layers"].as_object().unwrap();
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

    fn options(&self) -> Options {
        let args = self.args();
        let mode = if args.contains(&"--bare") || self.variable("CLAUDE_CODE_SIMPLE") {
            Mode::Bare
        } else if args.contains(&"--safe-mode") || self.variable("CLAUDE_CODE_SAFE_MODE") {
            Mode::Safe
        } else {
            Mode::Full
        };
        Options {
            mode,
            ..Options::default()
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
            .case
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
            let subject = &self.case["event"]["tool_input"];
            problems.push(format!(
                "ran too few {missing:?}, too many {extra:?} on {subject}"
            ));
        }
    }

    fn describe(&self, id: &str) -> String {
        for layer in self.case["layers"]
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

    fn compare(
        &self,
        event: &Event,
        outcome: &Outcome,
        handlers: &[HandlerReport],
        problems: &mut Vec<String>,
    ) {
        let mut differs = |what: &str, theirs: &Value, ours: String| {
            problems.push(format!("{what}: client {theirs}, engine {ours}"));
        };
        let known = |key: &str| self.truth.get(key).filter(|v| !v.is_null());
        let ran_of = |status: Status| handlers.iter().any(|h| h.status == status);
        if let Some(theirs) = known("outcome")
            && let Some(verdict) = theirs.as_object().unwrap().values().next()
            // The client calls every handler of this event a success.
            && event.name != EventName::PreCompact
            && let Some(own) = handlers.iter().find(|h| h.status != Status::Skipped && !h.info.label.ends_with(" rec"))
        {
            let failed = own.status == Status::Error || own.exit_code.is_some_and(|c| c != 0);
            let ours = match own.status {
                Status::Timeout => "cancelled",
                _ if failed => "error",
                _ => "success",
            };
            if verdict != ours {
                differs(
                    "outcome",
                    verdict,
                    format!("{ours} ({:?} {})", own.status, own.why),
                );
            }
        }
        let has_call = matches!(
            event.name,
            EventName::PreToolUse | EventName::PermissionRequest
        );
        if let Some(theirs) = known("tool_ran").filter(|_| has_call) {
            let ours = outcome.final_decision == Some(Permission::Allow);
            if theirs != ours {
                differs(
                    "tool_ran",
                    theirs,
                    format!("final {:?} {:?}", outcome.final_decision, outcome.final_why),
                );
            }
        }
        if let Some(theirs) = known("permission") {
            let ours = outcome.permission.map_or("none", Permission::as_str);
            // "none" also stands for a rule that answered in the hook's place.
            let rule_spoke = theirs == "none"
                && outcome
                    .final_why
                    .as_ref()
                    .is_some_and(|w| w.contains("rule `"));
            let rewrite_failed = theirs == "allow-but-updatedInput-invalid" && ours == "allow";
            if theirs != ours && !rule_spoke && !rewrite_failed {
                differs("permission", theirs, ours.into());
            }
        }
        if let Some(theirs) = known("blocked").filter(|v| *v != outcome.blocked) {
            differs("blocked", theirs, outcome.blocked.to_string());
        }
        if let Some(theirs) = known("stopped").filter(|v| *v == outcome.go_on) {
            differs("stopped", theirs, (!outcome.go_on).to_string());
        }
        for theirs in known("reason")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            // The client's own sentence around stderr is not ours to repeat.
            let text = theirs.as_str().unwrap();
            let text = if text.starts_with("failed;") {
                text.lines().last().unwrap()
            } else {
                text
            };
            // The recorder shortened very long texts in the middle.
            let text = text.split(" …[").next().unwrap();
            if !outcome.reason.as_deref().unwrap_or_default().contains(text) {
                differs("reason", theirs, format!("{:?}", outcome.reason));
            }
        }
        if let Some(theirs) = known("context") {
            let list = theirs.as_array().unwrap();
            let mut expected: Vec<&str> = list
                .iter()
                .flat_map(|c| c["text"].as_str().unwrap().split('\n'))
                .collect();
            let shown: Vec<String> = outcome
                .context
                .iter()
                .map(|c| {
                    if c.starts_with("<persisted-output>") {
                        "<spilled>".to_owned()
                    } else {
                        c.clone()
                    }
                })
                .collect();
            let mut ours: Vec<&str> = shown.iter().flat_map(|c| c.split('\n')).collect();
            expected.sort_unstable();
            ours.sort_unstable();
            if expected != ours {
                differs("context", theirs, format!("{:?}", outcome.context));
            }
        }
        if let Some(theirs) = known("tool_input").and_then(|t| t.get("content")) {
            let ours = outcome
                .updated_input
                .as_ref()
                .and_then(|i| i.get("content"));
            if Some(theirs) != ours {
                differs("tool_input", theirs, format!("{ours:?}"));
            }
        }
        if let Some(theirs) = known("tool_output") {
            let ours = outcome
                .updated_output
                .as_ref()
                .map_or_else(|| "orig".into(), Value::to_string);
            if !ours.contains(theirs.as_str().unwrap_or_default().trim()) {
                differs("tool_output", theirs, ours);
            }
        }
        if let Some(theirs) = known("instructions_added") {
            let ours = outcome.compact_instructions.as_deref().unwrap_or_default();
            if theirs != ours {
                differs("instructions", theirs, ours.into());
            }
        }
        if let Some(theirs) = known("compacted").filter(|v| *v == outcome.blocked) {
            differs("compacted", theirs, (!outcome.blocked).to_string());
        }
        if let Some(theirs) = known("system_messages") {
            let ours: Vec<Value> = outcome
                .messages
                .iter()
                .map(|m| {
                    if m.starts_with("<persisted-output>") {
                        "<spilled>".into()
                    } else {
                        m.as_str().into()
                    }
                })
                .collect();
            if theirs != &Value::Array(ours.clone()) {
                differs("messages", theirs, format!("{ours:?}"));
            }
        }
        if let Some(theirs) = known("extra_requests") {
            let ours = outcome.go_on && (outcome.blocked || !outcome.context.is_empty());
            if (theirs.as_u64() > Some(0)) != ours {
                differs("extra requests", theirs, ours.to_string());
            }
        }
        if let Some(theirs) = known("notice") {
            let ours = if theirs == "timed out" {
                ran_of(Status::Timeout)
            } else {
                ran_of(Status::Error)
            };
            if !ours {
                differs("notice", theirs, "nothing".into());
            }
        }
        if let Some(theirs) = known("user_text").filter(|_| outcome.blocked) {
            let quoted = theirs.as_str().unwrap().contains("Original prompt:");
            if quoted == outcome.suppress_original_prompt.unwrap_or(false) {
                differs(
                    "quoted prompt",
                    theirs,
                    format!("{:?}", outcome.suppress_original_prompt),
                );
            }
        }
        if let Some(theirs) = known("bash_saw").filter(|_| event.name == EventName::SessionStart) {
            let get = |name: &str| {
                outcome
                    .env
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let ours = format!("v={} w={} e=\n", get("HOOKVAR"), get("OTHER"));
            if theirs != &ours {
                differs("session environment", theirs, ours);
            }
        }
        for (id, theirs) in known("logs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let mut ours = self.logs(id);
            let moved = theirs
                .to_string()
                .replace(ROOT, self.root.to_str().unwrap());
            let mut expected: Vec<String> = serde_json::from_str(&moved).unwrap();
            // Names only the client's own process and its session folder have.
            let own = |l: &String| {
                !l.starts_with("CLAUDE_ENV_FILE=")
                    && !l.contains("MESSAGING")
                    && !l.starts_with("ANTHROPIC_")
            };
            if ours.iter().any(|l| l == "CLAUDECODE") {
                let ours_too = |l: &String| {
                    own(l)
                        && (l.starts_with("CLAUDE") || l == "AI_AGENT" || l.starts_with("COREPACK"))
                };
                expected.retain(|l| ours_too(l) && l != "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC");
                ours.retain(ours_too);
            }
            expected.retain(own);
            ours.retain(own);
            expected.sort();
            ours.sort();
            if expected != ours {
                differs("log", theirs, format!("{ours:?}"));
            }
        }
    }
}
