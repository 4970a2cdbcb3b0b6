//! Summary entries from the observations of a turn: what was read, what changed,
//! what failed and whether it still does.

use std::collections::HashMap;

use super::{ChangeStatus, MAX_ENTRIES, MAX_ENTRY_CHARS, Step, StepResult};
use crate::fix::never_ran;
use crate::output::{only_looks, takes_in};
use crate::sentence::strip_markup;

/// The entries from steps, the most important first.
#[derive(Debug, Default)]
pub(super) struct StepEntries {
    pub(super) investigated: Vec<String>,
    /// What failed and was abandoned, or passed later.
    pub(super) failed: Vec<String>,
    pub(super) learned: Vec<String>,
    /// Changes that were reverted.
    pub(super) tried: Vec<String>,
    pub(super) completed: Vec<String>,
    /// What still fails, with its command.
    pub(super) open: Vec<(String, String)>,
    /// Commands that passed when they were last run.
    pub(super) passed: Vec<String>,
    pub(super) files: Vec<String>,
    /// How many of them were changed; they come first.
    pub(super) changed: usize,
}

/// Label of an open step whose command still fails.
pub(crate) const STILL_FAILING_PREFIX: &str = "Still failing: ";
/// Label of a command that failed and was not run again.
pub(super) const FAILED_PREFIX: &str = "Failed: ";
/// Label of a command that failed before it passed.
const FAILED_FIRST_PREFIX: &str = "Failed before it passed: ";
/// Commands that are kept as having passed, the last ones.
const MAX_PASSED_COMMANDS: usize = 24;
/// How many names a grouped entry shows.
const MAX_GROUP_NAMES: usize = 6;

pub(super) fn extract_step_entries(steps: &[Step]) -> StepEntries {
    let mut done = StepEntries::default();
    let mut reads: Vec<&str> = Vec::new();
    let mut changes: Vec<&Step> = Vec::new();
    let mut results: Vec<String> = Vec::new();
    // Identified by command where there is one: the titles of a failing and a passing
    // run may have nothing in common.
    let heads: Vec<String> = steps
        .iter()
        .map(|s| {
            s.command
                .map_or_else(|| extract_title_head(s.title), str::to_owned)
        })
        .collect();
    // Where each command last passed and last failed.
    let mut last: HashMap<&String, (Option<usize>, Option<usize>)> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let place = last.entry(&heads[at]).or_default();
        match step.result {
            StepResult::Passed => place.0 = Some(at),
            StepResult::Failed => place.1 = Some(at),
        }
    }
    for (at, step) in steps.iter().enumerate() {
        let title = strip_markup(step.title);
        match classify_step(step) {
            StepRole::Failure => {
                let (passed, failed) = last.get(&heads[at]).copied().unwrap_or_default();
                // A later pass of a command that includes this one counts too.
                let is_fixed = passed > Some(at)
                    || last.iter().any(|(key, (passed, _))| {
                        passed.is_some_and(|p| p > at && steps[p].command.is_some())
                            && step.command.is_some_and(|failed| takes_in(key, failed))
                    });
                // The first fact is the command line, which is no finding.
                let fact = step
                    .facts
                    .iter()
                    .find(|f| !f.starts_with("$ "))
                    .map(|f| strip_markup(f))
                    .filter(|f| !contains_fact(&title, f));
                let outcome = fact.map_or_else(|| title.clone(), |f| format!("{title}: {f}"));
                // A failure is not listed as learned: what came of it is.
                if is_fixed {
                    done.failed.push(format!("{FAILED_FIRST_PREFIX}{outcome}"));
                } else if failed > Some(at) {
                    // Only the last of several failures shows the current state.
                } else if is_check(step) && !never_ran(step.title) {
                    let text = format!("{STILL_FAILING_PREFIX}{outcome}");
                    let command = step.command.unwrap_or_default();
                    done.open.push((text, command.to_owned()));
                } else {
                    done.failed.push(format!("{FAILED_PREFIX}{outcome}"));
                }
            }
            StepRole::Change => changes.push(step),
            StepRole::Tried => done.tried.push(title),
            StepRole::Result => results.push(title),
            StepRole::Decision => done.learned.push(title),
            StepRole::Read => reads.extend(step.files_read.iter().map(String::as_str)),
            StepRole::Look => done.investigated.push(title),
            StepRole::Other => {}
        }
    }
    // A reverted commit is no result, like its edits.
    let reverted: Vec<&str> = steps
        .iter()
        .filter_map(|step| quoted_revert(step.title))
        .collect();
    results.retain(|result| !reverted.iter().any(|subject| result.contains(subject)));
    done.completed = list_changes(&changes);
    // A later run of the same check replaces an earlier one.
    results.reverse();
    let mut latest: Vec<String> = Vec::new();
    for result in results {
        if !latest
            .iter()
            .any(|l| extract_title_head(l) == extract_title_head(&result))
        {
            latest.push(result);
        }
    }
    latest.reverse();
    done.completed.extend(latest);
    let mut investigated = group_by_folder("Read", &reads);
    investigated.append(&mut done.investigated);
    // Failures come first: the list is bounded, and they say more than what was read.
    let mut seen = std::mem::take(&mut done.failed);
    seen.append(&mut investigated);
    done.investigated = seen;
    done.files = list_files(steps);
    let is_changed = |file: &&String| {
        let mut steps = steps
            .iter()
            .filter(|step| step.standing == ChangeStatus::Stands);
        steps.any(|step| step.files_modified.contains(file))
    };
    done.changed = done.files.iter().take_while(is_changed).count();
    done.passed = list_passed_commands(steps);
    done
}

/// The subject of the commit that a title reports as reverted.
fn quoted_revert(title: &str) -> Option<&str> {
    let (_, rest) = title.split_once("Revert \"")?;
    rest.split_once('"').map(|(subject, _)| subject)
}

/// Commands that passed when they were last run, in that order.
fn list_passed_commands(steps: &[Step]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut passed: Vec<String> = Vec::new();
    for step in steps.iter().rev() {
        let Some(command) = step.command.filter(|command| !seen.contains(command)) else {
            continue;
        };
        seen.push(command);
        let counts = step.result == StepResult::Passed && !only_looks(command);
        if counts && passed.len() < MAX_PASSED_COMMANDS {
            passed.push(command.to_owned());
        }
    }
    passed.reverse();
    passed
}

enum StepRole {
    Failure,
    Tried,
    Change,
    Result,
    Decision,
    Read,
    Look,
    Other,
}

fn classify_step(step: &Step) -> StepRole {
    if step.result == StepResult::Failed {
        return StepRole::Failure;
    }
    match step.standing {
        ChangeStatus::Stands => {}
        ChangeStatus::Tried => return StepRole::Tried,
        ChangeStatus::Reversal => return StepRole::Other,
    }
    if !step.files_modified.is_empty()
        || matches!(
            step.kind,
            "bugfix" | "feature" | "refactor" | "change" | "edit" | "commit"
        )
    {
        return StepRole::Change;
    }
    if step.kind == "decision" {
        return StepRole::Decision;
    }
    // Listed in the notes already; and "squash before you merge" merged nothing.
    if matches!(step.kind, "preference" | "correction") {
        return StepRole::Other;
    }
    let title = step.title.to_lowercase();
    if !step.files_read.is_empty() && (step.kind == "read" || title.starts_with("read ")) {
        return StepRole::Read;
    }
    if is_check(step)
        || [
            "commit", "push", "merge", "publish", "release", "install", "rebase", "deploy",
        ]
        .iter()
        .any(|w| title.contains(w))
    {
        return StepRole::Result;
    }
    if matches!(
        step.kind,
        "discovery" | "search" | "read" | "fetch" | "research"
    ) || !step.files_read.is_empty()
    {
        return StepRole::Look;
    }
    StepRole::Other
}

/// Tools whose results begin with their name and contain no word for a check.
const CHECK_TOOLS: &[&str] = &[
    "rustc", "javac", "gcc", "clang", "make", "maven", "gradle", "mocha", "pyright", "flake8",
    "go vet",
];

/// Whether it is a test, build or linter: its last result shows the state of the
/// work.
fn is_check(step: &Step) -> bool {
    let title = step.title.to_lowercase();
    let tool = title.split_once(':').map_or("", |(tool, _)| tool);
    step.kind == "test"
        || CHECK_TOOLS.contains(&tool)
        || [
            "test", "pytest", "jest", "clippy", "lint", "build", "check", "tsc", "compil", "ruff",
            "eslint", "mypy", "passed",
        ]
        .iter()
        .any(|w| title.contains(w))
            && step.files_modified.is_empty()
            && step.kind != "discovery"
}

/// The words of a title that stay the same when a command is run again: without
/// numbers and outcome.
fn extract_title_head(title: &str) -> String {
    let lower = title.to_lowercase();
    let before = lower
        .split([':', '：', '—', '('])
        .next()
        .unwrap_or_default();
    let words = before.split_whitespace().filter(|w| {
        !w.bytes().any(|b| b.is_ascii_digit())
            && !matches!(
                *w,
                "failed"
                    | "passed"
                    | "failing"
                    | "passing"
                    | "passes"
                    | "fails"
                    | "ok"
                    | "succeeded"
                    | "ran"
                    | "all"
                    | "of"
                    | "now"
                    | "again"
                    | "with"
                    | "pass"
                    | "fail"
                    | "in"
            )
    });
    words.take(6).collect::<Vec<_>>().join(" ")
}

/// One entry per change while they fit, otherwise one per directory.
fn list_changes(changes: &[&Step]) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    for change in changes {
        let title = strip_markup(change.title);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    if titles.len() <= MAX_ENTRIES - 2 {
        return titles;
    }
    let files = |wanted: fn(&Step) -> bool| -> Vec<&str> {
        let steps = changes.iter().filter(|c| wanted(c));
        let files = steps.flat_map(|c| c.files_modified);
        files.map(String::as_str).collect()
    };
    let new = files(|c| c.title.starts_with("Created "));
    let mut others = files(|_| true);
    others.retain(|file| !new.contains(file));
    let mut entries = group_by_folder("Created", &new);
    entries.extend(group_by_folder("Changed", &others));
    entries.extend(
        changes
            .iter()
            .filter(|c| c.files_modified.is_empty())
            .map(|c| strip_markup(c.title)),
    );
    entries
}

/// Whether the title contains every word of a fact.
fn contains_fact(title: &str, fact: &str) -> bool {
    let mut words = fact.split_whitespace().map(|w| w.trim_matches(':'));
    words.all(|word| title.contains(word))
}

/// "Read 4 files in crates/store: a.rs, b.rs, c.rs, d.rs"
fn group_by_folder(verb: &str, paths: &[&str]) -> Vec<String> {
    let mut folders: Vec<(&str, Vec<&str>)> = Vec::new();
    for path in paths {
        let (folder, name) = path
            .trim_end_matches('/')
            .rsplit_once(['/', '\\'])
            .unwrap_or(("", path));
        match folders.iter_mut().find(|(f, _)| *f == folder) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => folders.push((folder, vec![name])),
        }
    }
    // The directories with the most files come first.
    folders.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    folders
        .iter()
        .map(
            |(folder, names)| match (folder.is_empty(), names.as_slice()) {
                (true, [name]) => format!("{verb} {name}"),
                (false, [name]) => format!("{verb} {folder}/{name}"),
                (top, names) => {
                    let place = if top {
                        String::new()
                    } else {
                        format!(" in {folder}")
                    };
                    let more = if names.len() > MAX_GROUP_NAMES {
                        ", …"
                    } else {
                        ""
                    };
                    format!(
                        "{verb} {} files{place}: {}{more}",
                        names.len(),
                        names[..names.len().min(MAX_GROUP_NAMES)].join(", ")
                    )
                }
            },
        )
        .collect()
}

fn list_files(steps: &[Step]) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let stands = |step: &&Step| step.standing == ChangeStatus::Stands;
    let changed = steps.iter().filter(stands).flat_map(|s| s.files_modified);
    let tried = steps.iter().filter(|step| !stands(step));
    let tried = tried.flat_map(|s| s.files_modified);
    let read = steps.iter().flat_map(|s| s.files_read);
    for file in changed.chain(tried).chain(read) {
        if list.len() == MAX_ENTRIES {
            break;
        }
        // Left out, not truncated: a truncated path names another file.
        let whole =
            !file.is_empty() && file.chars().count() <= MAX_ENTRY_CHARS && !file.contains('\n');
        if whole && !list.contains(file) {
            list.push(file.clone());
        }
    }
    list
}
