//! Runs the agent's own program, which alone may write its own book: found on
//! the PATH, bounded in time, with our hooks switched off.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::environment::Environment;

/// How long it may run.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(20);
/// How often it is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// More of what it says is not kept.
const MAX_OUTPUT_BYTES: u64 = 4096;

/// The program of this name on the PATH.
pub(super) fn find_program(environment: &Environment, name: &str) -> Option<PathBuf> {
    find_all(environment, name).into_iter().next()
}

/// All programs of this name on the PATH, in its order.
pub(super) fn find_all(environment: &Environment, name: &str) -> Vec<PathBuf> {
    let names: &[String] = &if cfg!(windows) {
        vec![format!("{name}.exe"), format!("{name}.cmd")]
    } else {
        vec![name.to_owned()]
    };
    let path = environment.get("PATH").cloned().unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .filter(|file| is_program(file))
        .collect()
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Runs it to its end; says what it said if it failed.
pub(super) fn run_program(program: &Path, args: &[OsString]) -> Result<(), String> {
    let mut command = Command::new(program);
    command
        .args(args)
        .env("REMORA_OFF", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let said = [
        child.stderr.take().map(collect_output),
        child.stdout.take().map(collect_output),
    ];
    let deadline = Instant::now() + CLIENT_TIMEOUT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::park_timeout(POLL_INTERVAL),
            Ok(None) => {
                kill_child(&mut child);
                return Err(format!("no end after {} seconds", CLIENT_TIMEOUT.as_secs()));
            }
            Err(e) => return Err(e.to_string()),
        }
    };
    if status.success() {
        return Ok(());
    }
    // What it left behind may still hold the pipe; that is not waited for.
    let said = said.into_iter().flatten();
    let said = said.filter_map(|said| said.recv_timeout(Duration::from_secs(1)).ok());
    let said = said.map(|said| said.trim().to_owned());
    let said = said.into_iter().find(|said| !said.is_empty());
    Err(said.unwrap_or_else(|| status.to_string()))
}

fn kill_child(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn collect_output(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stream = stream.take(MAX_OUTPUT_BYTES);
        let _ = stream.read_to_end(&mut bytes);
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
        // The rest is read and dropped, so that the writer never blocks on us.
        let _ = std::io::copy(&mut stream.into_inner(), &mut std::io::sink());
    });
    receive
}
