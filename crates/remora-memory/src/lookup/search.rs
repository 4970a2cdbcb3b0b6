//! Searches in files: what was looked for, where, and what was found.

use std::borrow::Cow;

use remora_core::tool_call::{FileSearch, Matches, OutputDetail, SearchOutput, ToolOutput};

use super::LookupReading;
use super::values::{format_count, relative_path};
use crate::edit::{one_line, short_path};

const MAX_SHOWN_FILES: usize = 8;

/// The files in an answer, relative to the project.
fn list_files(matches: &Matches, root: &str) -> Vec<String> {
    let files = matches.files.iter();
    files.map(|path| relative_path(path, root)).collect()
}

fn find_matches(output: &ToolOutput) -> Cow<'_, Matches> {
    match &output.detail {
        OutputDetail::Matches(matches) => Cow::Borrowed(matches),
        _ => Cow::Owned(Matches::default()),
    }
}

fn format_location(path: Option<&str>, files: Option<&str>, root: &str) -> String {
    let folder = path
        .map(|path| relative_path(path, root))
        .filter(|p| p != ".")
        .map(|p| format!(" in {}", short_path(&p)));
    let files = files.map(|k| format!(" ({})", one_line(k, 24)));
    format!(
        "{}{}",
        folder.unwrap_or_default(),
        files.unwrap_or_default()
    )
}

pub(super) fn describe_search(
    search: &FileSearch,
    output: &ToolOutput,
    root: &str,
) -> LookupReading {
    let pattern = search.pattern.as_deref().unwrap_or("");
    let pattern = one_line(pattern, 50).replace('`', "'");
    let matches = find_matches(output);
    let content = matches.content.as_deref().unwrap_or("");
    let mut found = list_files(&matches, root);
    if found.is_empty() && !content.is_empty() {
        found = named_in(content, root);
    }
    // Clients report 0 files where they only return lines.
    let count = matches.file_count.filter(|n| *n > 0);
    let count = count.unwrap_or(found.len());
    let outcome = match matches.shows.unwrap_or(search.shows) {
        SearchOutput::Lines => {
            let lines = matches.line_count;
            let lines = lines.unwrap_or_else(|| content.lines().count());
            if lines == 0 {
                "nothing found".to_owned()
            } else if count > 0 {
                format!(
                    "{} in {}",
                    format_count(lines, "line"),
                    format_count(count, "file")
                )
            } else {
                format_count(lines, "line")
            }
        }
        SearchOutput::Counts => {
            format!(
                "{} in {}",
                format_count(matches.match_count.unwrap_or(0), "match"),
                format_count(count, "file")
            )
        }
        SearchOutput::Files if count == 0 => "nothing found".to_owned(),
        SearchOutput::Files => format_count(count, "file"),
    };
    let mut reading = LookupReading::new(&format!(
        "Searched for `{pattern}`{}: {outcome}",
        format_location(search.path.as_deref(), search.files.as_deref(), root)
    ));
    reading.concepts.push("search".to_owned());
    for file in found.iter().take(MAX_SHOWN_FILES) {
        reading.add_fact(file);
    }
    if count > MAX_SHOWN_FILES && found.len() > MAX_SHOWN_FILES {
        reading.add_fact(&format!("and {} more", count - MAX_SHOWN_FILES));
    }
    let text = if content.is_empty() {
        found
            .iter()
            .take(60)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        content.to_owned()
    };
    reading.with_text(&text)
}

/// The files in front of the lines of a search result.
fn named_in(content: &str, root: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in content.lines().take(500) {
        let Some((path, rest)) = line.split_once(':') else {
            continue;
        };
        let numbered = rest
            .split_once(':')
            .is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
        // A line of code with a colon is not a path in front of a match.
        let looks = path.contains(['.', '/']) && !path.contains(' ');
        if (numbered || looks) && !path.is_empty() && !path.bytes().all(|b| b.is_ascii_digit()) {
            let path = relative_path(path, root);
            if !found.contains(&path) && found.len() < 100 {
                found.push(path);
            }
        }
    }
    found
}

pub(super) fn describe_find(
    pattern: Option<&str>,
    path: Option<&str>,
    output: &ToolOutput,
    root: &str,
) -> LookupReading {
    let pattern = one_line(pattern.unwrap_or(""), 60).replace('`', "'");
    let matches = find_matches(output);
    let found = list_files(&matches, root);
    let count = matches.file_count.unwrap_or(found.len());
    let outcome = match count {
        0 => "no files".to_owned(),
        _ if matches.is_truncated => format!("{} or more", format_count(count, "file")),
        _ => format_count(count, "file"),
    };
    let mut reading = LookupReading::new(&format!(
        "Listed files `{pattern}`{}: {outcome}",
        format_location(path, None, root)
    ));
    reading.concepts.push("search".to_owned());
    for file in found.iter().take(MAX_SHOWN_FILES) {
        reading.add_fact(file);
    }
    if found.len() > MAX_SHOWN_FILES {
        reading.add_fact(&format!(
            "and {} more",
            count.saturating_sub(MAX_SHOWN_FILES)
        ));
    }
    reading.with_text(
        &found
            .iter()
            .take(60)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n"),
    )
}
