//! The store as recall reads it: as users corrected it, and without statements
//! past their end date. Every trigger reads through here, so that none can inject
//! what was marked wrong, or present as in force what itself says it is not.

use std::borrow::Cow;
use std::cell::RefCell;

use remora_core::record::{FileRecord, Item, Kind, LoggedEvent, Rejection, Session};

use super::sanitize::sanitize_line;
use super::{Rejected, name_of};
use crate::end_date::item_ended_on;
use crate::fix::steps_over_check;
use crate::overrides::{CLAIM_KINDS, Overrides};
use crate::store::{DetailRow, Filter, Hit, ItemHeader, ItemRef, PageRequest, Result, Store};
use crate::words::Query;

/// How many of the items left out `remora context` can show.
const MAX_LEFT_OUT_ITEMS: usize = 8;

/// The store without what users rejected, and without what has ended.
pub(super) struct RecallReader<'a> {
    store: &'a dyn Store,
    now: i64,
    overrides: Overrides,
    /// Items that were found and left out.
    left_out: RefCell<Vec<Rejected>>,
}

impl<'a> RecallReader<'a> {
    /// Reads with the overrides of a project; without one, with all of them.
    pub(super) fn new(store: &'a dyn Store, project: Option<&str>, now: i64) -> Result<Self> {
        Ok(Self {
            now,
            overrides: Overrides::new(store.list_overrides(project)?),
            store,
            left_out: RefCell::default(),
        })
    }

    /// What was found and left out, for `remora context`.
    pub(super) fn into_left_out(self) -> Vec<Rejected> {
        self.left_out.into_inner()
    }

    /// The items that users pinned, the first pinned first.
    pub(super) fn list_pinned(&self) -> Result<Vec<Item>> {
        let names = self.overrides.pinned_uids();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<ItemRef> = names
            .into_iter()
            .map(|uid| ItemRef::Uid(uid.into()))
            .collect();
        self.find_items(&names)
    }

    pub(super) fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        let mut hits = self.store.search(query, filter, self.widen_limit(limit))?;
        hits.retain_mut(|hit| self.keeps_item(&mut hit.item));
        hits.truncate(limit);
        Ok(hits)
    }

    pub(super) fn find_items(&self, names: &[ItemRef]) -> Result<Vec<Item>> {
        Ok(self.correct(self.store.find_items(names)?))
    }

    pub(super) fn list_items(&self, filter: &Filter, mut page: PageRequest) -> Result<Vec<Item>> {
        let limit = page.limit;
        page.limit = self.widen_limit(limit);
        let mut items = self.correct(self.store.list_items(filter, page)?);
        items.truncate(limit);
        Ok(items)
    }

    /// Where these items stand. The one that is chosen is read by
    /// [`Self::find_items`].
    pub(super) fn list_headers(
        &self,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Vec<ItemHeader>> {
        // Whether an item quotes what was rejected only its texts can tell, and a
        // statement may have ended.
        let is_judged = |kind: &Kind| *kind == Kind::Memory || CLAIM_KINDS.contains(kind);
        let needs_texts = filter.kinds.is_empty() || filter.kinds.iter().any(is_judged);
        if needs_texts || self.overrides.has_quotable() {
            let items = self.list_items(filter, page)?;
            return Ok(items.iter().map(ItemHeader::from_item).collect());
        }
        self.store.list_headers(filter, page)
    }

    /// The same without corrections, for callers that apply them themselves because
    /// they list once and use the items in several ways.
    pub(super) fn list_uncorrected(&self, filter: &Filter, page: PageRequest) -> Result<Vec<Item>> {
        self.store.list_items(filter, page)
    }

    /// Those of the items that users did not reject, each with whether it is past its
    /// end date: a statement that has ended may still have superseded an earlier one.
    pub(super) fn correct_with_ended<'i>(&self, items: &'i [Item]) -> Vec<(Cow<'i, Item>, bool)> {
        let with_end = |item: &'i Item| {
            // Cloned only where something was rejected, which is rare.
            let mut item = Cow::Borrowed(item);
            if self.overrides.has_quotable() && !self.is_not_rejected(item.to_mut()) {
                return None;
            }
            let has_ended = item_ended_on(&item, self.now).is_some();
            Some((item, has_ended))
        };
        items.iter().filter_map(with_end).collect()
    }

    pub(super) fn find_by_key(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>> {
        let item = self.store.find_by_key(project, kind, key)?;
        Ok(self.correct(item.into_iter().collect()).pop())
    }

    /// Details of items, of rejected ones too: the caller reads the item itself
    /// before it injects anything, and that read leaves them out.
    pub(super) fn details(
        &self,
        project: &str,
        kind: Kind,
        holding: Option<&Query>,
        limit: usize,
    ) -> Result<Vec<DetailRow>> {
        let limit = self.widen_limit(limit);
        self.store.details(project, kind, holding, limit)
    }

    pub(super) fn list_sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>> {
        self.store.list_sessions(filter, limit)
    }

    pub(super) fn count_sessions(&self, filter: &Filter, limit: usize) -> Result<usize> {
        self.store.count_sessions(filter, limit)
    }

    pub(super) fn list_events(
        &self,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Vec<LoggedEvent>> {
        self.store.list_events(filter, page)
    }

    pub(super) fn list_files(
        &self,
        project: &str,
        folder: Option<&str>,
    ) -> Result<Vec<FileRecord>> {
        self.store.list_files(project, folder)
    }

    pub(super) fn find_file(
        &self,
        project: &str,
        folder: &str,
        name: &str,
    ) -> Result<Option<FileRecord>> {
        self.store.find_file(project, folder, name)
    }

    /// A limit that is still reached after rejected items are left out, so that
    /// limits mean the same whatever users rejected.
    pub(super) fn widen_limit(&self, limit: usize) -> usize {
        limit.saturating_add(self.overrides.rejected_count())
    }

    /// Those of the items that may be injected.
    pub(super) fn correct(&self, mut items: Vec<Item>) -> Vec<Item> {
        items.retain_mut(|item| self.keeps_item(item));
        items
    }

    /// Whether an item may be injected; its quotations of rejected claims are
    /// removed.
    pub(super) fn keeps_item(&self, item: &mut Item) -> bool {
        if let Some(day) = item_ended_on(item, self.now) {
            self.leave_out(item, &format!("ended {day}"));
            return false;
        }
        // Earlier versions learned fixes such as `--no-verify`. That a user allowed it
        // once is no advice for every session.
        if item.kind == Kind::Fix && steps_over_check(item) {
            self.leave_out(item, "it steps over a check");
            return false;
        }
        self.is_not_rejected(item)
    }

    fn is_not_rejected(&self, item: &mut Item) -> bool {
        if !self.overrides.has_quotable() {
            return true;
        }
        if let Some(rejection) = self.overrides.find_rejection(item) {
            self.leave_out(item, &marked_wrong(rejection));
            return false;
        }
        let quoted = item.clone();
        let tells = self.overrides.strip_quotes(item);
        if !tells {
            self.leave_out(&quoted, "it only quotes what was marked wrong");
        }
        tells
    }

    fn leave_out(&self, item: &Item, why: &str) {
        let mut left_out = self.left_out.borrow_mut();
        let name = name_of(item);
        if left_out.len() < MAX_LEFT_OUT_ITEMS && !left_out.iter().any(|known| known.item == name) {
            left_out.push(Rejected {
                item: name,
                title: sanitize_line(&item.title, 160),
                why: why.to_owned(),
                parts: Vec::new(),
            });
        }
    }
}

/// The reason shown for a rejected item.
fn marked_wrong(rejection: &Rejection) -> String {
    match sanitize_line(&rejection.reason, 160) {
        reason if reason.is_empty() => "marked wrong".to_owned(),
        reason => format!("marked wrong: {reason}"),
    }
}
