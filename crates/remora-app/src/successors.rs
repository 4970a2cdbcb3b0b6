//! What holds in place of items that a later statement superseded, for whatever
//! shows items.

use std::collections::HashMap;

use remora_core::ids::ProjectKey;
use remora_core::record::Item;
use remora_core::time::format_rfc3339;
use remora_memory::recall::StatementSuccession;
use remora_memory::store::Store;
use serde::Serialize;

use crate::error::Result;

/// The item that holds in place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuccessorView {
    /// Its number.
    pub id: i64,
    /// What it says.
    pub title: String,
    /// When it was said.
    pub time: String,
}

impl SuccessorView {
    /// The same in words.
    pub fn describe(&self) -> String {
        format!("superseded by #{}: {}", self.id, self.title)
    }
}

/// The statements of each project that was asked about, read once.
pub(crate) struct Successors<'a> {
    store: &'a dyn Store,
    now: i64,
    projects: HashMap<ProjectKey, StatementSuccession>,
}

impl<'a> Successors<'a> {
    pub(crate) fn new(store: &'a dyn Store, now: i64) -> Self {
        Self {
            store,
            now,
            projects: HashMap::new(),
        }
    }

    /// What holds in place of an item, if something else does.
    pub(crate) fn find(&mut self, item: &Item) -> Result<Option<SuccessorView>> {
        if !StatementSuccession::may_succeed(item) {
            return Ok(None);
        }
        if !self.projects.contains_key(&item.project) {
            let read = StatementSuccession::of_project(self.store, &item.project, self.now)?;
            self.projects.insert(item.project.clone(), read);
        }
        let statements = self.projects.get(&item.project);
        let found = statements.and_then(|statements| statements.find_successor(item));
        Ok(found.map(|next| SuccessorView {
            id: next.id,
            title: next.title.clone(),
            time: format_rfc3339(next.time),
        }))
    }
}
