//! Turns what is known about a name into a verdict. Pure.
//!
//! `None` means that the name is not worth a word: it may be any word, or
//! belongs to another place, and nothing in the tree speaks of it.

use std::fmt::Write as _;

use super::git::Reach;
use super::place::Fate;
use super::tasks::{Answer, Runner};
use super::token::{self, is_specific, is_variable, parts};
use super::tree::{Tree, family, spellings};
use super::words::Stands;
use super::{Claim, ClaimKind, Finding, Sense, Verdict, Weight, known};

/// A verdict before the sense of the sentence is taken into account.
struct Ruling {
    verdict: Verdict,
    evidence: String,
    now: Option<String>,
    /// Only a guess, which a sentence in doubt does not bear.
    guess: bool,
}

impl Ruling {
    fn new(verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self {
            verdict,
            evidence: evidence.into(),
            now: None,
            guess: false,
        }
    }
}

/// The finding on one claim.
pub(super) fn of(claim: Claim, tree: &Tree) -> Option<Finding> {
    let ruling = match claim.kind {
        ClaimKind::Path => path(&claim, tree),
        ClaimKind::Symbol => symbol(&claim, tree),
        ClaimKind::Command => command(&claim, tree),
        ClaimKind::Flag => flag(&claim, tree),
    }?;
    let (verdict, evidence) = match (claim.sense, ruling.verdict) {
        (Sense::Stated, verdict) | (_, verdict @ Verdict::Holds) => (verdict, ruling.evidence),
        (Sense::Past, _) => (
            Verdict::Holds,
            format!("not there, and not said to be ({})", ruling.evidence),
        ),
        (Sense::Open, Verdict::Moved) if !ruling.guess => (Verdict::Moved, ruling.evidence),
        (Sense::Open, _) => (
            Verdict::CannotTell,
            format!("not said to be there ({})", ruling.evidence),
        ),
    };
    Some(Finding {
        now: ruling.now.filter(|_| verdict == Verdict::Moved),
        claim,
        verdict,
        evidence,
    })
}

/// A loose name without evidence is dropped; a firm one cannot be told.
fn unsure(claim: &Claim, evidence: impl Into<String>) -> Option<Ruling> {
    match claim.weight {
        Weight::Loose => None,
        _ => Some(Ruling::new(Verdict::CannotTell, evidence)),
    }
}

fn path(claim: &Claim, tree: &Tree) -> Option<Ruling> {
    let Some(fate) = tree.fate(&claim.text) else {
        return unsure(claim, "not looked for");
    };
    let firm = claim.weight > Weight::Loose;
    match fate {
        Fate::There(place) => Some(Ruling::new(Verdict::Holds, place)),
        Fate::Moved { to, why } => Some(Ruling {
            now: Some(to.clone()),
            ..Ruling::new(Verdict::Moved, why)
        }),
        Fate::Likely { to, why } if firm => Some(Ruling {
            now: Some(to.clone()),
            guess: true,
            ..Ruling::new(Verdict::Moved, why)
        }),
        Fate::Gone(why) => Some(Ruling::new(Verdict::Gone, why)),
        Fate::Absent(why) if firm => Some(Ruling::new(Verdict::Gone, why)),
        Fate::Unknown(why) => unsure(claim, why),
        Fate::Likely { .. } | Fate::Absent(_) | Fate::Outside => None,
    }
}

/// A word as code holds it, not as texts tell of it.
fn in_code<'a>(tree: &'a Tree, word: &str) -> Option<&'a super::words::Hit> {
    let hit = tree.hit(word)?;
    hit.place
        .filter(|(stands, ..)| *stands != Stands::Told)
        .map(|_| hit)
}

fn place_of(tree: &Tree, word: &str) -> String {
    tree.hit(word)
        .and_then(|h| h.place)
        .map_or_else(String::new, |p| tree.place(p))
}

fn symbol(claim: &Claim, tree: &Tree) -> Option<Ruling> {
    let mut names = parts(&claim.text);
    while names.len() > 1 && matches!(names[0], "crate" | "self" | "super" | "this" | "Self") {
        names.remove(0);
    }
    let (root, last) = (*names.first()?, *names.last()?);
    if !tree.was_asked(last) {
        return unsure(claim, "not looked for");
    }
    if names.iter().all(|n| in_code(tree, n).is_some()) {
        return Some(Ruling::new(Verdict::Holds, place_of(tree, last)));
    }
    if let Some(told) = names
        .iter()
        .find(|n| tree.hit(n).is_some() && in_code(tree, n).is_none())
    {
        return unsure(
            claim,
            format!("only text speaks of it: {}", place_of(tree, told)),
        );
    }
    if claim.weight == Weight::Loose {
        return None;
    }
    let removal = names.iter().find_map(|n| Some((n, tree.removed.of(n)?)));
    if let Some((name, commit)) = removal {
        let evidence = format!(
            "{name}: {}, last line removed in {}",
            nowhere(tree),
            commit.words()
        );
        return Some(Ruling::new(Verdict::Gone, evidence));
    }
    if names.len() == 1 {
        return Some(lone(claim, tree, last));
    }
    let Some(owner) = in_code(tree, root) else {
        return unsure(claim, format!("{root}: {}", never(tree)));
    };
    // Members of a library's module, or of a value, may well be unused here.
    let typed = owner
        .place
        .is_some_and(|(stands, ..)| stands == Stands::Typed);
    if !typed && !tree.is_own(root) {
        return unsure(claim, format!("{root} may come from elsewhere"));
    }
    let telling = last.len() >= 4
        && (is_specific(last) || claim.text.contains("::") || claim.text.ends_with(')'));
    if telling && in_code(tree, last).is_none() {
        let evidence = format!(
            "{root} is at {}, {last}: {}",
            place_of(tree, root),
            nowhere(tree)
        );
        return Some(Ruling::new(Verdict::Gone, evidence));
    }
    unsure(claim, "not all of its parts are found")
}

/// A single name that no file holds and no known commit removed. Where there
/// is a history, only a sentence that is surely about this code makes it gone:
/// names of libraries and other systems look just the same.
fn lone(claim: &Claim, tree: &Tree, name: &str) -> Ruling {
    let sure = claim.weight == Weight::Sure || tree.removed.reach == Reach::Nothing;
    let kin =
        family(name).filter(|f| in_code(tree, f).is_some() && !known::is_foreign_variable(name));
    // A variable may be read by any program; ours come in families.
    match (is_variable(name), kin) {
        (true, Some(kin)) if sure => {
            let evidence = format!(
                "{}, though {kin}.. is at {}",
                nowhere(tree),
                place_of(tree, &kin)
            );
            Ruling::new(Verdict::Gone, evidence)
        }
        (false, _) if sure => Ruling::new(Verdict::Gone, nowhere(tree)),
        _ => Ruling::new(Verdict::CannotTell, never(tree)),
    }
}

/// Nowhere, and what the history says about that.
fn never(tree: &Tree) -> String {
    let told = match tree.removed.reach {
        Reach::Whole => "git has never had it",
        Reach::Cut => "not removed in the commits that git could show in time",
        Reach::Nothing => "no history to ask",
    };
    format!("{}; {told}", nowhere(tree))
}

fn nowhere(tree: &Tree) -> String {
    let mut text = format!("in none of {} files", tree.read);
    if tree.too_large > 0 {
        let _ = write!(text, " ({} too large to read)", tree.too_large);
    }
    text
}

fn command(claim: &Claim, tree: &Tree) -> Option<Ruling> {
    let words: Vec<&str> = claim.text.split(' ').collect();
    let (runner, name) = match words.as_slice() {
        ["make", name] => (Runner::Make, *name),
        ["just", name] => (Runner::Just, *name),
        ["task", name] => (Runner::Task, *name),
        ["poe", name] => (Runner::Poe, *name),
        ["npm" | "pnpm" | "yarn" | "bun", "run", name]
        | ["npm" | "pnpm" | "yarn" | "bun", name] => (Runner::Script, *name),
        ["deno", _, name] => (Runner::Deno, *name),
        ["composer", _, name] => (Runner::Composer, *name),
        ["cargo", "xtask", name] => (Runner::Xtask, *name),
        ["cargo", name] => (Runner::Alias, *name),
        ["cargo", _, flag, name] => (cargo_target(flag), *name),
        _ => (Runner::Program, claim.text.as_str()),
    };
    // These also start what a package or an installation brings along.
    let open = matches!(words.as_slice(), ["pnpm" | "yarn" | "bun", name] if !matches!(*name, "test" | "start"))
        || matches!(runner, Runner::Alias | Runner::Program);
    match tree.tasks.ask(runner, name) {
        Answer::There(place) => Some(Ruling::new(Verdict::Holds, place)),
        Answer::Missing(file) if !open && claim.weight > Weight::Loose => Some(Ruling::new(
            Verdict::Gone,
            format!("{file} does not name {name}"),
        )),
        Answer::Missing(file) => unsure(claim, format!("{file} does not name {name}")),
        Answer::Unclear(file) => unsure(
            claim,
            format!("{file} does not name {name}, but takes in others"),
        ),
        Answer::NoFile => unsure(claim, "no file of this project names such tasks"),
    }
}

fn cargo_target(flag: &str) -> Runner {
    match flag {
        "--bin" => Runner::Bin,
        "--example" => Runner::Example,
        "--test" => Runner::Test,
        "--bench" => Runner::Bench,
        _ => Runner::Package,
    }
}

fn flag(claim: &Claim, tree: &Tree) -> Option<Ruling> {
    let spellings = spellings(&claim.text);
    if !spellings.iter().any(|s| tree.was_asked(s)) {
        return unsure(claim, "not looked for");
    }
    let found = spellings.iter().filter_map(|s| tree.hit(s)?.flag).min();
    let ours = claim.of.as_deref().map(|program| is_ours(program, tree));
    match (found, ours) {
        (Some(place), _) if place.0 != Stands::Told => {
            Some(Ruling::new(Verdict::Holds, tree.place(place)))
        }
        (_, Some(false)) => None,
        (Some(place), _) => unsure(
            claim,
            format!("only text speaks of it: {}", tree.place(place)),
        ),
        (None, Some(true)) => Some(Ruling::new(Verdict::Gone, nowhere(tree))),
        (None, None) => unsure(
            claim,
            format!("{}; it may be another program's", nowhere(tree)),
        ),
    }
}

fn is_ours(program: &str, tree: &Tree) -> bool {
    if let Some(Fate::There(_)) = tree.fate(program) {
        return true;
    }
    match program.split(' ').collect::<Vec<_>>().as_slice() {
        ["cargo", "run"] => true,
        ["cargo", "xtask", verb] => matches!(tree.tasks.ask(Runner::Xtask, verb), Answer::There(_)),
        [name] => {
            token::is_identifier(&name.replace(['-', '.'], "_"))
                && tree.tasks.program(name).is_some()
        }
        _ => false,
    }
}
