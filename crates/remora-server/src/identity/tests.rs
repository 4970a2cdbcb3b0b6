//! Who holds a key that no list names yet, and who claims it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use remora_core::record::Project;
use remora_memory::store::Batch;

use super::*;

const KEY: &str = "h.org/acme/app";

struct Disk {
    _dir: tempfile::TempDir,
    top: PathBuf,
    paths: DataPaths,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let paths = DataPaths::new(top.join("data"));
        for name in ["one", "two"] {
            let git = top.join(name).join(".git");
            fs::create_dir_all(&git).unwrap();
            let config = "[remote \"origin\"]\nurl = git@h.org:acme/app.git\n";
            fs::write(git.join("config"), config).unwrap();
        }
        Self {
            _dir: dir,
            top,
            paths,
        }
    }

    /// A database that has seen the key with this root.
    fn seen(&self, root: &str) {
        self.paths.prepare_data_dir().unwrap();
        let store = crate::open_database(&self.paths.database_file(), Access::Write).unwrap();
        let project = Project {
            key: KEY.into(),
            name: "app".to_owned(),
            root: self.top.join(root).display().to_string(),
        };
        let projects = vec![project];
        let batch = Batch {
            projects,
            ..Batch::default()
        };
        store.apply(&batch).unwrap();
    }

    fn claim(&self, name: &str) -> String {
        let location = locate_project(&self.paths, &self.top.join(name), None);
        let until = Instant::now() + Duration::from_mins(1);
        self.short(&claim_project(&self.paths, location, until))
    }

    fn look(&self, name: &str) -> String {
        self.short(&look_up_project(&self.paths, &self.top.join(name), None))
    }

    fn short(&self, location: &ProjectLocation) -> String {
        let key = Path::new(location.project.key.as_str());
        let key = key.strip_prefix(&self.top).unwrap_or(key);
        key.display().to_string()
    }
}

#[test]
fn looking_claims_nothing_and_the_first_event_does() {
    let disk = Disk::new();
    assert_eq!(
        (disk.look("one"), disk.look("two")),
        (KEY.into(), KEY.into())
    );
    assert!(!disk.paths.roots_dir().exists());
    assert_eq!(
        (disk.claim("one"), disk.claim("two")),
        (KEY.into(), "two".into())
    );
    assert_eq!(
        (disk.look("one"), disk.look("two")),
        (KEY.into(), "two".into())
    );
}

#[test]
fn a_database_from_before_says_who_holds_a_key() {
    let disk = Disk::new();
    disk.seen("one");
    assert_eq!(
        (disk.look("two"), disk.look("one")),
        ("two".into(), KEY.into())
    );
    assert_eq!(
        (disk.claim("two"), disk.claim("one")),
        ("two".into(), KEY.into())
    );
}

#[test]
fn a_checkout_that_was_moved_waits_for_its_user() {
    let disk = Disk::new();
    disk.seen("gone");
    assert_eq!(
        (disk.look("one"), disk.claim("one")),
        ("one".into(), "one".into())
    );
}

#[test]
fn without_the_database_nothing_is_claimed_and_nothing_shared() {
    let disk = Disk::new();
    disk.paths.prepare_data_dir().unwrap();
    fs::write(
        disk.paths.database_file(),
        "not a database, but long enough to be read as one",
    )
    .unwrap();
    assert_eq!(
        (disk.look("one"), disk.claim("one")),
        ("one".into(), "one".into())
    );
    assert!(!disk.paths.roots_dir().exists());
}
