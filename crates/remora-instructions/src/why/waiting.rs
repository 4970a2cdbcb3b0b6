//! Rules that wait for a file: all of them, with the directory their patterns
//! start from. Whether one matches is the caller's question.

use std::path::{Path, PathBuf};

use crate::file::InstructionKind;
use crate::load::{FileRole, ImportScope, LoadedPaths, RuleSelection};
use crate::names;
use crate::rule::Globs;
use crate::start::LoadContext;

/// A rule that waits.
#[derive(Debug)]
pub(crate) struct WaitingRule {
    pub(crate) path: PathBuf,
    pub(crate) kind: InstructionKind,
    /// Where its patterns start.
    pub(crate) base: PathBuf,
    pub(crate) globs: Globs,
}

/// The rules of the organisation, the user, the walk, and of `nested`, which are
/// directories below the working directory.
pub(crate) fn list_waiting_rules(
    context: &mut LoadContext,
    nested: &[PathBuf],
) -> Vec<WaitingRule> {
    let mut found = Vec::new();
    if context.disabled_by().is_some() {
        return found;
    }
    let cwd = context.loader.cwd.clone();
    let reach = context.import_scope();
    if let Some(dir) = context.places.managed.clone() {
        collect_rules(
            context,
            &LoadContext::rules_of(&dir),
            (InstructionKind::Managed, reach),
            &cwd,
            &mut found,
        );
    }
    if context.options.sources.user {
        let folder = context.places.config_dir().join(names::RULES_DIR);
        collect_rules(
            context,
            &folder,
            (InstructionKind::User, ImportScope::Anywhere),
            &cwd,
            &mut found,
        );
    }
    if !context.options.sources.project {
        return found;
    }
    for dir in context.walk_directories().iter().chain(nested) {
        let folder = LoadContext::rules_of(dir);
        let repeated = context
            .repository
            .as_ref()
            .is_some_and(|r| r.is_in_outer_checkout(dir));
        if !repeated && !context.is_user_rules(&folder) {
            collect_rules(
                context,
                &folder,
                (InstructionKind::Project, ImportScope::Inside),
                dir,
                &mut found,
            );
        }
    }
    found
}

fn collect_rules(
    context: &mut LoadContext,
    folder: &Path,
    (kind, reach): (InstructionKind, ImportScope),
    base: &Path,
    found: &mut Vec<WaitingRule>,
) {
    let how = FileRole::new(kind, reach);
    let drafts = context.loader.load_rules(
        folder,
        how,
        RuleSelection::Conditional,
        // A fresh set per folder: a rule that is linked from two folders waits in both.
        &mut LoadedPaths::new(),
    );
    found.extend(drafts.into_iter().filter_map(|draft| {
        Some(WaitingRule {
            path: draft.path,
            kind,
            base: base.to_path_buf(),
            globs: draft.globs?,
        })
    }));
}
