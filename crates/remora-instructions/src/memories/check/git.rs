//! What the history of the repository says about paths that are no longer
//! there. Asks the `git` program, never longer than the limit; a program that
//! is absent or fails means that nothing is known.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::files::{ends_in, last};

/// Renames kept to follow a file through several names.
const MOST_RENAMES: usize = 200_000;
const LONGEST_LINE: u64 = 64 * 1024;

/// How git is asked.
#[derive(Debug, Clone)]
pub struct Git {
    /// The program.
    pub program: OsString,
    /// How long one question may take.
    pub limit: Duration,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            program: "git".into(),
            limit: Duration::from_millis(2500),
        }
    }
}

/// The commit of an event, with its day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commit(String);

impl Commit {
    /// In words: `1a2b3c4 (2026-10-01)`.
    pub(super) fn words(&self) -> &str {
        &self.0
    }
}

/// What happened last to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Added(Commit),
    Deleted(Commit),
    Renamed {
        from: String,
        to: String,
        at: Commit,
    },
}

/// How much of the history was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Whole,
    /// The limit came first; what was read is the newest part.
    Cut,
    /// No repository, or no program.
    Nothing,
}

/// Where a path went with everything below it.
type Arrivals = HashMap<String, usize>;

/// The events of the paths asked for.
#[derive(Debug)]
pub(super) struct History {
    pub(super) reach: Reach,
    events: HashMap<String, Event>,
    /// For folders: to which folders their files were renamed, and how many.
    arrivals: HashMap<String, Arrivals>,
    renames: HashMap<String, (String, Commit)>,
}

/// Paths to ask about, by their last part.
struct Asked<'a> {
    by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Asked<'a> {
    fn new(paths: &'a HashSet<String>) -> Self {
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths {
            by_name.entry(last(path)).or_default().push(path);
        }
        Self { by_name }
    }

    /// The asked paths that mean this one.
    fn meaning<'b>(&'b self, path: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        let named = self.by_name.get(last(path)).map_or(&[][..], Vec::as_slice);
        named
            .iter()
            .copied()
            .filter(move |asked| ends_in(path, asked))
    }
}

impl History {
    pub(super) fn nothing() -> Self {
        Self {
            reach: Reach::Nothing,
            events: HashMap::new(),
            arrivals: HashMap::new(),
            renames: HashMap::new(),
        }
    }

    /// Asks about all paths at once: what changed since the last commit, then
    /// the log of all branches, newest first.
    pub(super) fn read(root: &Path, git: &Git, paths: &HashSet<String>) -> Self {
        let mut history = Self::nothing();
        if paths.is_empty() || !root.ancestors().any(|a| a.join(".git").exists()) {
            return history;
        }
        let asked = Asked::new(paths);
        let pending = Commit("the changes not yet committed".to_owned());
        let diff = [
            "diff",
            "--relative",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "-M",
            "-l500",
            "--name-status",
            "HEAD",
        ];
        ask(root, git, &diff, |line| {
            history.event(&asked, line, &pending);
            ControlFlow::Continue(())
        });
        let log = [
            "log",
            "--all",
            "--relative",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "--no-show-signature",
            "-M",
            "-l500",
            "--diff-filter=ADR",
            "--name-status",
            "--format=%x01%h (%cs)",
        ];
        let mut commit = pending.clone();
        history.reach = ask(root, git, &log, |line| {
            match line.strip_prefix('\u{1}') {
                Some(head) => commit = Commit(head.to_owned()),
                None => history.event(&asked, line, &commit),
            }
            ControlFlow::Continue(())
        });
        history
    }

    /// What happened last to a path, or to one that ends in it.
    pub(super) fn of(&self, path: &str) -> Option<&Event> {
        self.events.get(path)
    }

    /// Follows renames from one name to the last.
    pub(super) fn follow(
        &self,
        from: &str,
        there: impl Fn(&str) -> bool,
    ) -> Option<(String, Commit)> {
        let (mut name, mut at) = self.renames.get(from)?.clone();
        for _ in 0..32 {
            if there(&name) {
                return Some((name, at));
            }
            (name, at) = self.renames.get(&name)?.clone();
        }
        None
    }

    /// The folder that most files of a folder went to.
    pub(super) fn arrival(&self, folder: &str) -> Option<&str> {
        let counts = self.arrivals.get(folder)?;
        let best = counts
            .iter()
            .max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))?;
        Some(best.0)
    }

    /// One line of `--name-status`.
    fn event(&mut self, asked: &Asked<'_>, line: &str, at: &Commit) {
        let mut fields = line.split('\t');
        let (Some(kind), Some(path)) = (fields.next(), fields.next()) else {
            return;
        };
        let event = match (kind.as_bytes().first(), fields.next()) {
            (Some(b'A'), _) => Event::Added(at.clone()),
            (Some(b'D'), _) => Event::Deleted(at.clone()),
            (Some(b'R'), Some(to)) => {
                self.renamed(asked, path, to, at);
                Event::Renamed {
                    from: path.to_owned(),
                    to: to.to_owned(),
                    at: at.clone(),
                }
            }
            _ => return,
        };
        for name in asked.meaning(path) {
            self.events
                .entry(name.to_owned())
                .or_insert_with(|| event.clone());
        }
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            for name in asked.meaning(folder) {
                // A folder was there when a file of it was.
                let was = match &event {
                    Event::Added(_) => event.clone(),
                    _ => Event::Deleted(at.clone()),
                };
                self.events.entry(name.to_owned()).or_insert(was);
            }
            rest = folder;
        }
    }

    fn renamed(&mut self, asked: &Asked<'_>, from: &str, to: &str, at: &Commit) {
        if self.renames.len() < MOST_RENAMES {
            self.renames
                .entry(from.to_owned())
                .or_insert_with(|| (to.to_owned(), at.clone()));
        }
        let mut rest = from;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            let below = &from[folder.len()..];
            if let Some(target) = to
                .strip_suffix(below)
                .filter(|t| !t.is_empty() && *t != folder)
            {
                for name in asked.meaning(folder) {
                    let counts = self.arrivals.entry(name.to_owned()).or_default();
                    *counts.entry(target.to_owned()).or_default() += 1;
                }
            }
            rest = folder;
        }
    }
}

/// Where words stood that are in no file now.
#[derive(Debug)]
pub(super) struct Removed {
    pub(super) reach: Reach,
    lines: HashMap<String, Commit>,
}

impl Removed {
    /// Reads the removed lines of the newest commits for these words.
    pub(super) fn read(root: &Path, git: &Git, words: &HashSet<&str>) -> Self {
        let mut removed = Self {
            reach: Reach::Whole,
            lines: HashMap::new(),
        };
        if words.is_empty() {
            return removed;
        }
        if !root.ancestors().any(|a| a.join(".git").exists()) {
            removed.reach = Reach::Nothing;
            return removed;
        }
        let plain = [
            "--relative",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "--no-color",
            "--no-renames",
            "-U0",
        ];
        // What is only told proves nothing, and locks are long.
        let code = [
            "--",
            ".",
            ":(exclude)*.md",
            ":(exclude)*.txt",
            ":(exclude)*.rst",
            ":(exclude)*lock*",
        ];
        let diff: Vec<&str> = ["diff"]
            .iter()
            .chain(&plain)
            .chain(&["HEAD"])
            .chain(&code)
            .copied()
            .collect();
        let log: Vec<&str> = [
            "log",
            "--no-show-signature",
            "--diff-filter=MD",
            "-p",
            "--format=%x01%h (%cs)",
        ]
        .iter()
        .chain(&plain)
        .chain(&code)
        .copied()
        .collect();
        let mut commit = Commit("the changes not yet committed".to_owned());
        for question in [diff, log] {
            removed.reach = ask(root, git, &question, |line| {
                if let Some(head) = line.strip_prefix('\u{1}') {
                    commit = Commit(head.to_owned());
                } else if let Some(text) = line.strip_prefix('-') {
                    removed.note(text, words, &commit);
                }
                if removed.lines.len() == words.len() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
        }
        removed
    }

    fn note(&mut self, text: &str, words: &HashSet<&str>, at: &Commit) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))) {
            if words.contains(word) && !self.lines.contains_key(word) {
                self.lines.insert(word.to_owned(), at.clone());
            }
        }
    }

    /// The commit that removed the last line with this word.
    pub(super) fn of(&self, word: &str) -> Option<&Commit> {
        self.lines.get(word)
    }
}

/// Runs git and hands over its lines; ends it when the limit is over, or when
/// nothing more is wanted.
fn ask(
    root: &Path,
    git: &Git,
    arguments: &[&str],
    mut line: impl FnMut(&str) -> ControlFlow<()> + Send,
) -> Reach {
    let Some((mut child, stdout)) = start(root, git, arguments) else {
        return Reach::Nothing;
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Nobody listens any more when the limit was over first.
            let _ = sender.send(lines(stdout, &mut line));
        });
        let end = receiver.recv_timeout(git.limit);
        if end != Ok(ControlFlow::Continue(())) {
            // It may have ended in this very moment; then there is nothing to kill.
            let _ = child.kill();
        }
        match (end, child.wait()) {
            (Err(_), _) => Reach::Cut,
            (Ok(ControlFlow::Break(())), _) => Reach::Whole,
            (_, Ok(status)) if status.success() => Reach::Whole,
            _ => Reach::Nothing,
        }
    })
}

fn start(root: &Path, git: &Git, arguments: &[&str]) -> Option<(Child, ChildStdout)> {
    let mut child = Command::new(&git.program)
        .args([
            "--no-pager",
            "--no-optional-locks",
            "-c",
            "core.quotePath=false",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(arguments)
        .current_dir(root)
        // Set by git itself when it starts a hook; they name another place.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    Some((child, stdout))
}

fn lines(stdout: ChildStdout, line: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut reader = BufReader::with_capacity(1 << 16, stdout);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
        {
            Ok(0) | Err(_) => return ControlFlow::Continue(()),
            Ok(_) => line(String::from_utf8_lossy(&bytes).trim_end_matches('\n'))?,
        }
    }
}
