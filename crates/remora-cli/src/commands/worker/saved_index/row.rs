//! What the index says of one memory, besides its words.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use remora_core::detail::{DetailFlag, DetailList, DetailNumber, DetailText, ItemDetail};
use remora_memory::end_date;
use remora_memory::recall::ASSISTANT_SPEAKER;
use remora_notes::check::{ClaimFinding, ClaimKind, ClaimVerdict, list_claims};
use remora_notes::{Memory, MemoryAuthor, MemoryType};
use remora_server::saved::SavedMemory;

use crate::clock;

/// Words that are searched for files.
const MAX_SCANNED_BYTES: usize = 64 * 1024;
/// The most files that an item lists.
const MAX_FILES: usize = 20;
/// The most doubts that an item lists, and the characters of each.
const MAX_DOUBTS: usize = 3;
const MAX_DOUBT_CHARS: usize = 120;

/// What is known of a memory besides its file.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MemoryContext<'a> {
    /// The checkout that it is about.
    pub(super) root: Option<&'a Path>,
    /// Whether the user wrote it, or accepted what it says.
    pub(super) accepted: bool,
    /// Whether instructions name it.
    pub(super) named: bool,
    /// What the last check found.
    pub(super) findings: &'a [ClaimFinding],
}

/// The memory as the index has it.
pub(super) fn build_saved_memory(memory: &Memory, context: MemoryContext<'_>) -> SavedMemory {
    let meta = fs::metadata(&memory.path).ok();
    let nanos = meta.as_ref().map_or(0, |m| {
        m.mtime()
            .saturating_mul(1_000_000_000)
            .saturating_add(m.mtime_nsec())
    });
    let doubts = context.findings.iter().filter_map(format_doubt);
    let doubts: Vec<String> = doubts.take(MAX_DOUBTS).collect();
    SavedMemory {
        uri: memory.uri.to_string(),
        title: format!("{}: {}", memory.uri.name, memory.index_summary()),
        files: context
            .root
            .map_or_else(Vec::new, |root| list_named_files(&memory.body, root)),
        text: memory.body.clone(),
        speaker: (memory.author == MemoryAuthor::Agent && !context.accepted)
            .then(|| ASSISTANT_SPEAKER.to_owned()),
        time: written_at(memory, nanos / 1_000_000),
        detail: ItemDetail::new()
            .with_text(DetailText::Scope, Some(memory.uri.scope.as_str()))
            .with_number(DetailNumber::Priority, memory.priority)
            .with_text(DetailText::MemoryType, memory.kind.map(MemoryType::as_str))
            .with_text(DetailText::Path, Some(&memory.path.to_string_lossy()))
            // A hook compares size and time, and reads the file again if they
            // differ.
            .with_number(DetailNumber::Size, meta.map_or(0, |m| m.len()))
            .with_number(DetailNumber::Modified, nanos)
            .with_flag(DetailFlag::Named, context.named)
            .with_flag(DetailFlag::Accepted, context.accepted)
            .with_list(DetailList::Doubts, doubts),
    }
}

/// When a memory was written, by its file's own word, else by the disk's.
fn written_at(memory: &Memory, changed: i64) -> i64 {
    let written = memory.modified.as_deref().and_then(parse_timestamp);
    written.unwrap_or(changed)
}

/// The day on which what a memory says ended, if it says so.
pub(in crate::commands) fn ended_on(memory: &Memory) -> Option<String> {
    let changed = fs::metadata(&memory.path).map_or(0, |meta| meta.mtime());
    let said = written_at(memory, changed.saturating_mul(1000));
    end_date::ended_on(&memory.body, said, clock::now_ms())
}

/// The time that a file names as its own, in milliseconds since 1970.
fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    let at = text.parse::<Timestamp>().ok().or_else(|| {
        let day: Date = text.parse().ok()?;
        Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })?;
    Some(at.as_millisecond())
}

/// The files that a memory names and that are there, as seen from the root.
fn list_named_files(body: &str, root: &Path) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for claim in list_claims(&body[..body.floor_char_boundary(MAX_SCANNED_BYTES)]) {
        if claim.kind != ClaimKind::Path || files.len() == MAX_FILES {
            continue;
        }
        let path = Path::new(&claim.text);
        let path = path.strip_prefix(root).unwrap_or(path);
        let path = path.strip_prefix(".").unwrap_or(path);
        // `..` and absolute paths would make the index look outside of the
        // checkout.
        let inside = path.components().all(|c| matches!(c, Component::Normal(_)));
        let Some(text) = path.to_str().filter(|_| inside) else {
            continue;
        };
        if !text.is_empty() && !files.iter().any(|f| f == text) && root.join(path).is_file() {
            files.push(text.to_owned());
        }
    }
    files
}

/// A claim that no longer holds, in a few words.
fn format_doubt(finding: &ClaimFinding) -> Option<String> {
    let name = &finding.claim.text;
    let text = match (
        finding.verdict,
        &finding.now,
        parse_evidence_day(&finding.evidence),
    ) {
        (ClaimVerdict::Gone, _, Some(day)) => format!("{name} is gone since {day}"),
        (ClaimVerdict::Gone, _, None) => format!("{name} is gone"),
        (ClaimVerdict::Moved, Some(now), _) => format!("{name} is now {now}"),
        (ClaimVerdict::Moved, None, _) => format!("{name} has moved"),
        (ClaimVerdict::Holds | ClaimVerdict::CannotTell, ..) => return None,
    };
    let plain = text.chars().filter(|c| !c.is_control());
    Some(plain.take(MAX_DOUBT_CHARS).collect())
}

/// The day in evidence such as `deleted in 1a2b3c4 (2026-10-01)`.
fn parse_evidence_day(evidence: &str) -> Option<&str> {
    let (_, rest) = evidence.rsplit_once('(')?;
    let (day, _) = rest.split_once(')')?;
    day.parse::<Date>().is_ok().then_some(day)
}

#[cfg(test)]
mod tests;
