//! The user's own command line of an agent as a model: one child at a time, the
//! question on stdin, one JSON result on stdout, nothing kept and nothing run.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, TryLockError as MutexError};
use std::time::{Duration, Instant};

use remora_core::model::{
    ModelError, ModelErrorKind, ModelMessage, ModelReply, ModelRequest, ModelUsage, ReplyEnd,
};
use serde_json::Value;

use crate::ModelNames;
use crate::child::{ChildCommand, ChildExit};
use crate::names::{
    COMMAND_LINE_FLAGS, COMMAND_LINE_PROGRAM, DROPPED_VARIABLES, MODEL_FLAG, OFF_VARIABLE,
    SCHEMA_FLAG, SYSTEM_FLAG,
};
use crate::text_tools;

/// The longest result that is read.
const MAX_RESULT_BYTES: usize = 4 << 20;
/// How much of the program's own words an error quotes.
const MAX_QUOTED_CHARS: usize = 300;
/// How often a busy program is asked for again.
const TURN_INTERVAL: Duration = Duration::from_millis(20);

/// Only one child of this process at a time.
static TURN: Mutex<()> = Mutex::new(());

/// How the program is run.
#[derive(Debug, Clone)]
pub struct CommandLineConfig {
    /// The program, absolute.
    pub program: PathBuf,
    /// The environment that it is started in. What would make it believe that it
    /// runs inside itself is left out.
    pub environment: Vec<(OsString, OsString)>,
    /// A directory that holds nothing of a project.
    pub cwd: PathBuf,
    /// Locked while a child runs, so that all processes of a user together have
    /// one; `None` for this process alone.
    pub lock_file: Option<PathBuf>,
    /// Which models are asked.
    pub names: ModelNames,
}

/// A model behind a command line.
#[derive(Debug)]
pub struct CommandLineModel {
    config: CommandLineConfig,
}

impl CommandLineModel {
    /// The program is looked for when it is asked.
    pub fn new(config: CommandLineConfig) -> Self {
        Self { config }
    }

    /// The program in the folders of `PATH`, never one inside `project`.
    pub fn find_program(path: &OsStr, project: &Path) -> Option<PathBuf> {
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute() && !folder.starts_with(project))
            .map(|folder| folder.join(COMMAND_LINE_PROGRAM))
            .find(|program| {
                let real = program.canonicalize();
                real.is_ok_and(|real| real.is_file() && !real.starts_with(project))
            })
    }

    pub(crate) fn complete(
        &self,
        request: &ModelRequest,
        deadline: Instant,
    ) -> Result<ModelReply, ModelError> {
        let has_tools = !request.tools.is_empty();
        let wrapped;
        let request = if has_tools {
            wrapped = text_tools::describe_tools(request);
            &wrapped
        } else {
            request
        };
        let _turn = self.take_turn(deadline)?;
        let args = self.build_args(request);
        let environment = self.build_environment();
        let input = render_messages(&request.messages);
        let child = ChildCommand {
            program: self.config.program.as_os_str(),
            args: &args,
            environment: &environment,
            cwd: &self.config.cwd,
            input: input.as_bytes(),
            max_output_bytes: MAX_RESULT_BYTES,
        };
        let mut reply = read_result(child.run(deadline), &self.config.program)?;
        if has_tools {
            text_tools::find_call(&mut reply, request.messages.len());
        }
        Ok(reply)
    }

    fn build_args(&self, request: &ModelRequest) -> Vec<OsString> {
        let mut args: Vec<OsString> = COMMAND_LINE_FLAGS.iter().map(Into::into).collect();
        let mut flag = |name: &str, value: String| {
            args.push(name.into());
            args.push(value.into());
        };
        flag(SYSTEM_FLAG, request.system.clone());
        if let Some(model) = self.config.names.find_name(&request.model) {
            flag(MODEL_FLAG, model);
        }
        if let Some(schema) = &request.output_schema {
            flag(SCHEMA_FLAG, schema.to_string());
        }
        args
    }

    fn build_environment(&self) -> Vec<(OsString, OsString)> {
        let is_kept = |name: &OsStr| {
            name != OFF_VARIABLE && !DROPPED_VARIABLES.iter().any(|dropped| name == *dropped)
        };
        let kept = self.config.environment.iter();
        let mut list: Vec<_> = kept.filter(|(k, _)| is_kept(k)).cloned().collect();
        list.push((OFF_VARIABLE.into(), "1".into()));
        list
    }

    /// Waits for the turn; a program of a user's is slow, and two at once are slower.
    fn take_turn(&self, deadline: Instant) -> Result<Turn, ModelError> {
        let busy = || ModelError::new(ModelErrorKind::Timeout, "another question was not done");
        let own = loop {
            match TURN.try_lock() {
                Ok(guard) => break guard,
                Err(MutexError::Poisoned(poisoned)) => break PoisonError::into_inner(poisoned),
                Err(MutexError::WouldBlock) => wait_a_moment(deadline).ok_or_else(busy)?,
            }
        };
        let Some(path) = &self.config.lock_file else {
            return Ok(Turn {
                _own: own,
                _file: None,
            });
        };
        let unusable = |error: std::io::Error| {
            let text = format!("{}: {error}", path.display());
            ModelError::new(ModelErrorKind::NotConfigured, text)
        };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(unusable)?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => wait_a_moment(deadline).ok_or_else(busy)?,
                Err(TryLockError::Error(error)) => return Err(unusable(error)),
            }
        }
        Ok(Turn {
            _own: own,
            _file: Some(file),
        })
    }
}

/// Held while a child runs.
struct Turn {
    _own: std::sync::MutexGuard<'static, ()>,
    // Closing it unlocks it.
    _file: Option<File>,
}

/// A lock of another process cannot be waited for with a deadline: it is asked
/// again and again.
fn wait_a_moment(deadline: Instant) -> Option<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero()).then(|| std::thread::park_timeout(left.min(TURN_INTERVAL)))
}

/// One question is itself; a conversation is written out, since the program takes
/// one text.
fn render_messages(messages: &[ModelMessage]) -> String {
    if let [ModelMessage::User(text)] = messages {
        return text.clone();
    }
    let parts: Vec<String> = messages
        .iter()
        .map(|message| match message {
            ModelMessage::User(text) => format!("[user]\n{text}"),
            ModelMessage::Assistant { text, calls } => {
                let calls: String = calls.iter().map(text_tools::format_call).collect();
                format!("[assistant]\n{text}{calls}")
            }
            ModelMessage::ToolResults(results) => results
                .iter()
                .map(|result| {
                    let mark = if result.failed { "failed" } else { "result" };
                    format!("[tool {mark}]\n{}", result.text)
                })
                .collect::<Vec<_>>()
                .join("\n\n"),
        })
        .collect();
    parts.join("\n\n")
}

fn read_result(exit: ChildExit, program: &Path) -> Result<ModelReply, ModelError> {
    let fail = |kind, text: String| Err(ModelError::new(kind, text));
    let (code, stdout, stderr) = match exit {
        ChildExit::Exited {
            code,
            stdout,
            stderr,
        } => (code, stdout, stderr),
        ChildExit::TimedOut => {
            let text = "the program did not answer before the deadline and was ended";
            return fail(ModelErrorKind::Timeout, text.into());
        }
        ChildExit::TooLarge => {
            let text = format!(
                "the program printed more than {} MiB",
                MAX_RESULT_BYTES >> 20
            );
            return fail(ModelErrorKind::TooLarge, text);
        }
        ChildExit::Failed(error) => {
            let text = format!("cannot run {}: {error}", program.display());
            return fail(ModelErrorKind::NotConfigured, text);
        }
    };
    let result: Option<Value> = serde_json::from_slice(&stdout).ok();
    let Some(result) = result.filter(Value::is_object) else {
        let said = quote_line(&String::from_utf8_lossy(&stderr));
        return match code {
            Some(0) => fail(
                ModelErrorKind::Malformed,
                "the program printed no JSON".into(),
            ),
            Some(code) => fail(ModelErrorKind::Server, format!("exit code {code}: {said}")),
            None => fail(ModelErrorKind::Server, "a signal ended the program".into()),
        };
    };
    let said = result["result"].as_str().unwrap_or_default();
    if result["is_error"] == true || code != Some(0) {
        let text = quote_line(said);
        // It says so in words only.
        let lower = text.to_lowercase();
        let is_login = ["login", "api key", "authenticat"];
        let kind = if is_login.iter().any(|word| lower.contains(word)) {
            ModelErrorKind::Auth
        } else {
            ModelErrorKind::Server
        };
        return fail(kind, text);
    }
    let text = match &result["structured_output"] {
        Value::Object(object) => Value::Object(object.clone()).to_string(),
        _ => said.to_owned(),
    };
    let count = |key: &str| result["usage"][key].as_u64().unwrap_or(0);
    let models = result["modelUsage"].as_object();
    Ok(ModelReply {
        text,
        calls: Vec::new(),
        end: ReplyEnd::Complete,
        model: models
            .and_then(|models| models.keys().next())
            .cloned()
            .unwrap_or_default(),
        usage: ModelUsage {
            input_tokens: count("input_tokens")
                + count("cache_creation_input_tokens")
                + count("cache_read_input_tokens"),
            output_tokens: count("output_tokens"),
        },
    })
}

fn quote_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = line.chars().filter(|c| !c.is_control());
    shown.take(MAX_QUOTED_CHARS).collect()
}
