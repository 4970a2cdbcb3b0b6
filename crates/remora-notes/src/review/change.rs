//! The changes that a proposal would make, file by file, and applying them: if any
//! file changed since it was read, none is touched.

use std::fs;
use std::path::{Path, PathBuf};

use remora_instructions::disk::{self, FileReadError};
use remora_instructions::names;

use super::super::check::{ClaimFinding, ClaimVerdict};
use super::super::write::{self, FolderLock, ReadAccess};
use super::super::{Memory, MemoryError, MemoryScope, MemoryUri, pointer};
use super::{InstructionLayer, PromotionTarget, Proposal, ReviewInput};

/// One file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedEdit {
    /// The file.
    pub path: PathBuf,
    /// What it holds; nothing when it is not there.
    pub before: Option<String>,
    /// What it would hold; nothing when it would go.
    pub after: Option<String>,
}

/// Removing a memory: its file and its line. Nothing when a file cannot be
/// changed with safety.
pub(super) fn build_removal(material: &ReviewInput<'_>, memory: &Memory) -> Vec<ProposedEdit> {
    let gone = || -> Option<Vec<ProposedEdit>> {
        let file = ProposedEdit {
            before: Some(read_text(&memory.path)?),
            path: memory.path.clone(),
            after: None,
        };
        let mut edits = index_without(material, memory)?;
        edits.push(file);
        Some(edits)
    };
    gone().unwrap_or_default()
}

/// The index without a memory's line; no edit when there is nothing to change.
fn index_without(material: &ReviewInput<'_>, memory: &Memory) -> Option<Vec<ProposedEdit>> {
    let folder = material.find_folder(memory.uri.scope)?;
    let path = folder.index_path();
    let Some(before) = text_or_missing(&path)? else {
        return Some(Vec::new());
    };
    let after = match memory.uri.scope {
        MemoryScope::Team => {
            let mut rest = folder.list_memories().ok()?.memories;
            rest.retain(|other| other.uri != memory.uri);
            pointer::build_team_index(&rest)
        }
        MemoryScope::Project | MemoryScope::User => {
            pointer::remove_entry(&before, &memory.uri.name.file_name())
        }
    };
    Some(build_edit(path, before, after).into_iter().collect())
}

/// Putting the new names of moved things into a memory.
pub(super) fn build_rename(memory: &Memory, findings: &[ClaimFinding]) -> Vec<ProposedEdit> {
    let Some(before) = read_text(&memory.path) else {
        return Vec::new();
    };
    let mut after = before.clone();
    for finding in findings {
        if let (ClaimVerdict::Moved, Some(now)) = (finding.verdict, &finding.now) {
            after = replace_name(&after, &finding.claim.text, now);
        }
    }
    build_edit(memory.path.clone(), before, after)
        .into_iter()
        .collect()
}

/// Replaces a name by another where it is a whole word.
fn replace_name(text: &str, old: &str, new: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old).filter(|_| !old.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + old.len()..]);
        // `a.rs.bak` is another file; a full stop ends a sentence.
        let longer = after
            .strip_prefix('.')
            .is_some_and(|ending| ending.starts_with(char::is_alphanumeric));
        let whole = !before.ends_with(part) && !after.starts_with(part) && !longer;
        // `out` ends with what came before an earlier hit.
        let whole = whole && !(before.is_empty() && out.ends_with(part));
        out.push_str(before);
        out.push_str(if whole { new } else { old });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Removing one line of a layer, if the line holds nothing but the statement.
pub(super) fn line_removal(
    layer: &InstructionLayer<'_>,
    line: usize,
    statement: &str,
) -> Option<ProposedEdit> {
    let before = read_text(layer.path)?;
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let there = lines.get(line.checked_sub(1)?)?.trim();
    let alone = there
        .trim_start_matches(['-', '*', '+', ' '])
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start_matches(['.', ')', ' '])
        == statement;
    let next = lines.get(line).map_or("", |next| next);
    // An indented next line belongs to the item; without its first line it would change
    // meaning.
    let goes_on = next.starts_with(' ') || next.starts_with('\t');
    if !alone || goes_on {
        return None;
    }
    let after: String = lines
        .iter()
        .enumerate()
        .filter(|(at, _)| at + 1 != line)
        .map(|(_, text)| *text)
        .collect();
    build_edit(layer.path.to_path_buf(), before, after)
}

/// Moving a memory to a place where it is always read.
pub(super) fn build_promotion(
    material: &ReviewInput<'_>,
    memory: &Memory,
    target: PromotionTarget,
) -> Vec<ProposedEdit> {
    let moved = || -> Option<Vec<ProposedEdit>> {
        let mut edits = match target {
            PromotionTarget::Shared | PromotionTarget::Own => {
                let path = target.path(material)?;
                let before = text_or_missing(&path)?;
                let after = with_item(before.as_deref().unwrap_or_default(), &memory.body);
                vec![ProposedEdit {
                    path,
                    before,
                    after: Some(after),
                }]
            }
            PromotionTarget::Team => into_team(material, memory)?,
        };
        let gone = build_removal(material, memory);
        if gone.is_empty() {
            return None;
        }
        edits.extend(gone);
        Some(edits)
    };
    moved().unwrap_or_default()
}

fn into_team(material: &ReviewInput<'_>, memory: &Memory) -> Option<Vec<ProposedEdit>> {
    let folder = material.find_folder(MemoryScope::Team)?;
    let path = folder.dir().join(memory.uri.name.file_name());
    if fs::symlink_metadata(&path).is_ok() {
        return None;
    }
    let mut shared = memory.clone();
    shared.uri = MemoryUri {
        scope: MemoryScope::Team,
        name: memory.uri.name.clone(),
    };
    let mut all = folder.list_memories().ok()?.memories;
    all.push(shared);
    let index = folder.index_path();
    let before = text_or_missing(&index)?;
    Some(vec![
        ProposedEdit {
            path,
            before: None,
            after: Some(read_text(&memory.path)?),
        },
        ProposedEdit {
            path: index,
            before,
            after: Some(pointer::build_team_index(&all)),
        },
    ])
}

/// An instruction file with one more list item at its end.
fn with_item(text: &str, body: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = text.trim_end().to_owned();
    let last = out.lines().next_back().unwrap_or_default().trim_start();
    let in_list = last.starts_with("- ") || last.starts_with("* ");
    if !out.is_empty() {
        out.push_str(end);
        if !in_list {
            out.push_str(end);
        }
    }
    for (at, line) in body.lines().enumerate() {
        let line = line.trim_end();
        if at == 0 {
            out.push_str("- ");
            out.push_str(line.trim_start_matches(['-', '*', '+', ' ']));
        } else if !line.is_empty() {
            out.push_str("  ");
            out.push_str(line);
        }
        out.push_str(end);
    }
    out
}

fn build_edit(path: PathBuf, before: String, after: String) -> Option<ProposedEdit> {
    (before != after).then_some(ProposedEdit {
        path,
        before: Some(before),
        after: Some(after),
    })
}

/// A file's text, if it is there and is text.
fn read_text(path: &Path) -> Option<String> {
    text_or_missing(path)?
}

/// The same; a missing file is an answer, too.
#[expect(clippy::option_option, reason = "no file and no text are two things")]
fn text_or_missing(path: &Path) -> Option<Option<String>> {
    match disk::read_bytes(path) {
        Ok(bytes) => String::from_utf8(bytes).ok().map(Some),
        Err(FileReadError::Missing) => Some(None),
        Err(_) => None,
    }
}

/// Applies a proposal. Every file must still be as the proposal saw it; then each
/// is written whole, in order.
pub fn apply_proposal(proposal: &Proposal) -> Result<(), MemoryError> {
    let mut folders: Vec<&Path> = proposal
        .edits
        .iter()
        .filter_map(|edit| edit.path.parent())
        .collect();
    // Always in the same order, so that two processes never wait for each other.
    folders.sort_unstable();
    folders.dedup();
    let mut locks = Vec::new();
    for folder in folders {
        locks.push(FolderLock::lock_folder(folder)?);
    }
    // All files are compared before the first is written. The locks keep other Remora
    // processes out; an editor could still write in between.
    for edit in &proposal.edits {
        let now = text_or_missing(&edit.path);
        if now.as_ref() != Some(&edit.before) {
            return Err(MemoryError::Changed {
                path: edit.path.clone(),
            });
        }
    }
    for edit in &proposal.edits {
        match &edit.after {
            Some(text) => {
                write::replace_file(&resolve_real_path(&edit.path)?, text, ReadAccess::Unchanged)?;
            }
            None => fs::remove_file(&edit.path).map_err(MemoryError::io_at_path(&edit.path))?,
        }
    }
    Ok(())
}

/// Where a file really is. Instruction files are often links to each other,
/// and must stay so; the files of memories never lead out of their folder.
fn resolve_real_path(path: &Path) -> Result<PathBuf, MemoryError> {
    let is_instructions = path.file_name().is_some_and(|name| {
        name == names::INSTRUCTION_FILE || name == names::LOCAL_INSTRUCTION_FILE
    });
    match fs::canonicalize(path) {
        Ok(real) if is_instructions => Ok(real),
        Ok(_) => {
            let folder = path.parent().unwrap_or(path);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            write::resolve_file(folder, &name)
        }
        Err(_) => Ok(path.to_path_buf()),
    }
}
