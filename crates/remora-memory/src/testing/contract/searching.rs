//! Checks of searching: which rows are found, and which come first.

use remora_core::ids::ItemUid;
use remora_core::record::{Item, Kind};

use super::{Check, add, found, found_in, ok};
use crate::ask::SearchInput;
use crate::store::{Filter, Store};
use crate::testing::item;
use crate::words::Query;

pub(super) const CHECKS: &[Check] = &[
    ("any words in any order", any_order),
    ("rows with all words come first", all_words_first),
    ("a rare word counts more", rare_words),
    ("every part of a row is searched", every_part),
    ("code words are found by part and as a whole", code_words),
    ("English words are found by their stem", stems),
    ("case and accents do not matter", folding),
    ("scripts without spaces are searched", dense),
    ("phrases come first", phrases),
    ("nothing that is typed is an error", syntax),
    ("question words do not count", stop_words),
    ("a beginning finds the word", prefixes),
    ("nothing typed gives the newest rows", newest),
    ("the limit holds and nothing comes twice", limits),
    ("a crowded index is searched within the filter", crowded),
    ("rows that say the same are told once", folded),
    ("rows with what is left out are left out", left_out),
];

fn titles(store: &dyn Store, titles: &[&str]) {
    add(
        store,
        titles.iter().enumerate().map(|(n, title)| Item {
            time: i64::try_from(n).unwrap_or(0),
            ..item(&format!("u{n}"), title)
        }),
    );
}

/// Each query finds exactly these rows, in any order.
#[track_caller]
fn finds(store: &dyn Store, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        let mut uids = found(store, text);
        uids.sort_unstable();
        assert_eq!(uids, *expected, "{text:?}");
    }
}

fn any_order(store: &dyn Store) {
    titles(
        store,
        &[
            "the writer holds a lock on the database",
            "walrus",
            "database migration",
        ],
    );
    for text in [
        "database lock writer",
        "writer lock database",
        "LOCK, (writer) database!",
    ] {
        assert_eq!(found(store, text)[0], "u0", "{text:?}");
    }
    finds(
        store,
        &[
            ("walrus lock", &["u0", "u1"]),
            ("database", &["u0", "u2"]),
            ("octopus", &[]),
        ],
    );
}

fn all_words_first(store: &dyn Store) {
    let many = "lock lock lock lock lock lock";
    titles(
        store,
        &[
            many,
            "a row about a lock, a retry and many other things besides",
            "lock lock lock lock lock",
            "retry retry",
        ],
    );
    let hits = ok(store.search(&Query::parse("lock retry"), &Filter::default(), 10));
    assert_eq!(hits.len(), 4);
    let seen: Vec<bool> = hits.iter().map(|hit| hit.all_words).collect();
    assert_eq!(seen, [true, false, false, false]);
    assert_eq!(hits[0].item.uid, "u1");
    assert!(hits.iter().all(|hit| hit.score > 0.0));
    assert!(hits[1].score >= hits[2].score && hits[2].score >= hits[3].score);
}

fn rare_words(store: &dyn Store) {
    let mut all: Vec<String> = (0..20).map(|n| format!("common word {n}")).collect();
    all.extend(["walrus word", "octopus"].map(str::to_owned));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    titles(store, &all);
    // No row has all three; the one with the rare word comes first.
    let uids = found(store, "common walrus zebra");
    assert_eq!(uids[0], "u20");
    assert_eq!(uids.len(), 21);
}

fn every_part(store: &dyn Store) {
    add(
        store,
        [Item {
            text: "in the text: narwhal".into(),
            facts: vec!["a fact on penguins".into()],
            concepts: vec!["octopus".into()],
            files_read: vec!["zoo/walrus.rs".into()],
            files_modified: vec!["zoo/lion.rs".into()],
            speaker: Some("Caroline".into()),
            ..item("a", "the title has a zebra")
        }],
    );
    for word in [
        "narwhal",
        "penguin",
        "octopus",
        "walrus.rs",
        "lion",
        "caroline",
        "zebra",
    ] {
        assert_eq!(found(store, word), ["a"], "{word}");
    }
}

fn code_words(store: &dyn Store) {
    titles(
        store,
        &[
            "parseHttpRequest fails",
            "parse_http_request was renamed",
            "error[E0502]: cannot borrow",
            "TS2345 in src/store/sqlite-connect.rs",
            "std::fs::File needs v1.2.3",
            "plain words: http and request",
            "C++ beside C#",
        ],
    );
    finds(
        store,
        &[
            ("parseHttpRequest", &["u0", "u1"]),
            ("parse-http-request", &["u0", "u1"]),
            ("parsehttprequest", &["u0", "u1"]),
            ("http", &["u0", "u1", "u5"]),
            ("HTTPRequest", &["u0", "u1", "u5"]),
            ("e0502", &["u2"]),
            ("E0502", &["u2"]),
            ("0502", &["u2"]),
            ("ts2345", &["u3"]),
            ("2345", &["u3"]),
            ("sqliteConnect", &["u3"]),
            ("sqlite-connect.rs", &["u3"]),
            ("std::fs::File", &["u4"]),
            ("v1.2.3", &["u4"]),
            ("c++", &["u6"]),
            ("c#", &["u6"]),
        ],
    );
    assert_eq!(found(store, "src/store/sqlite-connect.rs:42")[0], "u3");
}

fn stems(store: &dyn Store) {
    titles(
        store,
        &[
            "the connection was closed",
            "connecting again",
            "walruses",
            "a query",
        ],
    );
    finds(
        store,
        &[
            ("connections", &["u0", "u1"]),
            ("connected", &["u0", "u1"]),
            ("closing", &["u0"]),
            ("walrus", &["u2"]),
            ("queries", &["u3"]),
        ],
    );
}

fn folding(store: &dyn Store) {
    titles(
        store,
        &["Café Über straße", "ŁÓDŹ naïve", "ＦＵＬＬ width", "Ελλάδα"],
    );
    finds(
        store,
        &[
            ("cafe", &["u0"]),
            ("CAFÉ", &["u0"]),
            ("cafe\u{301}", &["u0"]),
            ("uber strasse", &["u0"]),
            ("lodz", &["u1"]),
            ("naive", &["u1"]),
            ("full", &["u2"]),
            ("ελλαδα", &["u3"]),
        ],
    );
}

fn dense(store: &dyn Store) {
    titles(
        store,
        &[
            "数据库连接超时",
            "使用React组件",
            "データベースに接続できない",
            "데이터베이스 연결 실패",
            "连接已关闭",
            "库",
        ],
    );
    assert_eq!(found(store, "数据库")[0], "u0");
    finds(
        store,
        &[
            ("连接", &["u0", "u4"]),
            ("react", &["u1"]),
            ("组件", &["u1"]),
            ("接続", &["u2"]),
            ("연결", &["u3"]),
            ("库", &["u0", "u5"]),
            ("时", &["u0"]),
            ("猫", &[]),
        ],
    );
    let hits = ok(store.search(&Query::parse("数据库 连接"), &Filter::default(), 9));
    assert!(hits[0].item.uid == "u0" && hits[0].all_words);
}

fn phrases(store: &dyn Store) {
    titles(
        store,
        &[
            "time out of memory",
            "out of memory error",
            "memory runs out of",
            "walrus",
        ],
    );
    let hits = ok(store.search(&Query::parse("\"memory error\""), &Filter::default(), 9));
    assert_eq!(hits[0].item.uid, "u1");
    let own = hits.iter().filter(|hit| hit.any_words);
    let exact: Vec<bool> = own.map(|hit| hit.all_words).collect();
    assert_eq!(exact, [true]);
    let hits = ok(store.search(&Query::parse("\"out of memory\""), &Filter::default(), 9));
    let mut exact: Vec<&str> = hits
        .iter()
        .filter(|hit| hit.all_words)
        .map(|hit| hit.item.uid.as_str())
        .collect();
    exact.sort_unstable();
    assert_eq!(exact, ["u0", "u1"]);
    assert!(hits[0].all_words && hits[1].all_words);
}

fn syntax(store: &dyn Store) {
    titles(store, &["walrus AND octopus", "near the walrus"]);
    let long = "walrus ".repeat(2_000);
    for text in [
        "\"walrus",
        "walrus\"",
        "\"\"walrus\"\"",
        "walrus*",
        "*walrus",
        "walrus AND",
        "AND walrus",
        "NOT walrus",
        "-walrus",
        "walrus -",
        "title:walrus",
        "^walrus",
        "NEAR(walrus octopus)",
        "(walrus",
        "walrus)",
        "{walrus}",
        "walrus:",
        "walrus + octopus",
        "walrus \0 octopus",
        "🦭 walrus",
        "'walrus'",
        "walrus; DROP TABLE items",
        "\\walrus",
        "%walrus_",
        "walrus\n\twalrus",
        "\u{feff}walrus",
        "_p1 walrus",
        &long,
    ] {
        assert!(found(store, text).contains(&"u0".into()), "{text:?}");
    }
    for text in ["***", "\"\"", "🦭", "\0", "()", "-", ":", "_p1", "_k8"] {
        assert_eq!(found(store, text), [""; 0], "{text:?}");
    }
    let letters = "worda wordb wordc wordd worde ".repeat(300);
    assert_eq!(found(store, &letters), [""; 0]);
}

fn stop_words(store: &dyn Store) {
    titles(
        store,
        &[
            "what did the walrus do",
            "what did the octopus do",
            "to be or not to be",
        ],
    );
    finds(
        store,
        &[
            ("what did the walrus do?", &["u0"]),
            ("when was the octopus", &["u1"]),
        ],
    );
    // Nothing else is left, so they count after all.
    assert_eq!(found(store, "to be")[0], "u2");
    assert!(!found(store, "what").is_empty());
}

fn prefixes(store: &dyn Store) {
    titles(store, &["kubernetes cluster", "walrus"]);
    finds(
        store,
        &[
            ("kubern", &["u0"]),
            ("kub", &["u0"]),
            ("ku", &[]),
            ("walr kubernet", &["u0", "u1"]),
        ],
    );
    titles(store, &["kubernetes cluster", "walrus", "kub"]);
    // A word that is there stands for itself only.
    finds(store, &[("kub", &["u2"])]);
}

fn newest(store: &dyn Store) {
    titles(store, &["a", "b", "c"]);
    assert_eq!(found(store, ""), ["u2", "u1", "u0"]);
    assert_eq!(found(store, " \n "), ["u2", "u1", "u0"]);
}

fn limits(store: &dyn Store) {
    let many: Vec<String> = (0..30).map(|n| format!("walrus number {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    titles(store, &many);
    for limit in [0, 1, 7, 30, 100] {
        let hits = ok(store.search(&Query::parse("walrus"), &Filter::default(), limit));
        assert_eq!(hits.len(), limit.min(30));
        let mut ids: Vec<i64> = hits.iter().map(|hit| hit.item.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), limit.min(30));
    }
}

fn folded(store: &dyn Store) {
    let text = "the walrus sleeps";
    let mut ids = add(store, ["a", "b", "c"].map(|uid| item(uid, text)));
    let elsewhere = Item {
        project: "another".into(),
        ..item("d", text)
    };
    add(store, [elsewhere, item("e", "the walrus eats")]);
    let hits = ok(store.search(&Query::parse("walrus"), &Filter::default(), 10));
    assert_eq!(hits.len(), 3);
    let told = hits.iter().find(|hit| !hit.same.is_empty());
    let mut rows: Vec<i64> = told.iter().flat_map(|hit| hit.same.clone()).collect();
    rows.extend(told.map(|hit| hit.item.id));
    rows.sort_unstable();
    ids.sort_unstable();
    assert_eq!(rows, ids);
}

fn left_out(store: &dyn Store) {
    titles(
        store,
        &["walrus and octopus", "walrus alone", "out of the octopus"],
    );
    let found = |text: &str| {
        let asked = SearchInput::parse(text, |_| None).query;
        let mut uids: Vec<ItemUid> = ok(store.search(&asked, &Filter::default(), 9))
            .into_iter()
            .filter(|hit| hit.any_words)
            .map(|hit| hit.item.uid)
            .collect();
        uids.sort_unstable();
        uids
    };
    assert_eq!(found("walrus -octopus"), ["u1"]);
    assert_eq!(found("octopus -\"out of\""), ["u0"]);
}

fn crowded(store: &dyn Store) {
    let crowd = (0..600).map(|n| Item {
        project: "crowd".into(),
        ..item(&format!("c{n}"), "walrus in a crowd")
    });
    add(
        store,
        [Item {
            kind: Kind::Memory,
            ..item("mine", "walrus and octopus")
        }],
    );
    add(store, crowd);
    let filter = Filter {
        project: Some("project".into()),
        ..Filter::default()
    };
    assert_eq!(found_in(store, "walrus", &filter), ["mine"]);
    let filter = Filter {
        kinds: vec![Kind::Memory],
        ..Filter::default()
    };
    assert_eq!(found_in(store, "walrus crowd", &filter), ["mine"]);
    assert_eq!(found(store, "walrus octopus")[0], "mine");
}
