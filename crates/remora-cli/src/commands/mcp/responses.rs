//! Items, events and memories as the MCP server prints them. Only shapes: escaping
//! and bounds are the server's.

use jiff::Timestamp;
use remora_app::search::SearchResult;
use remora_app::show::{ShownItem, find_outdated_reason};
use remora_app::timeline;
use remora_app::{RejectionView, Rejections, SuccessorView};
use remora_core::record::{Item, Kind, Project};
use remora_core::tokens::estimate_tokens;
use remora_memory::recall::is_untrusted;
use remora_notes::{Memory, MemoryType};
use remora_redact::private::{strip_injected, strip_private};
use remora_redact::{RedactionCounts, Redactor};
use remora_server::mcp::{EntryDetail, SearchEntry, TextOrigin, TimelineEntry};

use crate::commands::memory::{ended_on, origin_of};
use crate::commands::show::lines::TimeFormatter;

/// An item of an index.
pub(super) fn to_search_entry(
    result: &SearchResult,
    now: i64,
    local: &TimeFormatter,
    projects: &[Project],
) -> SearchEntry {
    let item = &result.hit.item;
    let project = projects.iter().find(|project| project.key == item.project);
    SearchEntry {
        id: item.id,
        day: local.format_day(item.time),
        kind: item.kind.name().to_owned(),
        title: mark_superseded(title_with_status(item, now), result.superseded_by.as_ref()),
        tokens: count_item_tokens(item),
        place: project.map(|project| project.name.clone()),
        source: item_source(item),
        wrong: result.wrong.as_ref().map(RejectionView::describe),
    }
}

/// A title that does not pass off as what holds what was reverted or has ended.
fn title_with_status(item: &Item, now: i64) -> String {
    match find_outdated_reason(item, now) {
        Some(why) => format!("{} ({why})", item.title),
        None => item.title.clone(),
    }
}

/// The same with what holds in its place.
fn mark_superseded(title: String, successor: Option<&SuccessorView>) -> String {
    match successor {
        Some(successor) => format!("[{}] {title}", successor.describe()),
        None => title,
    }
}

fn count_item_tokens(item: &Item) -> u32 {
    match item.digest_tokens {
        0 => estimate_tokens(&item.text).saturating_add(estimate_tokens(&item.title)),
        known => known,
    }
}

/// A line of a timeline.
pub(super) fn to_timeline_entry(
    entry: &timeline::TimelineEntry,
    rejections: &Rejections,
    now: i64,
    local: &TimeFormatter,
) -> TimelineEntry {
    let time = entry.time();
    let wrong = match entry {
        timeline::TimelineEntry::Item(item) => {
            rejections.find(item).as_ref().map(RejectionView::describe)
        }
        timeline::TimelineEntry::Event(_) => None,
    };
    let (id, kind, title, source) = match entry {
        timeline::TimelineEntry::Item(item) => (
            Some(item.id),
            item.kind.name(),
            title_with_status(item, now),
            item_source(item),
        ),
        timeline::TimelineEntry::Event(event) => (
            None,
            event.name.as_str(),
            event.label.clone(),
            TextOrigin::Elsewhere,
        ),
    };
    TimelineEntry {
        id,
        day: local.format_day(time),
        clock: local.format_clock(time),
        kind: kind.to_owned(),
        title,
        source,
        wrong,
    }
}

/// An item in full, with those of its fields that a model can use.
pub(super) fn item_to_detail(
    shown: &ShownItem,
    fields: Vec<(&'static str, String)>,
    local: &TimeFormatter,
) -> EntryDetail {
    const SHOWN_FIELDS: [&str; 10] = [
        "commit", "reverted", "ended", "subagent", "branch", "said by", "tool", "record",
        "changed", "read",
    ];
    let item = &shown.item;
    let fields = fields.into_iter();
    let mut fields: Vec<_> = fields
        .filter(|(name, _)| SHOWN_FIELDS.contains(name))
        .collect();
    if let Some(successor) = &shown.superseded_by {
        let by = format!("by #{}: {}", successor.id, successor.title);
        fields.insert(0, ("superseded", by));
    }
    if item.seen > 1 {
        fields.insert(0, ("times", item.seen.to_string()));
    }
    EntryDetail {
        name: format!("#{}", item.id),
        kind: item.kind.name().to_owned(),
        when: local.format_timestamp(item.time),
        title: item.title.clone(),
        fields,
        facts: item.facts.clone(),
        text: item.text.clone(),
        source: item_source(item),
        wrong: shown.wrong.as_ref().map(RejectionView::describe),
        command: format!("remora show {}", item.id),
    }
}

fn item_source(item: &Item) -> TextOrigin {
    if is_untrusted(item) {
        TextOrigin::Elsewhere
    } else {
        TextOrigin::User
    }
}

/// A saved memory. Its file may hold what no item would.
pub(super) fn memory_to_detail(
    memory: &Memory,
    accepted: bool,
    redactor: &Redactor,
    local: &TimeFormatter,
) -> EntryDetail {
    let clean = |text: &str| {
        let text = strip_private(text);
        let text = strip_injected(&text);
        redactor
            .redact_text(&text, &mut RedactionCounts::default())
            .into_owned()
    };
    let when = memory.modified.as_deref().map(|text| {
        let timestamp: Result<Timestamp, _> = text.parse();
        timestamp.map_or_else(
            |_| text.to_owned(),
            |m| local.format_timestamp(m.as_millisecond()),
        )
    });
    let mut fields = vec![("priority", memory.priority.to_string())];
    let kind = memory
        .kind
        .map(|kind| ("type", MemoryType::as_str(kind).to_owned()));
    fields.extend(kind);
    fields.push(("file", memory.path.display().to_string()));
    fields.extend(ended_on(memory).map(|day| ("ended", format!("{day}, by its own words"))));
    if !accepted {
        fields.push(("from", origin_of(memory).to_owned()));
    }
    EntryDetail {
        name: memory.uri.to_string(),
        kind: Kind::Memory.name().to_owned(),
        when: when.unwrap_or_default(),
        title: clean(&memory.title),
        fields,
        facts: memory.warnings.clone(),
        text: clean(&memory.body),
        source: if accepted {
            TextOrigin::User
        } else {
            TextOrigin::Elsewhere
        },
        wrong: None,
        command: format!("remora memory show {}", memory.uri),
    }
}
