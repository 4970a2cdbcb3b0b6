//! Processes of a case: waited for with a deadline, and none left behind.
//!
//! Only processes that this stage started are ever signalled: by the group it made, or by the
//! case's own folder in their environment.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

const PROCESS_TIMEOUT: Duration = Duration::from_mins(1);

/// Waits for a process until the deadline, then ends its group.
pub(crate) fn finish_process(mut command: Command, input: Option<&str>) -> Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let id = child.id();
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        let _ = stdin.write_all(input.as_bytes()); // one that does not read is judged by its answer
    }
    let (send, receive) = mpsc::channel();
    let waiting = thread::spawn(move || drop(send.send(child.wait_with_output())));
    let output = receive.recv_timeout(PROCESS_TIMEOUT);
    if output.is_err() {
        send_signal(&format!("-{id}"));
        let _ = receive.recv_timeout(Duration::from_secs(5));
        bail!("{name} did not end within {} s", PROCESS_TIMEOUT.as_secs());
    }
    let _ = waiting.join();
    output
        .context("no output")?
        .with_context(|| format!("cannot read from {name}"))
}

/// Processes that carry this case's folder in their environment, found where `/proc` exists.
pub(super) fn find_leftovers(root: &Path) -> Vec<u32> {
    find_marked(&format!("STUB_LOG={}/", root.display()))
}

/// Processes with a variable that begins with `mark`, `NAME=` included.
pub(crate) fn find_marked(mark: &str) -> Vec<u32> {
    let list = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = list.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    ids.filter(|id| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry.starts_with(mark.as_bytes()))
    })
    .collect()
}

/// Ends processes that a case started.
pub(crate) fn kill_all(ids: &[u32]) {
    for id in ids {
        send_signal(&id.to_string());
    }
}

fn send_signal(target: &str) {
    let _ = Command::new("kill")
        .args(["-KILL", "--", target])
        .stderr(Stdio::null())
        .status();
}
