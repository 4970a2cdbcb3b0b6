//! Reads one file with everything it imports, and one folder of rules. Each
//! real file once; what is left out is written down with its reason.
//!
//! Which files are asked for, and in which order, is `start.rs`'s and
//! `touch.rs`'s business.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};

use remora_files::list_directory;

use crate::budget::{Budget, MAX_SKIPPED};
use crate::disk::{self, Refused};
use crate::exclude::Excludes;
use crate::file::{Kind, Skipped, Why};
use crate::import;
use crate::rule::{self, Globs, When};
use crate::settings::Sourced;
use crate::{frontmatter, markdown, names};

/// How many imports away from the first file a file may be.
const DEEPEST: usize = 4;
/// Folders inside folders of rules that are followed.
const DEEPEST_RULES: usize = 32;

/// Why a file is not read when the load has read enough.
const OVER_BUDGET: &str = "not read: other files of this load were too large in all";

/// How far imports may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Anywhere,
    /// Files whose real place is below the working directory.
    Inside,
}

/// Which entries of a folder of rules are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    Always,
    Conditional,
}

/// What a file is read as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct As {
    pub(crate) kind: Kind,
    pub(crate) reach: Reach,
    pub(crate) rule: Rule,
    pub(crate) identity: Identity,
}

impl As {
    pub(crate) fn new(kind: Kind, reach: Reach) -> Self {
        Self {
            kind,
            reach,
            rule: Rule::No,
            identity: Identity::Real,
        }
    }
}

/// Whether `paths` in a file's head counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    Yes,
    /// A rule of a nested directory, whose settings folder may be a link.
    Nested,
    No,
}

/// By what a file is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    Real,
    /// AGENTS.md and its imports, which a module of its own adds.
    Spelled,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) parent: Option<PathBuf>,
    /// The patterns it waits for.
    pub(crate) globs: Option<Globs>,
    pub(crate) bytes: u64,
    pub(crate) content: String,
}

/// Files that were met, with the name each was met under.
pub(crate) type Seen = HashMap<PathBuf, PathBuf>;

/// The reading side: what all files share.
#[derive(Debug)]
pub(crate) struct Loader {
    /// The working directory, real.
    pub(crate) cwd: PathBuf,
    home: PathBuf,
    excludes: Excludes,
    sources: Vec<Sourced>,
    directories: HashMap<PathBuf, Option<PathBuf>>,
    /// Files that are passed over together with what they import, because
    /// the session has them.
    pub(crate) passed: HashSet<PathBuf>,
    /// Paths that the start lists: nested rules among them do not come again.
    pub(crate) met: HashSet<PathBuf>,
    skipped: Vec<Skipped>,
    /// The same, to find one again.
    known_skipped: HashSet<Skipped>,
    pub(crate) warnings: Vec<String>,
    pub(crate) budget: Budget,
}

impl Loader {
    pub(crate) fn new(cwd: PathBuf, home: PathBuf, excludes: Vec<Sourced>) -> Self {
        let patterns = excludes.iter().map(|e| e.value.clone());
        Self {
            cwd,
            home,
            excludes: Excludes::new(patterns, |dir| fs::canonicalize(dir).ok()),
            sources: excludes,
            directories: HashMap::new(),
            passed: HashSet::new(),
            met: HashSet::new(),
            skipped: Vec::new(),
            known_skipped: HashSet::new(),
            warnings: Vec::new(),
            budget: Budget::default(),
        }
    }

    /// A file and what it imports, in prompt order.
    pub(crate) fn file(&mut self, path: &Path, how: As, seen: &mut Seen) -> Vec<Draft> {
        let mut out = Vec::new();
        self.visit(path, how, &mut Vec::new(), seen, &mut out);
        out
    }

    /// The rules of a folder and what they import.
    pub(crate) fn rules(
        &mut self,
        folder: &Path,
        how: As,
        want: Want,
        seen: &mut Seen,
    ) -> Vec<Draft> {
        let mut files = Vec::new();
        self.list(folder, 0, &mut BTreeSet::new(), &mut files);
        // By bytes: comparing paths part by part costs more than reading them.
        files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        let rule = match how.rule {
            Rule::No => Rule::Yes,
            rule => rule,
        };
        let how = As { rule, ..how };
        // A rule that the session has may import one that still waits.
        let passed = match want {
            Want::Always => HashSet::new(),
            Want::Conditional => mem::take(&mut self.passed),
        };
        let mut out = Vec::new();
        for file in files {
            self.visit(&file, how, &mut Vec::new(), seen, &mut out);
        }
        self.passed.extend(passed);
        let (conditional, always): (Vec<Draft>, Vec<Draft>) =
            out.into_iter().partition(|draft| draft.globs.is_some());
        if want == Want::Conditional {
            return conditional;
        }
        for draft in conditional {
            let globs = draft.globs.map(|g| g.texts().to_vec()).unwrap_or_default();
            self.skip(&draft.path, draft.parent.as_deref(), Why::Waits(globs));
        }
        always
    }

    /// All rule files below a folder; symbolic links are followed, circles
    /// are not.
    fn list(
        &mut self,
        folder: &Path,
        depth: usize,
        been: &mut BTreeSet<PathBuf>,
        files: &mut Vec<PathBuf>,
    ) {
        let Some(real) = self.real_directory(folder) else {
            return;
        };
        if depth > DEEPEST_RULES || !been.insert(real) {
            return;
        }
        let Ok(listed) = list_directory(folder, self.budget.entries()) else {
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
                self.list(&path, depth + 1, been, files);
            } else if path.as_os_str().as_encoded_bytes().ends_with(b".md") {
                files.push(path);
            }
        }
    }

    fn visit(
        &mut self,
        spelled: &Path,
        how: As,
        chain: &mut Vec<PathBuf>,
        seen: &mut Seen,
        out: &mut Vec<Draft>,
    ) {
        let parent = chain.last().cloned();
        let skip = |loader: &mut Self, path: &Path, why: Why| {
            loader.skip(path, parent.as_deref(), why);
        };
        let Some(real) = self.real(spelled) else {
            // A layer file that is not there is the usual case.
            if parent.is_some() || fs::symlink_metadata(spelled).is_ok() {
                skip(self, spelled, Why::Missing);
            }
            return;
        };
        // Rules are listed under their real path.
        let moved = how.rule != Rule::No && parent.is_none() && real != spelled;
        let path = if moved { real.as_path() } else { spelled };
        let met = |path| self.met.contains(path);
        let again = how.rule == Rule::Nested && (met(real.as_path()) || met(spelled));
        let passed = again || self.passed.contains(path);
        let key = match how.identity {
            Identity::Real => real.as_path(),
            Identity::Spelled => path,
        };
        if parent.is_none() && passed {
            seen.insert(key.to_path_buf(), path.to_path_buf());
            return;
        }
        if let Some(first) = seen.get(key) {
            if first != path {
                let first = first.clone();
                skip(self, path, Why::SameFile(first));
            }
            return;
        }
        if let Some(why) = self.excluded(how.kind, spelled, moved.then_some(path)) {
            skip(self, path, why);
            return;
        }
        let inside = match &parent {
            Some(_) => spelled.starts_with(&self.cwd) && real.starts_with(&self.cwd),
            None => {
                !moved
                    || real.starts_with(&self.cwd)
                    || self.is_in_linked_folder(&real, spelled, how)
            }
        };
        if how.reach == Reach::Inside && !inside {
            skip(self, path, Why::External);
            return;
        }
        if chain.len() > DEEPEST {
            skip(self, path, Why::TooDeep);
            return;
        }
        if !self.budget.may_read(path) {
            return skip(self, path, Why::NotRead(OVER_BUDGET.to_owned()));
        }
        let bytes = match disk::read(&real) {
            Ok(bytes) => bytes,
            Err(Refused::Missing) => return skip(self, path, Why::Missing),
            Err(why) => return skip(self, path, Why::NotRead(why.to_string())),
        };
        self.budget.take_bytes(bytes.len() as u64);
        seen.insert(key.to_path_buf(), path.to_path_buf());
        let text = markdown::decode(&bytes);
        let (front, body) = frontmatter::split(&text);
        let globs = match how.rule {
            Rule::Yes | Rule::Nested => self.globs(path, front),
            Rule::No => None,
        };
        let page = markdown::read(body);
        let content = markdown::trim(&page.text);
        if content.is_empty() {
            skip(self, path, Why::Empty);
        } else {
            out.push(Draft {
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
        let folder = real.parent().unwrap_or(Path::new("/")).to_path_buf();
        chain.push(path.to_path_buf());
        for (number, found) in page.imports.iter().enumerate() {
            if !self.budget.take_import(path, number) {
                break;
            }
            let target = import::resolve(&found.path, &folder, &self.home);
            match import::extension(&target) {
                Some(extension) if !import::is_text(&extension) => {
                    // Only worth a word if there is such a file.
                    if target.is_file() {
                        self.skip(&target, Some(path), Why::Extension(extension));
                    }
                }
                _ => self.visit(&target, how, chain, seen, out),
            }
        }
        chain.pop();
    }

    /// Whether a nested rule lies outside only because its settings folder
    /// is a link: then the rules come with the folder.
    fn is_in_linked_folder(&mut self, real: &Path, spelled: &Path, how: As) -> bool {
        let folder = spelled.ancestors().find(|dir| dir.ends_with(names::FOLDER));
        let Some(folder) = folder.filter(|_| how.rule == Rule::Nested) else {
            return false;
        };
        let (Some(linked), Ok(rest)) = (self.real_directory(folder), spelled.strip_prefix(folder))
        else {
            return false;
        };
        linked.join(rest) == real
    }

    fn globs(&mut self, path: &Path, front: Option<&str>) -> Option<Globs> {
        let (when, warnings) = rule::when(front);
        let warnings = warnings.into_iter();
        self.warnings
            .extend(warnings.map(|w| format!("{}: {w}", path.display())));
        match when {
            When::Always => None,
            When::On(globs) => Some(globs),
        }
    }

    fn excluded(&self, kind: Kind, spelled: &Path, real: Option<&Path>) -> Option<Why> {
        if kind == Kind::Managed || self.excludes.is_empty() {
            return None;
        }
        let hit = self.excludes.hit(spelled);
        let pattern = hit.or_else(|| self.excludes.hit(real?))?;
        let source = self.sources.iter().find(|s| s.value == pattern);
        Some(Why::Excluded {
            pattern: pattern.to_owned(),
            source: source.map(|s| s.source.clone()).unwrap_or_default(),
        })
    }

    pub(crate) fn skip(&mut self, path: &Path, parent: Option<&Path>, why: Why) {
        let skipped = Skipped {
            path: path.to_path_buf(),
            parent: parent.map(Path::to_path_buf),
            why,
        };
        if self.skipped.len() < MAX_SKIPPED && self.known_skipped.insert(skipped.clone()) {
            self.skipped.push(skipped);
        }
    }

    /// What was met and left out.
    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    pub(crate) fn clear_skipped(&mut self) {
        self.skipped.clear();
        self.known_skipped.clear();
    }

    /// The real path of something that exists.
    pub(crate) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let about = fs::symlink_metadata(path).ok()?;
        if about.is_symlink() {
            return fs::canonicalize(path).ok();
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Some(path.to_path_buf());
        };
        Some(self.real_directory(parent)?.join(name))
    }

    /// The same for a directory; asked again and again, so remembered.
    fn real_directory(&mut self, dir: &Path) -> Option<PathBuf> {
        if let Some(known) = self.directories.get(dir) {
            return known.clone();
        }
        let real = fs::canonicalize(dir).ok();
        self.directories.insert(dir.to_path_buf(), real.clone());
        real
    }

    /// Another load begins: forgets what may have changed on the disk since.
    pub(crate) fn forget(&mut self) {
        self.directories.clear();
        self.budget.renew();
    }
}
