//! One question to git: what differs from the last commit. Bounded in time and
//! in what is read; whatever git started goes with it.

use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use remora_client::Changes;
use rustix::process::{Pid, Signal, kill_process_group};

use super::Git;

/// Files that are named at most.
const FILES: usize = 500;
/// Bytes of all names, so that the file stays below what is read of it.
const NAMES: usize = 40 * 1024;
/// The longest record that can be a file.
const RECORD: u64 = 16 * 1024;
/// Set by git itself when it starts a hook; they name another place.
const FOREIGN: [&str; 8] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// How far a question came.
#[derive(Debug)]
pub(super) enum End {
    /// Git has said everything.
    Whole(Changes),
    /// It has said enough.
    Enough(Changes),
    /// Nobody wants to know any more.
    Stopped,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    State(Changes),
    /// Git does not know this place.
    Nothing,
}

/// Asks; `None` when the time was over, or nobody wants to know any more.
/// `own` is the way in of `end`.
pub(super) fn ask(root: &Path, git: &Git, own: Sender<End>, end: &Receiver<End>) -> Option<Found> {
    let deadline = Instant::now() + git.limit;
    let mut child = start(root, git)?;
    let said = child.stdout.take().and_then(|stdout| {
        let reader = move || {
            // Nobody listens any more when the time was over first.
            let _ = own.send(read(BufReader::new(stdout)));
        };
        thread::Builder::new().spawn(reader).ok()?;
        end.recv_timeout(git.limit).ok()
    });
    if matches!(said, Some(End::Whole(_))) {
        // It has closed its end and is on its way out.
        while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
            thread::park_timeout(Duration::from_millis(2));
        }
    }
    let ended = child.try_wait().ok().flatten();
    if ended.is_none() {
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        child.wait().ok()?;
    }
    match said? {
        End::Whole(_) if !ended?.success() => Some(Found::Nothing),
        End::Whole(state) | End::Enough(state) => Some(Found::State(state)),
        End::Stopped => None,
    }
}

fn start(root: &Path, git: &Git) -> Option<Child> {
    let mut command = Command::new(&git.program);
    for name in FOREIGN {
        command.env_remove(name);
    }
    command
        .args(["--no-pager", "--no-optional-locks"])
        // A repository may name programs to be run on every look.
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(["-c", "status.branch=false"])
        .args(["status", "--porcelain=v2", "--branch", "-z", "--no-renames"])
        .args(["--untracked-files=all", "--ignore-submodules=dirty"])
        .current_dir(root)
        // A damaged repository must not be answered for by one above it.
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .env("REMORA_OFF", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // What it starts is ended with it.
        .process_group(0);
    command.spawn().ok()
}

/// Reads records, each ended by a zero byte, until there are no more or enough.
fn read(mut from: impl BufRead) -> End {
    let mut state = Changes::default();
    let mut names = 0;
    let mut record = Vec::new();
    loop {
        record.clear();
        let taken = from.by_ref().take(RECORD).read_until(0, &mut record);
        if !matches!(taken, Ok(1..)) || record.pop() != Some(0) {
            return End::Whole(state);
        }
        // A name that is not text is in no row.
        let Ok(text) = std::str::from_utf8(&record) else {
            continue;
        };
        if let Some(head) = text.strip_prefix("# ") {
            header(head, &mut state);
            continue;
        }
        if let Some(path) = path(text) {
            names += path.len();
            if state.changed.len() == FILES || names > NAMES {
                return End::Enough(state);
            }
            state.changed.push(path.to_owned());
        }
    }
}

fn header(text: &str, state: &mut Changes) {
    let said = |value: &str| Some(value.to_owned()).filter(|value| !value.starts_with('('));
    match text.split_once(' ') {
        Some(("branch.oid", commit)) => state.head = said(commit),
        Some(("branch.head", branch)) => state.branch = said(branch),
        _ => {}
    }
}

/// The path of a record: behind so many fields, by its kind.
fn path(record: &str) -> Option<&str> {
    let fields = match record.as_bytes().first()? {
        b'?' => 1,
        b'1' => 8,
        b'u' => 10,
        _ => return None,
    };
    let path = record.splitn(fields + 1, ' ').nth(fields)?;
    (!path.is_empty() && !path.contains(char::is_control)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(records: &[&str]) -> Changes {
        let mut bytes = records.join("\0").into_bytes();
        bytes.push(0);
        state(&bytes)
    }

    fn state(bytes: &[u8]) -> Changes {
        match read(bytes) {
            End::Whole(state) | End::Enough(state) => state,
            End::Stopped => panic!("nobody stopped it"),
        }
    }

    #[test]
    fn records_become_a_state() {
        let state = of(&[
            "# branch.oid 1234abcd",
            "# branch.head feature/a b",
            "# branch.upstream origin/main",
            "# branch.ab +1 -0",
            "1 .M N... 100644 100644 100644 aaaa bbbb src/a file.rs",
            "u UU N... 100644 100644 100644 100644 aaaa bbbb cccc src/both.rs",
            "? new/one.rs",
            "! ignored.rs",
            "? bad\nname",
            "1 .M too few",
        ]);
        assert_eq!(
            state,
            Changes {
                branch: Some("feature/a b".to_owned()),
                head: Some("1234abcd".to_owned()),
                changed: ["src/a file.rs", "src/both.rs", "new/one.rs"]
                    .map(str::to_owned)
                    .to_vec(),
                ..Changes::default()
            }
        );
    }

    #[test]
    fn a_new_repository_and_a_lone_commit_have_no_name() {
        let new = of(&["# branch.oid (initial)", "# branch.head main"]);
        assert_eq!((new.head, new.branch.as_deref()), (None, Some("main")));
        let lone = of(&["# branch.oid 12ab", "# branch.head (detached)"]);
        assert_eq!((lone.head.as_deref(), lone.branch), (Some("12ab"), None));
    }

    #[test]
    fn there_is_an_end_to_names() {
        let many: Vec<String> = (0..900).map(|n| format!("? f{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&many).changed.len(), FILES);
        let long = format!("? {}", "x".repeat(15_000));
        assert_eq!(of(&[&long, &long, &long, &long]).changed.len(), 2);
        let endless = format!("? {}", "x".repeat(20_000));
        assert_eq!(of(&[&endless, "? a"]).changed, Vec::<String>::new());
        assert_eq!(state(b"? torn").changed, Vec::<String>::new());
    }
}
