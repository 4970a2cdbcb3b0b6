//! Checks saved memories against the working tree: every path, symbol,
//! command and flag that a memory names, with evidence.
//!
//! Finding the names is pure; `TreeListing` and `TreeEvidence` read the disk and
//! ask git, once for all memories. Nothing is ever written, and nothing of the
//! project is run. A false "gone" is the worst fault, because it makes users
//! delete what is true: a name that may belong elsewhere is left out, or the
//! verdict is "cannot tell".

mod cache;
mod claims;
mod command;
mod files;
mod git;
mod known;
mod place;
mod sense;
mod tasks;
#[cfg(test)]
mod tests;
mod token;
mod tree;
mod verdict;
mod words;

pub use self::cache::CheckCache;
pub use self::claims::list_claims;
pub use self::files::TreeListing;
pub use self::git::Git;
pub use self::tree::{TreeEvidence, WantedNames};

/// What kind of thing a memory names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClaimKind {
    /// A file, a folder, or a pattern of files.
    Path,
    /// A name in code or configuration, also of a variable.
    Symbol,
    /// A task or a program of the project.
    Command,
    /// A long flag of a program.
    Flag,
}

impl ClaimKind {
    /// The word for it, in text and JSON output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Symbol => "symbol",
            Self::Command => "command",
            Self::Flag => "flag",
        }
    }
}

/// In which sense the memory names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tense {
    /// As being there.
    Stated,
    /// As wrong, planned, possible, an example, or elsewhere.
    Open,
    /// As having been there.
    Past,
}

/// How sure it is that the name is one of this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It may be any word; without evidence it is not reported at all.
    Loose,
    /// It has the shape of a name of the project.
    Firm,
    /// Shape and sentence say so: a call, a function, or next to a file.
    Sure,
}

/// One thing that a memory names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is.
    pub kind: ClaimKind,
    /// The name, without line numbers, arguments or values.
    pub text: String,
    /// The line of the memory, counted from one.
    pub line: usize,
    /// How it is meant.
    pub sense: Tense,
    /// How sure it is.
    pub weight: Confidence,
    /// For a flag: the command it belongs to, where one is named.
    pub of: Option<String>,
}

/// What the tree says about one claim or a memory. Ordered: the strongest finding
/// of a memory is its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimVerdict {
    /// Neither can be shown.
    CannotTell,
    /// It is there, or is not there as the memory says.
    Holds,
    /// It is somewhere else now.
    Moved,
    /// It is not there any more.
    Gone,
}

impl ClaimVerdict {
    /// The word for it, in text and JSON output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::CannotTell => "cannot-tell",
            Self::Moved => "moved",
            Self::Gone => "gone",
        }
    }
}

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimFinding {
    /// What was checked.
    pub claim: Claim,
    /// What came of it.
    pub verdict: ClaimVerdict,
    /// Why, such as `src/a.rs:12` or `deleted in 1a2b3c4 (2026-10-01)`.
    pub evidence: String,
    /// Where it is now, when it moved.
    pub now: Option<String>,
}

/// The verdict on a memory: gone if anything is, moved if anything is, and it
/// holds if everything that can be checked does. For a memory that names nothing
/// of the project the verdict is "cannot tell": "holds" would claim a check that
/// never took place.
#[must_use]
pub fn combine_verdicts(findings: &[ClaimFinding]) -> ClaimVerdict {
    let strongest = findings.iter().map(|f| f.verdict).max();
    strongest.unwrap_or(ClaimVerdict::CannotTell)
}

/// Checks one memory. The tree must have been read with its names wanted.
#[must_use]
pub fn check_memory(body: &str, tree: &TreeEvidence) -> Vec<ClaimFinding> {
    check_claims(list_claims(body), tree)
}

fn check_claims(claims: Vec<Claim>, tree: &TreeEvidence) -> Vec<ClaimFinding> {
    claims
        .into_iter()
        .filter_map(|claim| verdict::check_claim(claim, tree))
        .collect()
}

/// Checks many memories at once, taking from the cache what is still true and
/// putting into it what is found. `progress` receives the number of files read
/// and of all files.
#[must_use]
pub fn check_all(
    files: &TreeListing,
    bodies: &[&str],
    git: &Git,
    cached: &mut CheckCache,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<Vec<ClaimFinding>> {
    // Finding the names is a good part of the work, so it is done once for cache and check.
    let named: Vec<Vec<Claim>> = bodies.iter().map(|body| list_claims(body)).collect();
    let each = || bodies.iter().zip(&named);
    let known: Vec<Option<Vec<ClaimFinding>>> = each()
        .map(|(body, claims)| cached.get_with_claims(body, claims, files))
        .collect();
    let mut wanted = WantedNames::default();
    for (claims, known) in named.iter().zip(&known) {
        // Only for memories that changed: without any, the tree is not read at all.
        if known.is_none() {
            wanted.add_claims(claims);
        }
    }
    let tree = known
        .iter()
        .any(Option::is_none)
        .then(|| TreeEvidence::from_listing(files, &wanted, git, progress));
    let mut all = Vec::with_capacity(bodies.len());
    for ((body, claims), known) in each().zip(known) {
        all.push(match (known, &tree) {
            (Some(findings), _) => findings,
            (None, Some(tree)) => {
                let findings = check_claims(claims.clone(), tree);
                cached.insert_with_claims(body, claims, files, &findings);
                findings
            }
            (None, None) => Vec::new(),
        });
    }
    // Otherwise the cache would keep every version of a memory that is being edited.
    cached.keep_only(bodies);
    all
}
