//! Looks through all layers and memories and proposes what to tidy up:
//! promotions, duplicates, what is outdated, conflicts. Works by words and
//! dates alone, reads the files it would change, and writes nothing; only
//! [`apply_proposal`] does, one proposal at a time.

mod change;
mod facts;
mod pairs;
mod place;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use remora_core::text::cut_chars;

use remora_instructions::InstructionKind;
use remora_instructions::names;

use super::check::{self, ClaimVerdict};
use super::folder::MemoryFolder;
use super::{Memory, MemoryScope, SecretFinder};

pub use self::change::{ProposedEdit, apply_proposal};

/// A project fact that was not touched for this many days is worth another look.
const STALE_FACT_DAYS: i64 = 365;

/// How many proposals are made at once; more would not be read.
const MAX_PROPOSALS: usize = 200;

/// An instruction file.
#[derive(Debug, Clone, Copy)]
pub struct InstructionLayer<'a> {
    /// The file's path.
    pub path: &'a Path,
    /// The layer that it belongs to.
    pub kind: InstructionKind,
    /// What the file holds.
    pub text: &'a str,
}

/// A memory, and what became of the things it names.
#[derive(Debug, Clone, Copy)]
pub struct ReviewedMemory<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// What the check found; nothing when it was not checked.
    pub findings: &'a [check::ClaimFinding],
}

/// Everything a review looks at.
#[derive(Debug, Clone, Copy)]
pub struct ReviewInput<'a> {
    /// Instruction files, in prompt order.
    pub layers: &'a [InstructionLayer<'a>],
    /// Memories of all scopes.
    pub saved: &'a [ReviewedMemory<'a>],
    /// The folders that contain the memories.
    pub folders: &'a [MemoryFolder],
    /// The project's shared instruction file, which need not exist.
    pub shared: &'a Path,
    /// The user's own next to it, which need not exist.
    pub own: &'a Path,
    /// The current time, as `2026-11-15T08:30:00Z`.
    pub now: &'a str,
}

/// Where a memory would be better kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromotionTarget {
    /// The project's shared instruction file.
    Shared,
    /// The user's own instruction file of the project.
    Own,
    /// The memories that the repository shares.
    Team,
}

/// What a proposal would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalAction {
    /// Move a memory to where it is always read.
    Promote(PromotionTarget),
    /// Remove what is said elsewhere, too.
    RemoveDuplicate,
    /// Remove or correct what no longer holds.
    Outdated,
    /// Settle two statements that cannot both be followed.
    Conflict,
    /// Ask the user to look: it could be either.
    Ambiguous,
}

impl ProposalAction {
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
    pub action: ProposalAction,
    /// To what: an address, or a file and line, with its words.
    pub what: String,
    /// The reason, as a sentence without its subject.
    pub why: String,
    /// The changes; none where the user has to decide.
    pub edits: Vec<ProposedEdit>,
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
struct ProposalDraft {
    /// The memory that it is about, by its place in the material.
    about: Option<usize>,
    action: ProposalAction,
    what: String,
    why: String,
    plan: EditPlan,
}

/// Which changes a proposal consists of. They are computed only for proposals
/// that are shown, because that reads files.
#[derive(Debug)]
enum EditPlan {
    /// The user has to decide.
    Nothing,
    /// The memory is removed.
    Remove,
    /// The memory takes the new names of what moved.
    Rename,
    /// The memory goes elsewhere.
    Promote(PromotionTarget),
    /// A line of a layer goes.
    Line {
        layer: usize,
        line: usize,
        text: String,
    },
}

/// Looks through everything. Memories that must not be shared are not
/// proposed for sharing; `secrets` says which.
pub fn build_review(material: &ReviewInput<'_>, secrets: SecretFinder<'_>) -> Review {
    let facts = facts::ReviewStatements::from_input(material);
    let mut drafts = Vec::new();
    let mut settled = vec![false; material.saved.len()];
    let mut take = |found: Vec<ProposalDraft>, settled: &mut Vec<bool>| {
        for draft in found {
            // One proposal per memory: applying one changes the file that the next
            // one is based on.
            if let Some(at) = draft.about {
                if settled[at] {
                    continue;
                }
                settled[at] = true;
            }
            drafts.push(draft);
        }
    };
    // In this order, because the first proposal about a memory settles it: there is no point
    // in promoting or merging what no longer holds.
    take(find_outdated(material), &mut settled);
    take(pairs::find_duplicates(material, &facts), &mut settled);
    take(pairs::find_conflicts(material, &facts), &mut settled);
    take(
        place::find_promotions(material, &facts, secrets),
        &mut settled,
    );
    take(
        pairs::find_partial_duplicates(material, &facts, &settled),
        &mut settled,
    );
    take(find_unclear(material), &mut settled);
    let fine = material
        .saved
        .iter()
        .zip(&settled)
        .filter(|(_, settled)| !**settled)
        .map(|(saved, _)| saved.memory.uri.to_string())
        .collect();
    Review {
        more: drafts.len().saturating_sub(MAX_PROPOSALS),
        proposals: number_proposals(material, drafts),
        fine,
    }
}

fn number_proposals(material: &ReviewInput<'_>, mut drafts: Vec<ProposalDraft>) -> Vec<Proposal> {
    let rank = |action: ProposalAction| match action {
        ProposalAction::RemoveDuplicate => 0,
        ProposalAction::Outdated => 1,
        ProposalAction::Conflict => 2,
        ProposalAction::Promote(_) => 3,
        ProposalAction::Ambiguous => 4,
    };
    drafts.sort_by_key(|draft| rank(draft.action));
    drafts
        .into_iter()
        .take(MAX_PROPOSALS)
        .enumerate()
        .map(|(at, draft)| Proposal {
            id: at + 1,
            key: hash_draft(&draft),
            action: draft.action,
            edits: build_edits(material, &draft),
            what: draft.what,
            why: draft.why,
        })
        .collect()
}

fn build_edits(material: &ReviewInput<'_>, draft: &ProposalDraft) -> Vec<ProposedEdit> {
    let saved = draft.about.map(|at| material.saved[at]);
    match (&draft.plan, saved) {
        (EditPlan::Remove, Some(saved)) => change::build_removal(material, saved.memory),
        (EditPlan::Rename, Some(saved)) => change::build_rename(saved.memory, saved.findings),
        (EditPlan::Promote(target), Some(saved)) => {
            change::build_promotion(material, saved.memory, *target)
        }
        (EditPlan::Line { layer, line, text }, _) => {
            let removed = change::line_removal(&material.layers[*layer], *line, text);
            removed.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A short name made of the words; it only has to distinguish proposals.
fn hash_draft(draft: &ProposalDraft) -> String {
    let text = format!("{}\n{}\n{}", draft.action.as_str(), draft.what, draft.why);
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

/// What the tree or the calendar has overtaken.
fn find_outdated(material: &ReviewInput<'_>) -> Vec<ProposalDraft> {
    let mut found = Vec::new();
    for (at, saved) in material.saved.iter().enumerate() {
        let memory = saved.memory;
        let verdict = check::combine_verdicts(saved.findings);
        let list_evidence = |wanted: ClaimVerdict| -> Vec<String> {
            saved
                .findings
                .iter()
                .filter(|finding| finding.verdict == wanted)
                .map(|finding| format!("`{}`: {}", finding.claim.text, finding.evidence))
                .collect()
        };
        let (why, plan) = if verdict == ClaimVerdict::Gone {
            let why = format!(
                "it names what is gone: {}",
                list_evidence(ClaimVerdict::Gone).join(", ")
            );
            (why, EditPlan::Remove)
        } else if let Some(day) = facts::find_past_end_date(&memory.body, material.now) {
            (format!("it says that it ends on {day}"), EditPlan::Remove)
        } else if verdict == ClaimVerdict::Moved {
            let why = format!(
                "it names what moved: {}",
                list_evidence(ClaimVerdict::Moved).join(", ")
            );
            (why, EditPlan::Rename)
        } else {
            continue;
        };
        found.push(ProposalDraft {
            about: Some(at),
            action: ProposalAction::Outdated,
            what: format_memory(memory),
            why,
            plan,
        });
    }
    found
}

/// Memories that the user has to look at.
fn find_unclear(material: &ReviewInput<'_>) -> Vec<ProposalDraft> {
    let days = |timestamp: &str| facts::days_of(timestamp);
    let mut found = Vec::new();
    for (at, saved) in material.saved.iter().enumerate() {
        let memory = saved.memory;
        let age = days(material.now)
            .zip(memory.modified.as_deref().and_then(days))
            .map_or(0, |(now, then)| now - then);
        let why = if memory.body.is_empty() {
            "it says nothing; fill it or remove it".to_owned()
        } else if memory.kind.is_none() {
            "it has none of the four types, so whether it belongs here is unclear".to_owned()
        } else if memory.kind == Some(super::MemoryType::Project)
            && age > STALE_FACT_DAYS
            && !memory.is_core()
        {
            format!(
                "it is about the project and was last touched {age} days ago; does it still hold?"
            )
        } else {
            continue;
        };
        found.push(ProposalDraft {
            about: Some(at),
            action: ProposalAction::Ambiguous,
            what: format_memory(memory),
            why,
            plan: EditPlan::Nothing,
        });
    }
    found
}

fn format_memory(memory: &Memory) -> String {
    format!("{} \"{}\"", memory.uri, truncate_text(&memory.title))
}

fn truncate_text(text: &str) -> String {
    const MAX_QUOTE_CHARS: usize = 120;
    match cut_chars(text, MAX_QUOTE_CHARS) {
        Some(start) => format!("{}...", start.trim_end()),
        None => text.to_owned(),
    }
}

impl ReviewInput<'_> {
    fn find_folder(&self, scope: MemoryScope) -> Option<&MemoryFolder> {
        self.folders.iter().find(|folder| folder.scope() == scope)
    }
}

/// The shared and the own instruction file of a project, as they are or would
/// be.
pub fn instruction_files(root: &Path) -> (PathBuf, PathBuf) {
    // The client reads both; a project that has only the hidden one keeps using it.
    let hidden = root.join(names::SETTINGS_DIR).join(names::INSTRUCTION_FILE);
    let plain = root.join(names::INSTRUCTION_FILE);
    let shared = if hidden.is_file() && !plain.exists() {
        hidden
    } else {
        plain
    };
    (shared, root.join(names::LOCAL_INSTRUCTION_FILE))
}

impl PromotionTarget {
    /// The file or folder that it means.
    pub fn path(self, material: &ReviewInput<'_>) -> Option<PathBuf> {
        match self {
            Self::Shared => Some(material.shared.to_path_buf()),
            Self::Own => Some(material.own.to_path_buf()),
            Self::Team => Some(material.find_folder(MemoryScope::Team)?.dir().to_path_buf()),
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
