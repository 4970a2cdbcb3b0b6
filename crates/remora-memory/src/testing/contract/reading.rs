//! Checks of reading: names, filters, order and paging.

use remora_core::record::{Item, Kind, Project, Session};

use super::{Check, add, ok, page, uids};
use crate::store::{
    Batch, FileMatch, Filter, ItemHeader, ItemRef, PageRequest, ProjectStats, SortOrder, Store,
    StoreStats,
};
use crate::testing::{event, item, session};

pub(super) const CHECKS: &[Check] = &[
    ("an empty store answers everything", empty),
    ("rows by name, in the order asked for", names),
    ("rows stand in the order of time, then number", order),
    ("headers are those of the rows", headers),
    ("pages follow each other without gap or repeat", paging),
    ("every filter works alone", filters),
    ("filters work together", filters_together),
    (
        "a file is a path, or like one: its end or a folder above",
        files,
    ),
    ("counts tell what there is", counts),
    (
        "every project has its items, sessions and last activity",
        activity_of_projects,
    ),
];

fn empty(store: &dyn Store) {
    let filter = Filter::default();
    assert_eq!(
        ok(store.list_items(&filter, page(SortOrder::Newest, 5))),
        []
    );
    assert_eq!(ok(store.list_sessions(&filter, 5)), []);
    assert_eq!(
        ok(store.list_events(&filter, page(SortOrder::Newest, 5))),
        []
    );
    assert_eq!(ok(store.list_projects()), []);
    assert_eq!(ok(store.list_files("project", None)), []);
    assert_eq!(ok(store.find_by_key("project", Kind::Fix, "k")), None);
    assert_eq!(
        ok(store.find_items(&[ItemRef::Id(1), ItemRef::Uid("a".into())])),
        []
    );
    assert_eq!(
        StoreStats {
            bytes: 0,
            ..ok(store.count_contents())
        },
        StoreStats::default()
    );
    assert_eq!(super::found(store, "anything"), [""; 0]);
    assert_eq!(super::found(store, ""), [""; 0]);
    assert_eq!(ok(store.apply(&Batch::default())), [0; 0]);
}

fn names(store: &dyn Store) {
    let external = Item {
        external_id: Some("conv:7".into()),
        ..item("c", "c")
    };
    let ids = add(store, [item("a", "a"), item("b", "b"), external]);
    let rows = ok(store.find_items(&[
        ItemRef::Uid("conv:7".into()),
        ItemRef::Id(ids[0]),
        ItemRef::Id(9_999),
        ItemRef::Uid("nobody".into()),
        ItemRef::Uid("b".into()),
        ItemRef::Id(ids[0]),
    ]));
    assert_eq!(uids(&rows), ["c", "a", "b", "a"]);
}

fn at(uid: &str, time: i64) -> Item {
    Item {
        time,
        ..item(uid, uid)
    }
}

fn order(store: &dyn Store) {
    add(
        store,
        [
            at("late", 30),
            at("early", 10),
            at("same1", 20),
            at("same2", 20),
        ],
    );
    let list = |order| ok(store.list_items(&Filter::default(), page(order, 9)));
    assert_eq!(
        uids(&list(SortOrder::Oldest)),
        ["early", "same1", "same2", "late"]
    );
    assert_eq!(
        uids(&list(SortOrder::Newest)),
        ["late", "same2", "same1", "early"]
    );
    assert_eq!(
        ok(store.list_items(&Filter::default(), page(SortOrder::Newest, 0))),
        []
    );
}

fn headers(store: &dyn Store) {
    let asked = |uid: &str, kind, prompt| Item {
        kind,
        prompt,
        ..at(uid, 10)
    };
    add(
        store,
        [
            asked("first", Kind::Summary, Some(1)),
            asked("none", Kind::Summary, None),
            asked("other", Kind::Change, Some(2)),
            asked("last", Kind::Summary, Some(3)),
        ],
    );
    let filter = Filter {
        kinds: vec![Kind::Summary],
        ..Filter::default()
    };
    for limit in [2, 9] {
        let at = page(SortOrder::Newest, limit);
        let rows = ok(store.list_items(&filter, at));
        let expected: Vec<ItemHeader> = rows.iter().map(ItemHeader::from_item).collect();
        assert_eq!(expected.len(), limit.min(3));
        assert_eq!(ok(store.list_headers(&filter, at)), expected);
    }
}

fn paging(store: &dyn Store) {
    let times = [5, 3, 9, 3, 3, 7, 1, 9, 5, 3];
    let kinds = [Kind::Change, Kind::Fix, Kind::Prompt];
    add(
        store,
        times.iter().enumerate().map(|(n, time)| Item {
            kind: kinds[n % 3],
            ..at(&format!("u{n}"), *time)
        }),
    );
    let project = Filter {
        project: Some("project".into()),
        ..Filter::default()
    };
    let session = Filter {
        session: Some("session".into()),
        ..Filter::default()
    };
    let some = Filter {
        kinds: vec![Kind::Change, Kind::Fix, Kind::Prompt],
        ..project.clone()
    };
    for filter in [Filter::default(), project, session, some] {
        for order in [SortOrder::Oldest, SortOrder::Newest] {
            let whole = ok(store.list_items(&filter, page(order, 100)));
            assert_eq!(whole.len(), 10);
            for limit in [1, 3, 10] {
                let mut rows: Vec<Item> = Vec::new();
                loop {
                    let beyond = rows.last().map(|row| row.id);
                    let next = ok(store.list_items(
                        &filter,
                        PageRequest {
                            order,
                            beyond,
                            limit,
                        },
                    ));
                    if next.is_empty() {
                        break;
                    }
                    rows.extend(next);
                    assert!(rows.len() <= 10, "a row came twice");
                }
                assert_eq!(rows, whole);
            }
        }
    }
}

fn varied(store: &dyn Store) {
    add(
        store,
        [
            at("plain", 10),
            Item {
                project: "other".into(),
                ..at("project", 20)
            },
            Item {
                kind: Kind::Fix,
                ..at("fix", 30)
            },
            Item {
                kind: Kind::Memory,
                project: "other".into(),
                ..at("memory", 40)
            },
            Item {
                session: "s2".into(),
                ..at("session", 50)
            },
            Item {
                agent: "a2".into(),
                ..at("agent", 60)
            },
            Item {
                files_modified: vec!["src/x.rs".into()],
                ..at("file", 70)
            },
        ],
    );
}

/// A list and a search must agree on what a filter means.
#[track_caller]
fn agree(store: &dyn Store, filter: &Filter, expected: &[&str]) {
    assert_eq!(
        uids(&ok(store.list_items(filter, page(SortOrder::Oldest, 99)))),
        expected,
        "{filter:?}"
    );
    let words = "plain project fix memory session agent file";
    let mut found = super::found_in(store, words, filter);
    found.sort_unstable();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted, "searched with {filter:?}");
    assert_eq!(super::found_in(store, "", filter).len(), expected.len());
}

fn filters(store: &dyn Store) {
    varied(store);
    let all = Filter::default;
    let kinds = |kinds: &[Kind]| Filter {
        kinds: kinds.to_vec(),
        ..Filter::default()
    };
    let time = |since, until| Filter {
        since,
        until,
        ..Filter::default()
    };
    let everything = [
        "plain", "project", "fix", "memory", "session", "agent", "file",
    ];
    let cases: [(Filter, &[&str]); 17] = [
        (all(), &everything),
        (
            Filter {
                project: Some("other".into()),
                ..all()
            },
            &["project", "memory"],
        ),
        (
            Filter {
                session: Some("s2".into()),
                ..all()
            },
            &["session"],
        ),
        (
            Filter {
                agent: Some("a2".into()),
                ..all()
            },
            &["agent"],
        ),
        (
            Filter {
                file: Some(FileMatch::Like("x.rs".into())),
                ..all()
            },
            &["file"],
        ),
        (kinds(&[Kind::Fix]), &["fix"]),
        (kinds(&[Kind::Memory, Kind::Fix]), &["fix", "memory"]),
        // The beginning belongs to it, the end does not.
        (time(Some(50), None), &["session", "agent", "file"]),
        (time(None, Some(30)), &["plain", "project"]),
        (time(Some(20), Some(40)), &["project", "fix"]),
        (
            Filter {
                project: Some("nowhere".into()),
                ..all()
            },
            &[],
        ),
        (
            Filter {
                session: Some("none".into()),
                ..all()
            },
            &[],
        ),
        (
            Filter {
                agent: Some("nobody".into()),
                ..all()
            },
            &[],
        ),
        (
            Filter {
                file: Some(FileMatch::Like("nothing.rs".into())),
                ..all()
            },
            &[],
        ),
        (kinds(&[Kind::Task]), &[]),
        (time(Some(71), None), &[]),
        (time(Some(50), Some(50)), &[]),
    ];
    for (filter, expected) in cases {
        agree(store, &filter, expected);
    }
}

fn filters_together(store: &dyn Store) {
    varied(store);
    let filter = Filter {
        project: Some("other".into()),
        kinds: vec![Kind::Memory, Kind::Discovery],
        agent: Some("agent".into()),
        session: Some("session".into()),
        since: Some(30),
        ..Filter::default()
    };
    agree(store, &filter, &["memory"]);
    agree(
        store,
        &Filter {
            until: Some(40),
            ..filter.clone()
        },
        &[],
    );
    agree(
        store,
        &Filter {
            file: Some(FileMatch::Like("src/x.rs".into())),
            ..filter
        },
        &[],
    );
    let filter = Filter {
        project: Some("project".into()),
        file: Some(FileMatch::Like("src".into())),
        since: Some(70),
        ..Filter::default()
    };
    agree(store, &filter, &["file"]);
}

fn files(store: &dyn Store) {
    let read = |uid: &str, path: &str| Item {
        files_read: vec![path.into()],
        ..item(uid, uid)
    };
    add(
        store,
        [
            read("a", "src/store/sqlite.rs"),
            read("b", "src/store.rs"),
            read("c", "sqlite.rs"),
            read("d", "src/mysqlite.rs"),
            Item {
                files_modified: vec!["docs/store/sqlite.rs".into()],
                ..read("e", "src/store/sqlite.rs")
            },
            read("f", "src/100%_sure.rs"),
        ],
    );
    for (file, expected) in [
        ("src/store/sqlite.rs", vec!["a", "e"]),
        ("sqlite.rs", vec!["a", "c", "e"]),
        ("store/sqlite.rs", vec!["a", "e"]),
        ("src/store", vec!["a", "e"]),
        ("src/store/", vec!["a", "e"]),
        ("./src/store", vec!["a", "e"]),
        ("src", vec!["a", "b", "d", "e", "f"]),
        ("docs", vec!["e"]),
        ("lite.rs", vec![]),
        ("src/sto", vec![]),
        ("%", vec![]),
        ("100%_sure.rs", vec!["f"]),
        ("100__sure.rs", vec![]),
    ] {
        of_file(store, FileMatch::Like(file.into()), &expected);
    }
    for (file, expected) in [
        ("src/store/sqlite.rs", vec!["a", "e"]),
        ("docs/store/sqlite.rs", vec!["e"]),
        ("sqlite.rs", vec!["c"]),
        ("src/store", vec![]),
        ("./sqlite.rs", vec![]),
        ("sqlite.rs/", vec![]),
        ("", vec![]),
    ] {
        of_file(store, FileMatch::Exactly(file.into()), &expected);
    }
}

#[track_caller]
fn of_file(store: &dyn Store, file: FileMatch, expected: &[&str]) {
    let filter = Filter {
        file: Some(file),
        ..Filter::default()
    };
    let rows = ok(store.list_items(&filter, page(SortOrder::Oldest, 99)));
    assert_eq!(uids(&rows), expected, "{:?}", filter.file);
}

fn activity_of_projects(store: &dyn Store) {
    varied(store);
    let described = |key: &str| Project {
        key: key.into(),
        name: key.to_owned(),
        root: format!("/{key}"),
    };
    ok(store.apply(&Batch {
        projects: vec![described("project"), described("untouched")],
        sessions: vec![session("s", 700)],
        ..Batch::default()
    }));
    let filter = Filter {
        project: Some("project".into()),
        ..Filter::default()
    };
    let rows = ok(store.list_items(&filter, PageRequest::newest(99)));
    let expected = [
        ProjectStats {
            project: described("project"),
            items: rows.len() as u64,
            sessions: 1,
            last: Some(700),
        },
        ProjectStats {
            project: described("untouched"),
            items: 0,
            sessions: 0,
            last: None,
        },
    ];
    assert!(!rows.is_empty());
    assert_eq!(ok(store.project_activity()), expected);
}

fn counts(store: &dyn Store) {
    varied(store);
    ok(store.apply(&Batch {
        events: vec![event("e", 1)],
        sessions: vec![
            session("s", 1),
            session("t", 2),
            Session {
                agent: "other".into(),
                ..session("u", 3)
            },
        ],
        ..Batch::default()
    }));
    let counts = ok(store.count_contents());
    let expected = StoreStats {
        events: 1,
        items: vec![(Kind::Discovery, 5), (Kind::Fix, 1), (Kind::Memory, 1)],
        sessions: 3,
        agents: vec![(session("s", 1).agent, 2), ("other".into(), 1)],
        projects: 0,
        bytes: counts.bytes,
    };
    assert_eq!(counts, expected);
}
