//! The engine under test, as a program: asked once a case, bounded in time and
//! in what it may print, ended with everything it started.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::EngineRequest;

/// How long an engine may take for one case. Handlers of the recording wait for
/// a few seconds at most.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer that is read.
const MAX_ANSWER_BYTES: u64 = 16 << 20;
/// How much of what an engine printed is shown.
const MAX_SHOWN_CHARS: usize = 300;

/// Asks the engine; the error says what it did instead of answering.
pub(super) fn ask_engine(engine: &str, request: &EngineRequest) -> Result<Value, String> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", engine])
        .current_dir(&request.project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|error| format!("the engine cannot be started: {error}"))?;
    let bytes = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // An engine may answer without having read everything.
        thread::spawn(move || stdin.write_all(&bytes));
    }
    let (send, receive) = mpsc::channel();
    for (name, stream) in [
        (
            "stdout",
            child.stdout.take().map(Box::new).map(|s| s as Stream),
        ),
        (
            "stderr",
            child.stderr.take().map(Box::new).map(|s| s as Stream),
        ),
    ] {
        let send = send.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stream) = stream {
                let _ = stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes);
            }
            let _ = send.send((name, bytes));
        });
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match receive.recv_timeout(ENGINE_TIMEOUT) {
            Ok(("stdout", bytes)) => stdout = bytes,
            Ok((_, bytes)) => stderr = bytes,
            Err(_) => {
                end_group(&mut child);
                let seconds = ENGINE_TIMEOUT.as_secs();
                return Err(format!("the engine did not answer within {seconds} s"));
            }
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    serde_json::from_slice(&stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&stderr);
        let said: String = said.trim().chars().take(MAX_SHOWN_CHARS).collect();
        format!("the engine printed no JSON ({error}; {status}): {said}")
    })
}

type Stream = Box<dyn std::io::Read + Send>;

/// Ends the engine and whatever it started.
fn end_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
    let _ = child.kill();
    let _ = child.wait();
}
