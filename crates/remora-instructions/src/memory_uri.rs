//! Addresses of saved memories, as instructions name them: `memory://`, a scope
//! and a name. Which text may become a file's name, and how a title is made
//! into one; what passes here cannot leave its folder.

use std::fmt;

use remora_core::text::cut_chars;

/// Bytes of a name, without the ending.
const MAX_NAME_BYTES: usize = 100;
/// Bytes of a name made from a title; users may choose longer ones.
const MAX_TITLE_NAME_BYTES: usize = 60;

/// The ending of every memory's file.
pub const MEMORY_EXTENSION: &str = ".md";

/// Names that Windows reserves for devices, whatever their extension. A team's
/// files are checked out there, too.
const DEVICE_NAMES: &[&str] = &[
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The name of a memory: that of its file, without `.md`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryName(String);

impl MemoryName {
    /// Takes a name as a user writes it, with or without its extension.
    pub fn new(text: &str) -> Result<Self, MemoryUriError> {
        let name = text.strip_suffix(MEMORY_EXTENSION).unwrap_or(text);
        match check_name(name) {
            Some(why) => Err(MemoryUriError::Name {
                name: truncate_text(text),
                why,
            }),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// Makes a name of a title: small letters and digits, joined by hyphens.
    pub fn from_title(title: &str) -> Result<Self, MemoryUriError> {
        let mut name = String::new();
        let mut gap = false;
        for letter in title.chars().flat_map(char::to_lowercase) {
            if letter.is_alphanumeric() {
                if gap && !name.is_empty() {
                    name.push('-');
                }
                gap = false;
                if name.len() + letter.len_utf8() > MAX_TITLE_NAME_BYTES {
                    break;
                }
                name.push(letter);
            } else if !is_joined(letter) {
                gap = true;
            }
        }
        // A word that was cut in two is dropped, unless it is the only one.
        if name.len() + 4 > MAX_TITLE_NAME_BYTES
            && let Some(at) = name.rfind('-').filter(|at| *at > MAX_TITLE_NAME_BYTES / 2)
        {
            name.truncate(at);
        }
        let name = name.trim_end_matches('-');
        if name.is_empty() {
            return Err(MemoryUriError::Name {
                name: truncate_text(title),
                why: "it holds no letter or digit; give a name of your own",
            });
        }
        Self::new(name)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}{MEMORY_EXTENSION}", self.0)
    }

    /// The name read as words: `no-mocks` is "No mocks".
    pub fn to_words(&self) -> String {
        let spaced = self.0.replace(['-', '_'], " ");
        let mut letters = spaced.trim().chars();
        match letters.next() {
            Some(first) => first.to_uppercase().chain(letters).collect(),
            None => self.0.clone(),
        }
    }
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Marks that belong to the letter or word before them: accents, apostrophes.
fn is_joined(letter: char) -> bool {
    matches!(
        letter,
        '\u{300}'..='\u{36f}' | '\'' | '\u{2019}' | '\u{ad}' | '\u{200d}'
    )
}

/// What keeps a text from being a name.
fn check_name(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    // Windows ignores everything after the first dot of a device name.
    let stem = lower.split('.').next().unwrap_or_default();
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > MAX_NAME_BYTES {
        Some("it is longer than 100 bytes")
    // What follows keeps a name inside its folder, on every system, and visible to users.
    } else if name.contains(['/', '\\']) {
        Some("it holds a slash, and a memory stays in its folder")
    } else if name.contains(|c: char| c.is_control() || is_invisible(c)) {
        Some("it holds a character that cannot be seen")
    } else if name.contains(['<', '>', ':', '"', '|', '?', '*']) {
        Some("it holds one of < > : \" | ? *")
    } else if name.starts_with('.') {
        Some("it begins with a dot")
    } else if name.starts_with('-') {
        Some("it begins with a hyphen")
    } else if name != name.trim() || name.ends_with('.') {
        Some("it begins or ends with a blank, or ends with a dot")
    } else if lower == "memory" {
        Some("that is the index")
    } else if DEVICE_NAMES.contains(&stem) {
        Some("some systems keep that name for a device")
    } else {
        None
    }
}

/// Marks that change how a name looks without being seen themselves.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// A text short enough for an error.
fn truncate_text(text: &str) -> String {
    match cut_chars(text, MAX_NAME_BYTES) {
        Some(start) => format!("{start}..."),
        None => text.to_owned(),
    }
}

/// Whose memories a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryScope {
    /// The user's, in one project: the client's auto memory.
    Project,
    /// Everyone's in a repository.
    Team,
    /// The user's, in all projects.
    User,
}

impl MemoryScope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Project, Self::Team, Self::User];

    /// The word in a URI.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Team => "team",
            Self::User => "user",
        }
    }

    /// The scope of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

impl fmt::Display for MemoryScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The address of a memory: `memory://project/no-mocks`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryUri {
    /// The scope that its folder belongs to.
    pub scope: MemoryScope,
    /// Which: the name of its file.
    pub name: MemoryName,
}

/// Addresses that are read from one text.
const MAX_NAMED_URIS: usize = 200;

/// How every address begins.
pub const MEMORY_URI_SCHEME: &str = "memory://";

impl MemoryUri {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, MemoryUriError> {
        let wrong = |why| MemoryUriError::Uri {
            text: text.to_owned(),
            why,
        };
        let rest = text
            .strip_prefix(MEMORY_URI_SCHEME)
            .ok_or_else(|| wrong("it does not begin with memory://"))?;
        let (scope, name) = rest
            .split_once('/')
            .ok_or_else(|| wrong("it has no name"))?;
        let scope = MemoryScope::parse(scope)
            .ok_or_else(|| wrong("its first part is not project, team or user"))?;
        Ok(Self {
            scope,
            name: MemoryName::new(name)?,
        })
    }

    /// The addresses that a text names, in order, each once. What only looks
    /// like one is ignored.
    pub fn all_in(text: &str) -> Vec<Self> {
        let mut found = Vec::new();
        for (at, _) in text.match_indices(MEMORY_URI_SCHEME) {
            if found.len() == MAX_NAMED_URIS {
                break;
            }
            let rest = &text[at..];
            let end = rest[MEMORY_URI_SCHEME.len()..]
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')))
                .map_or(rest.len(), |end| end + MEMORY_URI_SCHEME.len());
            // Names may contain dots, but a full stop at the end belongs to the sentence.
            let token = rest[..end].trim_end_matches(['.', '/', '-']);
            if let Ok(uri) = Self::parse(token)
                && !found.contains(&uri)
            {
                found.push(uri);
            }
        }
        found
    }
}

impl fmt::Display for MemoryUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MEMORY_URI_SCHEME}{}/{}", self.scope, self.name)
    }
}

/// Why a text is no name or no address.
#[derive(Debug, thiserror::Error)]
pub enum MemoryUriError {
    /// A name that is no name.
    #[error("`{}` cannot be the name of a memory: {why}", name.escape_debug())]
    Name {
        /// As the caller wrote it.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An address that is none.
    #[error("`{}` is not the address of a memory: {why}", text.escape_debug())]
    Uri {
        /// As the caller wrote it.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
}
