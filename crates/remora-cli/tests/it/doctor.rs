//! `remora doctor`: each fault that can be made in a sandbox is found, named,
//! and mended by what it says.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::remembered::Remembered;
use crate::sandbox::Sandbox;

/// What is not well: level, name, message and fix of each.
fn faults(memory: &Remembered) -> String {
    let (done, told) = memory.call("doctor").json();
    let checks = told["checks"].as_array().unwrap();
    let failed = checks.iter().any(|check| check["level"] == "fail");
    assert_eq!(done.code, Some(i32::from(failed)), "{done}");
    assert_eq!(told["ok"], !failed);
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or("-").to_owned();
    let mut lines = Vec::new();
    for check in checks.iter().filter(|check| check["level"] != "ok") {
        let [level, name, message, fix] =
            ["level", "name", "message", "fix"].map(|key| text(check, key));
        lines.push(format!("{level} {name}: {message}\n  -> {fix}"));
    }
    let mut all = lines.join("\n");
    for (folder, name) in [("project", "[PROJECT]"), ("home", "[HOME]")] {
        all = all.replace(&memory.sandbox.text(folder), name);
    }
    all = all.replace(env!("CARGO_BIN_EXE_remora"), "[REMORA]");
    for agent in remora_agents::known_names() {
        all = all.replace(agent, "[AGENT]");
    }
    all
}

fn installed() -> Remembered {
    let memory = Remembered::shop();
    install(&memory.sandbox, &[]);
    assert_eq!(faults(&memory), "");
    memory
}

fn install(sandbox: &Sandbox, flags: &[&str]) {
    let agent = remora_agents::known_names()[0];
    // A client on this machine is not a part of the test.
    let line = ["install", agent, "--no-mcp"];
    let done = sandbox.remora(&line).args(flags).go();
    assert_eq!(done.code, Some(0), "{done}");
}

fn data(memory: &Remembered, name: &str) -> std::path::PathBuf {
    memory.sandbox.path("home/.remora").join(name)
}

#[test]
fn all_is_well() {
    let told = installed().go("doctor");
    assert_eq!(told.code, Some(0));
    assert!(told.stdout.ends_with("\neverything is well\n"), "{told}");
    let rows = told.stdout.lines().take_while(|line| !line.is_empty());
    assert!(
        rows.filter(|row| !row.starts_with(' '))
            .all(|row| row.starts_with("ok    ")),
        "{told}"
    );
}

#[test]
fn before_anything() {
    let memory = Remembered::nothing();
    assert_snapshot!(faults(&memory), @"
    warn data directory: [HOME]/.remora: not there yet
      -> `remora install [AGENT]|[AGENT]`
    warn hooks: not in the settings of [AGENT]; a plugin loaded with --plugin-dir cannot be seen here, only its events: none has ever come
      -> `remora install [AGENT]`
    ");
    assert_snapshot!(faults(&Remembered::shop()), @"
    warn hooks: not in the settings of [AGENT]; a plugin loaded with --plugin-dir cannot be seen here, only its events: the last came 2026-11-15 16:00
      -> `remora install [AGENT]`
    ");
    assert!(!memory.sandbox.path("home/.remora").exists());
    let lost = memory.call("doctor").environment("HOME", "").go();
    assert_eq!(lost.code, Some(1), "{lost}");
    assert!(lost.stdout.contains("set HOME, or REMORA_HOME"), "{lost}");
}

#[test]
fn open_to_others() {
    let memory = installed();
    let home = memory.sandbox.text("home/.remora");
    memory
        .sandbox
        .shell(&format!("chmod 644 '{home}/remora.db'"));
    assert_snapshot!(faults(&memory), @"
    warn modes: [HOME]/.remora/remora.db: open to others (1 file in all)
      -> `chmod -R go= [HOME]/.remora`
    ");
    memory.sandbox.shell(&format!("chmod 755 '{home}'"));
    assert_snapshot!(faults(&memory), @"
    fail modes: others can look into the data directory
      -> `chmod -R go= [HOME]/.remora`
    ");
    memory.sandbox.shell(&format!("chmod -R go= '{home}'"));
    assert_eq!(faults(&memory), "");
}

#[test]
fn a_spool_that_is_a_file() {
    let memory = installed();
    fs::remove_dir(data(&memory, "spool")).unwrap();
    fs::write(data(&memory, "spool"), "").unwrap();
    memory
        .sandbox
        .shell(&format!("chmod 600 '{}'", data(&memory, "spool").display()));
    assert_snapshot!(faults(&memory), @"
    fail spool: [HOME]/.remora/spool: is a file
      -> `rm [HOME]/.remora/spool`
    ");
}

#[test]
fn a_data_directory_that_is_a_file() {
    let memory = Remembered::nothing();
    memory.sandbox.write("home/.remora", "");
    let told = faults(&memory);
    assert!(
        told.starts_with("fail data directory: [HOME]/.remora: is a file\n"),
        "{told}"
    );
}

#[test]
fn leftovers_and_backlog() {
    let memory = installed();
    let spool = data(&memory, "spool");
    let id = "019dd0c1-0000-7000-8000-000000000000";
    fs::write(spool.join(format!("{id}.tmp")), "").unwrap();
    fs::write(spool.join(format!("{id}.json")), "").unwrap();
    memory
        .sandbox
        .shell(&format!("chmod 600 '{0}'/*", spool.display()));
    assert_eq!(faults(&memory), "", "both may still be under way");
    memory
        .sandbox
        .shell(&format!("touch -d '2 hours ago' '{0}'/*", spool.display()));
    assert_snapshot!(faults(&memory), @"
    warn leftovers: 1 half-written event in the spool: hooks were killed while they wrote
      -> `remora worker start` clears them away
    fail backlog: 1 event waits, the first for 120 minutes
      -> `remora worker drain`
    ");
    memory.store();
    // What was no event is a dead letter now; the half is gone.
    assert_snapshot!(faults(&memory), @"
    warn dead letters: 1 event was not understood; the last: no envelope
      -> `remora worker retry`, after an update
    ");
}

#[test]
fn configuration() {
    let memory = installed();
    memory
        .sandbox
        .write("home/.remora/config.toml", "[worker]\nidle_minute = 3\n");
    assert_snapshot!(faults(&memory), @"
    fail configuration: [HOME]/.remora/config.toml: line 2: unknown key `worker.idle_minute`; did you mean `worker.idle_minutes`?
      -> correct [HOME]/.remora/config.toml
    ");
    memory.sandbox.write(
        "home/.remora/config.toml",
        "[redact]\npatterns = { ticket = 'T-[', gap = 'x*' }\ndeny_paths = ['a[']\n",
    );
    assert_snapshot!(faults(&memory), @"
    fail configuration: redact.patterns: redaction pattern `ticket` is not a usable regular expression: regex parse error: error: unclosed character class
      -> correct `redact.patterns` in [HOME]/.remora/config.toml
    fail configuration: redact.patterns: redaction pattern `gap` matches the empty text
      -> correct `redact.patterns` in [HOME]/.remora/config.toml
    ");
    fs::remove_file(data(&memory, "config.toml")).unwrap();
    let (_, told) = memory.call("doctor").environment("REMORA_OFF", "1").json();
    assert!(told.to_string().contains("unset REMORA_OFF"), "{told}");
}

#[test]
fn a_capture_that_failed_stays_marked() {
    let memory = installed();
    let mark = data(&memory, "run").join("capture-failed");
    fs::write(&mark, format!("{:<512}", "spool: no space left")).unwrap();
    assert_snapshot!(faults(&memory), @"
    warn capture: a hook could not capture its event: spool: no space left
      -> if nothing else fails here it is over: the next session says so once
    ");
    assert!(
        faults(&memory).contains("no space left"),
        "it is still there"
    );
}

#[test]
fn trouble_in_the_logs() {
    let memory = installed();
    let now = jiff::Timestamp::now();
    let log = data(&memory, "logs").join("hook.log");
    fs::write(&log, "2020-01-01T00:00:00.000Z not captured: long ago\n").unwrap();
    memory
        .sandbox
        .shell(&format!("chmod 600 '{}'", log.display()));
    assert_eq!(faults(&memory), "");
    fs::write(&log, format!("{now} not captured: no space\n")).unwrap();
    assert_snapshot!(faults(&memory), @"
    warn logs: 1 line of trouble in the last 24 hours; the last: not captured: no space
      -> `tail [HOME]/.remora/logs/hook.log`
    ");
}

#[test]
fn a_damaged_database() {
    let memory = installed();
    fs::write(
        data(&memory, "remora.db"),
        "this is no database".repeat(500),
    )
    .unwrap();
    let told = faults(&memory);
    assert!(
        told.starts_with("fail database: the store is damaged"),
        "{told}"
    );
    assert!(told.ends_with("-> `remora rebuild`"), "{told}");
    memory
        .sandbox
        .shell(&format!("rm '{}'*", data(&memory, "remora.db").display()));
    assert_snapshot!(faults(&memory), @"
    fail database: is gone or empty, but the archive is there
      -> `remora rebuild`
    ");
    memory.sandbox.shell(&format!(
        "umask 077; : > '{}'",
        data(&memory, "remora.db").display()
    ));
    assert_snapshot!(faults(&memory), @"
    fail database: is gone or empty, but the archive is there
      -> `remora rebuild`
    ");
    fs::write(data(&memory, "remora.db.damaged-1"), "").unwrap();
    assert!(faults(&memory).contains("warn put aside: 1 damaged database"));
}

#[test]
fn an_archive_with_a_hole() {
    let memory = installed();
    let entries = fs::read_dir(data(&memory, "archive")).unwrap();
    let file = entries.map(|entry| entry.unwrap().path()).next().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    assert_snapshot!(faults(&memory), @"
    warn archive: 1 part cannot be read; a rebuild would go without them
      -> keep the database: copy it before `remora rebuild`
    ");
}

#[test]
fn hooks_of_another_program() {
    let memory = installed();
    let settings = memory.sandbox.path("home/.claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    let gone = text.replace(env!("CARGO_BIN_EXE_remora"), "/gone/bin/remora");
    fs::write(&settings, gone).unwrap();
    assert_snapshot!(faults(&memory), @"
    fail hooks: [HOME]/.claude/settings.json: runs /gone/bin/remora, which is gone
      -> `remora install [AGENT]`
    ");
    memory.sandbox.shell("cp /bin/true ../tmp/remora");
    let other = memory.sandbox.text("tmp/remora");
    fs::write(
        &settings,
        text.replace(env!("CARGO_BIN_EXE_remora"), &other),
    )
    .unwrap();
    let told = faults(&memory);
    assert!(told.contains("not this program ([REMORA])"), "{told}");
    fs::write(&settings, "{\"hooks\": {,}}").unwrap();
    assert_snapshot!(faults(&memory), @"
    fail hooks: [HOME]/.claude/settings.json: not valid JSON at line 1, column 12: expected a key in double quotes; [AGENT] ignores such a file
      -> correct the file at that place
    ");
}

#[test]
fn hooks_in_two_places_or_in_part() {
    let memory = installed();
    install(&memory.sandbox, &["--project"]);
    assert_snapshot!(faults(&memory), @"
    warn hooks: installed 2 times here, so every event costs a process more: [HOME]/.claude/settings.json, [PROJECT]/.claude/settings.json
      -> `remora uninstall [AGENT] --scope project`
    ");
    fs::remove_file(memory.sandbox.path("project/.claude/settings.json")).unwrap();
    let settings = memory.sandbox.path("home/.claude/settings.json");
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let hooks = value["hooks"].as_object_mut().unwrap();
    hooks.remove("Stop");
    let list = hooks["PostToolUse"].as_array_mut().unwrap();
    list.push(list[0].clone());
    fs::write(&settings, value.to_string()).unwrap();
    assert_snapshot!(faults(&memory), @"
    warn hooks: [HOME]/.claude/settings.json: lacks Stop
      -> `remora install [AGENT]`
    warn hooks: [HOME]/.claude/settings.json: 1 event is registered more than once
      -> `remora install [AGENT]`
    ");
    install(&memory.sandbox, &[]);
    assert_eq!(faults(&memory), "");
}

#[test]
fn hooks_that_never_brought_anything() {
    let memory = Remembered::nothing();
    install(&memory.sandbox, &[]);
    assert_snapshot!(faults(&memory), @"
    warn hooks: installed, but no event of [AGENT] has ever come
      -> start a new session of [AGENT]: sessions that were open before do not know the hooks
    ");
}

#[test]
fn a_worker_that_does_not_answer() {
    let memory = installed();
    let lock = fs::File::open(data(&memory, "run").join("worker.lock")).unwrap();
    lock.lock().unwrap();
    let told = faults(&memory);
    assert!(
        told.starts_with("fail worker: runs, but does not answer\n  -> `kill -9 "),
        "{told}"
    );
    assert_eq!(memory.json("status")["worker"]["running"], json!(true));
}

#[test]
fn events_from_the_future() {
    let mut memory = installed();
    let century = 100 * 365 * 86_400_000_i64;
    let fields = json!({"prompt": "from afar"});
    memory.event("s", "shop", century, "UserPromptSubmit", fields);
    memory.store();
    assert_snapshot!(faults(&memory), @"
    warn order of time: some events are from the future: the clock was, or is, wrong
      -> compare `date` with another clock
    ");
}

#[test]
fn a_database_of_a_newer_version() {
    let memory = installed();
    let file = data(&memory, "remora.db");
    let mut bytes = fs::read(&file).unwrap();
    // Where the file format keeps the number of the schema.
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    fs::write(&file, bytes).unwrap();
    let told = faults(&memory);
    assert!(
        told.starts_with("fail database: a newer version wrote it (schema 999, this one knows "),
        "{told}"
    );
    assert!(told.contains("-> update remora"), "{told}");
    assert_eq!(memory.json("status")["events"], 11);
}

/// Somebody who answers in the worker's place, once, with this.
fn instead_of_the_worker(memory: &Remembered, reply: &Value) -> std::thread::JoinHandle<()> {
    let socket = data(memory, "run").join("worker.sock");
    let _ = fs::remove_file(&socket);
    let (short, _folder) = remora_client::socket_path(&socket).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(short).unwrap();
    let reply = format!("{reply}\n");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        remora_client::receive_request(&stream).unwrap();
        stream.write_all(reply.as_bytes()).unwrap();
    })
}

#[test]
fn a_worker_of_another_version_or_in_trouble() {
    let memory = installed();
    let mut reply = json!({"pid": 7, "version": "0.0.1", "started": 0, "stored": 0, "dead": 0});
    let answered = instead_of_the_worker(&memory, &reply);
    let told = faults(&memory);
    answered.join().unwrap();
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(
        told,
        format!(
            "warn worker: is version 0.0.1, this program is {own}\n  -> `remora worker restart`"
        )
    );
    reply["trouble"] = json!("the store is busy or full: disk");
    let answered = instead_of_the_worker(&memory, &reply);
    let told = faults(&memory);
    answered.join().unwrap();
    assert!(
        told.starts_with("fail worker: cannot store: the store is busy or full: disk\n"),
        "{told}"
    );
}

#[test]
fn a_spool_that_cannot_be_written() {
    let memory = Remembered::inside(Sandbox::unprivileged());
    memory
        .sandbox
        .shell("mkdir -p ../home/.remora/spool && chmod 555 ../home/.remora/spool");
    let told = faults(&memory);
    assert!(
        told.contains("fail spool: [HOME]/.remora/spool: cannot be written: "),
        "{told}"
    );
    assert!(
        told.contains("-> `chmod u+rwx [HOME]/.remora/spool`"),
        "{told}"
    );
}

fn now() -> u128 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    since.as_millis()
}

#[test]
fn a_worker_that_dies_again_and_again_is_named_with_its_event() {
    let memory = installed();
    let file = data(&memory, "run/worker-deaths");
    let now = now();
    fs::write(&file, format!("{now} 11 -\n{now} 12 a.json\n")).unwrap();
    assert_eq!(faults(&memory), "", "twice is an accident");
    // One more, which no worker has noticed yet.
    // No process has this number: it is above what a kernel assigns.
    fs::write(data(&memory, "run/worker-up"), "2147483647").unwrap();
    fs::write(data(&memory, "run/under-way"), "0 a.json\n").unwrap();
    assert_snapshot!(faults(&memory), @r"
    fail crashes: the background worker died 3 times within an hour, the last time on a.json
      -> `remora worker retry` tries it again; if that fails, move [HOME]/.remora/spool/a.json away and report it
    ");
    let status = memory.go("status");
    assert!(
        status.stdout.contains("died 3 times within an hour"),
        "{status}"
    );
    let (_, status) = memory.call("status").json();
    assert_eq!(status["worker"]["recent_deaths"], 3);
    fs::write(&file, "1000 11 a.json\n1000 12 a.json\n1000 13 a.json\n").unwrap();
    assert_eq!(faults(&memory), "", "long ago");
}

#[test]
fn an_event_that_workers_died_on_is_named() {
    let memory = installed();
    let file = data(&memory, "spool/019a8b7c-0000-7000-8000-000000000001.json");
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(data(&memory, "run/suspects"), "4 0 019a8b7c-0000-7000-8000-000000000001.json\n1 0 019a8b7c-0000-7000-8000-000000000002.json\n").unwrap();
    assert_snapshot!(faults(&memory), @r"
    warn put off: 1 event is put off; the worker died 4 times on 019a8b7c-0000-7000-8000-000000000001.json
      -> `remora worker retry` tries it again; if that fails, move [HOME]/.remora/spool/019a8b7c-0000-7000-8000-000000000001.json away and report it
    ");
    let (_, status) = memory.call("status").json();
    assert_eq!(status["put_off"], 1);
}
