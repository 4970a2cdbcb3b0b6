//! Checks of what recall rests on: anchors of files, what was given and what of
//! it was used, and rows that go.

use remora_core::ids::ItemUid;
use remora_core::record::{
    FileFingerprint, FileRecord, FileState, Injection, InjectionUse, Item, Kind,
};
use serde_json::json;

use super::{Check, add, all, found, ok, page, uids};
use crate::store::{
    Batch, DetailRow, FileMatch, Filter, ItemRef, LookupItems, PruneMode, PruneRequest, SortOrder,
    Store,
};
use crate::testing::item;
use crate::words::Query;

pub(super) const CHECKS: &[Check] = &[
    ("anchors tell since when", anchors),
    ("what was given stays as it was", given),
    ("removed rows are gone", removing),
    ("what may be given is found without the rest", telling),
    ("details are read without the rest of a row", details),
];

fn details(store: &dyn Store) {
    let row = |uid: &str, title: &str, time: i64| {
        let mut item = item(uid, title);
        item.kind = Kind::Failure;
        item.project = "project".into();
        item.time = time;
        item.detail = Some(json!({"says": [title]}).into());
        item
    };
    let mut again = row("again", "the walrus sank the boat", 2);
    again.last_time = 9;
    let mut other_kind = row("fix", "the walrus sank the boat", 6);
    other_kind.kind = Kind::Fix;
    let mut other_project = row("other", "the walrus sank the boat", 7);
    other_project.project = "other".into();
    let plain = Item {
        detail: None,
        ..row("plain", "the walrus slept", 1)
    };
    let sank = row("sank", "a walrus sank the ferry", 3);
    let rows = [plain, again, sank, other_kind, other_project];
    let numbers = add(store, rows);
    let holding = |words: &str, limit| {
        let query = Query::parse(words);
        let rows = store.details("project", Kind::Failure, Some(&query), limit);
        ok(rows).into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(
        ok(store.details("project", Kind::Failure, None, 2)),
        [
            DetailRow {
                id: numbers[2],
                last_time: 3,
                detail: r#"{"says":["a walrus sank the ferry"]}"#.to_owned(),
            },
            DetailRow {
                id: numbers[1],
                last_time: 9,
                detail: r#"{"says":["the walrus sank the boat"]}"#.to_owned(),
            },
        ]
    );
    let all = ok(store.details("project", Kind::Failure, None, 9));
    assert_eq!(all.last().map(|row| row.detail.as_str()), Some(""));
    assert_eq!(holding("walrus sank", 9), [numbers[2], numbers[1]]);
    assert_eq!(holding("walrus sank boat", 9), [numbers[2], numbers[1]]);
    assert_eq!(holding("walrus ferry", 9), [numbers[2]]);
    assert_eq!(holding("walrus", 1), [numbers[2]]);
    assert!(holding("whale", 9).is_empty());
    assert!(ok(store.details("nowhere", Kind::Failure, None, 9)).is_empty());
}

fn telling(store: &dyn Store) {
    let row = |uid: &str, kind, tool: &str, project: &str| {
        let mut item = item(uid, "a walrus of the retry loop");
        item.kind = kind;
        item.tool = Some(tool.into());
        item.project = project.into();
        item.files_modified = vec!["src/a.rs".into()];
        item
    };
    let long = Item {
        text: format!("{}the whale", "a long way down, ".repeat(60)),
        ..row("long", Kind::Summary, "", "project")
    };
    add(
        store,
        [
            row("looked", Kind::Discovery, "Read", "project"),
            row("learned", Kind::Discovery, "WebFetch", "project"),
            row("changed", Kind::Change, "Edit", "project"),
            row("asked", Kind::Prompt, "", "project"),
            row("elsewhere", Kind::Change, "Edit", "other"),
            long,
        ],
    );
    let filter = |kinds: &[Kind], looks| Filter {
        project: Some("project".into()),
        kinds: kinds.to_vec(),
        looks,
        ..Filter::default()
    };
    let never = [Kind::Prompt, Kind::Failure, Kind::Command];
    let told: Vec<Kind> = Kind::ALL
        .iter()
        .filter(|kind| !never.contains(kind))
        .copied()
        .collect();
    for (kinds, looks, expected) in [
        (
            &told[..],
            LookupItems::LeftOut,
            &["changed", "learned", "long"][..],
        ),
        (
            &told,
            LookupItems::Kept,
            &["changed", "learned", "long", "looked"],
        ),
        (&[Kind::Discovery], LookupItems::LeftOut, &["learned"]),
        (&[Kind::Summary], LookupItems::LeftOut, &["long"]),
        (
            &[],
            LookupItems::LeftOut,
            &["asked", "changed", "learned", "long"],
        ),
    ] {
        let filter = filter(kinds, looks);
        let mut listed = ok(store.list_items(&filter, page(SortOrder::Oldest, 9)));
        listed.sort_by(|a, b| a.uid.cmp(&b.uid));
        assert_eq!(uids(&listed), expected, "{filter:?}");
        let of_file = Filter {
            file: Some(FileMatch::Exactly("src/a.rs".into())),
            ..filter.clone()
        };
        let mut listed = ok(store.list_items(&of_file, page(SortOrder::Newest, 9)));
        listed.sort_by(|a, b| a.uid.cmp(&b.uid));
        assert_eq!(uids(&listed), expected, "{of_file:?}");
        for query in ["walrus", "retry loop", "walr"].map(Query::parse) {
            for query in [query.clone(), query.with_quick_effort()] {
                let mut hits: Vec<ItemUid> = ok(store.search(&query, &filter, 9))
                    .into_iter()
                    .flat_map(|hit| {
                        let same = ok(store.find_items(
                            &hit.same.into_iter().map(ItemRef::Id).collect::<Vec<_>>(),
                        ));
                        same.into_iter().chain([hit.item]).map(|item| item.uid)
                    })
                    .collect();
                hits.sort_unstable();
                assert_eq!(hits, expected, "{filter:?} {query:?}");
            }
        }
    }
    // Far down in a long text.
    let summaries = filter(&[Kind::Summary], LookupItems::LeftOut);
    let hits = ok(store.search(&Query::parse("whale").with_quick_effort(), &summaries, 9));
    assert_eq!(hits.len(), 1);
}

fn anchors(store: &dyn Store) {
    let put = |state, time, anchor| {
        let record = FileRecord {
            project: "project".into(),
            folder: "src".into(),
            name: "a.rs".into(),
            holds: String::new(),
            state,
            from: None,
            session: "s".into(),
            time,
            anchor,
        };
        ok(store.apply(&Batch {
            files: vec![record],
            ..Batch::default()
        }));
        ok(store.find_file("project", "src", "a.rs")).and_then(|file| file.anchor)
    };
    let anchor = |hash, modified: i64| {
        Some(FileFingerprint {
            size: u64::MAX,
            modified: modified * 1_000_000,
            hash,
            since: modified,
        })
    };
    assert_eq!(put(FileState::Changed, 1, None), None);
    assert_eq!(put(FileState::Seen, 2, anchor(7, 2)), anchor(7, 2));
    // Nothing new is known.
    assert_eq!(put(FileState::Changed, 3, None), anchor(7, 2));
    // Written again with the same contents.
    let again = anchor(7, 4).map(|anchor| FileFingerprint { since: 2, ..anchor });
    assert_eq!(put(FileState::Seen, 4, anchor(7, 4)), again);
    assert_eq!(
        put(FileState::Changed, 5, anchor(u64::MAX, 5)),
        anchor(u64::MAX, 5)
    );
    assert_eq!(ok(store.find_file("project", "src", "b.rs")), None);
    assert_eq!(ok(store.find_file("elsewhere", "src", "a.rs")), None);
}

fn given(store: &dyn Store) {
    let row = |session: &str, line, time| Injection {
        session: session.into(),
        line,
        item: format!("#{line}"),
        subagent: (line == 2).then(|| "agent".into()),
        trigger: "prompt".into(),
        why: "words".into(),
        tokens: 12,
        time,
        used: None,
    };
    let used = |how: &str, time| InjectionUse {
        how: how.into(),
        time,
    };
    let apply = |injections: Vec<Injection>, uses| {
        ok(store.apply(&Batch {
            injections,
            uses,
            ..Batch::default()
        }))
    };
    let (a1, a2, b1) = (row("a", 1, 10), row("a", 2, 10), row("b", 1, 5));
    apply(vec![a2.clone(), a1.clone(), b1.clone()], Vec::new());
    let of = |session: &str| Filter {
        session: Some(session.into()),
        ..Filter::default()
    };
    // Told again, with other words: it stays as it was.
    let other = Injection {
        why: "other".into(),
        ..a1.clone()
    };
    apply(vec![other], vec![("b".into(), 1, used("opened", 7))]);
    apply(
        Vec::new(),
        vec![
            ("b".into(), 1, used("edited", 8)),
            ("b".into(), 9, used("edited", 8)),
        ],
    );
    let b1 = Injection {
        used: Some(used("opened", 7)),
        ..b1
    };
    assert_eq!(
        ok(store.list_injections(&of("a"), 9)),
        [a1.clone(), a2.clone()]
    );
    assert_eq!(
        ok(store.list_injections(&Filter::default(), 9)),
        [b1.clone(), a1.clone(), a2]
    );
    assert_eq!(
        ok(store.list_injections(&Filter::default(), 2)),
        [b1.clone(), a1]
    );
    let early = Filter {
        until: Some(6),
        ..Filter::default()
    };
    assert_eq!(ok(store.list_injections(&early, 9)), [b1]);
    let prune = PruneRequest {
        before: Some(6),
        ..PruneRequest::default()
    };
    ok(store.prune(&prune, PruneMode::Real));
    assert_eq!(ok(store.list_injections(&of("b"), 9)), []);
}

fn removing(store: &dyn Store) {
    let ids = add(store, [item("a", "walrus a"), item("b", "walrus b")]);
    ok(store.remove(&[ItemRef::Id(ids[0]), ItemRef::Uid("nobody".into())]));
    assert_eq!(uids(&all(store)), ["b"]);
    assert_eq!(found(store, "walrus"), ["b"]);
}
