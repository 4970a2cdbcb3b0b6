//! What an event costs: through a session that is served, through `hooks run`, and
//! as a bare child process that runs the same handler with the same pipes, in turns
//! within one run.
//!
//! `cargo bench -p remora-cli --bench serve -- 600` takes another number of runs.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Reads the event and says nothing: what an engine adds shows the most here.
const HANDLER: &str = "read -r event; exit 0";

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let asked = std::env::args().find_map(|a| a.parse().ok());
    let runs: usize = asked.unwrap_or(if quick { 3 } else { 500 });
    let site = Site::new();
    let event = site.event();
    let mut served = Served::start(&site);
    let mut times = [const { Vec::new() }; 3];
    // The first ones load programs and settings.
    for run in 0..runs + 3 {
        let round = [
            site.spawn_bare(&event),
            served.fire(&event),
            site.run_once(&event),
        ];
        if run >= 3 {
            for (all, one) in times.iter_mut().zip(round) {
                all.push(one);
            }
        }
    }
    served.end();
    println!("{runs} rounds, load {}", read_load());
    let bare = median(&mut times[0]);
    for (what, aim, times) in [
        ("bare spawn", "", 0),
        ("serve", ", aim <= 1.10", 1),
        ("hooks run", "", 2),
    ]
    .map(|(what, aim, at)| (what, aim, &times[at]))
    {
        let mut times = times.clone();
        let middle = median(&mut times);
        let late = times[times.len() * 95 / 100];
        println!(
            "{what:<10} median {:.2} ms, p95 {:.2} ms, {:.2} times a bare spawn{aim}",
            to_ms(middle),
            to_ms(late),
            to_ms(middle) / to_ms(bare),
        );
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn to_ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn read_load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// A home and a project with one hook.
struct Site {
    dir: TempDir,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path().join("project/.claude");
        fs::create_dir_all(&settings).unwrap();
        fs::create_dir(dir.path().join("managed")).unwrap();
        let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash",
            "hooks": [{"type": "command", "command": HANDLER}]}]}});
        fs::write(settings.join("settings.json"), hooks.to_string()).unwrap();
        Self { dir }
    }

    fn project(&self) -> std::path::PathBuf {
        self.dir.path().join("project")
    }

    fn event(&self) -> Value {
        json!({
            "session_id": "bench",
            "transcript_path": "/dev/null",
            "cwd": self.project(),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "cargo test --workspace"},
            "tool_use_id": "toolu_1",
        })
    }

    fn prepare(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn remora(&self, args: &[&str]) -> Command {
        let mut command = self.prepare(Path::new(env!("CARGO_BIN_EXE_remora")));
        command.args(args);
        command
    }

    /// The same shell, pipes and bytes, and nothing else.
    fn spawn_bare(&self, event: &Value) -> Duration {
        let mut command = self.prepare(Path::new("/bin/sh"));
        let (output, took) = feed(command.args(["-c", HANDLER]), event);
        assert_eq!(output, "");
        took
    }

    fn run_once(&self, event: &Value) -> Duration {
        let managed = self.dir.path().join("managed");
        let mut command = self.remora(&["hooks", "run", "--json", "--managed"]);
        let (output, took) = feed(command.arg(managed), event);
        let report: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(report["handlers"][0]["status"], "ok");
        took
    }
}

/// Writes the event and reads all that the child says, to its end. What comes before
/// and after, such as reading an answer, is no part of the time.
fn feed(command: &mut Command, event: &Value) -> (String, Duration) {
    let line = format!("{event}\n");
    let mut text = String::new();
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(line.as_bytes()).unwrap();
    drop(stdin);
    let stdout = child.stdout.as_mut().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    let took = start.elapsed();
    assert!(status.success());
    (text, took)
}

/// `remora hooks serve` with one session.
struct Served {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    session: String,
    requests: u64,
}

impl Served {
    fn start(site: &Site) -> Self {
        let mut child = site.remora(&["hooks", "serve"]).spawn().unwrap();
        let mut served = Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            session: String::new(),
            requests: 0,
        };
        let (opened, _) = served.ask(
            "open",
            &json!({"project": site.project(), "managed": site.dir.path().join("managed")}),
        );
        opened["session"]
            .as_str()
            .unwrap()
            .clone_into(&mut served.session);
        served
    }

    /// What was answered, and how long that took.
    fn ask(&mut self, method: &str, params: &Value) -> (Value, Duration) {
        self.requests += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.requests, "method": method,
            "params": params});
        let request = format!("{request}\n");
        let mut line = String::new();
        let start = Instant::now();
        self.stdin.write_all(request.as_bytes()).unwrap();
        self.stdout.read_line(&mut line).unwrap();
        let took = start.elapsed();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.requests, "{answer}");
        (answer["result"].take(), took)
    }

    fn fire(&mut self, event: &Value) -> Duration {
        let params = json!({"session": self.session, "event": event});
        let (fired, took) = self.ask("fire", &params);
        assert_eq!(fired["report"]["handlers"][0]["status"], "ok");
        took
    }

    fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }
}
