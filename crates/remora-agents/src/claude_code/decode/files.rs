//! Files that were read and searched.

use remora_core::tool_call::{
    FileForm, FileRead, FileSearch, Matches, OutputDetail, SearchOutput, ShownFile,
};
use serde_json::Value;

use super::raw_call::RawCall;

/// Lines of an answer that are read as files.
const MAX_LISTED_LINES: usize = 500;

pub(super) fn decode_read(raw: &RawCall<'_>) -> FileRead {
    FileRead {
        path: raw
            .owned_input("file_path")
            .or_else(|| raw.owned_input("notebook_path")),
        first_line: raw.input.get("offset").and_then(Value::as_u64),
        pages: raw.owned_input("pages"),
        is_notebook_tool: raw.tool == "NotebookRead",
    }
}

/// What was shown; a plain text says no more than itself.
pub(super) fn decode_shown_file(raw: &RawCall<'_>) -> OutputDetail {
    if raw.response.is_none_or(Value::is_string) {
        return OutputDetail::None;
    }
    let file = raw.answer_value("file");
    let text = |key: &str| file?.get(key)?.as_str().map(str::to_owned);
    let number = |key: &str| file?.get(key)?.as_u64();
    let cells = || file?.get("cells")?.as_array().map(Vec::len);
    OutputDetail::File(ShownFile {
        // The call's own path counts: the answer's may be spelled differently
        // and would be a second file.
        path: match decode_read(raw).path {
            Some(_) => None,
            None => text("filePath"),
        },
        form: match raw.answer_text("type") {
            None | Some("text") => FileForm::Text,
            Some("image") => FileForm::Image,
            Some("notebook") => FileForm::Notebook {
                cells: cells().unwrap_or(0),
            },
            Some("pdf" | "parts") => FileForm::Document,
            Some("file_unchanged") => FileForm::Unchanged,
            Some(_) => FileForm::Other,
        },
        content: text("content"),
        first_line: number("startLine"),
        line_count: number("numLines"),
        total_lines: number("totalLines"),
        size_bytes: number("originalSize"),
    })
}

pub(super) fn decode_search(raw: &RawCall<'_>) -> FileSearch {
    let shows = raw.input_text("output_mode").map(decode_mode);
    FileSearch {
        pattern: raw.owned_input("pattern"),
        path: raw.owned_input("path"),
        files: raw.owned_input("glob").or_else(|| raw.owned_input("type")),
        shows: shows.unwrap_or_default(),
    }
}

fn decode_mode(word: &str) -> SearchOutput {
    match word {
        "content" => SearchOutput::Lines,
        "count" => SearchOutput::Counts,
        _ => SearchOutput::Files,
    }
}

pub(super) fn decode_matches(raw: &RawCall<'_>) -> OutputDetail {
    let listed = raw
        .answer_value("filenames")
        .or_else(|| raw.answer_value("files"))
        .and_then(Value::as_array);
    let files = match listed {
        Some(list) => list
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        None => list_files(raw.response.and_then(Value::as_str).unwrap_or("")),
    };
    OutputDetail::Matches(Matches {
        files,
        is_list: listed.is_some(),
        content: raw.owned_answer("content"),
        shows: raw.answer_text("mode").map(decode_mode),
        file_count: raw.answer_count("numFiles"),
        line_count: raw.answer_count("numLines"),
        match_count: raw.answer_count("numMatches"),
        is_truncated: raw.answer_value("truncated") == Some(&Value::Bool(true)),
    })
}

/// The files of an answer that is a plain text: a line each, save what the
/// client says itself.
fn list_files(text: &str) -> Vec<String> {
    let is_file =
        // Lines of the client around the list.
        |line: &&str| !line.is_empty() && !line.starts_with("Found ") && !line.starts_with("No ");
    let lines = text.lines().map(str::trim).filter(is_file);
    lines.take(MAX_LISTED_LINES).map(str::to_owned).collect()
}
