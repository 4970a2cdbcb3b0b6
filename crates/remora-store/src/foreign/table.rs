//! Which columns of which tables are read, by which of the names they have had
//! over the versions, and how their values become ours.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;

/// A column's name.
pub(super) type Column = String;

/// A table and its columns in the order in which they are read: each by the
/// names it may have, the newest first.
pub(super) struct ForeignTable {
    pub(super) name: &'static str,
    columns: &'static [&'static [&'static str]],
    /// Conditions, each with the column it needs; one whose column this version
    /// does not have is left out.
    only: &'static [(&'static str, &'static str)],
}

const SESSION_ID_COLUMNS: &[&str] = &["content_session_id", "claude_session_id", "session_id"];
const MEMORY_ID_COLUMNS: &[&str] = &["memory_session_id", "sdk_session_id", "session_id"];

pub(super) const SESSIONS_TABLE: ForeignTable = ForeignTable {
    name: "sdk_sessions",
    columns: &[
        &["id"],
        SESSION_ID_COLUMNS,
        MEMORY_ID_COLUMNS,
        &["project"],
        &["platform_source"],
        &["custom_title"],
        &["user_prompt"],
        &["completed_at_epoch"],
        &["prompt_counter"],
        &["started_at_epoch", "created_at_epoch"],
    ],
    only: &[],
};

pub(super) const PROMPTS_TABLE: ForeignTable = ForeignTable {
    name: "user_prompts",
    columns: &[
        &["id"],
        SESSION_ID_COLUMNS,
        &["prompt_number"],
        &["prompt_text", "text"],
        &["created_at_epoch"],
    ],
    only: &[],
};

pub(super) const OBSERVATIONS_TABLE: ForeignTable = ForeignTable {
    name: "observations",
    columns: &[
        &["id"],
        MEMORY_ID_COLUMNS,
        &["project"],
        &["type"],
        &["title"],
        &["subtitle"],
        &["facts"],
        &["narrative"],
        &["text"],
        &["concepts"],
        &["files_read"],
        &["files_modified"],
        &["prompt_number"],
        &["discovery_tokens"],
        &["agent_id"],
        &["merged_into_project"],
        &["created_at_epoch"],
    ],
    only: &[],
};

pub(super) const SUMMARIES_TABLE: ForeignTable = ForeignTable {
    name: "session_summaries",
    columns: &[
        &["id"],
        MEMORY_ID_COLUMNS,
        &["project"],
        &["request"],
        &["investigated"],
        &["learned"],
        &["completed"],
        &["next_steps"],
        &["notes"],
        &["files_read"],
        &["files_edited"],
        &["prompt_number"],
        &["merged_into_project"],
        &["created_at_epoch"],
    ],
    only: &[],
};

const CALL_COLUMNS: &[&[&str]] = &[
    &["id"],
    SESSION_ID_COLUMNS,
    &["project"],
    &["tool_use_id"],
    &["tool_name"],
    &["tool_input"],
    &["tool_response"],
    &["cwd"],
    &["agent_id"],
    &["created_at_epoch"],
];

pub(super) const PENDING_TABLE: ForeignTable = ForeignTable {
    name: "pending_messages",
    columns: CALL_COLUMNS,
    only: &[
        ("message_type", "message_type = 'observation'"),
        // Earlier versions kept processed messages in this table.
        ("status", "status <> 'processed'"),
    ],
};

pub(super) const TOOL_USES_TABLE: ForeignTable = ForeignTable {
    name: "tool_uses",
    columns: CALL_COLUMNS,
    only: &[("observation_id", "observation_id IS NULL")],
};

pub(super) const ALL_TABLES: [&ForeignTable; 6] = [
    &SESSIONS_TABLE,
    &PROMPTS_TABLE,
    &OBSERVATIONS_TABLE,
    &SUMMARIES_TABLE,
    &PENDING_TABLE,
    &TOOL_USES_TABLE,
];

impl ForeignTable {
    /// Whether the table has its first two columns, id and session. Without them
    /// rows cannot be told apart or assigned to a session.
    pub(super) fn is_known(&self, there: &[Column]) -> bool {
        let has = |names: &&[&str]| there.iter().any(|column| names.contains(&column.as_str()));
        self.columns.iter().take(2).all(has)
    }

    /// The query for a page of rows; `None` if the table does not exist.
    pub(super) fn select_sql(&self, there: &[Column]) -> Option<String> {
        let has = |name: &str| there.iter().any(|column| column == name);
        if !has("id") {
            return None;
        }
        let columns: Vec<&str> = self
            .columns
            .iter()
            .map(|names| {
                names
                    .iter()
                    .copied()
                    .find(|name| has(name))
                    .unwrap_or("NULL")
            })
            .collect();
        let mut which = vec!["id > ?1"];
        let only = self.only.iter().filter(|(column, _)| has(column));
        which.extend(only.map(|(_, which)| *which));
        Some(format!(
            "SELECT {} FROM {} WHERE {} ORDER BY id LIMIT ?2",
            columns.join(", "),
            self.name,
            which.join(" AND ")
        ))
    }
}

/// The project of a row, or the one that it was merged into there.
pub(super) fn read_project(row: &Row<'_>, own: usize, merged: usize) -> String {
    match read_text(row, merged) {
        none if none.is_empty() => read_text(row, own),
        merged => merged,
    }
}

/// A text; empty if it is missing or of another type. SQLite's columns are not
/// typed, so nothing can be assumed about a foreign file.
pub(super) fn read_text(row: &Row<'_>, column: usize) -> String {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// A whole number; 0 if it is missing or of another type.
pub(super) fn read_number(row: &Row<'_>, column: usize) -> i64 {
    match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => number,
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        Ok(ValueRef::Real(number)) => number as i64,
        Ok(ValueRef::Text(bytes)) => std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0),
        _ => 0,
    }
}

/// A list as its versions stored it: JSON, or one entry per line.
pub(super) fn parse_list(text: &str) -> Vec<String> {
    let entries: Vec<String> = match serde_json::from_str(text) {
        Ok(Value::Array(entries)) => entries
            .into_iter()
            .map(|entry| match entry {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            })
            .collect(),
        Ok(Value::String(entry)) => vec![entry],
        _ => text.lines().map(str::to_owned).collect(),
    };
    entries
        .into_iter()
        .map(|entry| entry.trim().to_owned())
        .filter(|entry| !entry.is_empty())
        .collect()
}
