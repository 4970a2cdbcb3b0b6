//! Which item supersedes another, for whatever shows items: users and models still
//! find what no longer holds, and must see what does.

use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind};

use super::reader::RecallReader;
use super::supersession::{MAX_COMPARED_STATEMENTS, Supersessions, is_stated, stated_in};
use crate::store::{PageRequest, Result, Store};

/// How often what supersedes an item was superseded itself.
const MAX_SUCCESSIONS: usize = 8;

/// The newest statements of a project, and which of them supersede others.
#[derive(Debug)]
pub struct StatementSuccession {
    statements: Vec<Item>,
    supersessions: Supersessions,
}

impl StatementSuccession {
    /// Reads the statements of a project.
    pub fn of_project(store: &dyn Store, project: &ProjectKey, now: i64) -> Result<Self> {
        let page = PageRequest::newest(MAX_COMPARED_STATEMENTS);
        let statements = store.list_items(&stated_in(project), page)?;
        // A statement that was marked wrong supersedes nothing.
        let reader = RecallReader::new(store, Some(project), now)?;
        Ok(Self {
            supersessions: Supersessions::of_rows(&reader, &statements),
            statements,
        })
    }

    /// Whether an item may have a successor at all: a statement, or a turn in which
    /// some were made.
    pub fn may_succeed(item: &Item) -> bool {
        is_stated(item.kind) || item.kind == Kind::Summary
    }

    /// The statement that holds in place of this item.
    pub fn find_successor(&self, item: &Item) -> Option<&Item> {
        let mut found: Option<&Item> = None;
        for _ in 0..MAX_SUCCESSIONS {
            let current = found.unwrap_or(item);
            let next = match current.kind {
                Kind::Summary => self.supersessions.replacing_turn(current),
                kind if is_stated(kind) => self.supersessions.superseding_id(current),
                _ => None,
            };
            let Some(next) = next else { break };
            found = self.statements.iter().find(|one| one.id == next);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Batch, ItemWrite};
    use crate::testing::{MemoryStore, item};

    fn stated(uid: &str, title: &str, prompt: u32, kind: Kind) -> Item {
        Item {
            kind,
            text: title.to_owned(),
            prompt: Some(prompt),
            time: i64::from(prompt) * 1_000,
            last_time: i64::from(prompt) * 1_000,
            ..item(uid, title)
        }
    }

    #[test]
    fn the_last_of_several_successors_holds() {
        let store = MemoryStore::default();
        let decided = |uid, title, prompt| stated(uid, title, prompt, Kind::Decision);
        let items = [
            decided("a", "use Redis for the job queue", 1),
            stated("turn", "use Redis for the job queue", 1, Kind::Summary),
            decided("b", "use RabbitMQ for the job queue", 2),
            decided("c", "use Postgres for the job queue", 3),
            decided("d", "amounts are integers of cents", 4),
        ];
        let batch = Batch {
            items: items.into_iter().map(ItemWrite::Put).collect(),
            ..Batch::default()
        };
        store.apply(&batch).unwrap();
        let all = store
            .list_items(&crate::store::Filter::default(), PageRequest::newest(10))
            .unwrap();
        let project = all[0].project.clone();
        let statements = StatementSuccession::of_project(&store, &project, 0).unwrap();
        let successor = |uid: &str| {
            let item = all.iter().find(|item| &*item.uid == uid).unwrap();
            let next = statements.find_successor(item);
            next.map(|next| next.uid.to_string())
        };
        assert_eq!(successor("a").as_deref(), Some("c"));
        assert_eq!(successor("turn").as_deref(), Some("c"));
        assert_eq!(successor("b").as_deref(), Some("c"));
        assert_eq!((successor("c"), successor("d")), (None, None));
    }
}
