//! Items that a user pinned: they come first at a session's start, whatever
//! their age, and again after a compaction has dropped them.

use remora_core::record::Item;

use super::card::{self, CardFocus};
use super::context_block::ContextBlock;
use super::freshness::Freshness;
use super::reader::RecallReader;
use super::{Exposure, RecallContext, RecallResult, item_line, name_of};
use crate::store::Result;

const PINNED_HEADING: &str = "Pinned by the user:";
const PINNED_REASON: &str = "pinned";

/// Adds the pinned items to the text, each in full if that fits. A pin is the
/// user's decision, so neither relevance nor freshness is asked.
pub(super) fn add_pinned_items(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    page: &mut ContextBlock,
    recall: &mut RecallResult,
) -> Result<()> {
    let mut first = true;
    for item in store.list_pinned()? {
        if scene.given.exposure(&name_of(&item)) == Exposure::Full {
            continue;
        }
        let lead = if first {
            format!("{PINNED_HEADING}\n")
        } else {
            String::new()
        };
        let card = || card::render_card(&item, None, CardFocus::Standing(""), &[], scene);
        let card = card::has_said(&item).then(card).flatten();
        let full = card.unwrap_or_else(|| item_line::render_full(&item, Freshness::Holds, scene));
        let short = item_line::render_line(&item, Freshness::Holds, scene);
        let tokens = page
            .add_lines(&format!("{lead}{full}"))
            .or_else(|| page.add_lines(&format!("{lead}{short}")));
        let Some(tokens) = tokens else {
            recall.reject_item(&item, "pinned, but no room is left at a start", Vec::new());
            continue;
        };
        first = false;
        let why = PINNED_REASON.to_owned();
        let chosen =
            item_line::build_selected(&item, Freshness::Holds, Exposure::Full, why, tokens);
        recall.given.push(chosen);
    }
    Ok(())
}

/// Whether an item was added as a pinned one already.
pub(super) fn is_put(recall: &RecallResult, item: &Item) -> bool {
    let name = name_of(item);
    let mut pinned = recall
        .given
        .iter()
        .filter(|given| given.why == PINNED_REASON);
    pinned.any(|given| given.item == name)
}
