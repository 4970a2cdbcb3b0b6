//! A child process under a deadline: its own session, the event on stdin,
//! bounded reading, the whole group killed when time is up.
//!
//! One thread serves one child with `poll`; nothing waits on a pipe that a
//! grandchild keeps open.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use serde_json::Value;

use crate::answer::{HandlerOutput, ProcessExit};

mod cancel;
mod children;
mod guard;
mod progress;
mod spawn;

pub use cancel::CancelToken;
pub use children::{end_all as end_all_children, record_children};
pub use guard::guard_children;
use progress::ProgressReporter;
pub(crate) use progress::ProgressSink;
pub(super) use spawn::Spawn;

/// How much of each stream is kept. The child is drained beyond that, because one
/// that blocks on a full pipe would only end at its deadline.
const MAX_KEPT_BYTES: usize = 16 << 20;
/// How much a child may write before it counts as runaway and is ended.
const MAX_STREAM_BYTES: usize = 64 << 20;
/// How often to look for the child's exit where no descriptor reports it.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);

impl Spawn<'_> {
    /// Starts the child; `input` is what it will find on stdin.
    pub(super) fn start(&self, input: &str) -> Result<RunningProcess, String> {
        let number = children::announce_child();
        let mark = number.map(children::ChildNumber::mark);
        let started = spawn::start(self, mark).map_err(|error| {
            children::withdraw_child(number);
            match error.kind() {
                ErrorKind::NotFound => format!("cannot start `{}`: no such program", self.program),
                ErrorKind::PermissionDenied => {
                    format!("cannot start `{}`: it is not executable", self.program)
                }
                _ => format!("cannot start `{}`: {error}", self.program),
            }
        })?;
        // Before anything can fail: from here on a host that ends must find the child.
        children::register_child(started.pid, number);
        let running = RunningProcess {
            pid: started.pid,
            exit: exit_watch(started.pid),
            stdin: Some(File::from(started.stdin)),
            stdout: Stream::new(started.stdout),
            stderr: Stream::new(started.stderr),
            input: input.as_bytes().to_vec(),
            sent: 0,
            first_line_seen: false,
            ended: None,
        };
        for pipe in [&running.stdin, &running.stdout.pipe, &running.stderr.pipe]
            .into_iter()
            .flatten()
        {
            // A pipe that stays blocking could hang the thread past the deadline. Failing here
            // drops `running`, which kills the child.
            rustix::io::ioctl_fionbio(pipe, true)
                .map_err(|e| format!("cannot watch `{}`: {e}", self.program))?;
        }
        Ok(running)
    }
}

#[cfg(target_os = "linux")]
fn exit_watch(pid: Pid) -> Option<OwnedFd> {
    // Safe from pid reuse: the child has not been waited for yet. Old kernels have no
    // pidfd; `poll_pipes` then wakes up by itself.
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_watch(_pid: Pid) -> Option<OwnedFd> {
    None
}

struct Stream {
    pipe: Option<File>,
    bytes: Vec<u8>,
    seen: usize,
}

impl Stream {
    fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: Some(File::from(pipe)),
            bytes: Vec::new(),
            seen: 0,
        }
    }

    /// Reads what is there. Ends at would-block, end of file or `MAX_STREAM_BYTES`.
    fn drain(&mut self) {
        let mut buffer = [0_u8; 16 << 10];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(n) => {
                    self.seen += n;
                    let room = MAX_KEPT_BYTES.saturating_sub(self.bytes.len());
                    self.bytes.extend_from_slice(&buffer[..n.min(room)]);
                    if self.seen > MAX_STREAM_BYTES {
                        return;
                    }
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                // A broken pipe ends this stream only; the exit code still decides.
                Err(_) => self.pipe = None,
            }
        }
    }

    fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A child that was started. Dropping it ends its whole group.
pub(crate) struct RunningProcess {
    pid: Pid,
    exit: Option<OwnedFd>,
    stdin: Option<File>,
    stdout: Stream,
    stderr: Stream,
    input: Vec<u8>,
    sent: usize,
    first_line_seen: bool,
    /// How it ended, once it has been waited for.
    ended: Option<ProcessExit>,
}

/// What ends the wait for a child before its own end, and the child with it; and
/// where its progress goes.
#[derive(Clone, Copy, Default)]
pub(crate) struct WaitLimits<'a> {
    /// `None` waits as long as the child lives.
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel: Option<&'a CancelToken>,
    /// Receives what the child says meanwhile.
    pub(crate) progress: Option<ProgressSink<'a>>,
}

/// How waiting came to its end.
pub(super) enum WaitOutcome {
    Ended(HandlerOutput),
    /// Its first line said `{"async": true}`.
    WentAsync(RunningProcess),
}

impl RunningProcess {
    /// Serves the child until it ends, its time is up, or it goes on its own.
    pub(super) fn wait(mut self, limits: WaitLimits<'_>) -> WaitOutcome {
        let mut progress = limits.progress.map(ProgressReporter::new);
        loop {
            self.feed_stdin();
            if self.says_async() {
                return WaitOutcome::WentAsync(self);
            }
            if self.stdout.seen > MAX_STREAM_BYTES || self.stderr.seen > MAX_STREAM_BYTES {
                self.kill();
                let why = format!(
                    "it wrote more than {} MiB and was ended",
                    MAX_STREAM_BYTES >> 20
                );
                return WaitOutcome::Ended(self.to_output(ProcessExit::Failed(why)));
            }
            match self.reap_child(WaitOptions::NOHANG) {
                // The exit of the child itself ends the wait, not the end of its pipes: a
                // grandchild started with `&` may keep them open for hours.
                Ok(Some(ended)) => {
                    self.stdout.drain();
                    self.stderr.drain();
                    // A short child may print its line and end between two looks.
                    if self.says_async() {
                        return WaitOutcome::WentAsync(self);
                    }
                    return WaitOutcome::Ended(self.to_output(ended));
                }
                Ok(None) => {}
                Err(error) => {
                    self.kill();
                    let why = format!("cannot wait for it: {error}");
                    return WaitOutcome::Ended(self.to_output(ProcessExit::Failed(why)));
                }
            }
            // After the exit was checked: a child that ended in the last instant answered in time.
            if limits.cancel.is_some_and(CancelToken::is_cancelled) {
                self.kill();
                return WaitOutcome::Ended(self.to_output(ProcessExit::Cancelled));
            }
            let left = match limits.deadline {
                None => None,
                Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => Some(left),
                    _ => {
                        self.kill();
                        return WaitOutcome::Ended(self.to_output(ProcessExit::TimedOut));
                    }
                },
            };
            let streams = [&*self.stdout.bytes, &*self.stderr.bytes];
            let due = progress
                .as_mut()
                .and_then(|progress| progress.report(streams, Instant::now()));
            let left = left.into_iter().chain(due).min();
            self.poll_pipes(left, limits.cancel);
            self.stdout.drain();
            self.stderr.drain();
        }
    }

    /// Waits for a child in the background and reads what it said at last.
    pub(crate) fn finish(self, limits: WaitLimits<'_>) -> HandlerOutput {
        let mut running = self;
        // Each async line is removed and the wait goes on: the event is already over, so a
        // second such line changes nothing.
        loop {
            match running.wait(limits) {
                WaitOutcome::Ended(output) => return output,
                WaitOutcome::WentAsync(again) => running = again,
            }
        }
    }

    /// Writes as much of the event as the child takes. A child that does not read,
    /// or closes its stdin early, is no error: it may have no use for the event.
    fn feed_stdin(&mut self) {
        while let Some(pipe) = &mut self.stdin {
            match pipe.write(&self.input[self.sent..]) {
                Ok(0) => self.stdin = None,
                Ok(n) => {
                    self.sent += n;
                    if self.sent == self.input.len() {
                        self.stdin = None;
                    }
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.stdin = None,
            }
        }
    }

    /// Whether its first line is `{"async": true}`. The line is taken away:
    /// it is no part of the answer.
    fn says_async(&mut self) -> bool {
        if self.first_line_seen {
            return false;
        }
        // Only a complete first line counts; half a line may still become anything.
        let Some(end) = self.stdout.bytes.iter().position(|b| *b == b'\n') else {
            return false;
        };
        self.first_line_seen = true;
        let Ok(line) = serde_json::from_slice::<Value>(&self.stdout.bytes[..end]) else {
            return false;
        };
        if line.get("async") != Some(&Value::Bool(true)) {
            return false;
        }
        // `asyncTimeout` is not read: the client does not end the handler by it. What the handler prints later must be one object by itself.
        self.stdout.bytes.drain(..=end);
        true
    }

    /// Its process, which is also its group and its session.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    fn poll_pipes(&self, left: Option<Duration>, cancel: Option<&CancelToken>) {
        let mut fds = Vec::with_capacity(5);
        if let Some(cancel) = cancel {
            fds.push(PollFd::new(cancel.signal(), PollFlags::IN));
        }
        if let Some(pipe) = &self.stdin {
            fds.push(PollFd::new(pipe, PollFlags::OUT));
        }
        if let Some(pipe) = &self.stdout.pipe {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(pipe) = &self.stderr.pipe {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        let left = match &self.exit {
            Some(exit) => {
                fds.push(PollFd::new(exit, PollFlags::IN));
                left
            }
            None => Some(left.map_or(EXIT_POLL_INTERVAL, |left| left.min(EXIT_POLL_INTERVAL))),
        };
        let timeout = left.map(|left| Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        // An interrupted or failed poll only means that we look again.
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// Ends the whole group at once.
    fn kill(&mut self) {
        // Ended by itself: what it left running in its group is meant to go on (`&`), and its
        // pid may belong to another process by now.
        if self.ended.is_some() {
            return;
        }
        // The child has not been waited for, so its pid and group cannot have been reused.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let _ = self.reap_child(WaitOptions::empty());
        children::unregister_child(self.pid);
    }

    /// Waits for the child, once: a second `waitpid` could hit a reused pid.
    fn reap_child(&mut self, options: WaitOptions) -> rustix::io::Result<Option<ProcessExit>> {
        if self.ended.is_none()
            && let Some((_, status)) = waitpid(Some(self.pid), options)?
        {
            self.ended = Some(to_process_exit(status));
            children::unregister_child(self.pid);
        }
        Ok(self.ended.clone())
    }

    fn to_output(&self, ended: ProcessExit) -> HandlerOutput {
        HandlerOutput {
            ended,
            stdout: self.stdout.to_text(),
            stderr: self.stderr.to_text(),
        }
    }
}

fn to_process_exit(status: WaitStatus) -> ProcessExit {
    match status.exit_status() {
        Some(code) => ProcessExit::Exit(code),
        None => ProcessExit::Signal(status.terminating_signal().unwrap_or_default()),
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
