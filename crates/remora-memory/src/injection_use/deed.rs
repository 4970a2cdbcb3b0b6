//! What a call does that can be a use of something given. Looks at the call
//! alone.

use remora_core::EventName;
use remora_core::agent_event::EventKind;
use remora_core::tool_call::ToolCall;
use serde_json::Value;

use super::UseSignals;
use crate::capture::CapturedEvent;
use crate::{folder, output};

/// Names that one call may ask for.
const MAX_NAMES: usize = 64;
/// Bytes of a command line, or of a text among a call's input, that are looked at.
const MAX_SCANNED_BYTES: usize = 16 * 1024;
/// What our program and our server are called.
const PROGRAM_NAME: &str = "remora";
/// Fields of our tools that hold numbers or names of rows and nothing else.
const NAME_FIELDS: &[&str] = &["id", "ids", "uid", "uids", "name", "names", "around"];

/// A call, as far as it may be a use.
pub(super) struct ToolUse<'a> {
    what: ToolUseKind<'a>,
    project: &'a str,
}

enum ToolUseKind<'a> {
    /// A tool of ours was asked for these.
    Asked(Vec<String>),
    Opened(UsedFile<'a>),
    Edited(Vec<UsedFile<'a>>),
    Ran {
        command: String,
        /// Rows that it asks our program for.
        asked: Vec<String>,
    },
}

struct UsedFile<'a> {
    path: &'a str,
    /// As seen from the project's root.
    inside: String,
}

impl<'a> ToolUse<'a> {
    /// What a finished call did; a command counts also when it failed, because
    /// it was run all the same.
    pub(super) fn from_event(event: &'a CapturedEvent) -> Option<Self> {
        let EventKind::ToolFinished(tool, _) = &event.event.kind else {
            return None;
        };
        let done = event.event.name == EventName::PostToolUse;
        let file = |path: &'a str| UsedFile {
            path,
            inside: folder::relative_to_root(path, event.root()),
        };
        let what = match &tool.call {
            ToolCall::Shell(shell) => {
                let line = shell.command.as_str();
                let line = &line[..line.floor_char_boundary(MAX_SCANNED_BYTES)];
                ToolUseKind::Ran {
                    command: output::same_command_key(line),
                    asked: asked_by_command(line),
                }
            }
            _ if !done => return None,
            ToolCall::ReadFile(read) if !read.is_notebook_tool => {
                ToolUseKind::Opened(file(read.path.as_deref()?))
            }
            ToolCall::EditFiles(files) => {
                let named = files.iter().filter(|edit| edit.is_named);
                ToolUseKind::Edited(named.map(|edit| file(&edit.path)).collect())
            }
            ToolCall::EditNotebook(edit) if edit.is_named => {
                ToolUseKind::Edited(vec![file(&edit.path)])
            }
            ToolCall::Mcp {
                server,
                tool,
                input,
            } if is_ours(server, tool) => {
                let mut names = Vec::new();
                asked_in(input, InputField::Anywhere, &mut names);
                ToolUseKind::Asked(names)
            }
            _ => return None,
        };
        Some(Self {
            what,
            project: event.project(),
        })
    }

    /// How it makes use of a row; `opens` says whether opening a file counts.
    pub(super) fn find_item_use(&self, opens: bool, about: &UseSignals) -> Option<&'static str> {
        let named = |asked: &[String]| asked.iter().any(|name| about.names.contains(name));
        match &self.what {
            ToolUseKind::Asked(asked) => named(asked).then_some("fetched"),
            ToolUseKind::Opened(file) => {
                (opens && self.is_about_file(about, file)).then_some("opened")
            }
            ToolUseKind::Edited(files) => {
                let mut files = files.iter();
                files
                    .any(|file| self.is_about_file(about, file))
                    .then_some("edited")
            }
            ToolUseKind::Ran { asked, .. } if named(asked) => Some("fetched"),
            ToolUseKind::Ran { command, .. } => {
                let same = about.command.as_ref() == Some(command) && !command.is_empty();
                same.then_some("run")
            }
        }
    }

    fn is_about_file(&self, about: &UseSignals, file: &UsedFile<'_>) -> bool {
        let here = about.project.is_empty() || about.project == self.project;
        about.files.iter().any(|named| {
            let inside = here && !named.starts_with('/') && *named == file.inside;
            inside || named == file.path
        })
    }
}

/// The server may bear the name of a plugin before ours, or pass on the tools of
/// others under their servers' names.
fn is_ours(server: &str, tool: &str) -> bool {
    let passed_on = tool.rsplit_once("__").map_or("", |(server, _)| server);
    [server, passed_on]
        .iter()
        .any(|name| name.contains(PROGRAM_NAME))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InputField {
    /// Numbers here may be anything.
    Anywhere,
    /// In a field for names of rows.
    Names,
}

fn asked_in(value: &Value, place: InputField, names: &mut Vec<String>) {
    if names.len() >= MAX_NAMES {
        return;
    }
    match value {
        Value::Number(number) if place == InputField::Names => names.push(number.to_string()),
        Value::String(text) => {
            let text = &text[..text.floor_char_boundary(MAX_SCANNED_BYTES)];
            let words = text.split(|c: char| c.is_whitespace() || c == ',');
            let sure = |word: &&str| place == InputField::Names || is_name(word);
            let room = MAX_NAMES - names.len();
            names.extend(words.filter(sure).filter_map(parse_item_name).take(room));
        }
        Value::Array(all) => all.iter().for_each(|one| asked_in(one, place, names)),
        Value::Object(fields) => {
            for (field, value) in fields {
                let place = if NAME_FIELDS.contains(&field.as_str()) {
                    InputField::Names
                } else {
                    place
                };
                asked_in(value, place, names);
            }
        }
        _ => {}
    }
}

/// `#12` and `memory://…` can mean nothing else.
fn is_name(word: &str) -> bool {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    word.starts_with(super::MEMORY_SCHEME) || word.strip_prefix('#').is_some_and(number)
}

fn parse_item_name(word: &str) -> Option<String> {
    let bare = word.trim_matches(['"', '\'', '(', ')', '`']);
    let bare = bare.strip_prefix('#').unwrap_or(bare);
    (!bare.is_empty()).then(|| bare.to_owned())
}

/// What a command line asks our program for: `remora show 12`, `remora timeline
/// --around 12`, `remora memory show no-mocks`.
fn asked_by_command(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !line.contains(PROGRAM_NAME) {
        return names;
    }
    for part in line.split(['\n', ';', '|', '&']) {
        let is_program = |word: &str| word.rsplit('/').next() == Some(PROGRAM_NAME);
        let mut words = part.split_whitespace().skip_while(|word| !is_program(word));
        words.next();
        let words: Vec<&str> = words.take(MAX_NAMES).collect();
        match words.as_slice() {
            ["show", rest @ ..] | ["memory", "show", rest @ ..] => {
                let plain = rest.iter().filter(|word| !word.starts_with('-'));
                names.extend(plain.filter_map(|word| parse_item_name(word)));
            }
            ["timeline", rest @ ..] => {
                let value = rest.iter().enumerate().find_map(|(at, word)| {
                    let value = word.strip_prefix("--around")?;
                    match value.strip_prefix('=') {
                        Some(value) => Some(value),
                        None => rest.get(at + 1).copied(),
                    }
                });
                names.extend(value.and_then(parse_item_name));
            }
            _ => {}
        }
        if names.len() >= MAX_NAMES {
            break;
        }
    }
    names
}
