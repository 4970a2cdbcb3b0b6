//! Checks of writing: once and only once, whole rows, numbers that stay.

use remora_core::record::{FileRecord, FileState, Item, Kind, Project};
use serde_json::json;

use super::{Check, add, all, found, ok, write};
use crate::store::{
    Batch, EventKey, FileMatch, Filter, ItemRef, ItemWrite, PageRequest, PruneMode, PruneRequest,
    SortOrder, Store,
};
use crate::testing::{event, item, session};

pub(super) const CHECKS: &[Check] = &[
    ("a whole row comes back", whole_row),
    ("the same batch twice is there once", idempotent),
    ("an event is known by id and by call", known),
    (
        "replacing keeps the number and forgets old words",
        replacing,
    ),
    ("a kept number is kept", keeping),
    ("a taken number is not taken twice", keeping_a_taken_number),
    ("a row is put by its key", putting),
    ("keys belong to a project and kind", keys_are_scoped),
    ("adding a known key is putting", adding_a_known_key),
    ("again counts up", again),
    ("sessions are replaced", sessions),
    ("projects get the new root", projects),
    ("files keep what they hold", files),
    ("numbers are never used twice", numbers),
    ("pruning can be asked about first", pruning),
    (
        "pruning keeps kinds, projects and rows seen again",
        pruning_keeps,
    ),
    ("text of any kind comes back as it was", odd_text),
];

const UUID: &str = "0198c0de-7a3b-7c11-9f00-00000000abcd";

fn full(uid: &str) -> Item {
    Item {
        external_id: Some("elsewhere-7".into()),
        key: Some("key".into()),
        kind: Kind::Fix,
        text: "a text\nof two lines".into(),
        facts: vec!["first fact".into(), "second fact".into()],
        concepts: vec!["locking".into()],
        files_read: vec!["src/b.rs".into(), "src/a.rs".into()],
        files_modified: vec!["src/a.rs".into()],
        last_time: 5_000,
        seen: 3,
        prompt: Some(4),
        branch: Some("main".into()),
        subagent: Some("explorer".into()),
        speaker: Some("user".into()),
        tool: Some("Bash".into()),
        tool_use_id: Some("toolu_01".into()),
        raw_tokens: 900,
        digest_tokens: 90,
        detail: Some(json!({"z": 1, "a": [null, "x"]}).into()),
        ..item(uid, "a title")
    }
}

fn whole_row(store: &dyn Store) {
    for uid in [
        "plain",
        UUID,
        &format!("{UUID}/0"),
        &format!("{UUID}/300"),
        "Ünï/7",
    ] {
        let row = Item {
            key: Some(uid.to_owned()),
            ..full(uid)
        };
        let id = add(store, [row.clone()])[0];
        assert!(id > 0);
        let back = ok(store.find_items(&[ItemRef::Id(id)]));
        assert_eq!(back, [Item { id, ..row }]);
        assert_eq!(ok(store.find_items(&[ItemRef::Uid(uid.into())])), back);
    }
}

fn idempotent(store: &dyn Store) {
    let batch = Batch {
        events: vec![event(UUID, 1), event("e2", 2)],
        items: vec![
            ItemWrite::Add(item("a", "one")),
            ItemWrite::Add(item("b", "two")),
        ],
        sessions: vec![session("session", 10)],
        ..Batch::default()
    };
    let first = ok(store.apply(&batch));
    let second = ok(store.apply(&batch));
    assert_eq!(first, second);
    let counts = ok(store.count_contents());
    assert_eq!((counts.events, counts.sessions), (2, 1));
    assert_eq!(counts.items, [(Kind::Discovery, 2)]);
    assert_eq!(all(store).len(), 2);
    assert_eq!(found(store, "one"), ["a"]);
}

fn known(store: &dyn Store) {
    let mut told = event(UUID, 1);
    told.call = Some("session:toolu_1".into());
    let mut again = event("other", 2);
    again.call.clone_from(&told.call);
    ok(store.apply(&Batch {
        events: vec![told],
        ..Batch::default()
    }));
    ok(store.apply(&Batch {
        events: vec![again],
        ..Batch::default()
    }));
    let key = |id, call| EventKey { id, call };
    let keys = [
        key(UUID, None),
        key("other", None),
        key("other", Some("session:toolu_1")),
        key("new", Some("session:toolu_2")),
        key("new", None),
    ];
    assert_eq!(
        ok(store.are_known(&keys)),
        [true, false, true, false, false]
    );
    assert_eq!(ok(store.count_contents()).events, 1);
    assert_eq!(ok(store.are_known(&[])), [false; 0]);
}

fn replacing(store: &dyn Store) {
    let ids = add(store, [item("a", "walrus"), item("b", "penguin")]);
    let new = Item {
        kind: Kind::Bugfix,
        files_read: vec!["x.rs".into()],
        ..item("a", "octopus")
    };
    assert_eq!(add(store, [new]), [ids[0]]);
    assert_eq!(found(store, "walrus"), [""; 0]);
    assert_eq!(found(store, "octopus"), ["a"]);
    assert_eq!(
        ok(store.count_contents()).items,
        [(Kind::Bugfix, 1), (Kind::Discovery, 1)]
    );
    add(store, [item("a", "octopus")]);
    let filter = Filter {
        file: Some(FileMatch::Like("x.rs".into())),
        ..Filter::default()
    };
    assert_eq!(
        ok(store.list_items(&filter, super::page(SortOrder::Oldest, 9))),
        []
    );
}

fn keeping(store: &dyn Store) {
    let kept = Item {
        id: 500,
        ..item("a", "walrus")
    };
    assert_eq!(write(store, vec![ItemWrite::Keep(kept.clone())]), [500]);
    assert_eq!(write(store, vec![ItemWrite::Keep(kept.clone())]), [500]);
    assert_eq!(all(store), [kept]);
    // Later rows go behind it.
    assert!(add(store, [item("b", "penguin")])[0] > 500);
    // A row that has another number moves.
    let id = add(store, [item("c", "octopus")])[0];
    let moved = Item {
        id: 7,
        ..item("c", "octopus")
    };
    assert_eq!(write(store, vec![ItemWrite::Keep(moved)]), [7]);
    assert_eq!(ok(store.find_items(&[ItemRef::Id(id)])), []);
    assert_eq!(found(store, "octopus"), ["c"]);
    assert_eq!(all(store).len(), 3);
}

fn keeping_a_taken_number(store: &dyn Store) {
    let id = add(store, [item("a", "walrus")])[0];
    let other = write(
        store,
        vec![ItemWrite::Keep(Item {
            id,
            ..item("b", "penguin")
        })],
    )[0];
    assert_ne!(id, other);
    assert_eq!(ok(store.find_items(&[ItemRef::Id(id)]))[0].title, "walrus");
    assert_eq!(
        ok(store.find_items(&[ItemRef::Id(other)]))[0].title,
        "penguin"
    );
}

fn putting(store: &dyn Store) {
    let put = |uid: &str, title: &str| {
        ItemWrite::Put(Item {
            key: Some("k".into()),
            kind: Kind::Memory,
            ..item(uid, title)
        })
    };
    let first = write(store, vec![put("a", "walrus")]);
    let second = write(store, vec![put("b", "octopus")]);
    assert_eq!(first, second);
    let row = ok(store.find_by_key("project", Kind::Memory, "k"));
    assert_eq!(
        row.map(|row| (row.uid, row.title)),
        Some(("a".into(), "octopus".into()))
    );
    assert_eq!(found(store, "walrus"), [""; 0]);
    assert_eq!(ok(store.count_contents()).items, [(Kind::Memory, 1)]);
    assert_eq!(ok(store.find_by_key("project", Kind::Fix, "k")), None);
    assert_eq!(ok(store.find_by_key("nowhere", Kind::Memory, "k")), None);
}

fn keys_are_scoped(store: &dyn Store) {
    let keyed = |uid: &str, kind, project: &str| {
        ItemWrite::Put(Item {
            key: Some("k".into()),
            kind,
            project: project.into(),
            ..item(uid, uid)
        })
    };
    write(
        store,
        vec![
            keyed("a", Kind::Memory, "project"),
            keyed("b", Kind::Fix, "project"),
            keyed("c", Kind::Memory, "elsewhere"),
        ],
    );
    assert_eq!(all(store).len(), 3);
    // Rows without a key never meet.
    write(
        store,
        vec![
            ItemWrite::Put(item("d", "d")),
            ItemWrite::Put(item("e", "e")),
        ],
    );
    assert_eq!(all(store).len(), 5);
}

fn adding_a_known_key(store: &dyn Store) {
    let keyed = |uid: &str| Item {
        key: Some("k".into()),
        ..item(uid, uid)
    };
    let first = add(store, [keyed("a"), item("b", "plain")]);
    assert_eq!(add(store, [keyed("c")]), [first[0]]);
    // The uid decides when both are there: the two rows become one.
    assert_eq!(add(store, [keyed("b")]), [first[1]]);
    assert_eq!(super::uids(&all(store)), ["b"]);
}

fn again(store: &dyn Store) {
    let id = add(store, [item("a", "walrus")])[0];
    let again = |uid: &str, time| ItemWrite::Again {
        uid: uid.into(),
        time,
    };
    assert_eq!(
        write(
            store,
            vec![again("a", 2_000), again("nobody", 1), again("a", 1_500)]
        ),
        [id, 0, id]
    );
    let row = &all(store)[0];
    assert_eq!((row.seen, row.last_time, row.time), (3, 2_000, 1_000));
    assert_eq!(found(store, "walrus"), ["a"]);
}

fn sessions(store: &dyn Store) {
    let put = |session| {
        ok(store.apply(&Batch {
            sessions: vec![session],
            ..Batch::default()
        }))
    };
    put(session("s1", 100));
    put(session("s2", 200));
    let mut newer = session("s1", 300);
    newer.end_reason = Some("other".into());
    newer.title = "What it was about".into();
    newer.branch = Some("main".into());
    newer.prompts = 7;
    put(newer.clone());
    assert_eq!(
        ok(store.list_sessions(&Filter::default(), 10)),
        [newer, session("s2", 200)]
    );
    assert_eq!(ok(store.list_sessions(&Filter::default(), 1)).len(), 1);
}

fn projects(store: &dyn Store) {
    let project = |key: &str, name: &str, root: &str| Project {
        key: key.into(),
        name: name.into(),
        root: root.into(),
    };
    let put = |project| {
        ok(store.apply(&Batch {
            projects: vec![project],
            ..Batch::default()
        }))
    };
    put(project("k1", "zebra", "/a"));
    put(project("k2", "ant", "/b"));
    put(project("k1", "zebra", "/c"));
    add(
        store,
        [Item {
            project: "never told of".into(),
            ..item("a", "a")
        }],
    );
    assert_eq!(
        ok(store.list_projects()),
        [project("k2", "ant", "/b"), project("k1", "zebra", "/c")]
    );
    assert_eq!(ok(store.count_contents()).projects, 2);
}

fn files(store: &dyn Store) {
    let file = |folder: &str, name: &str, holds: &str, state, time| FileRecord {
        project: "project".into(),
        folder: folder.into(),
        name: name.into(),
        holds: holds.into(),
        state,
        from: None,
        session: format!("s{time}").into(),
        time,
        anchor: None,
    };
    let put = |file| {
        ok(store.apply(&Batch {
            files: vec![file],
            ..Batch::default()
        }))
    };
    put(file("src", "a.rs", "fn main", FileState::Seen, 1));
    put(file("src", "a.rs", "", FileState::Changed, 2));
    // Reading tells what it holds, and nothing else.
    put(file("src", "a.rs", "fn other", FileState::Seen, 3));
    put(file("src", "a.rs", "", FileState::Seen, 4));
    put(file("", "b.rs", "x", FileState::Seen, 5));
    put(file("", "b.rs", "", FileState::Seen, 6));
    let moved = FileRecord {
        from: Some("old/c.rs".into()),
        ..file("src", "c.rs", "", FileState::Moved, 7)
    };
    put(moved);
    // Changed since, it still came from there.
    put(file("src", "c.rs", "", FileState::Changed, 8));
    let moved = FileRecord {
        from: Some("old/c.rs".into()),
        ..file("src", "c.rs", "", FileState::Changed, 8)
    };
    let a = file("src", "a.rs", "fn other", FileState::Changed, 2);
    let b = file("", "b.rs", "x", FileState::Seen, 6);
    assert_eq!(
        ok(store.list_files("project", None)),
        [b.clone(), a.clone(), moved.clone()]
    );
    assert_eq!(ok(store.list_files("project", Some("src"))), [a, moved]);
    assert_eq!(ok(store.list_files("project", Some(""))), [b]);
    assert_eq!(ok(store.list_files("project", Some("sr"))), []);
    assert_eq!(ok(store.list_files("elsewhere", None)), []);
}

fn numbers(store: &dyn Store) {
    let old = add(store, [item("a", "a"), item("b", "b")]);
    let all_of_it = PruneRequest {
        before: Some(i64::MAX),
        ..PruneRequest::default()
    };
    assert_eq!(ok(store.prune(&all_of_it, PruneMode::Real)), 2);
    let new = add(store, [item("c", "c")]);
    assert!(new[0] > old[1], "{old:?} {new:?}");
}

fn pruning(store: &dyn Store) {
    let at = |uid: &str, time| Item {
        time,
        files_read: vec!["x.rs".into()],
        ..item(uid, &format!("walrus {uid}"))
    };
    add(store, [at("a", 10), at("b", 20), at("c", 30)]);
    ok(store.apply(&Batch {
        events: vec![event("e1", 10), event("e2", 20)],
        ..Batch::default()
    }));
    let prune = PruneRequest {
        before: Some(20),
        ..PruneRequest::default()
    };
    assert_eq!(ok(store.prune(&prune, PruneMode::Dry)), 2);
    assert_eq!(all(store).len(), 3);
    assert_eq!(ok(store.prune(&prune, PruneMode::Real)), 2);
    assert_eq!(ok(store.prune(&prune, PruneMode::Real)), 0);
    assert_eq!(super::uids(&all(store)), ["b", "c"]);
    assert_eq!(found(store, "walrus").len(), 2);
    let filter = Filter {
        file: Some(FileMatch::Like("x.rs".into())),
        ..Filter::default()
    };
    assert_eq!(
        ok(store.list_items(&filter, super::page(SortOrder::Oldest, 9))).len(),
        2
    );
    assert_eq!(ok(store.count_contents()).items, [(Kind::Discovery, 2)]);
    let ledger = ok(store.list_events(&Filter::default(), super::page(SortOrder::Oldest, 9)));
    assert_eq!(ledger, [event("e2", 20)]);
    // Without an age nothing may go.
    assert_eq!(
        ok(store.prune(&PruneRequest::default(), PruneMode::Real)),
        0
    );
}

fn pruning_keeps(store: &dyn Store) {
    let old = |uid: &str| Item {
        time: 10,
        ..item(uid, uid)
    };
    add(
        store,
        [
            old("goes"),
            Item {
                kind: Kind::Memory,
                ..old("kind")
            },
            Item {
                project: "elsewhere".into(),
                ..old("project")
            },
            Item {
                last_time: 50,
                seen: 2,
                ..old("again")
            },
        ],
    );
    let prune = PruneRequest {
        before: Some(40),
        keep: vec![Kind::Memory],
        project: Some("project".into()),
    };
    assert_eq!(ok(store.prune(&prune, PruneMode::Dry)), 1);
    assert_eq!(ok(store.prune(&prune, PruneMode::Real)), 1);
    assert_eq!(super::uids(&all(store)), ["kind", "project", "again"]);
    let nowhere = PruneRequest {
        before: Some(40),
        project: Some("nowhere".into()),
        ..PruneRequest::default()
    };
    assert_eq!(ok(store.prune(&nowhere, PruneMode::Real)), 0);
}

fn odd_text(store: &dyn Store) {
    let long = "word ".repeat(40_000);
    let texts = [
        "",
        "\0 nul \0",
        "line\r\nline",
        "\u{1b}[31mred\u{1b}[0m",
        "日本語 🦀 é",
        "'; DROP TABLE items; --",
        &long,
    ];
    for (at, text) in texts.into_iter().enumerate() {
        let row = Item {
            text: text.into(),
            title: text.chars().take(9).collect(),
            ..item(&format!("u{at}"), "")
        };
        let id = add(store, [row.clone()])[0];
        assert_eq!(
            ok(store.find_items(&[ItemRef::Id(id)])),
            [Item { id, ..row }]
        );
    }
    let newest = PageRequest::newest(1);
    assert_eq!(
        ok(store.list_items(&Filter::default(), newest))[0].text,
        long
    );
}
