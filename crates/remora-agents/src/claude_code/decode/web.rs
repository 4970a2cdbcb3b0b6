//! Pages and searches of the web.

use remora_core::tool_call::{OutputDetail, ToolCall};
use serde_json::Value;

use super::raw_call::RawCall;

/// How deep hits may be nested, and how many are enough.
const MAX_DEPTH: usize = 5;
const MAX_HITS: usize = 50;

pub(super) fn decode_fetch(raw: &RawCall<'_>) -> ToolCall {
    ToolCall::Fetch {
        url: raw.owned_input("url").or_else(|| raw.owned_answer("url")),
        question: raw.owned_input("prompt"),
    }
}

pub(super) fn decode_search(raw: &RawCall<'_>) -> ToolCall {
    ToolCall::SearchWeb {
        query: raw
            .owned_input("query")
            .or_else(|| raw.owned_answer("query")),
    }
}

pub(super) fn decode_page(raw: &RawCall<'_>) -> OutputDetail {
    OutputDetail::Web {
        status: raw.answer_number("code"),
        hits: Vec::new(),
    }
}

pub(super) fn decode_hits(raw: &RawCall<'_>) -> OutputDetail {
    let mut hits = Vec::new();
    if let Some(results) = raw.answer_value("results") {
        collect_hits(results, MAX_DEPTH, &mut hits);
    }
    OutputDetail::Web { status: None, hits }
}

/// Titles with their addresses, however deep they are.
fn collect_hits(value: &Value, depth: usize, hits: &mut Vec<(String, String)>) {
    if depth == 0 || hits.len() >= MAX_HITS {
        return;
    }
    match value {
        Value::Array(list) => list.iter().for_each(|v| collect_hits(v, depth - 1, hits)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            if let Some(title) = text("title") {
                hits.push((title.to_owned(), text("url").unwrap_or("").to_owned()));
            } else if let Some(inner) = map.get("content").or_else(|| map.get("results")) {
                collect_hits(inner, depth - 1, hits);
            }
        }
        _ => {}
    }
}
