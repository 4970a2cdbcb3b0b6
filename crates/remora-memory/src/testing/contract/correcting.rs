//! What users correct: overrides outlive what is written, and what is erased
//! is gone from every question.

use remora_core::record::{Injection, Item, ItemEdit, Kind, Override, Project, Rejection};

use super::{Check, add, all, found, ok, uids, write};
use crate::overrides::statement_key;
use crate::store::{
    Batch, ErasePlan, EventKey, Filter, ItemRef, ItemWrite, PruneMode, PruneRequest, Store,
};
use crate::testing::{event, item, session};

pub(super) const CHECKS: &[Check] = &[
    (
        "a_rejected_claim_lands_on_its_tombstone",
        a_rejected_claim_lands_on_its_tombstone,
    ),
    ("an_edit_outlives_a_rewrite", an_edit_outlives_a_rewrite),
    (
        "corrected_rows_are_not_pruned",
        corrected_rows_are_not_pruned,
    ),
    ("what_is_erased_is_gone", what_is_erased_is_gone),
];

fn claim(uid: &str, title: &str) -> Item {
    Item {
        kind: Kind::Decision,
        ..item(uid, title)
    }
}

fn said(item: &Item) -> Override {
    Override {
        uid: item.uid.clone(),
        project: item.project.clone(),
        statement: statement_key(&item.title),
        pinned: None,
        rejected: None,
        edit: None,
    }
}

fn say(store: &dyn Store, overrides: Vec<Override>) {
    ok(store.apply(&Batch {
        overrides,
        ..Batch::default()
    }));
}

fn reject(item: &Item) -> Override {
    Override {
        rejected: Some(Rejection {
            time: 7,
            reason: "it moved".to_owned(),
            kind: Some(item.kind),
        }),
        ..said(item)
    }
}

fn a_rejected_claim_lands_on_its_tombstone(store: &dyn Store) {
    let old = claim("a", "Use port 8080 for the API");
    let ids = add(store, [old.clone()]);
    say(store, vec![reject(&old)]);
    let again = claim("b", "use PORT 8080 for the “API”.");
    let prompt = Item {
        kind: Kind::Prompt,
        ..item("c", "Use port 8080 for the API")
    };
    let elsewhere = Item {
        project: "other".into(),
        ..claim("d", "Use port 8080 for the API")
    };
    let numbers = add(store, [again.clone(), prompt, elsewhere]);
    assert_eq!(numbers[0], ids[0]);
    assert_eq!(uids(&all(store)), ["a", "c", "d"]);
    assert_eq!(ok(store.find_items(&[ItemRef::Uid("a".into())]))[0].seen, 2);
    // The row itself can be written again, as a rebuild does.
    write(store, vec![ItemWrite::Keep(old.clone())]);
    assert_eq!(ok(store.list_overrides(Some("project"))), [reject(&old)]);
    assert_eq!(ok(store.list_overrides(Some("other"))), []);
    // Taken back, the statement counts again.
    say(store, vec![said(&old)]);
    assert_eq!(ok(store.list_overrides(None)), []);
    add(store, [again]);
    assert_eq!(uids(&all(store)), ["a", "c", "d", "b"]);
}

fn an_edit_outlives_a_rewrite(store: &dyn Store) {
    let row = claim("a", "Use port 8080");
    add(store, [row.clone()]);
    let edit = Override {
        edit: Some(ItemEdit {
            time: 7,
            title: Some("Use port 9090".to_owned()),
            ..ItemEdit::default()
        }),
        ..said(&row)
    };
    let batch = Batch {
        items: vec![ItemWrite::Keep(row.clone())],
        overrides: vec![edit],
        ..Batch::default()
    };
    ok(store.apply(&batch));
    add(store, [row]);
    assert_eq!(all(store)[0].title, "Use port 9090");
    assert_eq!(found(store, "9090"), ["a"]);
    assert_eq!(found(store, "8080"), Vec::<String>::new());
}

fn corrected_rows_are_not_pruned(store: &dyn Store) {
    let [pinned, rejected, edited, plain] = ["a", "b", "c", "d"].map(|uid| claim(uid, uid));
    let rows = [pinned.clone(), rejected.clone(), edited.clone(), plain];
    add(store, rows);
    let pin = Override {
        pinned: Some(7),
        ..said(&pinned)
    };
    let edit = Override {
        edit: Some(ItemEdit::default()),
        ..said(&edited)
    };
    say(store, vec![pin, reject(&rejected), edit]);
    let prune = PruneRequest {
        before: Some(2_000),
        ..PruneRequest::default()
    };
    assert_eq!(ok(store.prune(&prune, PruneMode::Dry)), 1);
    assert_eq!(ok(store.prune(&prune, PruneMode::Real)), 1);
    assert_eq!(uids(&all(store)), ["a", "b", "c"]);
}

fn what_is_erased_is_gone(store: &dyn Store) {
    let mut rows = ["a/0", "a/1", "b/0"].map(|uid| claim(uid, &format!("word {uid}")));
    rows[2].session = "other".into();
    let given = |line, item: &str| Injection {
        session: "session".into(),
        line,
        item: item.to_owned(),
        subagent: None,
        trigger: "start".to_owned(),
        why: "words".to_owned(),
        tokens: 1,
        time: 5,
        used: None,
    };
    let ids = add(store, rows.clone());
    ok(store.apply(&Batch {
        events: vec![event("a", 1), event("b", 2)],
        projects: vec![Project {
            key: "project".into(),
            name: "name".to_owned(),
            root: "/root".to_owned(),
        }],
        sessions: vec![session("session", 9), session("other", 9)],
        injections: vec![given(0, &format!("#{}", ids[0])), given(1, "#999")],
        overrides: vec![reject(&rows[0])],
        ..Batch::default()
    }));
    let erase = ErasePlan {
        items: vec!["a/0".into(), "a/1".into(), "unknown".into()],
        events: vec!["a".to_owned()],
        untitled: vec!["session".into()],
        ..ErasePlan::default()
    };
    ok(store.erase(&erase));
    ok(store.erase(&erase));
    assert_eq!(uids(&all(store)), ["b/0"]);
    assert_eq!(found(store, "word"), ["b/0"]);
    let key = |id| EventKey { id, call: None };
    assert_eq!(ok(store.are_known(&[key("a"), key("b")])), [false, true]);
    let lines = ok(store.list_injections(&Filter::default(), 9));
    assert_eq!(lines.iter().map(|l| &*l.item).collect::<Vec<_>>(), ["#999"]);
    assert_eq!(ok(store.list_overrides(None)), []);
    ok(store.erase(&ErasePlan {
        items: vec!["b/0".into()],
        events: vec!["b".to_owned()],
        sessions: vec!["session".into(), "other".into()],
        projects: vec!["project".into()],
        ..ErasePlan::default()
    }));
    assert_eq!(all(store), []);
    assert_eq!(ok(store.list_sessions(&Filter::default(), 9)), []);
    assert_eq!(ok(store.list_projects()), []);
    assert_eq!(ok(store.list_injections(&Filter::default(), 9)), []);
    // The store is of use afterwards.
    add(store, [claim("c", "later")]);
    assert_eq!(found(store, "later"), ["c"]);
}
