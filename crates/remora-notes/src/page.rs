//! One memory's file as text: reads both spellings of its frontmatter, changes
//! single values, and leaves every other line as its author wrote it. Pure.

mod emit;

use remora_instructions::frontmatter::{self, FrontmatterValue};

use super::{DEFAULT_PRIORITY, MemoryType};

const NESTED_KEY: &str = "metadata";
const FENCE: &str = "---\n";

/// A file, split into frontmatter and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryPage {
    head: Head,
    /// The text before and after the head.
    fences: (String, String),
    body: String,
    line_end: LineEnd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Head {
    Missing,
    /// Kept as it is; nothing in it can be changed.
    Broken {
        raw: String,
        why: String,
    },
    Read(Vec<FrontmatterEntry>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// A key with its value, and its source lines as long as they are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FrontmatterEntry {
    key: String,
    node: EntryValue,
    raw: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum EntryValue {
    Value(FrontmatterValue),
    /// The nested block, with the blanks before its keys.
    Block(String, Vec<FrontmatterEntry>),
}

impl MemoryPage {
    /// Takes a text apart. Whatever it is, `render` returns it unchanged.
    pub(super) fn parse(text: &str) -> Self {
        let line_end = if text.contains("\r\n") {
            LineEnd::CrLf
        } else {
            LineEnd::Lf
        };
        // Everything inside works on one kind of line end; `render` restores the file's
        // own.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (front, body) = frontmatter::split_frontmatter(&text);
        let fences = front.map_or_else(usual_fences, |front| {
            // `front` is a slice of `text`, so this is its offset.
            let start = front.as_ptr().addr() - text.as_ptr().addr();
            let end = start + front.len();
            let close = &text[end..text.len() - body.len()];
            (text[..start].to_owned(), close.to_owned())
        });
        let head = match front {
            None => Head::Missing,
            Some(front) => match frontmatter::parse_frontmatter(front) {
                Err(why) => Head::Broken {
                    raw: front.to_owned(),
                    why,
                },
                Ok(values) => Head::Read(build_entries(front, values)),
            },
        };
        Self {
            head,
            fences,
            body: body.to_owned(),
            line_end,
        }
    }

    /// An empty one with a head.
    pub(super) fn new() -> Self {
        Self {
            head: Head::Read(Vec::new()),
            fences: usual_fences(),
            body: String::new(),
            line_end: LineEnd::Lf,
        }
    }

    pub(super) fn body(&self) -> &str {
        self.body.trim()
    }

    /// What is wrong with the head.
    pub(super) fn head_error(&self) -> Option<&str> {
        match &self.head {
            Head::Broken { why, .. } => Some(why),
            _ => None,
        }
    }

    pub(super) fn has_head(&self) -> bool {
        !matches!(self.head, Head::Missing)
    }

    /// A value of the file: the nested block's word counts.
    pub(super) fn find_value(&self, key: &str) -> Option<&FrontmatterValue> {
        let entries = self.entries()?;
        let top = || find_leaf(entries, key);
        let nested = entries
            .iter()
            .filter(|entry| entry.key == NESTED_KEY)
            .find_map(|entry| match &entry.node {
                EntryValue::Block(_, block) => find_leaf(block, key),
                EntryValue::Value(_) => None,
            });
        nested
            .or_else(top)
            .filter(|value| **value != FrontmatterValue::Null)
    }

    /// A value as text, numbers included.
    pub(super) fn find_text(&self, key: &str) -> Option<String> {
        let text = match self.find_value(key)? {
            FrontmatterValue::Text(text) => text.trim(),
            FrontmatterValue::Number(number) => number,
            FrontmatterValue::Bool(true) => "true",
            FrontmatterValue::Bool(false) => "false",
            _ => return None,
        };
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn kind(&self) -> Option<MemoryType> {
        self.find_text("type")
            .and_then(|word| MemoryType::parse(&word))
    }

    /// 1 to 5; anything else is the usual one.
    pub(super) fn priority(&self) -> u8 {
        self.find_text("priority")
            .and_then(|text| text.parse().ok())
            .filter(|number| (1..=5).contains(number))
            .unwrap_or(DEFAULT_PRIORITY)
    }

    pub(super) fn set_body(&mut self, body: &str) {
        let body = body.replace("\r\n", "\n").replace('\r', "\n");
        let body = body.trim_matches('\n').trim_end();
        if self.has_head() {
            self.fences.1 = usual_fences().1;
        }
        // In a file without a head, a body that begins with hyphens would become one.
        let begins_one = !self.has_head() && body.starts_with(FENCE.trim());
        self.body = format!("{}{body}\n", if begins_one { "\n" } else { "" });
    }

    /// Sets a key at the top: `name`, `description`.
    pub(super) fn set_top_level(
        &mut self,
        key: &str,
        value: FrontmatterValue,
    ) -> Result<(), String> {
        let entries = self.entries_mut()?;
        set_entry(entries, key, value);
        Ok(())
    }

    /// Sets a key of the nested block; one at the top moves there.
    pub(super) fn set_nested(&mut self, key: &str, value: FrontmatterValue) -> Result<(), String> {
        let entries = self.entries_mut()?;
        entries.retain(|entry| entry.key != key);
        set_entry(ensure_nested_block(entries)?, key, value);
        Ok(())
    }

    /// Moves a key from the top into the nested block, unless that has it.
    pub(super) fn move_to_nested(&mut self, key: &str) -> Result<(), String> {
        let entries = self.entries_mut()?;
        let Some(value) = find_leaf(entries, key).cloned() else {
            return Ok(());
        };
        entries.retain(|entry| entry.key != key);
        let block = ensure_nested_block(entries)?;
        if find_leaf(block, key).is_none() {
            set_entry(block, key, value);
        }
        Ok(())
    }

    /// The file's text.
    pub(super) fn render(&self) -> String {
        let (open, close) = &self.fences;
        let text = match &self.head {
            Head::Missing => self.body.clone(),
            Head::Broken { raw, .. } => format!("{open}{raw}{close}{}", self.body),
            Head::Read(entries) => format!("{open}{}{close}{}", head_text(entries), self.body),
        };
        match self.line_end {
            LineEnd::Lf => text,
            LineEnd::CrLf => text.replace('\n', "\r\n"),
        }
    }

    fn entries(&self) -> Option<&[FrontmatterEntry]> {
        match &self.head {
            Head::Read(entries) => Some(entries),
            _ => None,
        }
    }

    fn entries_mut(&mut self) -> Result<&mut Vec<FrontmatterEntry>, String> {
        if self.head == Head::Missing {
            self.head = Head::Read(Vec::new());
            self.body = self.body.trim_start_matches('\n').to_owned();
        }
        match &mut self.head {
            Head::Read(entries) => Ok(entries),
            Head::Broken { why, .. } => Err(format!(
                "its frontmatter cannot be read ({why}); fix it by hand first"
            )),
            Head::Missing => Err("it has no frontmatter".to_owned()),
        }
    }
}

/// An empty line follows the head, as the client writes it.
fn usual_fences() -> (String, String) {
    (FENCE.to_owned(), format!("{FENCE}\n"))
}

fn find_leaf<'a>(entries: &'a [FrontmatterEntry], key: &str) -> Option<&'a FrontmatterValue> {
    let mut found = entries.iter().filter(|entry| entry.key == key);
    found.find_map(|entry| match &entry.node {
        EntryValue::Value(value) => Some(value),
        EntryValue::Block(..) => None,
    })
}

fn set_entry(entries: &mut Vec<FrontmatterEntry>, key: &str, value: FrontmatterValue) {
    let new = FrontmatterEntry {
        key: key.to_owned(),
        node: EntryValue::Value(value),
        raw: None,
    };
    match entries.iter_mut().find(|entry| entry.key == key) {
        // An equal value keeps its lines: quotes and comments stay as they are.
        Some(old) if old.node == new.node => {}
        Some(old) => *old = new,
        None => entries.push(new),
    }
}

/// The nested block, made when there is none.
fn ensure_nested_block(
    entries: &mut Vec<FrontmatterEntry>,
) -> Result<&mut Vec<FrontmatterEntry>, String> {
    let found = entries.iter().position(|entry| entry.key == NESTED_KEY);
    let at = found.unwrap_or(entries.len());
    if found.is_none() {
        entries.push(FrontmatterEntry {
            key: NESTED_KEY.to_owned(),
            node: EntryValue::Block("  ".to_owned(), Vec::new()),
            raw: None,
        });
    }
    let entry = &mut entries[at];
    if entry.node == EntryValue::Value(FrontmatterValue::Null) {
        entry.node = EntryValue::Block("  ".to_owned(), Vec::new());
    }
    // The block is about to change, so its lines as a whole are no longer valid; those of
    // its keys are.
    entry.raw = None;
    match &mut entry.node {
        EntryValue::Block(_, block) => Ok(block),
        EntryValue::Value(_) => Err(format!(
            "its `{NESTED_KEY}` is not a mapping; fix it by hand first"
        )),
    }
}

/// Keys with their lines, as long as lines and values agree.
fn build_entries(front: &str, values: Vec<(String, FrontmatterValue)>) -> Vec<FrontmatterEntry> {
    let raws = split_key_lines(front, "", &values);
    values
        .into_iter()
        .enumerate()
        .map(|(at, (key, value))| {
            let raw = raws.as_ref().map(|raws| raws[at].to_owned());
            let node = match value {
                FrontmatterValue::Map(nested) if key == NESTED_KEY => {
                    nested_block(raw.as_deref(), nested)
                }
                value => EntryValue::Value(value),
            };
            FrontmatterEntry { key, node, raw }
        })
        .collect()
}

fn nested_block(raw: Option<&str>, values: Vec<(String, FrontmatterValue)>) -> EntryValue {
    let inner = raw
        .and_then(|raw| raw.split_once('\n'))
        .map_or("", |(_, inner)| inner);
    let indent = inner
        .lines()
        .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map_or("", |line| {
            &line[..line.len() - line.trim_start_matches(' ').len()]
        });
    let raws = split_key_lines(inner, indent, &values).filter(|_| !indent.is_empty());
    let indent = if raws.is_some() { indent } else { "  " };
    let block = values
        .into_iter()
        .enumerate()
        .map(|(at, (key, value))| FrontmatterEntry {
            key,
            node: EntryValue::Value(value),
            raw: raws.as_ref().map(|raws| raws[at].to_owned()),
        })
        .collect();
    EntryValue::Block(indent.to_owned(), block)
}

/// The lines of every key, if there are as many keys in the lines as were
/// read, by the same names.
fn split_key_lines<'a>(
    text: &'a str,
    indent: &str,
    values: &[(String, FrontmatterValue)],
) -> Option<Vec<&'a str>> {
    let mut starts: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    // A comment above a key belongs to it, and goes with it when it is removed.
    let mut comment = None;
    for line in text.split_inclusive('\n') {
        match key_of(line, indent) {
            Some(key) => starts.push((key, comment.take().unwrap_or(at))),
            None if line.trim_start().starts_with('#') && line.starts_with(indent) => {
                comment.get_or_insert(at);
            }
            None => comment = None,
        }
        at += line.len();
    }
    if let Some(first) = starts.first_mut() {
        first.1 = 0;
    }
    // Lines are matched by a simple scan, values by a YAML parser. Where the two disagree, the
    // lines are not trusted.
    let same = starts.len() == values.len()
        && starts
            .iter()
            .zip(values)
            .all(|((key, _), (name, _))| key == name);
    same.then(|| {
        let ends = starts.iter().skip(1).map(|(_, at)| *at);
        starts
            .iter()
            .zip(ends.chain([text.len()]))
            .map(|((_, start), end)| &text[*start..end])
            .collect()
    })
}

/// The key that a line begins with, exactly this far in.
fn key_of<'a>(line: &'a str, indent: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(indent)?;
    if rest.starts_with([' ', '\t', '#', '-', '\n']) {
        return None;
    }
    let (key, after) = rest.split_once(':')?;
    (after.is_empty() || after.starts_with([' ', '\t', '\n']))
        .then(|| key.trim_end().trim_matches(['"', '\'']))
}

/// The head's lines. The result is parsed again: if the kept lines no longer mean
/// the same, all of them are written again.
fn head_text(entries: &[FrontmatterEntry]) -> String {
    let kept = render_entries(entries, "", EntryRendering::Lines);
    if frontmatter::parse_frontmatter(&kept).is_ok_and(|read| read == collect_values(entries)) {
        return kept;
    }
    render_entries(entries, "", EntryRendering::Values)
}

#[derive(Clone, Copy)]
enum EntryRendering {
    Lines,
    Values,
}

fn render_entries(entries: &[FrontmatterEntry], indent: &str, keep: EntryRendering) -> String {
    let mut out = String::new();
    for entry in entries {
        match (&entry.raw, &entry.node, keep) {
            (Some(raw), _, EntryRendering::Lines) => {
                out.push_str(raw);
                if !raw.ends_with('\n') {
                    out.push('\n');
                }
            }
            (_, EntryValue::Value(value), _) => {
                emit::emit_entry(&mut out, indent, &entry.key, value);
            }
            // `metadata:` without keys would be read as null.
            (_, EntryValue::Block(_, block), _) if block.is_empty() => {}
            (_, EntryValue::Block(inner, block), _) => {
                let inner = match keep {
                    EntryRendering::Lines => inner,
                    EntryRendering::Values => "  ",
                };
                out.push_str(&entry.key);
                out.push_str(":\n");
                out.push_str(&render_entries(block, inner, keep));
            }
        }
    }
    out
}

/// The values behind entries, as they should be read again.
fn collect_values(entries: &[FrontmatterEntry]) -> Vec<(String, FrontmatterValue)> {
    entries
        .iter()
        .filter(|entry| !matches!(&entry.node, EntryValue::Block(_, block) if block.is_empty()))
        .map(|entry| {
            let value = match &entry.node {
                EntryValue::Value(value) => value.clone(),
                EntryValue::Block(_, block) => FrontmatterValue::Map(collect_values(block)),
            };
            (entry.key.clone(), value)
        })
        .collect()
}
