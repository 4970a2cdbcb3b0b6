//! Hosts and servers that are killed at random instants: whichever dies, no handler stays.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::server::Server;
use super::{SESSIONS, write_home};
use crate::client::process::{find_marked, kill_all};
use crate::proof::SeededRandom;

/// Set for hosts; servers and handlers inherit it.
const MARK_VARIABLE: &str = "REMORA_SOAK_TRIAL";
/// The latest instant of a kill, behind the first event.
const MAX_LIFE_MS: u64 = 400;
/// How long what was left may take to end. Most of it is gone within milliseconds.
const END_LIMIT: Duration = Duration::from_secs(20);
/// When to look again once nothing was seen.
const SECOND_LOOK: Duration = Duration::from_millis(50);
/// How long a host may take until its first event.
const START_LIMIT: Duration = Duration::from_mins(1);
/// Handlers in the background that a host starts in each session before it fires quick ones
/// alone.
const SLOW_EVENTS: usize = 3;

/// Kills hosts and servers in turn.
pub(super) fn run(program: &Path, kills: usize, seed: u64) -> Result<String> {
    let mut random = SeededRandom::new(seed);
    let mut slowest = Duration::ZERO;
    let mut handlers = 0;
    for number in 0..kills {
        let home = tempfile::tempdir()?;
        write_home(home.path(), &build_hooks())?;
        let mark = format!("{MARK_VARIABLE}={}", home.path().display());
        let trial = try_kill(program, home.path(), number % 2 == 0, &mut random, &mark);
        let left = find_marked(&mark);
        kill_all(&left);
        let (ran, took) = trial.with_context(|| format!("kill {number}"))?;
        handlers += ran;
        slowest = slowest.max(took);
    }
    Ok(format!(
        "kills: {kills}, hosts and servers in turn; {handlers} processes ran at the instants, none \
         was left after {} ms at most",
        slowest.as_millis()
    ))
}

/// Long ones that wait and that go on, and quick ones, so that a kill also comes while a
/// process begins.
fn build_hooks() -> Value {
    json!({
        "PreToolUse": [
            {"matcher": "Quick", "hooks": [{"type": "command", "command": "exit 0"}]},
            {"matcher": "Long", "hooks": [{"type": "command", "command": "sleep 1000"}]},
        ],
        "PostToolUse": [{"hooks": [
            {"type": "command", "async": true, "command": "sleep 1000"},
            {"type": "command", "asyncRewake": true, "command": "sleep 1000 & sleep 1000"},
        ]}],
    })
}

/// One host with its server. Says how many processes ran when one of both was killed, and how
/// long the last of them lived.
fn try_kill(
    program: &Path,
    home: &Path,
    kills_host: bool,
    random: &mut SeededRandom,
    mark: &str,
) -> Result<(usize, Duration)> {
    let (name, value) = mark.split_once('=').context("a mark has a value")?;
    let mut host = Command::new(std::env::current_exe()?)
        .args(["soak", "--program"])
        .arg(program)
        .arg("--host")
        .arg(home)
        .env(name, value)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .context("cannot start a host")?;
    let lines = BufReader::new(host.stdout.take().context("no stdout")?).lines();
    let (send, said) = channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            // The trial is over.
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let server = said
        .recv_timeout(START_LIMIT)
        .context("the host never began")?;
    // What the host says is no reason to wait less.
    wait_out(&said, Duration::from_millis(random.next_below(MAX_LIFE_MS)));
    let ran = find_marked(mark).len();
    let victim = if kills_host {
        host.id()
    } else {
        server.parse()?
    };
    let killed = Instant::now();
    kill_all(&[victim]);
    let status = host.wait()?;
    ensure!(
        kills_host || status.code().is_some(),
        "the host was killed, not its server"
    );
    loop {
        let left = find_marked(mark);
        if left.is_empty() {
            let took = killed.elapsed();
            // A process that is just being started may show no environment for a moment.
            wait_out(&said, SECOND_LOOK);
            let late = find_marked(mark);
            ensure!(late.is_empty(), "{}", describe(&late));
            check_folders(home)?;
            return Ok((ran, took));
        }
        ensure!(killed.elapsed() < END_LIMIT, "{}", describe(&left));
        wait_out(&said, Duration::from_millis(1));
    }
}

/// The server's own folder lies in its home, and goes with it.
fn check_folders(home: &Path) -> Result<()> {
    for entry in std::fs::read_dir(home)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        ensure!(
            !name.starts_with("remora-"),
            "the folder {name} was left behind"
        );
    }
    Ok(())
}

/// Waits for as long as it says, whatever the host says.
fn wait_out(said: &Receiver<String>, time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        if said.recv_timeout(left) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected) {
            std::thread::park_timeout(left);
        }
    }
}

fn describe(left: &[u32]) -> String {
    let name = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        format!("{id} ({})", line.trim())
    };
    let names: Vec<String> = left.iter().map(name).collect();
    format!("left behind: {}", names.join(", "))
}

/// A host that fires without end. It says its server's process once events are under way.
pub(super) fn be_host(program: &Path, home: &Path) -> Result<()> {
    let project = home.join("project");
    let mut server = Server::start(program, home)?;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(server.open(&project)?);
    }
    let pid = server.pid();
    for session in &sessions {
        for _ in 0..SLOW_EVENTS {
            fire(&mut server, session, "PostToolUse", "Slow")?;
        }
        fire(&mut server, session, "PreToolUse", "Long")?;
        fire(&mut server, session, "PreToolUse", "Quick")?;
    }
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{pid}")?;
    stdout.flush()?;
    let mut answered = 0;
    loop {
        let message = server.read()?;
        if message["result"]["event"]["tool_name"] == "Quick" {
            fire(
                &mut server,
                &sessions[answered % SESSIONS],
                "PreToolUse",
                "Quick",
            )?;
            answered += 1;
        }
    }
}

fn fire(server: &mut Server, session: &str, name: &str, tool: &str) -> Result<()> {
    let event = json!({"hook_event_name": name, "session_id": session, "cwd": "/",
        "tool_name": tool, "tool_use_id": "t", "tool_input": {"command": "x"},
        "tool_response": {"stdout": ""}});
    server.send("fire", &json!({"session": session, "event": event}))?;
    Ok(())
}
