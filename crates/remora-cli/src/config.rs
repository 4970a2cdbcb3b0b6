//! `config.toml`: the keys that exist, in one table, and each value with where
//! it comes from. The file is the person's alone: nothing in a repository can
//! switch capture on or sending anything.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::error::CliError;

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Flag,
    /// From, to.
    Number(u64, u64),
    /// One of these words, or an absolute path.
    WordOrPath(&'static [&'static str]),
    /// Strings.
    List,
    /// Names with a string each.
    Table,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// As TOML.
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
}

const fn key(name: &'static str, shape: Shape, default: &'static str, about: &'static str) -> Key {
    Key {
        name,
        shape,
        default,
        about,
    }
}

/// Every key there is.
pub(crate) const KEYS: &[Key] = &[
    key(
        "capture.skip_tools",
        Shape::List,
        "[]",
        "tools whose calls are not kept",
    ),
    key(
        "capture.ignore",
        Shape::List,
        "[]",
        "files that are not captured, as in .gitignore; a project adds its own in .remoraignore",
    ),
    key(
        "redact.patterns",
        Shape::Table,
        "{}",
        "regular expressions that are taken out of every text, by name",
    ),
    key(
        "redact.deny_paths",
        Shape::List,
        "[]",
        "files whose contents are never kept, as in .gitignore",
    ),
    key(
        "spool.fsync",
        Shape::Flag,
        "false",
        "hooks wait until the disk has their event",
    ),
    key(
        "worker.idle_minutes",
        Shape::Number(1, 1_000_000),
        "30",
        "the worker ends after this long without work",
    ),
    key(
        "archive.max_mb",
        Shape::Number(1, 1_000_000_000),
        "1024",
        "the archive of raw events drops its oldest files beyond this",
    ),
    key(
        "retention.days",
        Shape::Number(0, 1_000_000),
        "0",
        "`prune` removes what is older; 0 keeps everything",
    ),
    key(
        "retention.max_mb",
        Shape::Number(0, 1_000_000_000),
        "0",
        "`prune` removes the oldest until the database is smaller; 0 means no limit",
    ),
    key(
        "search.model",
        Shape::WordOrPath(&["built-in", "off"]),
        "\"built-in\"",
        "what finds rows by their meaning: built-in, off, or the model's file for a build without it",
    ),
    key(
        "search.background",
        Shape::Flag,
        "true",
        "the worker works out what rows mean when it has nothing else to do",
    ),
    key(
        "recall.start_tokens",
        Shape::Number(0, 2_400),
        "2000",
        "what a session is given at its start, at most; 0 gives nothing",
    ),
    key(
        "recall.index_rows",
        Shape::Number(0, 200),
        "50",
        "rows that are named at a session's start",
    ),
    key(
        "recall.summaries",
        Shape::Number(0, 50),
        "10",
        "summaries of earlier work that are told at a session's start",
    ),
    key(
        "recall.prompt_tokens",
        Shape::Number(0, 2_000),
        "300",
        "what a prompt brings back, at most; 0 gives nothing",
    ),
    key(
        "recall.suggest_saves",
        Shape::Flag,
        "false",
        "a pattern that repeats is proposed as a memory",
    ),
    key(
        "recall.guard_edits",
        Shape::Number(0, 1_000),
        "0",
        "after this many changed files a stop asks once whether something is worth saving; 0 never",
    ),
    key(
        "ui.greet",
        Shape::Flag,
        "true",
        "one line tells the person at a session's start what was remembered",
    ),
    key(
        "folders.auto",
        Shape::Flag,
        "false",
        "the worker keeps the notes of `remora folders` up to date",
    ),
];

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File,
}

/// All values.
#[derive(Debug)]
pub(crate) struct Config {
    values: Vec<(&'static Key, Value, Source)>,
}

impl Config {
    /// Reads the file; a missing one means defaults.
    pub(crate) fn load(file: &Path) -> Result<Self, CliError> {
        let text = match fs::read_to_string(file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => {
                return Err(CliError::File {
                    path: file.to_path_buf(),
                    source,
                });
            }
            Ok(text) => text,
        };
        Self::parse(&text).map_err(|e| CliError::Usage(format!("{}: {e}", file.display())))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
            let message = e.message().to_owned();
            let line = e
                .span()
                .and_then(|span| text.get(..span.start))
                .map_or(1, |before| before.matches('\n').count() + 1);
            format!("line {line}: {message}")
        })?;
        let mut found = Vec::new();
        for (name, item) in flat(document.as_item(), String::new()) {
            let Some(key) = KEYS.iter().find(|k| k.name == name) else {
                return Err(unknown(&name));
            };
            found.push((key, checked(key, &item)?));
        }
        let values = KEYS
            .iter()
            .map(|key| match found.iter().find(|(k, _)| k.name == key.name) {
                Some((_, value)) => Ok((key, value.clone(), Source::File)),
                None => Ok((key, checked(key, &literal(key.default)?)?, Source::Default)),
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { values })
    }

    /// All keys with value and source.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(&'static Key, Value, Source)> {
        self.values.iter()
    }

    fn get(&self, name: &str) -> &Value {
        let row = self.values.iter().find(|(key, _, _)| key.name == name);
        row.map_or(&Value::Null, |(_, value, _)| value)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).as_bool().unwrap_or(false)
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.get(name).as_u64().unwrap_or(0)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let list = self.get(name).as_array().map(Vec::as_slice);
        list.unwrap_or_default()
            .iter()
            .filter_map(|v| Some(v.as_str()?.to_owned()))
            .collect()
    }

    pub(crate) fn table(&self, name: &str) -> Vec<(String, String)> {
        let table = self.get(name).as_object();
        table
            .into_iter()
            .flatten()
            .filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())))
            .collect()
    }
}

/// The file's text with one value changed; comments and order stay. A list
/// takes several values; of a table one entry can be named.
pub(crate) fn with(text: &str, name: &str, values: &[String]) -> Result<String, String> {
    let (key, entry) = find(name)?;
    let item = match (entry, key.shape, values) {
        (Some(_), _, [value]) | (None, Shape::WordOrPath(_), [value]) => {
            toml_edit::value(value.as_str())
        }
        (None, Shape::List, [value]) if value.trim_start().starts_with('[') => {
            literal(value).map_err(|_| format!("{name}: `{value}` is not a TOML list"))?
        }
        (None, Shape::List, values) => {
            let list: toml_edit::Array = values.iter().map(String::as_str).collect();
            toml_edit::value(list)
        }
        (None, _, [value]) => {
            literal(value).map_err(|_| checked(key, &Item::None).err().unwrap_or_default())?
        }
        _ => return Err(format!("{name}: takes one value")),
    };
    if entry.is_none() {
        checked(key, &item)?;
    }
    let mut document = parsed(text)?;
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
    put(table, last, item);
    Ok(document.to_string())
}

/// The file's text without a value.
pub(crate) fn without(text: &str, name: &str) -> Result<String, String> {
    let (key, entry) = find(name)?;
    let mut document = parsed(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut path: Vec<&str> = key.name.split('.').collect();
    path.extend(entry);
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
fn find(name: &str) -> Result<(&'static Key, Option<&str>), String> {
    for key in KEYS {
        match name.strip_prefix(key.name) {
            Some("") => return Ok((key, None)),
            Some(rest) if key.shape == Shape::Table => {
                if let Some(entry) = rest.strip_prefix('.').filter(|entry| !entry.is_empty()) {
                    return Ok((key, Some(entry)));
                }
            }
            _ => {}
        }
    }
    Err(unknown(name))
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse()
        .map_err(|e: toml_edit::TomlError| e.message().to_owned())
}

/// Puts a value in; what stood around the old one, its comments above all,
/// stays.
fn put(table: &mut dyn TableLike, name: &str, mut item: Item) {
    let Some(slot) = table.get_mut(name) else {
        table.insert(name, item);
        return;
    };
    if let (Some(new), Some(old)) = (item.as_value_mut(), slot.as_value()) {
        *new.decor_mut() = old.decor().clone();
    }
    *slot = item;
}

fn literal(text: &str) -> Result<Item, String> {
    let document: DocumentMut = format!("x = {text}")
        .parse()
        .map_err(|e: toml_edit::TomlError| e.message().to_owned())?;
    Ok(document["x"].clone())
}

/// Every key of the file with its dotted name. A table that is itself a value
/// stays whole.
fn flat(item: &Item, prefix: String) -> Vec<(String, Item)> {
    let whole = KEYS
        .iter()
        .any(|k| k.name == prefix && k.shape == Shape::Table);
    match item.as_table_like() {
        Some(table) if !whole => table
            .iter()
            .flat_map(|(name, item)| {
                let name = if prefix.is_empty() {
                    name.to_owned()
                } else {
                    format!("{prefix}.{name}")
                };
                flat(item, name)
            })
            .collect(),
        _ => vec![(prefix, item.clone())],
    }
}

fn checked(key: &Key, item: &Item) -> Result<Value, String> {
    let name = key.name;
    match key.shape {
        Shape::Flag => item
            .as_bool()
            .map(Value::from)
            .ok_or_else(|| format!("{name}: must be true or false")),
        Shape::Number(from, to) => item
            .as_integer()
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| (from..=to).contains(n))
            .map(Value::from)
            .ok_or_else(|| format!("{name}: must be a number from {from} to {to}")),
        Shape::WordOrPath(words) => item
            .as_str()
            .filter(|text| words.contains(text) || Path::new(text).is_absolute())
            .map(Value::from)
            .ok_or_else(|| {
                let words = words.join("`, `");
                format!("{name}: must be `{words}` or an absolute path")
            }),
        Shape::List => item
            .as_array()
            .and_then(|list| list.iter().map(|v| Some(json!(v.as_str()?))).collect())
            .map(Value::Array)
            .ok_or_else(|| format!("{name}: must be a list of strings")),
        Shape::Table => item
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

fn unknown(name: &str) -> String {
    let near = KEYS
        .iter()
        .map(|key| (distance(name, key.name), key.name))
        .min();
    match near {
        Some((far, near)) if far <= 6 && far * 2 <= near.len() => {
            format!("unknown key `{name}`; did you mean `{near}`?")
        }
        _ => format!("unknown key `{name}`; `remora config show` lists all"),
    }
}

/// How many letters must be changed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_files_override_them() {
        let config = Config::parse("[worker]\nidle_minutes = 5\n").unwrap();
        assert_eq!(config.number("worker.idle_minutes"), 5);
        assert_eq!(config.number("archive.max_mb"), 1024);
        let from_file: Vec<&str> = config
            .iter()
            .filter(|(_, _, source)| *source == Source::File)
            .map(|(key, _, _)| key.name)
            .collect();
        assert_eq!(from_file, ["worker.idle_minutes"]);
    }

    #[test]
    fn faults_name_the_key_and_the_way_out() {
        for (text, fault) in [
            (
                "[worker]\nidle_minute = 5",
                "unknown key `worker.idle_minute`; did you mean `worker.idle_minutes`?",
            ),
            (
                "telemetry = true",
                "unknown key `telemetry`; `remora config show` lists all",
            ),
            (
                "[worker]\nidle_minutes = \"5\"",
                "worker.idle_minutes: must be a number from 1 to 1000000",
            ),
            ("spool.fsync = 1", "spool.fsync: must be true or false"),
            (
                "capture.ignore = [1]",
                "capture.ignore: must be a list of strings",
            ),
            (
                "[redact]\npatterns = [\"x\"]",
                "redact.patterns: must be a table of strings",
            ),
            (
                "search.model = \"minilm.onnx\"",
                "search.model: must be `built-in`, `off` or an absolute path",
            ),
            (
                "search.model = false",
                "search.model: must be `built-in`, `off` or an absolute path",
            ),
        ] {
            assert_eq!(Config::parse(text).unwrap_err(), fault, "{text}");
        }
        let broken = Config::parse("[worker]\n= 5\n").unwrap_err();
        assert!(broken.starts_with("line 2: "), "{broken}");
    }

    fn set(text: &str, name: &str, values: &[&str]) -> Result<String, String> {
        let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
        with(text, name, &values)
    }

    #[test]
    fn setting_a_value_keeps_everything_else() {
        let text = "# mine\n[worker]\n# why\nidle_minutes = 5 # short\n";
        let changed = set(text, "spool.fsync", &["true"]).unwrap();
        assert!(changed.starts_with(text), "{changed}");
        assert!(Config::parse(&changed).unwrap().flag("spool.fsync"));
        assert_eq!(
            set(text, "worker.idle_minutes", &["7"]).unwrap(),
            "# mine\n[worker]\n# why\nidle_minutes = 7 # short\n"
        );
        let dotted = set("spool.fsync = true # x\n", "spool.fsync", &["false"]);
        assert_eq!(dotted.unwrap(), "spool.fsync = false # x\n");
    }

    #[test]
    fn lists_take_several_values_and_tables_single_entries() {
        let read = |text: &str| Config::parse(text).unwrap();
        for values in [&["a/", "b c"][..], &["[\"a/\", 'b c']"][..]] {
            let text = set("", "capture.ignore", values).unwrap();
            assert_eq!(read(&text).list("capture.ignore"), ["a/", "b c"]);
        }
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let text = set("", "redact.patterns", &["{ ticket = 'T-\\d+' }"]).unwrap();
        let text = set(&text, "redact.patterns.my.key", &[r"K-\d"]).unwrap();
        assert_eq!(
            read(&text).table("redact.patterns"),
            [pair("ticket", r"T-\d+"), pair("my.key", r"K-\d")]
        );
        let text = without(&text, "redact.patterns.ticket").unwrap();
        assert_eq!(read(&text).table("redact.patterns").len(), 1);
        let text = without(&text, "redact.patterns").unwrap();
        assert_eq!(read(&text).table("redact.patterns").len(), 0);
    }

    #[test]
    fn a_word_or_a_path_is_written_without_quotes() {
        for value in ["off", "built-in", "/opt/some model.onnx"] {
            let text = set("", "search.model", &[value]).unwrap();
            assert_eq!(Config::parse(&text).unwrap().text("search.model"), value);
        }
        assert_eq!(
            set("", "search.model", &["on"]).unwrap_err(),
            "search.model: must be `built-in`, `off` or an absolute path"
        );
    }

    #[test]
    fn values_that_do_not_fit_are_told_by_their_key() {
        for (name, values, fault) in [
            (
                "worker.idle_minutes",
                &["soon"][..],
                "worker.idle_minutes: must be a number from 1 to 1000000",
            ),
            (
                "worker.idle_minutes",
                &["0"],
                "worker.idle_minutes: must be a number from 1 to 1000000",
            ),
            (
                "spool.fsync",
                &["true", "x"],
                "spool.fsync: takes one value",
            ),
            (
                "spool.fsync",
                &["yes"],
                "spool.fsync: must be true or false",
            ),
            (
                "capture.ignore",
                &["[1"],
                "capture.ignore: `[1` is not a TOML list",
            ),
            (
                "worker.idle",
                &["1"],
                "unknown key `worker.idle`; `remora config show` lists all",
            ),
            (
                "spool.fsnc",
                &["1"],
                "unknown key `spool.fsnc`; did you mean `spool.fsync`?",
            ),
        ] {
            assert_eq!(set("", name, values).unwrap_err(), fault, "{name}");
        }
        assert_eq!(without("a = 1", "nothing").unwrap_err(), unknown("nothing"));
        let text = "[worker]\nidle_minutes = 5\n";
        assert_eq!(without(text, "spool.fsync").unwrap(), text);
        assert_eq!(without(text, "worker.idle_minutes").unwrap(), "[worker]\n");
    }
}
