//! Git, real and in disguise, asked on a thread.

use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use remora_client::changed_files;

use super::*;

const NOW: i64 = 1_794_700_000_000;

struct Place {
    dir: tempfile::TempDir,
    paths: DataPaths,
    watch: GitStatusWatcher,
    ticks: Receiver<Tick>,
}

impl Place {
    fn new(git: Git) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        let (done, ticks) = channel();
        let watch = GitStatusWatcher::new(paths.clone(), || NOW, git, done);
        Self {
            dir,
            paths,
            watch,
            ticks,
        }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("app")
    }

    /// A repository with a commit.
    fn repository(&self) -> PathBuf {
        let root = self.root();
        fs::create_dir(&root).unwrap();
        self.shell(
            "git init -q -b main . && git config user.name a && git config user.email a@b.c && \
             mkdir src && echo 1 > src/a.rs && echo 1 > 'b c.rs' && echo out > .gitignore && \
             git add . && git commit -q -m first",
        );
        root
    }

    fn shell(&self, line: &str) {
        let done = Command::new("/bin/sh")
            .args(["-ec", line])
            .current_dir(self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(done.unwrap().success(), "{line}");
    }

    /// A program that stands in for git.
    fn disguise(&self, lines: &str) -> PathBuf {
        let file = self.dir.path().join("git.sh");
        let made = Command::new("/bin/sh")
            .args([
                "-ec",
                "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\"; chmod 755 \"$2\"",
                "sh",
            ])
            .arg(lines)
            .arg(&file)
            .status();
        assert!(made.unwrap().success());
        file
    }

    fn ask(&mut self) {
        let root = self.root();
        self.watch.asked.clear();
        self.watch.queue_root(root);
        self.watch.run_step();
        assert!(matches!(self.ticks.recv(), Ok(Tick::Asked)));
        self.watch.join_thread();
    }
}

/// Patient enough for a machine that is busy.
fn patient() -> Git {
    Git::default().with_limit(Duration::from_secs(50))
}

#[test]
fn what_changed_is_written_down_for_hooks() {
    let mut place = Place::new(patient());
    let root = place.repository();
    place.ask();
    assert_eq!(changed_files(&place.paths, &root), Vec::<String>::new());
    place.shell("echo 2 > src/a.rs; git mv 'b c.rs' d.rs; mkdir new; echo > new/e.rs; echo > out");
    place.ask();
    let mut changed = changed_files(&place.paths, &root);
    changed.sort();
    assert_eq!(changed, ["b c.rs", "d.rs", "new/e.rs", "src/a.rs"]);
    let state = GitStatusCache::read(&place.paths, &root).unwrap();
    assert_eq!((state.branch.as_deref(), state.time), (Some("main"), NOW));
    assert_eq!(state.head.map(|head| head.len()), Some(40));
    let left = fs::read_dir(GitStatusCache::cache_dir(&place.paths)).unwrap();
    assert_eq!(left.count(), 1, "no draft is left");
}

#[test]
fn a_place_that_git_does_not_know_has_no_file() {
    let mut place = Place::new(patient());
    let root = place.repository();
    place.ask();
    assert!(GitStatusCache::read(&place.paths, &root).is_some());
    place.shell("rm -r .git && mkdir .git");
    place.ask();
    assert!(!GitStatusCache::cache_file(&place.paths, &root).exists());
    place.shell("rmdir .git");
    place.watch.asked.clear();
    place.watch.queue_root(root);
    assert_eq!(place.watch.wait(), None, "it is not asked about");
}

#[test]
fn a_damaged_repository_is_not_answered_for_by_one_above_it() {
    let mut place = Place::new(patient());
    let root = place.repository();
    place.shell("cd .. && git init -q . && rm -r app/.git && mkdir app/.git");
    place.ask();
    assert_eq!(GitStatusCache::read(&place.paths, &root), None);
}

#[test]
fn no_program_is_run_that_the_repository_names() {
    let mut place = Place::new(patient());
    let root = place.repository();
    let trap = place.disguise("touch \"$(dirname \"$0\")/sprung\"");
    let trap = trap.display();
    place.shell(&format!(
        "git config core.fsmonitor '{trap}'; git config diff.external '{trap}'; \
         git config core.pager '{trap}'; mkdir hooks; cp '{trap}' hooks/post-index-change; \
         git config core.hooksPath hooks; git config filter.x.clean '{trap}'; \
         mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; \
         touch -d '2001-01-01' src/a.rs; echo 2 > 'b c.rs'"
    ));
    place.ask();
    let mut changed = changed_files(&place.paths, &root);
    changed.sort();
    assert_eq!(changed, ["b c.rs", "hooks/post-index-change"]);
    assert!(!place.dir.path().join("sprung").exists());
    assert!(!root.join("hooks/sprung").exists());
}

#[test]
fn the_same_checkout_is_not_asked_about_all_the_time() {
    let mut place = Place::new(patient());
    let root = place.repository();
    place.ask();
    place.watch.queue_root(root.clone());
    place.watch.queue_root(root);
    place.watch.run_step();
    assert!(place.watch.busy.is_none());
    assert_eq!(place.watch.waiting.len(), 1, "but it is not forgotten");
    assert!(
        place
            .watch
            .wait()
            .is_some_and(|wait| wait > MIN_STATUS_INTERVAL / 2)
    );
}

#[test]
fn a_git_that_hangs_is_ended_with_all_that_it_started() {
    let mut place = Place::new(Git::default().with_limit(Duration::from_millis(100)));
    let root = place.repository();
    let file = GitStatusCache::cache_file(&place.paths, &root);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "as it was").unwrap();
    place.watch.git.program = Some(place.disguise("sleep 600 & echo $$ $! > pids; wait"));
    place.ask();
    assert_eq!(fs::read_to_string(&file).unwrap(), "as it was");
    let pids = fs::read_to_string(root.join("pids"));
    // On a busy machine it may be ended before it has said who it is.
    for pid in pids.unwrap_or_default().split_whitespace() {
        // What was killed may take a moment to go.
        let end = Instant::now() + Duration::from_secs(50);
        while lives(pid) {
            assert!(Instant::now() < end, "{pid} lives");
            thread::yield_now();
        }
    }
}

fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|s| s.trim().chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

#[test]
fn a_worker_that_ends_takes_its_git_along() {
    let mut place = Place::new(patient());
    let root = place.repository();
    place.watch.git.program = Some(place.disguise("exec sleep 600"));
    place.watch.queue_root(root);
    place.watch.run_step();
    let Place { watch, ticks, .. } = place;
    drop(watch);
    assert!(
        matches!(ticks.recv(), Ok(Tick::Asked)),
        "its thread is done"
    );
}

#[test]
fn what_nobody_asked_about_for_a_month_goes() {
    let place = Place::new(patient());
    let folder = GitStatusCache::cache_dir(&place.paths);
    fs::create_dir_all(&folder).unwrap();
    for (name, days) in [("old.json", 31), ("new.json", 29)] {
        let file = fs::File::create(folder.join(name)).unwrap();
        let age = Duration::from_hours(24 * days);
        file.set_modified(to_system_time(NOW) - age).unwrap();
    }
    place.watch.remove_stale();
    let left = fs::read_dir(&folder).unwrap();
    let left: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["new.json"]);
}
