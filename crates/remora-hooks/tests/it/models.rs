//! Recorded truth of handlers that ask a model or a server: the same settings,
//! events and scripted answers give the same effects.
//!
//! A case is a session. What happens between its events belongs to the session;
//! here each event is played by itself, and what its handlers decided is compared.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use remora_core::{Event, Outcome, Permission};
use remora_hooks::{Engine, EngineOptions, FlagSettings, Host, SettingsPaths};
use serde_json::{Value, json};

pub(crate) mod script;
mod servers;

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

fn load_book() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks/models.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The handler program of recorded cases, from the other book.
fn write_stub(folder: &Path) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks/recorded.json");
    let book: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let stub = folder.join("h.sh");
    fs::write(&stub, book["stub"].as_str().unwrap()).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    stub
}

#[test]
fn models_decide_what_they_decided_for_the_client() {
    let book = load_book();
    let cases: Vec<&Value> = book["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["family"] != "mcp")
        .collect();
    play_all(&cases);
}

#[test]
fn servers_decide_what_they_decided_for_the_client() {
    let book = load_book();
    let cases: Vec<&Value> = book["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["family"] == "mcp")
        .collect();
    play_all(&cases);
}

fn play_all(cases: &[&Value]) {
    // Written once, before any child is started: a program that is open for
    // writing somewhere cannot be run.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let stub = write_stub(folder.path());
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
    rules: Value,
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
            rules: moved["rules"].clone(),
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
        let model = ScriptedModel::new(&self.rules);
        let servers = ScriptedServers::new(&self.args, &self.root);
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
        // A prompt has two events; whichever stops it, no request follows.
        let prompts = || played.iter().filter(|p| is_prompt(p));
        let blocked = prompts().any(|p| p.outcome.blocked || !p.outcome.go_on);
        if blocked != prompts().any(|p| p.effect["blocked"] == true) {
            problems.push(format!("the prompt is blocked: {blocked}"));
        }
        self.check_end(&played, &mut problems);
        self.check_texts(&played, &mut problems);
        self.check_requests(&model.into_asked(), &mut problems);
        self.check_fired(&mut problems);
        self.check_calls(&servers.into_calls(), &mut problems);
        problems
    }

    /// A turn ends where the client's ended.
    fn check_end(&self, played: &[Played], problems: &mut Vec<String>) {
        let ended = played
            .iter()
            .filter(|p| !is_prompt(p))
            .any(|p| !p.outcome.go_on);
        let mut ends = self.truth["ends"].as_array().into_iter().flatten();
        let expected = ends.any(|end| end["terminal_reason"] == "hook_stopped");
        // Interactive sessions have no such line.
        if !self.truth["ends"].as_array().is_some_and(Vec::is_empty) && ended != expected {
            problems.push(format!("the turn ends: {ended}"));
        }
    }

    /// What reached the model that works came from an outcome, word for word; what
    /// reached no model is not in a text for it.
    fn check_texts(&self, played: &[Played], problems: &mut Vec<String>) {
        for delivered in self.truth["delivered"].as_array().into_iter().flatten() {
            // The conversation before a Stop prompt is the session's business.
            if delivered["to"] == "hook_prompt" {
                continue;
            }
            let marker = delivered["marker"].as_str().unwrap();
            for form in delivered["forms"].as_array().unwrap() {
                let text = form["text"].as_str().unwrap();
                let is_there = played.iter().any(|p| {
                    let output = p.outcome.updated_output.as_ref().map(Value::to_string);
                    let written = output.is_some_and(|o| o.contains(marker));
                    let mut texts = p.outcome.reason.iter().chain(&p.outcome.context);
                    written || texts.any(|t| t.contains(marker) && text.ends_with(t.as_str()))
                });
                if !is_there {
                    problems.push(format!("nothing gives: {text}"));
                }
            }
        }
        for marker in self.truth["not_delivered"].as_array().into_iter().flatten() {
            let marker = marker.as_str().unwrap();
            for p in played {
                let reason = p.outcome.reason.as_ref();
                let unread = is_prompt(p) || !p.outcome.go_on;
                let in_reason = reason.is_some_and(|t| t.contains(marker)) && !unread;
                if in_reason || p.outcome.context.iter().any(|t| t.contains(marker)) {
                    problems.push(format!("{} delivers {marker}", p.event.name));
                }
            }
        }
    }

    fn check_requests(&self, asked: &[Asked], problems: &mut Vec<String>) {
        let count = |kind: &str| self.truth["requests"][kind].as_u64().unwrap_or(0);
        let mut expected = count("hook_prompt") + count("hook_agent");
        // After such an error the client asks again in another form. That is the provider's
        // business here (`crates/remora-model/tests/it/http.rs`).
        let is_refused = self.rules.to_string().contains("\"status\":400");
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
            .filter(|_| !is_refused);
        for (request, asked) in recorded.zip(asked) {
            if let Some(named) = &asked.named
                && request["model"] != **named
            {
                problems.push(format!("asks {named}"));
            }
            let Some(text) = request["own_text"].as_str() else {
                continue;
            };
            let (text, own) = (
                without_duration(&self.as_recorded(text)),
                without_duration(&self.as_recorded(&asked.text)),
            );
            // Events are recorded with long sentences cut, requests are not.
            if text != own && !own.contains('…') {
                problems.push(format!("asks\n      {own}\n    not\n      {text}"));
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

fn is_prompt(played: &Played) -> bool {
    played.event.name.as_str().starts_with("UserPrompt")
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
