//! Saved memories that a session begins with: those of high priority, and those
//! that the project's instructions name. The file is the source: one that has
//! changed since it was indexed is read again, one that is gone is left out.
//! Memories that came with a repository or were saved by an agent come last and
//! are marked, until the user accepts them.

use remora_core::detail::{DetailFlag, DetailNumber, DetailText};
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind};

use super::context_block::ContextBlock;
use super::freshness::Freshness;
use super::reader::RecallReader;
use super::sanitize::sanitize_block;
use super::{ASSISTANT_SPEAKER, Exposure, RecallContext, RecallResult, item_line, name_of};
use crate::end_date::item_ended_on;
use crate::store::{Filter, PageRequest as Part, Result};
use remora_redact::private::{strip_injected, strip_private};

/// Memories of a scope that are read.
const MAX_MEMORIES_PER_SCOPE: usize = 200;
/// Characters of one body.
const MAX_BODY_CHARS: usize = 1_500;
/// The least urgent priority that is injected at every start.
const MAX_CORE_PRIORITY: u64 = 2;
/// The priority that is also injected into every subagent.
const MAX_URGENT_PRIORITY: u64 = 1;

/// The best priority that an unaccepted memory can have: a repository must not
/// write itself into every subagent.
const MIN_FOREIGN_PRIORITY: u64 = 2;
/// The addresses of memories in a repository begin with this.
const TEAM_ADDRESS_PREFIX: &str = "memory://team/";
/// Marks memories that no user of this machine has accepted.
const REPOSITORY_MARK: &str = "[from this repository, not from the user]";
const AGENT_MARK: &str = "[saved by an agent, not by the user]";

/// Adds core memories to the text.
pub(super) fn add_core_memories(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    page: &mut ContextBlock,
    recall: &mut RecallResult,
) -> Result<()> {
    let mut first = true;
    for item in list_core_memories(store, scene)? {
        let name = name_of(&item);
        if scene.given.exposure(&name) == Exposure::Full {
            continue;
        }
        let Some(item) = refresh_memory(&item, scene) else {
            continue;
        };
        let body = sanitize_block(item.text.trim(), MAX_BODY_CHARS);
        let mut why = match (is_named(&item), memory_priority(&item)) {
            (true, _) => "the project's instructions name it".to_owned(),
            (_, priority) => format!("saved with priority {priority}"),
        };
        if is_repository_word(&item) {
            why.push_str("; from this repository, not accepted");
        } else if is_agent_word(&item) {
            why.push_str("; saved by an agent, not accepted");
        }
        let mut text = String::new();
        if first {
            text.push_str("Saved memories:\n");
        }
        text.push_str(&name);
        if is_agent_word(&item) {
            text.push('~');
        }
        if let Some(mark) = origin_mark(&item) {
            text.push(' ');
            text.push_str(mark);
        }
        for doubt in item_line::render_doubts(&item) {
            text.push(' ');
            text.push_str(&doubt);
        }
        for part in body.lines() {
            text.push_str("\n  ");
            text.push_str(part);
        }
        if let Some(tokens) = page.add_lines(&text) {
            first = false;
            let chosen =
                item_line::build_selected(&item, Freshness::Holds, Exposure::Full, why, tokens);
            recall.given.push(chosen);
        }
    }
    Ok(())
}

/// Memories that matter to any work in the project, as their files say.
pub(super) fn most_urgent(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
) -> Result<Vec<Item>> {
    let core = list_core_memories(store, scene)?.into_iter();
    let urgent =
        core.filter(|item| memory_priority(item) <= MAX_URGENT_PRIORITY && !is_foreign(item));
    Ok(urgent
        .filter_map(|item| refresh_memory(&item, scene))
        .collect())
}

fn list_core_memories(store: &RecallReader<'_>, scene: &RecallContext<'_>) -> Result<Vec<Item>> {
    let mut rows = Vec::new();
    // The empty key holds what the user saved for all projects.
    for project in [ProjectKey::default(), scene.project.clone()] {
        let filter = Filter {
            project: Some(project),
            kinds: vec![Kind::Memory],
            ..Filter::default()
        };
        let found = store.list_items(&filter, Part::newest(MAX_MEMORIES_PER_SCOPE))?;
        rows.extend(
            found
                .into_iter()
                .filter(|item| is_named(item) || memory_priority(item) <= MAX_CORE_PRIORITY),
        );
    }
    rows.sort_by(|a, b| {
        let order = |item: &Item| {
            let foreign = is_foreign(item);
            (
                foreign,
                !is_named(item),
                memory_priority(item),
                item.key.clone(),
            )
        };
        order(a).cmp(&order(b))
    });
    Ok(rows)
}

/// The memory as its file has it now; `None` if the file is gone or says that it
/// no longer holds.
pub(super) fn refresh_memory(item: &Item, scene: &RecallContext<'_>) -> Option<Item> {
    let path = item.detail_text(DetailText::Path).unwrap_or("");
    if item.kind != Kind::Memory || path.is_empty() || scene.disk.is_late() {
        return Some(item.clone());
    }
    let size = item.detail_count(DetailNumber::Size).unwrap_or(0);
    let detail = item.detail.as_ref();
    let modified = detail.and_then(|detail| detail.read_signed(DetailNumber::Modified));
    let text = match scene
        .disk
        .read_changed_memory(path, size, modified.unwrap_or(0))
    {
        // Text read here has not passed the worker, which removes these otherwise.
        Some(now) => strip_injected(&strip_private(&now?)).into_owned(),
        None => item.text.clone(),
    };
    let item = Item {
        text,
        ..item.clone()
    };
    Some(item).filter(|item| item_ended_on(item, scene.now).is_none())
}

fn memory_priority(item: &Item) -> u64 {
    match item.detail_count(DetailNumber::Priority) {
        None => u64::MAX,
        Some(own) if is_foreign(item) => own.max(MIN_FOREIGN_PRIORITY),
        Some(own) => own,
    }
}

/// Whether the memory came with a repository and the user has not accepted it. An
/// item without this field counts as not accepted.
fn is_repository_word(item: &Item) -> bool {
    let is_team = item
        .key
        .as_deref()
        .is_some_and(|key| key.starts_with(TEAM_ADDRESS_PREFIX));
    let accepted = item.detail_flag(DetailFlag::Accepted) == Some(true);
    item.kind == Kind::Memory && is_team && !accepted
}

/// Whether an agent saved it and the user has not accepted it: accepting makes the
/// user its speaker.
fn is_agent_word(item: &Item) -> bool {
    item.kind == Kind::Memory && item.speaker.as_deref() == Some(ASSISTANT_SPEAKER)
}

/// Whether the words of a memory are not the user's.
pub(super) fn is_foreign(item: &Item) -> bool {
    is_repository_word(item) || is_agent_word(item)
}

/// The mark for such words.
pub(super) fn origin_mark(item: &Item) -> Option<&'static str> {
    if is_repository_word(item) {
        return Some(REPOSITORY_MARK);
    }
    is_agent_word(item).then_some(AGENT_MARK)
}

fn is_named(item: &Item) -> bool {
    item.detail_flag(DetailFlag::Named) == Some(true)
}
