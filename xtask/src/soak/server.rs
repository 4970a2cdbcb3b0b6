//! `remora hooks serve` as a host sees it: requests out, messages in.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// A server and its pipes.
pub(super) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    requests: u64,
}

impl Server {
    /// Starts one that looks for settings in `home`.
    pub(super) fn start(program: &Path, home: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["hooks", "serve"])
            .env("HOME", home)
            .env("TMPDIR", home)
            .env_remove("CLAUDE_CONFIG_DIR")
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("the server has no stdout")?;
        Ok(Self {
            child,
            stdin,
            lines: BufReader::new(stdout).lines(),
            requests: 0,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request; its id comes back with the answer.
    pub(super) fn send(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.requests += 1;
        let id = self.requests;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let stdin = self.stdin.as_mut().context("the server was hung up on")?;
        stdin.write_all(format!("{request}\n").as_bytes())?;
        Ok(id)
    }

    /// The next message, whatever it is.
    pub(super) fn read(&mut self) -> Result<Value> {
        let line = self.lines.next().context("the server is gone")??;
        let message: Value = serde_json::from_str(&line)?;
        ensure!(message.get("error").is_none(), "the server says {message}");
        Ok(message)
    }

    /// A session of the project.
    pub(super) fn open(&mut self, project: &Path) -> Result<String> {
        let managed = project.join("managed");
        let params = json!({"project": project, "managed": managed, "trusted": true,
            "attendance": "streaming"});
        let id = self.send("open", &params)?;
        loop {
            let message = self.read()?;
            if message["id"] == id {
                let name = message["result"]["session"].as_str();
                return Ok(name.context("`open` names no session")?.to_owned());
            }
        }
    }

    /// Ends its input and waits for its own end.
    pub(super) fn hang_up(mut self) -> Result<()> {
        self.stdin = None;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ended already, unless the trial failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
