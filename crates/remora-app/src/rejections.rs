//! Which items users marked wrong, edited or pinned, for whatever shows items.

use remora_core::record::{Item, Rejection};
use remora_core::time::format_rfc3339;
use remora_memory::overrides::Overrides;
use remora_memory::store::{Hit, Store};
use serde::Serialize;

use crate::error::Result;

/// That an item was marked wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectionView {
    /// What is true instead; may be empty.
    pub reason: String,
    /// When.
    pub time: String,
}

impl From<&Rejection> for RejectionView {
    fn from(rejection: &Rejection) -> Self {
        Self {
            reason: rejection.reason.clone(),
            time: format_rfc3339(rejection.time),
        }
    }
}

impl RejectionView {
    /// The same in words.
    pub fn describe(&self) -> String {
        if self.reason.is_empty() {
            "marked wrong".to_owned()
        } else {
            format!("marked wrong: {}", self.reason)
        }
    }
}

/// What users said of items.
#[derive(Debug, Default)]
pub struct Rejections(Overrides);

impl Rejections {
    /// All that the store knows.
    pub fn load(store: &dyn Store) -> Result<Self> {
        Ok(Self(Overrides::new(store.list_overrides(None)?)))
    }

    /// What is said of an item that was marked wrong.
    pub fn find(&self, item: &Item) -> Option<RejectionView> {
        self.0.find_rejection(item).map(RejectionView::from)
    }

    /// Whether the words of an item are the user's own.
    pub fn is_edited(&self, item: &Item) -> bool {
        self.0
            .find_override(&item.uid)
            .is_some_and(|said| said.edit.is_some())
    }

    /// Whether an item is pinned.
    pub fn is_pinned(&self, item: &Item) -> bool {
        self.0
            .find_override(&item.uid)
            .is_some_and(|said| said.pinned.is_some())
    }

    /// Puts what is wrong behind everything else.
    pub fn sort_last(&self, hits: &mut [Hit]) {
        hits.sort_by_key(|hit| self.0.find_rejection(&hit.item).is_some());
    }
}
