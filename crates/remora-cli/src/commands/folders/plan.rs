//! What would be done to which file, before anything is: every file is looked
//! at first, and what cannot or must not be touched says why.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_files::read_file;
use remora_git::Git;
use remora_instructions::names::INSTRUCTION_FILE;
use remora_memory::store::Store;

use super::block::{self, BlockRemoval, BlockSurroundings};
use super::gather::{self, FolderActivity};
use super::record::FolderRecord;
use super::tracked;
use crate::commands::show::lines::TimeFormatter;
use crate::error::CliError;

/// Folders that get a table at most.
const MAX_FOLDERS: usize = 20;
/// Folders that are asked about, for those among them that may have one.
const MAX_CANDIDATE_FOLDERS: usize = 100;
/// A larger file is left alone.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileChange {
    /// It is made.
    Create(Vec<u8>),
    /// Its bytes are replaced.
    Update(Vec<u8>),
    /// Our part goes, the rest stays.
    Take(Vec<u8>),
    /// It goes altogether.
    Delete,
    /// It is as it should be.
    Same,
    /// It is gone, or our part of it is; only the record has to forget it.
    Forget,
    /// It is left alone, and why.
    Leave(String),
}

/// One file.
#[derive(Debug)]
pub(super) struct FileStep {
    pub(super) file: PathBuf,
    /// Relative to the root.
    pub(super) folder: String,
    /// The lines of the table.
    pub(super) lines: Vec<String>,
    /// Items that are about the folder.
    pub(super) rows: usize,
    pub(super) old: Option<Vec<u8>>,
    pub(super) around: BlockSurroundings,
    pub(super) change: FileChange,
}

/// What is to be done in one project.
#[derive(Debug)]
pub(super) struct FolderPlan {
    pub(super) root: PathBuf,
    pub(super) steps: Vec<FileStep>,
    /// Folders with work in them that may not have a file.
    pub(super) left_out: usize,
}

impl FolderPlan {
    /// Nothing is remembered, so there is nothing to write and nothing to judge.
    pub(super) fn new_empty(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            steps: Vec::new(),
            left_out: 0,
        }
    }
}

/// Tables for the folders with the most work since a point in time.
pub(super) fn plan_tables(
    store: &dyn Store,
    key: &str,
    root: &Path,
    since: i64,
    record: &FolderRecord,
    git: &Git,
) -> Result<FolderPlan, CliError> {
    let local = TimeFormatter::new();
    let mut found: Vec<(String, FolderActivity)> =
        gather::collect_activity(store, key, since, &local)?
            .into_iter()
            .collect();
    let all = found.len();
    found.retain(|(folder, _)| tracked::is_plain(folder));
    found.sort_by(|(a, x), (b, y)| (y.rows, y.last, a).cmp(&(x.rows, x.last, b)));
    found.truncate(MAX_CANDIDATE_FOLDERS);
    let names: Vec<&str> = found.iter().map(|(folder, _)| folder.as_str()).collect();
    let tracked: HashSet<String> =
        tracked::find_tracked_folders(root, &names, &git.clone().with_limit(tracked::GIT_TIMEOUT))
            .into_iter()
            .map(str::to_owned)
            .collect();
    found.retain(|(folder, _)| tracked.contains(folder));
    let left_out = all - found.len();
    found.truncate(MAX_FOLDERS);
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut steps: Vec<FileStep> = found
        .into_iter()
        .map(|(folder, activity)| plan_update(root, folder, &activity, &local, record))
        .collect();
    // Where nothing happened for a while, there is nothing recent to list.
    let wanted: HashSet<PathBuf> = steps.iter().map(|step| step.file.clone()).collect();
    steps.extend(plan_removals(root, record).filter(|step| !wanted.contains(&step.file)));
    Ok(FolderPlan {
        root: root.to_path_buf(),
        steps,
        left_out,
    })
}

/// Everything that was written in a project goes.
pub(super) fn plan_cleanup(root: &Path, record: &FolderRecord) -> FolderPlan {
    FolderPlan {
        steps: plan_removals(root, record).collect(),
        ..FolderPlan::new_empty(root)
    }
}

fn plan_update(
    root: &Path,
    folder: String,
    activity: &FolderActivity,
    local: &TimeFormatter,
    record: &FolderRecord,
) -> FileStep {
    let file = root.join(&folder).join(INSTRUCTION_FILE);
    let known = record
        .files
        .get(&file)
        .map(super::record::WrittenFile::to_surroundings);
    let mut step = FileStep {
        lines: activity.render_table(local),
        rows: activity.rows,
        around: known.clone().unwrap_or_default(),
        old: None,
        change: FileChange::Same,
        folder,
        file,
    };
    step.old = match read_existing_file(&step.file) {
        Ok(old) => old,
        Err(why) => {
            step.change = FileChange::Leave(why);
            return step;
        }
    };
    step.change = match block::insert_block(step.old.as_deref(), &step.lines, known.as_ref()) {
        Err(broken) => FileChange::Leave(broken.as_str().to_owned()),
        Ok((new, _)) if step.old.as_ref() == Some(&new) => FileChange::Same,
        Ok((new, around)) => {
            step.around = around;
            match step.old {
                Some(_) => FileChange::Update(new),
                None => FileChange::Create(new),
            }
        }
    };
    step
}

fn plan_removals<'a>(
    root: &'a Path,
    record: &'a FolderRecord,
) -> impl Iterator<Item = FileStep> + 'a {
    let here = record.files.iter().filter(move |(_, w)| w.root == root);
    here.map(move |(file, written)| {
        let folder = file.parent().unwrap_or(root);
        let folder = folder.strip_prefix(root).unwrap_or(folder);
        let mut step = FileStep {
            file: file.clone(),
            folder: folder.display().to_string(),
            lines: Vec::new(),
            rows: 0,
            old: None,
            around: written.to_surroundings(),
            change: FileChange::Forget,
        };
        if !lies_inside(root, file) {
            if file.exists() {
                let why = "it lies outside the project by now";
                step.change = FileChange::Leave(why.to_owned());
            }
            return step;
        }
        let old = match read_existing_file(file) {
            Ok(Some(old)) => old,
            Ok(None) => return step,
            Err(why) => {
                step.change = FileChange::Leave(why);
                return step;
            }
        };
        step.change = match block::remove_block(&old, &step.around) {
            Err(broken) => FileChange::Leave(broken.as_str().to_owned()),
            Ok(BlockRemoval::AsItWas) => FileChange::Forget,
            Ok(BlockRemoval::Nothing) => FileChange::Delete,
            Ok(BlockRemoval::Text(new)) => FileChange::Take(new),
        };
        step.old = Some(old);
        step
    })
}

fn lies_inside(root: &Path, file: &Path) -> bool {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let root = root.canonicalize().ok();
    matches!((folder, root), (Some(folder), Some(root)) if folder.starts_with(&root))
}

/// The bytes of a file; `None` if there is none. Or why it is left alone.
pub(super) fn read_existing_file(file: &Path) -> Result<Option<Vec<u8>>, String> {
    let known = match fs::symlink_metadata(file) {
        Ok(known) => known,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    if known.is_symlink() {
        return Err("it is a link to another file".to_owned());
    }
    if !known.is_file() {
        return Err("it is not a file".to_owned());
    }
    if known.len() > MAX_FILE_BYTES {
        return Err("it is larger than 1 MB".to_owned());
    }
    let bytes = read_file(file, MAX_FILE_BYTES).map_err(|e| e.to_string())?;
    Ok(Some(bytes))
}
