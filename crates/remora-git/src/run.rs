//! Runs one git process: a clean environment, a group of its own, an end to
//! its time, its memory and what is read of it.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::Git;

/// The most that is read of one answer.
const MAX_OUTPUT_BYTES: u64 = 256 * 1024 * 1024;
/// The longest record that is handed over; a longer one comes cut.
const MAX_RECORD_BYTES: usize = 64 * 1024;
/// What git may allocate. Packs are mapped, which does not count.
#[cfg(target_os = "linux")]
const MAX_HEAP_BYTES: u64 = 1024 * 1024 * 1024;
/// How often a wait looks whether it was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);
/// How often a process that has closed its output is asked whether it ended.
const EXIT_INTERVAL: Duration = Duration::from_millis(1);

/// The whole environment of git, and of whatever it would start.
const GIT_ENVIRONMENT: &[(&str, &str)] = &[
    ("PATH", "/usr/bin:/bin"),
    // Not unset: an include of `~/..` would then be fatal.
    ("HOME", "/dev/null"),
    ("XDG_CONFIG_HOME", "/dev/null"),
    ("LC_ALL", "C"),
    // Whatever git starts must not be captured.
    ("REMORA_OFF", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_EDITOR", "false"),
    // A partial clone would fetch missing objects over the network.
    ("GIT_NO_LAZY_FETCH", "1"),
    // Refs of the repository could show other commits than those that were
    // made.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A query must not write the index while the user works.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "false"),
];

/// Said on every command line, above any file.
const GIT_SETTINGS: &[&str] = &[
    "core.attributesFile=/dev/null",
    // Larger files are compared, but never taken apart in memory.
    "core.bigFileThreshold=8m",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "diff.submodule=short",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// How an answer is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFormat {
    /// Lines.
    Lines,
    /// Records that end with a zero byte.
    Zero,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitOutcome {
    /// Git has said everything.
    Complete,
    /// The caller had enough.
    Enough,
    /// Time or output was used up; what came before is true.
    Cut,
    /// The caller gave up.
    Cancelled,
    /// Git failed, or there is none.
    Failed,
}

/// Ends questions from another thread.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Ends the question that runs, and all later ones.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One run of git: a question and its limits.
#[derive(Debug)]
pub(crate) struct GitInvocation<'a> {
    pub(crate) git: &'a Git,
    pub(crate) cancel: &'a CancelToken,
    pub(crate) folder: &'a Path,
    /// Beyond [`GIT_ENVIRONMENT`]: where the repository is.
    pub(crate) variables: &'a [(&'a str, &'a Path)],
    pub(crate) arguments: &'a [&'a str],
    pub(crate) stdin: Option<File>,
}

/// A process that does not outlive its question.
struct GitProcess(Child);

impl Drop for GitProcess {
    fn drop(&mut self) {
        // Reaped already: its number may belong to another process by now.
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // It may have ended just now.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

impl GitInvocation<'_> {
    /// Runs git and hands over its records.
    pub(crate) fn run(
        self,
        records: RecordFormat,
        mut on_record: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> GitOutcome {
        // One limit for start, output and exit together.
        let deadline = Instant::now() + self.git.limit;
        let cancel = self.cancel;
        if cancel.is_cancelled() {
            return GitOutcome::Cancelled;
        }
        let Some(mut child) = self.start() else {
            return GitOutcome::Failed;
        };
        let Some(stdout) = child.0.stdout.take() else {
            return GitOutcome::Failed;
        };
        let mut splitter = RecordSplitter::new(records);
        let mut reader = stdout.take(MAX_OUTPUT_BYTES);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match wait_readable(reader.get_ref(), cancel, deadline) {
                Ok(WaitResult::Ready) => {}
                Ok(WaitResult::Cancelled) => return GitOutcome::Cancelled,
                Ok(WaitResult::Late) => return GitOutcome::Cut,
                Err(_) => return GitOutcome::Failed,
            }
            match reader.read(&mut buffer) {
                // Our own limit looks like the end of the output.
                Ok(0) if reader.limit() == 0 => return GitOutcome::Cut,
                Ok(0) => break,
                Ok(count) => {
                    if splitter
                        .feed_bytes(&buffer[..count], &mut on_record)
                        .is_break()
                    {
                        return GitOutcome::Enough;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return GitOutcome::Failed,
            }
        }
        // It has closed its output and is about to end.
        loop {
            match child.0.try_wait() {
                Ok(Some(status)) if status.success() => {
                    return match splitter.finish(&mut on_record) {
                        ControlFlow::Continue(()) => GitOutcome::Complete,
                        ControlFlow::Break(()) => GitOutcome::Enough,
                    };
                }
                Ok(None) if Instant::now() < deadline => thread::park_timeout(EXIT_INTERVAL),
                Ok(None) => return GitOutcome::Cut,
                _ => return GitOutcome::Failed,
            }
        }
    }

    fn start(self) -> Option<GitProcess> {
        let mut command = Command::new(self.git.program.as_ref()?);
        command.env_clear().envs(GIT_ENVIRONMENT.iter().copied());
        command.envs(self.variables.iter().copied());
        command.args(["--no-pager", "--no-optional-locks"]);
        for setting in GIT_SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .args(self.arguments)
            .current_dir(self.folder)
            .stdin(self.stdin.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // What it starts is ended with it.
            .process_group(0);
        let child = GitProcess(command.spawn().ok()?);
        limit_memory(&child.0);
        Some(child)
    }
}

/// A repository of a few kilobytes can unpack to gigabytes.
#[cfg(target_os = "linux")]
fn limit_memory(child: &Child) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = Rlimit {
        current: Some(MAX_HEAP_BYTES),
        maximum: Some(MAX_HEAP_BYTES),
    };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Refused where limits are lower already.
    let _ = pid.map(|pid| prlimit(Some(pid), Resource::Data, limit));
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: &Child) {}

enum WaitResult {
    Ready,
    Cancelled,
    Late,
}

fn wait_readable(
    stdout: &impl std::os::fd::AsFd,
    cancel: &CancelToken,
    deadline: Instant,
) -> io::Result<WaitResult> {
    loop {
        if cancel.is_cancelled() {
            return Ok(WaitResult::Cancelled);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(WaitResult::Late);
        }
        let timeout = Timespec::try_from(left.min(CANCEL_INTERVAL)).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(stdout, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(WaitResult::Ready),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Divides bytes as they come into records.
struct RecordSplitter {
    end: u8,
    record: Vec<u8>,
}

impl RecordSplitter {
    fn new(records: RecordFormat) -> Self {
        let end = match records {
            RecordFormat::Lines => b'\n',
            RecordFormat::Zero => 0,
        };
        Self {
            end,
            record: Vec::new(),
        }
    }

    fn feed_bytes(
        &mut self,
        mut bytes: &[u8],
        on_record: &mut impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(at) = bytes.iter().position(|byte| *byte == self.end) {
            self.push(&bytes[..at]);
            on_record(&self.record)?;
            self.record.clear();
            bytes = &bytes[at + 1..];
        }
        self.push(bytes);
        ControlFlow::Continue(())
    }

    fn push(&mut self, bytes: &[u8]) {
        // Cut, not refused: of a long message or path the beginning still
        // counts.
        let room = MAX_RECORD_BYTES.saturating_sub(self.record.len());
        self.record
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// A last line may lack its end; a record that ends in zero may not.
    fn finish(&mut self, on_record: &mut impl FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.end == b'\n' && !self.record.is_empty() {
            on_record(&self.record)?;
        }
        ControlFlow::Continue(())
    }
}
