//! How fast the engine is, as ratios within one run: a plan over 500 handlers,
//! one command handler against a bare spawn of the same command, and 32
//! handlers that sleep against one.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use remora_core::Event;
use remora_hooks::{Engine, EngineOptions, Host, PlanVerdict, SettingsPaths};
use serde_json::{Value, json};

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    plan(if quick { 3 } else { 2_000 });
    let spawns = if quick { 2 } else { 400 };
    spawn(spawns, "one command handler");
    parallel(if quick { 1 } else { 15 });
    // From here on every child is recorded.
    remora_hooks::record_children(tempfile::tempfile().unwrap());
    spawn(spawns, "one that is recorded for a guard");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn engine(dir: &Path, groups: &Value) -> Engine {
    let settings = json!({"hooks": {"PreToolUse": groups}});
    fs::create_dir_all(dir.join(".claude")).unwrap();
    fs::write(dir.join(".claude/settings.json"), settings.to_string()).unwrap();
    Engine::load(
        SettingsPaths::new(dir, dir.join("home")),
        EngineOptions::default(),
    )
    .unwrap()
}

fn event(dir: &Path, command: &str) -> Event {
    let fields = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": dir, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "toolu_1"
    });
    Event::from_value(fields, None).unwrap()
}

fn host() -> Host<'static> {
    Host {
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Host::default()
    }
}

/// 500 handlers: names, lists, expressions and conditions, a tenth of which fit.
fn plan(rounds: usize) {
    let dir = tempfile::tempdir().unwrap();
    let groups: Vec<Value> = (0..500)
        .map(|n| {
            let command = json!({"type": "command", "command": format!("hook-{n}")});
            match n % 10 {
                0 => json!({"matcher": "Bash", "hooks": [command]}),
                1 => json!({"matcher": format!("^mcp__s{n}__.*"), "hooks": [command]}),
                2 => {
                    let with_if = json!({"type": "command", "command": format!("hook-{n}"), "if": format!("Bash(tool{n} *)")});
                    json!({"matcher": "Bash", "hooks": [with_if]})
                }
                3 => json!({"matcher": format!("Edit|Write|Tool{n}"), "hooks": [command]}),
                _ => json!({"matcher": format!("Tool{n}"), "hooks": [command]}),
            }
        })
        .collect();
    let engine = engine(dir.path(), &json!(groups));
    let event = event(dir.path(), "cargo test --workspace && git status");
    let times = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let plan = engine.plan(black_box(&event));
            let time = start.elapsed();
            assert_eq!(
                plan.rows
                    .iter()
                    .filter(|r| r.verdict == PlanVerdict::Runs)
                    .count(),
                50
            );
            time
        })
        .collect();
    println!(
        "plan over 500 handlers: {:.1} us (aim < 50)",
        median(times).as_secs_f64() * 1e6
    );
}

/// One handler of the engine against the same child started by hand.
fn spawn(rounds: usize, name: &str) {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(
        dir.path(),
        &json!([{"hooks": [{"type": "command", "command": "cat >/dev/null"}]}]),
    );
    let event = event(dir.path(), "ls");
    let host = host();
    let line = event.to_line();
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        let mut child = Command::new("/bin/sh")
            .args(["-c", "cat >/dev/null"])
            .current_dir(dir.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        black_box(child.wait_with_output().unwrap());
        bare.push(start.elapsed());
        let start = Instant::now();
        black_box(engine.run(&event, &host));
        ours.push(start.elapsed());
    }
    let (bare, ours) = (median(bare), median(ours));
    println!(
        "{name}: {:.2} ms, bare spawn {:.2} ms, ratio {:.2} (aim <= 1.15)",
        ours.as_secs_f64() * 1e3,
        bare.as_secs_f64() * 1e3,
        ours.as_secs_f64() / bare.as_secs_f64()
    );
}

/// 32 handlers that sleep 100 ms take hardly longer than one.
fn parallel(rounds: usize) {
    let run = |count: usize| {
        let dir = tempfile::tempdir().unwrap();
        let handlers: Vec<Value> = (0..count)
            .map(|n| json!({"type": "command", "command": "sleep", "args": ["0.1"], "if": if n == 0 { "Bash".to_owned() } else { format!("Bash({}*)", "*".repeat(n)) }}))
            .collect();
        let engine = engine(dir.path(), &json!([{"hooks": handlers}]));
        let event = event(dir.path(), "ls");
        let host = host();
        let times = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                let report = engine.run(&event, &host).report;
                assert_eq!(report.handlers.len(), count);
                start.elapsed()
            })
            .collect();
        median(times)
    };
    let (one, many) = (run(1), run(32));
    println!(
        "32 handlers of 100 ms: {:.1} ms, one {:.1} ms, ratio {:.2} (aim <= 1.2)",
        many.as_secs_f64() * 1e3,
        one.as_secs_f64() * 1e3,
        many.as_secs_f64() / one.as_secs_f64()
    );
}
