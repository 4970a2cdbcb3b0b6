//! Searches in files: what was looked for, where, and what was found.

use serde_json::Value;

use super::LookupReading;
use super::values::{Call, counted};
use crate::edit::{one_line, short_path};

const FILES: usize = 8;

/// The files in an answer, relative to the project.
fn files(call: &Call<'_>) -> Vec<String> {
    let listed = call
        .answer("filenames")
        .or_else(|| call.answer("files"))
        .and_then(Value::as_array);
    if let Some(list) = listed {
        return list
            .iter()
            .filter_map(Value::as_str)
            .map(|p| call.relative(p))
            .collect();
    }
    let text = call.response.and_then(Value::as_str).unwrap_or("");
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Found ") && !l.starts_with("No "))
        .take(500)
        .map(|l| call.relative(l))
        .collect()
}

fn number(call: &Call<'_>, key: &str) -> Option<usize> {
    call.answer(key)
        .and_then(Value::as_u64)
        .and_then(|n| usize::try_from(n).ok())
}

fn place(call: &Call<'_>) -> String {
    let folder = call
        .path("path")
        .filter(|p| p != ".")
        .map(|p| format!(" in {}", short_path(&p)));
    let kind = call
        .text("glob")
        .or_else(|| call.text("type"))
        .filter(|_| call.tool == "Grep");
    let kind = kind.map(|k| format!(" ({})", one_line(k, 24)));
    format!("{}{}", folder.unwrap_or_default(), kind.unwrap_or_default())
}

pub(super) fn grep(call: &Call<'_>) -> LookupReading {
    let pattern = one_line(call.text("pattern").unwrap_or(""), 50).replace('`', "'");
    let mode = call
        .said("mode")
        .or_else(|| call.text("output_mode"))
        .unwrap_or("files_with_matches");
    let content = call.said("content").unwrap_or("");
    let mut found = files(call);
    if found.is_empty() && !content.is_empty() {
        found = named_in(call, content);
    }
    let count = number(call, "numFiles")
        .filter(|n| *n > 0)
        .unwrap_or(found.len());
    let outcome = match mode {
        "content" => {
            let lines = number(call, "numLines").unwrap_or_else(|| content.lines().count());
            if lines == 0 {
                "nothing found".to_owned()
            } else if count > 0 {
                format!("{} in {}", counted(lines, "line"), counted(count, "file"))
            } else {
                counted(lines, "line")
            }
        }
        "count" => {
            let matches = number(call, "numMatches").unwrap_or(0);
            format!(
                "{} in {}",
                counted(matches, "match"),
                counted(count, "file")
            )
        }
        _ if count == 0 => "nothing found".to_owned(),
        _ => counted(count, "file"),
    };
    let mut reading = LookupReading::new(&format!(
        "Searched for `{pattern}`{}: {outcome}",
        place(call)
    ));
    reading.concepts.push("search".to_owned());
    for file in found.iter().take(FILES) {
        reading.say(file);
    }
    if count > FILES && found.len() > FILES {
        reading.say(&format!("and {} more", count - FILES));
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
fn named_in(call: &Call<'_>, content: &str) -> Vec<String> {
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
            let path = call.relative(path);
            if !found.contains(&path) && found.len() < 100 {
                found.push(path);
            }
        }
    }
    found
}

pub(super) fn glob(call: &Call<'_>) -> LookupReading {
    let pattern = one_line(call.text("pattern").unwrap_or(""), 60).replace('`', "'");
    let found = files(call);
    let count = number(call, "numFiles").unwrap_or(found.len());
    let more = call.answer("truncated").and_then(Value::as_bool) == Some(true);
    let outcome = match count {
        0 => "no files".to_owned(),
        _ if more => format!("{} or more", counted(count, "file")),
        _ => counted(count, "file"),
    };
    let mut reading = LookupReading::new(&format!(
        "Listed files `{pattern}`{}: {outcome}",
        place(call)
    ));
    reading.concepts.push("search".to_owned());
    for file in found.iter().take(FILES) {
        reading.say(file);
    }
    if found.len() > FILES {
        reading.say(&format!("and {} more", count.saturating_sub(FILES)));
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
