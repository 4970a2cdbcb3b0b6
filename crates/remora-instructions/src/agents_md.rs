//! AGENTS.md: read if the project has no CLAUDE.md, next to it, or never, as the
//! user chose; and its position among the other files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::file::{HookNotice, InstructionKind, LoadedFile, SkipReason, find_owning_directory};
use crate::load::{FileIdentity, FileRole, ImportScope, LoadedPaths, PendingFile};
use crate::names;
use crate::settings::AgentsMode;
use crate::start::{LoadContext, StartFiles};
use crate::touch::build_traversed_files;

/// The word of the mode in which only managed files are shown.
pub(crate) const MANAGED_ONLY: &str = "managed-only";

/// What an AGENTS.md is compared with.
#[derive(Default)]
struct LoadedSet {
    /// Paths that are loaded, and real ones of those that nothing imports;
    /// imports of an AGENTS.md go by these.
    paths: LoadedPaths,
    /// Real files of the user and the project.
    reals: LoadedPaths,
    /// Texts of the project's files: the client drops an AGENTS.md that repeats one.
    texts: Vec<(PathBuf, String)>,
}

/// A loaded file.
struct LoadedRef<'a> {
    path: &'a PathBuf,
    kind: InstructionKind,
    parent: Option<&'a PathBuf>,
    text: &'a String,
}

impl<'a> From<&'a LoadedFile> for LoadedRef<'a> {
    fn from(file: &'a LoadedFile) -> Self {
        Self {
            path: &file.path,
            kind: file.kind,
            parent: file.parent.as_ref(),
            text: &file.content,
        }
    }
}

impl<'a> From<&'a PendingFile> for LoadedRef<'a> {
    fn from(draft: &'a PendingFile) -> Self {
        Self {
            path: &draft.path,
            kind: draft.kind,
            parent: draft.parent.as_ref(),
            text: &draft.content,
        }
    }
}

impl LoadedSet {
    fn new<'a>(entries: impl Iterator<Item = LoadedRef<'a>>, start: &StartFiles) -> Self {
        let mut known = Self::default();
        let by_listed: HashMap<&PathBuf, &PathBuf> = start
            .seen
            .iter()
            .map(|(real, listed)| (listed, real))
            .collect();
        for entry in entries {
            let path = entry.path;
            known.paths.insert(path.clone(), path.clone());
            if let Some(&real) = by_listed.get(path) {
                if entry.parent.is_none() {
                    known.paths.insert(real.clone(), path.clone());
                }
                if entry.kind != InstructionKind::Managed {
                    known.reals.insert(real.clone(), path.clone());
                }
            }
            if matches!(
                entry.kind,
                InstructionKind::Project | InstructionKind::Local
            ) {
                known.texts.push((path.clone(), entry.text.clone()));
            }
        }
        known
    }
}

impl LoadContext {
    /// The AGENTS.md files of the walk, each directory's with the index of the
    /// draft that it precedes: after all files of its directory, before the first
    /// file of a deeper one.
    pub(crate) fn load_agents_files(
        &mut self,
        start: &StartFiles,
        drafts: &[PendingFile],
    ) -> Vec<(usize, Vec<PendingFile>)> {
        // Built on first use: most projects have no such file, and comparing texts is not free.
        let entries = || start.files.iter().map(LoadedRef::from);
        let compared =
            || LoadedSet::new(entries().chain(drafts.iter().map(LoadedRef::from)), start);
        let mut known = None;
        let mut placed = Vec::new();
        for dir in self.walk_directories() {
            let held = self.agents_held_back(&dir, start);
            let mut found = Vec::new();
            for file in files_of(&dir) {
                match &held {
                    Some(why) => self.record_skip_if_exists(&file, why.clone()),
                    None if file.symlink_metadata().is_err() => {}
                    None => {
                        let known = known.get_or_insert_with(compared);
                        found.extend(self.agents_file(&file, self.import_scope(), known));
                    }
                }
            }
            if found.is_empty() {
                continue;
            }
            let listed: HashSet<&PathBuf> = drafts.iter().map(|d| &d.path).collect();
            let below = |draft: &PendingFile| {
                // The import of a waiting rule has no listed parent; it counts as being where the
                // rule would be.
                let first = match &draft.parent {
                    Some(parent) if listed.contains(parent) => return false,
                    Some(parent) => parent,
                    None => &draft.path,
                };
                let holder = find_owning_directory(first);
                holder != dir && holder.starts_with(&dir)
            };
            let before = drafts.iter().position(below);
            placed.push((before.unwrap_or(drafts.len()), found));
        }
        placed
    }

    /// Why a directory's AGENTS.md is not read, if it is not.
    fn agents_held_back(&self, dir: &Path, start: &StartFiles) -> Option<SkipReason> {
        if !self.options.sources.project {
            return Some(SkipReason::SourceOff("project"));
        }
        if self
            .repository
            .as_ref()
            .is_some_and(|r| r.is_in_outer_checkout(dir))
        {
            return Some(SkipReason::Worktree);
        }
        match self.settings.agents {
            AgentsMode::Both => None,
            AgentsMode::Fallback => start.project_file.clone().map(SkipReason::ShadowedBy),
            AgentsMode::ClaudeOnly => Some(SkipReason::AgentsMode("claude-md")),
            AgentsMode::ManagedOnly => Some(SkipReason::AgentsMode(MANAGED_ONLY)),
        }
    }

    /// One AGENTS.md, unless it or its words are there already.
    fn agents_file(
        &mut self,
        file: &Path,
        reach: ImportScope,
        known: &mut LoadedSet,
    ) -> Vec<PendingFile> {
        if let Some(listed) = self
            .loader
            .resolve_real_path(file)
            .and_then(|real| known.reals.get(&real))
        {
            let why = SkipReason::SameFile(listed.clone());
            self.loader.record_skip(file, None, why);
            return Vec::new();
        }
        // By its spelled path: the client adds AGENTS.md outside its own loader, whose set of
        // real paths it does not share.
        let how = FileRole {
            identity: FileIdentity::Spelled,
            ..FileRole::new(InstructionKind::Project, reach)
        };
        let drafts = self.loader.load_file(file, how, &mut known.paths);
        let first = drafts.first().filter(|d| d.path == file);
        let same = first.and_then(|f| known.texts.iter().find(|(_, text)| *text == f.content));
        if let Some((path, _)) = same {
            let why = SkipReason::SameText(path.clone());
            self.loader.record_skip(file, None, why);
            return Vec::new();
        }
        drafts
    }

    /// AGENTS.md of nested directories, after a read that succeeded. `bare` are the
    /// directories without a CLAUDE.md of their own.
    pub(crate) fn nested_agents(
        &mut self,
        nested: &[PathBuf],
        bare: &[PathBuf],
        start: &StartFiles,
        file: &Path,
    ) -> Vec<LoadedFile> {
        let directories = match self.settings.agents {
            AgentsMode::Both => nested,
            AgentsMode::Fallback if start.project_file.is_none() => bare,
            _ => return Vec::new(),
        };
        let mut known = LoadedSet::new(start.files.iter().map(LoadedRef::from), start);
        let mut out = Vec::new();
        for path in directories.iter().flat_map(|dir| files_of(dir)) {
            let drafts = self.agents_file(&path, ImportScope::Inside, &mut known);
            out.extend(build_traversed_files(drafts, HookNotice::No, file));
        }
        out
    }
}

/// The AGENTS.md files of a directory.
fn files_of(dir: &Path) -> [PathBuf; 2] {
    [
        dir.join(names::AGENTS_FILE),
        dir.join(names::SETTINGS_DIR).join(names::AGENTS_FILE),
    ]
}
