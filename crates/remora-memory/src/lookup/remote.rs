//! Pages, web searches, MCP servers and tools that Remora does not know.

use remora_core::tool_call::{OutputDetail, ToolOutput, ToolUse};
use serde_json::Value;

use super::LookupReading;
use super::values::{display_name, find_first_sentence, format_arguments};
use crate::edit::one_line;

/// Host and path of an address, without credentials, query and fragment.
pub(super) fn format_address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, r)| r);
    // Queries carry tokens and differ between calls; the page is the same.
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

pub(super) fn describe_fetch(
    url: Option<&str>,
    question: Option<&str>,
    output: &ToolOutput,
) -> LookupReading {
    let page = output.text.as_str();
    let place = format_address(url.unwrap_or(""));
    let status = match &output.detail {
        OutputDetail::Web { status, .. } => *status,
        _ => None,
    };
    let failed = status.filter(|code| *code >= 400);
    let about = match failed {
        Some(code) => Some(format!("status {code}")),
        None => find_heading(page).or_else(|| {
            let first = find_first_sentence(page);
            (!first.is_empty()).then(|| one_line(first, 70))
        }),
    };
    let title = about.map_or_else(
        || format!("Fetched {place}"),
        |a| format!("Fetched {place}: {a}"),
    );
    let mut reading = LookupReading::new(&title).with_concept("web");
    if let Some(question) = question {
        reading.add_fact(&format!("asked: {question}"));
    }
    let body = page
        .lines()
        .find(|l| !l.trim().is_empty() && !l.starts_with('#'));
    if let Some(first) = body.map(find_first_sentence).filter(|s| !s.is_empty()) {
        reading.add_fact(&format!("answer: {first}"));
    }
    reading.with_text(page)
}

pub(super) fn describe_web_search(query: Option<&str>, output: &ToolOutput) -> LookupReading {
    let query = one_line(query.unwrap_or(""), 70);
    let hits = match &output.detail {
        OutputDetail::Web { hits, .. } => hits.as_slice(),
        _ => &[],
    };
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
    if !output.text.is_empty() {
        return reading.with_text(&output.text);
    }
    let lines: Vec<String> = hits.iter().map(|(t, u)| format!("{t} {u}")).collect();
    reading.with_text(&lines.join("\n"))
}

pub(super) fn describe_mcp_call(
    tool: &ToolUse,
    input: &Value,
    output: &ToolOutput,
) -> LookupReading {
    let name = display_name(tool);
    let mut reading = describe_call(&name, input, output);
    // The server's name is what users search for; its tools have names such as
    // `get`.
    if let Some((server, _)) = name.split_once(' ') {
        reading.concepts.push(server.to_owned());
    }
    reading
}

pub(super) fn describe_unknown_call(
    tool: &ToolUse,
    input: &Value,
    output: &ToolOutput,
) -> LookupReading {
    describe_call(&format!("Used {}", display_name(tool)), input, output)
}

/// A call by its name and arguments, and the beginning of what it answered.
fn describe_call(lead: &str, input: &Value, output: &ToolOutput) -> LookupReading {
    let arguments = format_arguments(input, 70);
    let title = if arguments.is_empty() {
        lead.to_owned()
    } else {
        format!("{lead}: {arguments}")
    };
    let result = text_or_json(output);
    let mut reading = LookupReading::new(&title);
    let first = one_line(&result, 120);
    if !first.is_empty() {
        reading.add_fact(&format!("answer: {first}"));
    }
    reading.with_text(&result)
}

/// The text of an answer, or the answer as it is.
fn text_or_json(output: &ToolOutput) -> String {
    match &output.detail {
        _ if !output.text.is_empty() => output.text.clone(),
        OutputDetail::Json(answer) => format_arguments(answer, 400),
        _ => String::new(),
    }
}
