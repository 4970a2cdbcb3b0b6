//! Items that a user pinned: they come first at a session's start, whatever
//! their age, and again after a compaction.

use remora_protocol::record::Item;

use super::card::{self, Focus};
use super::page::Page;
use super::reader::Reader;
use super::truth::Truth;
use super::{Recall, Scene, Seen, name_of, row};
use crate::store::Result;

const HEADING: &str = "Pinned by the user:";
const WHY: &str = "pinned";

/// Puts pinned items on the page, each in full if that fits.
pub(super) fn put(
    store: &Reader<'_>,
    scene: &Scene<'_>,
    page: &mut Page,
    recall: &mut Recall,
) -> Result<()> {
    let mut first = true;
    for item in store.pinned()? {
        if scene.given.seen(&name_of(&item)) == Seen::Told {
            continue;
        }
        let lead = if first {
            format!("{HEADING}\n")
        } else {
            String::new()
        };
        let card = || card::render(&item, None, Focus::Standing(""), &[], scene);
        let card = card::has_said(&item).then(card).flatten();
        let full = card.unwrap_or_else(|| row::full(&item, Truth::Holds, scene));
        let short = row::short(&item, Truth::Holds, scene);
        let tokens = page
            .put(&format!("{lead}{full}"))
            .or_else(|| page.put(&format!("{lead}{short}")));
        let Some(tokens) = tokens else {
            recall.pass(&item, "pinned, but no room is left at a start", Vec::new());
            continue;
        };
        first = false;
        let why = WHY.to_owned();
        let chosen = row::chosen(&item, Truth::Holds, Seen::Told, why, tokens);
        recall.given.push(chosen);
    }
    Ok(())
}

/// Whether an item stands among the pinned ones already.
pub(super) fn is_put(recall: &Recall, item: &Item) -> bool {
    let name = name_of(item);
    let mut pinned = recall.given.iter().filter(|given| given.why == WHY);
    pinned.any(|given| given.item == name)
}
