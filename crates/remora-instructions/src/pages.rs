//! The Markdown pages of a folder with their heads: agents, output styles.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use remora_files::list_directory;

use crate::frontmatter::{self, FrontmatterValue};
use crate::{disk, markdown};

/// Entries of a folder that are read; a repository may hold any number.
const MAX_SCANNED_ENTRIES: usize = 5_000;

/// One page.
pub(crate) struct MarkdownPage {
    /// The file's name without its extension.
    pub(crate) stem: String,
    /// What its head says; nothing where the head cannot be read.
    pub(crate) values: Vec<(String, FrontmatterValue)>,
    pub(crate) body: String,
}

impl MarkdownPage {
    /// The name in its head.
    pub(crate) fn name(&self) -> Option<&str> {
        self.values.iter().find_map(|(key, value)| match value {
            FrontmatterValue::Text(name) if key == "name" => Some(name.as_str()),
            _ => None,
        })
    }
}

/// All pages of a folder, by file name; those that cannot be read are left
/// out.
pub(crate) fn list_pages(folder: &Path) -> impl Iterator<Item = MarkdownPage> {
    let list = list_directory(folder, MAX_SCANNED_ENTRIES).unwrap_or_default();
    let mut files: Vec<PathBuf> = list.entries.iter().map(DirEntry::path).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "md"));
    files.sort();
    files.into_iter().filter_map(|file| {
        let text = markdown::decode_text(&disk::read_bytes(&file).ok()?);
        let (front, body) = frontmatter::split_frontmatter(&text);
        let values = front.and_then(|front| frontmatter::parse_frontmatter(front).ok());
        Some(MarkdownPage {
            stem: file.file_stem()?.to_string_lossy().into_owned(),
            values: values.unwrap_or_default(),
            body: body.to_owned(),
        })
    })
}
