//! Learned fixes: a command that fails, then edits and commands that change
//! something, then the same command passing, is an error and its fix. So is another
//! form of the command that passes, with what was added to it.

use remora_core::detail::{DetailList, DetailNumber, DetailText, ItemDetail};
use remora_core::record::{Item, Kind};
use remora_core::tokens;

use crate::output::{
    added_to, bypasses_check, can_change_state, drop_privileges, drops_option, is_git_form,
    may_change_state, settings_of, takes_in,
};

mod bearing;
mod lesson;
mod reversal;

use bearing::{FixRelevance, MIN_FIX_RELEVANCE, is_about_tests};
use lesson::has_lesson;
pub(crate) use reversal::{REVERTED_PREFIX, is_reversal, is_tried, tell_reversal};
use reversal::{StandingEdits, first_title, sets_aside, tell_tried};

/// Open failures of one session.
const MAX_OPEN_FAILURES: usize = 16;
/// Edits and commands of one fix.
const MAX_STEPS: usize = 8;
/// Up to so many steps may be the fix although none is related to the error, since
/// an error often names nothing of the setting that fixes it. Among more it is
/// unclear which one did.
const MAX_UNRELATED_STEPS: usize = 2;
/// Bytes of a command line in a title.
const MAX_COMMAND_BYTES: usize = 100;
/// Bytes of diff that are kept of each edit.
const MAX_DIFF_BYTES: usize = 600;
/// Passes that are recorded for one change.
const MAX_PASSES: usize = 4;
/// Earlier changes that are recorded for one error.
const MAX_EARLIER_CHANGES: usize = 4;

/// Between an error and its fix.
const ARROW: &str = " → ";

#[derive(Debug)]
struct OpenFailure {
    command: String,
    /// `None` for a test run that does not say why it failed: the edits after it fix
    /// something, but nothing can be learned from them.
    fingerprint: Option<String>,
    item: Item,
    /// What was done since: edits, and commands that change something.
    steps: Vec<Item>,
    /// How many of these steps the error has survived: they alone did not fix it.
    tried: usize,
    /// Whether the command fails with another error since: what is done now is for
    /// that one.
    is_gone: bool,
}

impl OpenFailure {
    /// Whether this passing command shows that the failure is gone.
    fn is_ended_by(&self, passing: &Item, command: &str) -> bool {
        // A wider run that passes includes this one, unless it lacks an option that
        // could be why this one failed, such as `--frozen-lockfile`.
        self.command == command
            || takes_in(command, &self.command) && !drops_option(&self.command, command)
            || added_to(&self.command, command).is_some()
            || is_git_form(&self.command, command)
            || is_same_test(&self.item, &self.command, passing, command)
    }

    /// What the passing form of the command has in addition to the failing one.
    fn added_by(&self, passing: &Item, command: &str) -> Option<String> {
        let set = |item: &Item| -> Vec<String> {
            let set = command_line(item).map(settings_of).unwrap_or_default();
            set.into_iter().map(str::to_owned).collect()
        };
        let before = set(&self.item);
        let mut added: Vec<String> = set(passing);
        added.retain(|setting| !before.contains(setting));
        added.extend(added_to(&self.command, command));
        if is_git_form(&self.command, command) && added.is_empty() {
            return Some(command.to_owned());
        }
        (!added.is_empty()).then(|| added.join(" "))
    }
}

/// Whether a command line failed before its command began, because `cd` found no
/// such directory.
pub(crate) fn never_ran(title: &str) -> bool {
    title.contains(": cd: ")
        && (title.contains("No such file") || title.contains("Not a directory"))
}

/// Whether a narrower run is of the very test that failed.
fn is_same_test(failure: &Item, failed: &str, passing: &Item, command: &str) -> bool {
    let names = || command.split(' ').filter(|word| !failed.contains(word));
    let told = |word: &str| {
        let name = word.rsplit(['/', ':', '=']).next().unwrap_or(word);
        let name = name.trim_matches(['\'', '"']);
        name.len() > 4 && failure.facts.iter().skip(1).any(|fact| fact.contains(name))
    };
    let is_test = failure.detail_text(DetailText::Tool) == passing.detail_text(DetailText::Tool)
        && passing.detail_text(DetailText::Tool).is_some();
    is_test
        && takes_in(failed, command)
        && names().next().is_some()
        && names().all(|word| word.starts_with('-') || told(word))
}

/// The failures of a session whose commands have not passed since.
#[derive(Debug, Default)]
pub(crate) struct OpenFailures {
    open: Vec<OpenFailure>,
    /// Commands that were fixed in this session, with the key of their fix.
    mended: Vec<(String, String)>,
    edits: StandingEdits,
}

impl OpenFailures {
    /// The failure that a change of this file is likely to fix: the last one of a
    /// recognised tool, or one that mentions the file.
    pub(crate) fn find_failure_behind(&self, path: &str) -> Option<&Item> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let speaks = |text: &String| !name.is_empty() && text.contains(name);
        let likely = |item: &&Item| {
            let known = item.detail_text(DetailText::Tool).is_some();
            known || speaks(&item.title) || speaks(&item.text) || item.facts.iter().any(speaks)
        };
        self.open.iter().rev().map(|open| &open.item).find(likely)
    }

    /// Whether this error has occurred and has not been fixed since.
    pub(crate) fn contains_fingerprint(&self, print: &str) -> bool {
        self.open
            .iter()
            .any(|open| open.fingerprint.as_deref() == Some(print))
    }

    /// The edits that this item reverts, each rewritten as what was tried and the
    /// failure after which it was reverted.
    pub(crate) fn tried_before(&self, item: &Item) -> Vec<Item> {
        let tell = |edit: &Item| {
            let mut open = self.open.iter().rev().map(|open| &open.item);
            tell_tried(edit, open.find(|failure| failure.time >= edit.time))
        };
        self.edits.undone_by(item).into_iter().map(tell).collect()
    }

    /// Records an item of the session.
    pub(crate) fn record_item(&mut self, item: &Item) {
        self.edits.record_item(item);
        if let Some(command) = item.command() {
            if item.kind == Kind::Failure {
                self.add_failure(command, item);
                return;
            }
            self.open.retain(|open| !open.is_ended_by(item, command));
            if can_change_state(command) || may_change_state(command) && !is_check(item) {
                self.add_step(item);
            }
        } else if !item.files_modified.is_empty() && item.kind != Kind::Failure {
            self.add_step(item);
        }
    }

    fn add_step(&mut self, item: &Item) {
        for open in self.open.iter_mut().filter(|open| !open.is_gone) {
            if is_doubtful(item) && item.command() == Some(open.command.as_str()) {
                continue;
            }
            // The oldest step goes: the fix is likelier among the latest. One that may
            // have changed nothing goes first.
            if open.steps.len() == MAX_STEPS {
                let at = open.steps.iter().position(is_doubtful).unwrap_or(0);
                open.steps.remove(at);
                open.tried -= usize::from(at < open.tried);
            }
            open.steps.push(item.clone());
        }
    }

    fn add_failure(&mut self, command: &str, item: &Item) {
        let print = item.detail_text(DetailText::Fingerprint);
        // Without a fingerprint nothing can be learned, but an edit after a failing test
        // is still known as a bugfix.
        if print.is_none() && !item.concepts.iter().any(|concept| concept == "test") {
            return;
        }
        // A `cd` into a missing directory says nothing about the command.
        if never_ran(&item.title) {
            return;
        }
        // The same error again: the edits so far did not fix it, but they may be part
        // of what will.
        let known =
            |open: &OpenFailure| open.command == command && open.fingerprint.as_deref() == print;
        let mut is_known = false;
        for open in &mut self.open {
            if known(open) {
                open.tried = open.steps.len();
                open.is_gone = false;
                is_known = true;
            } else if open.command == command && open.fingerprint.is_some() && print.is_some() {
                open.is_gone = true;
            }
        }
        if is_known {
            return;
        }
        if self.open.len() == MAX_OPEN_FAILURES {
            self.open.remove(0);
        }
        self.open.push(OpenFailure {
            command: command.to_owned(),
            fingerprint: print.map(str::to_owned),
            item: item.clone(),
            steps: Vec::new(),
            tried: 0,
            is_gone: false,
        });
    }

    /// The fixes that this passing command proves, as items to be put by key.
    /// `known` returns the fix that was learned before.
    pub(crate) fn find_proven_fixes<E>(
        &mut self,
        passing: &Item,
        mut known: impl FnMut(&str) -> Result<Option<Item>, E>,
    ) -> Result<Vec<Item>, E> {
        let Some(command) = passing.command() else {
            return Ok(Vec::new());
        };
        let mut fixes = Vec::new();
        for open in &self.open {
            if !open.is_ended_by(passing, command) {
                continue;
            }
            let Some(print) = open
                .fingerprint
                .as_deref()
                .filter(|_| has_lesson(&open.item))
            else {
                continue;
            };
            let Some(change) = FixingChange::from_failure(open, passing, command) else {
                continue;
            };
            let before = known(print)?;
            // From the passing call, so that a rebuild produces the same uid.
            let uid = match fixes.len() {
                0 => format!("{}/fix", passing.uid),
                n => format!("{}/fix{n}", passing.uid),
            };
            fixes.push(build_fix(
                open,
                print,
                &change,
                passing,
                before.as_ref(),
                uid,
            ));
            self.mended.push((command.to_owned(), print.to_owned()));
        }
        // A further pass of a command that was fixed shows that the fix holds.
        if fixes.is_empty() {
            for (_, key) in self.mended.iter().filter(|(c, _)| c == command) {
                fixes.extend(known(key)?.map(|fix| increment_count(fix, DetailNumber::Held)));
            }
        }
        Ok(fixes)
    }
}

/// Counts that the error of a fix has come back.
pub(crate) fn count_return(fix: Item) -> Item {
    increment_count(fix, DetailNumber::Returned)
}

fn increment_count(mut fix: Item, counter: DetailNumber) -> Item {
    if let Some(detail) = &mut fix.detail {
        let count = detail.read_count(counter).unwrap_or(0);
        detail.set_number(counter, count + 1);
    }
    fix
}

/// The change of a fix, from its title.
pub(crate) fn change_title(fix: &Item) -> &str {
    fix.title.rsplit(ARROW).next().unwrap_or(&fix.title)
}

/// Whether a fix bypasses a check. Such fixes are no longer learned, but stores of
/// earlier versions have them.
pub(crate) fn steps_over_check(fix: &Item) -> bool {
    let told = change_title(fix).strip_suffix('`').unwrap_or_default();
    match told.split_once('`') {
        Some(("Ran ", line)) => drop_privileges(line) != line || bypasses_check(line),
        Some(("Ran it with ", form)) => {
            let command = fix.command().unwrap_or_default();
            bypasses_check(&format!("{command} {form}")) || bypasses_check(form)
        }
        _ => false,
    }
}

/// What was done between a failure and the pass.
struct FixingChange<'a> {
    /// Edits and commands that were not reverted.
    steps: Vec<&'a Item>,
    /// Edits that a later one reverted.
    taken_back: Vec<&'a Item>,
    /// The change in one line.
    title: String,
    /// What was added to the command.
    form: Option<String>,
}

impl<'a> FixingChange<'a> {
    /// `None` if nothing was done that is related to the error, all of it was
    /// reverted, or a check was bypassed.
    fn from_failure(open: &'a OpenFailure, passing: &Item, command: &str) -> Option<Self> {
        // Commands that may have changed something count only where nothing else did.
        Self::among_steps(open, passing, command, |step| !is_doubtful(step))
            .or_else(|| Self::among_steps(open, passing, command, |_| true))
    }

    /// The same among the steps that count.
    fn among_steps(
        open: &'a OpenFailure,
        passing: &Item,
        command: &str,
        counts: impl Fn(&Item) -> bool,
    ) -> Option<Self> {
        let steps_over = |item: &Item| command_line(item).is_some_and(bypasses_check);
        if steps_over(passing) && !steps_over(&open.item) {
            return None;
        }
        let mut steps: Vec<&Item> = Vec::new();
        let mut taken_back = Vec::new();
        // Whether something done before the failure was reverted after it.
        let mut undid_earlier = false;
        let steps_that_count = open.steps.iter().filter(|step| counts(step));
        for step in steps_that_count.filter(|step| !steps_over(step)) {
            if !is_reversal(step) {
                undid_earlier |= sets_aside(step);
                steps.push(step);
            }
            for uid in step.detail_list(DetailList::Reverts) {
                match steps.iter().rposition(|before| before.uid == uid) {
                    Some(at) => taken_back.push(steps.remove(at)),
                    None => undid_earlier = true,
                }
            }
        }
        steps.retain(|step| !sets_aside(step));
        let form = open.added_by(passing, command);
        let bearing = FixRelevance::from_failure(&open.item);
        // What git refuses is fixed by a command, not by a change of a file.
        if open
            .item
            .detail_text(DetailText::Tool)
            .is_some_and(|tool| tool.starts_with("git "))
        {
            steps.retain(|step| step.command().is_some());
        }
        // Between a failure and the pass all kinds of things are done. Only steps that
        // are related to the error are kept, the most related one first.
        let best = steps.iter().map(|step| bearing.score_step(step)).max();
        let is_fitting = best.is_some_and(|best| best >= MIN_FIX_RELEVANCE);
        // An edit broke it, and without that edit it passes: nothing was fixed.
        if undid_earlier && !is_fitting {
            return None;
        }
        if is_fitting || form.is_some() {
            steps.retain(|step| bearing.score_step(step) > 0);
        } else {
            // No step is clearly related: those after the error's last occurrence are the
            // likeliest.
            let last = &open.steps[open.tried..];
            steps.retain(|step| last.iter().any(|other| std::ptr::eq(*step, other)));
            // The pass may be due to the command that bypassed a check, so no other
            // command is credited with it.
            if open.steps.iter().any(steps_over) {
                steps.retain(|step| step.command().is_none());
            }
            // Among many steps, one shared word is enough to prefer a step.
            if steps.len() > MAX_UNRELATED_STEPS {
                steps.retain(|step| bearing.score_step(step) > 0);
            }
            if steps.len() > MAX_UNRELATED_STEPS || steps.iter().all(|step| is_about_tests(step)) {
                return None;
            }
        }
        let main = best.and_then(|best| {
            steps
                .iter()
                .rposition(|step| bearing.score_step(step) == best)
        });
        let title = match (main, &form) {
            (Some(at), _) if is_fitting => tell_step(steps[at]),
            (_, Some(form)) => format!("Ran it with `{form}`"),
            (Some(at), None) => tell_step(steps[at]),
            (None, None) => return None,
        };
        if let Some(at) = main {
            let step = steps.remove(at);
            steps.insert(0, step);
        }
        Some(Self {
            steps,
            taken_back,
            title,
            form,
        })
    }
}

/// Whether a step is a command of which it is not known that it changes anything.
fn is_doubtful(step: &Item) -> bool {
    step.command()
        .is_some_and(|command| !can_change_state(command))
}

/// Whether a command was read as a test or a check of the code.
fn is_check(item: &Item) -> bool {
    let is = |concept: &String| matches!(concept.as_str(), "test" | "lint" | "type check");
    item.concepts.iter().any(is)
}

/// What a step did: the change of a file, or the command line that was run.
fn tell_step(step: &Item) -> String {
    match step.command() {
        Some(_) => told_command(step),
        None => step.title.clone(),
    }
}

/// The command line as it was run: extraction stores it as the first fact.
fn command_line(item: &Item) -> Option<&str> {
    item.facts.first()?.strip_prefix("$ ")
}

/// The line that was run.
fn told_command(step: &Item) -> String {
    match command_line(step) {
        Some(line) => {
            // A fix must not advise more rights; that is for the user to decide.
            let line = drop_privileges(line);
            format!(
                "Ran `{}`",
                &line[..line.floor_char_boundary(MAX_COMMAND_BYTES)]
            )
        }
        None => step.title.clone(),
    }
}

fn build_fix(
    open: &OpenFailure,
    print: &str,
    done: &FixingChange<'_>,
    passing: &Item,
    before: Option<&Item>,
    uid: String,
) -> Item {
    let last = done.title.as_str();
    // The counters belong to a change, not to the error: another change starts at zero,
    // and a rejection of the old one does not cover it (docs/design/0023).
    let same = before.filter(|fix| change_title(fix) == last);
    let count = |counter| same.and_then(|fix| fix.detail_count(counter)).unwrap_or(0);
    let mut earlier: Vec<&str> = before.map_or_else(Vec::new, |fix| {
        fix.detail_list(DetailList::EarlierChanges)
            .filter(|e| *e != last)
            .collect()
    });
    if same.is_none() {
        earlier.extend(before.map(change_title));
    }
    // The item keeps the uid of the first pass, so the passes of this change are
    // recorded here.
    let mut passes: Vec<&str> = same.map_or_else(Vec::new, |fix| {
        fix.detail_list(DetailList::Passes)
            .take(MAX_PASSES - 1)
            .collect()
    });
    passes.push(&passing.uid);
    let dropped = earlier.len().saturating_sub(MAX_EARLIER_CHANGES);
    let earlier = &earlier[dropped..];
    let mut files: Vec<String> = Vec::new();
    let mut facts = vec![format!("error: {}", open.item.title)];
    let mut text = String::new();
    for step in &done.steps {
        facts.push(format!("fix: {}", tell_step(step)));
        if step.command().is_some() {
            continue;
        }
        let end = step.text.floor_char_boundary(MAX_DIFF_BYTES);
        text.push_str(&step.text[..end]);
        text.push('\n');
        for file in &step.files_modified {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
    }
    if let Some(form) = &done.form {
        facts.push(format!("fix: Ran it with `{form}`"));
    }
    let taken_back = done.taken_back.iter();
    facts.extend(taken_back.map(|edit| format!("tried and taken back: {}", first_title(edit))));
    facts.dedup();
    facts.extend(
        open.item
            .facts
            .iter()
            .take(4)
            .map(|fact| format!("error: {fact}")),
    );
    let title = format!("{}{ARROW}{last}", open.item.title);
    let mut fix = Item {
        id: 0,
        uid: uid.into(),
        key: Some(print.to_owned()),
        kind: Kind::Fix,
        digest_tokens: tokens::estimate_tokens(&title) + tokens::estimate_tokens(&text),
        title,
        text,
        facts,
        concepts: open.item.concepts.clone(),
        files_read: Vec::new(),
        files_modified: files,
        detail: None,
        ..passing.clone()
    };
    let detail = ItemDetail::new()
        .with_text(DetailText::Fingerprint, Some(print))
        .with_text(DetailText::Command, Some(&open.command))
        .with_list_of(DetailList::Says, open.item.detail.as_ref())
        .with_text(DetailText::Error, Some(&open.item.uid))
        .with_list(DetailList::Edits, done.steps.iter().map(|step| &step.uid))
        .with_number(DetailNumber::Fixed, count(DetailNumber::Fixed) + 1)
        .with_number(DetailNumber::Held, count(DetailNumber::Held))
        .with_number(DetailNumber::Returned, count(DetailNumber::Returned))
        .with_list(DetailList::Passes, passes)
        .with_list(DetailList::EarlierChanges, earlier);
    fix.detail = Some(detail);
    fix
}

#[cfg(test)]
mod tests;
