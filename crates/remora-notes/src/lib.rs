//! Saved memories: one Markdown file per fact, an index next to them, three
//! places to keep them. The files are the only source of truth; nothing here
//! caches. Folders, the time and what counts as a secret come from the caller.
//!
//! [`folder`] reads and writes them, [`check`] verifies what they claim against
//! the working tree, [`review`] compares them with each other and with the
//! instructions, [`advice`] says what is better not saved.
//!
//! It is a crate of its own because hosts that load instructions need none of
//! it: which files are in a prompt is `remora-instructions`' question, whether
//! what users saved still holds is this one's.
#![forbid(unsafe_code)]

pub mod advice;
pub mod check;
mod fact;
pub mod folder;
mod page;
pub mod personal;
mod pointer;
pub mod review;
mod similar_name;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use folder::MemoryFolder;
// Memories are addressed in the words of instructions.
pub use remora_instructions::memory_uri::{
    MEMORY_URI_SCHEME, MemoryName, MemoryScope, MemoryUri, MemoryUriError,
};

/// Finds secrets in a text, and says what each is without quoting it.
pub type SecretFinder<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// The priority of a memory whose file does not say.
pub const DEFAULT_PRIORITY: u8 = 3;

/// What a memory is about: the `type` of its frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryType {
    /// Who the user is: role, skills, preferences.
    User,
    /// How the user wants work to be done.
    Feedback,
    /// Who does what, why, and until when.
    Project,
    /// Where outside information lives.
    Reference,
}

impl MemoryType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// The word in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// The type of that word, in any case.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim();
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who saved a memory: the `author` of its frontmatter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryAuthor {
    /// The user; also where a file does not say.
    #[default]
    User,
    /// An agent, whatever the words say of the user.
    Agent,
}

impl MemoryAuthor {
    /// The word in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
        }
    }

    /// The author of that word, in any case. People put their names there, so
    /// only the one word means an agent.
    pub fn parse(word: &str) -> Self {
        if word.trim().eq_ignore_ascii_case(Self::Agent.as_str()) {
            Self::Agent
        } else {
            Self::User
        }
    }
}

impl fmt::Display for MemoryAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One memory as its file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Its address.
    pub uri: MemoryUri,
    /// Its file.
    pub path: PathBuf,
    /// What to call it.
    pub title: String,
    /// One line that says when it matters.
    pub description: Option<String>,
    /// What it is about, if the file says so in one of the four words.
    pub kind: Option<MemoryType>,
    /// 1 to 5; 1 and 2 are core.
    pub priority: u8,
    /// Who saved it; decides how far it is trusted.
    pub author: MemoryAuthor,
    /// When it was last written, as the file says it.
    pub modified: Option<String>,
    /// Names of other memories that it links to.
    pub links: Vec<String>,
    /// The text below the frontmatter, trimmed.
    pub body: String,
    /// The `name` of the frontmatter, where it differs from the file's.
    pub alias: Option<String>,
    /// What is wrong with the file.
    pub warnings: Vec<String>,
}

impl Memory {
    /// Whether it is among the few that matter always.
    pub fn is_core(&self) -> bool {
        self.priority <= 2
    }

    /// The line that an index shows after the title.
    pub fn index_summary(&self) -> String {
        match &self.description {
            Some(text) => text.clone(),
            None => first_sentence(&self.body).to_owned(),
        }
    }
}

/// Where the first sentence of a text ends; headings and list marks are passed
/// over.
pub fn first_sentence(text: &str) -> &str {
    let line = text
        .lines()
        .map(|line| {
            line.trim_start_matches(['#', '-', '*', '+', '>', ' ', '\t'])
                .trim()
        })
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let ends = line
        .match_indices(['.', '!', '?', ';', '。'])
        .find(|(at, mark)| {
            let after = &line[at + mark.len()..];
            // "e.g. this", "v1. x" and "src/a.rs" do not end here.
            *mark == "。"
                || ((after.is_empty() || after.starts_with(' ')) && line[..*at].chars().count() > 8)
        });
    ends.map_or(line, |(at, _)| line[..at].trim_end())
}

/// Why a memory could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// A name or an address that is none.
    #[error(transparent)]
    Address(#[from] MemoryUriError),
    /// It is there already.
    #[error("{uri} is there already; edit it, or give the new one another name")]
    Exists {
        /// The memory's address.
        uri: MemoryUri,
    },
    /// There is none of that name.
    #[error("there is no {uri}{}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Missing {
        /// The memory's address.
        uri: MemoryUri,
        /// A name that is nearly the same.
        near: Option<String>,
    },
    /// More than one memory answers to that name.
    #[error("`{name}` means more than one memory: {}", among.join(", "))]
    Unclear {
        /// As the caller wrote it.
        name: String,
        /// Their names.
        among: Vec<String>,
    },
    /// A link that leads out of the folder.
    #[error("{}: leads out of its folder; nothing is read or written through it", path.display())]
    Outside {
        /// The link.
        path: PathBuf,
    },
    /// A file that cannot be changed without harm.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Words that must not be shared.
    #[error("not shared: {}", reasons.join("; "))]
    Private {
        /// What was found, and where.
        reasons: Vec<String>,
    },
    /// A proposal that can no longer be carried out as it was shown.
    #[error("{}: changed since the proposal was made; review again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl MemoryError {
    fn io_at_path(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
