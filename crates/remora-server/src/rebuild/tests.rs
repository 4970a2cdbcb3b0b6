//! What a rebuild must not lose, double or bring back.

use remora_core::record::{
    FileFingerprint, FileRecord, Injection, InjectionUse, Item, Kind, LoggedEvent,
};
use remora_core::request::ENVELOPE_VERSION;
use remora_memory::store::{Batch, EventKey, Filter, ItemWrite, PageRequest, SortOrder};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const DAY: i64 = 86_400_000;

struct Home {
    paths: DataPaths,
    _folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(folder.path());
        paths.prepare_data_dir().unwrap();
        Self {
            paths,
            _folder: folder,
        }
    }

    fn archive(&self, events: &[Value], now: i64) {
        let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
        let lines = lines.join("\n") + "\n";
        let mut archive = Archive::new(self.paths.archive_dir());
        archive.append(lines.as_bytes(), now).unwrap();
    }

    fn rebuild(&self) -> RebuildStats {
        rebuild_database(&self.paths, &CapturePolicy::default(), &mut |_| {}).unwrap()
    }

    fn write(&self, batch: &Batch) {
        let store = crate::open_database(&self.paths.database_file(), Access::Write).unwrap();
        store.apply(batch).unwrap();
    }

    fn read(&self) -> SqliteStore {
        crate::open_database(&self.paths.database_file(), Access::Read).unwrap()
    }

    fn items(&self) -> Vec<Item> {
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit: 1000,
        };
        self.read().list_items(&Filter::default(), page).unwrap()
    }
}

#[test]
fn the_word_index_is_in_one_piece() {
    let home = Home::new();
    for n in 1..=9 {
        home.archive(&[prompt(n, "Retry four times, please.")], n);
    }
    home.rebuild();
    assert_eq!(home.items().len(), 9);
    assert_eq!(home.read().count_segments().unwrap(), 1);
}

/// A prompt as it stands in the archive; `n` makes its id and its time.
fn prompt(n: i64, text: &str) -> Value {
    json!({
        "envelope": {
            "v": ENVELOPE_VERSION, "id": format!("00000000-0000-7000-8000-{n:012}"),
            "agent": "claude-code", "at": n * 1000, "len": 1,
            "project": {"key": "p", "name": "p", "root": "/p"},
        },
        "event": {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/p", "prompt": text},
    })
}

fn titles(items: &[Item]) -> Vec<(i64, &str, Option<u32>)> {
    items
        .iter()
        .filter(|item| item.kind == Kind::Prompt)
        .map(|item| (item.id, item.text.as_str(), item.prompt))
        .collect()
}

#[test]
fn an_event_that_was_archived_twice_counts_once() {
    let home = Home::new();
    let one = prompt(1, "draw a map of the harbour");
    home.archive(&[one.clone(), one.clone()], 0);
    home.archive(&[one, prompt(2, "and one of the canal")], DAY);
    assert_eq!(home.rebuild().events, 2);
    let items = home.items();
    let told: Vec<&str> = titles(&items)
        .into_iter()
        .map(|(_, text, _)| text)
        .collect();
    assert_eq!(told, ["draw a map of the harbour", "and one of the canal"]);
}

#[test]
fn what_is_no_longer_in_the_archive_stays_with_its_number() {
    let home = Home::new();
    home.archive(&[prompt(1, "draw a map of the harbour")], 0);
    home.archive(&[prompt(2, "and one of the canal")], DAY);
    home.rebuild();
    let before = home.items();
    let session = home.read().list_sessions(&Filter::default(), 9).unwrap();
    let oldest = &Archive::new(home.paths.archive_dir()).list_files().unwrap()[0];
    fs::remove_file(oldest).unwrap();
    let rebuilt = home.rebuild();
    assert_eq!((rebuilt.events, rebuilt.carried > 0), (1, true));
    assert_eq!(titles(&home.items()), titles(&before));
    assert_eq!(
        home.read().list_sessions(&Filter::default(), 9).unwrap(),
        session
    );
    assert_eq!(rebuilt.before.items, rebuilt.after.items);
}

#[test]
fn skipped_events_stay_known_and_imports_stay() {
    let home = Home::new();
    home.archive(&[prompt(1, "draw a map of the harbour")], 0);
    home.rebuild();
    let imported = Item {
        uid: "import:1".into(),
        id: 0,
        kind: Kind::Message,
        title: "from elsewhere".to_owned(),
        ..home.items()[0].clone()
    };
    let skipped = LoggedEvent {
        id: "skipped".to_owned(),
        call: Some("s PreToolUse t1".to_owned()),
        name: "PreToolUse".to_owned(),
        session: "s".into(),
        time: 500,
        label: "Bash".to_owned(),
    };
    home.write(&Batch {
        events: vec![skipped],
        items: vec![ItemWrite::Add(imported)],
        ..Batch::default()
    });
    let before = home.items();
    home.rebuild();
    assert_eq!(home.items(), before);
    let keys = [
        EventKey {
            id: "skipped",
            call: None,
        },
        EventKey {
            id: "other",
            call: Some("s PreToolUse t1"),
        },
    ];
    assert_eq!(home.read().are_known(&keys).unwrap(), [true, true]);
}

#[test]
fn a_preview_and_a_failing_renewal_leave_everything_as_it_was() {
    let home = Home::new();
    home.archive(&[prompt(1, "draw a map of the harbour")], 0);
    home.rebuild();
    let bytes = fs::read(home.paths.database_file()).unwrap();
    home.archive(&[prompt(2, "and one of the canal")], 0);
    let preview =
        RebuildStats::preview_rebuild(&home.paths, &CapturePolicy::default(), &mut |_| {}).unwrap();
    assert_eq!((preview.before.events, preview.after.events), (1, 2));
    let failed = RebuildStats::renew_database(&home.paths, |_, _| {
        Err::<(), _>(ServerError::File {
            path: "x".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        })
    });
    assert!(failed.is_err());
    assert_eq!(fs::read(home.paths.database_file()).unwrap(), bytes);
    let mut names: Vec<String> = fs::read_dir(home.paths.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("rebuild"))
        .collect();
    names.sort();
    assert_eq!(names, Vec::<String>::new());
}

#[test]
fn what_stands_in_the_old_journal_is_not_lost() {
    let home = Home::new();
    home.archive(&[prompt(1, "draw a map of the harbour")], 0);
    home.rebuild();
    // A writer that was killed leaves its journal: a copy of both files, made
    // while one is at work, is just that.
    let store = crate::open_database(&home.paths.database_file(), Access::Write).unwrap();
    let late = Item {
        uid: "late".into(),
        id: 0,
        ..home.items()[0].clone()
    };
    let batch = Batch {
        items: vec![ItemWrite::Add(late)],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    let other = Home::new();
    for end in ["", "-wal"] {
        let from = with_suffix(&home.paths.database_file(), end);
        fs::copy(&from, with_suffix(&other.paths.database_file(), end)).unwrap();
    }
    drop(store);
    other.archive(&[prompt(1, "draw a map of the harbour")], 0);
    other.rebuild();
    let items = other.items();
    assert!(items.iter().any(|item| item.uid == "late"), "{items:#?}");
    assert_eq!(
        other.read().check_integrity().unwrap(),
        Vec::<String>::new()
    );
}

/// A read of a file, as it stands in the archive.
fn read_of(root: &Path, n: i64, at: i64, name: &str) -> Value {
    let file = root.join(name);
    json!({
        "envelope": {
            "v": ENVELOPE_VERSION, "id": format!("00000000-0000-7000-8000-{n:012}"),
            "agent": "claude-code", "at": at, "len": 1,
            "project": {"key": "p", "name": "p", "root": root},
        },
        "event": {
            "hook_event_name": "PostToolUse", "session_id": "s", "cwd": root,
            "tool_name": "Read", "tool_use_id": format!("t{n}"),
            "tool_input": {"file_path": file},
            "tool_response": {"type": "text", "file": {
                "filePath": file, "content": "fn one() {}", "numLines": 1, "startLine": 1, "totalLines": 1,
            }},
        },
    })
}

#[test]
fn old_events_are_not_anchored_on_what_files_hold_today() {
    let home = Home::new();
    let root = home.paths.home().join("work");
    fs::create_dir_all(&root).unwrap();
    let told = 1_700_000_000_000;
    for (name, written) in [("still.rs", told - 1000), ("since.rs", told + 60_000)] {
        let file = fs::File::create(root.join(name)).unwrap();
        let written = std::time::Duration::from_millis(u64::try_from(written).unwrap());
        file.set_modified(std::time::UNIX_EPOCH + written).unwrap();
    }
    let events = ["still.rs", "since.rs", "gone.rs"];
    let events: Vec<Value> = (1..)
        .zip(events)
        .map(|(n, name)| read_of(&root, n, told, name))
        .collect();
    home.archive(&events, 0);
    home.rebuild();
    let anchors = || -> Vec<(String, Option<i64>)> {
        let files = home.read().list_files("p", None).unwrap();
        let since = |file: FileRecord| (file.name, file.anchor.map(|anchor| anchor.since));
        files.into_iter().map(since).collect()
    };
    let of = |name: &str, since: Option<i64>| (name.to_owned(), since);
    assert_eq!(
        anchors(),
        [
            of("gone.rs", None),
            of("since.rs", None),
            of("still.rs", Some(told - 1000))
        ]
    );
    // What was seen at the time is kept by the next one.
    let mut since = home.read().find_file("p", "", "since.rs").unwrap().unwrap();
    since.anchor = Some(FileFingerprint {
        size: 11,
        modified: 5_000_000,
        hash: 7,
        since: 5,
    });
    home.write(&Batch {
        files: vec![since],
        ..Batch::default()
    });
    home.rebuild();
    assert_eq!(anchors()[1], of("since.rs", Some(5)));
    assert_eq!(anchors()[2], of("still.rs", Some(told - 1000)));
}

#[test]
fn what_was_given_stays_with_its_uses() {
    let home = Home::new();
    home.archive(&[prompt(1, "draw a map of the harbour")], 0);
    home.rebuild();
    let given: Vec<Injection> = (0..4)
        .map(|line| Injection {
            session: "s".into(),
            line,
            item: format!("#{line}"),
            subagent: None,
            trigger: "prompt".to_owned(),
            why: "words".to_owned(),
            tokens: 7,
            time: 5,
            used: (line == 2).then(|| InjectionUse {
                how: "fetched".to_owned(),
                time: 9,
            }),
        })
        .collect();
    home.write(&Batch {
        injections: given.clone(),
        ..Batch::default()
    });
    home.rebuild();
    assert_eq!(
        home.read().list_injections(&Filter::default(), 99).unwrap(),
        given
    );
}

/// Panics at a batch with the word `poison` in it.
fn poisoned(batch: &Batch) {
    assert!(!format!("{batch:?}").contains("poison"), "the store panics");
}

#[test]
fn an_event_that_panics_is_left_out_and_named_and_keeps_what_was_known() {
    let home = Home::new();
    let told = |n: i64| match n {
        4 => "Drink the poison, please.",
        _ => "Retry four times, please.",
    };
    let events: Vec<Value> = (1..=9).map(|n| prompt(n, told(n))).collect();
    home.archive(&events, 1);
    home.rebuild();
    assert_eq!(home.items().len(), 9);
    let old = home.read();
    let new = home.paths.home().join("new.db");
    let new = crate::open_database(&new, Access::Write).unwrap();
    let store = remora_memory::testing::FaultyStore::new(Box::new(new), poisoned);
    let policy = CapturePolicy::default();
    let mut building = DatabaseBuilder::new(Some(&old), &store, &policy, &home.paths).unwrap();
    for file in Archive::new(home.paths.archive_dir()).list_files().unwrap() {
        archive::read_events(&file, |event| building.add_event(event).unwrap()).unwrap();
    }
    building.store_waiting().unwrap();
    let RebuildStats {
        events, left_out, ..
    } = &building.result;
    assert_eq!(*events, 8);
    let named: Vec<&str> = left_out.iter().map(|left| left.id.as_str()).collect();
    assert_eq!(named, ["00000000-0000-7000-8000-000000000004"]);
    assert!(
        left_out[0].reason.starts_with("panicked at "),
        "{left_out:?}"
    );
    let stored = store
        .list_items(&Filter::default(), PageRequest::newest(100))
        .unwrap();
    assert_eq!(stored.len(), 8);
}
