//! The index of a folder as text: one line per memory, which points to its file.
//! Pure; a title or summary stays on its line, whatever text it is.

use std::collections::BTreeSet;

use remora_core::text::{collapse_controls, cut_chars};
use remora_instructions::auto_memory::parse_link_target;

use super::Memory;

/// What a line keeps of a title.
const MAX_TITLE_CHARS: usize = 80;
/// What a line holds at most, as long as its file's name allows it: below the 200
/// characters at which an entry counts as long.
const MAX_LINE_CHARS: usize = 190;
/// What a hook keeps in any case.
const MIN_SUMMARY_CHARS: usize = 40;

/// Heads a team's index. A comment, so it does not reach a model.
const TEAM_NOTE: &str = "<!-- Made from the files beside it by `remora memory index --team`; do not edit or merge by hand. -->";

/// A line of an index that points to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) title: String,
    pub(super) file: String,
}

/// The line for a memory.
pub(super) fn format_entry(memory: &Memory) -> String {
    let file = memory.uri.name.file_name();
    // A Markdown link ends at the first blank or parenthesis.
    let target = if file.contains([' ', '(', ')']) {
        format!("<{file}>")
    } else {
        file
    };
    let title = escape_title(&truncate_text(
        &collapse_controls(&memory.title),
        MAX_TITLE_CHARS,
    ));
    let mut line = format!("- [{title}]({target})");
    let hook = collapse_controls(&memory.index_summary());
    let repeats = hook.is_empty() || hook == collapse_controls(&memory.title);
    if !repeats {
        let room = MAX_LINE_CHARS
            .saturating_sub(line.chars().count() + 3)
            .max(MIN_SUMMARY_CHARS);
        line.push_str(" - ");
        line.push_str(&truncate_text(&hook, room).replace("<!--", "\\<!--"));
    }
    line
}

fn truncate_text(text: &str, most: usize) -> String {
    if cut_chars(text, most).is_none() {
        return text.to_owned();
    }
    let start = cut_chars(text, most.saturating_sub(3)).unwrap_or(text);
    // At a word's end, unless that would lose half of the text.
    let whole = start.rfind(' ').filter(|at| *at > start.len() / 2);
    format!("{}...", start[..whole.unwrap_or(start.len())].trim_end())
}

fn escape_title(title: &str) -> String {
    let mut out = String::with_capacity(title.len());
    for letter in title.chars() {
        if matches!(letter, '[' | ']' | '\\' | '`' | '<') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Reads a line: a list mark, then a link.
pub(super) fn parse_entry(line: &str) -> Option<IndexEntry> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix(['-', '*', '+'])?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let rest = rest.strip_prefix('[')?;
    let mut title = String::new();
    let mut letters = rest.char_indices();
    let mut depth = 0_usize;
    let end = loop {
        match letters.next()? {
            (_, '\\') => title.push(letters.next()?.1),
            (_, '[') => {
                depth += 1;
                title.push('[');
            }
            (at, ']') if depth == 0 => break at,
            (_, ']') => {
                depth -= 1;
                title.push(']');
            }
            (_, letter) => title.push(letter),
        }
    };
    let file = parse_link_target(rest[end + 1..].strip_prefix('(')?)?;
    Some(IndexEntry { title, file })
}

/// The index with a memory's line: in the place of its old one, else below the
/// last pointer.
pub(super) fn add_entry(index: &str, memory: &Memory) -> String {
    let file = memory.uri.name.file_name();
    let end = line_end(index);
    let new = format!("{}{end}", format_entry(memory));
    let mut out = String::with_capacity(index.len() + new.len());
    let mut placed = false;
    for old in index.split_inclusive('\n') {
        if parse_entry(old).is_none_or(|pointer| pointer.file != file) {
            out.push_str(old);
        } else if !placed {
            out.push_str(&new);
            placed = true;
        }
    }
    if !placed {
        let last = last_pointer(&out);
        insert_lines(&mut out, last, &new, end);
    }
    out
}

fn insert_lines(out: &mut String, at: Option<usize>, new: &str, end: &str) {
    let at = at.unwrap_or(out.len());
    let before = &out[..at];
    if before.is_empty() || before.ends_with('\n') {
        out.insert_str(at, new);
    } else {
        out.insert_str(at, &format!("{end}{new}"));
    }
}

/// Where the last line ends that points to a file.
fn last_pointer(index: &str) -> Option<usize> {
    let mut end = 0;
    let mut last = None;
    for line in index.split_inclusive('\n') {
        end += line.len();
        if parse_entry(line).is_some() {
            last = Some(end);
        }
    }
    last
}

/// The index without a file's lines.
pub(super) fn remove_entry(index: &str, file: &str) -> String {
    index
        .split_inclusive('\n')
        .filter(|line| parse_entry(line).is_none_or(|pointer| pointer.file != file))
        .collect()
}

/// Numbers of the lines that still name a file in other words.
pub(super) fn find_mentions(index: &str, file: &str) -> Vec<usize> {
    let numbered = index.lines().enumerate();
    numbered
        .filter(|(_, line)| {
            line.match_indices(file).any(|(at, _)| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/'))
            })
        })
        .map(|(at, _)| at + 1)
        .collect()
}

/// Repairs a user's index: lines to files that are gone are removed, missing ones
/// are added at the end, everything else stays as the user wrote it.
pub(super) fn repair_index(
    index: &str,
    memories: &[Memory],
    gone: impl Fn(&str) -> bool,
) -> String {
    let mut named = BTreeSet::new();
    let mut out: String = index
        .split_inclusive('\n')
        .filter(|line| match parse_entry(line) {
            // The first of two lines to one file stays.
            Some(pointer) => !gone(&pointer.file) && named.insert(pointer.file),
            None => true,
        })
        .collect();
    let end = line_end(index);
    let mut missing = String::new();
    for memory in sort_by_priority(memories) {
        if !named.contains(&memory.uri.name.file_name()) {
            missing.push_str(&format_entry(memory));
            missing.push_str(end);
        }
    }
    if !missing.is_empty() {
        let last = last_pointer(&out);
        insert_lines(&mut out, last, &missing, end);
    }
    out
}

/// A team's index, made of nothing but the files: the same files, the same bytes,
/// on every machine. So a merge conflict in it is solved by writing it again.
pub(super) fn build_team_index(memories: &[Memory]) -> String {
    let mut out = format!("{TEAM_NOTE}\n\n");
    for memory in sort_by_priority(memories) {
        out.push_str(&format_entry(memory));
        out.push('\n');
    }
    out
}

/// What matters most first: the end of a long index is cut.
fn sort_by_priority(memories: &[Memory]) -> Vec<&Memory> {
    let mut list: Vec<&Memory> = memories.iter().collect();
    list.sort_by_key(|memory| (memory.priority, &memory.uri.name));
    list
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
