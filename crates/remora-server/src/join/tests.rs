//! Everything of an old key is found under the new one, and stays there when
//! events of before are read again.

use remora_store::{Access, SqliteStore};
use serde_json::json;

use super::*;

const OLD: &str = "/w/app";
const NEW: &str = "h.org/acme/app";

fn project(key: &str) -> Project {
    Project {
        key: key.into(),
        name: "app".to_owned(),
        root: OLD.to_owned(),
    }
}

fn item(uid: &str, project: &str, key: Option<&str>, last_time: i64) -> Item {
    let value = json!({
        "id": 0, "uid": uid, "kind": "decision", "title": uid, "text": uid, "time": 1,
        "last_time": last_time, "seen": 1, "project": project, "session": "s", "agent": "a",
    });
    Item {
        key: key.map(ToOwned::to_owned),
        ..serde_json::from_value(value).unwrap()
    }
}

fn opened(paths: &DataPaths) -> SqliteStore {
    paths.prepare_data_dir().unwrap();
    let store = crate::open_database(&paths.database_file(), Access::Write).unwrap();
    let add = |item| ItemWrite::Add(item);
    let batch = Batch {
        projects: vec![project(OLD), project(NEW)],
        sessions: vec![Session {
            id: "s".into(),
            agent: "a".into(),
            project: OLD.into(),
            cwd: OLD.to_owned(),
            branch: None,
            started: 1,
            last: 2,
            end_reason: None,
            prompts: 1,
            title: String::new(),
        }],
        items: vec![
            add(item("one", OLD, None, 1)),
            add(item("older", OLD, Some("k"), 1)),
            add(item("newer", NEW, Some("k"), 2)),
            add(item("two", NEW, None, 1)),
        ],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    store
}

fn titles(store: &dyn Store, key: &str) -> Vec<String> {
    let items = store
        .list_items(&filter_for_project(key), PageRequest::newest(9))
        .unwrap();
    let mut titles: Vec<String> = items.into_iter().map(|item| item.title).collect();
    titles.sort();
    titles
}

#[test]
fn what_was_kept_under_the_old_key_is_found_under_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let paths = DataPaths::new(dir.path().join("data"));
    let store = opened(&paths);
    let earlier = list_earlier_projects(&store, &project(NEW)).unwrap();
    assert_eq!(earlier, [project(OLD)]);
    let would = preview_join(&store, OLD).unwrap();
    assert_eq!((would.rows, would.sessions), (2, 1));
    join_projects(&store, &paths, OLD, &project(NEW), 10).unwrap();
    assert_eq!(titles(&store, NEW), ["newer", "one", "two"]);
    assert!(titles(&store, OLD).is_empty());
    assert_eq!(
        store
            .list_sessions(&filter_for_project(NEW), 9)
            .unwrap()
            .len(),
        1
    );
    let saved = Item {
        kind: Kind::Memory,
        ..item("saved", OLD, Some("memory://project/saved"), 1)
    };
    let batch = Batch {
        items: vec![ItemWrite::Put(saved)],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    assert!(
        super::list_earlier_projects(&store, &project(NEW))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn events_from_before_a_join_follow_it() {
    let dir = tempfile::tempdir().unwrap();
    let paths = DataPaths::new(dir.path().join("data"));
    let store = opened(&paths);
    join_projects(&store, &paths, OLD, &project(NEW), 10).unwrap();
    let last = project("h.org/acme/renamed");
    join_projects(&store, &paths, NEW, &last, 20).unwrap();
    let joins = ProjectJoins::load_joins(&paths).unwrap();
    let key = |key: &str, time: i64| {
        let mut project = project(key);
        joins.apply_to_project(&mut project, time);
        project.key
    };
    assert_eq!(key(OLD, 5), "h.org/acme/renamed");
    assert_eq!(key(NEW, 15), "h.org/acme/renamed");
    assert_eq!(key(OLD, 15), OLD, "it has come back since");
    assert_eq!(key("/w/other", 5), "/w/other");
}

#[test]
fn what_users_said_goes_along_and_tombstones_hold_what_comes() {
    let dir = tempfile::tempdir().unwrap();
    let paths = DataPaths::new(dir.path().join("data"));
    let store = opened(&paths);
    let said = |uid: &str, project: &str, statement: &str| Override {
        uid: uid.into(),
        project: project.into(),
        statement: statement.to_owned(),
        pinned: Some(3),
        rejected: None,
        edit: None,
    };
    let rejected = Override {
        rejected: Some(remora_core::record::Rejection::default()),
        // The claim that the old key has, too.
        ..said("two", NEW, "one")
    };
    let batch = Batch {
        overrides: vec![said("older", OLD, "older"), rejected.clone()],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    join_projects(&store, &paths, OLD, &project(NEW), 10).unwrap();
    assert!(titles(&store, OLD).is_empty());
    assert_eq!(titles(&store, NEW), ["newer", "two"]);
    let all = [said("older", NEW, "older"), rejected];
    assert_eq!(store.list_overrides(Some(NEW)).unwrap(), all);
    assert_eq!(crate::overrides::load_overrides(&paths).unwrap(), all);
}
