//! Repositories that the tests make with git, harmless and hostile ones.

use std::fs;
use std::path::Path;
use std::process;
use std::time::{Duration, Instant};

use remora_memory::commit::reverted_by;
use remora_memory::store::ItemRef;
use remora_redact::RedactionRules;
use remora_store::{Access, SqliteStore};

use super::*;

/// Patient enough for a machine that is busy.
const PATIENT: Duration = Duration::from_secs(50);

fn shell(folder: &Path, line: &str) {
    let done = process::Command::new("/bin/sh")
        .args(["-ec", line])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "Ada Author")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Ada Author")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com")
        .status();
    assert!(done.unwrap().success(), "{line}");
}

struct Place {
    dir: tempfile::TempDir,
    store: SqliteStore,
    project: Project,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("app");
        fs::create_dir(&root).unwrap();
        shell(&root, "git init -q -b main .");
        let store = crate::open_database(&dir.path().join("remora.db"), Access::Write).unwrap();
        let root = root.display().to_string();
        let project = Project {
            key: "h.org/acme/app".into(),
            name: "app".to_owned(),
            root,
        };
        Self {
            dir,
            store,
            project,
        }
    }

    fn root(&self) -> &Path {
        Path::new(&self.project.root)
    }

    /// A commit that changes one file.
    fn commit(&self, file: &str, message: &str) {
        let root = self.root();
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, message).unwrap();
        fs::write(self.dir.path().join("message"), message).unwrap();
        shell(
            root,
            "git add -A . && git commit -q --cleanup=verbatim -F ../message",
        );
    }

    fn gather(&self, rules: &mut CommitRules, limits: CommitLimits) -> CommitScan {
        let git = Git::default().with_limit(PATIENT);
        let cancel = CancelToken::default();
        gather_commits(&git, &cancel, &self.project, rules, limits, &|_| false).unwrap()
    }

    fn import(&self) -> StoredCommits {
        let gathered = self.gather(&mut rules(&[]), CommitLimits::IMPORT);
        store_commits(&self.store, &self.project, &gathered).unwrap()
    }

    fn items(&self) -> Vec<Item> {
        stored_commits(&self.store, &self.project.key).unwrap()
    }
}

fn rules(ignore: &[&str]) -> CommitRules {
    let ignore = ignore.iter().map(|&line| line.to_owned()).collect();
    let redactor = Redactor::new(&RedactionRules::default()).unwrap();
    CommitRules::new(redactor, ignore, DeletionLog::default())
}

fn added(added: u64, unchanged: u64, reverted: u64) -> StoredCommits {
    StoredCommits {
        added,
        updated: 0,
        unchanged,
        reverted,
    }
}

const WHY: &str = "Queue writes in one thread (#12)\n\nSQLite has one writer anyway.\n\n\
    Signed-off-by: Ada Author <ada@example.com>\n";

#[test]
fn commits_that_say_something_are_stored_once_without_their_author() {
    let place = Place::new();
    place.commit("a.rs", "first");
    place.commit("src/ü b.rs", WHY);
    shell(
        place.root(),
        "git checkout -q -b topic && echo 1 > t && git add t && git commit -q -m topic && \
         git checkout -q main && git merge -q --no-ff -m \"Merge branch 'topic'\" topic",
    );
    assert_eq!(place.import(), added(1, 0, 0));
    let items = place.items();
    let [item] = &items[..] else {
        panic!("{items:?}")
    };
    assert_eq!(item.title, "Queue writes in one thread (#12)");
    assert_eq!(item.text, "SQLite has one writer anyway.");
    assert_eq!(item.facts, ["PR #12"]);
    assert_eq!(item.files_modified, ["src/ü b.rs"]);
    assert_eq!((item.kind, item.branch.as_deref()), (Kind::Commit, None));
    assert!(!format!("{item:?}").contains("Ada"), "{item:?}");
    assert_eq!(place.import(), added(0, 1, 0));
    assert_eq!(place.items(), items);
}

#[test]
fn a_revert_marks_what_it_took_back_also_when_that_was_stored_before() {
    let place = Place::new();
    place.commit("a.rs", "first");
    place.commit("b.rs", WHY);
    assert_eq!(place.import(), added(1, 0, 0));
    shell(place.root(), "git revert --no-edit HEAD > /dev/null");
    assert_eq!(place.import(), added(1, 1, 1));
    let items = place.items();
    let revert = items
        .iter()
        .find(|item| item.title.starts_with("Revert "))
        .unwrap();
    let taken_back = items
        .iter()
        .find(|item| item.title.starts_with("Queue "))
        .unwrap();
    assert_eq!(
        reverted_by(taken_back),
        remora_memory::commit::short_hash(revert)
    );
    assert_eq!(reverted_by(revert), None);
    assert_eq!(revert.facts, ["reverts Queue writes in one thread (#12)"]);
    shell(place.root(), "git revert --no-edit HEAD > /dev/null");
    assert_eq!(place.import(), added(1, 2, 1));
    let names = [ItemRef::Id(taken_back.id)];
    assert_eq!(
        reverted_by(&place.store.find_items(&names).unwrap()[0]),
        None
    );
}

#[test]
fn secrets_and_private_passages_never_reach_a_row() {
    let place = Place::new();
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    place.commit(
        "a.rs",
        &format!(
            "Rotate the token\n\nThe old one was {token} all along.\n<private>at home</private>\n"
        ),
    );
    let gathered = place.gather(&mut rules(&[]), CommitLimits::IMPORT);
    let item = &gathered.items[0];
    assert!(!format!("{item:?}").contains(&token[4..]), "{item:?}");
    assert!(!item.text.contains("at home"), "{item:?}");
    assert_eq!(gathered.marks.total(), 1);
}

#[test]
fn what_is_not_captured_or_was_forgotten_stays_away() {
    let place = Place::new();
    place.commit(
        "notes/a.md",
        "Plan the party\n\nNobody else may know of it.",
    );
    place.commit("src/a.rs", WHY);
    fs::write(place.root().join("notes/b.md"), "x").unwrap();
    place.commit("src/b.rs", "Use both\n\nOne without the other is no good.");
    let gathered = place.gather(&mut rules(&["notes/"]), CommitLimits::IMPORT);
    assert_eq!((gathered.telling, gathered.ignored), (3, 1));
    let files: Vec<&[String]> = gathered
        .items
        .iter()
        .map(|i| &i.files_modified[..])
        .collect();
    assert_eq!(files, [["src/b.rs".to_owned()], ["src/a.rs".to_owned()]]);
    // A project that is ignored as a whole.
    let gathered = place.gather(&mut rules(&["*"]), CommitLimits::IMPORT);
    assert_eq!((gathered.items.len(), gathered.ignored), (0, 3));
}

#[test]
fn limits_count_what_says_something_the_newest_first() {
    let place = Place::new();
    for n in 0..5 {
        place.commit("a", &format!("Change {n}\n\nBecause of reason number {n}."));
        place.commit("b", &format!("say nothing {n}"));
    }
    let titles = |limits| -> Vec<String> {
        let gathered = place.gather(&mut rules(&[]), limits);
        gathered.items.into_iter().map(|item| item.title).collect()
    };
    let newest = CommitLimits {
        telling: 2,
        ..CommitLimits::IMPORT
    };
    assert_eq!(titles(newest), ["Change 4", "Change 3"]);
    let walked = CommitLimits {
        walked: 4,
        ..CommitLimits::IMPORT
    };
    assert_eq!(titles(walked), ["Change 4", "Change 3"]);
    let round = CommitLimits {
        items: 1,
        ..CommitLimits::IMPORT
    };
    assert_eq!(titles(round), ["Change 4"]);
    let later = CommitLimits {
        since: Some(i64::MAX),
        ..CommitLimits::IMPORT
    };
    assert_eq!(titles(later), Vec::<String>::new());
}

/// A history for `git fast-import`, which makes commits by the thousand.
fn fast_import(place: &Place, commits: usize, message: impl Fn(usize) -> Vec<u8>) {
    let mut stream = Vec::new();
    for n in 0..commits {
        let message = message(n);
        let head = format!(
            "commit refs/heads/main\ncommitter A <a@b.c> {} +0000\ndata {}\n",
            1_700_000_000 + n,
            message.len()
        );
        stream.extend_from_slice(head.as_bytes());
        stream.extend_from_slice(&message);
        stream.push(b'\n');
    }
    fs::write(place.dir.path().join("stream"), stream).unwrap();
    shell(place.root(), "git fast-import --quiet < ../stream");
}

#[test]
fn a_hundred_thousand_commits_are_bounded_by_number_and_by_time() {
    let place = Place::new();
    fast_import(&place, 100_000, |n| {
        format!("Change {n}\n\nBecause of reason number {n}.").into_bytes()
    });
    let gathered = place.gather(&mut rules(&[]), CommitLimits::IMPORT);
    assert_eq!((gathered.items.len(), gathered.is_cut), (2_000, false));
    assert_eq!(gathered.items[0].title, "Change 99999");
    // What came before the deadline is true.
    let started = Instant::now();
    let git = Git::default().with_limit(Duration::from_millis(300));
    let all = CommitLimits {
        telling: usize::MAX,
        ..CommitLimits::IMPORT
    };
    let cancel = CancelToken::default();
    let mut rules = rules(&[]);
    gather_commits(&git, &cancel, &place.project, &mut rules, all, &|_| true);
    assert!(started.elapsed() < PATIENT);
}

#[test]
fn a_message_without_end_or_of_bytes_comes_cut_and_clean() {
    let place = Place::new();
    fast_import(&place, 3, |n| match n {
        0 => [b"Huge\n\n".as_slice(), &b"why it is so ".repeat(400_000)].concat(),
        1 => [
            b"Long word\n\nwhy it is ".as_slice(),
            &b"x".repeat(3_000_000),
        ]
        .concat(),
        _ => b"Bytes \xff\xfe\x01\x1b[2J\n\n\x01why it\n\x01is so \xff\x80\n".to_vec(),
    });
    let gathered = place.gather(&mut rules(&[]), CommitLimits::IMPORT);
    let texts: Vec<(&str, usize)> = gathered
        .items
        .iter()
        .map(|item| (item.title.as_str(), item.text.len()))
        .collect();
    assert_eq!(
        texts[1..],
        [("Long word", "why it is".len()), ("Huge", 4096)]
    );
    assert_eq!(gathered.items[0].title, "Bytes \u{fffd}\u{fffd}[2J");
    assert_eq!(gathered.items[0].text, "why it\nis so \u{fffd}\u{fffd}");
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let place = Place::new();
    place.commit("a.rs", WHY);
    let trap = place.dir.path().join("trap");
    let program = place.root().join("evil.sh");
    fs::write(
        &program,
        format!("#!/bin/sh\ntouch '{}'\ncat\n", trap.display()),
    )
    .unwrap();
    let evil = program.display();
    shell(
        place.root(),
        &format!(
            "chmod 755 evil.sh; echo '* filter=x diff=x' > .gitattributes; \
             git config filter.x.clean '{evil}'; git config filter.x.smudge '{evil}'; \
             git config diff.x.textconv '{evil}'; git config diff.external '{evil}'; \
             git config core.fsmonitor '{evil}'; git config core.pager '{evil}'; \
             git config log.showSignature true; git config gpg.program '{evil}'; \
             git config core.hooksPath \"$PWD\"; git config alias.log '!{evil}'; \
             for hook in post-checkout reference-transaction post-index-change; do cp evil.sh .git/hooks/$hook; done"
        ),
    );
    assert_eq!(place.import(), added(1, 0, 0));
    assert!(!trap.exists());
}

#[test]
fn what_is_no_checkout_tells_nothing() {
    let place = Place::new();
    let git = Git::default().with_limit(PATIENT);
    let gather = |root: &Path| {
        let project = Project {
            root: root.display().to_string(),
            ..place.project.clone()
        };
        let limits = CommitLimits::IMPORT;
        gather_commits(
            &git,
            &CancelToken::default(),
            &project,
            &mut rules(&[]),
            limits,
            &|_| false,
        )
    };
    // Before the first commit there is nothing to tell.
    assert_eq!(gather(place.root()).unwrap().telling, 0);
    let plain = place.dir.path().join("plain");
    fs::create_dir(&plain).unwrap();
    assert!(gather(&plain).is_none());
    fs::write(plain.join(".git"), "gitdir: /nowhere\n").unwrap();
    assert!(gather(&plain).is_none());
}
