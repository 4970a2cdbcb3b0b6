//! Turns what is known about a name into a verdict. Pure.
//!
//! `None` means that the name is not worth reporting: it may be an ordinary word
//! or belong elsewhere, and nothing in the tree mentions it.

use std::fmt::Write as _;

use super::git::HistoryCoverage;
use super::place::PathStatus;
use super::tasks::{TaskLookup, TaskRunner};
use super::token::{self, is_specific, is_variable, split_qualified_name};
use super::tree::{TreeEvidence, find_variable_prefix, list_spellings};
use super::words::MatchContext;
use super::{Claim, ClaimFinding, ClaimKind, ClaimVerdict, Confidence, Tense, known};

/// A verdict before the sense of the sentence is taken into account.
struct PreliminaryVerdict {
    verdict: ClaimVerdict,
    evidence: String,
    now: Option<String>,
    /// Only a guess, which a sentence in doubt does not bear.
    guess: bool,
}

impl PreliminaryVerdict {
    fn new(verdict: ClaimVerdict, evidence: impl Into<String>) -> Self {
        Self {
            verdict,
            evidence: evidence.into(),
            now: None,
            guess: false,
        }
    }
}

/// The finding on one claim.
pub(super) fn check_claim(claim: Claim, tree: &TreeEvidence) -> Option<ClaimFinding> {
    let ruling = match claim.kind {
        ClaimKind::Path => check_path(&claim, tree),
        ClaimKind::Symbol => check_symbol(&claim, tree),
        ClaimKind::Command => check_command(&claim, tree),
        ClaimKind::Flag => check_flag(&claim, tree),
    }?;
    let (verdict, evidence) = match (claim.sense, ruling.verdict) {
        (Tense::Stated, verdict) | (_, verdict @ ClaimVerdict::Holds) => (verdict, ruling.evidence),
        // A sentence that says a thing was removed is right if it is not there.
        (Tense::Past, _) => (
            ClaimVerdict::Holds,
            format!("not there, and not said to be ({})", ruling.evidence),
        ),
        (Tense::Open, ClaimVerdict::Moved) if !ruling.guess => {
            (ClaimVerdict::Moved, ruling.evidence)
        }
        (Tense::Open, _) => (
            ClaimVerdict::CannotTell,
            format!("not said to be there ({})", ruling.evidence),
        ),
    };
    Some(ClaimFinding {
        now: ruling.now.filter(|_| verdict == ClaimVerdict::Moved),
        claim,
        verdict,
        evidence,
    })
}

/// Drops a loose name without evidence; a firm one gets "cannot tell".
fn cannot_tell(claim: &Claim, evidence: impl Into<String>) -> Option<PreliminaryVerdict> {
    match claim.weight {
        Confidence::Loose => None,
        _ => Some(PreliminaryVerdict::new(ClaimVerdict::CannotTell, evidence)),
    }
}

fn check_path(claim: &Claim, tree: &TreeEvidence) -> Option<PreliminaryVerdict> {
    let Some(fate) = tree.path_status(&claim.text) else {
        return cannot_tell(claim, "not looked for");
    };
    let firm = claim.weight > Confidence::Loose;
    match fate {
        PathStatus::There(place) => Some(PreliminaryVerdict::new(ClaimVerdict::Holds, place)),
        PathStatus::Moved { to, why } => Some(PreliminaryVerdict {
            now: Some(to.clone()),
            ..PreliminaryVerdict::new(ClaimVerdict::Moved, why)
        }),
        PathStatus::Likely { to, why } if firm => Some(PreliminaryVerdict {
            now: Some(to.clone()),
            guess: true,
            ..PreliminaryVerdict::new(ClaimVerdict::Moved, why)
        }),
        PathStatus::Gone(why) => Some(PreliminaryVerdict::new(ClaimVerdict::Gone, why)),
        PathStatus::Absent(why) if firm => Some(PreliminaryVerdict::new(ClaimVerdict::Gone, why)),
        PathStatus::Unknown(why) => cannot_tell(claim, why),
        PathStatus::Likely { .. } | PathStatus::Absent(_) | PathStatus::Outside => None,
    }
}

/// A word in code, not in prose about it.
fn in_code<'a>(tree: &'a TreeEvidence, word: &str) -> Option<&'a super::words::WordHit> {
    let hit = tree.find_hit(word)?;
    hit.place
        .filter(|(context, ..)| *context != MatchContext::Prose)
        .map(|_| hit)
}

fn place_of(tree: &TreeEvidence, word: &str) -> String {
    tree.find_hit(word)
        .and_then(|h| h.place)
        .map_or_else(String::new, |p| tree.format_location(p))
}

fn check_symbol(claim: &Claim, tree: &TreeEvidence) -> Option<PreliminaryVerdict> {
    let mut names = split_qualified_name(&claim.text);
    // These mean the file they are written in, which a memory does not say.
    while names.len() > 1 && matches!(names[0], "crate" | "self" | "super" | "this" | "Self") {
        names.remove(0);
    }
    let (root, last) = (*names.first()?, *names.last()?);
    if !tree.was_asked(last) {
        return cannot_tell(claim, "not looked for");
    }
    // That the parts belong together is not checked: a false "holds" is the lesser fault.
    if names.iter().all(|n| in_code(tree, n).is_some()) {
        return Some(PreliminaryVerdict::new(
            ClaimVerdict::Holds,
            place_of(tree, last),
        ));
    }
    if let Some(name) = names
        .iter()
        .find(|n| tree.find_hit(n).is_some() && in_code(tree, n).is_none())
    {
        return cannot_tell(
            claim,
            format!("only text speaks of it: {}", place_of(tree, name)),
        );
    }
    if claim.weight == Confidence::Loose {
        return None;
    }
    let removal = names
        .iter()
        .find_map(|n| Some((n, tree.removed.find_commit(n)?)));
    if let Some((name, commit)) = removal {
        let evidence = format!(
            "{name}: {}, last line removed in {}",
            describe_not_found(tree),
            commit.as_str()
        );
        return Some(PreliminaryVerdict::new(ClaimVerdict::Gone, evidence));
    }
    if names.len() == 1 {
        return Some(check_single_name(claim, tree, last));
    }
    let Some(owner) = in_code(tree, root) else {
        return cannot_tell(claim, format!("{root}: {}", describe_never_found(tree)));
    };
    // Members of a library's module, or of a value, may exist and be unused here.
    let typed = owner
        .place
        .is_some_and(|(context, ..)| context == MatchContext::Typed);
    if !typed && !tree.is_own(root) {
        return cannot_tell(claim, format!("{root} may come from elsewhere"));
    }
    let specific = last.len() >= 4
        && (is_specific(last) || claim.text.contains("::") || claim.text.ends_with(')'));
    if specific && in_code(tree, last).is_none() {
        let evidence = format!(
            "{root} is at {}, {last}: {}",
            place_of(tree, root),
            describe_not_found(tree)
        );
        return Some(PreliminaryVerdict::new(ClaimVerdict::Gone, evidence));
    }
    cannot_tell(claim, "not all of its parts are found")
}

/// A single name that no file holds and no known commit removed. Where there
/// is a history, only a sentence that is surely about this code makes it gone:
/// names of libraries and other systems look just the same.
fn check_single_name(claim: &Claim, tree: &TreeEvidence, name: &str) -> PreliminaryVerdict {
    let sure = claim.weight == Confidence::Sure || tree.removed.reach == HistoryCoverage::Nothing;
    let kin = find_variable_prefix(name)
        .filter(|f| in_code(tree, f).is_some() && !known::is_foreign_variable(name));
    // A variable may belong to any program. The project's own share a prefix, so a missing
    // one counts only if relatives of it are there.
    match (is_variable(name), kin) {
        (true, Some(kin)) if sure => {
            let evidence = format!(
                "{}, though {kin}.. is at {}",
                describe_not_found(tree),
                place_of(tree, &kin)
            );
            PreliminaryVerdict::new(ClaimVerdict::Gone, evidence)
        }
        (false, _) if sure => PreliminaryVerdict::new(ClaimVerdict::Gone, describe_not_found(tree)),
        _ => PreliminaryVerdict::new(ClaimVerdict::CannotTell, describe_never_found(tree)),
    }
}

/// Nowhere, and what the history says about that.
fn describe_never_found(tree: &TreeEvidence) -> String {
    let history = match tree.removed.reach {
        HistoryCoverage::Whole => "git has never had it",
        HistoryCoverage::Cut => "not removed in the commits that git could show in time",
        HistoryCoverage::Nothing => "no history to ask",
    };
    format!("{}; {history}", describe_not_found(tree))
}

fn describe_not_found(tree: &TreeEvidence) -> String {
    let mut text = format!("in none of {} files", tree.read);
    if tree.too_large > 0 {
        let _ = write!(text, " ({} too large to read)", tree.too_large);
    }
    text
}

fn check_command(claim: &Claim, tree: &TreeEvidence) -> Option<PreliminaryVerdict> {
    let words: Vec<&str> = claim.text.split(' ').collect();
    let (runner, name) = match words.as_slice() {
        ["make", name] => (TaskRunner::Make, *name),
        ["just", name] => (TaskRunner::Just, *name),
        ["task", name] => (TaskRunner::Task, *name),
        ["poe", name] => (TaskRunner::Poe, *name),
        ["npm" | "pnpm" | "yarn" | "bun", "run", name]
        | ["npm" | "pnpm" | "yarn" | "bun", name] => (TaskRunner::Script, *name),
        ["deno", _, name] => (TaskRunner::Deno, *name),
        ["composer", _, name] => (TaskRunner::Composer, *name),
        ["cargo", "xtask", name] => (TaskRunner::Xtask, *name),
        ["cargo", name] => (TaskRunner::Alias, *name),
        ["cargo", _, flag, name] => (cargo_target(flag), *name),
        _ => (TaskRunner::Program, claim.text.as_str()),
    };
    // These also start what a package or an installation brings along.
    let open = matches!(words.as_slice(), ["pnpm" | "yarn" | "bun", name] if !matches!(*name, "test" | "start"))
        || matches!(runner, TaskRunner::Alias | TaskRunner::Program);
    match tree.tasks.find_task(runner, name) {
        TaskLookup::There(place) => Some(PreliminaryVerdict::new(ClaimVerdict::Holds, place)),
        TaskLookup::Missing(file) if !open && claim.weight > Confidence::Loose => Some(
            PreliminaryVerdict::new(ClaimVerdict::Gone, format!("{file} does not name {name}")),
        ),
        TaskLookup::Missing(file) => cannot_tell(claim, format!("{file} does not name {name}")),
        TaskLookup::Unclear(file) => cannot_tell(
            claim,
            format!("{file} does not name {name}, but takes in others"),
        ),
        TaskLookup::NoFile => cannot_tell(claim, "no file of this project names such tasks"),
    }
}

fn cargo_target(flag: &str) -> TaskRunner {
    match flag {
        "--bin" => TaskRunner::Bin,
        "--example" => TaskRunner::Example,
        "--test" => TaskRunner::Test,
        "--bench" => TaskRunner::Bench,
        _ => TaskRunner::Package,
    }
}

fn check_flag(claim: &Claim, tree: &TreeEvidence) -> Option<PreliminaryVerdict> {
    let spellings = list_spellings(&claim.text);
    if !spellings.iter().any(|s| tree.was_asked(s)) {
        return cannot_tell(claim, "not looked for");
    }
    let found = spellings
        .iter()
        .filter_map(|s| tree.find_hit(s)?.flag)
        .min();
    let ours = claim.of.as_deref().map(|program| is_ours(program, tree));
    match (found, ours) {
        (Some(place), _) if place.0 != MatchContext::Prose => Some(PreliminaryVerdict::new(
            ClaimVerdict::Holds,
            tree.format_location(place),
        )),
        // The flag of another program says nothing about this project.
        (_, Some(false)) => None,
        (Some(place), _) => cannot_tell(
            claim,
            format!("only text speaks of it: {}", tree.format_location(place)),
        ),
        (None, Some(true)) => Some(PreliminaryVerdict::new(
            ClaimVerdict::Gone,
            describe_not_found(tree),
        )),
        (None, None) => cannot_tell(
            claim,
            format!("{}; it may be another program's", describe_not_found(tree)),
        ),
    }
}

fn is_ours(program: &str, tree: &TreeEvidence) -> bool {
    if let Some(PathStatus::There(_)) = tree.path_status(program) {
        return true;
    }
    match program.split(' ').collect::<Vec<_>>().as_slice() {
        ["cargo", "run"] => true,
        ["cargo", "xtask", verb] => matches!(
            tree.tasks.find_task(TaskRunner::Xtask, verb),
            TaskLookup::There(_)
        ),
        [name] => {
            token::is_identifier(&name.replace(['-', '.'], "_"))
                && tree.tasks.find_program(name).is_some()
        }
        _ => false,
    }
}
