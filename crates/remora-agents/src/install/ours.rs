//! Which entries are ours, and what ours look like.

use std::path::Path;

use serde_json::{Map, Value, json};

use remora_core::EventName;

use super::span::Node;
use super::{HandlerForm, InstallError};
use crate::spec::{AgentSpec, EventRegistration};

/// The verb with which agents call us.
const HOOK_VERB: &str = "hook";
/// The program as a shared file names it: each user's own, by `PATH`.
pub const BARE_PROGRAM: &str = "remora";
/// The shell of entries that have to look before they run. It gets the program
/// and its arguments as words, so no path is ever read as a command.
const SHELL_PROGRAM: &str = "/bin/sh";
/// For a file that others share: where there is no such program, the hook reads
/// its input, says nothing and succeeds.
const GUARD_SCRIPT: &str =
    "command -v \"$0\" >/dev/null 2>&1 && exec \"$0\" \"$@\"; cat >/dev/null";
/// For the session's start: a program that is gone cannot say so itself. Said
/// once: a mark in the usual data directory, never one that a variable names,
/// stays until the program runs again. `set -C` makes no link followed.
const START_CHECK_SCRIPT: &str = "[ -x \"$0\" ] && exec \"$0\" \"$@\"; cat >/dev/null; \
    m=\"$HOME/.remora/run/program-gone\"; [ -e \"$m\" ] && exit 0; \
    (set -C; : >\"$m\") 2>/dev/null; \
    echo '{\"systemMessage\":\"Remora is no longer where it was installed, so nothing is \
    remembered. Put it back, or install it again\"}'";

/// The program as it can be written and found again: an absolute path, or the
/// bare name.
pub(super) fn check_program(path: &Path) -> Result<&str, InstallError> {
    path.to_str()
        .filter(|text| *text == BARE_PROGRAM || (path.is_absolute() && is_remora(text)))
        .ok_or_else(|| InstallError::Program(path.display().to_string()))
}

/// All groups, by event.
pub(super) fn build_groups(
    registrations: &[EventRegistration],
    program: &str,
    spec: &AgentSpec,
) -> Value {
    let events = registrations.iter().map(|registration| {
        (
            registration.event.to_string(),
            json!([build_group(registration, program, spec)]),
        )
    });
    Value::Object(events.collect())
}

/// One group. At most one shell of ours runs between the client and us.
pub(super) fn build_group(
    registration: &EventRegistration,
    program: &str,
    spec: &AgentSpec,
) -> Value {
    let mut group = Map::new();
    if let Some(matcher) = registration.matcher {
        group.insert("matcher".to_owned(), matcher.into());
    }
    let script = if cfg!(windows) {
        None
    } else if program == BARE_PROGRAM {
        Some(GUARD_SCRIPT)
    } else {
        // Agents that take a line say themselves that its program is gone; and
        // the shorter the line, the easier it is to trust.
        let is_silent = spec.install.handler_form == HandlerForm::Exec;
        (is_silent && registration.event == EventName::SessionStart).then_some(START_CHECK_SCRIPT)
    };
    let (command, args) = match script {
        None => (program, vec![HOOK_VERB, spec.name]),
        Some(script) => (
            SHELL_PROGRAM,
            vec!["-c", script, program, HOOK_VERB, spec.name],
        ),
    };
    let handler = match spec.install.handler_form {
        HandlerForm::Exec => json!({
            "type": "command",
            "command": command,
            "args": args,
            "timeout": registration.timeout,
        }),
        HandlerForm::ShellLine => json!({
            "type": "command",
            "command": join_words(command, &args),
            "timeout": registration.timeout,
        }),
    };
    group.insert("hooks".to_owned(), json!([handler]));
    Value::Object(group)
}

/// The words as one line that a shell splits into the same words again.
fn join_words(command: &str, args: &[&str]) -> String {
    let words = std::iter::once(&command).chain(args);
    let quoted: Vec<String> = words.map(|word| quote_word(word)).collect();
    quoted.join(" ")
}

fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The program of a handler, if the handler is ours.
pub(super) fn program_of(handler: &Node, spec: &AgentSpec) -> Option<String> {
    if handler.get("type").and_then(Node::as_text) != Some("command") {
        return None;
    }
    let command = handler.get("command")?.as_text()?;
    let mut words: Vec<String> = if let Some(args) = handler.get("args") {
        let args: Option<Vec<&str>> = args.as_list()?.iter().map(Node::as_text).collect();
        let all = std::iter::once(command).chain(args?);
        all.map(str::to_owned).collect()
    } else {
        split_words(command)
    };
    // Our guards run us through a shell; the script may be that of an older
    // version.
    if let [shell, flag, _, rest @ ..] = words.as_slice()
        && (shell == SHELL_PROGRAM || shell == "sh")
        && flag == "-c"
    {
        words = rest.to_vec();
    }
    let [program, verb, agent, ..] = words.as_mut_slice() else {
        return None;
    };
    // By what it runs, wherever that lies: an entry of a moved program is still
    // ours to replace.
    let ours = is_remora(program) && verb == HOOK_VERB && spec.is_called(agent);
    ours.then(|| std::mem::take(program))
}

pub(super) fn is_remora(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name == "remora" || name.eq_ignore_ascii_case("remora.exe")
}

/// The words of a simple command line, without their quotes.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            // A backslash is otherwise part of a path.
            (None, '\\') if matches!(chars.peek(), Some(' ' | '\'')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_a_shell_is_split_into_its_words_again() {
        for words in [
            vec!["/opt/remora", "hook", "agent"],
            vec!["/opt/my tools/o'brien/remora", "hook", "agent"],
            vec!["/bin/sh", "-c", START_CHECK_SCRIPT, "/a b/remora", "hook"],
            vec!["/bin/sh", "-c", GUARD_SCRIPT, "remora", "$HOME", ""],
        ] {
            let line = join_words(words[0], &words[1..]);
            assert_eq!(split_words(&line), words, "{line}");
        }
        assert_eq!(
            join_words("/opt/remora", &["hook", "agent"]),
            "/opt/remora hook agent"
        );
    }
}
