//! Lines for users: times in their own time zone, text cut and wrapped to
//! the terminal, numbers and sizes in words. No colours and no printing.

use std::io;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
pub(crate) use remora_app::text::{char_width, flatten_text, text_width, truncate_columns};
use terminal_size::{Width, terminal_size_of};

use crate::environment::Environment;

/// How wide lines are where no terminal says otherwise.
const DEFAULT_COLUMNS: usize = 80;
/// Narrower lines hold no sentence, and wider ones are hard to read.
const COLUMN_LIMITS: std::ops::RangeInclusive<usize> = 40..=120;

/// Lines are at most this wide: as the terminal, or `COLUMNS`.
pub(crate) fn line_width() -> usize {
    static DETECTED_COLUMNS: OnceLock<usize> = OnceLock::new();
    *DETECTED_COLUMNS.get_or_init(|| {
        let said = Environment::from_process().get("COLUMNS").cloned();
        let said = said.and_then(|said| said.to_str()?.parse().ok());
        let seen = || terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns.into());
        choose_width(said.or_else(seen))
    })
}

/// A width that lines can have, for a terminal of so many columns.
fn choose_width(columns: Option<usize>) -> usize {
    match columns {
        Some(columns) if columns > 0 => columns.clamp(*COLUMN_LIMITS.start(), *COLUMN_LIMITS.end()),
        _ => DEFAULT_COLUMNS,
    }
}

/// Times as the user reads them.
#[derive(Debug, Clone)]
pub(crate) struct TimeFormatter(TimeZone);

impl TimeFormatter {
    pub(crate) fn new() -> Self {
        Self(TimeZone::system())
    }

    fn format_time(&self, millis: i64, form: &str) -> String {
        let time = Timestamp::from_millisecond(millis).unwrap_or_default();
        time.to_zoned(self.0.clone()).strftime(form).to_string()
    }

    /// `2026-11-15`.
    pub(crate) fn format_day(&self, millis: i64) -> String {
        self.format_time(millis, "%Y-%m-%d")
    }

    /// `Sunday`.
    pub(crate) fn format_weekday(&self, millis: i64) -> String {
        self.format_time(millis, "%A")
    }

    /// `14:03`.
    pub(crate) fn format_clock(&self, millis: i64) -> String {
        self.format_time(millis, "%H:%M")
    }

    /// `2026-11-15 14:03`.
    pub(crate) fn format_timestamp(&self, millis: i64) -> String {
        self.format_time(millis, "%Y-%m-%d %H:%M")
    }
}

/// The text in lines of at most `room` columns, broken at blanks where there
/// are any.
pub(crate) fn wrap_text(text: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let wide = text_width(word);
        if used > 0 && used + 1 + wide <= room {
            line.push(' ');
            line.push_str(word);
            used += 1 + wide;
            continue;
        }
        // A word without any blank fills up lines by itself.
        if used > 0 && (wide <= room || used + 8 > room) {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            if used + char_width(c) > room {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += char_width(c);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The text behind its lead: further lines are aligned with its first one.
pub(crate) fn hang_text(lead: &str, text: &str) -> String {
    hang_at(text_width(lead), lead, text)
}

/// The text behind its lead: further lines begin at this column.
pub(crate) fn hang_at(column: usize, lead: &str, text: &str) -> String {
    hang_within(line_width(), column, lead, text)
}

fn hang_within(wide: usize, column: usize, lead: &str, text: &str) -> String {
    // The lead takes its room as one word without blanks would.
    let first = text_width(lead);
    let held = "\u{1}".repeat(first.saturating_sub(column));
    let lines = wrap_text(&format!("{held}{text}"), wide.saturating_sub(column));
    let gap = " ".repeat(column);
    let mut out = String::from(lead);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
            out.push_str(&gap);
        }
        out.push_str(line.trim_start_matches('\u{1}'));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// `1 session`, `2 sessions`, `1,204 sessions`.
pub(crate) fn format_count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", format_number(n), if n == 1 { one } else { many })
}

/// `1 session, 3 prompts`: what there is of each; `None` when there is nothing.
pub(crate) fn format_counts(list: &[(u64, &str, &str)]) -> Option<String> {
    let some = list.iter().filter(|(n, ..)| *n > 0);
    let parts: Vec<String> = some
        .map(|(n, one, many)| format_count(*n, one, many))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `1,204`.
pub(crate) fn format_number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `512 bytes`, `1.2 MB`.
pub(crate) fn format_size(bytes: u64) -> String {
    const BYTE_UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    for (name, unit) in BYTE_UNITS {
        if bytes >= unit {
            let tenths = bytes / (unit / 10).max(1);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format_count(bytes, "byte", "bytes")
}

/// Paths in one line: those that fit, and how many more there are.
pub(crate) fn format_paths(files: &[&str], room: usize) -> String {
    let mut out = String::new();
    for (at, file) in files.iter().enumerate() {
        let file = flatten_text(file);
        let more = format!(" +{}", files.len() - at);
        if at > 0 && text_width(&out) + 2 + text_width(&file) + more.len() > room {
            out.push_str(&more);
            return out;
        }
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(&truncate_columns(&file, room.saturating_sub(more.len())));
    }
    out
}

#[cfg(test)]
mod tests;
