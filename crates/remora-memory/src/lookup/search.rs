//! Searches in files: what was looked for, where, and what was found.

use serde_json::Value;

use super::LookupReading;
use super::values::{LookupCall, format_count};
use crate::edit::{one_line, short_path};

const MAX_SHOWN_FILES: usize = 8;

/// The files in an answer, relative to the project.
fn list_files(call: &LookupCall<'_>) -> Vec<String> {
    let listed = call
        .answer_value("filenames")
        .or_else(|| call.answer_value("files"))
        .and_then(Value::as_array);
    if let Some(list) = listed {
        return list
            .iter()
            .filter_map(Value::as_str)
            .map(|p| call.relative_path(p))
            .collect();
    }
    let text = call.response.and_then(Value::as_str).unwrap_or("");
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Found ") && !l.starts_with("No "))
        .take(500)
        .map(|l| call.relative_path(l))
        .collect()
}

fn find_answer_number(call: &LookupCall<'_>, key: &str) -> Option<usize> {
    call.answer_value(key)
        .and_then(Value::as_u64)
        .and_then(|n| usize::try_from(n).ok())
}

fn format_location(call: &LookupCall<'_>) -> String {
    let folder = call
        .path("path")
        .filter(|p| p != ".")
        .map(|p| format!(" in {}", short_path(&p)));
    let kind = call
        .input_text("glob")
        .or_else(|| call.input_text("type"))
        .filter(|_| call.tool == "Grep");
    let kind = kind.map(|k| format!(" ({})", one_line(k, 24)));
    format!("{}{}", folder.unwrap_or_default(), kind.unwrap_or_default())
}

pub(super) fn parse_grep_call(call: &LookupCall<'_>) -> LookupReading {
    let pattern = one_line(call.input_text("pattern").unwrap_or(""), 50).replace('`', "'");
    let mode = call
        .answer_text("mode")
        .or_else(|| call.input_text("output_mode"))
        .unwrap_or("files_with_matches");
    let content = call.answer_text("content").unwrap_or("");
    let mut found = list_files(call);
    if found.is_empty() && !content.is_empty() {
        found = named_in(call, content);
    }
    let count = find_answer_number(call, "numFiles")
        .filter(|n| *n > 0)
        .unwrap_or(found.len());
    let outcome = match mode {
        "content" => {
            let lines =
                find_answer_number(call, "numLines").unwrap_or_else(|| content.lines().count());
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
        "count" => {
            let matches = find_answer_number(call, "numMatches").unwrap_or(0);
            format!(
                "{} in {}",
                format_count(matches, "match"),
                format_count(count, "file")
            )
        }
        _ if count == 0 => "nothing found".to_owned(),
        _ => format_count(count, "file"),
    };
    let mut reading = LookupReading::new(&format!(
        "Searched for `{pattern}`{}: {outcome}",
        format_location(call)
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
fn named_in(call: &LookupCall<'_>, content: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in content.lines().take(500) {
        let Some((path, rest)) = line.split_once(':') else {
            continue;
        };
        let numbered = rest
            .split_once(':')
            .is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
        let looks = path.contains(['.', '/']) && !path.contains(' ');
        if (numbered || looks) && !path.is_empty() && !path.bytes().all(|b| b.is_ascii_digit()) {
            let path = call.relative_path(path);
            if !found.contains(&path) && found.len() < 100 {
                found.push(path);
            }
        }
    }
    found
}

pub(super) fn parse_glob_call(call: &LookupCall<'_>) -> LookupReading {
    let pattern = one_line(call.input_text("pattern").unwrap_or(""), 60).replace('`', "'");
    let found = list_files(call);
    let count = find_answer_number(call, "numFiles").unwrap_or(found.len());
    let more = call.answer_value("truncated").and_then(Value::as_bool) == Some(true);
    let outcome = match count {
        0 => "no files".to_owned(),
        _ if more => format!("{} or more", format_count(count, "file")),
        _ => format_count(count, "file"),
    };
    let mut reading = LookupReading::new(&format!(
        "Listed files `{pattern}`{}: {outcome}",
        format_location(call)
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
