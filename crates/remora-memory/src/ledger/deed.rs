//! What a call does that can be a use of something given. Looks at the call
//! alone.

use remora_protocol::EventName;
use serde_json::Value;

use super::About;
use crate::capture::Captured;
use crate::{folder, output};

/// Names that one call may ask for.
const NAMES: usize = 64;
/// Bytes of a command line, or of a text among a call's input, that are looked at.
const LOOKED_AT: usize = 16 * 1024;
/// What our program and our server are called.
const OURS: &str = "remora";
/// Fields of our tools that hold numbers or names of rows and nothing else.
const NAME_FIELDS: &[&str] = &["id", "ids", "uid", "uids", "name", "names", "around"];

/// A call, as far as it may be a use.
pub(super) struct Deed<'a> {
    what: What<'a>,
    project: &'a str,
}

enum What<'a> {
    /// A tool of ours was asked for these.
    Asked(Vec<String>),
    Opened(File<'a>),
    Edited(File<'a>),
    Ran {
        command: String,
        /// Rows that it asks our program for.
        asked: Vec<String>,
    },
}

struct File<'a> {
    path: &'a str,
    /// As seen from the project's root.
    inside: String,
}

impl<'a> Deed<'a> {
    /// What a finished call did; a command counts also when it failed, because
    /// it was run all the same.
    pub(super) fn of(event: &'a Captured) -> Option<Self> {
        let done = event.event.name == EventName::PostToolUse;
        let failed = event.event.name == EventName::PostToolUseFailure;
        let tool = event.text("tool_name");
        let input = event.value("tool_input")?;
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let file = |path: &'a str| File {
            path,
            inside: folder::relative(path, event.root()),
        };
        let what = match tool {
            "Bash" if done || failed => {
                let line = text("command")?;
                let line = &line[..line.floor_char_boundary(LOOKED_AT)];
                What::Ran {
                    command: output::same_command_key(line),
                    asked: asked_by_command(line),
                }
            }
            _ if !done => return None,
            "Read" => What::Opened(file(text("file_path")?)),
            "Edit" | "MultiEdit" | "Write" => What::Edited(file(text("file_path")?)),
            "NotebookEdit" => What::Edited(file(text("notebook_path")?)),
            tool if is_ours(tool) => {
                let mut names = Vec::new();
                asked_in(input, Place::Anywhere, &mut names);
                What::Asked(names)
            }
            _ => return None,
        };
        Some(Self {
            what,
            project: event.project(),
        })
    }

    /// How it makes use of a row; `opens` says whether opening a file counts.
    pub(super) fn uses(&self, opens: bool, about: &About) -> Option<&'static str> {
        let named = |asked: &[String]| asked.iter().any(|name| about.names.contains(name));
        match &self.what {
            What::Asked(asked) => named(asked).then_some("fetched"),
            What::Opened(file) => (opens && self.names(about, file)).then_some("opened"),
            What::Edited(file) => self.names(about, file).then_some("edited"),
            What::Ran { asked, .. } if named(asked) => Some("fetched"),
            What::Ran { command, .. } => {
                let same = about.command.as_ref() == Some(command) && !command.is_empty();
                same.then_some("run")
            }
        }
    }

    fn names(&self, about: &About, file: &File<'_>) -> bool {
        let here = about.project.is_empty() || about.project == self.project;
        about.files.iter().any(|named| {
            let inside = here && !named.starts_with('/') && *named == file.inside;
            inside || named == file.path
        })
    }
}

/// `mcp__server__tool`; the server may bear the name of a plugin before ours.
fn is_ours(tool: &str) -> bool {
    let server = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.rsplit_once("__"));
    server.is_some_and(|(server, _)| server.contains(OURS))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Numbers here may be anything.
    Anywhere,
    /// In a field for names of rows.
    Names,
}

fn asked_in(value: &Value, place: Place, names: &mut Vec<String>) {
    if names.len() >= NAMES {
        return;
    }
    match value {
        Value::Number(number) if place == Place::Names => names.push(number.to_string()),
        Value::String(text) => {
            let text = &text[..text.floor_char_boundary(LOOKED_AT)];
            let words = text.split(|c: char| c.is_whitespace() || c == ',');
            let sure = |word: &&str| place == Place::Names || is_name(word);
            let room = NAMES - names.len();
            names.extend(words.filter(sure).filter_map(name).take(room));
        }
        Value::Array(all) => all.iter().for_each(|one| asked_in(one, place, names)),
        Value::Object(fields) => {
            for (field, value) in fields {
                let place = if NAME_FIELDS.contains(&field.as_str()) {
                    Place::Names
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
    word.starts_with(super::MEMORY) || word.strip_prefix('#').is_some_and(number)
}

fn name(word: &str) -> Option<String> {
    let bare = word.trim_matches(['"', '\'', '(', ')', '`']);
    let bare = bare.strip_prefix('#').unwrap_or(bare);
    (!bare.is_empty()).then(|| bare.to_owned())
}

/// What a command line asks our program for: `remora show 12`, `remora timeline
/// --around 12`, `remora memory show no-mocks`.
fn asked_by_command(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !line.contains(OURS) {
        return names;
    }
    for part in line.split(['\n', ';', '|', '&']) {
        let is_program = |word: &str| word.rsplit('/').next() == Some(OURS);
        let mut words = part.split_whitespace().skip_while(|word| !is_program(word));
        words.next();
        let words: Vec<&str> = words.take(NAMES).collect();
        match words.as_slice() {
            ["show", rest @ ..] | ["memory", "show", rest @ ..] => {
                let plain = rest.iter().filter(|word| !word.starts_with('-'));
                names.extend(plain.filter_map(|word| name(word)));
            }
            ["timeline", rest @ ..] => {
                let value = rest.iter().enumerate().find_map(|(at, word)| {
                    let value = word.strip_prefix("--around")?;
                    match value.strip_prefix('=') {
                        Some(value) => Some(value),
                        None => rest.get(at + 1).copied(),
                    }
                });
                names.extend(value.and_then(name));
            }
            _ => {}
        }
        if names.len() >= NAMES {
            break;
        }
    }
    names
}
