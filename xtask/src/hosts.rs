//! `cargo xtask hosts`: the agents of `examples/hosts` through the real program, with the
//! same project and script. Each must say what `transcript.txt` says, which the agent in Rust
//! says in `cargo test`.
//!
//! Needs `python3`, `node` and `npm`. TypeScript's compiler is pinned in
//! `examples/hosts/typescript/package-lock.json`; npm refuses a package whose content differs.
#![expect(clippy::print_stdout, reason = "xtask talks to people")]

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::client::process::{find_marked, finish_process, kill_all};
use crate::proof;

const USAGE: &str = "usage: cargo xtask hosts [--program PROGRAM]
  --program PROGRAM  the `remora` to serve them (default: cargo builds a release)";

/// What the compiler needs beside its packages.
const TYPESCRIPT_FILES: [&str; 4] = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "host.ts",
];
/// What a project consists of before a host has worked in it.
const PROJECT_FILES: [&str; 2] = [".claude/settings.json", "tests.sh"];
/// Set for hosts, so that what they leave behind is found.
const MARK_VARIABLE: &str = "REMORA_HOST_TRIAL";

/// Runs the stage.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let program = match args {
        [] => proof::build_program()?,
        [flag, program] if flag == "--program" => std::path::absolute(program)?,
        _ => bail!("unknown arguments\n\n{USAGE}"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask has no parent")?;
    let hosts = root.join("examples").join("hosts");
    let work = tempfile::tempdir()?;
    let python = hosts.join("python").join("host.py");
    let typescript = compile_typescript(&hosts.join("typescript"), work.path())?;
    for (interpreter, host) in [("python3", python), ("node", typescript)] {
        let mark = work.path().join(interpreter);
        let played = play_host(interpreter, &host, &hosts, &mark, &program);
        let left = find_marked(&format!("{MARK_VARIABLE}={}", mark.display()));
        kill_all(&left);
        let transcript = played.with_context(|| format!("the host of {interpreter}"))?;
        let expected = fs::read_to_string(hosts.join("transcript.txt"))?;
        compare(&expected, &transcript).with_context(|| format!("the host of {interpreter}"))?;
        ensure!(
            left.is_empty(),
            "the host of {interpreter} left processes behind: {left:?}"
        );
        println!(
            "{interpreter}: {} lines as expected",
            expected.lines().count()
        );
    }
    Ok(())
}

/// Checks the types and makes JavaScript of them, in a copy: the tree stays as it is.
fn compile_typescript(source: &Path, work: &Path) -> Result<PathBuf> {
    let folder = work.join("typescript");
    fs::create_dir(&folder)?;
    for file in TYPESCRIPT_FILES {
        let from = source.join(file);
        fs::copy(&from, folder.join(file)).with_context(|| format!("{}", from.display()))?;
    }
    let mut npm = Command::new("npm");
    npm.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    run_tool(npm, &folder)?;
    let mut compiler = Command::new("node");
    compiler.arg("node_modules/typescript/bin/tsc");
    run_tool(compiler, &folder)?;
    Ok(folder.join("build").join("host.js"))
}

fn run_tool(mut tool: Command, folder: &Path) -> Result<()> {
    tool.current_dir(folder).process_group(0);
    let name = tool.get_program().to_string_lossy().into_owned();
    let done = finish_process(tool, None)?;
    ensure!(
        done.status.success(),
        "{name} failed ({}):\n{}{}",
        done.status,
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    Ok(())
}

/// What the host printed, and the events that its hooks noted in a file.
fn play_host(
    interpreter: &str,
    host: &Path,
    hosts: &Path,
    home: &Path,
    program: &Path,
) -> Result<String> {
    let project = home.join("project");
    fs::create_dir_all(project.join(".claude"))?;
    for file in PROJECT_FILES {
        fs::copy(hosts.join("project").join(file), project.join(file))?;
    }
    let mut command = Command::new(interpreter);
    command
        .arg(host)
        .arg(&project)
        .arg(hosts.join("script.json"))
        .env("HOME", home)
        .env("REMORA", program)
        .env(MARK_VARIABLE, home)
        .env_remove("CLAUDE_CONFIG_DIR")
        .current_dir(home)
        .process_group(0);
    let done = finish_process(command, None)?;
    let stderr = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{}:\n{stderr}", done.status);
    let printed = String::from_utf8(done.stdout).context("it printed no text")?;
    let noted = fs::read_to_string(project.join("events.txt")).unwrap_or_default();
    Ok(printed + &noted)
}

/// The first line that differs says more than two texts.
fn compare(expected: &str, found: &str) -> Result<()> {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    for number in 1.. {
        match (expected.next(), found.next()) {
            (None, None) => break,
            (expected, found) => ensure!(
                expected == found,
                "line {number} of its transcript is {found:?}, not {expected:?}"
            ),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_that_differs_or_ends_early_is_a_fault() {
        assert!(compare("a\nb\n", "a\nb\n").is_ok());
        for found in ["a\nc\n", "a\n", "a\nb\nc\n"] {
            let fault = compare("a\nb\n", found).unwrap_err().to_string();
            assert!(fault.starts_with("line "), "{fault}");
        }
    }
}
