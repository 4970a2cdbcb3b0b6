//! What an agent is besides its hooks: a model, tools and a user. Here a script plays the
//! model and the user; an agent of your own puts its own in.

use std::collections::VecDeque;
use std::process::Command;
use std::time::Duration;

use remora_hooks::Session;
use serde::Deserialize;
use serde_json::{Value, json};

/// How long the tool `Wait` waits.
const WAIT_LIMIT: Duration = Duration::from_mins(1);

/// One answer of the model: a text, and the calls that it makes.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Reply {
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
    /// The model cannot be reached.
    fails: Option<String>,
}

/// One call of a tool.
#[derive(Debug, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) input: Value,
}

/// The agent's own side.
pub(crate) trait World {
    /// Adds a message to the conversation that the model reads.
    fn add(&mut self, role: &str, text: &str);
    /// Asks the model with the conversation as it is.
    fn ask_model(&mut self) -> Result<Reply, String>;
    /// Makes a call. `prelude` goes in front of shell commands.
    fn call_tool(&mut self, tool: &str, input: &Value, prelude: &str) -> Result<Value, String>;
    /// Shows the user something.
    fn show(&mut self, kind: &str, text: &str);
    /// Asks the user whether a call may be made.
    fn ask_user(&mut self, question: &str) -> bool;
}

/// What the model and the user say, in order.
#[derive(Debug, Deserialize)]
pub(crate) struct Script {
    pub(crate) prompts: Vec<String>,
    replies: VecDeque<Reply>,
    permissions: VecDeque<bool>,
}

/// A world by a script. It notes what the model reads and the user sees.
pub(crate) struct ScriptedWorld<'a> {
    pub(crate) script: Script,
    pub(crate) session: &'a Session,
    pub(crate) cwd: std::path::PathBuf,
    pub(crate) transcript: Vec<String>,
}

impl ScriptedWorld<'_> {
    fn note(&mut self, mark: &str, text: &str) {
        let text = text.trim_end().replace('\n', "\n    ");
        self.transcript.push(format!("{mark}: {text}\n"));
    }
}

impl World for ScriptedWorld<'_> {
    fn add(&mut self, role: &str, text: &str) {
        self.note(role, text);
    }

    fn ask_model(&mut self) -> Result<Reply, String> {
        let reply = self
            .script
            .replies
            .pop_front()
            .ok_or("the script is over")?;
        match reply.fails {
            Some(error) => Err(error),
            None => Ok(reply),
        }
    }

    fn call_tool(&mut self, tool: &str, input: &Value, prelude: &str) -> Result<Value, String> {
        if tool == "Wait" {
            self.session.wait_for_notice(WAIT_LIMIT);
            self.session.tick();
            return Ok(json!({"stdout": "a hook in the background has ended"}));
        }
        let command = input["command"].as_str().unwrap_or_default();
        let made = Command::new("sh")
            .args(["-c", &format!("{prelude}\n{command}")])
            .current_dir(&self.cwd)
            .output()
            .map_err(|error| error.to_string())?;
        let [stdout, stderr] =
            [made.stdout, made.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
        match made.status.code() {
            Some(0) => Ok(
                json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false}),
            ),
            code => Err(format!(
                "Exit code {}\n{stdout}{stderr}",
                code.unwrap_or(-1)
            )),
        }
    }

    fn show(&mut self, kind: &str, text: &str) {
        self.note(&format!("[{kind}]"), text);
    }

    fn ask_user(&mut self, question: &str) -> bool {
        let allowed = self.script.permissions.pop_front().unwrap_or_default();
        let answer = if allowed { "yes" } else { "no" };
        self.note("[question]", &format!("{question} {answer}"));
        allowed
    }
}
