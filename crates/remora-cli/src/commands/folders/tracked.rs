//! Which folders may have a file of ours: those that git knows files in, or
//! outside git those that are there; never hidden or vendored ones, and none
//! that a link leads out of the project.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long git is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// More of its answer is not read.
const ANSWER: u64 = 64 * 1024 * 1024;
/// Entries of a folder that are looked at outside git.
const ENTRIES: usize = 1_000;

/// Folders of other people's code.
const VENDORED: &[&str] = &[
    "bower_components",
    "node_modules",
    "Pods",
    "site-packages",
    "third_party",
    "vendor",
];
/// Folders that programs fill; in a repository git knows better.
const MADE: &[&str] = &[
    "__pycache__",
    "build",
    "coverage",
    "dist",
    "out",
    "target",
    "tmp",
    "venv",
];
/// Variables with which git would look elsewhere.
const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// Whether a folder's name alone speaks against it.
pub(super) fn is_plain(folder: &str) -> bool {
    let odd = |c: char| "*?[]\\:".contains(c) || c.is_control();
    !folder.contains(odd)
        && folder
            .split('/')
            .all(|part| !part.starts_with('.') && !VENDORED.contains(&part))
}

/// The folders of the list in which there is something to speak of.
pub(super) fn tracked<'a>(root: &Path, folders: &[&'a str]) -> HashSet<&'a str> {
    let by_git = root.join(".git").exists().then(|| ask_git(root, folders));
    let named: HashSet<&str> = match by_git.flatten() {
        Some(known) => {
            let known = folders.iter().filter(|folder| known.contains(**folder));
            known.copied().collect()
        }
        // No repository, or no git program: what is there counts.
        None => folders
            .iter()
            .filter(|folder| folder.split('/').all(|part| !MADE.contains(&part)))
            .filter(|folder| has_files(&root.join(folder)))
            .copied()
            .collect(),
    };
    let Ok(real_root) = root.canonicalize() else {
        return HashSet::new();
    };
    named
        .into_iter()
        .filter(|folder| {
            let real = root.join(folder).canonicalize();
            real.is_ok_and(|real| real == real_root.join(folder) && real.is_dir())
        })
        .collect()
}

fn has_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|list| {
        list.take(ENTRIES)
            .flatten()
            .any(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
    })
}

/// The folders that git knows files in; `None` without a repository or a git
/// program.
fn ask_git(root: &Path, folders: &[&str]) -> Option<HashSet<String>> {
    let mut command = Command::new("git");
    command
        // A repository may name a program to be run on every look.
        .args(["-c", "core.fsmonitor=false", "ls-files", "-z", "--"])
        .args(folders.iter().map(|folder| format!(":(glob){folder}/*")))
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    // A damaged repository must not be answered for by one above it.
    command.env(
        "GIT_CEILING_DIRECTORIES",
        root.parent().unwrap_or(root).as_os_str(),
    );
    if folders.is_empty() {
        return Some(HashSet::new());
    }
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let whole = stdout.take(ANSWER).read_to_end(&mut bytes);
        // Nobody may be waiting any more.
        let _ = send.send(whole.ok().map(|_| bytes));
    });
    let answer = receive.recv_timeout(PATIENCE);
    if answer.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    let _ = reader.join();
    // Late is not the same as absent: then nothing is known to be tracked.
    let Ok(answer) = answer else {
        return Some(HashSet::new());
    };
    let bytes = answer.filter(|_| status.success())?;
    let files = bytes.split(|b| *b == 0);
    let folders = files.filter_map(|file| {
        let file = std::str::from_utf8(file).ok()?;
        file.rsplit_once('/').map(|(folder, _)| folder.to_owned())
    });
    Some(folders.collect())
}
