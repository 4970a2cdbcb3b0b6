//! What the history of the repository says about paths that are no longer there.
//! Asks git, never longer than the limit; if git is absent or fails, nothing is
//! known, and the verdicts get weaker instead of wrong.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

pub use remora_git::Git;
use remora_git::{CancelToken, Checkout, CheckoutSearch, GitCommand, GitOutcome, RecordFormat};

use super::files::{ends_in, last_part};

/// Renames kept to follow a file through several names.
const MAX_RENAMES: usize = 200_000;

/// The commit of an event, with its day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitLabel(String);

impl CommitLabel {
    /// In words: `1a2b3c4 (2026-10-01)`.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// What happened last to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathEvent {
    Added(CommitLabel),
    Deleted(CommitLabel),
    Renamed {
        from: String,
        to: String,
        at: CommitLabel,
    },
}

/// How much of the history was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HistoryCoverage {
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
pub(super) struct PathHistory {
    pub(super) reach: HistoryCoverage,
    events: HashMap<String, PathEvent>,
    /// For folders: to which folders their files were renamed, and how many.
    arrivals: HashMap<String, Arrivals>,
    renames: HashMap<String, (String, CommitLabel)>,
}

/// Paths to ask about, by their last part.
struct PathQueries<'a> {
    by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> PathQueries<'a> {
    fn new(paths: &'a HashSet<String>) -> Self {
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths {
            by_name.entry(last_part(path)).or_default().push(path);
        }
        Self { by_name }
    }

    /// The asked paths that mean this one.
    fn list_matching<'b>(&'b self, path: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        let named = self
            .by_name
            .get(last_part(path))
            .map_or(&[][..], Vec::as_slice);
        named
            .iter()
            .copied()
            .filter(move |asked| ends_in(path, asked))
    }
}

impl PathHistory {
    pub(super) fn without_repository() -> Self {
        Self {
            reach: HistoryCoverage::Nothing,
            events: HashMap::new(),
            arrivals: HashMap::new(),
            renames: HashMap::new(),
        }
    }

    /// Asks about all paths at once: what changed since the last commit, then
    /// the log of all branches, newest first.
    pub(super) fn from_repository(root: &Path, git: &Git, paths: &HashSet<String>) -> Self {
        let mut history = Self::without_repository();
        if paths.is_empty() {
            return history;
        }
        let checkout = match git.open(root, CheckoutSearch::Upwards, &CancelToken::default()) {
            Ok(checkout) => checkout,
            Err(end) => {
                history.reach = to_coverage(end);
                return history;
            }
        };
        let asked = PathQueries::new(paths);
        let pending = CommitLabel("the changes not yet committed".to_owned());
        let names = ["--relative", "-M", "-l500", "--name-status"];
        // `-l500` limits rename detection, which compares every deleted with every added file.
        let diff: Vec<&str> = names
            .iter()
            .chain(&[checkout.diff_base()])
            .copied()
            .collect();
        checkout.ask_git(GitCommand::Diff, &diff, RecordFormat::Lines, |line| {
            history.record_status_line(&asked, &String::from_utf8_lossy(line), &pending);
            ControlFlow::Continue(())
        });
        let newest = ["--diff-filter=ADR", "--format=%x01%h (%cs)"];
        let log: Vec<&str> = names.iter().chain(&newest).copied().collect();
        let mut commit = pending.clone();
        // All branches: a file that is deleted here may have been added on another one, and then
        // it is not gone.
        let end = checkout.ask_log_of_all_refs(&log, RecordFormat::Lines, |line| {
            let line = String::from_utf8_lossy(line);
            match line.strip_prefix('\u{1}') {
                Some(head) => commit = CommitLabel(head.to_owned()),
                None => history.record_status_line(&asked, &line, &commit),
            }
            ControlFlow::Continue(())
        });
        history.reach = to_coverage(end);
        history
    }

    /// What happened last to a path, or to one that ends in it.
    pub(super) fn find_event(&self, path: &str) -> Option<&PathEvent> {
        self.events.get(path)
    }

    /// Follows renames from one name to the last.
    pub(super) fn follow_renames(
        &self,
        from: &str,
        there: impl Fn(&str) -> bool,
    ) -> Option<(String, CommitLabel)> {
        let (mut name, mut at) = self.renames.get(from)?.clone();
        // Renames can form a circle (a to b and back), so the number of steps is limited.
        for _ in 0..32 {
            if there(&name) {
                return Some((name, at));
            }
            (name, at) = self.renames.get(&name)?.clone();
        }
        None
    }

    /// The folder that most files of a folder went to.
    pub(super) fn find_arrival(&self, folder: &str) -> Option<&str> {
        let counts = self.arrivals.get(folder)?;
        let best = counts
            .iter()
            .max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))?;
        Some(best.0)
    }

    /// One line of `--name-status`.
    fn record_status_line(&mut self, asked: &PathQueries<'_>, line: &str, at: &CommitLabel) {
        let mut fields = line.split('\t');
        let (Some(kind), Some(path)) = (fields.next(), fields.next()) else {
            return;
        };
        let event = match (kind.as_bytes().first(), fields.next()) {
            (Some(b'A'), _) => PathEvent::Added(at.clone()),
            (Some(b'D'), _) => PathEvent::Deleted(at.clone()),
            (Some(b'R'), Some(to)) => {
                self.record_rename(asked, path, to, at);
                PathEvent::Renamed {
                    from: path.to_owned(),
                    to: to.to_owned(),
                    at: at.clone(),
                }
            }
            _ => return,
        };
        for name in asked.list_matching(path) {
            self.events
                .entry(name.to_owned())
                // The log is newest first, so the first event of a path is its last.
                .or_insert_with(|| event.clone());
        }
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            for name in asked.list_matching(folder) {
                // A folder was there when a file of it was.
                let was = match &event {
                    PathEvent::Added(_) => event.clone(),
                    _ => PathEvent::Deleted(at.clone()),
                };
                self.events.entry(name.to_owned()).or_insert(was);
            }
            rest = folder;
        }
    }

    fn record_rename(&mut self, asked: &PathQueries<'_>, from: &str, to: &str, at: &CommitLabel) {
        if self.renames.len() < MAX_RENAMES {
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
                for name in asked.list_matching(folder) {
                    let counts = self.arrivals.entry(name.to_owned()).or_default();
                    *counts.entry(target.to_owned()).or_default() += 1;
                }
            }
            rest = folder;
        }
    }
}

/// The commits that removed words which no file contains now.
#[derive(Debug)]
pub(super) struct RemovedWords {
    pub(super) reach: HistoryCoverage,
    lines: HashMap<String, CommitLabel>,
}

impl RemovedWords {
    /// Reads the removed lines of the newest commits for these words.
    pub(super) fn from_repository(root: &Path, git: &Git, words: &HashSet<&str>) -> Self {
        let mut removed = Self {
            reach: HistoryCoverage::Whole,
            lines: HashMap::new(),
        };
        if words.is_empty() {
            return removed;
        }
        let checkout = match git.open(root, CheckoutSearch::Upwards, &CancelToken::default()) {
            Ok(checkout) => checkout,
            Err(end) => {
                removed.reach = to_coverage(end);
                return removed;
            }
        };
        let base = checkout.diff_base();
        let first = ["--relative", "--no-renames", "-U0", base];
        // Prose proves nothing about code, and lock files make diffs long.
        let code = [
            "--",
            ".",
            ":(exclude)*.md",
            ":(exclude)*.txt",
            ":(exclude)*.rst",
            ":(exclude)*lock*",
        ];
        let log = ["--diff-filter=MD", "-p", "--format=%x01%h (%cs)"];
        let diff: Vec<&str> = first.iter().chain(&code).copied().collect();
        let log: Vec<&str> = log.iter().chain(&first).chain(&code).copied().collect();
        removed.scan_output(&checkout, GitCommand::Diff, &diff, words);
        // Before the first commit there is no log.
        if checkout.head().is_some() {
            removed.scan_output(&checkout, GitCommand::Log, &log, words);
        }
        removed
    }

    fn scan_output(
        &mut self,
        checkout: &Checkout<'_>,
        command: GitCommand,
        arguments: &[&str],
        words: &HashSet<&str>,
    ) {
        let mut commit = CommitLabel("the changes not yet committed".to_owned());
        let end = checkout.ask_git(command, arguments, RecordFormat::Lines, |line| {
            let line = String::from_utf8_lossy(line);
            if let Some(head) = line.strip_prefix('\u{1}') {
                commit = CommitLabel(head.to_owned());
            } else if let Some(text) = line.strip_prefix('-') {
                self.record_words(text, words, &commit);
            }
            // The history of a large repository takes long; stop at the last missing word.
            if self.lines.len() == words.len() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.reach = to_coverage(end);
    }

    fn record_words(&mut self, text: &str, words: &HashSet<&str>, at: &CommitLabel) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))) {
            if words.contains(word) && !self.lines.contains_key(word) {
                self.lines.insert(word.to_owned(), at.clone());
            }
        }
    }

    /// The commit that removed the last line with this word.
    pub(super) fn find_commit(&self, word: &str) -> Option<&CommitLabel> {
        self.lines.get(word)
    }
}

fn to_coverage(end: GitOutcome) -> HistoryCoverage {
    match end {
        GitOutcome::Complete | GitOutcome::Enough => HistoryCoverage::Whole,
        GitOutcome::Cut | GitOutcome::Cancelled => HistoryCoverage::Cut,
        GitOutcome::Failed => HistoryCoverage::Nothing,
    }
}
