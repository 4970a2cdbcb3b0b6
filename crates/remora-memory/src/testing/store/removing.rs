//! What leaves the store in memory, and what users said must stay.

use std::collections::HashSet;

use remora_core::ids::SessionId;
use remora_core::record::{LoggedEvent, Override};

use super::State;
use crate::overrides::Overrides;
use crate::store::{ErasePlan, Filter, PruneMode, PruneRequest};

impl State {
    /// Takes in what users said, and returns all of it.
    pub(super) fn override_all(&mut self, new: &[Override]) -> Overrides {
        for one in new {
            if one.is_empty() {
                self.overrides.remove(&one.uid);
            } else {
                self.overrides.insert(one.uid.clone(), one.clone());
            }
        }
        Overrides::new(self.overrides.values().cloned().collect())
    }

    pub(super) fn erase(&mut self, erase: &ErasePlan) {
        let gone: Vec<i64> = self
            .items
            .values()
            .filter(|item| erase.items.contains(&item.uid))
            .map(|item| item.id)
            .collect();
        let names: Vec<String> = gone.iter().map(|id| format!("#{id}")).collect();
        self.items.retain(|id, _| !gone.contains(id));
        self.meanings.retain(|id, _| !gone.contains(id));
        self.overrides.retain(|uid, _| !erase.items.contains(uid));
        self.injections.retain(|(session, _), line| {
            !names.contains(&line.item) && !erase.sessions.contains(session)
        });
        self.events
            .retain(|event| !erase.events.contains(&event.id));
        self.sessions.retain(|id, _| !erase.sessions.contains(id));
        for session in self.sessions.values_mut() {
            if erase.untitled.contains(&session.id) {
                session.title.clear();
            }
        }
        self.files.retain(|key, _| !erase.files.contains(key));
        self.projects.retain(|key, _| !erase.projects.contains(key));
    }

    pub(super) fn prune(&mut self, prune: &PruneRequest, run: PruneMode) -> u64 {
        let Some(before) = prune.before else {
            return 0;
        };
        let kept = |uid: &str| self.overrides.contains_key(uid);
        let items: Vec<i64> = self
            .items
            .values()
            .filter(|item| {
                item.time.max(item.last_time) < before && !prune.keep.contains(&item.kind)
            })
            .filter(|item| {
                prune
                    .project
                    .as_ref()
                    .is_none_or(|project| &item.project == project)
            })
            .filter(|item| !kept(&item.uid))
            .map(|item| item.id)
            .collect();
        let filter = Filter {
            project: prune.project.clone(),
            ..Filter::default()
        };
        let goes =
            |event: &LoggedEvent| event.time < before && self.session_fits(&event.session, &filter);
        let events: HashSet<String> = self
            .events
            .iter()
            .filter(|event| goes(event))
            .map(|event| event.id.clone())
            .collect();
        if run == PruneMode::Real {
            let old: Vec<(SessionId, u32)> = self
                .injections
                .values()
                .filter(|given| given.time < before && self.session_fits(&given.session, &filter))
                .map(|given| (given.session.clone(), given.line))
                .collect();
            self.injections.retain(|key, _| !old.contains(key));
            self.items.retain(|id, _| !items.contains(id));
            self.events.retain(|event| !events.contains(&event.id));
        }
        (items.len() + events.len()) as u64
    }
}
