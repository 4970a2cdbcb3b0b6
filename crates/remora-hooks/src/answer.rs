//! Reads exit code, stdout and stderr of one handler into an `Answer`. Pure.
//!
//! The only place that knows what exit code 2 means, when text counts as JSON,
//! and when a failure blocks.

use remora_core::{
    Answers, ElicitationResponse, EventDef, EventName, ExitTwo, Permission, PlainText,
};
use serde_json::{Map, Value};

use self::object::answer_from_object;
use crate::config::OnFailure;

pub(crate) mod judgement;
mod object;
mod schema;

/// How a handler came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProcessExit {
    /// It exited by itself, with this code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// The deadline ended it.
    TimedOut,
    /// The host ended it.
    Cancelled,
    /// It could not be started, or its output could not be read.
    Failed(String),
}

/// What came out of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HandlerOutput {
    /// How the handler ended; decides whether its output counts at all.
    pub ended: ProcessExit,
    /// Standard output, or the body of a reply.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// What became of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerStatus {
    /// It ran and did not block.
    Ok,
    /// It blocked, denied or stopped.
    Blocked,
    /// It failed; the event goes on.
    Error,
    /// The deadline ended it.
    Timeout,
    /// It goes on without the host.
    Background,
    /// It was ended before its deadline.
    Cancelled,
    /// It was not started.
    Skipped,
}

/// A text for the model, and whether it came as plain output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContextText {
    /// The text as the handler printed it, not yet limited in length.
    pub text: String,
    /// Plain output has another label than `additionalContext`.
    pub plain: bool,
}

/// The answer to a permission request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RequestDecision {
    /// The request is granted.
    Allow {
        /// With this input instead.
        updated_input: Option<Map<String, Value>>,
        /// Permission updates that the host applies with it.
        updated_permissions: Option<Value>,
    },
    /// The request is refused.
    Deny {
        /// The reason the model sees.
        message: String,
        /// The run ends too.
        interrupt: bool,
    },
}

/// `continue: false`, with the reason that the user sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StopRequest(pub(crate) Option<String>);

/// What one handler said, as far as its event honours it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    /// The decision about a tool call, with its reason.
    pub permission: Option<(Permission, Option<String>)>,
    /// An answer to a permission request.
    pub request: Option<RequestDecision>,
    /// It blocks, for this reason.
    pub block: Option<String>,
    /// The reason is what it wrote to stderr; the client shows the command with it.
    pub reason_is_stderr: bool,
    /// It ends the turn or the agent.
    pub stop: Option<StopRequest>,
    /// A text for the model.
    pub context: Option<ContextText>,
    /// A message for the user.
    pub message: Option<String>,
    /// Replaces the call's input.
    pub updated_input: Option<Map<String, Value>>,
    /// Replaces the tool's output.
    pub updated_output: Option<Value>,
    /// Replaces the output of a server's tool; the older spelling.
    pub updated_mcp_output: Option<Value>,
    /// For the host's own safety check.
    pub classifier_context: Option<String>,
    /// A title for the session.
    pub session_title: Option<String>,
    /// Do not quote a blocked prompt.
    pub suppress_original_prompt: Option<bool>,
    /// A prompt that the host plays before the user's first one.
    pub initial_user_message: Option<String>,
    /// The host should read its skills from disk again.
    pub reload_skills: Option<bool>,
    /// Paths that the host should watch from now on.
    pub watch_paths: Option<Vec<String>>,
    /// The call may be tried again.
    pub retry: Option<bool>,
    /// What the screen shows.
    pub display_content: Option<String>,
    /// An answer to a server.
    pub elicitation: Option<ElicitationResponse>,
    /// The path of the worktree that the handler made.
    pub worktree_path: Option<String>,
    /// Instructions for the summary.
    pub compact_instructions: Option<String>,
    /// Escape sequences, not yet checked.
    pub terminal_sequence: Option<String>,
    /// A model's no. Of several about one call, one reason is shown.
    pub is_judgement: bool,
}

impl Answer {
    fn is_blocking(&self) -> bool {
        self.block.is_some()
            || self.stop.is_some()
            || matches!(self.permission, Some((Permission::Deny, _)))
            || matches!(self.request, Some(RequestDecision::Deny { .. }))
    }
}

/// One handler's result: status, why, the JSON as printed, and what counts of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HandlerResult {
    /// What became of it.
    pub status: HandlerStatus,
    /// Why, in plain words; empty when there is nothing to add.
    pub why: String,
    /// The object it printed.
    pub object: Option<Value>,
    /// What of the output the event honours.
    pub answer: Answer,
}

/// The reason of a block that has none. The three texts are the client's own,
/// because the model sees them.
const DEFAULT_BLOCK_REASON: &str = "Blocked by hook";
const DEFAULT_DENIAL_MESSAGE: &str = "Permission denied by hook";
const NO_STDERR_TEXT: &str = "No stderr output";

enum ParsedStdout {
    Plain(String),
    Object(Value, Box<Answer>),
    Invalid(String),
}

/// Reads a handler's output.
pub(crate) fn read_answer(
    def: &EventDef,
    output: &HandlerOutput,
    on_failure: OnFailure,
) -> HandlerResult {
    let said = |status, why: String, object, answer| HandlerResult {
        status,
        why,
        object,
        answer,
    };
    let code = match &output.ended {
        // Even a complete deny that was printed before the deadline does not count.
        ProcessExit::TimedOut => {
            let why = "it did not answer in time; what it had said is discarded".to_owned();
            // The one event on which the client takes silence for a no.
            let block = def.name == EventName::PreModelSwitch;
            return build_failure(def, HandlerStatus::Timeout, why, output, on_failure, block);
        }
        ProcessExit::Failed(why) => {
            return build_failure(
                def,
                HandlerStatus::Error,
                why.clone(),
                output,
                on_failure,
                false,
            );
        }
        // Not a failure: `onFailure` must not turn the user's interruption into a block.
        ProcessExit::Cancelled => {
            return said(
                HandlerStatus::Cancelled,
                "the host ended it; what it had said is discarded".to_owned(),
                None,
                Answer::default(),
            );
        }
        ProcessExit::Exit(code) => Some(*code),
        ProcessExit::Signal(_) => None,
    };
    let describe = || match &output.ended {
        ProcessExit::Signal(signal) => format!("ended by signal {signal}"),
        _ => format!("exit code {}", code.unwrap_or_default()),
    };
    // A signal has no exit code. A valid object counts all the same, as with every code.
    let two = code == Some(2);
    let ordinary = matches!(code, Some(0 | 2));
    match interpret_stdout(def, &output.stdout, code) {
        ParsedStdout::Invalid(problem) if two => {
            block_by_code(def, output, None, Answer::default(), &problem)
        }
        ParsedStdout::Invalid(problem) => build_failure(
            def,
            HandlerStatus::Error,
            problem,
            output,
            on_failure,
            false,
        ),
        ParsedStdout::Object(object, answer) if two => {
            block_by_code(def, output, Some(object), *answer, "")
        }
        ParsedStdout::Object(object, answer) => {
            // With `onFailure: block` the exit code is a failure even if the object says allow;
            // without it the object alone decides.
            if !ordinary && on_failure == OnFailure::Block && def.failure_can_block {
                let mut said = build_failure(
                    def,
                    HandlerStatus::Error,
                    describe(),
                    output,
                    on_failure,
                    false,
                );
                said.object = Some(object);
                return said;
            }
            let status = match (answer.is_blocking(), ordinary) {
                (true, _) => HandlerStatus::Blocked,
                (false, true) => HandlerStatus::Ok,
                (false, false) => HandlerStatus::Error,
            };
            let why = if ordinary {
                String::new()
            } else {
                format!("{}, but its JSON counts", describe())
            };
            said(status, why, Some(object), *answer)
        }
        ParsedStdout::Plain(_) if two => block_by_code(def, output, None, Answer::default(), ""),
        ParsedStdout::Plain(text) if code == Some(0) => said(
            HandlerStatus::Ok,
            String::new(),
            None,
            answer_from_text(def, text),
        ),
        // Only exit code 0 turns text into context.
        ParsedStdout::Plain(_) => build_failure(
            def,
            HandlerStatus::Error,
            describe(),
            output,
            on_failure,
            false,
        ),
    }
}

/// What a background handler said when it was too late to decide anything.
#[derive(Default)]
pub(crate) struct LateOutput {
    /// The first object it printed.
    pub(crate) object: Option<Value>,
    /// The texts in it as one, whatever else is wrong with it.
    pub(crate) text: Option<String>,
}

/// Reads the first object a background handler printed. Fields count one by
/// one: nothing is decided by them.
pub(crate) fn read_late_output(stdout: &str) -> LateOutput {
    let object = find_object_block(stdout);
    let text = |value: Option<&Value>| {
        value
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
    };
    let texts: Vec<String> = object.as_ref().map_or_else(Vec::new, |object| {
        let context = object
            .get("hookSpecificOutput")
            .and_then(|h| h.get("additionalContext"));
        [text(object.get("systemMessage")), text(context)]
            .into_iter()
            .flatten()
            .collect()
    });
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    LateOutput { object, text }
}

/// The first object that begins and ends a line: a handler may log before and
/// after it answers, and may print its answer over several lines.
fn find_object_block(stdout: &str) -> Option<Value> {
    let mut rest = stdout;
    loop {
        if js_trim(rest).starts_with('{') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            if let Some(Ok(value @ Value::Object(_))) = values.next() {
                let after = rest[values.byte_offset()..].lines().next();
                if after.is_none_or(|line| js_trim(line).is_empty()) {
                    return Some(value);
                }
            }
        }
        rest = rest.split_once('\n')?.1;
    }
}

/// Exit code 2: blocks where the event can be blocked, with the object's own
/// reason if it has one, else with stderr. What would let the call through is
/// void; the rest of the object still counts.
fn block_by_code(
    def: &EventDef,
    output: &HandlerOutput,
    object: Option<Value>,
    mut answer: Answer,
    problem: &str,
) -> HandlerResult {
    // Events that cannot be blocked: the code is an error, the object is still honoured.
    if def.exit_two == ExitTwo::Fails {
        let why = if problem.is_empty() {
            "exit code 2, which blocks nothing on this event"
        } else {
            problem
        };
        let status = match object {
            Some(_) if answer.is_blocking() => HandlerStatus::Blocked,
            _ => HandlerStatus::Error,
        };
        return HandlerResult {
            status,
            why: why.to_owned(),
            object,
            answer,
        };
    }
    let own = match &answer.permission {
        Some((Permission::Deny, reason)) => reason.clone(),
        _ => answer.block.clone(),
    };
    // Whatever in the object would let the call through loses against the exit code.
    answer.permission = None;
    answer.updated_input = None;
    answer.elicitation = None;
    answer.reason_is_stderr = own.is_none();
    answer.block = Some(own.unwrap_or_else(|| stderr_reason(output)));
    let mut why = "exit code 2 blocks".to_owned();
    if !problem.is_empty() {
        why = format!("{why}; {problem}");
    }
    HandlerResult {
        status: HandlerStatus::Blocked,
        why,
        object,
        answer,
    }
}

fn stderr_reason(output: &HandlerOutput) -> String {
    let text = output.stderr.trim_end();
    if text.is_empty() {
        NO_STDERR_TEXT.into()
    } else {
        text.to_owned()
    }
}

/// A failure: the event goes on, unless the handler's `onFailure` is `block`.
fn build_failure(
    def: &EventDef,
    status: HandlerStatus,
    why: String,
    output: &HandlerOutput,
    on_failure: OnFailure,
    always_blocks: bool,
) -> HandlerResult {
    let mut answer = Answer::default();
    let blocks = def.failure_can_block && on_failure == OnFailure::Block;
    if blocks || always_blocks {
        // An exit code has stderr to explain it; other failures explain themselves.
        let detail = match output.ended {
            ProcessExit::Exit(0)
            | ProcessExit::TimedOut
            | ProcessExit::Cancelled
            | ProcessExit::Failed(_) => output.stderr.trim_end().to_owned(),
            ProcessExit::Exit(_) | ProcessExit::Signal(_) => stderr_reason(output),
        };
        let sentence = if blocks {
            format!("the handler failed ({why}) and its onFailure is \"block\"")
        } else {
            format!("the handler failed ({why}), and this event waits for its consent")
        };
        let reason = format!("{sentence}\n{detail}").trim_end().to_owned();
        // A permission request knows no block, only a decision.
        if def.answers.contains(Answers::REQUEST) {
            answer.request = Some(RequestDecision::Deny {
                message: reason,
                interrupt: false,
            });
        } else {
            answer.block = Some(reason);
        }
    } else if def.name == EventName::WorktreeCreate {
        // The handler replaces git here, so any failure means that there is no worktree.
        answer.block = Some(format!("{why}\n{}", stderr_reason(output)));
    }
    HandlerResult {
        status,
        why,
        object: None,
        answer,
    }
}

/// JSON is what starts with `{` and ends with `}`; everything else is text. Text
/// in that form which does not parse is a failed handler, not text.
fn interpret_stdout(def: &EventDef, stdout: &str, code: Option<i32>) -> ParsedStdout {
    let text = js_trim(stdout);
    if !(text.starts_with('{') && text.ends_with('}')) {
        return ParsedStdout::Plain(text.to_owned());
    }
    let object = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return ParsedStdout::Plain(text.to_owned()),
        Err(error) => {
            return ParsedStdout::Invalid(format!(
                "stdout looks like JSON but is not ({error}); its text goes nowhere"
            ));
        }
    };
    // As in the client: stdout joins the instructions for the summary even if it is an
    // object, unless it blocks. An object that names this event is refused.
    if def.plain == PlainText::CompactInstructions {
        let named_here = object
            .get("hookSpecificOutput")
            .and_then(|h| h.get("hookEventName"))
            .is_some_and(|n| n == def.text);
        if named_here {
            return ParsedStdout::Invalid(format!(
                "{} takes no `hookSpecificOutput`; the object is refused",
                def.text
            ));
        }
        let blocks = object.get("decision").is_some_and(|d| d == "block");
        if !blocks && code == Some(0) {
            return ParsedStdout::Plain(text.to_owned());
        }
    }
    if let Err(problem) = schema::check_object(def, &object) {
        return ParsedStdout::Invalid(format!("its JSON is refused: {problem}"));
    }
    let answer = Box::new(answer_from_object(def, &object));
    ParsedStdout::Object(Value::Object(object), answer)
}

fn answer_from_text(def: &EventDef, text: String) -> Answer {
    let mut answer = Answer::default();
    if text.is_empty() {
        return answer;
    }
    match def.plain {
        PlainText::Ignored => {}
        PlainText::Context => answer.context = Some(ContextText { text, plain: true }),
        PlainText::CompactInstructions => answer.compact_instructions = Some(text),
        // Only the last line counts, so a handler may print progress before the path.
        PlainText::WorktreePath => {
            let last = text.lines().map(strip_ansi).rfind(|l| !l.trim().is_empty());
            answer.worktree_path = last.map(|l| l.trim().to_owned());
        }
    }
    answer
}

/// Trims as JavaScript does: Unicode blanks and the byte-order mark.
pub(crate) fn js_trim(text: &str) -> &str {
    // U+0085 is white space to Rust and not to JavaScript; U+FEFF the other way round.
    text.trim_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}

/// Removes colour and cursor sequences from a line.
fn strip_ansi(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        if chars.next() == Some('[') {
            // A control sequence ends with a letter or one of a few signs.
            let _ = chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    out
}

#[cfg(test)]
mod tests;
