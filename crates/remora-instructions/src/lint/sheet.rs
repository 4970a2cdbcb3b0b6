//! A loaded file as it stands on the disk, with line numbers: what it imports
//! and what it only seems to import.

use std::fs;
use std::path::{Path, PathBuf};

use crate::file::{Kind, Loaded};
use crate::import;
use crate::markdown::{self, MissKind};
use crate::{disk, frontmatter};

/// One file's text.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) path: PathBuf,
    /// Where its imports start: its real folder.
    pub(crate) folder: PathBuf,
    /// Decoded, with its head.
    pub(crate) text: String,
    /// The line its body begins on, from 0.
    first: usize,
    body: usize,
}

/// An import that counts, or one that does not.
#[derive(Debug)]
pub(crate) struct Named {
    /// Of the whole file, from 1.
    pub(crate) line: usize,
    pub(crate) token: String,
    pub(crate) target: PathBuf,
}

/// Marks that people put behind a name.
pub(crate) const PUNCTUATION: &[char] = &[
    ',', ';', '.', ':', ')', ']', '}', '>', '"', '\'', '!', '?', '*', '`',
];

impl Sheet {
    /// Reads a file again. `None` if it is gone.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let bytes = disk::read(path).ok()?;
        let real = fs::canonicalize(path).ok()?;
        let text = markdown::decode(&bytes);
        let (_, body) = frontmatter::split(&text);
        let body = text.len() - body.len();
        Some(Self {
            path: path.to_path_buf(),
            folder: real.parent()?.to_path_buf(),
            first: text[..body].matches('\n').count(),
            body,
            text,
        })
    }

    /// The sheets of loaded files; memories import nothing.
    pub(crate) fn all<'a>(files: impl Iterator<Item = &'a Loaded>) -> Vec<Self> {
        files
            .filter(|file| !matches!(file.kind, Kind::AutoMem | Kind::TeamMem))
            .filter_map(|file| Self::read(&file.path))
            .collect()
    }

    /// The head, if there is one.
    pub(crate) fn head(&self) -> Option<&str> {
        frontmatter::split(&self.text).0
    }

    /// What is below the head.
    pub(crate) fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The number in the file of a line of the body, from 1.
    pub(crate) fn line(&self, of_body: usize) -> usize {
        self.first + of_body
    }

    /// Imports that count.
    pub(crate) fn imports(&self, home: &Path) -> Vec<Named> {
        let page = markdown::read(self.body());
        let imports = page.imports.into_iter();
        imports
            .map(|found| Named {
                line: self.line(found.line),
                target: import::resolve(&found.path, &self.folder, home),
                token: found.path,
            })
            .collect()
    }

    /// Imports that do not, with the reason and the file that is meant.
    pub(crate) fn misses(&self, home: &Path) -> Vec<(Named, MissKind)> {
        let misses = markdown::misses(self.body()).into_iter();
        misses
            .map(|miss| {
                let meant = miss.token.trim_end_matches(PUNCTUATION);
                let meant = meant.split('#').next().unwrap_or_default();
                let named = Named {
                    line: self.line(miss.line),
                    target: import::resolve(meant, &self.folder, home),
                    token: miss.token,
                };
                (named, miss.why)
            })
            .collect()
    }
}

/// Why an import does not count, behind "the import ..".
pub(crate) fn reason(why: MissKind) -> &'static str {
    match why {
        MissKind::InCode => "stands in code",
        MissKind::InComment => "stands in a comment",
        MissKind::InHtml => "stands in HTML",
        MissKind::AfterPunctuation => "stands behind a mark such as ( or \", not behind a blank",
        MissKind::TrailingPunctuation => "ends in a mark that counts as part of the name",
        MissKind::Escaped => "has a backslash before its @",
        MissKind::BrokenByEmphasis => "is broken apart by _ or * in the name",
        MissKind::FirstCharacter => "begins with a character that no import begins with",
    }
}

/// What to do about it.
pub(crate) fn mend(why: MissKind) -> &'static str {
    match why {
        MissKind::InCode => "take it out of the code if it is meant as an import",
        MissKind::InComment => "take it out of the comment if it is meant as an import",
        MissKind::InHtml => "take it out of the HTML if it is meant as an import",
        MissKind::AfterPunctuation | MissKind::TrailingPunctuation => {
            "put blanks around the import"
        }
        MissKind::Escaped => "take the backslash away if it is meant as an import",
        MissKind::BrokenByEmphasis => {
            "give the file a name without _ or * at the edges of its words"
        }
        MissKind::FirstCharacter => "write ./ before the name",
    }
}
