//! The files of a working tree: what there is, without what git ignores, and
//! a fingerprint that changes whenever one of them does. Reads names and
//! sizes, never contents.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use ignore::WalkState;
use remora_files::{read_file, read_text};
use remora_git::{CheckoutSearch, GitFolders};

use remora_instructions::walk;

/// The longest file of git that is read: a pointer, or the name of a commit.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// One file, by its path below the root with `/` between the parts.
#[derive(Debug)]
pub(super) struct TreeFile {
    pub(super) path: String,
    pub(super) size: u64,
    /// Symbolic links are there, and are not read.
    pub(super) regular: bool,
    stamp: u64,
}

/// The listing of a working tree.
#[derive(Debug)]
pub struct TreeListing {
    root: PathBuf,
    entries: Vec<TreeFile>,
    fingerprint: u64,
}

impl TreeListing {
    /// Lists the tree below `root`. Folders in `apart`, such as those that
    /// hold the memories themselves, do not count: a name that only another
    /// memory holds proves nothing. What cannot be read is not there.
    #[must_use]
    pub fn list_files(root: &Path, apart: &[PathBuf]) -> Self {
        let gathered: Mutex<Vec<TreeFile>> = Mutex::default();
        let apart: HashSet<PathBuf> = apart.iter().cloned().collect();
        let walk = walk::build_walker(root, walk::WalkFilter::NotIgnored)
            // Also in an export without `.git`, ignored files are not the project's own.
            .require_git(false)
            .threads(count_workers())
            .filter_entry(move |entry| {
                let folder = entry.file_type().is_some_and(|t| t.is_dir());
                entry.file_name() != ".git"
                    && !(folder
                        && (apart.contains(entry.path())
                            || (entry.depth() > 0
                                // A worktree of an old branch would still contain what is gone here.
                                && (is_worktree(entry.path()) || !walk::can_enter(entry.path())))))
            })
            .build_parallel();
        walk.run(|| {
            let mut batch = FileBatch {
                held: Vec::new(),
                into: &gathered,
            };
            Box::new(move |entry| {
                if let Some(entry) = entry.ok().and_then(|e| build_tree_file(root, &e)) {
                    batch.held.push(entry);
                }
                WalkState::Continue
            })
        });
        let mut entries = gathered
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // Threads deliver in any order; the fingerprint and the evidence must not depend on it.
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut hash = DefaultHasher::new();
        for entry in &entries {
            (&entry.path, entry.size, entry.stamp).hash(&mut hash);
        }
        hash_repository_state(root, &mut hash);
        Self {
            root: root.to_path_buf(),
            entries,
            fingerprint: hash.finish(),
        }
    }

    /// Changes when a file that git does not ignore is added, removed or
    /// written to (by size and times), when the checked-out commit changes,
    /// and when references are packed. It does not see that another branch
    /// got a commit: only the evidence of what is gone could be better then.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the tree holds no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn entries(&self) -> &[TreeFile] {
        &self.entries
    }
}

/// Entries of one walking thread; a lock per file would be slower than the
/// walk.
struct FileBatch<'a> {
    held: Vec<TreeFile>,
    into: &'a Mutex<Vec<TreeFile>>,
}

impl Drop for FileBatch<'_> {
    fn drop(&mut self) {
        let mut all = self
            .into
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        all.append(&mut self.held);
    }
}

/// More threads do not help: reading is bound by the system, not by us.
pub(super) fn count_workers() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get().min(8))
}

fn build_tree_file(root: &Path, entry: &ignore::DirEntry) -> Option<TreeFile> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return None;
    }
    let path = entry.path().strip_prefix(root).ok()?.to_str()?;
    let data = entry.metadata().ok()?;
    Some(TreeFile {
        path: if cfg!(windows) {
            path.replace('\\', "/")
        } else {
            path.to_owned()
        },
        size: data.len(),
        regular: kind.is_file(),
        stamp: hash_timestamps(&data),
    })
}

/// When a file was last touched, as precisely as the system says.
fn hash_timestamps(data: &Metadata) -> u64 {
    let mut hash = DefaultHasher::new();
    let written = data
        .modified()
        .ok()
        .and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    written.hash(&mut hash);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        // A file that replaces another may keep its size and time, but neither of these.
        (data.ino(), data.ctime(), data.ctime_nsec()).hash(&mut hash);
    }
    hash.finish()
}

/// A second checkout inside the first holds everything twice.
fn is_worktree(folder: &Path) -> bool {
    let pointer = folder.join(".git");
    fs::symlink_metadata(&pointer).is_ok_and(|d| d.is_file() && d.len() < 4096)
        && read_text(&pointer, MAX_POINTER_BYTES)
            .is_ok_and(|text| text.replace('\\', "/").contains("/worktrees/"))
}

/// The state of the repository that evidence from its history rests on.
fn hash_repository_state(root: &Path, hash: &mut DefaultHasher) {
    let Some(GitFolders { own, shared, .. }) = GitFolders::find(root, CheckoutSearch::Upwards)
    else {
        return;
    };
    let head = read_text(&own.join("HEAD"), MAX_POINTER_BYTES).unwrap_or_default();
    if let Some(name) = head.trim().strip_prefix("ref: ") {
        let commit = read_file(&shared.join(name), MAX_POINTER_BYTES);
        commit.unwrap_or_default().hash(hash);
    }
    head.hash(hash);
    // Size and time instead of content: these can be large, and any change counts.
    for file in [own.join("logs/HEAD"), shared.join("packed-refs")] {
        fs::metadata(file)
            .ok()
            .map(|d| (d.len(), hash_timestamps(&d)))
            .hash(hash);
    }
}

/// Lookups over a listing.
#[derive(Debug)]
pub(super) struct FileNameIndex<'a> {
    pub(super) files: HashSet<&'a str>,
    pub(super) folders: HashSet<&'a str>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
    by_stem: HashMap<&'a str, Vec<&'a str>>,
    folders_by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> FileNameIndex<'a> {
    pub(super) fn new(files: &'a TreeListing) -> Self {
        let mut index = Self {
            files: HashSet::with_capacity(files.len()),
            folders: HashSet::new(),
            by_name: HashMap::with_capacity(files.len()),
            by_stem: HashMap::with_capacity(files.len()),
            folders_by_name: HashMap::new(),
        };
        for entry in files.entries() {
            let path = entry.path.as_str();
            index.files.insert(path);
            let name = last_part(path);
            index.by_name.entry(name).or_default().push(path);
            index.by_stem.entry(file_stem(name)).or_default().push(path);
            let mut rest = path;
            while let Some((folder, _)) = rest.rsplit_once('/') {
                // Its parents were added with it.
                if !index.folders.insert(folder) {
                    break;
                }
                index
                    .folders_by_name
                    .entry(last_part(folder))
                    .or_default()
                    .push(folder);
                rest = folder;
            }
        }
        index
    }

    pub(super) fn files_named(&self, name: &str) -> &[&'a str] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Files whose name without its endings is this.
    pub(super) fn files_with_stem(&self, stem: &str) -> &[&'a str] {
        self.by_stem.get(stem).map_or(&[], Vec::as_slice)
    }

    pub(super) fn folders_named(&self, name: &str) -> &[&'a str] {
        self.folders_by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A name without its last ending; hidden files keep theirs.
pub(super) fn file_stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Whether `path` is `tail` or ends in it, at a boundary of parts.
pub(super) fn ends_in(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail)
        .is_some_and(|head| head.is_empty() || head.ends_with('/'))
}
