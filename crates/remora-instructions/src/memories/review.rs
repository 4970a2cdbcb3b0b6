//! Looks through all layers and memories and proposes what to tidy up:
//! promotions, duplicates, what is outdated, conflicts. Works by words and
//! dates alone, reads the files it would change, and writes nothing; only
//! [`apply`] does, one proposal at a time.

mod change;
mod facts;
mod pairs;
mod place;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::file::Kind;
use crate::names;

use super::check::{self, Verdict};
use super::folder::Folder;
use super::{Memory, Scope, Secrets};

pub use self::change::{Edit, apply};

/// A project fact that nobody touched for so many days is looked at again.
const OLD: i64 = 365;

/// So many proposals are made at once; nobody reads more.
const MOST: usize = 200;

/// An instruction file.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Whose words.
    pub kind: Kind,
    /// What the file holds.
    pub text: &'a str,
}

/// A memory, and what became of the things it names.
#[derive(Debug, Clone, Copy)]
pub struct Saved<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// What the check found; nothing when it was not checked.
    pub findings: &'a [check::Finding],
}

/// Everything a review looks at.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Instruction files, in prompt order.
    pub layers: &'a [Layer<'a>],
    /// Memories of all scopes.
    pub saved: &'a [Saved<'a>],
    /// The folders that the memories lie in.
    pub folders: &'a [Folder],
    /// The project's shared instruction file, which need not exist.
    pub shared: &'a Path,
    /// The person's own beside it, which need not exist.
    pub own: &'a Path,
    /// The moment, as `2026-11-15T08:30:00Z`.
    pub now: &'a str,
}

/// Where a memory would be better kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The project's shared instruction file.
    Shared,
    /// The person's own instruction file of the project.
    Own,
    /// The memories that the repository shares.
    Team,
}

/// What a proposal would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Move a memory to where it is always read.
    Promote(Target),
    /// Remove what is said elsewhere, too.
    RemoveDuplicate,
    /// Remove or mend what no longer holds.
    Outdated,
    /// Settle two statements that cannot both be followed.
    Conflict,
    /// Have a person look: it could be either.
    Ambiguous,
}

impl Action {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Promote(_) => "promote",
            Self::RemoveDuplicate => "remove_duplicate",
            Self::Outdated => "outdated",
            Self::Conflict => "conflict",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// Something that could be tidied up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its number in this review, from 1.
    pub id: usize,
    /// The same in every review as long as it is about the same words.
    pub key: String,
    /// What it would do.
    pub action: Action,
    /// To what: an address, or a file and line, with its words.
    pub what: String,
    /// Why.
    pub why: String,
    /// The changes; none where a person has to decide.
    pub edits: Vec<Edit>,
}

/// What came of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// In the order they are best dealt with.
    pub proposals: Vec<Proposal>,
    /// How many more there would be; they come up once these are dealt with.
    pub more: usize,
    /// Addresses of memories that are fine as they are.
    pub fine: Vec<String>,
}

/// A proposal before it has a number.
#[derive(Debug)]
struct Draft {
    /// The memory that it is about, by its place in the material.
    about: Option<usize>,
    action: Action,
    what: String,
    why: String,
    plan: Plan,
}

/// Which changes a proposal stands for; they are worked out for those that
/// are shown.
#[derive(Debug)]
enum Plan {
    /// A person has to decide.
    Nothing,
    /// The memory goes.
    Remove,
    /// The memory takes the new names of what moved.
    Rename,
    /// The memory goes elsewhere.
    Promote(Target),
    /// A line of a layer goes.
    Line {
        layer: usize,
        line: usize,
        text: String,
    },
}

/// Looks through everything. Memories that must not be shared are not
/// proposed for sharing; `secrets` says which.
pub fn review(material: &Material<'_>, secrets: Secrets<'_>) -> Review {
    let facts = facts::Facts::read(material);
    let mut drafts = Vec::new();
    let mut settled = vec![false; material.saved.len()];
    let mut take = |found: Vec<Draft>, settled: &mut Vec<bool>| {
        for draft in found {
            // One proposal a memory: carrying out one changes what the next
            // one stands on.
            if let Some(at) = draft.about {
                if settled[at] {
                    continue;
                }
                settled[at] = true;
            }
            drafts.push(draft);
        }
    };
    take(outdated(material), &mut settled);
    take(pairs::duplicates(material, &facts), &mut settled);
    take(pairs::conflicts(material, &facts), &mut settled);
    take(place::promotions(material, &facts, secrets), &mut settled);
    take(pairs::partly(material, &facts, &settled), &mut settled);
    take(unclear(material), &mut settled);
    let fine = material
        .saved
        .iter()
        .zip(&settled)
        .filter(|(_, settled)| !**settled)
        .map(|(saved, _)| saved.memory.uri.to_string())
        .collect();
    Review {
        more: drafts.len().saturating_sub(MOST),
        proposals: numbered(material, drafts),
        fine,
    }
}

fn numbered(material: &Material<'_>, mut drafts: Vec<Draft>) -> Vec<Proposal> {
    let rank = |action: Action| match action {
        Action::RemoveDuplicate => 0,
        Action::Outdated => 1,
        Action::Conflict => 2,
        Action::Promote(_) => 3,
        Action::Ambiguous => 4,
    };
    drafts.sort_by_key(|draft| rank(draft.action));
    drafts
        .into_iter()
        .take(MOST)
        .enumerate()
        .map(|(at, draft)| Proposal {
            id: at + 1,
            key: key(&draft),
            action: draft.action,
            edits: edits(material, &draft),
            what: draft.what,
            why: draft.why,
        })
        .collect()
}

fn edits(material: &Material<'_>, draft: &Draft) -> Vec<Edit> {
    let saved = draft.about.map(|at| material.saved[at]);
    match (&draft.plan, saved) {
        (Plan::Remove, Some(saved)) => change::removal(material, saved.memory),
        (Plan::Rename, Some(saved)) => change::moved(saved.memory, saved.findings),
        (Plan::Promote(target), Some(saved)) => change::promotion(material, saved.memory, *target),
        (Plan::Line { layer, line, text }, _) => {
            let removed = change::line_removal(&material.layers[*layer], *line, text);
            removed.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A short name made of the words; it only has to tell proposals apart.
fn key(draft: &Draft) -> String {
    let text = format!("{}\n{}\n{}", draft.action.as_str(), draft.what, draft.why);
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

/// What the tree or the calendar has overtaken.
fn outdated(material: &Material<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for (at, saved) in material.saved.iter().enumerate() {
        let memory = saved.memory;
        let verdict = check::overall(saved.findings);
        let told = |wanted: Verdict| -> Vec<String> {
            saved
                .findings
                .iter()
                .filter(|finding| finding.verdict == wanted)
                .map(|finding| format!("`{}`: {}", finding.claim.text, finding.evidence))
                .collect()
        };
        let (why, plan) = if verdict == Verdict::Gone {
            let why = format!("it names what is gone: {}", told(Verdict::Gone).join(", "));
            (why, Plan::Remove)
        } else if let Some(day) = facts::ended(&memory.body, material.now) {
            (format!("it says that it ends on {day}"), Plan::Remove)
        } else if verdict == Verdict::Moved {
            let why = format!("it names what moved: {}", told(Verdict::Moved).join(", "));
            (why, Plan::Rename)
        } else {
            continue;
        };
        found.push(Draft {
            about: Some(at),
            action: Action::Outdated,
            what: named(memory),
            why,
            plan,
        });
    }
    found
}

/// Memories that a person has to look at.
fn unclear(material: &Material<'_>) -> Vec<Draft> {
    let days = |moment: &str| facts::days_of(moment);
    let mut found = Vec::new();
    for (at, saved) in material.saved.iter().enumerate() {
        let memory = saved.memory;
        let age = days(material.now)
            .zip(memory.modified.as_deref().and_then(days))
            .map_or(0, |(now, then)| now - then);
        let why = if memory.body.is_empty() {
            "it says nothing; fill it or remove it".to_owned()
        } else if memory.kind.is_none() {
            "it has none of the four types, so nobody can tell whether it belongs here".to_owned()
        } else if memory.kind == Some(super::Type::Project) && age > OLD && !memory.is_core() {
            format!(
                "it tells of the project and was last touched {age} days ago; does it still hold?"
            )
        } else {
            continue;
        };
        found.push(Draft {
            about: Some(at),
            action: Action::Ambiguous,
            what: named(memory),
            why,
            plan: Plan::Nothing,
        });
    }
    found
}

fn named(memory: &Memory) -> String {
    format!("{} \"{}\"", memory.uri, short(&memory.title))
}

fn short(text: &str) -> String {
    const MOST: usize = 120;
    if text.chars().nth(MOST).is_none() {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{}...", start.trim_end())
}

impl Material<'_> {
    fn folder(&self, scope: Scope) -> Option<&Folder> {
        self.folders.iter().find(|folder| folder.scope() == scope)
    }
}

/// The shared and the own instruction file of a project, as they are or would
/// be.
pub fn instruction_files(root: &Path) -> (PathBuf, PathBuf) {
    let hidden = root.join(names::FOLDER).join(names::FILE);
    let plain = root.join(names::FILE);
    let shared = if hidden.is_file() && !plain.exists() {
        hidden
    } else {
        plain
    };
    (shared, root.join(names::LOCAL_FILE))
}

impl Target {
    /// The file or folder that it means.
    pub fn path(self, material: &Material<'_>) -> Option<PathBuf> {
        match self {
            Self::Shared => Some(material.shared.to_path_buf()),
            Self::Own => Some(material.own.to_path_buf()),
            Self::Team => Some(material.folder(Scope::Team)?.dir().to_path_buf()),
        }
    }

    /// In plain words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "project",
            Self::Own => "local",
            Self::Team => "team",
        }
    }
}
