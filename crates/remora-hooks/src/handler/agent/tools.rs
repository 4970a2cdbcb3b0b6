//! What a verifier may do: read and search files of the project, and run commands
//! where the host allows it. Everything is bounded.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use remora_core::model::ModelTool;
use remora_core::text::truncate_bytes;
use serde_json::{Value, json};

use super::super::HandlerCall;
use super::super::command::{build_environment, working_directory};
use super::super::process::{Spawn, WaitLimits};
use super::files::ReadableArea;
use crate::answer::ProcessExit;
use crate::host::VerifierShell;
use crate::names::VERDICT_TOOL;
use crate::permissions::PermissionMode;

/// The longest result of one call.
const MAX_RESULT_BYTES: usize = 30_000;
/// The longest that one command may run.
const MAX_COMMAND_TIME: Duration = Duration::from_mins(2);
/// Tools that the client's verifiers have and that are always refused: the call
/// is announced to hooks, and does not happen.
const REFUSED_TOOLS: [&str; 3] = ["Bash", "Edit", "Write"];

/// What a call gave.
pub(super) struct ToolOutput {
    /// What the model reads.
    pub(super) text: String,
    /// Whether the call failed or was refused.
    pub(super) failed: bool,
    /// What hooks are shown of a call that succeeded.
    pub(super) response: Option<Value>,
}

impl ToolOutput {
    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            response: None,
        }
    }

    pub(super) fn done(text: String, response: Value) -> Self {
        Self {
            text,
            failed: false,
            response: Some(response),
        }
    }
}

/// The tools of one verifier.
pub(super) struct VerifierTools<'a> {
    call: &'a HandlerCall<'a>,
    deadline: Instant,
}

impl<'a> VerifierTools<'a> {
    pub(super) fn new(call: &'a HandlerCall<'a>, deadline: Instant) -> Self {
        Self { call, deadline }
    }

    /// The tools as the model sees them.
    pub(super) fn describe(&self) -> Vec<ModelTool> {
        let text = |about: &str| json!({"type": "string", "description": about});
        let tool = |name: &str, about: &str, properties: Value, required: &[&str]| ModelTool {
            name: name.to_owned(),
            description: about.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": required,
            }),
        };
        let mut tools = vec![
            tool(
                "Read",
                "Reads a text file of the project, with line numbers.",
                json!({
                    "file_path": text("the file"),
                    "offset": {"type": "integer", "description": "the first line, from 1"},
                    "limit": {"type": "integer", "description": "how many lines"},
                }),
                &["file_path"],
            ),
            tool(
                "Grep",
                "Searches files of the project for a regular expression, line by line.",
                json!({
                    "pattern": text("a JavaScript regular expression"),
                    "path": text("a file or folder; the project if it is missing"),
                    "glob": text("only files that fit, such as *.rs"),
                    "-i": {"type": "boolean", "description": "ignore case"},
                }),
                &["pattern"],
            ),
            tool(
                "Glob",
                "Lists files of the project by a pattern such as src/**/*.rs.",
                json!({
                    "pattern": text("the pattern"),
                    "path": text("the folder; the project if it is missing"),
                }),
                &["pattern"],
            ),
        ];
        if self.call.host.verifier_shell == VerifierShell::On {
            tools.push(tool(
                "Bash",
                "Runs a shell command that only reads.",
                json!({"command": text("the command")}),
                &["command"],
            ));
        }
        tools.push(tool(
            VERDICT_TOOL,
            "Gives the verdict and ends the verification.",
            json!({
                "ok": {"type": "boolean", "description": "whether the condition is met"},
                "reason": text("why it is not"),
            }),
            &["ok"],
        ));
        tools
    }

    /// Whether a call reads the session's own transcript, which lies outside the
    /// project and is what many conditions are about. Rules count all the same.
    pub(super) fn reads_transcript(&self, name: &str, input: &Value) -> bool {
        let (Some(input), Some(path)) = (
            input.as_object().filter(|_| name == "Read"),
            self.call.event.str_field("transcript_path"),
        ) else {
            return false;
        };
        let engine = self.call.engine;
        let bases = engine.path_bases(self.call.event);
        let decision =
            engine
                .permissions()
                .decide_call(name, input, PermissionMode::DontAsk, bases);
        input.get("file_path").is_some_and(|p| p == path) && decision.rule.is_none()
    }

    /// Makes a call that hooks and rules let through.
    pub(super) fn run_tool(&self, name: &str, input: &Value) -> ToolOutput {
        // A hook may have rewritten the input.
        if let Err(why) = check_input(name, input) {
            return ToolOutput::failed(why);
        }
        let area = ReadableArea::new(self.call, self.deadline);
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let number = |key: &str| input.get(key).and_then(Value::as_u64);
        let pattern = text("pattern").unwrap_or_default();
        let found = match name {
            "Read" => area.read_lines(
                text("file_path").unwrap_or_default(),
                number("offset"),
                number("limit"),
            ),
            "Grep" => {
                let ignores_case = input.get("-i") == Some(&Value::Bool(true));
                area.search_lines(pattern, text("path"), text("glob"), ignores_case)
            }
            "Glob" => area.list_files(pattern, text("path")),
            "Bash" if self.call.host.verifier_shell == VerifierShell::On => {
                Ok(self.run_command(text("command").unwrap_or_default()))
            }
            _ => Err("this tool is not available to verifiers".into()),
        };
        let mut output = found.unwrap_or_else(ToolOutput::failed);
        if output.text.len() > MAX_RESULT_BYTES {
            let kept = truncate_bytes(&output.text, MAX_RESULT_BYTES).len();
            let more = output.text.len() - kept;
            output.text.truncate(kept);
            // Writing into a string cannot fail.
            let _ = write!(output.text, "\n… {more} more bytes");
        }
        output
    }

    fn run_command(&self, command: &str) -> ToolOutput {
        let environment = build_environment(self.call);
        let cwd = working_directory(self.call);
        let args = ["-c".to_owned(), command.to_owned()];
        let spawn = Spawn {
            program: "/bin/sh",
            args: &args,
            cwd: &cwd,
            environment: &environment,
        };
        let deadline = self.deadline.min(Instant::now() + MAX_COMMAND_TIME);
        let output = match spawn.start("") {
            Ok(running) => running.finish(WaitLimits {
                deadline: Some(deadline),
                cancel: self.call.host.cancel.as_ref(),
                progress: None,
            }),
            Err(why) => return ToolOutput::failed(why),
        };
        let said = format!("{}{}", output.stdout, output.stderr);
        match output.ended {
            ProcessExit::Exit(0) => {
                let response = json!({
                    "stdout": cut(&output.stdout),
                    "stderr": cut(&output.stderr),
                    "interrupted": false,
                    "isImage": false,
                });
                ToolOutput::done(said, response)
            }
            ProcessExit::Exit(code) => ToolOutput::failed(format!("Exit code {code}\n{said}")),
            ProcessExit::Signal(signal) => {
                ToolOutput::failed(format!("ended by signal {signal}\n{said}"))
            }
            ProcessExit::TimedOut => ToolOutput::failed("the command did not end in time"),
            ProcessExit::Cancelled => ToolOutput::failed("the command was cancelled"),
            ProcessExit::Failed(why) => ToolOutput::failed(why),
        }
    }
}

/// Whether a tool exists and understands the input.
pub(super) fn check_input(name: &str, input: &Value) -> Result<(), String> {
    let Some(input) = input.as_object() else {
        return Err("the input must be an object".into());
    };
    let required: &[&str] = match name {
        "Read" => &["file_path"],
        "Grep" | "Glob" => &["pattern"],
        "Bash" => &["command"],
        name if REFUSED_TOOLS.contains(&name) => &[],
        _ => return Err("there is no such tool".into()),
    };
    match required
        .iter()
        .find(|key| !input.get(**key).is_some_and(Value::is_string))
    {
        Some(key) => Err(format!("`{key}` must be a string")),
        None => Ok(()),
    }
}

fn cut(text: &str) -> &str {
    truncate_bytes(text, MAX_RESULT_BYTES)
}

/// A path as hooks and models see it.
pub(super) fn display_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
