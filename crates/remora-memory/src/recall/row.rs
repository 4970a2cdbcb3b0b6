//! One row as a model reads it: number, date, kind and title on one line, and
//! under it what else there is to say, if it still holds. Always as what was
//! recorded, never as something to do.

use remora_protocol::record::{Item, Kind};
use remora_protocol::time::date;

use super::memories::origin_mark;
use super::plain::{block, line};
use super::truth::Truth;
use super::{Chosen, Scene, Seen, is_untrusted, name_of, other_branch};
use crate::fix::field;
pub(super) use crate::fix::list as entries;

/// Characters of a title, a fact, a body and a diff.
const TITLE: usize = 160;
const FACT: usize = 180;
const BODY: usize = 700;
const DIFF: usize = 500;
/// Facts that are told of one row.
const FACTS: usize = 3;

/// The row on one line: what an index and anything that has changed gets.
pub(super) fn short(item: &Item, truth: Truth, scene: &Scene<'_>) -> String {
    let mark = if is_untrusted(item) { "~" } else { "" };
    let who = match item.speaker.as_deref() {
        Some("user") if item.kind != Kind::Prompt => " (the person)",
        _ => "",
    };
    let mut text = format!(
        "{}{mark} {} {}{who}: {}",
        name_of(item),
        date(item.time.max(item.last_time)),
        item.kind,
        line(&item.title, TITLE)
    );
    if let Some(mark) = origin_mark(item) {
        text = format!("{text} {mark}");
    }
    if let Some(branch) = other_branch(item, scene) {
        text = format!("{text} [branch {}]", line(branch, 60));
    }
    if let Truth::Changed(when) = truth {
        let file = item.files_modified.first().or(item.files_read.first());
        let file = file.map_or("its file", String::as_str);
        text = format!("{text} [{} changed {}]", line(file, 120), date(when));
    }
    text
}

/// The row with what else there is to say.
pub(super) fn full(item: &Item, truth: Truth, scene: &Scene<'_>) -> String {
    let mut text = short(item, truth, scene);
    if matches!(truth, Truth::Changed(_)) {
        return text;
    }
    for more in more(item) {
        text.push_str("\n  ");
        text.push_str(&more);
    }
    text
}

/// Whether there is more to say than the title does.
pub(super) fn has_more(item: &Item) -> bool {
    !more(item).is_empty()
}

fn more(item: &Item) -> Vec<String> {
    match item.kind {
        Kind::Summary => summary(item),
        Kind::Fix => fix(item),
        Kind::Memory => memory(item),
        Kind::Commit => commit(item),
        Kind::Prompt | Kind::Message => {
            let text = line(&item.text, BODY);
            let same = text == line(&item.title, TITLE);
            if same { Vec::new() } else { vec![text] }
        }
        _ => {
            let told = |fact: &&String| !fact.is_empty() && **fact != item.title;
            let facts = item.facts.iter().filter(told).take(FACTS);
            facts.map(|fact| line(fact, FACT)).collect()
        }
    }
}

/// Sentences of a summary that explain an error, put there for one recall.
pub(super) const EXPLAINS: &str = "explains";

fn summary(item: &Item) -> Vec<String> {
    let explains = entries(item, EXPLAINS).map(|said| format!("said then: {}", line(said, FACT)));
    let explains: Vec<String> = explains.collect();
    if !explains.is_empty() {
        return explains;
    }
    let mut lines: Vec<String> = Vec::new();
    for (name, label, most) in [
        ("notes", "note", 2),
        ("completed", "done", 3),
        ("learned", "learned", 2),
        ("next_steps", "left", 3),
    ] {
        for entry in entries(item, name).take(most) {
            let entry = line(entry, FACT);
            // The same is often done, learned and noted.
            if !lines.iter().any(|known| known.contains(&entry)) {
                lines.push(format!("{label}: {entry}"));
            }
        }
    }
    if lines.is_empty() && !item.text.is_empty() {
        lines.push(line(&item.text, BODY));
    }
    lines
}

/// What mended an error, and how well.
pub(super) fn fix(item: &Item) -> Vec<String> {
    let count = |name: &str| {
        let count = item
            .detail
            .as_ref()
            .and_then(|detail| detail.get(name)?.as_u64());
        count.unwrap_or(0)
    };
    let mut record = format!("mended {}", times(count(field::FIXED).max(1)));
    if count(field::HELD) > 0 {
        record = format!(
            "{record}, and the command passed {} after that",
            times(count(field::HELD))
        );
    }
    if count(field::RETURNED) > 0 {
        record = format!(
            "{record}; the error came back {}",
            times(count(field::RETURNED))
        );
    }
    let mut lines = vec![record];
    if let Some(other) = entries(item, field::EARLIER).last() {
        lines.push(format!(
            "an earlier change, after which it came back: {}",
            line(other, FACT)
        ));
    }
    let fixes = item
        .facts
        .iter()
        .filter_map(|fact| fact.strip_prefix("fix: "));
    lines.extend(
        fixes
            .take(FACTS)
            .map(|fix| format!("the change then: {}", line(fix, FACT))),
    );
    let diff = block(item.text.trim(), DIFF);
    if !diff.is_empty() {
        lines.push(diff.replace('\n', "\n  "));
    }
    lines
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

fn memory(item: &Item) -> Vec<String> {
    let mut lines: Vec<String> = doubts(item).collect();
    let body = block(item.text.trim(), BODY);
    if !body.is_empty() {
        lines.push(body.replace('\n', "\n  "));
    }
    lines
}

/// Why a commit was made; a revert without a reason says what it took back.
fn commit(item: &Item) -> Vec<String> {
    let body = block(item.text.trim(), BODY);
    if body.is_empty() {
        return item.facts.iter().map(|fact| line(fact, FACT)).collect();
    }
    vec![body.replace('\n', "\n  ")]
}

/// What `memory check` doubts of a saved memory.
pub(super) fn doubts(item: &Item) -> impl Iterator<Item = String> {
    entries(item, "doubts")
        .take(3)
        .map(|doubt| format!("[doubtful: {}]", line(doubt, FACT)))
}

/// The entry of the ledger.
pub(super) fn chosen(item: &Item, truth: Truth, seen: Seen, why: String, tokens: u32) -> Chosen {
    Chosen {
        item: name_of(item),
        kind: item.kind,
        title: line(&item.title, TITLE),
        seen,
        why,
        parts: Vec::new(),
        truth,
        tokens,
    }
}
