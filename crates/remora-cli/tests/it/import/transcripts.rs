//! `remora import` of an agent's transcripts: recorded sessions, sessions made
//! up line by line, and what hooks have told of them before.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::hook::den::{signal, until};
use crate::rebuild::exported;
use crate::remembered::Remembered;
use crate::sandbox::{Call, Done, Sandbox};

const SESSION: &str = "4895f028-703a-4d5e-8bdd-216009eb0976";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    quiet(&sandbox);
    sandbox
}

/// No worker goes on afterwards.
fn quiet(sandbox: &Sandbox) {
    let args = ["config", "set", "search.background", "false"];
    assert_eq!(sandbox.remora(&args).go().code, Some(0));
}

fn import(sandbox: &Sandbox) -> Call<'_> {
    let agent = remora_agents::known_names()[0];
    sandbox.remora(&["import", agent, "--no-vectors"])
}

/// Puts recorded transcripts where the client keeps them, as if they had been
/// written in the sandbox's project.
fn recorded(sandbox: &Sandbox, folders: &[&str]) {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts");
    let agent = remora_agents::known_names()[0];
    for folder in folders {
        let from = all.join(agent).join(folder);
        copy(
            sandbox,
            &from,
            &PathBuf::from("home/.claude/projects/-home-dev-app"),
        );
    }
}

fn copy(sandbox: &Sandbox, from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(sandbox, &path, &to);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("/home/dev/app", &sandbox.text("project"));
            sandbox.write(to.to_str().unwrap(), text);
        }
    }
}

/// What was said, without sizes: paths are longer on some machines.
fn said(done: &Done) -> String {
    let mut out = String::new();
    for line in done.stdout.lines() {
        match line.split_once(": ") {
            Some((head, rest)) if head.ends_with('B') => {
                let files = head.rsplit_once(", ").map_or(head, |(files, _)| files);
                writeln!(out, "{files}, [SIZE]: {rest}").unwrap();
            }
            _ => writeln!(out, "{line}").unwrap(),
        }
    }
    out
}

fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let lines = exported(sandbox);
    let items = lines.iter().filter_map(|line| {
        let value: Value = serde_json::from_str(line).unwrap();
        value.get("item").cloned()
    });
    items.collect()
}

/// Kind, prompt, subagent and title of every row.
fn told(sandbox: &Sandbox) -> String {
    let mut out = String::new();
    for row in rows(sandbox) {
        let agent = row["subagent"].as_str().map_or("", |_| " (subagent)");
        let (kind, title) = (
            row["kind"].as_str().unwrap(),
            row["title"].as_str().unwrap(),
        );
        writeln!(out, "{} {kind}{agent}: {title}", row["prompt"]).unwrap();
    }
    out
}

/// An agent that keeps the files of sessions and of their subagents side by side.
#[test]
fn files_of_a_session_and_its_subagent_are_read_together_and_once() {
    let sandbox = sandbox();
    let agent = remora_agents::known_names()[1];
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/transcripts")
        .join(agent)
        .join("subagent");
    let to = PathBuf::from(format!("home/.{agent}/sessions/2026/11/18"));
    copy(&sandbox, &from, &to);
    let import = || sandbox.remora(&["import", agent, "--no-vectors"]);
    let first = import().go();
    assert!(first.stdout.starts_with("read 2 transcripts"), "{first}");
    assert!(first.stdout.contains(": 1 session, "), "{first}");
    let sessions: Vec<Value> = rows(&sandbox)
        .iter()
        .map(|row| row["session"].clone())
        .collect();
    assert!(!sessions.is_empty());
    assert!(
        sessions.iter().all(|session| *session == sessions[0]),
        "{sessions:?}"
    );
    let again = import().go();
    assert!(again.stdout.contains("nothing new"), "{again}");
}

#[test]
fn a_recorded_session_becomes_rows_and_again_changes_nothing() {
    let sandbox = sandbox();
    recorded(&sandbox, &["full"]);
    assert_snapshot!(said(&import(&sandbox).args(&["--dry-run"]).go()), @r"would read 2 transcripts, [SIZE]: 1 session, 1 prompt, 8 calls, 2 failed calls, 2 turns");
    assert_snapshot!(said(&import(&sandbox).go()), @r"
    read 2 transcripts, [SIZE]: 1 session, 1 prompt, 11 observations, 1 summary
    13 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    try: remora sessions · remora search --all WORDS · remora recap
    ");
    assert_snapshot!(told(&sandbox), @r"
    1 prompt: do the whole job
    1 feature: Created src/new.py with `x`
    1 discovery: Read src/a.py (1 line)
    1 change: Changed src/a.py: print 'a' -> 'A'
    1 command: List src
    1 failure: Fail failed (exit 3): oops
    1 discovery: Read src/b.py (1 line)
    1 command: git status: 1 changed, 1 untracked
    1 failure: Read of missing.txt failed: file does not exist
    1 task: Launched general-purpose agent: small job
    1 summary: do the whole job → Created src/new.py with x
    1 command (subagent): sub echo
    1 task (subagent): Subagent general-purpose: sub-agent finished
    ");
    let before = exported(&sandbox);
    assert_snapshot!(import(&sandbox).json().0.stdout, @r#"{"files":0,"unchanged":2,"bytes":0,"events":0,"known":0,"sessions":0,"prompts":0,"observations":0,"summaries":0,"fixes":0,"redacted":{},"skipped":[],"stopped":false,"embedded":0,"waiting":13}"#);
    // Without its notes everything is read again, and known.
    fs::remove_dir_all(sandbox.path("home/.remora/import")).unwrap();
    assert_snapshot!(said(&import(&sandbox).go()), @r"
    read 2 transcripts, [SIZE]: nothing new
    here already: 15 events
    13 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    ");
    assert_eq!(exported(&sandbox), before);
    // What was imported is in the archive like anything else.
    let rebuilt = sandbox.remora(&["rebuild"]).go();
    assert_eq!(rebuilt.code, Some(0), "{rebuilt}");
    assert_eq!(exported(&sandbox), before);
}

#[test]
fn all_recorded_shapes_are_understood() {
    let sandbox = sandbox();
    let folders = [
        "clear",
        "compact-auto",
        "compact-manual",
        "cwd-config-file",
        "permission",
        "slash-command",
        "stopfailure",
        "tasks",
    ];
    recorded(&sandbox, &folders);
    let (done, value) = import(&sandbox).json();
    assert_eq!(value["skipped"], json!([]), "{done}");
    assert_eq!(value["sessions"], 9, "{done}");
    let mut lines: Vec<String> = told(&sandbox).lines().map(str::to_owned).collect();
    lines.sort();
    assert_snapshot!(lines.join("\n"), @r"
    1 command: d
    1 command: d
    1 command: d
    1 failure: The turn broke off: rate_limit
    1 prompt: /greet Bob
    1 prompt: hello
    1 prompt: hello
    1 prompt: hello
    1 prompt: hello
    1 prompt: hello
    1 prompt: one
    1 prompt: one
    1 prompt: two
    1 summary: /greet Bob
    1 summary: Compacted: SUMMARY TEXT
    1 summary: Compacted: SUMMARY TEXT
    1 summary: SUMMARY TEXT
    1 summary: one
    1 summary: one
    1 summary: two
    1 task: Planned task: Do X
    1 task: Task 1: in_progress -> completed
    1 task: Task 1: pending -> in_progress
    2 prompt: three
    2 summary: three → SUMMARY TEXT
    ");
}

#[test]
fn a_session_that_goes_on_is_read_from_where_it_was() {
    // Without its subagent, which would be over before it was launched.
    let folder = format!("home/.claude/projects/-home-dev-app/{SESSION}");
    let alone = |sandbox: &Sandbox| {
        recorded(sandbox, &["full"]);
        fs::remove_dir_all(sandbox.path(&folder)).unwrap();
    };
    let whole = sandbox();
    alone(&whole);
    assert_eq!(import(&whole).go().code, Some(0));
    let parts = sandbox();
    alone(&parts);
    let file = format!("{folder}.jsonl");
    let text = fs::read_to_string(parts.path(&file)).unwrap();
    // In the middle of a call, then in the middle of a line.
    let call = text.find(r#""name":"Edit""#).unwrap();
    let call = call + text[call..].find('\n').unwrap() + 1;
    for end in [call, call + 700, text.len()] {
        parts.write(&file, &text[..end]);
        let (done, value) = import(&parts).json();
        assert_eq!(value["skipped"], json!([]), "{done}");
    }
    let names = |sandbox: &Sandbox| {
        let mut names: Vec<String> = rows(sandbox)
            .iter()
            .map(|row| format!("{} {}", row["uid"], row["title"]))
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&parts), names(&whole));
}

/// A transcript made up line by line.
struct Made {
    lines: String,
    number: u32,
    cwd: String,
}

impl Made {
    fn new(cwd: &str) -> Self {
        Self {
            lines: String::new(),
            number: 0,
            cwd: cwd.to_owned(),
        }
    }

    fn line(&mut self, kind: &str, message: &Value, more: Value) {
        self.number += 1;
        let n = self.number;
        let mut line = json!({
            "type": kind, "message": message, "cwd": self.cwd, "gitBranch": "main",
            "sessionId": "5e551011-0000-4000-8000-000000000001",
            "uuid": format!("00000000-0000-4000-8000-{n:012}"),
            "timestamp": format!("2026-11-10T09:{:02}:{:02}.000Z", n / 60, n % 60),
        });
        if let Value::Object(more) = more {
            line.as_object_mut().unwrap().extend(more);
        }
        writeln!(self.lines, "{line}").unwrap();
    }

    fn prompt(&mut self, id: &str, text: &str) {
        let more = json!({ "promptId": id });
        self.line("user", &json!({ "role": "user", "content": text }), more);
    }

    fn says(&mut self, text: &str) {
        let content = json!([{ "type": "text", "text": text }]);
        let message = json!({ "id": text, "content": content, "stop_reason": "end_turn" });
        self.line("assistant", &message, Value::Null);
    }

    fn call(&mut self, tool: &str, input: &Value, response: &Value) {
        let id = format!("toolu_{}", self.number);
        let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
        let message = json!({ "id": id, "content": content, "stop_reason": "tool_use" });
        self.line("assistant", &message, Value::Null);
        let error = response.get("error").cloned();
        let content = json!([{
            "type": "tool_result", "tool_use_id": id, "is_error": error.is_some(),
            "content": error.unwrap_or_else(|| "shown".into()),
        }]);
        let more = json!({ "toolUseResult": response });
        self.line("user", &json!({ "role": "user", "content": content }), more);
    }

    /// A test that fails, what mends it, and that it passes.
    fn mended(&mut self) {
        let failed = "Exit code 101\nrunning 1 test\ntest retry::gives_up ... FAILED\n\nfailures:\n\n---- retry::gives_up stdout ----\nthread 'retry::gives_up' panicked at src/retry.rs:31:9:\nassertion `left == right` failed\n  left: 4\n right: 3\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let passed = "running 1 test\ntest retry::gives_up ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let run = json!({ "command": "cargo test", "description": "Run the tests" });
        let file = format!("{}/src/retry.rs", self.cwd);
        let (old, new) = ("while n <= limit", "while n < limit");
        self.prompt("p1", "The retry test fails, please mend it");
        self.call("Bash", &run, &json!({ "error": failed }));
        self.call(
            "Edit",
            &json!({ "file_path": file, "old_string": old, "new_string": new }),
            &json!({ "filePath": file, "oldString": old, "newString": new, "originalFile": "fn f() {\n    while n <= limit {}\n}\n", "structuredPatch": [{
                "oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3,
                "lines": [" fn f() {", "-    while n <= limit {}", "+    while n < limit {}", " }"],
            }] }),
        );
        self.call("Bash", &run, &json!({ "stdout": passed, "stderr": "" }));
        self.says("The loop ran once too often; the test passes now.");
    }
}

#[test]
fn a_fix_is_learned_from_a_past_session() {
    let sandbox = sandbox();
    let mut made = Made::new("/gone/shop");
    made.mended();
    sandbox.write("home/elsewhere/projects/-gone-shop/s.jsonl", &made.lines);
    let done = import(&sandbox)
        .environment("CLAUDE_CONFIG_DIR", sandbox.text("home/elsewhere"))
        .go();
    assert_snapshot!(said(&done), @r"
    read 1 transcript, [SIZE]: 1 session, 1 prompt, 3 observations, 1 summary, 1 fix
    6 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    try: remora sessions · remora search --all WORDS · remora recap
    ");
    assert_snapshot!(told(&sandbox), @r"
    1 prompt: The retry test fails, please mend it
    1 failure: cargo test: 1 test failed (retry::gives_up)
    1 bugfix: Changed `f` in src/retry.rs: `<=` -> `<`
    1 fix: cargo test: 1 test failed (retry::gives_up) → Changed `f` in src/retry.rs: `<=` -> `<`
    1 command: cargo test: 1 test passed
    1 summary: The retry test fails, please mend it → Changed f in src/retry.rs: <= -> <
    ");
    let all = rows(&sandbox);
    assert!(all.iter().all(|row| row["project"] == "/gone/shop"));
    let edit = all.iter().find(|row| row["tool"] == "Edit").unwrap();
    assert_eq!(edit["files_modified"], json!(["src/retry.rs"]));
}

#[test]
fn what_hooks_have_told_is_not_told_again() {
    let mut memory = Remembered::nothing();
    quiet(&memory.sandbox);
    let mut made = Made::new("/home/dev/shop");
    made.mended();
    made.prompt("p2", "And now the docs");
    made.says("Docs are written.");
    let session = "5e551011-0000-4000-8000-000000000001";
    // The hooks were there for the first prompt and its last call, a moment
    // before or after the client wrote it down.
    let at = |second: i64| (1_794_301_200_000 - 1_794_646_800_000) + second * 1000;
    let prompt = json!({ "prompt": "The retry test fails, please mend it", "prompt_id": "p1" });
    memory.event(
        session,
        "shop",
        at(0),
        "SessionStart",
        json!({ "source": "startup" }),
    );
    memory.event(session, "shop", at(1) + 40, "UserPromptSubmit", prompt);
    let call = json!({
        "tool_name": "Bash", "tool_use_id": "toolu_5", "prompt_id": "p1",
        "tool_input": { "command": "cargo test" }, "tool_response": { "stdout": "1 passed", "stderr": "" },
    });
    memory.event(session, "shop", at(7), "PostToolUse", call);
    let stop = json!({ "last_assistant_message": "The loop ran once too often; the test passes now.", "prompt_id": "p1" });
    memory.event(session, "shop", at(8) + 90, "Stop", stop);
    memory.store();
    let sandbox = &memory.sandbox;
    let folder = "home/.claude/projects/-home-dev-shop";
    sandbox.write(&format!("{folder}/{session}.jsonl"), &made.lines);
    let args = ["--project", "github.com/acme/shop"];
    let (done, value) = import(sandbox).args(&args).json();
    assert_eq!(value["known"], 4, "{done}");
    assert_eq!(value["prompts"], 1, "{done}");
    // Rows made of transcripts are known by the form of their names.
    let kinds: Vec<Value> = rows(sandbox)
        .iter()
        .filter(|row| &row["uid"].as_str().unwrap()[14..15] == "8")
        .map(|row| row["kind"].clone())
        .collect();
    assert_eq!(
        kinds,
        ["failure", "bugfix", "prompt", "summary"],
        "{}",
        told(sandbox)
    );
}

#[test]
fn what_was_left_out_by_its_moment_comes_with_a_later_import() {
    let sandbox = sandbox();
    let mut made = Made::new("/gone/shop");
    let day =
        |day: u32| json!({ "promptId": day, "timestamp": format!("2026-11-{day}T09:00:00.000Z") });
    let says = |text: &str| json!({ "role": "user", "content": text });
    made.line("user", &says("An old question"), day(10));
    made.line("user", &says("A new question"), day(12));
    sandbox.write("home/.claude/projects/-gone-shop/s.jsonl", &made.lines);
    let (done, value) = import(&sandbox).args(&["--since", "2026-11-11"]).json();
    assert_eq!(value["prompts"], 1, "{done}");
    assert!(!sandbox.path("home/.remora/import").exists());
    let (done, value) = import(&sandbox).json();
    assert_eq!(
        (&value["prompts"], &value["known"]),
        (&json!(1), &json!(1)),
        "{done}"
    );
    assert_snapshot!(told(&sandbox), @"
    2 prompt: An old question
    1 prompt: A new question
    ");
}

#[test]
fn a_file_that_was_replaced_is_read_from_its_beginning() {
    let sandbox = sandbox();
    let file = "home/.claude/projects/-gone-shop/s.jsonl";
    let mut first = Made::new("/gone/shop");
    first.prompt("p1", "The first file");
    sandbox.write(file, &first.lines);
    assert_eq!(import(&sandbox).json().1["prompts"], 1);
    // Longer, as if it had grown, and with a line that is known.
    let mut second = Made::new("/gone/shop");
    second.number = 7;
    second.prompt("p2", "Another file, begun anew");
    second.prompt("p3", "And its second prompt");
    sandbox.write(file, format!("{}{}", second.lines, first.lines));
    let (done, value) = import(&sandbox).json();
    assert_eq!(
        (&value["prompts"], &value["known"]),
        (&json!(2), &json!(1)),
        "{done}"
    );
    assert_eq!(rows(&sandbox).len(), 3, "{}", told(&sandbox));
}

#[test]
fn an_empty_file_is_no_transcript() {
    let sandbox = sandbox();
    sandbox.write("home/.claude/projects/-gone-shop/s.jsonl", "");
    assert_snapshot!(said(&import(&sandbox).go()), @"read 0 transcripts, 0 bytes: nothing new");
}

#[test]
fn ctrl_c_ends_it_between_two_batches_and_again_brings_the_rest() {
    const PROMPTS: usize = 5_000;
    let sandbox = sandbox();
    let mut made = Made::new("/gone/shop");
    for n in 0..PROMPTS {
        made.prompt(&format!("p{n}"), &format!("Question number {n}"));
    }
    sandbox.write("home/.claude/projects/-gone-shop/s.jsonl", &made.lines);
    let stopped = std::thread::scope(|scope| {
        let running = scope.spawn(|| import(&sandbox).go());
        // The first batch is on its way, and many follow.
        let archive = sandbox.path("home/.remora/archive");
        until("something is archived", || {
            fs::read_dir(&archive).ok()?.next().map(drop)
        });
        let process = sandbox.processes().pop().unwrap();
        signal("INT", process.split_once(' ').unwrap().0);
        running.join().unwrap()
    });
    assert_eq!(stopped.code, Some(130), "{stopped}");
    let last = stopped.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("stopped after ") && last.ends_with("; the same command brings the rest"),
        "{stopped}"
    );
    let some = rows(&sandbox).len();
    assert!(some > 0 && some < PROMPTS, "{some}");
    let (done, value) = import(&sandbox).json();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(value["prompts"], PROMPTS - some, "{done}");
    assert_eq!(rows(&sandbox).len(), PROMPTS);
}

#[test]
fn broken_lines_are_named_and_secrets_stay_out() {
    let sandbox = sandbox();
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let mut made = Made::new(&sandbox.text("project"));
    made.prompt(
        "p1",
        &format!("Use the token {secret} <private>and my diary</private>"),
    );
    made.lines.push_str("{\"type\":\"user\",\"mess\n\n[7]\n");
    made.call(
        "Bash",
        &json!({ "command": "env" }),
        &json!({ "stdout": format!("TOKEN={secret}"), "stderr": "" }),
    );
    made.says("Done.");
    let file = sandbox.write("project/s.jsonl", &made.lines);
    let done = import(&sandbox)
        .args(&[file.to_str().unwrap(), "--since", "2026-11-01"])
        .go();
    assert_snapshot!(said(&done), @r"
        read 1 transcript, [SIZE]: 1 session, 1 prompt, 1 observation, 1 summary
        redacted 2 github-token
        left out 2 lines that cannot be read:
          [PROJECT]/s.jsonl:2: not JSON at column 20
          [PROJECT]/s.jsonl:4: not a JSON object
        3 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
        try: remora sessions · remora search --all WORDS · remora recap
        ");
    let stored = exported(&sandbox).join("\n");
    assert!(!stored.contains(&secret) && !stored.contains("diary"));
    assert!(stored.contains("[private]"), "{stored}");
    let gone = import(&sandbox).args(&["nowhere.jsonl"]).go();
    assert_eq!(gone.code, Some(1));
    assert_snapshot!(gone.stderr, @"remora: [PROJECT]/nowhere.jsonl: No such file or directory (os error 2)");
}

#[test]
fn a_path_with_a_doubled_slash_is_matched_like_any_other() {
    let sandbox = sandbox();
    let args = ["config", "set", "capture.ignore", "[\"*.key\", \"b.py\"]"];
    let set = sandbox.remora(&args).go();
    assert_eq!(set.code, Some(0), "{set}");
    recorded(&sandbox, &["full"]);
    let folder = sandbox.path("home/.claude/projects/-home-dev-app");
    let project = sandbox.text("project");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = fs::read_to_string(&path).unwrap();
            let doubled = text.replace(&format!("{project}/"), &format!("{project}//"));
            assert_ne!(doubled, text);
            fs::write(&path, doubled).unwrap();
        }
    }
    let (done, value) = import(&sandbox).json();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(value["skipped"], json!([]), "{done}");
    let told = told(&sandbox);
    assert!(told.contains("Read src/a.py"), "{told}");
    assert!(!told.contains("Read src/b.py"), "{told}");
}
