//! The client in a terminal: a tmux server of its own on a socket in the house, keys and screen.
//!
//! It waits for what the screen shows, never for a time. The server is ended by its id when this
//! goes; no other server is ever spoken to.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::house::{ClientSandbox, format_output};
use crate::client::api::ScriptedModel;
use crate::client::process::{finish_process, kill_all};

/// The longest that anything may take to be shown.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(40);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const TMUX_SESSION: &str = "house";

/// A running terminal.
pub(super) struct Terminal<'a> {
    house: &'a ClientSandbox,
    socket: PathBuf,
    server: u32,
}

impl<'a> Terminal<'a> {
    /// Starts the client in a project, for this model.
    pub(super) fn start(
        house: &'a ClientSandbox,
        project: &str,
        model: &ScriptedModel,
    ) -> Result<Self> {
        // A socket's path must be short; the folders of cases are not.
        let socket = house.path("t");
        let mut terminal = Self {
            house,
            socket,
            server: 0,
        };
        let mut command = terminal.tmux_command(project);
        model.point_client(&mut command);
        command.env("TERM", "xterm-256color");
        command.args(["-f", "/dev/null", "new-session", "-d", "-s", TMUX_SESSION]);
        command.args(["-x", "150", "-y", "50"]).arg(&house.client);
        let output = finish_process(command, None)?;
        ensure!(output.status.success(), "tmux: {}", format_output(&output));
        let id = terminal.run_tmux(&["display-message", "-p", "#{pid}"])?;
        terminal.server = id.trim().parse().context("tmux does not print its id")?;
        Ok(terminal)
    }

    fn tmux_command(&self, project: &str) -> std::process::Command {
        let folder = self.house.path(project);
        let mut command = self.house.build_command("tmux".as_ref(), &folder);
        command.arg("-S").arg(&self.socket);
        command
    }

    fn run_tmux(&self, args: &[&str]) -> Result<String> {
        let mut command = self.tmux_command("home");
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
        if self.server != 0 && self.house.list_processes().contains(&self.server) {
            kill_all(&[self.server]);
        }
    }
}
