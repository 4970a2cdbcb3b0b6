//! The client in a terminal: a tmux server of its own on a socket in the house, keys and screen.
//!
//! It waits for what the screen shows, never for a time. The server is ended by its id when this
//! goes; no other server is ever spoken to.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::house::{House, said};
use crate::client::api::Model;
use crate::client::process::{finish, kill_all};

/// The longest that anything may take to be shown.
const PATIENCE: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(100);
const SESSION: &str = "house";

/// A running terminal.
pub(super) struct Terminal<'a> {
    house: &'a House,
    socket: PathBuf,
    server: u32,
}

impl<'a> Terminal<'a> {
    /// Starts the client in a project, for this model.
    pub(super) fn start(house: &'a House, project: &str, model: &Model) -> Result<Self> {
        // A socket's path must be short; the folders of cases are not.
        let socket = house.path("t");
        let mut terminal = Self {
            house,
            socket,
            server: 0,
        };
        let mut command = terminal.tmux(project);
        model.point(&mut command);
        command.env("TERM", "xterm-256color");
        command.args(["-f", "/dev/null", "new-session", "-d", "-s", SESSION]);
        command.args(["-x", "150", "-y", "50"]).arg(&house.client);
        let output = finish(command, None)?;
        ensure!(output.status.success(), "tmux: {}", said(&output));
        let id = terminal.ask(&["display-message", "-p", "#{pid}"])?;
        terminal.server = id.trim().parse().context("tmux does not tell its id")?;
        Ok(terminal)
    }

    fn tmux(&self, project: &str) -> std::process::Command {
        let folder = self.house.path(project);
        let mut command = self.house.command("tmux".as_ref(), &folder);
        command.arg("-S").arg(&self.socket);
        command
    }

    fn ask(&self, args: &[&str]) -> Result<String> {
        let mut command = self.tmux("home");
        command.args(args);
        let output = finish(command, None)?;
        ensure!(output.status.success(), "tmux: {}", said(&output));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What is on the screen, without blank lines.
    pub(super) fn screen(&self) -> Result<String> {
        let shown = self.ask(&["capture-pane", "-p", "-t", SESSION])?;
        let lines = shown.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Waits until the screen is as wanted, and gives it.
    pub(super) fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen()?;
            if wanted(&screen) {
                return Ok(screen);
            }
            if Instant::now() > end {
                bail!("the terminal does not show {what}:\n{screen}");
            }
            thread::park_timeout(LOOK);
        }
    }

    /// Types a line, waits until it stands there, and sends it.
    pub(super) fn say(&self, line: &str) -> Result<()> {
        self.ask(&["send-keys", "-t", SESSION, "-l", line])?;
        self.wait(&format!("`{line}` as it was typed"), |screen| {
            screen.contains(line)
        })?;
        self.ask(&["send-keys", "-t", SESSION, "Enter"]).map(drop)
    }

    /// Waits until the client has left, and the server with it.
    pub(super) fn ended(&self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while self.ask(&["has-session", "-t", SESSION]).is_ok() {
            if Instant::now() > end {
                bail!("the client does not leave:\n{}", self.screen()?);
            }
            thread::park_timeout(LOOK);
        }
        Ok(())
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if self.server != 0 && self.house.processes().contains(&self.server) {
            kill_all(&[self.server]);
        }
    }
}
