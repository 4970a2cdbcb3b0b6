//! What the scripts of hooks say, as far as reading them shows it: a stop hook
//! without its guard, text in front of JSON.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remora_core::{EventName, PlainText};
use remora_files::read_text;
use remora_hooks::{HandlerConfig, HandlerKind};

use super::command::find_scripts;
use super::{FileReport, Surroundings};
use crate::document::KeyPath;
use crate::names::STOP_GUARD_FIELD;

/// The longest script that is read; longer ones are programs of their own.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

/// What is known of a script.
#[derive(Debug, Clone, Default)]
pub(super) struct ScriptState {
    pub(super) exists: bool,
    pub(super) executable: bool,
    /// Its text, if it is text and not too long.
    pub(super) text: Option<String>,
}

/// Scripts by their paths: many handlers run the same one.
#[derive(Debug, Default)]
pub(super) struct ScriptCache {
    seen: HashMap<PathBuf, ScriptState>,
}

impl ScriptCache {
    pub(super) fn look_at(&mut self, path: &Path) -> &ScriptState {
        self.seen
            .entry(path.to_path_buf())
            .or_insert_with(|| read_script(path))
    }
}

fn read_script(path: &Path) -> ScriptState {
    let Ok(metadata) = path.metadata() else {
        return ScriptState::default();
    };
    ScriptState {
        exists: true,
        executable: is_executable(&metadata),
        text: read_text(path, MAX_SCRIPT_BYTES).ok(),
    }
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.is_dir() || metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

/// What a handler would answer, judged by its texts.
pub(super) fn check_answers(
    report: &mut FileReport<'_>,
    event: EventName,
    config: &HandlerConfig,
    path: &KeyPath,
    around: &Surroundings<'_>,
    scripts: &mut ScriptCache,
) {
    let HandlerKind::Command { command, .. } = &config.kind else {
        return;
    };
    let root = report.file.plugin_root.clone();
    let named = find_scripts(config, root.as_deref(), around);
    let mut texts = vec![(split_inline(command), None)];
    let mut all_read = true;
    for script in &named {
        match &scripts.look_at(&script.path).text {
            Some(text) => texts.push((text.clone(), Some(script.path.clone()))),
            None => all_read = false,
        }
    }
    let at = path.key("command");
    if matches!(event, EventName::Stop | EventName::SubagentStop) && all_read {
        let guarded = texts
            .iter()
            .any(|(text, _)| text.contains(STOP_GUARD_FIELD));
        if !guarded && texts.iter().any(|(text, _)| can_block(text)) {
            report.add(
                "stop-without-guard",
                &at,
                format!("the hook can block and never looks at `{STOP_GUARD_FIELD}`: it may block again and again, until the client overrides it"),
                format!("let it exit 0 when `{STOP_GUARD_FIELD}` is true"),
            );
        }
    }
    for (text, script) in &texts {
        if let Some(line) = find_text_before_json(text) {
            let place = match script {
                Some(script) => format!("{}:{line}", script.display()),
                None => "the command".to_owned(),
            };
            let cost = match event.def().plain {
                PlainText::Context => "all of it, JSON included, goes to the model as plain text",
                PlainText::Ignored | PlainText::CompactInstructions | PlainText::WorktreePath => {
                    "the JSON is not read as an answer"
                }
            };
            report.add(
                "text-before-json",
                &at,
                format!("{place} prints text to stdout before the JSON; {cost}"),
                "print it to stderr: `>&2`",
            );
        }
    }
}

/// A command line with each of its commands on a line of its own.
fn split_inline(command: &str) -> String {
    command.replace("; ", "\n").replace(" && ", "\n")
}

/// Whether a text holds a way to block.
fn can_block(text: &str) -> bool {
    let ways = [
        "exit 2",
        "exit(2)",
        "\"block\"",
        "'block'",
        "\\\"block\\\"",
        "exitCode = 2",
    ];
    ways.iter().any(|way| text.contains(way))
}

/// What a line does to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Printing {
    Nothing,
    Text,
    Json,
}

/// The line, from 1, of a text that is printed whenever the JSON after it is:
/// in the same block or one around it, with no way out between.
fn find_text_before_json(script: &str) -> Option<usize> {
    let lines: Vec<&str> = script.lines().collect();
    let mut here_end: Option<&str> = None;
    let mut open: Option<(usize, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if let Some(end) = here_end {
            if trimmed == end {
                here_end = None;
            }
            continue;
        }
        if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("//") {
            continue;
        }
        here_end = here_document_end(trimmed);
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let indent = line.len() - line.trim_start().len();
        if let Some((_, text_indent)) = open {
            let leaves = [
                "exit",
                "return",
                "sys.exit",
                "process.exit",
                "else",
                "elif",
                ";;",
            ];
            let left = indent < text_indent
                || (indent == text_indent && leaves.iter().any(|word| trimmed.starts_with(word)));
            if left {
                open = None;
            }
        }
        match read_printing(trimmed, here_end.is_some(), next) {
            Printing::Text if open.is_none() => open = Some((at + 1, indent)),
            Printing::Json => {
                if let Some((line, _)) = open {
                    return Some(line);
                }
            }
            _ => {}
        }
    }
    None
}

/// The word that ends a here-document begun on this line.
fn here_document_end(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("<<")?;
    if rest.starts_with('<') || before.ends_with('<') {
        return None;
    }
    let rest = rest.trim_start_matches('-').trim_start();
    let word = rest.trim_start_matches(['\'', '"', '\\']);
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_');
    let word = &word[..end.unwrap_or(word.len())];
    (!word.is_empty()).then_some(word)
}

fn read_printing(line: &str, here_document: bool, next: &str) -> Printing {
    // Redirected, piped or caught: it does not reach stdout as it is.
    let diverted = line.contains(">&2")
        || line.contains("> ")
        || line.contains(">/")
        || line.contains(">\"")
        || line.contains("stderr")
        || line.contains("console.error");
    if diverted {
        return Printing::Nothing;
    }
    if here_document {
        let json = line.starts_with("cat") && next.trim_start().starts_with('{');
        return if json {
            Printing::Json
        } else {
            Printing::Nothing
        };
    }
    if line.starts_with("jq -n") || line.starts_with("jq -cn") || line.starts_with("jq -nc") {
        return Printing::Json;
    }
    let argument = |beginnings: &[&str]| {
        beginnings
            .iter()
            .find_map(|beginning| line.strip_prefix(beginning))
    };
    let Some(argument) = argument(&[
        "echo ",
        "printf ",
        "print(",
        "console.log(",
        "process.stdout.write(",
        "puts ",
    ]) else {
        return Printing::Nothing;
    };
    let argument = argument.trim_start_matches("-e ").trim_start_matches("-n ");
    let said = argument.trim_start_matches(['f', 'r']);
    let said = said.trim_start_matches(['"', '\'', '`']).trim_start();
    let json = said.starts_with('{')
        || said.starts_with("\\{")
        || said.starts_with("json.dumps")
        || said.starts_with("JSON.stringify");
    if json {
        return Printing::Json;
    }
    // What a variable or a pipe holds is not known.
    let plain = argument.starts_with(['"', '\'', '`'])
        || argument.starts_with("f\"")
        || argument.starts_with(|c: char| c.is_alphabetic()) && line.starts_with("echo ");
    let known = plain && !said.starts_with(['$', '%']) && !line.contains(" | ");
    if known {
        Printing::Text
    } else {
        Printing::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_always_comes_before_the_json_is_found() {
        let found = [
            ("echo checking\necho '{\"decision\":\"block\"}'", Some(1)),
            (
                "#!/bin/sh\necho \"start\"\nif x; then\n  jq -n '{}'\nfi",
                Some(2),
            ),
            ("echo start\ncat <<EOF\n{\"a\":1}\nEOF", Some(1)),
            ("print(\"start\")\nprint(json.dumps(x))", Some(1)),
            ("console.log('a')\nconsole.log(JSON.stringify(b))", Some(1)),
            ("echo start >&2\necho '{}'", None),
            ("if x; then\n  echo no\n  exit 0\nfi\necho '{}'", None),
            ("echo done\nexit 0\necho '{}'", None),
            ("echo '{}'\necho after", None),
            ("echo \"$x\" | grep y\necho '{}'", None),
            ("cat >log <<END\necho text\nEND\necho '{}'", None),
            ("if x; then\n  echo a\nelse\n  echo '{}'\nfi", None),
        ];
        for (script, line) in found {
            assert_eq!(find_text_before_json(script), line, "{script}");
        }
    }

    #[test]
    fn ways_to_block_are_known() {
        assert!(can_block("x || exit 2"));
        assert!(can_block("print('{\"decision\": \"block\"}')"));
        assert!(!can_block("exit 0 # blocks nothing"));
    }
}
