//! The command line against a script in its place.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use remora_core::model::{
    Model, ModelChoice, ModelError, ModelErrorKind, ModelMessage, ModelReply, ModelRequest,
    ModelTool, ModelToolCall, ModelToolResult, ReplyEnd,
};
use remora_model::{CommandLineConfig, CommandLineModel, ModelNames, Provider};
use serde_json::json;

/// Far beyond what any of these tests takes.
const LONG: Duration = Duration::from_mins(1);

struct Bench {
    folder: tempfile::TempDir,
}

/// One program for all tests, written before any child is started: what is open
/// for writing somewhere cannot be run.
fn stand_in() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let program = folder.path().join("claude");
        fs::write(&program, "#!/bin/sh\n. \"$OUT/script\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (folder, program)
    });
    program
}

impl Bench {
    /// `script` in place of the program; `$OUT` is a folder for what it leaves.
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(folder.path().join("script"), script).unwrap();
        fs::hard_link(stand_in(), folder.path().join("claude")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn provider(&self) -> Provider {
        let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        Provider::CommandLine(CommandLineModel::new(CommandLineConfig {
            program: self.path("claude"),
            environment: vec![
                variable("PATH", "/usr/bin:/bin"),
                variable("OUT", self.folder.path().to_str().unwrap()),
                variable("CLAUDECODE", "1"),
                variable("CLAUDE_CODE_ENTRYPOINT", "cli"),
                variable("REMORA_OFF", "0"),
            ],
            cwd: self.folder.path().to_path_buf(),
            lock_file: Some(self.path("lock")),
            names: ModelNames::default(),
        }))
    }

    fn ask(&self, request: &ModelRequest, limit: Duration) -> Result<ModelReply, ModelError> {
        self.provider().complete(request, Instant::now() + limit)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

fn question() -> ModelRequest {
    ModelRequest {
        system: "Answer.".into(),
        messages: vec![ModelMessage::User("Is it 'so'?\n".into())],
        tools: Vec::new(),
        output_schema: Some(json!({"type": "object"})),
        model: ModelChoice::Alias("haiku".into()),
        max_tokens: 100,
    }
}

const GOOD: &str = r#"cat > "$OUT/input"; env > "$OUT/env"; for a; do echo "$a"; done > "$OUT/args"
echo '{"type":"result","is_error":false,"result":"{\"ok\":true}","usage":{"input_tokens":5,"output_tokens":2},"modelUsage":{"m-1":{}}}'"#;

#[test]
fn the_program_gets_the_question_and_nothing_to_run() {
    let bench = Bench::new(GOOD);
    let reply = bench.ask(&question(), LONG).unwrap();
    assert_eq!(
        (
            reply.text.as_str(),
            reply.model.as_str(),
            reply.usage.input_tokens
        ),
        (r#"{"ok":true}"#, "m-1", 5)
    );
    assert_eq!(bench.read("input"), "Is it 'so'?\n");
    let args = bench.read("args");
    let args: Vec<&str> = args.lines().collect();
    for expected in [
        &["--print", "--output-format", "json"][..],
        &["--no-session-persistence"],
        &[
            "--strict-mcp-config",
            "--mcp-config",
            r#"{"mcpServers":{}}"#,
        ],
        &["--setting-sources", ""],
        &["--settings", r#"{"disableAllHooks":true}"#],
        &["--tools", ""],
        &["--system-prompt", "Answer."],
        &["--model", "claude-haiku-5-5"],
        &["--json-schema", r#"{"type":"object"}"#],
    ] {
        let found = args
            .windows(expected.len())
            .any(|window| window == expected);
        assert!(found, "{expected:?} in {args:?}");
    }
    let environment = bench.read("env");
    let lines: Vec<&str> = environment.lines().collect();
    assert!(lines.contains(&"REMORA_OFF=1"), "{environment}");
    assert!(!environment.contains("CLAUDE"), "{environment}");
}

#[test]
fn a_structured_answer_counts_before_the_text() {
    let bench = Bench::new(
        r#"cat >/dev/null; echo '{"result":"words","structured_output":{"ok":false},"is_error":false}'"#,
    );
    assert_eq!(
        bench.ask(&question(), LONG).unwrap().text,
        r#"{"ok":false}"#
    );
}

#[test]
fn every_failure_has_its_kind() {
    use ModelErrorKind as K;
    for (script, kind) in [
        ("cat >/dev/null; echo oops >&2; exit 1", K::Server),
        ("exec 0<&-; echo hello", K::Malformed),
        ("cat >/dev/null; echo '[1]'", K::Malformed),
        ("kill -KILL $$", K::Server),
        (
            r#"echo '{"is_error":true,"result":"Invalid API key - Please run /login"}'; exit 1"#,
            K::Auth,
        ),
        (
            r#"echo '{"is_error":true,"result":"API Error: 500"}'"#,
            K::Server,
        ),
        ("yes", K::TooLarge),
        ("yes >&2 & echo $! > \"$OUT/pid\"; exit 0", K::Malformed),
    ] {
        let bench = Bench::new(script);
        let error = bench.ask(&question(), LONG).unwrap_err();
        assert_eq!(error.kind, kind, "{script}: {error}");
        assert!(error.to_string().len() < 500);
        if bench.path("pid").exists() {
            wait_until_gone(&bench.read("pid"));
        }
    }
    let missing = Bench::new("");
    fs::remove_file(missing.path("claude")).unwrap();
    let error = missing.ask(&question(), LONG).unwrap_err();
    assert_eq!(error.kind, K::NotConfigured);
}

/// A process that was killed may be a zombie of whoever reaps orphans here.
fn wait_until_gone(pid: &str) {
    let deadline = Instant::now() + LONG;
    let stat = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    loop {
        match fs::read_to_string(&stat) {
            Ok(text) if !text.contains(") Z ") => {
                assert!(Instant::now() < deadline, "still there: {text}");
                std::thread::yield_now();
            }
            _ => return,
        }
    }
}

#[test]
fn at_the_deadline_nothing_of_its_group_is_left() {
    let bench = Bench::new(
        "echo $$ > \"$OUT/pid\"; tail -f /dev/null & echo $! > \"$OUT/other\"; exec tail -f /dev/null",
    );
    let limit = Duration::from_millis(500);
    let error = bench.ask(&question(), limit).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    for file in ["pid", "other"] {
        // A slow machine may not even have started it.
        if Path::new(&bench.path(file)).exists() {
            wait_until_gone(&bench.read(file));
        }
    }
}

#[test]
fn one_child_at_a_time() {
    // A second one that runs beside the first would find the folder there.
    let bench = Bench::new(
        r#"cat >/dev/null; mkdir "$OUT/busy" || { echo '{"is_error":true,"result":"two at once"}'; exit 0; }
        i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done
        rmdir "$OUT/busy"; echo '{"is_error":false,"result":"alone"}'"#,
    );
    let texts: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| bench.ask(&question(), LONG).map(|reply| reply.text)))
            .collect();
        asked.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(texts, vec![Ok("alone".to_owned()); 4]);
}

#[test]
fn a_busy_program_is_waited_for_until_the_deadline() {
    let bench = Bench::new("echo '{\"is_error\":false,\"result\":\"x\"}'");
    let held = fs::File::create(bench.path("lock")).unwrap();
    held.lock().unwrap();
    let error = bench
        .ask(&question(), Duration::from_millis(100))
        .unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    drop(held);
    assert_eq!(bench.ask(&question(), LONG).unwrap().text, "x");
}

#[test]
fn tools_are_described_in_words_and_called_by_an_object() {
    let bench = Bench::new(
        r#"cat > "$OUT/input"; for a; do echo "$a"; done > "$OUT/args"
        echo '{"is_error":false,"structured_output":{"tool":"look","input":{"at":"y"}}}'"#,
    );
    let call = ModelToolCall {
        id: "call_1".into(),
        name: "look".into(),
        input: json!({"at": "x"}),
    };
    let request = ModelRequest {
        messages: vec![
            ModelMessage::User("Is it?".into()),
            ModelMessage::Assistant {
                text: String::new(),
                calls: vec![call.clone()],
            },
            ModelMessage::ToolResults(vec![ModelToolResult {
                call_id: "call_1".into(),
                text: "nothing there".into(),
                failed: true,
            }]),
        ],
        tools: vec![ModelTool {
            name: "look".into(),
            description: "Looks.".into(),
            input_schema: json!({"type": "object"}),
        }],
        output_schema: None,
        ..question()
    };
    let reply = bench.ask(&request, LONG).unwrap();
    let expected = ModelToolCall {
        id: "call_3".into(),
        input: json!({"at": "y"}),
        ..call
    };
    assert_eq!(
        (reply.calls, reply.end),
        (vec![expected], ReplyEnd::ToolCalls)
    );
    assert_eq!(
        bench.read("input"),
        "[user]\nIs it?\n\n[assistant]\n{\"tool\":\"look\",\"input\":{\"at\":\"x\"}}\n\n[tool failed]\nnothing there"
    );
    let args = bench.read("args");
    assert!(args.contains("- look: Looks."), "{args}");
    assert!(args.contains(r#""enum":["look"]"#), "{args}");
}

#[test]
fn a_program_inside_the_project_is_not_taken() {
    let bench = Bench::new("");
    let folder = bench.folder.path().canonicalize().unwrap();
    let path = |list: &[&Path]| std::env::join_paths(list).unwrap();
    let find =
        |list: &[&Path], project: &Path| CommandLineModel::find_program(&path(list), project);
    let elsewhere = Path::new("/nowhere");
    assert_eq!(
        find(&[elsewhere, &folder], elsewhere),
        Some(folder.join("claude"))
    );
    assert_eq!(find(&[&folder], &folder), None);
    assert_eq!(find(&[Path::new("."), Path::new("")], elsewhere), None);
    // A link from outside leads in all the same.
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.join("claude"), outside.path().join("claude")).unwrap();
    assert_eq!(find(&[outside.path()], &folder), None);
}
