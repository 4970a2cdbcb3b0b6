//! Which turn holds in place of another: where its matter ended, and what amended or
//! superseded that since.

use std::cell::{LazyCell, RefCell};

use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind};

use super::candidates::{self, RecallCandidate};
use super::name_of;
use super::reader::RecallReader;
use super::supersession::Supersessions;
use crate::episode::{ComparedTurn, WantedWords, amends_turn, drops_by_name, replaces_work};
use crate::store::{FileMatch, Filter, ItemRef, PageRequest as Part, Result};

/// Files of a turn by which later turns are listed, and how many of those.
const MAX_AMENDED_FILES: usize = 3;
const MAX_AMENDING_TURNS: usize = 6;
/// The share of a turn's probability that one which amends it must reach to be
/// about the prompt.
const MIN_SHARE_OF_AMENDED: f64 = 0.15;
/// Amendments of amendments that are followed.
const MAX_AMENDMENTS: usize = 4;

/// The turns of a project, for one prompt.
pub(super) struct HoldingTurns<'a> {
    pub(super) store: &'a RecallReader<'a>,
    pub(super) project: &'a ProjectKey,
    pub(super) prompt: &'a str,
    /// Statements that may have superseded an earlier one.
    pub(super) later: &'a Supersessions,
}

impl HoldingTurns<'_> {
    /// The turn that holds in place of this item, with the reason: where its matter
    /// ended, and what amended that since.
    pub(super) fn find_what_holds(
        &self,
        lead: &Item,
        all: &[RecallCandidate],
    ) -> Result<Option<(Item, String)>> {
        let mut found: Option<(Item, String)> = None;
        for _ in 0..MAX_AMENDMENTS {
            let item = found.as_ref().map_or(lead, |(item, _)| item);
            let end = candidates::ended_later(self.store, item, self.prompt)?;
            let at_end = end.as_ref().unwrap_or(item);
            let amended = match self.find_amendment(at_end, all)? {
                None if end.is_some() => self.find_amendment(item, all)?,
                amended => amended,
            };
            let (next, why) = match (amended, end) {
                (Some(later), _) => (later, "amended by"),
                (None, Some(end)) => (end, "its matter ended in"),
                (None, None) => break,
            };
            // Each step must go forward in time, or two turns could lead in a circle.
            if next.time <= item.time {
                break;
            }
            let why = format!("{why} {}", name_of(&next));
            found = Some((next, why));
        }
        Ok(found)
    }

    /// What supersedes this item: the turn in which all its statements were
    /// replaced, or a later turn that says otherwise. A turn is often about several
    /// things and a later one changes one of them, so of the candidates only those
    /// count that are about the prompt as well, or that name what goes.
    pub(super) fn find_amendment(
        &self,
        item: &Item,
        all: &[RecallCandidate],
    ) -> Result<Option<Item>> {
        let own = all.iter().find(|one| one.is_of(item));
        // Most items have no later candidate, and then none of this is split.
        let splitter = RefCell::default();
        let wanted = LazyCell::new(|| WantedWords::of_turn(item, self.prompt, &splitter));
        let least = MIN_SHARE_OF_AMENDED * own.map_or(0.0, |one| one.probability);
        if let Some(id) = self.later.replacing_turn(item) {
            let stated = self.store.find_items(&[ItemRef::Id(id)])?.pop();
            let turn = match &stated {
                Some(stated) => candidates::checkpoint_of(self.store, stated)?,
                None => None,
            };
            let is_found = |turn: &Item| {
                let mut others = all.iter();
                others.any(|one| one.is_of(turn) && one.probability >= least)
            };
            let speaks = |by: &Item| wanted.are_discussed_in(by);
            let is_about = all.is_empty() || stated.as_ref().is_some_and(speaks);
            if let Some(turn) = turn.or(stated)
                && (is_about || is_found(&turn))
            {
                return Ok(Some(turn));
            }
        }
        if item.kind != Kind::Summary {
            return Ok(None);
        }
        let read = ComparedTurn::from_item(item, &splitter);
        let drops = |turn: &Item| drops_by_name(&ComparedTurn::from_item(turn, &splitter), &read);
        let speaks = |turn: &Item| wanted.are_discussed_in(turn);
        let about = |one: &&RecallCandidate| {
            let turn = one.checkpoint.as_ref().filter(|turn| turn.time > item.time);
            turn.is_some_and(|turn| one.probability >= least || drops(turn) || speaks(turn))
        };
        let mut turns: Vec<Item> = all
            .iter()
            .filter(about)
            .filter_map(|one| one.checkpoint.clone())
            .collect();
        // Without candidates of a search, later turns are found by their files.
        let files: &[String] = if all.is_empty() {
            &item.files_modified
        } else {
            &[]
        };
        for file in files.iter().take(MAX_AMENDED_FILES) {
            let filter = Filter {
                project: Some(self.project.clone()),
                kinds: vec![Kind::Summary],
                file: Some(FileMatch::Exactly(file.clone())),
                since: Some(item.time + 1),
                ..Filter::default()
            };
            turns.extend(
                self.store
                    .list_items(&filter, Part::newest(MAX_AMENDING_TURNS))?,
            );
        }
        // Lines of code that went are proof. Words alone must be about what the prompt
        // wants of the turn.
        let amends = |turn: &&Item| {
            let later = ComparedTurn::from_item(turn, &splitter);
            amends_turn(&later, &read)
                && (all.is_empty() || replaces_work(&later, &read) || wanted.are_discussed_in(turn))
        };
        let amending = turns.iter().filter(amends);
        Ok(amending.max_by_key(|turn| turn.time).cloned())
    }
}
