//! Pages, web searches, MCP servers and tools nobody told us about.

use serde_json::Value;

use super::LookupReading;
use super::values::{LookupCall, find_first_sentence, format_arguments, tool_name};
use crate::edit::one_line;

/// Host and path of an address, without credentials, query and fragment.
pub(super) fn format_address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, r)| r);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    let path = path.trim_end_matches('/');
    one_line(
        &if path.is_empty() {
            host.to_owned()
        } else {
            format!("{host}/{path}")
        },
        60,
    )
}

/// The title of a page, or its first heading.
fn find_heading(page: &str) -> Option<String> {
    let line = page.lines().map(str::trim).take(60).find_map(|l| {
        let text = l.trim_start_matches('#');
        let marked = text.len() < l.len() && text.starts_with(' ');
        marked
            .then_some(text.trim())
            .or_else(|| l.strip_prefix("Title:").map(str::trim))
    })?;
    (!line.is_empty()).then(|| one_line(line.trim_matches('*'), 80))
}

pub(super) fn parse_fetch_call(call: &LookupCall<'_>) -> LookupReading {
    let url = call
        .input_text("url")
        .or_else(|| call.answer_text("url"))
        .unwrap_or("");
    let page = call.result_text();
    let place = format_address(url);
    let code = call
        .answer_value("code")
        .and_then(Value::as_u64)
        .filter(|c| *c >= 400);
    let about = match code {
        Some(code) => Some(format!("status {code}")),
        None => find_heading(&page).or_else(|| {
            let first = find_first_sentence(&page);
            (!first.is_empty()).then(|| one_line(first, 70))
        }),
    };
    let title = about.map_or_else(
        || format!("Fetched {place}"),
        |a| format!("Fetched {place}: {a}"),
    );
    let mut reading = LookupReading::new(&title).with_concept("web");
    if let Some(question) = call.input_text("prompt") {
        reading.add_fact(&format!("asked: {question}"));
    }
    let body = page
        .lines()
        .find(|l| !l.trim().is_empty() && !l.starts_with('#'));
    if let Some(first) = body.map(find_first_sentence).filter(|s| !s.is_empty()) {
        reading.add_fact(&format!("answer: {first}"));
    }
    reading.with_text(&page)
}

pub(super) fn parse_web_search_call(call: &LookupCall<'_>) -> LookupReading {
    let query = one_line(
        call.input_text("query")
            .or_else(|| call.answer_text("query"))
            .unwrap_or(""),
        70,
    );
    let mut hits = Vec::new();
    if let Some(results) = call.answer_value("results") {
        collect_hits(results, 5, &mut hits);
    }
    let count = hits.len();
    let outcome = match count {
        0 => String::new(),
        1 => ": 1 result".to_owned(),
        n => format!(": {n} results"),
    };
    let mut reading = LookupReading::new(&format!(
        "Searched the web for `{}`{outcome}",
        query.replace('`', "'")
    ))
    .with_concept("web");
    for (title, url) in hits.iter().take(8) {
        let place = if url.is_empty() {
            String::new()
        } else {
            format!(" ({})", format_address(url))
        };
        reading.add_fact(&format!("{}{place}", one_line(title, 90)));
    }
    let text = call.result_text();
    let text = if text.is_empty() {
        hits.iter()
            .map(|(t, u)| format!("{t} {u}"))
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        text
    };
    reading.with_text(&text)
}

/// Titles with their addresses, however deep they stand.
fn collect_hits<'a>(value: &'a Value, depth: usize, hits: &mut Vec<(&'a str, &'a str)>) {
    if depth == 0 || hits.len() >= 50 {
        return;
    }
    match value {
        Value::Array(list) => list.iter().for_each(|v| collect_hits(v, depth - 1, hits)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            if let Some(title) = text("title") {
                hits.push((title, text("url").unwrap_or("")));
            } else if let Some(inner) = map.get("content").or_else(|| map.get("results")) {
                collect_hits(inner, depth - 1, hits);
            }
        }
        _ => {}
    }
}

pub(super) fn parse_mcp_call(call: &LookupCall<'_>) -> LookupReading {
    let name = tool_name(call.tool);
    let given = format_arguments(call.input, 70);
    let title = if given.is_empty() {
        name.clone()
    } else {
        format!("{name}: {given}")
    };
    let result = text_or_json(call);
    let mut reading = LookupReading::new(&title);
    if let Some((server, _)) = name.split_once(' ') {
        reading.concepts.push(server.to_owned());
    }
    let first = one_line(&result, 120);
    if !first.is_empty() {
        reading.add_fact(&format!("answer: {first}"));
    }
    reading.with_text(&result)
}

/// The text of an answer, or the answer as it is.
fn text_or_json(call: &LookupCall<'_>) -> String {
    let text = call.result_text();
    if !text.is_empty() {
        return text;
    }
    match call.response {
        None | Some(Value::Null) => String::new(),
        Some(other) => format_arguments(other, 400),
    }
}

pub(super) fn parse_unknown_call(call: &LookupCall<'_>) -> LookupReading {
    let name = tool_name(call.tool);
    let given = format_arguments(call.input, 70);
    let title = if given.is_empty() {
        format!("Used {name}")
    } else {
        format!("Used {name}: {given}")
    };
    let result = text_or_json(call);
    let mut reading = LookupReading::new(&title);
    let first = one_line(&result, 120);
    if !first.is_empty() {
        reading.add_fact(&format!("answer: {first}"));
    }
    reading.with_text(&result)
}
