//! Redacts a whole event: every string by its own text, by the key above it
//! and by the file it comes from.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::files::{self, Extent};
use super::names::{self, Class, Told};
use super::paths::Nature;
use super::value::{self, Place};
use super::{MARK, Marks, Redactor, header};

/// Keys that name the file an object is about.
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "notebook_path",
    "notebookPath",
    "path",
    "filename",
];

/// Keys under which parts of that file stand.
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "stdout",
    "stderr",
    "output",
    "oldString",
    "newString",
    "old_string",
    "new_string",
    "originalFile",
    "structuredPatch",
    "lines",
    "edits",
    "text",
    "result",
    "new_source",
    "old_source",
    "patch",
    "gitDiff",
    "diff",
    "error",
    "cell_source",
    "base64",
];

/// Keys of a tool's answer that are about it and not in it.
const LABELS: &[&str] = &[
    "type",
    "status",
    "mode",
    "event",
    "tool_name",
    "hook_event_name",
    "session_id",
    "transcript_path",
    "cwd",
    "tool_use_id",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "description",
    "level",
];

/// Where in the event we are.
#[derive(Clone, Copy)]
struct Around {
    nature: Nature,
    extent: Extent,
    /// Inside a part that holds contents of that file.
    inside: bool,
    /// Lines begin with the name of the file they come from.
    listing: bool,
}

pub(super) fn redact(redactor: &Redactor, value: &mut Value, marks: &mut Marks) {
    let around = Around {
        nature: Nature::Plain,
        extent: Extent::File,
        inside: false,
        listing: false,
    };
    let mut walk = Walk { redactor, marks };
    walk.value(value, around, None);
}

struct Walk<'a> {
    redactor: &'a Redactor,
    marks: &'a mut Marks,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, around: Around, told: Option<Told>) {
        match value {
            Value::String(text) => self.string(text, around, told),
            Value::Array(list) => {
                let strings = !list.is_empty() && list.iter().all(Value::is_string);
                if around.inside && around.nature == Nature::Denied && strings {
                    list.truncate(1);
                }
                for item in list {
                    self.value(item, around, told);
                }
            }
            Value::Object(map) => self.object(map, around),
            Value::Number(number) => {
                let long = number.to_string().len() >= 4;
                if long && told.is_some_and(|told| told.class == Class::Password) {
                    *value = Value::String(self.mark("password"));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, around: Around) {
        let around = self.around(map, around);
        let named = pair(map);
        for (key, value) in map.iter_mut() {
            let mut own = around;
            let answer = key == "tool_response";
            own.inside |= CONTENTS.contains(&key.as_str()) || answer;
            if own.inside && (LABELS.contains(&key.as_str()) || PATHS.contains(&key.as_str())) {
                own.inside = false;
                own.nature = Nature::Plain;
            }
            // A heredoc or an echo into the file.
            if key == "command" && own.nature == Nature::Settings {
                own.inside = true;
            }
            let told = if key == "value" {
                named
            } else {
                names::told(key)
            };
            self.value(value, own, told);
        }
        self.keys(map);
    }

    /// Keys are rarely secrets, so the map is rebuilt only when one is.
    fn keys(&mut self, map: &mut Map<String, Value>) {
        let mut none = Marks::new();
        let plain = |key: &String, none: &mut Marks| {
            matches!(self.redactor.text(key, none), Cow::Borrowed(_))
        };
        if map.keys().all(|key| plain(key, &mut none)) {
            return;
        }
        for (key, value) in std::mem::take(map) {
            let mut own = self.redactor.text(&key, self.marks).into_owned();
            let base = own.clone();
            let mut number = 2;
            while map.contains_key(&own) {
                own = format!("{base}-{number}");
                number += 1;
            }
            map.insert(own, value);
        }
    }

    /// What the object's own words say about the file it is about.
    fn around(&self, map: &Map<String, Value>, mut around: Around) -> Around {
        let input = map.get("tool_input").and_then(Value::as_object);
        let file = map.get("file").and_then(Value::as_object);
        for part in [Some(map), input, file].into_iter().flatten() {
            for path in PATHS.iter().filter_map(|key| part.get(*key)?.as_str()) {
                let nature = self.redactor.paths.nature(path);
                if nature > around.nature {
                    around.nature = nature;
                    around.extent = Extent::File;
                }
            }
            if let Some(command) = part.get("command").and_then(Value::as_str) {
                let nature = self.command(command);
                if nature > around.nature {
                    around.nature = nature;
                    around.extent = Extent::Output;
                }
                around.listing |= command.contains("grep") || command.contains("rg ");
            }
        }
        around.listing |= map.get("tool_name").and_then(Value::as_str) == Some("Grep");
        around
    }

    /// The strictest nature of a file that the command names.
    fn command(&self, command: &str) -> Nature {
        if !self.redactor.paths.any_denied() && !command.contains(['.', '_']) {
            return Nature::Plain;
        }
        command
            .split(|c: char| {
                c.is_whitespace()
                    || matches!(
                        c,
                        '"' | '\'' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '=' | ',' | '`'
                    )
            })
            .filter(|word| !word.is_empty() && word.len() < 4096)
            .map(|word| self.redactor.paths.nature(word))
            .max()
            .unwrap_or(Nature::Plain)
    }

    fn string(&mut self, text: &mut String, around: Around, told: Option<Told>) {
        if text.is_empty() {
            return;
        }
        let mut changed = None;
        if around.inside {
            if let Cow::Owned(new) = files::treat(text, around.nature, around.extent, self.marks) {
                changed = Some(new);
            }
            if around.listing
                && let Some(new) = self.listing(changed.as_deref().unwrap_or(text))
            {
                changed = Some(new);
            }
        }
        if let Cow::Owned(new) = self
            .redactor
            .text(changed.as_deref().unwrap_or(text), self.marks)
        {
            changed = Some(new);
        }
        if let Some(told) = told
            && let Some(new) = self.under(changed.as_deref().unwrap_or(text), told)
        {
            changed = Some(new);
        }
        if let Some(new) = changed {
            *text = new;
        }
    }

    /// The string as the value of a telling key.
    fn under(&mut self, text: &str, told: Told) -> Option<String> {
        match told.class {
            Class::Cookie => {
                let mut found = Vec::new();
                header::cookies(text, 0, &mut found);
                found.retain(|finding| !text[finding.range.clone()].starts_with(MARK));
                (!found.is_empty()).then(|| super::replace(text, &found, self.marks))
            }
            Class::Authorization => {
                let skip = header::scheme(text)?;
                let secret = value::secret(text[skip..].trim_end(), told.class, Place::Quoted);
                secret.then(|| format!("{}{}", &text[..skip], self.mark(told.kind)))
            }
            Class::Signature => None,
            Class::Password | Class::Secret | Class::Weak | Class::Phrase => {
                value::secret(text, told.class, Place::Quoted).then(|| self.mark(told.kind))
            }
        }
    }

    /// `path:12:text` and `path-12-text`, line by line.
    fn listing(&mut self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut changed = false;
        for line in text.split_inclusive('\n') {
            let end = line.find([':', '=']).unwrap_or(0);
            let path = &line[..end];
            let path = path
                .rsplit_once('-')
                .filter(|(_, number)| {
                    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
                })
                .map_or(path, |(path, _)| path);
            let context = line.split('-').next().unwrap_or_default();
            let nature = self
                .redactor
                .paths
                .nature(path)
                .max(self.redactor.paths.nature(context));
            let rest = line
                .get(path.len().max(1).min(line.len())..)
                .unwrap_or_default();
            let body = rest.trim_end_matches(['\n', '\r']);
            let head = line.len() - rest.len();
            if nature == Nature::Plain || head <= 1 || body.is_empty() {
                out.push_str(line);
                continue;
            }
            let treated = files::treat(
                body.trim_start_matches(':'),
                nature,
                Extent::Output,
                self.marks,
            );
            if let Cow::Owned(new) = treated {
                changed = true;
                out.push_str(&line[..head]);
                out.push(':');
                out.push_str(&new);
                out.push_str(&rest[body.len()..]);
            } else {
                out.push_str(line);
            }
        }
        changed.then_some(out)
    }

    fn mark(&mut self, kind: &'static str) -> String {
        self.marks.add(Cow::Borrowed(kind));
        format!("{MARK}{kind}]")
    }
}

/// `{"name": "DB_PASSWORD", "value": ".."}`
fn pair(map: &Map<String, Value>) -> Option<Told> {
    map.get("value")?;
    ["name", "key", "header", "variable", "id"]
        .iter()
        .filter_map(|key| map.get(*key)?.as_str())
        .find_map(names::told)
}
