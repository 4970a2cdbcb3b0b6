//! Runs one program under a deadline: a group of its own, bounded reading, the
//! whole group killed when time is up, when it is done, and when we end.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use remora_http::LookupExit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How often a child is asked whether it ended while its pipes are silent.
const EXIT_INTERVAL: Duration = Duration::from_millis(20);
/// How much is kept of what it says on stderr, which only explains a failure.
const MAX_STDERR_BYTES: usize = 8 * 1024;

/// How many pieces of a flood are thrown away before the clock is looked at again.
const MAX_DISCARD_ROUNDS: usize = 64;

/// Groups that run now.
static GROUPS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Ends all programs of this crate, for a host that is about to end itself.
pub fn end_all_children() {
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

/// A program to run.
pub(crate) struct ChildCommand<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) args: &'a [OsString],
    /// Its whole environment.
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) cwd: &'a Path,
    /// What it finds on stdin.
    pub(crate) input: &'a [u8],
    /// The most that it may print.
    pub(crate) max_output_bytes: usize,
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum ChildExit {
    /// By itself; a signal has no code.
    Exited {
        code: Option<i32>,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
    /// At the deadline.
    TimedOut,
    /// It printed too much.
    TooLarge,
    /// It could not be started or watched.
    Failed(io::Error),
}

/// A started program. Dropping it ends its group.
struct RunningChild(Child);

impl RunningChild {
    fn group(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap_or(0)
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        let group = self.group();
        // Reaped already: its number may belong to another process by now.
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            kill_group(group);
            let _ = self.0.wait();
        }
        GROUPS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|g| *g != group);
    }
}

impl ChildCommand<'_> {
    /// Runs it to its end or the deadline; nothing of its group is left then.
    pub(crate) fn run(&self, deadline: Instant) -> ChildExit {
        match self.run_watched(deadline) {
            Ok(exit) => exit,
            Err(error) => ChildExit::Failed(error),
        }
    }

    fn run_watched(&self, deadline: Instant) -> io::Result<ChildExit> {
        let mut command = Command::new(self.program);
        command
            .args(self.args)
            .env_clear()
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .current_dir(self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = {
            // Held while it starts, so that a host that ends finds it.
            let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
            let child = RunningChild(command.spawn()?);
            groups.push(child.group());
            child
        };
        let mut stdin = child.0.stdin.take();
        let mut stdout = Stream::new(child.0.stdout.take());
        let mut stderr = Stream::new(child.0.stderr.take());
        if let Some(pipe) = &stdin {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        stdout.unblock()?;
        stderr.unblock()?;
        let mut sent = 0;
        loop {
            send_input(&mut stdin, self.input, &mut sent);
            stdout.drain(self.max_output_bytes);
            stderr.drain_start(MAX_STDERR_BYTES);
            if stdout.bytes.len() > self.max_output_bytes {
                return Ok(ChildExit::TooLarge);
            }
            if has_exited(&child.0)? {
                // What it printed last may have come after the reading above. What its own
                // children still print does not count, and they end now.
                stdout.drain(self.max_output_bytes);
                stderr.drain_start(MAX_STDERR_BYTES);
                if stdout.bytes.len() > self.max_output_bytes {
                    return Ok(ChildExit::TooLarge);
                }
                kill_group(child.group());
                return Ok(ChildExit::Exited {
                    code: child.0.wait()?.code(),
                    stdout: stdout.bytes,
                    stderr: stderr.bytes,
                });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(ChildExit::TimedOut);
            }
            wait_for_pipes(stdin.as_ref(), &stdout, &stderr, left)?;
        }
    }
}

/// Asks without reaping: until then the number of its group is its own, and the
/// group can be killed.
fn has_exited(child: &Child) -> io::Result<bool> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return Ok(true);
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

/// Writes what the pipe takes; closes it at the end, or when nobody reads.
fn send_input(stdin: &mut Option<std::process::ChildStdin>, input: &[u8], sent: &mut usize) {
    while let Some(pipe) = stdin {
        match pipe.write(&input[*sent..]) {
            Ok(written) if *sent + written < input.len() && written > 0 => *sent += written,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => return,
            _ => *stdin = None,
        }
    }
}

fn wait_for_pipes(
    stdin: Option<&std::process::ChildStdin>,
    stdout: &Stream<std::process::ChildStdout>,
    stderr: &Stream<std::process::ChildStderr>,
    left: Duration,
) -> io::Result<()> {
    let mut watched = Vec::with_capacity(3);
    if let Some(pipe) = stdin {
        watched.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::OUT));
    }
    if let Some(pipe) = &stdout.pipe {
        watched.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    }
    if let Some(pipe) = &stderr.pipe {
        watched.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    }
    let wait = Timespec::try_from(left.min(EXIT_INTERVAL)).unwrap_or_default();
    match poll(&mut watched, Some(&wait)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

struct Stream<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
}

impl<P: Read + AsFd> Stream<P> {
    fn new(pipe: Option<P>) -> Self {
        Self {
            pipe,
            bytes: Vec::new(),
        }
    }

    fn unblock(&self) -> io::Result<()> {
        if let Some(pipe) = &self.pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(())
    }

    /// Reads what is there, at most a little beyond `max_bytes`.
    fn drain(&mut self, max_bytes: usize) {
        let mut buffer = [0_u8; 16 << 10];
        while let Some(pipe) = &mut self.pipe
            && self.bytes.len() <= max_bytes
        {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(n) => self.bytes.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    /// The same, throwing away what is beyond the bound.
    fn drain_start(&mut self, max_bytes: usize) {
        self.drain(max_bytes);
        for _ in 0..MAX_DISCARD_ROUNDS {
            if self.bytes.len() <= max_bytes {
                return;
            }
            self.bytes.truncate(max_bytes);
            self.drain(max_bytes);
        }
        self.bytes.truncate(max_bytes);
    }
}

/// Looks a name up for `remora-http`.
pub fn run_lookup(program: &str, args: &[String], deadline: Instant) -> LookupExit {
    let args: Vec<OsString> = args.iter().map(Into::into).collect();
    let command = ChildCommand {
        program: program.as_ref(),
        args: &args,
        environment: &[],
        cwd: Path::new("/"),
        input: &[],
        max_output_bytes: 1 << 20,
    };
    match command.run(deadline) {
        ChildExit::Exited {
            code: Some(code),
            stdout,
            ..
        } => LookupExit::Exited(code, String::from_utf8_lossy(&stdout).into_owned()),
        ChildExit::TimedOut => LookupExit::TimedOut,
        other => LookupExit::Failed(format!("{other:?}")),
    }
}
