//! A loaded file as it is on the disk, with line numbers: what it imports and
//! what it only seems to import.

use std::fs;
use std::path::{Path, PathBuf};

use crate::file::{InstructionKind, LoadedFile};
use crate::import;
use crate::markdown::{self, NearImportReason};
use crate::{disk, frontmatter};

/// One file's text.
#[derive(Debug)]
pub(crate) struct LintFile {
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
pub(crate) struct NamedImport {
    /// Of the whole file, from 1.
    pub(crate) line: usize,
    pub(crate) token: String,
    pub(crate) target: PathBuf,
}

/// Marks that writers put behind a name.
pub(crate) const TRAILING_PUNCTUATION: &[char] = &[
    ',', ';', '.', ':', ')', ']', '}', '>', '"', '\'', '!', '?', '*', '`',
];

impl LintFile {
    /// Reads a file again. `None` if it is gone.
    pub(crate) fn read_file(path: &Path) -> Option<Self> {
        let bytes = disk::read_bytes(path).ok()?;
        let real = fs::canonicalize(path).ok()?;
        let text = markdown::decode_text(&bytes);
        let (_, body) = frontmatter::split_frontmatter(&text);
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
    pub(crate) fn read_loaded<'a>(files: impl Iterator<Item = &'a LoadedFile>) -> Vec<Self> {
        files
            .filter(|file| {
                !matches!(
                    file.kind,
                    InstructionKind::AutoMem | InstructionKind::TeamMem
                )
            })
            .filter_map(|file| Self::read_file(&file.path))
            .collect()
    }

    /// The head, if there is one.
    pub(crate) fn head(&self) -> Option<&str> {
        frontmatter::split_frontmatter(&self.text).0
    }

    /// What is below the head.
    pub(crate) fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The number in the file of a line of the body, from 1.
    pub(crate) fn file_line(&self, of_body: usize) -> usize {
        self.first + of_body
    }

    /// Imports that count.
    pub(crate) fn list_imports(&self, home: &Path) -> Vec<NamedImport> {
        let page = markdown::parse_markdown(self.body());
        let imports = page.imports.into_iter();
        imports
            .map(|found| NamedImport {
                line: self.file_line(found.line),
                target: import::resolve_import(&found.path, &self.folder, home),
                token: found.path,
            })
            .collect()
    }

    /// Imports that do not, with the reason and the file that is meant.
    pub(crate) fn list_near_imports(&self, home: &Path) -> Vec<(NamedImport, NearImportReason)> {
        let misses = markdown::find_near_imports(self.body()).into_iter();
        misses
            .map(|miss| {
                // As the user meant it, so that the target can be looked up on the disk.
                let meant = miss.token.trim_end_matches(TRAILING_PUNCTUATION);
                let meant = meant.split('#').next().unwrap_or_default();
                let named = NamedImport {
                    line: self.file_line(miss.line),
                    target: import::resolve_import(meant, &self.folder, home),
                    token: miss.token,
                };
                (named, miss.why)
            })
            .collect()
    }
}

/// Why an import does not count, behind "the import ..".
pub(crate) fn describe_reason(why: NearImportReason) -> &'static str {
    match why {
        NearImportReason::InCode => "is in code",
        NearImportReason::InComment => "is in a comment",
        NearImportReason::InHtml => "is in HTML",
        NearImportReason::AfterPunctuation => "follows a mark such as ( or \", not a blank",
        NearImportReason::TrailingPunctuation => "ends in a mark that counts as part of the name",
        NearImportReason::Escaped => "has a backslash before its @",
        NearImportReason::BrokenByEmphasis => "is broken apart by _ or * in the name",
        NearImportReason::FirstCharacter => "begins with a character that no import begins with",
    }
}

/// What to do about it.
pub(crate) fn suggest_fix(why: NearImportReason) -> &'static str {
    match why {
        NearImportReason::InCode => "take it out of the code if it is meant as an import",
        NearImportReason::InComment => "take it out of the comment if it is meant as an import",
        NearImportReason::InHtml => "take it out of the HTML if it is meant as an import",
        NearImportReason::AfterPunctuation | NearImportReason::TrailingPunctuation => {
            "put blanks around the import"
        }
        NearImportReason::Escaped => "take the backslash away if it is meant as an import",
        NearImportReason::BrokenByEmphasis => {
            "give the file a name without _ or * at the edges of its words"
        }
        NearImportReason::FirstCharacter => "write ./ before the name",
    }
}
