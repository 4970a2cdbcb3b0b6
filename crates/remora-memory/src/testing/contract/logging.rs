//! Checks of what is known of sessions and events: filters, order and paging.

use remora_core::ids::SessionId;
use remora_core::record::{Kind, LoggedEvent};

use super::{Check, ok, page};
use crate::store::{Batch, FileMatch, Filter, PageRequest, SortOrder, Store};
use crate::testing::{event, session};

pub(super) const CHECKS: &[Check] = &[
    ("sessions are filtered", sessions),
    ("the event log is filtered and paged", events),
];

fn sessions(store: &dyn Store) {
    let mut other = session("s2", 2_000);
    other.project = "other".into();
    other.agent = "a2".into();
    let rows = vec![session("s1", 1_000), other, session("s3", 3_000)];
    ok(store.apply(&Batch {
        sessions: rows,
        ..Batch::default()
    }));
    let ids = |filter: Filter| -> Vec<SessionId> {
        let listed = ok(store.list_sessions(&filter, 9));
        assert_eq!(ok(store.count_sessions(&filter, 9)), listed.len());
        assert_eq!(ok(store.count_sessions(&filter, 1)), listed.len().min(1));
        listed.into_iter().map(|session| session.id).collect()
    };
    let all = Filter::default;
    assert_eq!(ids(all()), ["s3", "s2", "s1"]);
    assert_eq!(
        ids(Filter {
            project: Some("other".into()),
            ..all()
        }),
        ["s2"]
    );
    assert_eq!(
        ids(Filter {
            agent: Some("a2".into()),
            ..all()
        }),
        ["s2"]
    );
    assert_eq!(
        ids(Filter {
            session: Some("s1".into()),
            ..all()
        }),
        ["s1"]
    );
    // Any moment of a session counts: it began 100 before it was used last.
    assert_eq!(
        ids(Filter {
            since: Some(2_000),
            ..all()
        }),
        ["s3", "s2"]
    );
    assert_eq!(
        ids(Filter {
            until: Some(1_901),
            ..all()
        }),
        ["s2", "s1"]
    );
    assert_eq!(
        ids(Filter {
            until: Some(1_900),
            ..all()
        }),
        ["s1"]
    );
    // What does not count is not looked at.
    assert_eq!(
        ids(Filter {
            file: Some(FileMatch::Like("x.rs".into())),
            kinds: vec![Kind::Fix],
            ..all()
        })
        .len(),
        3
    );
    assert_eq!(
        ids(Filter {
            project: Some("nowhere".into()),
            ..all()
        }),
        [""; 0]
    );
}

fn events(store: &dyn Store) {
    let rows: Vec<LoggedEvent> = vec![
        LoggedEvent {
            label: "edit".into(),
            call: Some("c1".into()),
            ..event("e3", 30)
        },
        event("e1", 10),
        LoggedEvent {
            session: "s2".into(),
            name: "Stop".into(),
            ..event("e2", 20)
        },
        event("e4", 30),
    ];
    let mut other = session("s2", 99);
    other.project = "other".into();
    ok(store.apply(&Batch {
        events: rows.clone(),
        sessions: vec![session("session", 99), other],
        ..Batch::default()
    }));
    let list = |filter: Filter, page| ok(store.list_events(&filter, page));
    let all = Filter::default;
    let sorted = [
        rows[1].clone(),
        rows[2].clone(),
        rows[0].clone(),
        rows[3].clone(),
    ];
    assert_eq!(list(all(), page(SortOrder::Oldest, 9)), sorted);
    assert_eq!(
        list(all(), page(SortOrder::Newest, 2)),
        [rows[3].clone(), rows[0].clone()]
    );
    // Its rows show no number: a page begins beyond a moment.
    let beyond = |order, moment| PageRequest {
        order,
        beyond: Some(moment),
        limit: 9,
    };
    assert_eq!(list(all(), beyond(SortOrder::Oldest, 20)), sorted[2..]);
    assert_eq!(list(all(), beyond(SortOrder::Newest, 20)), sorted[..1]);
    assert_eq!(list(all(), beyond(SortOrder::Oldest, 30)), []);
    let ids = |filter| -> Vec<String> {
        list(filter, page(SortOrder::Oldest, 9))
            .into_iter()
            .map(|event| event.id)
            .collect()
    };
    assert_eq!(
        ids(Filter {
            session: Some("s2".into()),
            ..all()
        }),
        ["e2"]
    );
    assert_eq!(
        ids(Filter {
            project: Some("other".into()),
            ..all()
        }),
        ["e2"]
    );
    assert_eq!(
        ids(Filter {
            project: Some("project".into()),
            ..all()
        }),
        ["e1", "e3", "e4"]
    );
    assert_eq!(
        ids(Filter {
            since: Some(20),
            until: Some(30),
            ..all()
        }),
        ["e2"]
    );
}
