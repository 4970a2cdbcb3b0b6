//! The engine's own cases: settings, event, expected outcome. No code per case;
//! the format is described in `fixtures/hooks/cases/README.md`.

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use remora_core::{Event, EventName};
use remora_hooks::{
    Engine, EngineMode, EngineOptions, FlagSettings, HandlerInfo, Host, Interactivity,
    PermissionMode, PlanVerdict, Run, SettingSources, SettingsPaths, Trust,
};
use serde_json::{Map, Value, json};

mod book;
mod compare;
mod server;

use book::{Case, Expect, Fields, all, expand, expect, fields, shorthand};
use compare::Problems;
use server::Server;

#[test]
fn every_case_holds() {
    let cases = all();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // Most cases wait for a child, so there are more threads than cores.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let problems = Laid::out(case).check();
                    if !problems.is_empty() {
                        let line = format!("{name}\n    {}", problems.join("\n    "));
                        found.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    let (wrong, of) = (found.len(), cases.len());
    assert!(
        found.is_empty(),
        "{wrong} of {of} cases differ:\n{}",
        found.join("\n")
    );
}

/// A case in a folder of its own, with its server.
struct Laid {
    case: Case,
    expect: Expect,
    root: PathBuf,
    server: Option<Server>,
    _dir: tempfile::TempDir,
}

impl Laid {
    fn out(fields: &Fields) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = dir.path().canonicalize().unwrap();
        let server = fields.contains_key("http").then(Server::start);
        let closed = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let port = server.as_ref().map_or(0, |s| s.port);
        let whole = Value::Object(fields.clone())
            .to_string()
            .replace("%ROOT%", &root.display().to_string())
            .replace("%PORT%", &port.to_string())
            .replace("%CLOSED%", &closed.port().to_string())
            .replace("%8000%", &"x".repeat(8000));
        let case: Case = serde_json::from_str(&whole).unwrap();
        let expect = expect(&case.expect).unwrap();
        if let Some(server) = &server {
            server.replies.lock().unwrap().clone_from(&case.http);
        }
        let laid = Self {
            case,
            expect,
            root,
            server,
            _dir: dir,
        };
        laid.write_all();
        laid
    }

    fn write(&self, file: &str, content: &Value) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = match content {
            Value::String(text) => text.clone(),
            other => {
                let mut value = other.clone();
                if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
                    for (event, groups) in hooks {
                        expand(event, groups);
                    }
                }
                value.to_string()
            }
        };
        fs::write(path, text).unwrap();
    }

    fn write_all(&self) {
        for dir in ["app/.git", "home", "other"] {
            fs::create_dir_all(self.root.join(dir)).unwrap();
        }
        if !self.case.handlers.is_empty() {
            assert!(
                !self.case.layers.contains_key("user"),
                "`handlers` are the user's"
            );
            let groups: Vec<Value> = self.case.handlers.iter().map(|h| self.group(h)).collect();
            let hooks = json!({"hooks": {self.event_name(): groups}});
            self.write("home/.claude/settings.json", &hooks);
        }
        for (layer, content) in &self.case.layers {
            let file = match layer.as_str() {
                "user" => "home/.claude/settings.json".into(),
                "project" => "app/.claude/settings.json".into(),
                "local" => "app/.claude/settings.local.json".into(),
                "managed" => "managed/managed-settings.json".into(),
                "flag" => "flag.json".into(),
                "plugin" => "plug/hooks/hooks.json".into(),
                "manifest" => "plug/.claude-plugin/plugin.json".into(),
                other => match other.strip_prefix("managed.d/") {
                    Some(name) => format!("managed/managed-settings.d/{name}"),
                    None => panic!("layer {other}"),
                },
            };
            self.write(&file, content);
        }
        for (file, content) in &self.case.files {
            self.write(file, content);
        }
    }

    /// A handler of the case's own list, under the case's matcher and `if`.
    fn group(&self, handler: &Value) -> Value {
        if handler.get("hooks").is_some() {
            return handler.clone();
        }
        let mut handler = shorthand(self.event_name(), handler);
        if let Some(condition) = &self.case.condition {
            handler["if"] = condition.as_str().into();
        }
        match &self.case.matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
            None => json!({"hooks": [handler]}),
        }
    }

    fn event_name(&self) -> &str {
        let event = &self.case.event;
        event
            .as_str()
            .or_else(|| event["hook_event_name"].as_str())
            .unwrap()
    }

    /// The event's sample with the case's own fields over it; `null` removes.
    fn event(&self) -> Event {
        let name = EventName::parse(self.event_name()).unwrap();
        let root = self.root.display();
        let mut fields: Fields = serde_json::from_value(json!({
            "session_id": "s-1", "transcript_path": format!("{root}/t.jsonl"),
            "cwd": format!("{root}/app"), "hook_event_name": name.as_str(),
        }))
        .unwrap();
        let sample: Fields = serde_json::from_str(name.def().sample).unwrap();
        fields.extend(sample);
        for (key, value) in self.case.event.as_object().into_iter().flatten() {
            if value.is_null() {
                fields.remove(key);
            } else {
                fields.insert(key.clone(), value.clone());
            }
        }
        Event::from_value(Value::Object(fields), None).unwrap()
    }

    fn places(&self) -> SettingsPaths {
        let options = &self.case.options;
        let at = |dir: &str| self.root.join(dir);
        let start = options.start.as_deref().unwrap_or("app");
        fs::create_dir_all(at(start)).unwrap();
        let mut places = SettingsPaths::new(at(start), at("home"));
        places.managed = Some(at("managed"));
        if at("flag.json").exists() {
            places.flag = Some(if options.flag_json {
                FlagSettings::Json(fs::read_to_string(at("flag.json")).unwrap())
            } else {
                FlagSettings::File(at("flag.json"))
            });
        }
        places.plugins = match &options.plugins {
            Some(list) => list.iter().map(|p| at(p)).collect(),
            None => [at("plug")].into_iter().filter(|p| p.exists()).collect(),
        };
        if let Some(list) = &options.sources {
            let has = |name: &str| list.iter().any(|s| s == name);
            places.sources = SettingSources {
                user: has("user"),
                project: has("project"),
                local: has("local"),
            };
        }
        places
    }

    fn options(&self) -> EngineOptions {
        let options = &self.case.options;
        let trust = match options.trust.as_deref() {
            None | Some("trusted") => Trust::Trusted,
            Some("untrusted") => Trust::Untrusted,
            Some(other) => panic!("trust {other}"),
        };
        let mode = match options.mode.as_deref() {
            None => EngineMode::Full,
            Some("bare") => EngineMode::Bare,
            Some("safe") => EngineMode::Safe,
            Some(other) => panic!("mode {other}"),
        };
        let permission_mode = options.permission_mode.as_deref();
        let permission_mode = permission_mode.map(|m| PermissionMode::parse(m).unwrap());
        EngineOptions {
            trust,
            mode,
            permission_mode,
        }
    }

    fn host(&self) -> Host<'_> {
        let options = &self.case.options;
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), self.root.join("home").into()),
        ];
        environment.extend(options.env.iter().map(|(k, v)| (k.into(), v.into())));
        let attendance = if options.interactive {
            Interactivity::Interactive
        } else {
            Interactivity::Unattended
        };
        Host {
            environment,
            session_dir: (!options.no_session_dir).then(|| self.root.join("session")),
            attendance,
            ..Host::default()
        }
    }

    fn check(&self) -> Vec<String> {
        let mut problems = Problems(Vec::new());
        let engine = match (
            Engine::load(self.places(), self.options()),
            &self.expect.load_error_contains,
        ) {
            (Ok(engine), None) => engine,
            (Ok(_), Some(_)) => return vec!["it loads".into()],
            (Err(error), None) => return vec![format!("does not load: {error}")],
            (Err(error), Some(part)) => {
                problems.contains("the load error", &error.to_string(), part);
                return problems.0;
            }
        };
        let event = self.event();
        let explained = engine.explain(&event).handlers;
        let explained = explained.iter().map(|h| (h.info.label.clone(), fields(h)));
        problems.table("explain", explained.collect(), &self.expect.explain);
        let started = Instant::now();
        let run = engine.run(&event, &self.host());
        let took = started.elapsed().as_millis();
        if self.expect.under_ms.is_some_and(|limit| took > limit) {
            problems.0.push(format!("it took {took} ms"));
        }
        self.compare(&engine, &event, run, &mut problems);
        problems.0
    }

    fn compare(&self, engine: &Engine, event: &Event, run: Run, problems: &mut Problems) {
        let expect = &self.expect;
        let Run {
            report, background, ..
        } = run;
        if let Some(expected) = &expect.ran {
            let ran = ran(engine, event, &report.handlers);
            problems.equal("ran", &json!(ran), &json!(expected));
        }
        let reports: Vec<(String, Fields)> = report
            .handlers
            .iter()
            .map(|h| (h.info.label.clone(), fields(h)))
            .collect();
        let status = expect.status.iter().map(|(label, status)| {
            (
                label.clone(),
                Map::from_iter([("status".to_owned(), json!(status))]),
            )
        });
        problems.table("status", reports.clone(), &status.collect());
        problems.table("handlers", reports.clone(), &expect.handlers);
        if let Some(warnings) = &expect.warnings {
            problems.equal("warnings", &json!(report.warnings), &json!(warnings));
        }
        for part in &expect.warnings_contain {
            problems.contains("warnings", &report.warnings.join("\n"), part);
        }
        problems.fields("outcome", &fields(&report.outcome), &expect.outcome);
        if expect.late.is_empty() {
            drop(background);
        } else {
            let late = background.into_iter().map(|b| {
                let label = reports[b.handler].0.clone();
                let answer = b.wait();
                let told = json!({"status": answer.status, "stdout": answer.stdout,
                    "stderr": answer.stderr, "context": answer.context});
                (label, fields(&told))
            });
            problems.table("late", late.collect(), &expect.late);
        }
        for file in &expect.gone {
            let pid = fs::read_to_string(self.root.join(file)).unwrap_or_default();
            if pid.trim().is_empty() || !is_gone(pid.trim()) {
                problems
                    .0
                    .push(format!("the process in {file} ({pid}) lives"));
            }
        }
        if let Some(expected) = &expect.requests {
            let seen = self.server.as_ref().map_or_else(Vec::new, Server::seen);
            if seen.len() != expected.len() {
                problems.0.push(format!("requests: {seen:?}"));
            }
            for (request, expected) in seen.iter().zip(expected) {
                problems.fields("request", request, expected);
            }
        }
        for (file, expected) in &expect.files {
            let found = fs::read_to_string(self.root.join(file)).ok();
            problems.equal(file, &json!(found), &json!(expected));
        }
        for (file, expected) in &expect.file_units {
            let found = fs::read_to_string(self.root.join(file)).unwrap_or_default();
            problems.equal(file, &json!(found.encode_utf16().count()), &json!(expected));
        }
    }
}

/// Whether a process ends within two seconds, or has ended and only waits to be
/// collected.
fn is_gone(pid: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
}

/// Labels of the handlers that were started.
fn ran(engine: &Engine, event: &Event, reports: &[remora_hooks::HandlerReport]) -> Vec<String> {
    let plan = engine.plan(event);
    let planned = plan
        .rows
        .iter()
        .filter(|r| r.verdict != PlanVerdict::Misses);
    let planned = planned.zip(reports).filter(|(row, report)| {
        assert_eq!(HandlerInfo::new(row.entry), report.info);
        row.verdict == PlanVerdict::Runs && report.status != remora_hooks::HandlerStatus::Skipped
    });
    planned
        .map(|(_, report)| report.info.label.clone())
        .collect()
}
