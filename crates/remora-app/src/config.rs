//! `config.toml`: the keys that exist, in one table, and each value with where
//! it comes from. The file is the user's alone: nothing in a repository can
//! switch capture on or sending anything.

use std::ops::Range;
use std::path::Path;

use remora_core::text::{SwapCost, edit_distance};
use remora_files::{MAX_SETTINGS_BYTES, read_text};
use remora_memory::CapturePolicy;
use remora_redact::RedactionRules;
use serde_json::{Value, json};
use toml_edit::{Document, DocumentMut, Item, TableLike};

use crate::error::{AppError, ErrorKind};

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// True or false.
    Flag,
    /// From, to.
    Number(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text; empty is none.
    Text,
    /// One of these words, or an absolute path.
    WordOrPath(&'static [&'static str]),
    /// Strings.
    List,
    /// Names with a string each.
    Table,
}

/// One key.
#[derive(Debug)]
pub struct ConfigKey {
    /// Its dotted name.
    pub name: &'static str,
    /// What it takes.
    pub shape: ValueType,
    /// As TOML.
    pub default: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
}

const fn define_key(
    name: &'static str,
    shape: ValueType,
    default: &'static str,
    about: &'static str,
) -> ConfigKey {
    ConfigKey {
        name,
        shape,
        default,
        about,
    }
}

/// Every key there is.
pub const CONFIG_KEYS: &[ConfigKey] = &[
    define_key(
        "capture.skip_tools",
        ValueType::List,
        "[]",
        "tools whose calls are not kept",
    ),
    define_key(
        "capture.ignore",
        ValueType::List,
        "[]",
        "files that are not captured, as in .gitignore; a project adds its own in .remoraignore",
    ),
    define_key(
        "capture.git",
        ValueType::Flag,
        "true",
        "the worker takes in what commits of your projects say",
    ),
    define_key(
        "redact.patterns",
        ValueType::Table,
        "{}",
        "regular expressions whose matches are redacted in every text, by name",
    ),
    define_key(
        "redact.deny_paths",
        ValueType::List,
        "[]",
        "files whose contents are never kept, as in .gitignore",
    ),
    define_key(
        "spool.fsync",
        ValueType::Flag,
        "false",
        "hooks wait until the disk has their event",
    ),
    define_key(
        "worker.idle_minutes",
        ValueType::Number(1, 1_000_000),
        "30",
        "the worker ends after this long without work",
    ),
    define_key(
        "archive.max_mb",
        ValueType::Number(1, 1_000_000_000),
        "1024",
        "the archive of raw events drops its oldest files beyond this",
    ),
    define_key(
        "retention.days",
        ValueType::Number(0, 1_000_000),
        "0",
        "`prune` removes what is older; 0 keeps everything",
    ),
    define_key(
        "retention.max_mb",
        ValueType::Number(0, 1_000_000_000),
        "0",
        "`prune` removes the oldest until the database is smaller; 0 means no limit",
    ),
    define_key(
        "search.model",
        ValueType::WordOrPath(&["built-in", "off"]),
        "\"built-in\"",
        "what finds items by their meaning: built-in, off, or the model's file for a build without it",
    ),
    define_key(
        "search.background",
        ValueType::Flag,
        "true",
        "the worker embeds items when it has nothing else to do",
    ),
    define_key(
        "recall.start_tokens",
        ValueType::Number(0, 2_400),
        "900",
        "tokens that are injected at a session's start, at most; small projects take fewer; 0 injects nothing",
    ),
    define_key(
        "recall.index_rows",
        ValueType::Number(0, 200),
        "12",
        "lines on earlier work at a session's start",
    ),
    define_key(
        "recall.summaries",
        ValueType::Number(0, 50),
        "10",
        "sessions that are searched for the state of the work and open steps",
    ),
    define_key(
        "recall.prompt_tokens",
        ValueType::Number(0, 2_000),
        "400",
        "tokens that are injected at a prompt, at most; 0 injects nothing",
    ),
    define_key(
        "recall.suggest_saves",
        ValueType::Flag,
        "false",
        "a pattern that repeats is proposed as a memory",
    ),
    define_key(
        "recall.guard_edits",
        ValueType::Number(0, 1_000),
        "0",
        "after this many changed files a stop asks once whether something is worth saving; 0 never",
    ),
    define_key(
        "ui.greet",
        ValueType::Flag,
        "true",
        "one line at a session's start tells the user what was remembered",
    ),
    define_key(
        "mcp.all_projects",
        ValueType::Flag,
        "false",
        "agents may read the memory of other projects than their own",
    ),
    define_key(
        "folders.auto",
        ValueType::Flag,
        "false",
        "the worker keeps the notes of `remora folders` up to date",
    ),
    define_key(
        "models.provider",
        ValueType::Word(remora_model::PROVIDER_WORDS),
        "\"off\"",
        "who answers questions to a model, such as those of prompt hooks; set by `remora models use`",
    ),
    define_key(
        "models.url",
        ValueType::Text,
        "\"\"",
        "the provider's address, if it is not its usual one",
    ),
    define_key(
        "models.model",
        ValueType::Text,
        "\"\"",
        "the model for questions that name none",
    ),
    define_key(
        "models.key_file",
        ValueType::Text,
        "\"\"",
        "a file with the provider's key, readable by you alone",
    ),
    define_key(
        "models.names",
        ValueType::Table,
        "{}",
        "names of models in hooks, and the provider's models to ask in their place",
    ),
    define_key(
        "models.verifier_shell",
        ValueType::Flag,
        "false",
        "agent hooks may also run commands that only read",
    ),
];

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// Nothing was said.
    Default,
    /// The user's file.
    File,
}

/// All values.
#[derive(Debug)]
pub struct Config {
    values: Vec<(&'static ConfigKey, Value, ValueSource)>,
}

impl Config {
    /// Reads the file; a missing one means defaults.
    pub fn load(file: &Path) -> Result<Self, AppError> {
        let text = match read_text(file, MAX_SETTINGS_BYTES) {
            Err(e) if e.is_missing() => String::new(),
            Err(e) => {
                return Err(AppError::file(file, e.into()));
            }
            Ok(text) => text,
        };
        Self::parse(&text)
            .map_err(|e| AppError::new(ErrorKind::Settings, format!("{}: {e}", file.display())))
    }

    /// The values of this text, or all that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with_errors(text).map_err(|faults| faults.join("; "))
    }

    /// The values, or all that is wrong with the file.
    pub fn parse_with_errors(text: &str) -> Result<Self, Vec<String>> {
        let line = |span: Option<Range<usize>>| {
            span.and_then(|span| text.get(..span.start))
                .map_or(1, |before| before.matches('\n').count() + 1)
        };
        let document = Document::parse(text).map_err(|e| {
            let message = e.message().replace('\n', ", ");
            vec![format!(
                "line {}: {message}; correct that line",
                line(e.span())
            )]
        })?;
        let mut found = Vec::new();
        // All faults at once, so that a user who edits the file by hand need not meet them
        // one by one.
        let mut faults = Vec::new();
        for (name, item) in flatten_keys(document.as_item(), String::new()) {
            let value = match CONFIG_KEYS.iter().find(|k| k.name == name) {
                Some(key) => check_value(key, &item).map(|value| (key, value)),
                None => Err(format_unknown_key(
                    &name,
                    &format!("`remora config unset {name}` takes it out"),
                )),
            };
            match value {
                Ok(value) => found.push(value),
                Err(fault) => faults.push(format!("line {}: {fault}", line(item.span()))),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let values = CONFIG_KEYS
            .iter()
            .map(|key| match found.iter().find(|(k, _)| k.name == key.name) {
                Some((_, value)) => Ok((key, value.clone(), ValueSource::File)),
                None => Ok((
                    key,
                    // Defaults pass the same check as the user's values, so that one that
                    // does not fit fails the first test.
                    check_value(key, &parse_literal(key.default)?)?,
                    ValueSource::Default,
                )),
            })
            .collect::<Result<_, String>>()
            .map_err(|fault| vec![fault])?;
        Ok(Self { values })
    }

    /// All keys with value and source.
    pub fn iter(&self) -> impl Iterator<Item = &(&'static ConfigKey, Value, ValueSource)> {
        self.values.iter()
    }

    fn get(&self, name: &str) -> &Value {
        let row = self.values.iter().find(|(key, _, _)| key.name == name);
        row.map_or(&Value::Null, |(_, value, _)| value)
    }

    /// A switch.
    pub fn get_flag(&self, name: &str) -> bool {
        self.get(name).as_bool().unwrap_or(false)
    }

    /// A number.
    pub fn get_number(&self, name: &str) -> u64 {
        self.get(name).as_u64().unwrap_or(0)
    }

    /// A word or a path.
    pub fn get_text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    /// Strings.
    pub fn get_list(&self, name: &str) -> Vec<String> {
        let list = self.get(name).as_array().map(Vec::as_slice);
        list.unwrap_or_default()
            .iter()
            .filter_map(|v| Some(v.as_str()?.to_owned()))
            .collect()
    }

    /// Names with a string each.
    pub fn get_table(&self, name: &str) -> Vec<(String, String)> {
        let table = self.get(name).as_object();
        table
            .into_iter()
            .flatten()
            .filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())))
            .collect()
    }
}

impl Config {
    /// What is kept of events.
    pub fn capture_policy(&self) -> CapturePolicy {
        CapturePolicy {
            redaction: RedactionRules {
                patterns: self.get_table("redact.patterns"),
                deny_paths: self.get_list("redact.deny_paths"),
            },
            skip_tools: self.get_list("capture.skip_tools"),
        }
    }
}

/// The file's text with one value changed; comments and order stay. A list
/// takes several values; of a table one entry can be named.
pub fn set_value(text: &str, name: &str, values: &[String]) -> Result<String, String> {
    let (key, entry) = find_key(name)?;
    let item = match (entry, key.shape, values) {
        (Some(_), _, [value])
        | (None, ValueType::WordOrPath(_) | ValueType::Word(_) | ValueType::Text, [value]) => {
            toml_edit::value(value.as_str())
        }
        (None, ValueType::List, [value]) if value.trim_start().starts_with('[') => {
            parse_literal(value).map_err(|_| format!("{name}: `{value}` is not a TOML list"))?
        }
        (None, ValueType::List, values) => {
            let list: toml_edit::Array = values.iter().map(String::as_str).collect();
            toml_edit::value(list)
        }
        (None, _, [value]) => parse_literal(value)
            .map_err(|_| check_value(key, &Item::None).err().unwrap_or_default())?,
        _ => return Err(format!("{name}: takes one value")),
    };
    if entry.is_none() {
        check_value(key, &item)?;
    }
    let mut document = parse_document(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut path: Vec<&str> = key.name.split('.').collect();
    path.extend(entry);
    let last = path.pop().unwrap_or(name);
    for part in path {
        table = table
            .entry(part)
            .or_insert(toml_edit::table())
            .as_table_like_mut()
            .ok_or_else(|| format!("`{part}` must be a table"))?;
    }
    replace_item(table, last, item);
    Ok(document.to_string())
}

/// The file's text without a value, which may be one that this version does not know.
pub fn remove_value(text: &str, name: &str) -> Result<String, String> {
    let mut document = parse_document(text)?;
    let path = match find_key(name) {
        Ok((key, entry)) => key.name.split('.').chain(entry).collect(),
        Err(unknown) => {
            // A key that this version does not know can still be removed: that is how a
            // typing error, or a key of a newer version, leaves the file.
            let there = flatten_keys(document.as_item(), String::new());
            if !there.iter().any(|(key, _)| key == name) {
                return Err(unknown);
            }
            name.split('.').collect()
        }
    };
    let mut path: Vec<&str> = path;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let last = path.pop().unwrap_or(name);
    for part in path {
        match table.get_mut(part).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    if table.remove(last).is_none() {
        return Ok(text.to_owned());
    }
    Ok(document.to_string())
}

/// The key of this name, or of the table that the name is an entry of.
fn find_key(name: &str) -> Result<(&'static ConfigKey, Option<&str>), String> {
    for key in CONFIG_KEYS {
        match name.strip_prefix(key.name) {
            Some("") => return Ok((key, None)),
            Some(rest) if key.shape == ValueType::Table => {
                if let Some(entry) = rest.strip_prefix('.').filter(|entry| !entry.is_empty()) {
                    return Ok((key, Some(entry)));
                }
            }
            _ => {}
        }
    }
    Err(format_unknown_key(name, "`remora config show` lists all"))
}

fn parse_document(text: &str) -> Result<DocumentMut, String> {
    text.parse()
        .map_err(|e: toml_edit::TomlError| e.message().to_owned())
}

/// Puts a value in; what surrounded the old one, its comments above all,
/// stays.
fn replace_item(table: &mut dyn TableLike, name: &str, mut item: Item) {
    let Some(slot) = table.get_mut(name) else {
        table.insert(name, item);
        return;
    };
    if let (Some(new), Some(old)) = (item.as_value_mut(), slot.as_value()) {
        *new.decor_mut() = old.decor().clone();
    }
    *slot = item;
}

fn parse_literal(text: &str) -> Result<Item, String> {
    let document: DocumentMut = format!("x = {text}")
        .parse()
        .map_err(|e: toml_edit::TomlError| e.message().to_owned())?;
    Ok(document["x"].clone())
}

/// Every key of the file with its dotted name. A table that is itself a value
/// stays whole.
fn flatten_keys(item: &Item, prefix: String) -> Vec<(String, Item)> {
    let whole = CONFIG_KEYS
        .iter()
        .any(|k| k.name == prefix && k.shape == ValueType::Table);
    match item.as_table_like() {
        Some(table) if !whole => table
            .iter()
            .flat_map(|(name, item)| {
                let name = if prefix.is_empty() {
                    name.to_owned()
                } else {
                    format!("{prefix}.{name}")
                };
                flatten_keys(item, name)
            })
            .collect(),
        _ => vec![(prefix, item.clone())],
    }
}

fn check_value(key: &ConfigKey, item: &Item) -> Result<Value, String> {
    let name = key.name;
    match key.shape {
        ValueType::Flag => item
            .as_bool()
            .map(Value::from)
            .ok_or_else(|| format!("{name}: must be true or false")),
        ValueType::Number(from, to) => item
            .as_integer()
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| (from..=to).contains(n))
            .map(Value::from)
            .ok_or_else(|| format!("{name}: must be a number from {from} to {to}")),
        ValueType::Word(words) => item
            .as_str()
            .filter(|text| words.contains(text))
            .map(Value::from)
            .ok_or_else(|| format!("{name}: must be one of `{}`", words.join("`, `"))),
        ValueType::Text => item
            .as_str()
            .map(Value::from)
            .ok_or_else(|| format!("{name}: must be a string")),
        ValueType::WordOrPath(words) => item
            .as_str()
            .filter(|text| words.contains(text) || Path::new(text).is_absolute())
            .map(Value::from)
            .ok_or_else(|| {
                let words = words.join("`, `");
                format!("{name}: must be `{words}` or an absolute path")
            }),
        ValueType::List => item
            .as_array()
            .and_then(|list| list.iter().map(|v| Some(json!(v.as_str()?))).collect())
            .map(Value::Array)
            .ok_or_else(|| format!("{name}: must be a list of strings")),
        ValueType::Table => item
            .as_table_like()
            .and_then(|table| {
                table
                    .iter()
                    .map(|(k, v)| Some((k.to_owned(), json!(v.as_str()?))))
                    .collect()
            })
            .map(Value::Object)
            .ok_or_else(|| format!("{name}: must be a table of strings")),
    }
}

/// How many letters may differ for a key to be suggested.
const MAX_HINT_DISTANCE: usize = 6;

fn format_unknown_key(name: &str, advice: &str) -> String {
    let near = CONFIG_KEYS
        .iter()
        .filter_map(|key| {
            let far = edit_distance(name, key.name, SwapCost::Two, MAX_HINT_DISTANCE)?;
            Some((far, key.name))
        })
        .min();
    match near {
        Some((far, near)) if far * 2 <= near.len() => {
            format!("unknown key `{name}`; did you mean `{near}`?")
        }
        _ => format!("unknown key `{name}`; {advice}"),
    }
}

#[cfg(test)]
mod tests;
