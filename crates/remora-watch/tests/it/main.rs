//! A real folder and a real session.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use remora_core::Event;
use remora_hooks::{Host, Reload, Session, SessionOptions, SettingsPaths};
use remora_watch::{FileChange, FileWatcher};
use serde_json::{Value, json};

/// Long enough that a test fails by its assertion and not by a slow machine.
const LIMIT: Duration = Duration::from_secs(30);
const QUIET: Duration = Duration::from_millis(50);

struct Home {
    _dir: tempfile::TempDir,
    app: std::path::PathBuf,
}

impl Home {
    fn new(settings: &Value) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let app = dir.path().canonicalize().unwrap().join("app");
        fs::create_dir_all(app.join(".claude")).unwrap();
        fs::write(app.join(".claude/settings.json"), settings.to_string()).unwrap();
        Self { _dir: dir, app }
    }

    fn session(&self) -> Session {
        let paths = SettingsPaths::new(&self.app, self.app.parent().unwrap());
        Session::open(paths, SessionOptions::default()).unwrap()
    }
}

fn wait(watcher: &mut FileWatcher, session: &Session) -> Vec<Value> {
    let events = watcher.wait_for_events(session, LIMIT);
    events
        .into_iter()
        .map(|event| Value::Object(event.fields))
        .collect()
}

fn hooks(command: &str) -> Value {
    json!({"hooks": {"FileChanged": [{"matcher": "w.txt",
        "hooks": [{"type": "command", "command": command}]}]}})
}

#[test]
fn a_watched_name_is_reported_when_it_comes_changes_and_goes() {
    let home = Home::new(&hooks("true"));
    let (session, file) = (home.session(), home.app.join("w.txt"));
    let mut watcher = FileWatcher::new(QUIET).unwrap();
    watcher.set_paths(session.list_watched_paths());
    let happen = |watcher: &mut FileWatcher, change: &dyn Fn(&Path)| {
        change(&file);
        let events = wait(watcher, &session);
        events
            .iter()
            .map(|e| e["event"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    fs::write(home.app.join("other.txt"), "1").unwrap();
    assert_eq!(
        happen(&mut watcher, &|f| fs::write(f, "1").unwrap()),
        ["add"]
    );
    assert_eq!(
        happen(&mut watcher, &|f| fs::write(f, "2").unwrap()),
        ["change"]
    );
    let replace = |f: &Path| {
        let beside = f.with_extension("new");
        fs::write(&beside, "3").unwrap();
        fs::rename(beside, f).unwrap();
    };
    assert_eq!(happen(&mut watcher, &replace), ["change"]);
    assert_eq!(
        happen(&mut watcher, &|f| fs::remove_file(f).unwrap()),
        ["unlink"]
    );
}

#[test]
fn a_changed_settings_file_is_read_again() {
    let home = Home::new(&hooks("true"));
    let session = home.session();
    let mut watcher = FileWatcher::new(QUIET).unwrap();
    watcher.set_paths(session.list_watched_paths());
    let settings =
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}});
    fs::write(home.app.join(".claude/settings.json"), settings.to_string()).unwrap();
    let events = watcher.wait_for_events(&session, LIMIT);
    assert_eq!(events.len(), 1, "{events:?}");
    let fired = session.fire(&events[0], &Host::default());
    assert_eq!(fired.reload, Some(Reload::Accepted));
    let stop = Event::from_value(json!({"hook_event_name": "Stop"}), None).unwrap();
    assert!(session.fire(&stop, &Host::default()).report.outcome.blocked);
}

#[test]
fn a_file_in_a_folder_that_is_made_later_is_found() {
    let home = Home::new(&json!({}));
    let file = home.app.join("later/deep/w.txt");
    let mut watcher = FileWatcher::new(QUIET).unwrap();
    watcher.set_paths(vec![file.clone()]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "1").unwrap();
    let changes: Vec<FileChange> = watcher.wait_for_changes(LIMIT);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].path, file);
}
