//! Describes an edit by what changed in which function, from the text alone.
//!
//! Reads what the client says of an edit: a patch, the file before it, the
//! strings replaced. Any of these may be missing, cut or wrong.

mod call;
mod compact;
mod concepts;
mod created;
mod cut;
mod dependency;
mod detail;
mod diff;
mod facts;
mod imports;
mod notebook;
mod patch;
mod story;
#[cfg(test)]
mod tests;
mod title;
mod tokens;
mod wording;

use remora_core::tool_call::Hunk;

pub use self::call::read_edit_call;
pub(crate) use self::call::strip_root;
pub(crate) use self::cut::{one_line, truncate_chars};
pub use self::notebook::read_notebook_edit;
use self::patch::Patch;
use self::story::EditSummary;
pub(crate) use self::wording::{fit_title, short_path};

/// The longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 120;
/// The most facts of one edit.
pub const MAX_FACTS: usize = 12;
/// The longest compact diff, in characters.
pub const MAX_DIFF_CHARS: usize = 1_500;

/// What kind of edit it is, as far as its content tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EditKind {
    /// Something that was not there before.
    Feature,
    /// A case handled that was not.
    Bugfix,
    /// The same under another name or in another place.
    Refactor,
    /// Anything else in code.
    Change,
    /// Prose and comments.
    Docs,
    /// Tests.
    Test,
    /// Settings and dependencies.
    Config,
}

impl EditKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Bugfix => "bugfix",
            Self::Refactor => "refactor",
            Self::Change => "change",
            Self::Docs => "docs",
            Self::Test => "test",
            Self::Config => "config",
        }
    }
}

/// Whether the file was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileOrigin {
    /// It was made by this edit.
    Created,
    /// It was there.
    #[default]
    Updated,
}

/// What is known of an edit.
#[derive(Debug, Clone, Copy, Default)]
pub struct EditInput<'a> {
    /// As shown, relative to the project where possible.
    pub path: &'a str,
    /// The whole file before the edit.
    pub original: Option<&'a str>,
    /// The patch; empty when the client gave none.
    pub hunks: &'a [Hunk],
    /// The text replaced, or the whole file before.
    pub old: Option<&'a str>,
    /// The text put in its place, or the whole file after.
    pub new: Option<&'a str>,
    /// Whether the file was there before.
    pub origin: FileOrigin,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditReading {
    /// At most [`MAX_TITLE_CHARS`] characters.
    pub title: String,
    /// A hint from the content alone.
    pub kind: EditKind,
    /// At most [`MAX_FACTS`] lines.
    pub facts: Vec<String>,
    /// Functions, types and keys touched, with their containers.
    pub symbols: Vec<String>,
    /// A few words for what the edit is about.
    pub concepts: Vec<String>,
    /// Changed lines only, at most [`MAX_DIFF_CHARS`] characters.
    pub diff: String,
}

/// Reads one edit.
pub fn read_edit(input: &EditInput<'_>) -> EditReading {
    let hunks = patch::collect_hunks(input);
    let patch = Patch::from_hunks(input, &hunks);
    let diff = compact::render_diff(&patch);
    // First: read as settings, its facts would be checksums.
    if dependency::is_lock(input.path) {
        return read_lock_edit(input, &patch, diff);
    }
    if input.origin == FileOrigin::Created {
        let made = created::read_created_file(input.path, input.new.unwrap_or(""));
        let concepts = concepts::find_concepts(&patch, concepts::DependencyChange::No, made.kind);
        return EditReading {
            title: made.title,
            kind: made.kind,
            facts: made.facts,
            symbols: made.symbols,
            concepts,
            diff,
        };
    }
    let story = EditSummary::from_patch(input.path, &patch);
    let details: Vec<_> = story
        .groups
        .iter()
        .map(|g| detail::of_group(story.language, g))
        .collect();
    let packages = if story.dependencies.is_empty() {
        concepts::DependencyChange::No
    } else {
        concepts::DependencyChange::Yes
    };
    let headline = title::render_title(input.path, &story, &details);
    EditReading {
        concepts: concepts::find_concepts(&patch, packages, headline.kind),
        title: headline.title,
        kind: headline.kind,
        facts: facts::render_facts(&story, &details),
        symbols: facts::list_touched_symbols(&story),
        diff,
    }
}

/// A lock file is described by the packages in it, never as code or settings.
fn read_lock_edit(input: &EditInput<'_>, patch: &Patch<'_>, diff: String) -> EditReading {
    let packages = dependency::list_locked_packages(&patch.lines);
    let shown = short_path(input.path);
    let verb = if input.origin == FileOrigin::Created {
        "Created"
    } else {
        "Updated"
    };
    let about = match packages.len() {
        0 => String::new(),
        _ => format!(": {}", wording::join_names(packages.clone())),
    };
    EditReading {
        title: fit_title(&format!("{verb} the lock file {shown}{about}")),
        kind: EditKind::Config,
        facts: packages
            .iter()
            .map(|p| format!("locked package {p}"))
            .collect(),
        symbols: packages,
        concepts: vec!["dependency".to_owned()],
        diff,
    }
}
