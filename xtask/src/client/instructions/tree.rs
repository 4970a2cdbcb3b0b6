//! The format of a tree (`fixtures/instructions/README.md`), its reading and its recording.
//!
//! Unknown keys are errors, so that a typo cannot switch a check off.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};

use super::shown::PromptEntry;
use crate::client::case::json_files;
use crate::client::layout;

/// One tree of files, and what a session does in it.
pub(in crate::client) struct InstructionTree {
    pub(in crate::client) name: String,
    /// Absolute path -> text, or what else is there.
    pub(super) files: Map<String, Value>,
    pub(super) cwd: String,
    /// Becomes the user's settings.
    pub(super) settings: Value,
    pub(super) env: BTreeMap<String, String>,
    pub(super) args: Vec<String>,
    /// Files that the model reads, one a turn.
    pub(super) reads: Vec<String>,
    /// Directories that become repositories.
    pub(super) git: Vec<String>,
    /// Shell lines, run in the home.
    pub(super) setup: Vec<String>,
    /// Groups whose inner order is that of a directory listing.
    pub(super) unordered: Vec<Vec<String>>,
    /// What the client showed when the tree was recorded.
    pub(super) recorded: Option<Value>,
    file: PathBuf,
    index: usize,
}

/// The home of every tree.
pub(super) const TREE_HOME: &str = "/home/dev";

const TREE_KEYS: &[&str] = &[
    "name",
    "about",
    "files",
    "cwd",
    "home",
    "settings",
    "env",
    "args",
    "reads",
    "git",
    "setup",
    "unordered",
    "truth",
];

/// All trees of a folder, in file and list order.
pub(super) fn load_trees(folder: &Path) -> Result<Vec<InstructionTree>> {
    let mut trees: Vec<InstructionTree> = Vec::new();
    for file in json_files(folder)? {
        for tree in load_file(&file)? {
            let twice = trees.iter().any(|other| other.name == tree.name);
            ensure!(!twice, "two trees are called `{}`", tree.name);
            trees.push(tree);
        }
    }
    Ok(trees)
}

/// The trees of one file.
pub(super) fn load_file(file: &Path) -> Result<Vec<InstructionTree>> {
    let text = fs::read_to_string(file).with_context(|| format!("in {}", file.display()))?;
    let content: Vec<Value> =
        serde_json::from_str(&text).with_context(|| format!("in {}", file.display()))?;
    let trees = content.iter().enumerate().map(|(index, value)| {
        parse_tree(file, index, value)
            .with_context(|| format!("tree {index} of {}", file.display()))
    });
    trees.collect()
}

fn parse_tree(file: &Path, index: usize, value: &Value) -> Result<InstructionTree> {
    for key in value.as_object().into_iter().flat_map(Map::keys) {
        ensure!(TREE_KEYS.contains(&key.as_str()), "unknown key `{key}`");
    }
    let home = value["home"].as_str().unwrap_or(TREE_HOME);
    ensure!(home == TREE_HOME, "the home of every tree is {TREE_HOME}");
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let env = value["env"].as_object().into_iter().flatten();
    let unordered = value["unordered"].as_array().into_iter().flatten();
    Ok(InstructionTree {
        name: text("name").context("a tree has no name")?,
        files: value["files"].as_object().context("no `files`")?.clone(),
        cwd: text("cwd").context("no `cwd`")?,
        settings: value["settings"].clone(),
        env: env
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect(),
        args: collect_strings(&value["args"]),
        reads: collect_strings(&value["reads"]),
        git: collect_strings(&value["git"]),
        setup: collect_strings(&value["setup"]),
        unordered: unordered.map(collect_strings).collect(),
        recorded: value.get("truth").cloned(),
        file: file.to_owned(),
        index,
    })
}

impl InstructionTree {
    /// What a path holds: a text, or what its object describes.
    pub(super) fn decode_bytes(value: &Value) -> Result<Vec<u8>> {
        if let Some(text) = value.as_str().or_else(|| value["text"].as_str()) {
            return Ok(text.as_bytes().to_vec());
        }
        if let Some(encoded) = value["base64"].as_str() {
            return decode_base64(encoded);
        }
        let (Some(unit), Some(times)) = (value["repeat"][0].as_str(), value["repeat"][1].as_u64())
        else {
            bail!("a file is neither text, symlink, dir, base64 nor repeat: {value}");
        };
        let head = value["head"].as_str().unwrap_or_default();
        let tail = value["tail"].as_str().unwrap_or_default();
        let body = unit.repeat(usize::try_from(times)?);
        Ok([head, &body, tail].concat().into_bytes())
    }

    /// Every marker word of the tree's texts.
    fn list_marks(&self) -> Vec<String> {
        let all = Value::Object(self.files.clone()).to_string();
        let mut words = find_marks(&all);
        words.sort();
        words.dedup();
        words
    }

    /// Writes what the client showed into the tree's file.
    pub(super) fn record_entries(&self, entries: &[PromptEntry]) -> Result<()> {
        let text = fs::read_to_string(&self.file)?;
        let mut content: Vec<Value> = serde_json::from_str(&text)?;
        let plain = |entry: &PromptEntry| json!({"path": entry.path, "label": entry.label});
        let later = entries.iter().filter(|entry| entry.read.is_some());
        let mut recorded = json!({
            "start": entries.iter().filter(|e| e.read.is_none()).map(plain).collect::<Vec<_>>(),
            "later": later.map(plain).collect::<Vec<_>>(),
        });
        let shown: String = entries
            .iter()
            .flat_map(|e| [e.text.as_str(), "\n"])
            .collect();
        let shown = find_marks(&shown);
        let markers = self.list_marks().into_iter().map(|word| {
            let there = shown.contains(&word);
            (word, Value::from(there))
        });
        recorded["markers"] = Value::Object(markers.collect());
        if !self.reads.is_empty() {
            let by_read = (0..self.reads.len()).map(|index| {
                let mine = entries.iter().filter(|e| e.read == Some(index));
                json!(mine.map(|e| e.path.clone()).collect::<Vec<_>>())
            });
            recorded["later_by_read"] = by_read.collect();
        }
        if self.name.starts_with("clean-") {
            let texts = entries
                .iter()
                .map(|e| (e.path.clone(), json!(e.text.trim())));
            recorded["texts"] = Value::Object(texts.collect());
        }
        for key in ["facts", "skipped"] {
            let written = self
                .recorded
                .as_ref()
                .and_then(|recorded| recorded.get(key));
            if let Some(written) = written {
                recorded[key] = written.clone(); // by hand
            }
        }
        content[self.index]["truth"] = recorded;
        let trees: Vec<String> = content
            .iter()
            .map(|tree| layout::format_json(tree, 0, 0))
            .collect();
        fs::write(&self.file, format!("[\n{}\n]\n", trees.join(",\n")))
            .with_context(|| format!("cannot write {}", self.file.display()))
    }
}

/// The marker words in a text, in order.
pub(super) fn find_marks(text: &str) -> Vec<String> {
    let starts = text
        .match_indices("MARK-")
        .map(|(at, mark)| &text[at + mark.len()..]);
    let words = starts.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        format!("MARK-{}", &rest[..end.unwrap_or(rest.len())])
    });
    words.collect()
}

fn collect_strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Standard base64, as the fixtures use it.
fn decode_base64(text: &str) -> Result<Vec<u8>> {
    const BASE64_ALPHABET: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0u32, 0u32, Vec::new());
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = BASE64_ALPHABET.iter().position(|known| *known == byte);
        bits = bits << 6 | u32::try_from(value.context("bad base64")?)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff)?);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files are well-formed and every family has its trees, without starting the client.
    #[test]
    fn every_family_is_there() -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("no parent")?;
        let trees = load_trees(&root.join("fixtures/instructions/client"))?;
        let families = "added agents clean excludes imports layers memory nested rules sources \
                        symlinks worktree";
        for family in families.split_whitespace() {
            let mine = trees.iter().filter(|tree| tree.name.starts_with(family));
            ensure!(mine.count() >= 2, "{family} has fewer than two trees");
        }
        for tree in &trees {
            ensure!(
                tree.recorded.is_none(),
                "{}: the client is the truth",
                tree.name
            );
            for (path, value) in &tree.files {
                let other = !value["dir"].is_null() || !value["symlink"].is_null();
                ensure!(
                    other || InstructionTree::decode_bytes(value).is_ok(),
                    "{}: {path}",
                    tree.name
                );
            }
        }
        Ok(())
    }

    #[test]
    fn large_and_raw_files_are_spelled_out() -> Result<()> {
        let large = json!({"head": "a", "repeat": ["xy", 2], "tail": "z"});
        assert_eq!(InstructionTree::decode_bytes(&large)?, b"axyxyz");
        assert_eq!(
            InstructionTree::decode_bytes(&json!({"base64": "/wBi"}))?,
            [0xff, 0, b'b']
        );
        assert_eq!(
            find_marks("MARK-1 xMARK-a2,MARK-"),
            ["MARK-1", "MARK-a2", "MARK-"]
        );
        assert!(InstructionTree::decode_bytes(&json!({"txt": "a"})).is_err());
        Ok(())
    }
}
