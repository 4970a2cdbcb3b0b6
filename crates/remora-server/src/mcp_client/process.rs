//! A server as a child process: a group of its own, ended with everything that it
//! started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;

use super::config::ServerCommand;
use super::{END_TIMEOUT, MAX_REPLY_BYTES};

/// How often an ending server is looked at.
const EXIT_INTERVAL: Duration = Duration::from_millis(5);

/// Groups of servers that run now.
static GROUPS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Ends all servers, for a host that is about to end itself.
pub fn end_all_servers() {
    for group in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        kill_group(*group);
    }
}

fn kill_group(group: i32) {
    if let Some(pid) = Pid::from_raw(group) {
        // It may have ended just now.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// A server that was started. Dropping it ends its group.
#[derive(Debug)]
pub(super) struct ServerProcess(Child);

impl ServerProcess {
    fn group(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap_or(0)
    }

    /// Asks without reaping, so that its group can still be ended.
    pub(super) fn has_exited(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.group()) else {
            return true;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let deadline = Instant::now() + END_TIMEOUT;
        while !self.has_exited() && Instant::now() < deadline {
            // A child's end cannot be waited for with a deadline everywhere.
            std::thread::park_timeout(EXIT_INTERVAL);
        }
        let group = self.group();
        kill_group(group);
        let _ = self.0.wait();
        GROUPS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|g| *g != group);
    }
}

/// Starts a server. Must be called inside the runtime.
pub(super) fn start(
    server: &ServerCommand,
) -> io::Result<(ServerProcess, pipe::Receiver, pipe::Sender)> {
    let mut command = Command::new(&server.program);
    command
        .args(&server.args)
        .env_clear()
        .envs(server.environment.iter().map(|(k, v)| (k, v)))
        .current_dir(&server.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // A log for people, and nobody reads it here.
        .stderr(Stdio::null())
        .process_group(0);
    let mut process = {
        // Held while it starts, so that a host that ends finds it.
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let process = ServerProcess(command.spawn()?);
        groups.push(process.group());
        process
    };
    let gone = || io::Error::other("its pipes are gone");
    let stdin: OwnedFd = process.0.stdin.take().ok_or_else(gone)?.into();
    let stdout: OwnedFd = process.0.stdout.take().ok_or_else(gone)?.into();
    let writer = pipe::Sender::from_owned_fd(stdin)?;
    let reader = pipe::Receiver::from_owned_fd(stdout)?;
    Ok((process, reader, writer))
}

/// Reads lines of bounded length: a server that never ends one is cut off.
pub(super) struct BoundedLines {
    reader: pipe::Receiver,
    /// Bytes since the last line break.
    length: usize,
}

impl BoundedLines {
    pub(super) fn new(reader: pipe::Receiver) -> Self {
        Self { reader, length: 0 }
    }
}

impl AsyncRead for BoundedLines {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        self.length = match read.iter().rposition(|b| *b == b'\n') {
            Some(at) => read.len() - at - 1,
            None => self.length + read.len(),
        };
        if self.length > 2 * MAX_REPLY_BYTES {
            return Poll::Ready(Err(io::Error::other("its answer is too long")));
        }
        polled
    }
}
