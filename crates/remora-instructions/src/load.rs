//! Reads one file with everything it imports, and one folder of rules. Each
//! real file once; what is left out is recorded with its reason.
//!
//! Which files to load, and in which order, is up to `start.rs` and `touch.rs`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};

use remora_files::list_directory;

use crate::budget::{LoadBudget, MAX_SKIPPED_FILES};
use crate::disk::{self, FileReadError};
use crate::exclude::Excludes;
use crate::file::{InstructionKind, SkipReason, SkippedFile};
use crate::import;
use crate::rule::{self, Globs, RuleScope};
use crate::settings::SourcedValue;
use crate::{frontmatter, markdown, names};

/// How many imports away from the first file a file may be.
const MAX_IMPORT_DEPTH: usize = 4;
/// How deep folders of rules may be nested: deeper than anyone does, and shallow
/// enough that a hostile tree does not exhaust the stack.
const MAX_RULES_DEPTH: usize = 32;

/// Why a file is not read when the load has read enough.
const OVER_BUDGET: &str = "not read: other files of this load were too large in all";

/// How far imports may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportScope {
    Anywhere,
    /// Files whose real path is below the working directory.
    Inside,
}

/// Which entries of a folder of rules are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleSelection {
    Always,
    Conditional,
}

/// What a file is read as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileRole {
    pub(crate) kind: InstructionKind,
    pub(crate) reach: ImportScope,
    pub(crate) rule: RuleMode,
    pub(crate) identity: FileIdentity,
}

impl FileRole {
    pub(crate) fn new(kind: InstructionKind, reach: ImportScope) -> Self {
        Self {
            kind,
            reach,
            rule: RuleMode::No,
            identity: FileIdentity::Real,
        }
    }
}

/// Whether `paths` in a file's head counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleMode {
    Yes,
    /// A rule of a nested directory, whose settings folder may be a link.
    Nested,
    No,
}

/// Which path recognises a file that is met a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileIdentity {
    Real,
    /// AGENTS.md and its imports, which the client adds in a step of its own.
    Spelled,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct PendingFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: InstructionKind,
    pub(crate) parent: Option<PathBuf>,
    /// The patterns it waits for.
    pub(crate) globs: Option<Globs>,
    pub(crate) bytes: u64,
    pub(crate) content: String,
}

/// Files that were loaded so far, with the path each is listed under.
pub(crate) type LoadedPaths = HashMap<PathBuf, PathBuf>;

/// The reading side: what all files share.
#[derive(Debug)]
pub(crate) struct Loader {
    /// The working directory, real.
    pub(crate) cwd: PathBuf,
    home: PathBuf,
    excludes: Excludes,
    sources: Vec<SourcedValue>,
    directories: HashMap<PathBuf, Option<PathBuf>>,
    /// Files that are skipped together with their imports, because the session has
    /// them.
    pub(crate) already_loaded: HashSet<PathBuf>,
    /// Paths that the start lists: nested rules among them do not come again.
    pub(crate) listed_at_start: HashSet<PathBuf>,
    skipped: Vec<SkippedFile>,
    /// The same, to find one again.
    known_skipped: HashSet<SkippedFile>,
    pub(crate) warnings: Vec<String>,
    pub(crate) budget: LoadBudget,
}

impl Loader {
    pub(crate) fn new(cwd: PathBuf, home: PathBuf, excludes: Vec<SourcedValue>) -> Self {
        let patterns = excludes.iter().map(|e| e.value.clone());
        Self {
            cwd,
            home,
            excludes: Excludes::new(patterns, |dir| fs::canonicalize(dir).ok()),
            sources: excludes,
            directories: HashMap::new(),
            already_loaded: HashSet::new(),
            listed_at_start: HashSet::new(),
            skipped: Vec::new(),
            known_skipped: HashSet::new(),
            warnings: Vec::new(),
            budget: LoadBudget::default(),
        }
    }

    /// A file and what it imports, in prompt order.
    pub(crate) fn load_file(
        &mut self,
        path: &Path,
        how: FileRole,
        seen: &mut LoadedPaths,
    ) -> Vec<PendingFile> {
        let mut out = Vec::new();
        self.load_with_imports(path, how, &mut Vec::new(), seen, &mut out);
        out
    }

    /// The rules of a folder and what they import.
    pub(crate) fn load_rules(
        &mut self,
        folder: &Path,
        how: FileRole,
        want: RuleSelection,
        seen: &mut LoadedPaths,
    ) -> Vec<PendingFile> {
        let mut files = Vec::new();
        self.list_rule_files(folder, 0, &mut BTreeSet::new(), &mut files);
        // The client takes them in the order of the disk; ours must be the same everywhere.
        // By bytes, because comparing paths part by part costs more than reading the files.
        files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        let rule = match how.rule {
            RuleMode::No => RuleMode::Yes,
            rule => rule,
        };
        let how = FileRole { rule, ..how };
        // A rule that the session has may import one that still waits, so on this way loaded
        // rules are walked through again. The caller drops what is not new.
        let already_loaded = match want {
            RuleSelection::Always => HashSet::new(),
            RuleSelection::Conditional => mem::take(&mut self.already_loaded),
        };
        let mut out = Vec::new();
        for file in files {
            self.load_with_imports(&file, how, &mut Vec::new(), seen, &mut out);
        }
        self.already_loaded.extend(already_loaded);
        let (conditional, always): (Vec<PendingFile>, Vec<PendingFile>) =
            out.into_iter().partition(|draft| draft.globs.is_some());
        if want == RuleSelection::Conditional {
            return conditional;
        }
        // The imports of a waiting rule stay in `always`: in the client they load at the start
        // although the rule itself does not.
        for draft in conditional {
            let globs = draft.globs.map(|g| g.texts().to_vec()).unwrap_or_default();
            self.record_skip(
                &draft.path,
                draft.parent.as_deref(),
                SkipReason::Waits(globs),
            );
        }
        always
    }

    /// All rule files below a folder. Symbolic links are followed; a folder that was
    /// visited before is not, or a link to a parent would never end.
    fn list_rule_files(
        &mut self,
        folder: &Path,
        depth: usize,
        been: &mut BTreeSet<PathBuf>,
        files: &mut Vec<PathBuf>,
    ) {
        let Some(real) = self.real_directory(folder) else {
            return;
        };
        if depth > MAX_RULES_DEPTH || !been.insert(real) {
            return;
        }
        let Ok(listed) = list_directory(folder, self.budget.remaining_entries()) else {
            return;
        };
        let (count, is_cut) = (listed.entries.len(), listed.is_cut);
        self.budget.take_entries(folder, count, is_cut);
        for entry in listed.entries {
            let path = entry.path();
            let Ok(mut kind) = entry.file_type() else {
                continue;
            };
            if kind.is_symlink() {
                let Ok(about) = fs::metadata(&path) else {
                    continue;
                };
                kind = about.file_type();
            }
            if kind.is_dir() {
                self.list_rule_files(&path, depth + 1, been, files);
            // Hidden files, `node_modules` and a file called `.md` all count; `.MD` does not.
            } else if path.as_os_str().as_encoded_bytes().ends_with(b".md") {
                files.push(path);
            }
        }
    }

    fn load_with_imports(
        &mut self,
        spelled: &Path,
        how: FileRole,
        chain: &mut Vec<PathBuf>,
        seen: &mut LoadedPaths,
        out: &mut Vec<PendingFile>,
    ) {
        let parent = chain.last().cloned();
        let skip = |loader: &mut Self, path: &Path, why: SkipReason| {
            loader.record_skip(path, parent.as_deref(), why);
        };
        let Some(real) = self.resolve_real_path(spelled) else {
            // Most directories have no layer file, which is not worth recording. A dangling link
            // or a dead import is.
            if parent.is_some() || fs::symlink_metadata(spelled).is_ok() {
                skip(self, spelled, SkipReason::Missing);
            }
            return;
        };
        // The client lists rules under their real path, all other files as spelled.
        let moved = how.rule != RuleMode::No && parent.is_none() && real != spelled;
        let path = if moved { real.as_path() } else { spelled };
        // At a read, other files are attached again even if the start has the same real file
        // under another name; nested rules are not.
        let listed = |path| self.listed_at_start.contains(path);
        let again = how.rule == RuleMode::Nested && (listed(real.as_path()) || listed(spelled));
        let already_loaded = again || self.already_loaded.contains(path);
        let key = match how.identity {
            FileIdentity::Real => real.as_path(),
            FileIdentity::Spelled => path,
        };
        // Marked as seen although nothing is loaded: another file of this load must not import
        // it, either.
        if parent.is_none() && already_loaded {
            seen.insert(key.to_path_buf(), path.to_path_buf());
            return;
        }
        if let Some(first) = seen.get(key) {
            if first != path {
                let first = first.clone();
                skip(self, path, SkipReason::SameFile(first));
            }
            return;
        }
        if let Some(why) = self.find_exclusion(how.kind, spelled, moved.then_some(path)) {
            skip(self, path, why);
            return;
        }
        // An import must be inside both as written and by its real path. A layer file may be a
        // link to anywhere; a rule that resolves outside is refused.
        let inside = match &parent {
            Some(_) => spelled.starts_with(&self.cwd) && real.starts_with(&self.cwd),
            None => {
                !moved
                    || real.starts_with(&self.cwd)
                    || self.is_in_linked_folder(&real, spelled, how)
            }
        };
        if how.reach == ImportScope::Inside && !inside {
            skip(self, path, SkipReason::External);
            return;
        }
        // Before the file is marked as seen: the limit holds per chain, and the file may still
        // come in by a shorter way.
        if chain.len() > MAX_IMPORT_DEPTH {
            skip(self, path, SkipReason::TooDeep);
            return;
        }
        if !self.budget.may_read(path) {
            return skip(self, path, SkipReason::NotRead(OVER_BUDGET.to_owned()));
        }
        let bytes = match disk::read_bytes(&real) {
            Ok(bytes) => bytes,
            Err(FileReadError::Missing) => return skip(self, path, SkipReason::Missing),
            Err(why) => return skip(self, path, SkipReason::NotRead(why.to_string())),
        };
        self.budget.take_bytes(bytes.len() as u64);
        // Before its imports are followed, so a circle ends here.
        seen.insert(key.to_path_buf(), path.to_path_buf());
        let text = markdown::decode_text(&bytes);
        let (front, body) = frontmatter::split_frontmatter(&text);
        let globs = match how.rule {
            RuleMode::Yes | RuleMode::Nested => self.parse_globs(path, front),
            RuleMode::No => None,
        };
        let page = markdown::parse_markdown(body);
        let content = markdown::trim_text(&page.text);
        // An empty file is no entry (and no "CLAUDE.md exists"), but its imports still count.
        if content.is_empty() {
            skip(self, path, SkipReason::Empty);
        } else {
            out.push(PendingFile {
                path: path.to_path_buf(),
                kind: how.kind,
                parent: parent.clone(),
                globs,
                bytes: bytes.len() as u64,
                content: content.to_owned(),
            });
        }
        if page.imports.is_empty() {
            return;
        }
        // Imports of a linked file are relative to the link's target.
        let folder = real.parent().unwrap_or(Path::new("/")).to_path_buf();
        chain.push(path.to_path_buf());
        for (number, found) in page.imports.iter().enumerate() {
            if !self.budget.take_import(path, number) {
                break;
            }
            let target = import::resolve_import(&found.path, &folder, &self.home);
            match import::parse_extension(&target) {
                Some(extension) if !import::is_text(&extension) => {
                    // Prose has such words, too, so it is recorded only if there is such a file.
                    if target.is_file() {
                        self.record_skip(&target, Some(path), SkipReason::Extension(extension));
                    }
                }
                // `how` goes along: a file imported by a rule waits for its own `paths`, one
                // imported by a CLAUDE.md ignores them.
                _ => self.load_with_imports(&target, how, chain, seen, out),
            }
        }
        chain.pop();
    }

    /// Whether a nested rule is outside only because its settings folder is a
    /// link: then the rules come with the folder.
    fn is_in_linked_folder(&mut self, real: &Path, spelled: &Path, how: FileRole) -> bool {
        let folder = spelled
            .ancestors()
            .find(|dir| dir.ends_with(names::SETTINGS_DIR));
        let Some(folder) = folder.filter(|_| how.rule == RuleMode::Nested) else {
            return false;
        };
        let (Some(linked), Ok(rest)) = (self.real_directory(folder), spelled.strip_prefix(folder))
        else {
            return false;
        };
        linked.join(rest) == real
    }

    fn parse_globs(&mut self, path: &Path, front: Option<&str>) -> Option<Globs> {
        let (when, warnings) = rule::parse_rule_scope(front);
        let warnings = warnings.into_iter();
        self.warnings
            .extend(warnings.map(|w| format!("{}: {w}", path.display())));
        match when {
            RuleScope::Always => None,
            RuleScope::On(globs) => Some(globs),
        }
    }

    fn find_exclusion(
        &self,
        kind: InstructionKind,
        spelled: &Path,
        real: Option<&Path>,
    ) -> Option<SkipReason> {
        // A user cannot exclude what the organisation prescribes.
        if kind == InstructionKind::Managed || self.excludes.is_empty() {
            return None;
        }
        // For a linked rule both the link and its target can be excluded.
        let hit = self.excludes.find_match(spelled);
        let pattern = hit.or_else(|| self.excludes.find_match(real?))?;
        let source = self.sources.iter().find(|s| s.value == pattern);
        Some(SkipReason::Excluded {
            pattern: pattern.to_owned(),
            source: source.map(|s| s.source.clone()).unwrap_or_default(),
        })
    }

    pub(crate) fn record_skip(&mut self, path: &Path, parent: Option<&Path>, why: SkipReason) {
        let skipped = SkippedFile {
            path: path.to_path_buf(),
            parent: parent.map(Path::to_path_buf),
            why,
        };
        if self.skipped.len() < MAX_SKIPPED_FILES && self.known_skipped.insert(skipped.clone()) {
            self.skipped.push(skipped);
        }
    }

    /// What was found and left out.
    pub(crate) fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }

    pub(crate) fn clear_skipped(&mut self) {
        self.skipped.clear();
        self.known_skipped.clear();
    }

    /// The real path of something that exists.
    pub(crate) fn resolve_real_path(&mut self, path: &Path) -> Option<PathBuf> {
        let about = fs::symlink_metadata(path).ok()?;
        // Only the last component needs its own look; directories come from the cache, since
        // many files share one.
        if about.is_symlink() {
            return fs::canonicalize(path).ok();
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Some(path.to_path_buf());
        };
        Some(self.real_directory(parent)?.join(name))
    }

    /// The same for a directory, cached because every file of it asks again.
    fn real_directory(&mut self, dir: &Path) -> Option<PathBuf> {
        if let Some(known) = self.directories.get(dir) {
            return known.clone();
        }
        let real = fs::canonicalize(dir).ok();
        self.directories.insert(dir.to_path_buf(), real.clone());
        real
    }

    /// Begins another load: drops what may have changed on the disk since.
    pub(crate) fn begin_load(&mut self) {
        self.directories.clear();
        self.budget.renew_limits();
    }
}
