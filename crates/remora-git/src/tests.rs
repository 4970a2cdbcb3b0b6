//! Repositories that were built to harm, asked with every git of the system.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use super::*;

mod hostile;

/// Patient enough for a machine that is busy.
const PATIENT: Duration = Duration::from_secs(50);

/// Every git of the system.
fn all_gits() -> Vec<Git> {
    let mut found: Vec<(PathBuf, Git)> = Vec::new();
    for folder in SYSTEM_FOLDERS {
        let program = Path::new(folder).join("git");
        let Ok(real) = program.canonicalize() else {
            continue;
        };
        if found.iter().all(|(known, _)| *known != real) {
            let program = Some(program);
            let limit = PATIENT;
            found.push((real, Git { program, limit }));
        }
    }
    assert!(!found.is_empty(), "there is no git");
    found.into_iter().map(|(_, git)| git).collect()
}

fn shell(folder: &Path, line: &str) {
    let done = process::Command::new("/bin/sh")
        .args(["-ec", line])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ALLOW_PROTOCOL", "file")
        .status();
    assert!(done.unwrap().success(), "{line}");
}

/// A repository with two commits on one branch and one on another.
fn make_repository(root: &Path) {
    fs::create_dir_all(root).unwrap();
    shell(
        root,
        "git init -q -b main . && git config user.name a && git config user.email a@b.c && \
         mkdir src && echo 1 > src/a.rs && echo one > b.rs && git add . && git commit -q -m first && \
         echo 2 > src/a.rs && git commit -q -a -m second && \
         git checkout -q -b other && git mv b.rs c.rs && git commit -q -m third && git checkout -q main",
    );
}

fn lines(
    checkout: &Checkout<'_>,
    command: GitCommand,
    arguments: &[&str],
) -> (GitOutcome, Vec<String>) {
    let mut lines = Vec::new();
    let end = checkout.ask_git(command, arguments, RecordFormat::Lines, |line| {
        lines.push(String::from_utf8_lossy(line).into_owned());
        std::ops::ControlFlow::Continue(())
    });
    (end, lines)
}

fn changed(checkout: &Checkout<'_>) -> Vec<String> {
    lines(
        checkout,
        GitCommand::Diff,
        &["--name-only", checkout.diff_base()],
    )
    .1
}

fn history(checkout: &Checkout<'_>) -> (GitOutcome, usize) {
    let mut commits = 0;
    let end =
        checkout.ask_log_of_all_refs(&["--format=commit %h", "-p"], RecordFormat::Lines, |line| {
            commits += usize::from(line.starts_with(b"commit "));
            std::ops::ControlFlow::Continue(())
        });
    (end, commits)
}

#[test]
fn a_plain_checkout_is_known_with_all_branches() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("app");
    make_repository(&root);
    shell(
        &root,
        "echo 3 > src/a.rs; git tag -a -m t v1; git tag blob $(git rev-parse HEAD:b.rs)",
    );
    for git in all_gits() {
        let open = |at: &Path, search| git.open(at, search, &CancelToken::default());
        let checkout = open(&root, CheckoutSearch::Here).unwrap();
        assert_eq!(checkout.branch(), Some("main"));
        assert_eq!(checkout.head().map(str::len), Some(40));
        assert_eq!(changed(&checkout), ["src/a.rs"]);
        assert_eq!(history(&checkout), (GitOutcome::Complete, 3), "{git:?}");
        assert!(open(&root.join("src"), CheckoutSearch::Here).is_err());
        let below = root.join("src");
        let below = open(&below, CheckoutSearch::Upwards).unwrap();
        assert_eq!(
            lines(
                &below,
                GitCommand::Diff,
                &["--relative", "--name-only", below.diff_base()]
            ),
            (GitOutcome::Complete, vec!["a.rs".to_owned()])
        );
    }
}

#[test]
fn the_folders_of_a_worktree_are_found_from_files_alone() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("app");
    let own = main.join(".git/worktrees/w");
    let top = dir.path().join("w");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(top.join("src")).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(top.join(".git"), "gitdir: ../app/.git/worktrees/w\n").unwrap();
    let find = |folder: &Path, search| GitFolders::find(folder, search);
    let own = top.join("../app/.git/worktrees/w");
    let worktree = GitFolders {
        top: top.clone(),
        shared: own.join("../.."),
        own,
    };
    assert_eq!(find(&top, CheckoutSearch::Here), Some(worktree.clone()));
    assert_eq!(find(&top.join("src"), CheckoutSearch::Here), None);
    assert_eq!(
        find(&top.join("src"), CheckoutSearch::Upwards),
        Some(worktree)
    );
    let plain = GitFolders {
        own: main.join(".git"),
        shared: main.join(".git"),
        top: main.clone(),
    };
    assert_eq!(find(&main, CheckoutSearch::Here), Some(plain));
    fs::write(top.join(".git"), "gitdir:\n").unwrap();
    assert_eq!(find(&top, CheckoutSearch::Upwards), None);
}

#[test]
fn worktrees_new_repositories_and_lone_commits_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("app");
    make_repository(&root);
    shell(
        &root,
        "git worktree add -q ../tree other; echo x > ../tree/c.rs",
    );
    shell(
        dir.path(),
        "git init -q -b trunk new; echo 1 > new/a; git -C new add a",
    );
    for git in all_gits() {
        let open = |name: &str| {
            git.open(
                &dir.path().join(name),
                CheckoutSearch::Here,
                &CancelToken::default(),
            )
        };
        let tree = open("tree").unwrap();
        assert_eq!(tree.branch(), Some("other"));
        assert_eq!(changed(&tree), ["c.rs"]);
        assert_eq!(history(&tree), (GitOutcome::Complete, 3));
        let new = open("new").unwrap();
        assert_eq!((new.head(), new.branch()), (None, Some("trunk")));
        assert_eq!(changed(&new), ["a"]);
    }
    shell(&root, "git checkout -q --detach");
    for git in all_gits() {
        let lone = git
            .open(&root, CheckoutSearch::Here, &CancelToken::default())
            .unwrap();
        assert_eq!((lone.head().map(str::len), lone.branch()), (Some(40), None));
    }
}

#[test]
fn shallow_clones_other_hashes_and_modes_that_do_not_count_are_known() {
    let dir = tempfile::tempdir().unwrap();
    make_repository(&dir.path().join("app"));
    shell(
        dir.path(),
        "git clone -q --depth 1 file://\"$PWD\"/app shallow; \
         git init -q -b main --object-format=sha256 wide; cd wide; echo 1 > a; git add a; \
         git -c user.name=a -c user.email=a@b.c commit -q -m first; echo 2 > a",
    );
    let app = dir.path().join("app");
    shell(&app, "git config core.fileMode false; chmod 755 b.rs");
    for git in all_gits() {
        let open = |name: &str| {
            git.open(
                &dir.path().join(name),
                CheckoutSearch::Here,
                &CancelToken::default(),
            )
        };
        let shallow = open("shallow").unwrap();
        assert_eq!(history(&shallow), (GitOutcome::Complete, 1));
        let wide = open("wide").unwrap();
        assert_eq!(changed(&wide), ["a"]);
        assert_eq!(history(&wide), (GitOutcome::Complete, 1));
        assert_eq!(changed(&open("app").unwrap()), Vec::<String>::new());
    }
}

#[test]
fn what_is_no_repository_is_none_and_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let root = |name: &str| {
        let root = dir.path().join(name);
        fs::create_dir(&root).unwrap();
        root
    };
    fs::create_dir(root("empty").join(".git")).unwrap();
    symlink("/dev/zero", root("zero").join(".git")).unwrap();
    shell(&root("pipe"), "mkfifo .git");
    fs::write(root("far").join(".git"), "gitdir: /nowhere\n").unwrap();
    symlink(".git", root("loop").join(".git")).unwrap();
    root("plain");
    let git = Git::default();
    for name in ["empty", "zero", "pipe", "far", "loop", "plain"] {
        let folder = dir.path().join(name);
        assert!(
            git.open(&folder, CheckoutSearch::Here, &CancelToken::default())
                .is_err(),
            "{name}"
        );
    }
}

/// A program that stands in for git.
fn disguise(folder: &Path, lines: &str, limit: Duration) -> Git {
    let file = folder.join("git.sh");
    // Written by another process: no descriptor of ours keeps it busy.
    let line = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\"; chmod 755 \"$2\"";
    let made = process::Command::new("/bin/sh")
        .args(["-ec", line, "sh", lines])
        .arg(&file)
        .status();
    assert!(made.unwrap().success());
    Git {
        program: Some(file),
        limit,
    }
}

fn question<'a>(git: &'a Git, cancel: &'a CancelToken, folder: &'a Path) -> run::GitInvocation<'a> {
    run::GitInvocation {
        git,
        cancel,
        folder,
        variables: &[],
        arguments: &[],
        stdin: None,
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
fn at_the_deadline_the_whole_group_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "sleep 600 & echo $$ $!; wait";
    let git = disguise(dir.path(), lines, Duration::from_millis(300));
    let mut pids = String::new();
    let cancel = CancelToken::default();
    let end = question(&git, &cancel, dir.path()).run(RecordFormat::Lines, |line| {
        pids = String::from_utf8_lossy(line).into_owned();
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!(end, GitOutcome::Cut);
    for pid in pids.split_whitespace() {
        let deadline = Instant::now() + PATIENT;
        while lives(pid) {
            assert!(Instant::now() < deadline, "{pid} lives");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_question_ends_when_it_is_cancelled_or_enough_was_said() {
    let dir = tempfile::tempdir().unwrap();
    let git = disguise(dir.path(), "while :; do echo line; done", PATIENT);
    let cancel = CancelToken::default();
    let mut count = 0;
    let end = question(&git, &cancel, dir.path()).run(RecordFormat::Lines, |line| {
        assert_eq!(line, b"line");
        count += 1;
        match count {
            1000 => std::ops::ControlFlow::Break(()),
            _ => std::ops::ControlFlow::Continue(()),
        }
    });
    assert_eq!((end, count), (GitOutcome::Enough, 1000));
    let end = question(&git, &cancel, dir.path()).run(RecordFormat::Lines, |_| {
        cancel.cancel();
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!(end, GitOutcome::Cancelled);
}

#[test]
fn the_environment_of_the_session_is_not_handed_on() {
    let dir = tempfile::tempdir().unwrap();
    let git = disguise(dir.path(), "export -p", PATIENT);
    let mut names = Vec::new();
    let cancel = CancelToken::default();
    question(&git, &cancel, dir.path()).run(RecordFormat::Lines, |line| {
        let line = String::from_utf8_lossy(line).into_owned();
        let name = line.trim_start_matches("export ").split('=').next();
        names.extend(name.map(str::to_owned));
        std::ops::ControlFlow::Continue(())
    });
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
    for name in &names {
        assert!(
            name.starts_with("GIT_")
                || [
                    "PATH",
                    "HOME",
                    "XDG_CONFIG_HOME",
                    "LC_ALL",
                    "REMORA_OFF",
                    "SSH_ASKPASS"
                ]
                .contains(&name.as_str()),
            "{name}"
        );
    }
    assert!(
        names.contains(&"GIT_CONFIG_NOSYSTEM".to_owned()),
        "{names:?}"
    );
}

#[test]
fn an_endless_record_comes_cut_and_costs_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "dd if=/dev/zero bs=65536 count=100 2>/dev/null; echo; echo end";
    let git = disguise(dir.path(), lines, PATIENT);
    let mut lengths = Vec::new();
    let cancel = CancelToken::default();
    let end = question(&git, &cancel, dir.path()).run(RecordFormat::Lines, |line| {
        lengths.push(line.len());
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!((end, lengths), (GitOutcome::Complete, vec![64 * 1024, 3]));
}
