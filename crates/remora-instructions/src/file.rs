//! What the crate says about files: loaded, with kind and reason, or left
//! out, with why.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::names;

/// Whose instructions a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstructionKind {
    /// The organisation's.
    Managed,
    /// The user's, for all projects.
    User,
    /// The project's, shared.
    Project,
    /// The user's, for this project.
    Local,
    /// Memories the agent keeps for the user.
    AutoMem,
    /// Memories a team shares.
    TeamMem,
}

impl InstructionKind {
    /// The word in JSON and in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "Managed",
            Self::User => "User",
            Self::Project => "Project",
            Self::Local => "Local",
            Self::AutoMem => "AutoMem",
            Self::TeamMem => "TeamMem",
        }
    }

    /// The label after the path in the prompt.
    pub fn label(self) -> &'static str {
        match self {
            Self::Managed => "organization-managed policy instructions",
            Self::User => "user's private global instructions for all projects",
            Self::Project => "project instructions, checked into the codebase",
            Self::Local => "user's private project instructions, not checked in",
            Self::AutoMem => "user's auto-memory, persists across conversations",
            Self::TeamMem => "shared team memory, checked into the codebase",
        }
    }
}

/// What brought a file in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadReason {
    /// It was there when the session began.
    SessionStart,
    /// A file below its directory was touched.
    NestedTraversal,
    /// A touched file matched its `paths`.
    PathGlobMatch,
    /// Another file names it.
    Include,
    /// It was read again after a compaction.
    Compact,
}

impl LoadReason {
    /// The word in JSON and in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::NestedTraversal => "nested_traversal",
            Self::PathGlobMatch => "path_glob_match",
            Self::Include => "include",
            Self::Compact => "compact",
        }
    }
}

/// Whether hooks are notified of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookNotice {
    /// As `InstructionsLoaded`.
    Yes,
    /// Not at all: memory, AGENTS.md, texts from settings.
    No,
}

/// A file in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Where it is, as it is shown.
    pub path: PathBuf,
    /// The layer that the file belongs to.
    pub kind: InstructionKind,
    /// What brought it in.
    pub reason: LoadReason,
    /// The file that names it.
    pub parent: Option<PathBuf>,
    /// The patterns that woke it.
    pub globs: Option<Vec<String>>,
    /// The touched file that brought it in.
    pub trigger: Option<PathBuf>,
    /// How many bytes the file holds.
    pub bytes: u64,
    /// What the model reads.
    pub content: String,
    /// Whether hooks are notified of it.
    pub announce: HookNotice,
}

impl LoadedFile {
    /// The label in the prompt: files that come on demand have none.
    pub fn label(&self) -> &'static str {
        match self.trigger {
            Some(_) => "",
            None => self.kind.label(),
        }
    }

    /// Whether the client itself puts the file into its prompt. It knows neither
    /// the team's folder nor addresses of memories: those come from Remora.
    pub fn is_loaded_by_client(&self) -> bool {
        match self.kind {
            InstructionKind::TeamMem => false,
            // The client loads the index; a single memory comes in only by its address.
            InstructionKind::AutoMem => self.reason != LoadReason::Include,
            InstructionKind::Managed
            | InstructionKind::User
            | InstructionKind::Project
            | InstructionKind::Local => true,
        }
    }

    /// What it costs a model, estimated.
    pub fn estimate_tokens(&self) -> u32 {
        remora_core::tokens::estimate_tokens(&self.content)
    }
}

/// A file that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SkippedFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// The file that names it.
    pub parent: Option<PathBuf>,
    /// Why it was left out.
    pub why: SkipReason,
}

/// Why a file is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// A pattern of `claudeMdExcludes` hits it.
    Excluded {
        /// The pattern that excluded it.
        pattern: String,
        /// The settings file it comes from.
        source: String,
    },
    /// The same file is loaded under another name.
    SameFile(PathBuf),
    /// A loaded file holds the same words.
    SameText(PathBuf),
    /// Nothing is left of it after cleaning.
    Empty,
    /// It cannot be read, is too large, or is no file.
    NotRead(String),
    /// It is outside the working directory, and the user has not approved that.
    External,
    /// It is too many imports away from its first file.
    TooDeep,
    /// Files with this extension are not imported.
    Extension(String),
    /// An import that leads nowhere.
    Missing,
    /// Its layer is switched off.
    SourceOff(&'static str),
    /// A worktree holds its own copy.
    Worktree,
    /// Everything is switched off.
    Off(&'static str),
    /// A rule that waits for a matching file.
    Waits(Vec<String>),
    /// AGENTS.md gives way to this CLAUDE.md.
    ShadowedBy(PathBuf),
    /// AGENTS.md is not read in this mode.
    AgentsMode(&'static str),
    /// Added directories contribute instructions only if a variable says so.
    AddedDirectory,
    /// This subagent does not inherit it.
    Agent(String),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Excluded { pattern, source } => {
                write!(f, "excluded by `{pattern}` in {source}")
            }
            Self::SameFile(path) => {
                write!(f, "the same file is loaded as {}", path.display())
            }
            Self::SameText(path) => write!(f, "{} holds the same words", path.display()),
            Self::Empty => f.write_str("empty after cleaning"),
            Self::NotRead(why) => f.write_str(why),
            Self::External => f.write_str(
                "outside the working directory and not approved (remora instructions approve)",
            ),
            Self::TooDeep => f.write_str("more than four imports away from its first file"),
            Self::Extension(extension) => {
                write!(f, "`.{extension}` files are not imported")
            }
            Self::Missing => f.write_str("there is no such file"),
            Self::SourceOff(source) => write!(f, "the setting source `{source}` is off"),
            Self::Worktree => {
                f.write_str("belongs to the main checkout; the worktree holds its own copy")
            }
            Self::Off(what) => write!(f, "switched off by {what}"),
            Self::Waits(globs) => {
                write!(f, "waits for a file that matches {}", globs.join(", "))
            }
            Self::ShadowedBy(path) => write!(
                f,
                "AGENTS.md is read only without a CLAUDE.md, and {} is loaded",
                path.display()
            ),
            Self::AgentsMode(mode) => write!(f, "AGENTS.md is not read with `{mode}`"),
            Self::AddedDirectory => write!(
                f,
                "added directories give instructions only with {}=1",
                names::variable::ADDED_DIRECTORIES
            ),
            Self::Agent(name) => write!(f, "the subagent `{name}` does not get it"),
        }
    }
}

/// Removes `.` and `..` from an absolute path without reading the disk: the
/// client resolves import paths as text, before it looks at links.
pub fn normalise_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The directory that a file applies to: the one that contains it, or that
/// contains the settings folder it is in.
pub(crate) fn find_owning_directory(file: &Path) -> &Path {
    let folder = file.parent().unwrap_or(file);
    let inside = folder
        .ancestors()
        .find(|dir| dir.ends_with(names::SETTINGS_DIR));
    let rules = |dir: &Path| folder == dir || folder.starts_with(dir.join(names::RULES_DIR));
    match inside {
        Some(dir) if rules(dir) => dir.parent().unwrap_or(dir),
        _ => folder,
    }
}
