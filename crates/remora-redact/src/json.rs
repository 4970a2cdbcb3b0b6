//! Redacts a whole event: every string by its own text, by the key above it
//! and by the file it comes from.

use std::borrow::Cow;

use remora_core::field_roles::FieldRoles;
use serde_json::{Map, Value};

use super::files::{self, ValueExtent};
use super::names::{self, SecretClass, SecretName};
use super::paths::PathSensitivity;
use super::value::{self, ValueContext};
use super::{MARK_PREFIX, RedactionCounts, Redactor, header, patch};

/// What the surrounding objects say about a string.
#[derive(Clone, Copy)]
struct WalkContext {
    nature: PathSensitivity,
    extent: ValueExtent,
    /// Inside a part that holds contents of that file.
    inside: bool,
    /// Lines begin with the name of the file they come from.
    listing: bool,
}

/// The text of a file, by what its path says of it.
pub(super) fn redact_file_text(
    redactor: &Redactor,
    path: &str,
    text: &mut String,
    marks: &mut RedactionCounts,
) {
    let around = WalkContext {
        nature: redactor.paths.classify_path(path),
        extent: ValueExtent::File,
        inside: true,
        listing: false,
    };
    let mut walk = JsonRedactor {
        redactor,
        roles: &FieldRoles::NONE,
        marks,
    };
    walk.redact_string(text, around, None);
}

pub(super) fn redact_event(
    redactor: &Redactor,
    roles: &FieldRoles,
    value: &mut Value,
    marks: &mut RedactionCounts,
) {
    let around = WalkContext {
        nature: PathSensitivity::Plain,
        extent: ValueExtent::File,
        inside: false,
        listing: false,
    };
    let mut walk = JsonRedactor {
        redactor,
        roles,
        marks,
    };
    walk.redact_value(value, around, None);
}

struct JsonRedactor<'a> {
    redactor: &'a Redactor,
    roles: &'a FieldRoles,
    marks: &'a mut RedactionCounts,
}

impl JsonRedactor<'_> {
    fn redact_value(
        &mut self,
        value: &mut Value,
        around: WalkContext,
        secret_name: Option<SecretName>,
    ) {
        match value {
            Value::String(text) => self.redact_string(text, around, secret_name),
            Value::Array(list) => {
                let strings = !list.is_empty() && list.iter().all(Value::is_string);
                if around.inside && around.nature == PathSensitivity::Denied && strings {
                    // One mark for the whole file, not one for each of its
                    // lines.
                    list.truncate(1);
                }
                for item in list {
                    self.redact_value(item, around, secret_name);
                }
            }
            Value::Object(map) => self.redact_object(map, around),
            Value::Number(number) => {
                // Shorter numbers are counts and flags.
                let long = number.to_string().len() >= 4;
                if long
                    && secret_name
                        .is_some_and(|secret_name| secret_name.class == SecretClass::Password)
                {
                    *value = Value::String(self.record_mark("password"));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn redact_object(&mut self, map: &mut Map<String, Value>, around: WalkContext) {
        // Before the fields are walked: the path may stand behind the contents
        // it names.
        let around = self.extend_context(map, around);
        let named = find_named_secret(map);
        for (key, value) in map.iter_mut() {
            let mut own = around;
            let name = key.as_str();
            let answer = name == self.roles.answer;
            own.inside |= self.roles.contents.contains(&name) || answer;
            if own.inside && (self.roles.labels.contains(&name) || self.roles.paths.contains(&name))
            {
                // Paths and labels describe the file; marking them would hide
                // which file it was.
                own.inside = false;
                own.nature = PathSensitivity::Plain;
            }
            if name == self.roles.command
                && let Some(text) = value.as_str().filter(|text| patch::is_patch(text))
            {
                let redacted = patch::redact_patch(text, &self.redactor.paths, self.marks);
                // What it says of one file must not decide what is kept of another.
                own.nature = PathSensitivity::Plain;
                if let Some(redacted) = redacted {
                    *value = Value::String(redacted);
                }
            }
            // A heredoc or an echo into the file.
            if name == self.roles.command && own.nature == PathSensitivity::Settings {
                own.inside = true;
            }
            let secret_name = if key == "value" {
                named
            } else {
                names::parse_secret_name(key)
            };
            self.redact_value(value, own, secret_name);
        }
        self.redact_keys(map);
    }

    /// Keys are rarely secrets, so the map is rebuilt only when one is.
    fn redact_keys(&mut self, map: &mut Map<String, Value>) {
        let mut none = RedactionCounts::new();
        let plain = |key: &String, none: &mut RedactionCounts| {
            matches!(self.redactor.redact_text(key, none), Cow::Borrowed(_))
        };
        if map.keys().all(|key| plain(key, &mut none)) {
            return;
        }
        for (key, value) in std::mem::take(map) {
            let mut own = self.redactor.redact_text(&key, self.marks).into_owned();
            let base = own.clone();
            let mut number = 2;
            // Two secret keys get the same mark; none of their values may be
            // lost.
            while map.contains_key(&own) {
                own = format!("{base}-{number}");
                number += 1;
            }
            map.insert(own, value);
        }
    }

    /// What the object's own words say about the file it is about.
    fn extend_context(&self, map: &Map<String, Value>, mut around: WalkContext) -> WalkContext {
        let roles = self.roles;
        let input = map.get(roles.input).and_then(Value::as_object);
        let file = map.get(roles.file).and_then(Value::as_object);
        for part in [Some(map), input, file].into_iter().flatten() {
            for path in roles
                .paths
                .iter()
                .filter_map(|key| part.get(*key)?.as_str())
            {
                // Only ever stricter: an inner object must not lift what an
                // outer one denied.
                let nature = self.redactor.paths.classify_path(path);
                if nature > around.nature {
                    around.nature = nature;
                    around.extent = ValueExtent::File;
                }
            }
            if let Some(command) = part.get(roles.command).and_then(Value::as_str) {
                let nature = self.classify_command(command);
                if nature > around.nature {
                    around.nature = nature;
                    around.extent = ValueExtent::Output;
                }
                // Their output mixes lines of many files, each named in front
                // of its line.
                around.listing |= command.contains("grep") || command.contains("rg ");
            }
        }
        let tool = map.get(roles.tool).and_then(Value::as_str);
        around.listing |= tool.is_some_and(|tool| roles.listing_tools.contains(&tool));
        around
    }

    /// The strictest nature of a file that the command names.
    fn classify_command(&self, command: &str) -> PathSensitivity {
        // Nearly all sensitive names have one of these, so most commands are
        // not split at all.
        if !self.redactor.paths.any_denied() && !command.contains(['.', '_']) {
            return PathSensitivity::Plain;
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
            .map(|word| self.redactor.paths.classify_path(word))
            .max()
            .unwrap_or(PathSensitivity::Plain)
    }

    fn redact_string(
        &mut self,
        text: &mut String,
        around: WalkContext,
        secret_name: Option<SecretName>,
    ) {
        if text.is_empty() {
            return;
        }
        let mut changed = None;
        if around.inside {
            if let Cow::Owned(new) =
                files::redact_file_text(text, around.nature, around.extent, self.marks)
            {
                changed = Some(new);
            }
            if around.listing
                && let Some(new) = self.redact_listing(changed.as_deref().unwrap_or(text))
            {
                changed = Some(new);
            }
        }
        if let Cow::Owned(new) = self
            .redactor
            .redact_text(changed.as_deref().unwrap_or(text), self.marks)
        {
            changed = Some(new);
        }
        // Last: a value that its own shape explains gets the better mark.
        if let Some(secret_name) = secret_name
            && let Some(new) =
                self.redact_named_value(changed.as_deref().unwrap_or(text), secret_name)
        {
            changed = Some(new);
        }
        if let Some(new) = changed {
            *text = new;
        }
    }

    /// The string as the value of a telling key.
    fn redact_named_value(&mut self, text: &str, secret_name: SecretName) -> Option<String> {
        match secret_name.class {
            SecretClass::Cookie => {
                let mut found = Vec::new();
                header::find_cookie_values(text, 0, &mut found);
                found.retain(|finding| !text[finding.range.clone()].starts_with(MARK_PREFIX));
                (!found.is_empty()).then(|| super::replace_secrets(text, &found, self.marks))
            }
            SecretClass::Authorization => {
                let skip = header::find_credentials_start(text)?;
                let secret = value::is_secret(
                    text[skip..].trim_end(),
                    secret_name.class,
                    ValueContext::Quoted,
                );
                secret.then(|| format!("{}{}", &text[..skip], self.record_mark(secret_name.kind)))
            }
            SecretClass::Signature => None,
            SecretClass::Password
            | SecretClass::Secret
            | SecretClass::Weak
            | SecretClass::Phrase => {
                value::is_secret(text, secret_name.class, ValueContext::Quoted)
                    .then(|| self.record_mark(secret_name.kind))
            }
        }
    }

    /// `path:12:text` and `path-12-text`, line by line.
    fn redact_listing(&mut self, text: &str) -> Option<String> {
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
                .classify_path(path)
                .max(self.redactor.paths.classify_path(context));
            let rest = line
                .get(path.len().max(1).min(line.len())..)
                .unwrap_or_default();
            let body = rest.trim_end_matches(['\n', '\r']);
            let head = line.len() - rest.len();
            if nature == PathSensitivity::Plain || head <= 1 || body.is_empty() {
                out.push_str(line);
                continue;
            }
            let treated = files::redact_file_text(
                body.trim_start_matches(':'),
                nature,
                ValueExtent::Output,
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

    fn record_mark(&mut self, kind: &'static str) -> String {
        self.marks.increment_kind(Cow::Borrowed(kind));
        format!("{MARK_PREFIX}{kind}]")
    }
}

/// `{"name": "DB_PASSWORD", "value": ".."}`
fn find_named_secret(map: &Map<String, Value>) -> Option<SecretName> {
    map.get("value")?;
    ["name", "key", "header", "variable", "id"]
        .iter()
        .filter_map(|key| map.get(*key)?.as_str())
        .find_map(names::parse_secret_name)
}
