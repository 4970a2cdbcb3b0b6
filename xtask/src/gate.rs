//! `cargo xtask gate`: how many instructions a hook takes, counted by valgrind,
//! against the numbers in `xtask/gate.json`.
//!
//! Times depend on the machine and on what else it does; counts do not. The
//! worker runs beside and is not counted.
#![expect(clippy::print_stdout, reason = "xtask talks to people")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

const USAGE: &str = "usage: cargo xtask gate [--accept]
  --accept  write the counts into xtask/gate.json";

/// How far a count may rise, in percent.
const TOLERANCE_PERCENT: u64 = 5;
/// A count is the least of so many, since ids and hash tables differ.
const MAX_TRIES: usize = 3;
/// The name of the call, or of a session.
const CALL_ID: &str = "toolu_000000000000000000000000";
/// Whose hook is counted.
const CLAUDE_CODE: &str = "claude-code";
const CODEX: &str = "codex";
/// What an answer holds that brings something back.
const CONTEXT_TAG: &str = "<remora-context>";

/// How the command failed before its fix.
const FAILURE_OUTPUT: &str = "Exit code 101\nerror[E0308]: mismatched types\n --> retry.rs:4:9\n  |\n4 |         \"four\"\n  |         ^^^^^^ expected `u32`, found `&str`\n\nerror: could not compile `app` (bin \"app\") due to 1 previous error";

type InstructionCounts = BTreeMap<String, u64>;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let accept = match args {
        [] => false,
        [one] if one == "--accept" => true,
        _ => bail!("{USAGE}"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask lies in no workspace")?;
    let file = root.join("xtask/gate.json");
    valgrind_is_there()?;
    let program = build_release(root)?;
    let site = GateSite::new(program)?;
    let counts = site.count_all()?;
    if accept {
        let text = serde_json::to_string_pretty(&json!({
            "rustc": rustc_version(),
            "instructions": counts,
        }))?;
        fs::write(&file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
        for (name, count) in counts {
            println!("{name}: {count} instructions, accepted");
        }
        return Ok(());
    }
    let text = fs::read_to_string(&file)
        .with_context(|| format!("{}; `cargo xtask gate --accept` writes it", file.display()))?;
    let accepted: Value = serde_json::from_str(&text).context("xtask/gate.json")?;
    let (lines, risen) = compare_counts(&accepted, &counts);
    for line in lines {
        println!("{line}");
    }
    if risen.is_empty() {
        return Ok(());
    }
    let then = accepted["rustc"].as_str().unwrap_or("unknown");
    bail!(
        "a hook takes more than {TOLERANCE_PERCENT} % more instructions than accepted: {}\n\
         Find out why (`valgrind --tool=callgrind`), or accept it: cargo xtask gate --accept\n\
         The accepted counts were taken with {then}, these with {}.",
        risen.join(", "),
        rustc_version()
    )
}

/// What to report, and which counts have risen too far.
fn compare_counts(accepted: &Value, counts: &InstructionCounts) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut risen) = (Vec::new(), Vec::new());
    for (name, count) in counts {
        let Some(before) = accepted["instructions"][name].as_u64() else {
            lines.push(format!("{name}: {count} instructions, never accepted"));
            risen.push(name.clone());
            continue;
        };
        let percent = 100.0 * (as_float(*count) / as_float(before) - 1.0);
        lines.push(format!(
            "{name}: {count} instructions, {percent:+.2} % against {before}"
        ));
        // In integers, so that the verdict does not depend on rounding.
        if count * 100 > before * (100 + TOLERANCE_PERCENT) {
            risen.push(name.clone());
        }
    }
    (lines, risen)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn as_float(count: u64) -> f64 {
    count as f64
}

fn valgrind_is_there() -> Result<()> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "valgrind is not on the PATH; install it (`apt-get install valgrind`, `dnf install valgrind`) and run again"
        ),
        Ok(output) => bail!("valgrind --version: {}", output.status),
        Err(error) => Err(error).context("valgrind --version"),
    }
}

fn rustc_version() -> String {
    let output = Command::new("rustc").arg("--version").output();
    output.map_or_else(
        |_| "an unknown rustc".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// Builds the release binary; cargo says where it put it.
fn build_release(root: &Path) -> Result<PathBuf> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--bin", "remora"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !built.status.success() {
        bail!("cargo could not build `remora`");
    }
    let text = String::from_utf8_lossy(&built.stdout);
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| line["executable"].as_str().map(PathBuf::from))
        .next_back()
        .context("cargo built no `remora`")
}

/// A data directory with a worker, and a project in a repository.
struct GateSite {
    program: PathBuf,
    folder: PathBuf,
}

impl GateSite {
    fn new(program: PathBuf) -> Result<Self> {
        // The length of paths is part of the count.
        let folder = std::env::temp_dir().join(format!("remora-gate-{:010}", std::process::id()));
        fs::create_dir_all(folder.join("project/.git"))
            .with_context(|| format!("making {}", folder.display()))?;
        fs::write(folder.join("project/.git/HEAD"), "ref: refs/heads/main\n")?;
        fs::write(folder.join("project/retry.rs"), "for attempt in 0..4 {}\n")?;
        fs::write(
            folder.join("project/.git/config"),
            "[remote \"origin\"]\n\turl = git@git.example.org:acme/app.git\n",
        )?;
        Ok(Self { program, folder })
    }

    fn count_all(&self) -> Result<InstructionCounts> {
        self.prepare_data()?;
        let mut counts = InstructionCounts::new();
        for (name, agent, payload, expected) in [
            ("PostToolUse 1 KB", CLAUDE_CODE, self.build_call(1_000), ""),
            (
                "PostToolUse 100 KB",
                CLAUDE_CODE,
                self.build_call(100_000),
                "",
            ),
            ("SessionStart", CLAUDE_CODE, self.start(), CONTEXT_TAG),
            (
                "UserPromptSubmit",
                CLAUDE_CODE,
                self.build_prompt(),
                CONTEXT_TAG,
            ),
            (
                "PreToolUse Read",
                CLAUDE_CODE,
                self.build_read(),
                CONTEXT_TAG,
            ),
            (
                "PostToolUseFailure",
                CLAUDE_CODE,
                self.build_failure(),
                CONTEXT_TAG,
            ),
            (
                "Codex PostToolUse",
                CODEX,
                self.build_codex_command("./check"),
                "",
            ),
            (
                "Codex PostToolUse of a file",
                CODEX,
                self.build_codex_command("sed -n '1,80p' retry.rs"),
                CONTEXT_TAG,
            ),
        ] {
            let mut least = u64::MAX;
            // The least of several runs: hashing and scheduling add instructions, but never
            // take any away.
            for attempt in 0..MAX_TRIES {
                self.as_kept(&format!("{name} {attempt}"))?;
                self.run_remora(&["worker", "start"])?;
                let count = self
                    .count(agent, &payload, expected)
                    .with_context(|| name)?;
                self.run_remora(&["worker", "stop"])?;
                least = least.min(count);
            }
            counts.insert(name.to_owned(), least);
        }
        Ok(counts)
    }

    /// Gives the hooks something to inject, and keeps the data directory as it
    /// is then: a hook that is counted leaves an item behind that the next one
    /// would find. How many pieces the word index is in depends on when the
    /// worker woke; rebuilt, it is always the same.
    fn prepare_data(&self) -> Result<()> {
        let events = [
            json!({"hook_event_name": "UserPromptSubmit",
                "prompt": "Mend the retry loop, please. We decided to retry at most four times."}),
            json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                "tool_input": {"command": "cargo build"}, "tool_use_id": "toolu_1",
                "error": FAILURE_OUTPUT, "is_interrupt": false}),
            json!({"hook_event_name": "PostToolUse", "tool_name": "Edit",
                "tool_input": {"file_path": self.folder.join("project/retry.rs"),
                    "old_string": "loop {", "new_string": "for attempt in 0..4 {"},
                "tool_use_id": "toolu_2", "tool_response": {"success": true}}),
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": {"command": "cargo build"}, "tool_use_id": "toolu_3",
                "tool_response": {"stdout": "Finished", "stderr": ""}}),
            json!({"hook_event_name": "Stop", "last_assistant_message": "The retry loop ends now."}),
        ];
        for event in events {
            let event = self.build_event("before", event);
            let mut command = self.build_command(&self.program);
            command.args(["hook", CLAUDE_CODE]);
            check_output(&feed_command(command, &event)?)?;
        }
        self.run_remora(&["worker", "start"])?;
        self.run_remora(&["worker", "drain"])?;
        self.run_remora(&["worker", "stop"])?;
        self.run_remora(&["rebuild"])?;
        copy_folder(&self.folder.join("data"), &self.folder.join("kept"))
    }

    /// The data directory as `begin` left it. Of the one before a worker may
    /// still be taking its leave, so that one is only put aside.
    fn as_kept(&self, aside: &str) -> Result<()> {
        let data = self.folder.join("data");
        let aside = self.folder.join(aside);
        fs::rename(&data, &aside).with_context(|| format!("renaming {}", data.display()))?;
        copy_folder(&self.folder.join("kept"), &data)
    }

    fn build_command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            // Variables are copied and searched by the hook, so those of this machine would
            // count.
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.folder)
            .env("REMORA_HOME", self.folder.join("data"))
            // Counting takes fifty times as long.
            .env("REMORA_DEADLINE_MS", "60000")
            // Whether a worker has its encoder loaded must not change the count.
            .env("REMORA_EMBEDDING_BUDGET_MS", "0")
            .env("CLAUDE_PROJECT_DIR", self.folder.join("project"))
            .current_dir(self.folder.join("project"));
        command
    }

    fn run_remora(&self, arguments: &[&str]) -> Result<()> {
        let mut command = self.build_command(&self.program);
        command.args(arguments);
        let output = feed_command(command, "")?;
        check_output(&output).with_context(|| format!("remora {}", arguments.join(" ")))
    }

    fn build_event(&self, session: &str, rest: Value) -> String {
        let mut event = json!({
            "session_id": session,
            "transcript_path": "/home/dev/transcript.jsonl",
            "cwd": self.folder.join("project"),
            "permission_mode": "default",
        });
        if let (Value::Object(all), Value::Object(rest)) = (&mut event, rest) {
            all.extend(rest);
        }
        format!("{event}\n")
    }

    /// A call with about so many bytes in all.
    fn build_call(&self, size: usize) -> String {
        let line = "checked another part of the whole, and it is as it should be\n";
        let room = size.saturating_sub(600);
        self.build_event(
            "now",
            json!({
                "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": {"command": "./check"},
                "tool_response": {"stdout": line.repeat(room / line.len()), "stderr": ""},
                "tool_use_id": CALL_ID, "duration_ms": 37,
            }),
        )
    }

    fn start(&self) -> String {
        let fields = json!({"hook_event_name": "SessionStart", "source": "startup"});
        self.build_event(CALL_ID, fields)
    }

    fn build_prompt(&self) -> String {
        let prompt = "How often did we decide to retry at most?";
        let fields = json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt});
        self.build_event(CALL_ID, fields)
    }

    fn build_read(&self) -> String {
        let path = self.folder.join("project/retry.rs");
        self.build_event(
            CALL_ID,
            json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "toolu_4",
                "tool_input": {"file_path": path}}),
        )
    }

    fn build_failure(&self) -> String {
        self.build_event(
            CALL_ID,
            json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                "tool_input": {"command": "cargo build"}, "tool_use_id": "toolu_5",
                "error": FAILURE_OUTPUT, "is_interrupt": false}),
        )
    }

    /// A command as Codex reports it; it has no tool that reads files.
    fn build_codex_command(&self, command: &str) -> String {
        let event = json!({
            "session_id": CALL_ID,
            "turn_id": "turn",
            "transcript_path":
                "/home/dev/.codex/sessions/2026/11/18/rollout-2026-11-18T12-05-04-01a1.jsonl",
            "cwd": self.folder.join("project"),
            "hook_event_name": "PostToolUse",
            "model": "model",
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_response": "for attempt in 0..4 {}\n",
            "tool_use_id": "call_1",
        });
        format!("{event}\n")
    }

    /// The instructions of one hook, which must say this.
    fn count(&self, agent: &str, payload: &str, expected: &str) -> Result<u64> {
        let mut command = self.build_command(Path::new("valgrind"));
        command
            // Instructions alone: they are the same on a busy machine, where times and
            // cache misses are not.
            .args(["--tool=cachegrind", "--cache-sim=no"])
            .arg("--cachegrind-out-file=/dev/null")
            .arg(&self.program)
            .args(["hook", agent]);
        let output = feed_command(command, payload)?;
        check_output(&output)?;
        let answer = String::from_utf8_lossy(&output.stdout);
        // A hook that injects nothing is cheap; its count would pass and mean nothing.
        if !answer.contains(expected) {
            bail!("the answer does not say {expected}: {answer}");
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        parse_instructions(&stderr)
            .with_context(|| format!("no count in what valgrind said:\n{stderr}"))
    }
}

/// Copies a folder with all that is in it.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let copying = || format!("copying {} to {}", from.display(), to.display());
    fs::create_dir_all(to).with_context(copying)?;
    for entry in fs::read_dir(from).with_context(copying)? {
        let entry = entry.with_context(copying)?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type().with_context(copying)?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target).with_context(copying)?;
        }
    }
    Ok(())
}

impl Drop for GateSite {
    fn drop(&mut self) {
        // What is left is in the temporary folder, and the worker ends by
        // itself when nothing happens.
        let _ = self.run_remora(&["worker", "stop"]);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// `==12== I   refs:      795,547`, or `I refs:` in later versions.
fn parse_instructions(stderr: &str) -> Option<u64> {
    let count = stderr.lines().find_map(|line| {
        let (head, count) = line.split_once("refs:")?;
        head.trim_end().ends_with('I').then_some(count)
    })?;
    let digits: String = count.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn feed_command(mut command: Command, input: &str) -> Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", command.get_program().display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input.as_bytes()) {
            // A command that ends before it has read its input has a status that says more.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error.into()),
            _ => {}
        }
    }
    Ok(child.wait_with_output()?)
}

fn check_output(output: &Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    bail!(
        "{}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    )
}

#[cfg(test)]
mod tests;
