//! The newest checkpoints of a project, read once for all parts of a briefing:
//! reading an item takes longer than finding it.

use std::borrow::Cow;

use remora_core::ids::SessionId;
use remora_core::record::{Item, Kind};

use super::RecallContext;
use super::reader::RecallReader;
use crate::store::{Filter, PageRequest, Result};

/// Checkpoints that are considered for lines about earlier work.
const MAX_TURNS: usize = 60;

/// The newest turns of other sessions.
#[derive(Debug, Default)]
pub(super) struct RecentTurns {
    /// Those that may be injected, the newest first.
    pub(super) turns: Vec<Item>,
    /// All that the store listed, in the same order, also rejected ones: a page
    /// that continues after them must begin behind them.
    listed: Vec<ListedTurn>,
    /// Whether the project has no others.
    is_all: bool,
}

#[derive(Debug)]
struct ListedTurn {
    id: i64,
    session: SessionId,
    time: i64,
}

impl RecentTurns {
    pub(super) fn list(store: &RecallReader<'_>, scene: &RecallContext<'_>) -> Result<Self> {
        let filter = Filter {
            project: Some(scene.project.clone()),
            kinds: vec![Kind::Summary],
            ..Filter::default()
        };
        let limit = store.widen_limit(MAX_TURNS);
        let rows = store.list_uncorrected(&filter, PageRequest::newest(limit))?;
        let mut recent = Self {
            is_all: rows.len() < limit,
            ..Self::default()
        };
        for mut row in rows {
            let listed = ListedTurn {
                id: row.id,
                session: row.session.clone(),
                time: row.time,
            };
            let keeps = store.keeps_item(&mut row);
            if recent.turns.len() == MAX_TURNS {
                recent.is_all = false;
                continue;
            }
            recent.listed.push(listed);
            if keeps {
                recent.turns.push(row);
            }
        }
        // The session has its own turns in its context.
        recent.turns.retain(|turn| turn.session != *scene.session);
        Ok(recent)
    }

    /// The newest checkpoints of another session, as the store would list them
    /// with this filter; only those that were not listed yet are read.
    pub(super) fn of_session(
        &self,
        store: &RecallReader<'_>,
        session: &SessionId,
        filter: &Filter,
        look: usize,
    ) -> Result<Vec<Cow<'_, Item>>> {
        let limit = store.widen_limit(look);
        let since = filter.since.unwrap_or(i64::MIN);
        let mut listed = self.listed.iter().filter(|row| row.session == *session);
        let in_time = listed.clone().filter(|row| row.time >= since);
        let known: Vec<i64> = in_time.map(|row| row.id).take(limit).collect();
        let find = |id: &i64| self.turns.iter().find(|turn| turn.id == *id);
        let mut rows: Vec<_> = known.iter().filter_map(find).map(Cow::Borrowed).collect();
        if known.len() < limit && !self.is_all {
            let filter = Filter {
                session: Some(session.clone()),
                kinds: vec![Kind::Summary],
                ..filter.clone()
            };
            let page = PageRequest {
                beyond: listed.next_back().map(|row| row.id),
                ..PageRequest::newest(limit - known.len())
            };
            let others = store.list_uncorrected(&filter, page)?;
            rows.extend(store.correct(others).into_iter().map(Cow::Owned));
        }
        rows.truncate(look);
        Ok(rows)
    }
}
