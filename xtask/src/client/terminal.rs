//! The client in a terminal: a tmux server of its own on a socket in the case's folder, keys and
//! screen.
//!
//! It waits for what the screen shows, never for a time. The server is ended by its id when this
//! goes; no other server is ever spoken to.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::memory::format_output;
use super::process::{finish_process, kill_all};

/// The longest that anything may take to be shown.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(40);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const TMUX_SESSION: &str = "house";

/// The case in which a terminal runs.
pub(super) trait TerminalHost {
    /// Where the socket is. Its path must be short; the folders of cases are not.
    fn socket(&self) -> PathBuf;
    /// A process with the case's environment.
    fn build_terminal_command(&self, program: &Path, folder: &Path) -> Command;
    /// Processes that the case started.
    fn list_own_processes(&self) -> Vec<u32>;
}

/// A running terminal.
pub(super) struct Terminal<'a> {
    host: &'a dyn TerminalHost,
    folder: PathBuf,
    server: u32,
}

impl<'a> Terminal<'a> {
    /// Starts the client in a folder; `prepare` says whom it talks to.
    pub(super) fn start(
        host: &'a dyn TerminalHost,
        folder: PathBuf,
        client: &Path,
        args: &[String],
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let mut terminal = Self {
            host,
            folder,
            server: 0,
        };
        let mut command = terminal.tmux_command();
        prepare(&mut command);
        command.env("TERM", "xterm-256color");
        command.args(["-f", "/dev/null", "new-session", "-d", "-s", TMUX_SESSION]);
        command.args(["-x", "150", "-y", "50", "--"]);
        command.arg(client).args(args);
        let output = finish_process(command, None)?;
        ensure!(output.status.success(), "tmux: {}", format_output(&output));
        let id = terminal.run_tmux(&["display-message", "-p", "#{pid}"])?;
        terminal.server = id.trim().parse().context("tmux does not print its id")?;
        Ok(terminal)
    }

    fn tmux_command(&self) -> Command {
        let mut command = self
            .host
            .build_terminal_command("tmux".as_ref(), &self.folder);
        command.arg("-S").arg(self.host.socket());
        command
    }

    fn run_tmux(&self, args: &[&str]) -> Result<String> {
        let mut command = self.tmux_command();
        command.args(args);
        let output = finish_process(command, None)?;
        ensure!(output.status.success(), "tmux: {}", format_output(&output));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What is on the screen, without blank lines.
    pub(super) fn read_screen(&self) -> Result<String> {
        let shown = self.run_tmux(&["capture-pane", "-p", "-t", TMUX_SESSION])?;
        let lines = shown.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Waits until the screen is as wanted, and gives it.
    pub(super) fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let end = Instant::now() + SCREEN_TIMEOUT;
        loop {
            let screen = self.read_screen()?;
            if wanted(&screen) {
                return Ok(screen);
            }
            if Instant::now() > end {
                bail!("the terminal does not show {what}:\n{screen}");
            }
            thread::park_timeout(POLL_INTERVAL);
        }
    }

    /// Types a line, waits until the screen shows it, and sends it.
    pub(super) fn type_line(&self, line: &str) -> Result<()> {
        self.run_tmux(&["send-keys", "-t", TMUX_SESSION, "-l", line])?;
        self.wait(&format!("`{line}` as it was typed"), |screen| {
            screen.contains(line)
        })?;
        self.run_tmux(&["send-keys", "-t", TMUX_SESSION, "Enter"])
            .map(drop)
    }

    /// Presses one key, as tmux names it.
    pub(super) fn press_key(&self, key: &str) -> Result<()> {
        self.run_tmux(&["send-keys", "-t", TMUX_SESSION, key])
            .map(drop)
    }

    /// Takes the terminal away from the client, as a user who closes the window.
    pub(super) fn hang_up(&self) -> Result<()> {
        self.run_tmux(&["kill-session", "-t", TMUX_SESSION])
            .map(drop)
    }

    /// Waits until the client has left, and the server with it.
    pub(super) fn wait_until_ended(&self) -> Result<()> {
        let end = Instant::now() + SCREEN_TIMEOUT;
        while self.run_tmux(&["has-session", "-t", TMUX_SESSION]).is_ok() {
            if Instant::now() > end {
                bail!("the client does not leave:\n{}", self.read_screen()?);
            }
            thread::park_timeout(POLL_INTERVAL);
        }
        Ok(())
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if self.server != 0 && self.host.list_own_processes().contains(&self.server) {
            kill_all(&[self.server]);
        }
    }
}
