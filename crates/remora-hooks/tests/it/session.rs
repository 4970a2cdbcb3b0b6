//! Sessions beyond what was recorded: the host's own code, stored states, and
//! what is left when a session goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use remora_core::Event;
use remora_hooks::{
    CallbackCall, CallbackHandler, Callbacks, HandlerStatus, HeadHooks, HeadOrigin, Host,
    Interactivity, RequestPoint, Session, SessionNotice, SessionOptions, SettingsPaths,
};
use serde_json::{Value, json};

/// Long enough that a test fails by its assertion and not by a slow machine.
const LIMIT: Duration = Duration::from_secs(30);

struct Home {
    app: PathBuf,
    _dir: tempfile::TempDir,
}

impl Home {
    fn new(hooks: &Value) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let app = dir.path().join("app");
        fs::create_dir_all(app.join(".claude")).unwrap();
        let settings = json!({ "hooks": hooks });
        fs::write(app.join(".claude/settings.json"), settings.to_string()).unwrap();
        Self { app, _dir: dir }
    }

    fn paths(&self) -> SettingsPaths {
        SettingsPaths::new(&self.app, self.app.parent().unwrap())
    }

    fn session(&self, attendance: Interactivity) -> Session {
        let options = SessionOptions {
            attendance,
            session_dir: Some(self.app.join("session")),
            ..SessionOptions::default()
        };
        Session::open(self.paths(), options).unwrap()
    }

    fn event(&self, name: &str) -> Event {
        let fields = json!({"hook_event_name": name, "cwd": self.app, "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "t", "prompt": "hello"});
        Event::from_value(fields, None).unwrap()
    }
}

fn on(event: &str, handler: &Value) -> Value {
    json!({ event: [{"hooks": [handler]}] })
}

fn host() -> Host<'static> {
    Host {
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Host::default()
    }
}

/// A host whose code answers, fails or hangs, by the callback's id.
#[derive(Default)]
struct Code {
    hangs: Mutex<bool>,
    freed: Condvar,
}

impl Callbacks for Code {
    fn call(&self, call: CallbackCall) -> Result<Option<Value>, String> {
        match call.id.as_str() {
            "deny" => Ok(Some(
                json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "deny", "permissionDecisionReason": "no"}}),
            )),
            "async" => Ok(Some(json!({"async": true, "systemMessage": "never"}))),
            "wrong" => Ok(Some(json!("text"))),
            "hang" => {
                let hangs = self.hangs.lock().unwrap();
                drop(self.freed.wait_timeout_while(hangs, LIMIT, |hangs| *hangs));
                Ok(None)
            }
            _ => Err("it failed".into()),
        }
    }
}

fn callback(id: &str, event: &str, failure_blocks: bool) -> CallbackHandler {
    CallbackHandler {
        id: id.into(),
        event: event.into(),
        matcher: None,
        timeout_seconds: (id == "hang").then_some(0.05),
        failure_blocks,
    }
}

#[test]
fn the_host_s_own_code_decides_and_fails_like_any_handler() {
    let home = Home::new(&json!({}));
    let code = Arc::new(Code {
        hangs: Mutex::new(true),
        ..Code::default()
    });
    let host = Host {
        callbacks: Some(code.clone()),
        ..host()
    };
    for (id, event, failure_blocks, blocked, status) in [
        ("deny", "PreToolUse", false, true, HandlerStatus::Blocked),
        ("async", "PostToolUse", false, false, HandlerStatus::Ok),
        ("wrong", "PostToolUse", false, false, HandlerStatus::Error),
        ("fails", "PreToolUse", false, false, HandlerStatus::Error),
        ("fails", "PreToolUse", true, true, HandlerStatus::Error),
        // Not answering is a no where the handler guards something.
        ("hang", "PreToolUse", false, true, HandlerStatus::Timeout),
        (
            "hang",
            "UserPromptSubmit",
            false,
            true,
            HandlerStatus::Timeout,
        ),
        ("hang", "PostToolUse", false, false, HandlerStatus::Timeout),
    ] {
        let session = home.session(Interactivity::Interactive);
        session
            .add_callback(callback(id, event, failure_blocks))
            .unwrap();
        let report = session.fire(&home.event(event), &host).report;
        let found = (report.outcome.blocked, report.handlers[0].status);
        assert_eq!(found, (blocked, status), "{id} on {event}");
        assert!(report.outcome.messages.is_empty(), "{id} on {event}");
        assert!(session.remove_callback(id));
        assert!(
            session
                .fire(&home.event(event), &host)
                .report
                .handlers
                .is_empty()
        );
    }
    *code.hangs.lock().unwrap() = false;
    code.freed.notify_all();
}

#[test]
fn equal_callbacks_are_not_merged() {
    let home = Home::new(&json!({}));
    let session = home.session(Interactivity::Interactive);
    let host = Host {
        callbacks: Some(Arc::new(Code::default())),
        ..host()
    };
    for _ in 0..2 {
        session
            .add_callback(callback("async", "Stop", false))
            .unwrap();
    }
    assert_eq!(
        session
            .fire(&home.event("Stop"), &host)
            .report
            .handlers
            .len(),
        2
    );
}

fn skill(command: &str) -> HeadHooks {
    HeadHooks {
        name: "lab".into(),
        hooks: json!({"PreToolUse": [{"hooks": [
            {"type": "command", "command": command, "once": true},
            {"type": "command", "command": "true"},
        ]}]}),
        file: None,
        origin: HeadOrigin::User,
    }
}

#[test]
fn a_stored_session_goes_on_with_its_skills() {
    let home = Home::new(&json!({}));
    let session = home.session(Interactivity::Interactive);
    session.add_skill(skill("exit 0")).unwrap();
    let ids = |session: &Session| {
        let report = session.fire(&home.event("PreToolUse"), &host()).report;
        report
            .handlers
            .into_iter()
            .map(|h| h.info.id)
            .collect::<Vec<_>>()
    };
    let (once, always) = ("skill:lab/PreToolUse/0/0", "skill:lab/PreToolUse/0/1");
    assert_eq!(ids(&session), [once, always]);
    let stored = serde_json::to_string(&session.snapshot()).unwrap();
    let state = serde_json::from_str(&stored).unwrap();
    let resumed = Session::resume(state, home.paths(), SessionOptions::default()).unwrap();
    assert_eq!(ids(&resumed), [always], "the other has run");
    resumed.add_skill(skill("exit 0")).unwrap();
    assert_eq!(ids(&resumed), [once, always], "used again");
}

#[test]
fn late_texts_wait_for_a_request() {
    let late = json!({"type": "command", "async": true,
        "command": "echo '{\"systemMessage\": \"late\"}'"});
    let home = Home::new(&on("Stop", &late));
    let session = home.session(Interactivity::Interactive);
    session.fire(&home.event("Stop"), &host());
    assert!(session.wait_for_notice(LIMIT));
    let notices = session.tick();
    assert!(matches!(
        &notices[..],
        [SessionNotice::BackgroundEnded { event: "Stop", .. }]
    ));
    let texts = |point| session.take_deliveries(point).into_iter().map(|d| d.text);
    assert_eq!(
        texts(RequestPoint::NextPrompt).collect::<Vec<_>>(),
        ["late"]
    );
    assert_eq!(texts(RequestPoint::NextRequest).count(), 0, "once");
}

#[test]
fn long_texts_of_equal_events_stay_apart() {
    let long = json!({"type": "command", "command": "head -c 10001 /dev/zero | tr '\\0' a"});
    let home = Home::new(&on("UserPromptSubmit", &long));
    let session = home.session(Interactivity::Interactive);
    let shown: Vec<String> = (0..2)
        .map(|_| {
            let fired = session.fire(&home.event("UserPromptSubmit"), &host());
            fired.deliveries[0].text.clone()
        })
        .collect();
    assert_ne!(shown[0], shown[1], "each points to its own file");
    assert_eq!(fs::read_dir(home.app.join("session")).unwrap().count(), 2);
}

fn read_pid(path: &Path) -> String {
    let began = Instant::now();
    loop {
        let pid = fs::read_to_string(path).unwrap_or_default();
        if pid.ends_with('\n') {
            return pid.trim().to_owned();
        }
        assert!(began.elapsed() < LIMIT, "the handler did not start");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

#[test]
fn a_session_that_is_dropped_leaves_no_process() {
    let sleeps = json!({"type": "command", "async": true, "command": "echo $$ > pid; sleep 300"});
    let home = Home::new(&on("Stop", &sleeps));
    let session = home.session(Interactivity::Interactive);
    session.fire(&home.event("Stop"), &host());
    let pid = read_pid(&home.app.join("pid"));
    assert!(Path::new("/proc").join(&pid).exists());
    drop(session);
    assert!(!Path::new("/proc").join(&pid).exists());
}

#[test]
fn what_outlives_a_closed_session_can_be_ended() {
    let sleeps = json!({"type": "command", "async": true, "command": "echo $$ > pid; sleep 300"});
    let home = Home::new(&on("Stop", &sleeps));
    let session = home.session(Interactivity::Interactive);
    session.fire(&home.event("Stop"), &host());
    let pid = read_pid(&home.app.join("pid"));
    let remainder = session.close();
    drop(session);
    assert_eq!(
        remainder.list_running().len(),
        1,
        "a user may still want it"
    );
    remainder.end();
    assert!(remainder.wait(LIMIT));
    assert!(!Path::new("/proc").join(&pid).exists());
}
