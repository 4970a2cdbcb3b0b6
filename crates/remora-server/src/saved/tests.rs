//! Rows follow what a port says, in a real store.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use remora_core::detail::{DetailList, DetailNumber, DetailText};
use remora_core::record::Session;
use remora_store::{Access, SqliteStore};
use serde_json::json;

use super::*;

/// Memories that a test changes; by project, "" for everywhere.
#[derive(Debug, Default)]
struct Desk {
    lists: Mutex<HashMap<String, SavedMemoryList>>,
    reads: Mutex<Vec<String>>,
    unknown: Mutex<bool>,
}

impl Desk {
    fn put(&self, project: &str, memories: Vec<SavedMemory>) {
        let list = SavedMemoryList {
            memories,
            warnings: Vec::new(),
        };
        self.lists.lock().unwrap().insert(project.to_owned(), list);
    }

    fn reads(&self) -> Vec<String> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

fn key(project: Option<&Project>) -> String {
    project.map_or_else(String::new, |p| p.key.to_string())
}

impl SavedMemories for Desk {
    fn change_stamp(&self, project: Option<&Project>) -> u64 {
        let list = self.lists.lock().unwrap().get(&key(project)).cloned();
        stable(&format!("{list:?}"))
    }

    fn read_memories(&self, project: Option<&Project>) -> Option<SavedMemoryList> {
        self.reads.lock().unwrap().push(key(project));
        if *self.unknown.lock().unwrap() {
            return None;
        }
        let lists = self.lists.lock().unwrap();
        Some(lists.get(&key(project)).cloned().unwrap_or_default())
    }

    fn check_memories(&self, project: &Project) {
        let mut lists = self.lists.lock().unwrap();
        for memory in &mut lists.get_mut(project.key.as_str()).unwrap().memories {
            let gone = ["src/a.rs is gone"];
            memory.detail.set_list(DetailList::Doubts, gone);
        }
    }
}

fn stable(text: &str) -> u64 {
    remora_core::hash::stable_hash(text.as_bytes())
}

fn memory(uri: &str, text: &str) -> SavedMemory {
    SavedMemory {
        uri: uri.to_owned(),
        title: format!("{}:\n {text}", uri.rsplit('/').next().unwrap()),
        text: text.to_owned(),
        files: vec!["src/a.rs".to_owned()],
        time: 1_000,
        speaker: None,
        detail: json!({ "scope": "project", "priority": 2, "path": "/m/x.md" }).into(),
    }
}

struct Place {
    dir: tempfile::TempDir,
    store: SqliteStore,
    paths: DataPaths,
    desk: Arc<Desk>,
    saved: SavedMemoryIndex,
    ticks: std::sync::mpsc::Receiver<Tick>,
}

const NOW: i64 = 1_794_700_000_000;

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        let store = crate::open_database(&paths.database_file(), Access::Write).unwrap();
        let desk = Arc::new(Desk::default());
        let (done, ticks) = channel();
        let rules = RedactionRules::default();
        let saved = SavedMemoryIndex::new(Some(desk.clone()), rules, done);
        Self {
            dir,
            store,
            paths,
            desk,
            saved,
            ticks,
        }
    }

    fn project(&self, key: &str) -> Project {
        let root = self.dir.path().join(key);
        std::fs::create_dir_all(&root).unwrap();
        Project {
            key: key.into(),
            name: key.to_owned(),
            root: root.display().to_string(),
        }
    }

    /// A project with a session that was last used then.
    fn session(&self, key: &str, last: i64) {
        let batch = Batch {
            projects: vec![self.project(key)],
            sessions: vec![Session {
                id: format!("s-{key}").into(),
                agent: "a".into(),
                project: key.into(),
                cwd: "/".to_owned(),
                branch: None,
                started: last,
                last,
                end_reason: None,
                prompts: 0,
                title: String::new(),
            }],
            ..Batch::default()
        };
        self.store.apply(&batch).unwrap();
    }

    fn refresh(&mut self, reach: RefreshScope, used: usize) -> RefreshResult {
        self.saved
            .refresh_items(&self.store, &self.paths, NOW, reach, used)
            .unwrap()
    }

    fn keys(&self, project: &str) -> Vec<String> {
        let rows = list_saved_items(&self.store, project).unwrap();
        rows.into_iter().filter_map(|row| row.key).collect()
    }
}

#[test]
fn rows_come_change_and_go_with_what_is_saved() {
    let mut place = Place::new();
    place.session("app", NOW);
    let (one, two) = (
        memory("memory://project/one", "first words"),
        memory("memory://team/two", "other words"),
    );
    place.desk.put("app", vec![one.clone(), two.clone()]);
    place.desk.put("", vec![memory("memory://user/me", "mine")]);
    assert!(place.refresh(RefreshScope::Due, 0).wrote);
    assert_eq!(
        place.keys("app"),
        ["memory://project/one", "memory://team/two"]
    );
    assert_eq!(place.keys(""), ["memory://user/me"]);
    let before = list_saved_items(&place.store, "app").unwrap();
    assert_eq!(before[0].title, "one: first words");
    assert_eq!(before[0].text, "first words");
    assert_eq!(before[0].files_read, ["src/a.rs"]);
    assert_eq!(before[0].detail_count(DetailNumber::Priority), Some(2));
    assert!(before[0].digest_tokens > 0);

    let changed = memory("memory://project/one", "new words");
    place.desk.put("app", vec![changed]);
    place.desk.reads();
    assert!(place.refresh(RefreshScope::All, 0).wrote);
    assert_eq!(place.desk.reads(), ["app"], "everywhere is as it was");
    let after = list_saved_items(&place.store, "app").unwrap();
    assert_eq!(
        (after.len(), after[0].id, after[0].uid.clone()),
        (1, before[0].id, before[0].uid.clone())
    );
    assert_eq!(after[0].text, "new words");
    assert!(!place.refresh(RefreshScope::All, 0).wrote);
    assert!(place.desk.reads().is_empty());
}

#[test]
fn the_same_name_in_two_projects_is_two_rows() {
    let mut place = Place::new();
    place.session("a", NOW);
    place.session("b", NOW);
    for key in ["a", "b"] {
        place
            .desk
            .put(key, vec![memory("memory://project/one", key)]);
    }
    place.refresh(RefreshScope::All, 0);
    let uid = |key| list_saved_items(&place.store, key).unwrap()[0].uid.clone();
    assert_ne!(uid("a"), uid("b"));
}

#[test]
fn only_recent_projects_and_those_that_are_used_are_looked_at() {
    let mut place = Place::new();
    place.session("old", NOW - MAX_PROJECT_AGE_MS - 1);
    place.session("new", NOW - MAX_PROJECT_AGE_MS + 1);
    place.refresh(RefreshScope::Due, 0);
    assert_eq!(place.desk.reads(), ["new", ""]);
    let old = place.project("old");
    place.saved.mark_used(&old, TurnBoundary::None);
    place
        .desk
        .put("old", vec![memory("memory://project/x", "x")]);
    place
        .desk
        .put("new", vec![memory("memory://project/y", "y")]);
    place.refresh(RefreshScope::Due, 1);
    assert_eq!(place.desk.reads(), ["old"], "the other waits for a look");
    place.refresh(RefreshScope::All, 0);
    assert_eq!(place.desk.reads(), ["new"]);
}

#[test]
fn a_note_brings_in_a_project_that_no_session_was_in() {
    let mut place = Place::new();
    place.refresh(RefreshScope::All, 0);
    let project = place.project("quiet");
    place
        .desk
        .put("quiet", vec![memory("memory://project/x", "x")]);
    write_hint(&place.paths, &project).unwrap();
    place.refresh(RefreshScope::All, 0);
    assert_eq!(place.keys("quiet"), ["memory://project/x"]);
    assert_eq!(place.store.list_projects().unwrap(), [project]);
    assert!(hint::drain_hints(&place.paths).is_empty());
    let broken = place.paths.run_dir().join("saved/0.json");
    std::fs::write(&broken, "{").unwrap();
    assert!(hint::drain_hints(&place.paths).is_empty());
    assert!(!broken.exists());
}

#[test]
fn what_cannot_be_told_and_what_is_not_there_stays() {
    let mut place = Place::new();
    place.session("app", NOW);
    place
        .desk
        .put("app", vec![memory("memory://project/x", "x")]);
    place.refresh(RefreshScope::All, 0);
    *place.desk.unknown.lock().unwrap() = true;
    place.desk.put("app", Vec::new());
    place.refresh(RefreshScope::All, 0);
    assert_eq!(place.keys("app"), ["memory://project/x"]);
    *place.desk.unknown.lock().unwrap() = false;
    std::fs::remove_dir(place.dir.path().join("app")).unwrap();
    place.saved.reset_cache();
    place.refresh(RefreshScope::All, 0);
    assert_eq!(place.keys("app"), ["memory://project/x"]);
    place.project("app");
    place.refresh(RefreshScope::All, 0);
    assert!(place.keys("app").is_empty());
}

#[test]
fn what_the_team_saved_in_another_checkout_stays_while_its_file_does() {
    let mut place = Place::new();
    let main = place.project("app");
    let file = place.dir.path().join("app/reviews.md");
    std::fs::write(&file, "two").unwrap();
    let mut team = memory("memory://team/reviews", "two");
    team.detail
        .set_text(DetailText::Path, file.to_str().unwrap());
    place.session("app", NOW);
    place.desk.put("app", vec![team]);
    place.refresh(RefreshScope::All, 0);
    let tree = Project {
        root: place.project("tree").root,
        ..main.clone()
    };
    place.desk.put("app", Vec::new());
    place.saved.mark_used(&tree, TurnBoundary::Turn);
    place.refresh(RefreshScope::Due, 1);
    assert_eq!(place.keys("app"), ["memory://team/reviews"]);
    place.saved.mark_used(&main, TurnBoundary::Turn);
    place.refresh(RefreshScope::Due, 1);
    assert!(place.keys("app").is_empty(), "its own checkout lacks it");
}

#[test]
fn rows_of_others_are_left_alone() {
    let mut place = Place::new();
    place.session("app", NOW);
    let mut note = row::item_from_memory(
        memory("memory://project/x", "imported"),
        "app",
        &Redactor::new(&RedactionRules::default()).unwrap(),
    )
    .unwrap();
    note.uid = "elsewhere".into();
    note.key = Some("note 7".to_owned());
    let batch = Batch {
        items: vec![ItemWrite::Add(note)],
        ..Batch::default()
    };
    place.store.apply(&batch).unwrap();
    place.refresh(RefreshScope::All, 0);
    assert_eq!(place.keys("app"), ["note 7"]);
}

#[test]
fn a_new_store_is_filled_though_no_file_changed() {
    let mut place = Place::new();
    place.session("app", NOW);
    place
        .desk
        .put("app", vec![memory("memory://project/x", "x")]);
    place.refresh(RefreshScope::All, 0);
    let row = list_saved_items(&place.store, "app").unwrap().remove(0);
    place.store.remove(&[ItemRef::Id(row.id)]).unwrap();
    place.refresh(RefreshScope::All, 0);
    assert!(place.keys("app").is_empty(), "it is not looked for");
    place.saved.reset_cache();
    place.refresh(RefreshScope::Due, 0);
    assert_eq!(place.keys("app"), ["memory://project/x"]);
}

#[test]
fn secrets_private_words_and_denied_files_stay_out() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let rules = RedactionRules {
        deny_paths: vec!["**/secret/**".to_owned()],
        ..RedactionRules::default()
    };
    let redactor = Redactor::new(&rules).unwrap();
    let text = format!("{}{token} <private>mine</private>é", "é".repeat(8_000));
    let item =
        row::item_from_memory(memory("memory://project/x", &text), "app", &redactor).unwrap();
    assert!(!item.text.contains(&token) && !item.text.contains("mine"));
    assert!(item.text.len() <= 16 * 1024 && item.title.len() <= 300);
    let mut denied = memory("memory://project/x", "x");
    denied.detail.set_text(DetailText::Path, "/m/secret/x.md");
    assert_eq!(row::item_from_memory(denied, "app", &redactor), None);
    let strange = memory("elsewhere", "x");
    assert_eq!(row::item_from_memory(strange, "app", &redactor), None);
}

#[test]
fn a_check_waits_for_calm_and_its_doubts_are_told() {
    let mut place = Place::new();
    place.session("app", NOW);
    place
        .desk
        .put("app", vec![memory("memory://project/x", "x")]);
    place.refresh(RefreshScope::All, 0);
    assert!(place.saved.wait(Duration::ZERO).is_some());
    place.saved.rested = Instant::now();
    place.saved.start_check(Duration::ZERO);
    assert!(place.saved.checking.is_none(), "something just came");
    place.saved.start_check(IDLE_DELAY);
    assert!(matches!(place.ticks.recv(), Ok(Tick::Checked)));
    place.saved.finish_check();
    place.refresh(RefreshScope::All, 0);
    let rows = list_saved_items(&place.store, "app").unwrap();
    let doubts: Vec<&str> = rows[0].detail_list(DetailList::Doubts).collect();
    assert_eq!(doubts, ["src/a.rs is gone"]);
    let wait = place.saved.wait(IDLE_DELAY).unwrap();
    assert!(wait > CHECK_INTERVAL / 2, "{wait:?}");
}

#[test]
fn a_fault_is_told_once() {
    let mut place = Place::new();
    place.session("app", NOW);
    for text in ["x", "y"] {
        let list = SavedMemoryList {
            memories: vec![memory("memory://project/x", text)],
            warnings: vec!["b.md: is a directory".to_owned()],
        };
        let mut lists = place.desk.lists.lock().unwrap();
        lists.insert("app".to_owned(), list);
        drop(lists);
        let lines = place.refresh(RefreshScope::All, 0).lines;
        let told = if text == "x" {
            vec!["saved memories: b.md: is a directory".to_owned()]
        } else {
            Vec::new()
        };
        assert_eq!(lines, told);
    }
}
