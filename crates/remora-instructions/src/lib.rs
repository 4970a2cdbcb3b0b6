//! Layered instruction files of a coding agent: which are in the prompt, in
//! which order, and why.
//!
//! [`Instructions::load`] reads what is there when a session begins,
//! [`Instructions::on_read`] what a touched file brings in,
//! [`Instructions::reset`] starts over after a compaction.
//!
//! Reads files below the paths that the host passes in and where imports lead. It
//! knows nothing of hooks, stores or models, reads no environment and no clock.
#![forbid(unsafe_code)]

mod agent;
mod agents_md;
mod approval;
pub mod auto_memory;
mod budget;
pub mod disk;
mod exclude;
mod file;
pub mod frontmatter;
mod import;
mod lint;
mod load;
mod markdown;
pub mod memory_uri;
pub mod names;
mod near;
mod pages;
mod paths;
pub mod render;
mod repository;
mod rule;
mod settings;
mod start;
#[cfg(test)]
mod tests;
mod touch;
pub mod walk;
mod why;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub use file::{
    HookNotice, InstructionKind, LoadReason, LoadedFile, SkipReason, SkippedFile, normalise_path,
};
pub use lint::{LintFinding, Severity};
pub use names::CLIENT_VARIABLES;
pub use paths::{
    ExternalImports, InstructionOptions, InstructionPaths, InstructionSources, LoadMode,
};
pub use settings::{AgentsMode, SourcedValue};
pub use why::{FileExplanation, FileVerdict, Omission, PromptPosition};

use start::{LoadContext, StartFiles};

/// The directory whose path identifies a project: the main checkout of the
/// repository around `cwd`, or the real `cwd` outside git.
pub fn project_root(cwd: &Path) -> PathBuf {
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf());
    repository::project_root(repository::Repository::find_containing(&cwd).as_ref(), &cwd)
}

/// Why the set of loaded files starts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetReason {
    /// The conversation was compacted: hooks are notified of the files again.
    Compact,
    /// Only caches are dropped: hooks are not notified.
    Clear,
}

/// The instructions of one session.
#[derive(Debug)]
pub struct Instructions {
    context: LoadContext,
    start: StartFiles,
    later: Vec<LoadedFile>,
    /// Paths the model has, also by reading them itself.
    known_paths: HashSet<PathBuf>,
}

impl Instructions {
    /// Reads what is in the prompt when a session begins. Never fails: what
    /// cannot be read is in [`Self::skipped`] and [`Self::warnings`].
    pub fn load(places: InstructionPaths, options: InstructionOptions) -> Self {
        let mut context = LoadContext::new(places, options);
        let start = context.start(LoadReason::SessionStart);
        let known_paths = start.known_paths.clone();
        Self {
            context,
            start,
            later: Vec::new(),
            known_paths,
        }
    }

    /// The files of the start, in prompt order.
    pub fn start(&self) -> &[LoadedFile] {
        &self.start.files
    }

    /// The files that came since, in order.
    pub fn loaded_on_demand(&self) -> &[LoadedFile] {
        &self.later
    }

    /// A file was touched, by a tool that succeeded or failed: what comes in
    /// because of it. Each file comes once.
    pub fn on_read(&mut self, file: &Path) -> Vec<LoadedFile> {
        let file = self.context.loader.cwd.join(file);
        // Reading an instruction file puts it into the conversation, so it is not attached as
        // well, neither now nor later.
        self.known_paths.insert(file::normalise_path(&file));
        let before: Vec<LoadedFile> = self
            .start
            .files
            .iter()
            .chain(&self.later)
            .cloned()
            .collect();
        let mut new = self.context.load_on_touch(&file, &self.start, &before);
        new.retain(|loaded| self.known_paths.insert(loaded.path.clone()));
        self.later.extend(new.iter().cloned());
        new
    }

    /// Starts over: the start is read again, and what came on demand comes
    /// again when it is called for.
    pub fn reset(&mut self, why: ResetReason) {
        let reason = match why {
            ResetReason::Compact => LoadReason::Compact,
            ResetReason::Clear => LoadReason::SessionStart,
        };
        // A start over is a load of its own: the disk may have changed, and its budget is fresh.
        self.context.loader.begin_load();
        self.context.loader.clear_skipped();
        self.start = self.context.start(reason);
        if why == ResetReason::Clear {
            for file in &mut self.start.files {
                file.announce = HookNotice::No;
            }
        }
        self.later.clear();
        // Files that came on demand are forgotten, because the compaction dropped their text.
        self.known_paths = self.start.known_paths.clone();
    }

    /// What was met and left out, and has not come in since.
    pub fn skipped(&self) -> impl Iterator<Item = &SkippedFile> {
        let loaded = self.start.files.iter().chain(&self.later);
        let loaded: HashSet<&Path> = loaded.map(|file| file.path.as_path()).collect();
        let skipped = self.context.loader.skipped().iter();
        skipped.filter(move |s| !loaded.contains(s.path.as_path()))
    }

    /// What the user should fix.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        let settings = self.context.settings.warnings.iter();
        let files = self.context.loader.warnings.iter();
        let limits = self.context.loader.budget.warnings();
        settings.chain(files).map(String::as_str).chain(limits)
    }

    /// The working directory, real.
    pub fn cwd(&self) -> &Path {
        &self.context.loader.cwd
    }

    /// Where the checkout begins; the working directory outside git.
    pub fn checkout_root(&self) -> &Path {
        let repository = self.context.repository.as_ref();
        repository.map_or(self.cwd(), |r| r.root.as_path())
    }

    /// Where the client keeps this project's memories.
    pub fn memory_folder(&self) -> PathBuf {
        self.context.memory_folder()
    }

    /// Where this checkout keeps the memories it shares.
    pub fn team_folder(&self) -> PathBuf {
        self.context.team_folder()
    }
}
