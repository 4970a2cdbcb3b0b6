//! Recorded truth of handlers that ask a model or a server, event by event: the very
//! events that the client fired, the very texts that it asked and sent.
//!
//! The same cases are played as whole sessions by `live.rs`, where the events are
//! those of a scripted client; here each recorded event is fired by itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use remora_core::{Event, Outcome, Permission};
use remora_hooks::{Engine, EngineOptions, FlagSettings, Host, SettingsPaths};
use serde_json::{Value, json};

pub(crate) mod script;
pub(crate) mod servers;

use script::{Asked, ScriptedModel};
use servers::ScriptedServers;

/// Cases on which the engine differs, each with its reason. A case listed here
/// that agrees fails the test too.
const DIFFERENT: &[(&str, &str)] = &[];

/// What the client's verifiers do for other reasons than their hooks.
const VERIFIER_EVENTS: [&str; 6] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStop",
    "StopFailure",
];

fn write_stub(folder: &Path, book: &Value) -> PathBuf {
    let stub = folder.join("h.sh");
    fs::write(&stub, book["stub"].as_str().unwrap()).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    stub
}

#[test]
fn models_decide_what_they_decided_for_the_client() {
    let book = crate::live::load_book();
    let cases: Vec<&Value> = book["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["family"] == "prompt" || case["family"] == "agent")
        .collect();
    play_all(&book, &cases);
}

#[test]
fn servers_decide_what_they_decided_for_the_client() {
    let book = crate::live::load_book();
    let cases: Vec<&Value> = book["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["family"] == "mcp")
        .collect();
    play_all(&book, &cases);
}

fn play_all(book: &Value, cases: &[&Value]) {
    // Written once, before any child is started: a program that is open for
    // writing somewhere cannot be run.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let stub = write_stub(folder.path(), book);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case["name"].as_str().unwrap();
                    let problems = Session::lay_out(case, &stub).play();
                    let excuse = DIFFERENT.iter().find(|(n, _)| *n == name);
                    let problem = match (problems.is_empty(), excuse) {
                        (true, Some(_)) => "agrees; take it off the list".to_owned(),
                        (false, None) => problems.join("\n    "),
                        _ => continue,
                    };
                    found.lock().unwrap().push(format!("{name}: {problem}"));
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

/// A case in a folder of its own.
struct Session<'a> {
    truth: &'a Value,
    steps: Vec<Value>,
    script: Value,
    args: Vec<String>,
    root: PathBuf,
    top: String,
    _dir: tempfile::TempDir,
}

/// One event with what the hooks made of it.
struct Played {
    event: Event,
    effect: Value,
    outcome: Outcome,
}

impl<'a> Session<'a> {
    fn lay_out(case: &'a Value, stub: &Path) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("home/dev");
        let moved: Value = serde_json::from_str(
            &case
                .to_string()
                .replace("/home/", &format!("{}/home/", top.display())),
        )
        .unwrap();
        for folder in ["bin", "app/.git", "app/src", ".claude"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::hard_link(stub, root.join("bin/h.sh")).unwrap();
        for file in ["README.md", "src/a.py", "src/b.py"] {
            fs::write(root.join("app").join(file), "x = 1\n").unwrap();
        }
        for (path, text) in moved["files"].as_object().unwrap() {
            let path = Path::new(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.as_str().unwrap()).unwrap();
        }
        Self {
            truth: &case["truth"],
            steps: moved["steps"].as_array().unwrap().clone(),
            script: moved["model"].clone(),
            args: moved["args"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|a| a.as_str().unwrap().to_owned())
                .collect(),
            root,
            top: top.display().to_string(),
            _dir: dir,
        }
    }

    /// The same with the client's own root.
    fn as_recorded(&self, text: &str) -> String {
        text.replace(&format!("{}/home/", self.top), "/home/")
    }

    fn engine(&self) -> Engine {
        let mut places = SettingsPaths::new(self.root.join("app"), &self.root);
        places.managed = Some(self.root.join("managed"));
        if let Some(at) = self.args.iter().position(|a| a == "--plugin-dir") {
            places.plugins.push(PathBuf::from(&self.args[at + 1]));
        }
        // Writes down what a verifier fires.
        let line = json!([{"hooks": [{"type": "command", "command": "cat >> \"$HOME/fired\""}]}]);
        let hooks: serde_json::Map<String, Value> = VERIFIER_EVENTS
            .iter()
            .map(|name| ((*name).to_owned(), line.clone()))
            .collect();
        places.flag = Some(FlagSettings::Json(json!({ "hooks": hooks }).to_string()));
        Engine::load(places, EngineOptions::default()).unwrap()
    }

    fn play(&self) -> Vec<String> {
        let engine = self.engine();
        let model = ScriptedModel::new(&self.script);
        let servers = ScriptedServers::new(&self.args, &self.root, |_| ());
        let host = Host {
            environment: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("HOME".into(), self.root.clone().into()),
                ("H_LOG".into(), self.root.join("rec").into()),
            ],
            session_dir: Some(self.root.join("session")),
            model: Some(&model),
            servers: Some(&servers),
            ..Host::default()
        };
        let mut played = Vec::new();
        for step in &self.steps {
            let Some(fields) = step.get("event") else {
                continue;
            };
            // A verifier's own events come from the engine.
            if is_verifiers(fields) {
                continue;
            }
            let event = Event::from_value(fields.clone(), None).unwrap();
            let outcome = engine.run(&event, &host).report.outcome;
            played.push(Played {
                event,
                effect: step["effect"].clone(),
                outcome,
            });
        }
        let mut problems = Vec::new();
        for one in &played {
            check_effect(one, &mut problems);
        }
        self.check_requests(&model.into_asked(), &mut problems);
        self.check_fired(&mut problems);
        self.check_calls(&servers.list_calls(), &mut problems);
        problems
    }

    fn check_requests(&self, asked: &[Asked], problems: &mut Vec<String>) {
        let count = |kind: &str| self.truth["requests"][kind].as_u64().unwrap_or(0);
        let mut expected = count("hook_prompt") + count("hook_agent");
        // After such an error the client asks again in another form. That is the provider's
        // business here (`crates/remora-model/tests/it/http.rs`).
        let is_refused = self.script.to_string().contains("\"status\":400");
        if is_refused {
            expected = 1;
        }
        if asked.len() as u64 != expected {
            problems.push(format!("{} requests, not {expected}", asked.len()));
        }
        let recorded = self
            .steps
            .iter()
            .filter_map(|step| step.get("model_request"))
            .filter(|request| request["kind"].as_str().unwrap().starts_with("hook_"))
            .filter(|_| !is_refused);
        for request in recorded {
            let model = request["model"].as_str().unwrap();
            // Handlers of one event ask at the same time.
            let mut named = asked.iter().filter_map(|asked| asked.named.as_deref());
            if asked.iter().all(|asked| asked.named.is_some()) && !named.any(|n| n == model) {
                problems.push(format!("does not ask {model}"));
            }
            // At a stop the conversation so far may hold the template too.
            let own = request["own_text"].as_array().and_then(|list| list.last());
            let Some(own) = own else {
                continue;
            };
            let part = |key: &str| own[key].as_str().unwrap_or_default();
            // What the client adds in its own words is not ours to say.
            let after = Some(part("after")).filter(|after| *after != "(client text)");
            let text = &format!("{}{}", part("text"), after.unwrap_or_default());
            let text = without_duration(&self.as_recorded(text));
            let asks: Vec<String> = (asked.iter())
                .map(|asked| without_duration(&self.as_recorded(&asked.text)))
                .collect();
            // Events are recorded with long sentences cut, requests are not.
            if !asks.iter().any(|own| *own == text || own.contains('…')) {
                let asks = asks.join("\n      ");
                problems.push(format!("asks\n      {asks}\n    not\n      {text}"));
            }
        }
    }

    fn check_calls(&self, calls: &[Value], problems: &mut Vec<String>) {
        let expected = self.steps.iter().filter_map(|step| step.get("mcp_call"));
        let expected: Vec<Value> = expected.cloned().collect();
        if calls != expected {
            problems.push(format!("calls {}, not {}", json!(calls), json!(expected)));
        }
    }

    fn check_fired(&self, problems: &mut Vec<String>) {
        let is_whole = self.steps.iter().all(|step| step.get("omitted").is_none());
        let describe = |event: &Value| {
            let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            let active = event["stop_hook_active"].as_bool();
            // The session's effort, which not every event names.
            let keys = event.as_object().unwrap().keys();
            let keys: Vec<&String> = keys.filter(|key| *key != "effort").collect();
            format!(
                "{} {} {} {active:?} {} {keys:?}",
                text("hook_event_name"),
                text("tool_name"),
                text("permission_mode"),
                event["tool_input"],
            )
        };
        let expected: Vec<String> = self
            .steps
            .iter()
            .filter_map(|step| step.get("event"))
            .filter(|event| is_verifiers(event))
            .map(describe)
            .collect();
        let text = fs::read_to_string(self.root.join("fired")).unwrap_or_default();
        let fired: Vec<String> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(is_verifiers)
            .map(|event| describe(&event))
            .collect();
        let fired = if is_whole {
            &fired[..]
        } else {
            &fired[..fired.len().min(expected.len())]
        };
        if is_whole && fired != expected {
            problems.push(format!(
                "a verifier fires\n      {}\n    not\n      {}",
                fired.join("\n      "),
                expected.join("\n      ")
            ));
        }
    }
}

fn is_verifiers(event: &Value) -> bool {
    let agent = event["agent_id"].as_str().unwrap_or_default();
    agent.starts_with("hook-agent-")
}

fn without_duration(text: &str) -> String {
    let Some((before, after)) = text.split_once("\"duration_ms\":") else {
        return text.to_owned();
    };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}{rest}")
}

/// What one event's outcome means for the host, against what the client did.
fn check_effect(played: &Played, problems: &mut Vec<String>) {
    let Played {
        event,
        effect,
        outcome,
    } = played;
    let mut expect = |what: &str, found: bool, expected: bool| {
        if found != expected {
            problems.push(format!("{} {what}: {found}", event.name));
        }
    };
    match event.name.as_str() {
        "PreToolUse" => {
            let runs = outcome.final_decision == Some(Permission::Allow);
            // Of a turn that ends at once nothing shows whether the tool ran.
            if let Some(ran) = effect["tool_ran"].as_bool() {
                expect("lets the tool run", runs, ran);
            }
        }
        "Stop" | "SubagentStop" => {
            // The cap that lets a session stop after so many blocks is the session's.
            let is_capped = outcome.blocked && event.fields["stop_hook_active"] == true;
            if !is_capped {
                expect("goes on", outcome.blocked, effect["continued"] == true);
            }
        }
        _ => {}
    }
}
