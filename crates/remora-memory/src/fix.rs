//! Learned fixes: a command that failed, then edits, then the same command
//! passing, is an error and what mended it.

use remora_protocol::record::{Item, Kind};
use remora_protocol::tokens;
use serde_json::{Value, json};

/// Failures that are waited for in one session.
const OPEN: usize = 16;
/// Edits that are told of one fix.
const EDITS: usize = 8;
/// Characters of diff that are kept of each edit.
const DIFF: usize = 600;
/// Earlier changes that are kept of one error.
const EARLIER: usize = 4;

/// Between an error and its fix.
const ARROW: &str = " → ";

/// Names in the `detail` of items.
pub(crate) mod field {
    /// What makes two runs the same command.
    pub(crate) const COMMAND: &str = "command";
    /// The tool whose output was understood.
    pub(crate) const TOOL: &str = "tool";
    /// What the error says, wherever it says it.
    pub(crate) const SAYS: &str = "says";
    /// The error's fingerprint.
    pub(crate) const FINGERPRINT: &str = "fingerprint";
    /// How often this change mended the error.
    pub(crate) const FIXED: &str = "fixed";
    /// How often the command passed since.
    pub(crate) const HELD: &str = "held";
    /// How often the error came back after it.
    pub(crate) const RETURNED: &str = "returned";
    /// Other changes that mended it before.
    pub(crate) const EARLIER: &str = "earlier";
}

#[derive(Debug)]
struct OpenFailure {
    command: String,
    fingerprint: String,
    item: Item,
    edits: Vec<Item>,
}

/// What has failed in a session and has not passed since.
#[derive(Debug, Default)]
pub(crate) struct OpenFailures {
    open: Vec<OpenFailure>,
    /// Commands that were mended in this session, with the key of their fix.
    mended: Vec<(String, String)>,
}

impl OpenFailures {
    /// The failure that a change of this file is likely to mend: the last one
    /// of a tool that names faults, or one that speaks of the file.
    pub(crate) fn behind(&self, path: &str) -> Option<&Item> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let speaks = |text: &String| !name.is_empty() && text.contains(name);
        let likely = |item: &&Item| {
            let known = detail(item, field::TOOL).is_some();
            known || speaks(&item.title) || speaks(&item.text) || item.facts.iter().any(speaks)
        };
        self.open.iter().rev().map(|open| &open.item).find(likely)
    }

    /// Whether this error was met and has not been mended since.
    pub(crate) fn has(&self, print: &str) -> bool {
        self.open.iter().any(|open| open.fingerprint == print)
    }

    /// A row of the session.
    pub(crate) fn note(&mut self, item: &Item) {
        if let Some(command) = command_of(item) {
            if item.kind == Kind::Failure {
                self.failed(command, item);
            } else {
                self.open.retain(|open| open.command != command);
            }
        } else if !item.files_modified.is_empty() && item.kind != Kind::Failure {
            for open in &mut self.open {
                if open.edits.len() == EDITS {
                    open.edits.remove(0);
                }
                open.edits.push(item.clone());
            }
        }
    }

    fn failed(&mut self, command: &str, item: &Item) {
        let Some(print) = detail(item, field::FINGERPRINT) else {
            return;
        };
        // The same error again: the edits so far did not mend it, but they are
        // part of the way to what will.
        let known = |open: &OpenFailure| open.command == command && open.fingerprint == print;
        if self.open.iter().any(known) {
            return;
        }
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.open.push(OpenFailure {
            command: command.to_owned(),
            fingerprint: print.to_owned(),
            item: item.clone(),
            edits: Vec::new(),
        });
    }

    /// The fixes that this passing command proves, as rows to be put by key.
    /// `known` gives the fix that was learned before.
    pub(crate) fn passed<E>(
        &mut self,
        passing: &Item,
        mut known: impl FnMut(&str) -> Result<Option<Item>, E>,
    ) -> Result<Vec<Item>, E> {
        let Some(command) = command_of(passing) else {
            return Ok(Vec::new());
        };
        let mut fixes = Vec::new();
        let open = self.open.iter().filter(|open| open.command == command);
        for open in open.filter(|open| !open.edits.is_empty()) {
            let before = known(&open.fingerprint)?;
            let uid = match fixes.len() {
                0 => format!("{}/fix", passing.uid),
                n => format!("{}/fix{n}", passing.uid),
            };
            fixes.push(learned(open, passing, before.as_ref(), uid));
            self.mended
                .push((command.to_owned(), open.fingerprint.clone()));
        }
        if fixes.is_empty() {
            for (_, key) in self.mended.iter().filter(|(c, _)| c == command) {
                fixes.extend(known(key)?.map(|fix| counted(fix, field::HELD)));
            }
        }
        Ok(fixes)
    }
}

/// The error of a fix has come back.
pub(crate) fn returned(fix: Item) -> Item {
    counted(fix, field::RETURNED)
}

fn counted(mut fix: Item, name: &str) -> Item {
    if let Some(Value::Object(detail)) = &mut fix.detail {
        let count = detail.get(name).and_then(Value::as_u64).unwrap_or(0);
        detail.insert(name.to_owned(), json!(count + 1));
    }
    fix
}

/// The change of a fix, as its title tells it.
fn change(fix: &Item) -> &str {
    fix.title.rsplit(ARROW).next().unwrap_or(&fix.title)
}

fn learned(open: &OpenFailure, passing: &Item, before: Option<&Item>, uid: String) -> Item {
    let last = open.edits.last().map_or("", |edit| &edit.title);
    let same = before.filter(|fix| change(fix) == last);
    let count = |name: &str| {
        same.and_then(|fix| fix.detail.as_ref()?.get(name)?.as_u64())
            .unwrap_or(0)
    };
    let mut earlier: Vec<&str> = before.map_or_else(Vec::new, |fix| {
        list(fix, field::EARLIER).filter(|e| *e != last).collect()
    });
    if same.is_none() {
        earlier.extend(before.map(change));
    }
    let dropped = earlier.len().saturating_sub(EARLIER);
    let earlier = &earlier[dropped..];
    let mut files: Vec<String> = Vec::new();
    let mut facts = vec![format!("error: {}", open.item.title)];
    let mut text = String::new();
    for edit in &open.edits {
        facts.push(format!("fix: {}", edit.title));
        let end = edit.text.floor_char_boundary(DIFF);
        text.push_str(&edit.text[..end]);
        text.push('\n');
        for file in &edit.files_modified {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
    }
    facts.dedup();
    facts.extend(
        open.item
            .facts
            .iter()
            .take(4)
            .map(|fact| format!("error: {fact}")),
    );
    let title = format!("{}{ARROW}{last}", open.item.title);
    let mut fix = Item {
        id: 0,
        uid,
        key: Some(open.fingerprint.clone()),
        kind: Kind::Fix,
        digest_tokens: tokens::estimate(&title) + tokens::estimate(&text),
        title,
        text,
        facts,
        concepts: open.item.concepts.clone(),
        files_read: Vec::new(),
        files_modified: files,
        detail: None,
        ..passing.clone()
    };
    fix.detail = Some(json!({
        field::FINGERPRINT: open.fingerprint,
        field::COMMAND: open.command,
        field::SAYS: open.item.detail.as_ref().and_then(|detail| detail.get(field::SAYS)),
        "error": open.item.uid,
        "edits": open.edits.iter().map(|e| &e.uid).collect::<Vec<_>>(),
        field::FIXED: count(field::FIXED) + 1,
        field::HELD: count(field::HELD),
        field::RETURNED: count(field::RETURNED),
        field::EARLIER: earlier,
    }));
    fix
}

fn command_of(item: &Item) -> Option<&str> {
    detail(item, field::COMMAND)
}

/// Texts of a list in the detail of an item.
pub(crate) fn list<'a>(item: &'a Item, name: &str) -> impl Iterator<Item = &'a str> {
    let list = item
        .detail
        .as_ref()
        .and_then(|detail| detail.get(name)?.as_array());
    list.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn detail<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.detail.as_ref()?.get(name)?.as_str()
}
