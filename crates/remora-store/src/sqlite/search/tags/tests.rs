//! However the filter is put to the index, the same rows are found.

use remora_core::record::{Item, Kind};
use remora_memory::store::{Batch, Filter, ItemWrite, PageRequest, PruneMode, PruneRequest, Store};
use remora_memory::testing::{LOOK_TOOLS, item};

use super::IndexFilter;
use crate::sqlite::scope::ResolvedFilter;
use crate::sqlite::search::{FULL_LIMITS, SearchRun};
use crate::{Access, SqliteStore, open_store};

/// 100 rows of `large`, 30 of `small` and one of `tiny`; of ten rows, six are
/// changes, two are fixes, one is a decision and one a prompt.
fn store() -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let row = |n: i64| Item {
        project: match n {
            0..100 => "large",
            100..130 => "small",
            _ => "tiny",
        }
        .into(),
        kind: match n % 10 {
            0..6 => Kind::Change,
            6..8 => Kind::Fix,
            8 => Kind::Decision,
            _ => Kind::Prompt,
        },
        time: n,
        ..item(&format!("u{n}"), "a walrus")
    };
    let batch = Batch {
        items: (0..131).map(|n| ItemWrite::Add(row(n))).collect(),
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    (folder, store)
}

fn filter(project: Option<&str>, kinds: &[Kind]) -> Filter {
    Filter {
        project: project.map(Into::into),
        kinds: kinds.to_vec(),
        ..Filter::default()
    }
}

/// How the filter is put; what it finds is what the rows themselves say.
fn chosen(store: &SqliteStore, filter: &Filter) -> (usize, usize) {
    let scope = ResolvedFilter::find(&store.conn, filter, store.looks)
        .unwrap()
        .unwrap();
    let tags = IndexFilter::for_scope(&store.conn, &scope).unwrap();
    let sides = (tags.with.len(), tags.without.len());
    let is = |item: &Item| {
        filter
            .project
            .as_ref()
            .is_none_or(|project| *project == item.project)
            && (filter.kinds.is_empty() || filter.kinds.contains(&item.kind))
    };
    let page = PageRequest::newest(1_000);
    let all = store.list_items(&Filter::default(), page).unwrap();
    let mut expected: Vec<i64> = all
        .iter()
        .filter(|item| is(item))
        .map(|item| item.id)
        .collect();
    expected.sort_unstable_by(|a, b| b.cmp(a));
    let search = SearchRun::new(&store.conn, scope, Vec::new(), FULL_LIMITS, 20).unwrap();
    let walrus = search.tags.of_each(|sign| format!("(\"{sign}walrus\")"));
    assert_eq!(
        search.match_items(&walrus, 1_000).unwrap(),
        expected,
        "{filter:?}"
    );
    sides
}

#[test]
fn what_is_less_is_named() {
    let (_folder, store) = store();
    let (few, many) = ([Kind::Decision, Kind::Memory], [Kind::Change, Kind::Fix]);
    for (project, kinds, expected) in [
        (None, &[] as &[Kind], (0, 0)),
        (None, &few, (1, 0)),
        (None, &many, (0, 2)),
        (Some("large"), &[], (1, 0)),
        (Some("large"), &many, (1, 2)),
        (Some("small"), &few, (2, 0)),
        (Some("tiny"), &[Kind::Memory], (2, 0)),
        // A whole list needs nothing beside it.
        (Some("small"), &[Kind::Fix, Kind::Summary], (0, 0)),
        (Some("tiny"), Kind::ALL, (1, 0)),
    ] {
        assert_eq!(
            chosen(&store, &filter(project, kinds)),
            expected,
            "{project:?} {kinds:?}"
        );
    }
}

#[test]
fn a_project_that_is_nearly_all_is_not_named() {
    let (_folder, store) = store();
    let prune = PruneRequest {
        before: Some(1_000),
        project: Some("small".into()),
        ..PruneRequest::default()
    };
    store.prune(&prune, PruneMode::Real).unwrap();
    let few = [Kind::Decision];
    assert_eq!(chosen(&store, &filter(Some("large"), &[])), (0, 1));
    assert_eq!(chosen(&store, &filter(Some("large"), &few)), (1, 1));
    assert_eq!(chosen(&store, &filter(Some("tiny"), &[])), (1, 0));
    assert_eq!(chosen(&store, &filter(Some("large"), Kind::ALL)), (0, 1));
}
