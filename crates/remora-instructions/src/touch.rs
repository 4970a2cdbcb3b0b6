//! What a touched file brings in: nested directories' files, and rules whose
//! `paths` match.

use std::path::{Path, PathBuf};

use crate::file::{HookNotice, InstructionKind, LoadReason, LoadedFile, normalise_path};
use crate::load::{FileRole, ImportScope, LoadedPaths, PendingFile, RuleMode, RuleSelection};
use crate::start::{LoadContext, StartFiles, build_loaded_file, project_files};
use crate::{agent, names};

/// Files loaded during one read. Unconditional files and rules that wait have
/// separate sets, as in the client: an import can be in both.
#[derive(Default)]
struct TouchLoadedPaths {
    files: LoadedPaths,
    conditional: LoadedPaths,
}

impl LoadContext {
    /// Everything that a touched file calls for and the session does not have
    /// yet. `loaded` are the files it has.
    ///
    /// The order is the client's: rules of the organisation and the user, nested
    /// directories from the outermost in, rules of the working directory and its
    /// parents, then AGENTS.md.
    pub(crate) fn load_on_touch(
        &mut self,
        file: &Path,
        start: &StartFiles,
        loaded: &[LoadedFile],
    ) -> Vec<LoadedFile> {
        let file = normalise_path(file);
        // A read outside triggers nothing at all, not even the user's rule for `**/*.py`.
        if self.disabled_by().is_some() || !self.is_within(&file) {
            return Vec::new();
        }
        self.loader.begin_load();
        self.loader.already_loaded.clone_from(&start.known_paths);
        let later = loaded.iter().map(|f| f.path.clone());
        self.loader.already_loaded.extend(later);
        self.loader.listed_at_start.clone_from(&start.known_paths);
        let mut out = Vec::new();
        let mut seen = TouchLoadedPaths::default();
        self.own_rules(&file, &mut seen, &mut out);
        let nested = list_nested_directories(&self.loader.cwd, &file);
        let mut bare = Vec::new();
        for dir in &nested {
            if !self.nested_directory(dir, &file, &mut seen, &mut out) {
                bare.push(dir.clone());
            }
        }
        if self.options.sources.project {
            let how = FileRole::new(InstructionKind::Project, ImportScope::Inside);
            for dir in self.walk_directories() {
                let rules = Self::rules_of(&dir);
                let repeated = self
                    .repository
                    .as_ref()
                    .is_some_and(|r| r.is_in_outer_checkout(&dir));
                if !repeated && !self.is_user_rules(&rules) {
                    self.load_conditional_rules(&rules, how, (&dir, &file), &mut seen, &mut out);
                }
            }
            // Other files come with a failed read as well; AGENTS.md does not.
            if file.is_file() {
                out.extend(self.nested_agents(&nested, &bare, start, &file));
            }
        }
        // The loader is shared with the next start, which must not skip anything.
        self.loader.already_loaded.clear();
        self.loader.listed_at_start.clear();
        if let Some(name) = &self.options.agent {
            let gets = agent::load_subagent(self, name).gets;
            out.retain(|file| gets.includes_kind(file.kind));
        }
        out
    }

    /// Whether a file is one of the session's: below the working directory as
    /// it is written, and really in one of the session's directories.
    fn is_within(&mut self, file: &Path) -> bool {
        let cwd = self.loader.cwd.clone();
        // A link inside the project that leads elsewhere does not count as a read inside.
        let Some(real) = nearest_real(file).filter(|_| file.starts_with(&cwd)) else {
            return false;
        };
        let named = self.settings.directories.iter().map(|dir| {
            dir.strip_prefix("~/")
                .map_or_else(|| cwd.join(dir), |rest| self.places.home.join(rest))
        });
        let mut others = self.places.added.iter().cloned().chain(named);
        real.starts_with(&cwd)
            || others.any(|dir| dir.canonicalize().is_ok_and(|dir| real.starts_with(dir)))
    }

    /// The files of one nested directory; whether it has a CLAUDE.md.
    fn nested_directory(
        &mut self,
        dir: &Path,
        file: &Path,
        seen: &mut TouchLoadedPaths,
        out: &mut Vec<LoadedFile>,
    ) -> bool {
        // As in the client, nested files never import from outside, approved or not.
        let how = FileRole::new(InstructionKind::Project, ImportScope::Inside);
        let before = out.len();
        let local = dir.join(names::LOCAL_INSTRUCTION_FILE);
        let mut known = false;
        if self.options.sources.project {
            for path in project_files(dir) {
                known |= self.loader.already_loaded.contains(&path);
                let drafts = self.loader.load_file(&path, how, &mut seen.files);
                out.extend(build_traversed_files(drafts, HookNotice::Yes, file));
            }
        }
        if self.options.sources.local {
            let how = FileRole::new(InstructionKind::Local, ImportScope::Inside);
            known |= self.loader.already_loaded.contains(&local);
            let drafts = self.loader.load_file(&local, how, &mut seen.files);
            out.extend(build_traversed_files(drafts, HookNotice::Yes, file));
        }
        // A file that the session has already also hides the directory's AGENTS.md. Rules,
        // which follow, do not.
        let has = known || out.len() > before;
        if self.options.sources.project {
            let how = FileRole {
                rule: RuleMode::Nested,
                ..how
            };
            let rules = Self::rules_of(dir);
            let drafts =
                self.loader
                    .load_rules(&rules, how, RuleSelection::Always, &mut seen.files);
            out.extend(build_traversed_files(drafts, HookNotice::Yes, file));
            self.load_conditional_rules(&rules, how, (dir, file), seen, out);
        }
        has
    }

    /// Rules of the organisation and the user that wait for a file.
    fn own_rules(&mut self, file: &Path, seen: &mut TouchLoadedPaths, out: &mut Vec<LoadedFile>) {
        let cwd = self.loader.cwd.clone();
        if let Some(dir) = self.places.managed.clone() {
            let how = FileRole::new(InstructionKind::Managed, self.import_scope());
            self.load_conditional_rules(&Self::rules_of(&dir), how, (&cwd, file), seen, out);
        }
        if self.options.sources.user {
            let how = FileRole::new(InstructionKind::User, ImportScope::Anywhere);
            let rules = self.places.config_dir().join(names::RULES_DIR);
            self.load_conditional_rules(&rules, how, (&cwd, file), seen, out);
        }
    }

    /// Rules of one folder whose `paths`, seen from `base`, match the file.
    fn load_conditional_rules(
        &mut self,
        rules: &Path,
        how: FileRole,
        (base, file): (&Path, &Path),
        seen: &mut TouchLoadedPaths,
        out: &mut Vec<LoadedFile>,
    ) {
        // Patterns are relative to the directory that holds `.claude`, and match the spelled
        // path only.
        let Ok(relative) = file.strip_prefix(base) else {
            return;
        };
        let relative = relative.to_string_lossy();
        let seen = &mut seen.conditional;
        let drafts = self
            .loader
            .load_rules(rules, how, RuleSelection::Conditional, seen);
        for mut draft in drafts {
            let Some(globs) = draft.globs.take().filter(|g| g.matches(&relative)) else {
                continue;
            };
            out.push(LoadedFile {
                reason: LoadReason::PathGlobMatch,
                globs: Some(globs.texts().to_vec()),
                trigger: Some(file.to_path_buf()),
                ..build_loaded_file(draft, LoadReason::PathGlobMatch, HookNotice::Yes)
            });
        }
    }
}

/// Drafts as what a touched file brought in.
pub(crate) fn build_traversed_files(
    drafts: Vec<PendingFile>,
    announce: HookNotice,
    file: &Path,
) -> impl Iterator<Item = LoadedFile> {
    let drafts = drafts.into_iter();
    drafts.map(move |draft| LoadedFile {
        trigger: Some(file.to_path_buf()),
        ..build_loaded_file(draft, LoadReason::NestedTraversal, announce)
    })
}

/// The directories strictly between the working directory and the file,
/// outermost first.
fn list_nested_directories(cwd: &Path, file: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = file
        .ancestors()
        .skip(1)
        .take_while(|dir| *dir != cwd && dir.starts_with(cwd))
        .map(Path::to_path_buf)
        .collect();
    dirs.reverse();
    dirs
}

/// The real path; of a file that is not there, by its nearest real folder.
fn nearest_real(file: &Path) -> Option<PathBuf> {
    file.ancestors().find_map(|path| {
        let real = path.canonicalize().ok()?;
        let rest = file.strip_prefix(path).ok()?;
        Some(real.join(rest))
    })
}
