//! One item as the model reads it: id, date, kind and title on one line, and
//! below it the rest, if it still holds. Always worded as a record, never as
//! something to do.

use remora_core::detail::{DetailList, DetailNumber};
use remora_core::record::{Item, Kind};
use remora_core::time::format_date;

use super::freshness::Freshness;
use super::memories::origin_mark;
use super::sanitize::{sanitize_block, sanitize_line};
use super::{Exposure, RecallContext, Selected, is_untrusted, name_of, other_branch};

/// Characters of a title, a fact, a body and a diff.
const MAX_TITLE_CHARS: usize = 160;
const MAX_FACT_CHARS: usize = 180;
const MAX_BODY_CHARS: usize = 700;
const MAX_DIFF_CHARS: usize = 500;
/// Facts of one item that are shown.
const MAX_FACTS: usize = 3;

/// The item on one line, for lists and for items whose file has changed.
pub(super) fn render_line(item: &Item, truth: Freshness, scene: &RecallContext<'_>) -> String {
    let mark = if is_untrusted(item) { "~" } else { "" };
    let who = match item.speaker.as_deref() {
        Some("user") if item.kind != Kind::Prompt => " (the user)",
        _ => "",
    };
    let mut text = format!(
        "{}{mark} {} {}{who}: {}",
        name_of(item),
        format_date(item.time.max(item.last_time)),
        item.kind,
        sanitize_line(&item.title, MAX_TITLE_CHARS)
    );
    if let Some(mark) = origin_mark(item) {
        text = format!("{text} {mark}");
    }
    if let Some(branch) = other_branch(item, scene) {
        text = format!("{text} [branch {}]", sanitize_line(branch, 60));
    }
    if let Freshness::Changed(when) = truth {
        let file = item.files_modified.first().or(item.files_read.first());
        let file = file.map_or("its file", String::as_str);
        text = format!(
            "{text} [{} changed {}]",
            sanitize_line(file, 120),
            format_date(when)
        );
    }
    text
}

/// The item in full.
pub(super) fn render_full(item: &Item, truth: Freshness, scene: &RecallContext<'_>) -> String {
    let mut text = render_line(item, truth, scene);
    // Details of a file that has changed since may be wrong now; the line says when.
    if matches!(truth, Freshness::Changed(_)) {
        return text;
    }
    for more in render_details(item) {
        text.push_str("\n  ");
        text.push_str(&more);
    }
    text
}

/// Whether there is more to say than the title.
pub(super) fn has_more(item: &Item) -> bool {
    !render_details(item).is_empty()
}

fn render_details(item: &Item) -> Vec<String> {
    match item.kind {
        Kind::Summary => render_summary(item),
        Kind::Fix => render_fix(item),
        Kind::Memory => render_memory(item),
        Kind::Commit => render_commit(item),
        Kind::Prompt | Kind::Message => {
            let text = sanitize_line(&item.text, MAX_BODY_CHARS);
            let same = text == sanitize_line(&item.title, MAX_TITLE_CHARS);
            if same { Vec::new() } else { vec![text] }
        }
        _ => {
            let adds = |fact: &&String| !fact.is_empty() && **fact != item.title;
            let facts = item.facts.iter().filter(adds).take(MAX_FACTS);
            facts
                .map(|fact| sanitize_line(fact, MAX_FACT_CHARS))
                .collect()
        }
    }
}

fn render_summary(item: &Item) -> Vec<String> {
    let explains = item
        .detail_list(DetailList::Explains)
        .map(|said| format!("said then: {}", sanitize_line(said, MAX_FACT_CHARS)));
    let explains: Vec<String> = explains.collect();
    if !explains.is_empty() {
        return explains;
    }
    let mut lines: Vec<String> = Vec::new();
    for (list, label, most) in [
        (DetailList::Notes, "note", 2),
        (DetailList::Completed, "done", 3),
        (DetailList::Learned, "learned", 2),
        (DetailList::OpenSteps, "left", 3),
    ] {
        for entry in item.detail_list(list).take(most) {
            let entry = sanitize_line(entry, MAX_FACT_CHARS);
            // The same sentence is often listed as done, learned and noted.
            if !lines.iter().any(|known| known.contains(&entry)) {
                lines.push(format!("{label}: {entry}"));
            }
        }
    }
    if lines.is_empty() && !item.text.is_empty() {
        lines.push(sanitize_line(&item.text, MAX_BODY_CHARS));
    }
    lines
}

/// The change that fixed an error, and how well it held.
pub(super) fn render_fix(item: &Item) -> Vec<String> {
    let count = |counter| item.detail_count(counter).unwrap_or(0);
    let mut record = format!("fixed {}", format_times(count(DetailNumber::Fixed).max(1)));
    if count(DetailNumber::Held) > 0 {
        record = format!(
            "{record}, and the command passed {} after that",
            format_times(count(DetailNumber::Held))
        );
    }
    if count(DetailNumber::Returned) > 0 {
        record = format!(
            "{record}; the error came back {}",
            format_times(count(DetailNumber::Returned))
        );
    }
    let mut lines = vec![record];
    if let Some(other) = item.detail_list(DetailList::EarlierChanges).last() {
        lines.push(format!(
            "an earlier change, after which it came back: {}",
            sanitize_line(other, MAX_FACT_CHARS)
        ));
    }
    let fixes = item
        .facts
        .iter()
        .filter_map(|fact| fact.strip_prefix("fix: "));
    lines.extend(
        fixes
            .take(MAX_FACTS)
            .map(|fix| format!("the change then: {}", sanitize_line(fix, MAX_FACT_CHARS))),
    );
    let diff = sanitize_block(item.text.trim(), MAX_DIFF_CHARS);
    if !diff.is_empty() {
        lines.push(diff.replace('\n', "\n  "));
    }
    lines
}

fn format_times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

fn render_memory(item: &Item) -> Vec<String> {
    let mut lines: Vec<String> = render_doubts(item).collect();
    let body = sanitize_block(item.text.trim(), MAX_BODY_CHARS);
    if !body.is_empty() {
        lines.push(body.replace('\n', "\n  "));
    }
    lines
}

/// The reason of a commit; a revert without one names what it reverted.
fn render_commit(item: &Item) -> Vec<String> {
    let body = sanitize_block(item.text.trim(), MAX_BODY_CHARS);
    if body.is_empty() {
        return item
            .facts
            .iter()
            .map(|fact| sanitize_line(fact, MAX_FACT_CHARS))
            .collect();
    }
    vec![body.replace('\n', "\n  ")]
}

/// The claims of a saved memory that `memory check` doubts.
pub(super) fn render_doubts(item: &Item) -> impl Iterator<Item = String> {
    item.detail_list(DetailList::Doubts)
        .take(3)
        .map(|doubt| format!("[doubtful: {}]", sanitize_line(doubt, MAX_FACT_CHARS)))
}

/// The item's entry in the recall result, from which the injection log is written.
pub(super) fn build_selected(
    item: &Item,
    truth: Freshness,
    seen: Exposure,
    why: String,
    tokens: u32,
) -> Selected {
    Selected {
        item: name_of(item),
        kind: item.kind,
        title: sanitize_line(&item.title, MAX_TITLE_CHARS),
        seen,
        why,
        parts: Vec::new(),
        truth,
        tokens,
    }
}
