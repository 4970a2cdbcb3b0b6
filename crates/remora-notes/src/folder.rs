//! A folder of memories: lists, reads, adds, edits and removes them, and keeps
//! the index in step. Writes stay in the folder, one writer at a time.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_files::list_directory;

use remora_instructions::auto_memory::{self, IndexSizeVerdict};
use remora_instructions::disk::{self, FileReadError};
use remora_instructions::frontmatter;
use remora_instructions::names;

use super::fact;
use super::page::MemoryPage;
use super::similar_name::find_similar_name;
use super::write::{self, FolderLock, ReadAccess};
use super::{
    Memory, MemoryAuthor, MemoryError, MemoryName, MemoryScope, MemoryType, MemoryUri,
    SecretFinder, personal, pointer,
};
use remora_instructions::memory_uri::MEMORY_EXTENSION;

/// Entries of a folder that are read: a team's folder comes with a
/// repository, which may hold any number of files.
const MAX_FOLDER_ENTRIES: usize = 10_000;

/// The folder of one scope's memories. It need not exist.
#[derive(Debug, Clone)]
pub struct MemoryFolder {
    scope: MemoryScope,
    dir: PathBuf,
    /// A root that links must not lead out of, for a folder of a repository.
    within: Option<PathBuf>,
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryListing {
    /// The memories, sorted by name.
    pub memories: Vec<Memory>,
    /// Files that could not be read as memories, and why.
    pub warnings: Vec<String>,
}

/// A memory to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// The name of its file; made from the title when missing.
    pub name: Option<MemoryName>,
    /// What to call it.
    pub title: String,
    /// One line that says when it matters.
    pub description: Option<String>,
    /// What it is about.
    pub kind: MemoryType,
    /// How much it matters, from 1 (most) to 5.
    pub priority: u8,
    /// Who saves it.
    pub author: MemoryAuthor,
    /// The fact itself.
    pub body: String,
    /// The session it comes from, if one is known.
    pub session: Option<String>,
}

/// What changes in a memory; the rest stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryChange {
    /// A new title.
    pub title: Option<String>,
    /// A new description.
    pub description: Option<String>,
    /// Another type.
    pub kind: Option<MemoryType>,
    /// Another weight, 1 to 5.
    pub priority: Option<u8>,
    /// Whose words they are from now on.
    pub author: Option<MemoryAuthor>,
    /// New words.
    pub body: Option<String>,
}

/// What a write left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryWriteResult {
    /// The memory as it is now.
    pub memory: Memory,
    /// Whether the index still reaches a model whole.
    pub index: IndexSizeVerdict,
}

/// What a removal left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRemoval {
    /// The memory as it was.
    pub memory: Memory,
    /// Lines of the index that still name its file in other words.
    pub mentions: Vec<usize>,
}

/// Whether an index is to be written, or only compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexMode {
    /// Say whether it is true.
    Check,
    /// Bring it up to date.
    Write,
}

/// How an index was, and how it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexUpdate {
    /// Its file.
    pub path: PathBuf,
    /// What it holds; nothing when it is not there.
    pub before: Option<String>,
    /// What it should hold.
    pub after: String,
    /// Whether a model would see all of it.
    pub judgement: IndexSizeVerdict,
    /// Files that could not be read as memories.
    pub warnings: Vec<String>,
}

impl IndexUpdate {
    /// Whether nothing had to change.
    pub fn is_true(&self) -> bool {
        self.before.as_deref().unwrap_or_default() == self.after
    }
}

impl MemoryFolder {
    /// The user's own folder.
    pub fn new(scope: MemoryScope, dir: impl Into<PathBuf>) -> Self {
        Self {
            scope,
            dir: dir.into(),
            within: None,
        }
    }

    /// The folder that a repository shares. It must not lead out of there.
    pub fn for_team(root: &Path) -> Self {
        Self {
            scope: MemoryScope::Team,
            dir: root.join(names::SETTINGS_DIR).join(names::TEAM_MEMORY_DIR),
            within: Some(root.to_path_buf()),
        }
    }

    /// Whose memories.
    pub fn scope(&self) -> MemoryScope {
        self.scope
    }

    /// The folder's path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The index file.
    pub fn index_path(&self) -> PathBuf {
        self.dir.join(names::MEMORY_INDEX_FILE)
    }

    /// Whether the folder is there.
    pub fn exists(&self) -> bool {
        self.dir.is_dir()
    }

    /// All memories. A folder that is not there holds none.
    pub fn list_memories(&self) -> Result<MemoryListing, MemoryError> {
        self.list_first_memories(usize::MAX)
    }

    /// The first memories by name, at most so many; a warning says how many are
    /// left out.
    pub fn list_first_memories(&self, most: usize) -> Result<MemoryListing, MemoryError> {
        let mut listing = MemoryListing::default();
        if !self.exists() {
            return Ok(listing);
        }
        self.stays_within()?;
        let titles = self.read_titles();
        let found = list_directory(&self.dir, MAX_FOLDER_ENTRIES)
            .map_err(MemoryError::io_at_path(&self.dir))?;
        if found.is_cut {
            listing.warnings.push(format!(
                "{}: holds more than {MAX_FOLDER_ENTRIES} entries; only so many are read",
                self.dir.display()
            ));
        }
        let names = found.entries.iter().map(fs::DirEntry::file_name);
        let mut files: Vec<String> = names
            .filter_map(|file| parse_memory_file_name(&file))
            .collect();
        files.sort_unstable();
        if files.len() > most {
            listing.warnings.push(format!(
                "{}: holds {} memories; only the first {most} are read",
                self.dir.display(),
                files.len()
            ));
            files.truncate(most);
        }
        for file in files {
            match MemoryName::new(&file)
                .map_err(MemoryError::from)
                .and_then(|name| self.read_memory(&name))
            {
                Ok((mut memory, _)) => {
                    apply_index_title(&mut memory, &titles);
                    listing.memories.push(memory);
                }
                Err(error) => listing.warnings.push(error.to_string()),
            }
        }
        Ok(listing)
    }

    /// One memory, by its file's name or by the `name` it gives itself.
    pub fn get(&self, name: &str) -> Result<Memory, MemoryError> {
        let name = self.find(name)?;
        let (mut memory, _) = self.read_memory(&name)?;
        apply_index_title(&mut memory, &self.read_titles());
        Ok(memory)
    }

    /// Writes a new memory, and its line in the index. What must not be shared
    /// never reaches a team's folder.
    pub fn add(
        &self,
        draft: &NewMemory,
        now: &str,
        secrets: SecretFinder<'_>,
    ) -> Result<MemoryWriteResult, MemoryError> {
        let name = match &draft.name {
            Some(name) => name.clone(),
            None => MemoryName::from_title(&draft.title)?,
        };
        let text = fact::build_page(&name, draft, now).render();
        // Before anything is created, so that a refused memory leaves no folder behind.
        self.may_hold(&text, secrets)?;
        write::make_folders(&self.dir, self.read_access())?;
        self.stays_within()?;
        let _lock = FolderLock::lock_folder(&self.dir)?;
        let path = self.dir.join(name.file_name());
        // A dangling link counts as a file: writing through it would create one elsewhere.
        if fs::symlink_metadata(&path).is_ok() {
            return Err(MemoryError::Exists {
                uri: self.build_uri(&name),
            });
        }
        // The index may be a bad link; found out before anything is written.
        write::resolve_file(&self.dir, names::MEMORY_INDEX_FILE)?;
        write::replace_file(&path, &text, self.read_access())?;
        self.update_index(&name)
    }

    /// Changes a memory, and its line in the index.
    pub fn edit(
        &self,
        name: &str,
        change: &MemoryChange,
        now: &str,
        secrets: SecretFinder<'_>,
    ) -> Result<MemoryWriteResult, MemoryError> {
        let name = self.find(name)?;
        self.stays_within()?;
        let _lock = FolderLock::lock_folder(&self.dir)?;
        let path = write::resolve_file(&self.dir, &name.file_name())?;
        write::resolve_file(&self.dir, names::MEMORY_INDEX_FILE)?;
        let text = self.read_memory_text(&name)?;
        let mut page = MemoryPage::parse(&text);
        fact::apply_change(&mut page, change, now).map_err(|why| MemoryError::File {
            path: path.clone(),
            why,
        })?;
        let text = page.render();
        self.may_hold(&text, secrets)?;
        write::replace_file(&path, &text, self.read_access())?;
        self.update_index(&name)
    }

    /// Removes a memory, and its line in the index.
    pub fn remove(&self, name: &str) -> Result<MemoryRemoval, MemoryError> {
        let name = self.find(name)?;
        self.stays_within()?;
        let _lock = FolderLock::lock_folder(&self.dir)?;
        let (memory, _) = self.read_memory(&name)?;
        // The line is removed first: one that points nowhere is worse than none.
        let mut mentions = Vec::new();
        if let Some(index) = self.index_text()? {
            let after = match self.scope {
                MemoryScope::Team => {
                    let mut memories = self.list_memories()?.memories;
                    memories.retain(|other| other.uri.name != name);
                    pointer::build_team_index(&memories)
                }
                MemoryScope::Project | MemoryScope::User => {
                    pointer::remove_entry(&index, &name.file_name())
                }
            };
            mentions = pointer::find_mentions(&after, &name.file_name());
            self.write_index(&index, &after)?;
        }
        // Removes a link itself, not its target.
        let path = self.dir.join(name.file_name());
        fs::remove_file(&path).map_err(MemoryError::io_at_path(&path))?;
        Ok(MemoryRemoval { memory, mentions })
    }

    /// What must not be shared in files that are there already.
    pub fn list_unshareable(
        &self,
        secrets: SecretFinder<'_>,
    ) -> Result<Vec<(MemoryUri, Vec<String>)>, MemoryError> {
        let mut found = Vec::new();
        for memory in self.list_memories()?.memories {
            let text = self.read_memory_text(&memory.uri.name).unwrap_or_default();
            let reasons = personal::list_sharing_obstacles(&text, secrets);
            if !reasons.is_empty() {
                found.push((memory.uri, reasons));
            }
        }
        Ok(found)
    }

    /// A team's files are as readable as the rest of the repository.
    fn read_access(&self) -> ReadAccess {
        match self.scope {
            MemoryScope::Team => ReadAccess::Unchanged,
            MemoryScope::Project | MemoryScope::User => ReadAccess::Owner,
        }
    }

    fn may_hold(&self, text: &str, secrets: SecretFinder<'_>) -> Result<(), MemoryError> {
        if self.scope != MemoryScope::Team {
            return Ok(());
        }
        // Body first: its line numbers are those of the text that the user wrote.
        let mut reasons = personal::list_sharing_obstacles(MemoryPage::parse(text).body(), secrets);
        if reasons.is_empty() {
            reasons = personal::list_sharing_obstacles(text, secrets);
        }
        if reasons.is_empty() {
            Ok(())
        } else {
            Err(MemoryError::Private { reasons })
        }
    }

    /// Makes the index true again, or says whether it is.
    pub fn index(&self, run: IndexMode) -> Result<IndexUpdate, MemoryError> {
        let lock = match run {
            IndexMode::Write if self.exists() => {
                self.stays_within()?;
                Some(FolderLock::lock_folder(&self.dir)?)
            }
            _ => None,
        };
        let listing = self.list_memories()?;
        let before = self.index_text()?;
        let after = self.true_index(before.as_deref(), &listing.memories);
        if lock.is_some() && (before.is_some() || !listing.memories.is_empty()) {
            self.write_index(before.as_deref().unwrap_or_default(), &after)?;
        }
        Ok(IndexUpdate {
            path: self.index_path(),
            judgement: check_index_size(&after),
            before,
            after,
            warnings: listing.warnings,
        })
    }

    fn true_index(&self, before: Option<&str>, memories: &[Memory]) -> String {
        match self.scope {
            MemoryScope::Team if before.is_none() && memories.is_empty() => String::new(),
            MemoryScope::Team => pointer::build_team_index(memories),
            MemoryScope::Project | MemoryScope::User => {
                // Only plain names of memories are judged; an index may link to anything
                // else.
                let gone = |file: &str| {
                    !file.contains(['/', '\\', ':', '#'])
                        && file.ends_with(MEMORY_EXTENSION)
                        && fs::symlink_metadata(self.dir.join(file)).is_err()
                };
                pointer::repair_index(before.unwrap_or_default(), memories, gone)
            }
        }
    }

    /// Brings the index up to a memory that was just written.
    fn update_index(&self, name: &MemoryName) -> Result<MemoryWriteResult, MemoryError> {
        let before = self.index_text()?;
        let (memory, _) = self.read_memory(name)?;
        let after = match self.scope {
            // Generated from all files, so that any merge of two branches can be repaired
            // by writing it again. The user's own index is edited line by line, because
            // they write in it too.
            MemoryScope::Team => pointer::build_team_index(&self.list_memories()?.memories),
            MemoryScope::Project | MemoryScope::User => {
                pointer::add_entry(before.as_deref().unwrap_or_default(), &memory)
            }
        };
        self.write_index(before.as_deref().unwrap_or_default(), &after)?;
        Ok(MemoryWriteResult {
            memory,
            index: check_index_size(&after),
        })
    }

    fn write_index(&self, before: &str, after: &str) -> Result<(), MemoryError> {
        if before == after {
            return Ok(());
        }
        write::replace_file(
            &write::resolve_file(&self.dir, names::MEMORY_INDEX_FILE)?,
            after,
            self.read_access(),
        )
    }

    /// The index as it is. It is never written when it is not text.
    fn index_text(&self) -> Result<Option<String>, MemoryError> {
        let path = match self.scope {
            MemoryScope::Team => write::resolve_file(&self.dir, names::MEMORY_INDEX_FILE)?,
            // A user's index may be a link to anywhere; then it is read but not written.
            MemoryScope::Project | MemoryScope::User => self.index_path(),
        };
        match disk::read_bytes(&path) {
            Ok(bytes) => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| not_text(&path)),
            Err(FileReadError::Missing) => Ok(None),
            Err(refused) => Err(refused_error(&path, &refused)),
        }
    }

    /// The titles that the user's own index gives the files.
    fn read_titles(&self) -> BTreeMap<String, String> {
        if self.scope == MemoryScope::Team {
            return BTreeMap::new();
        }
        let bytes = disk::read_bytes(&self.index_path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes)
            .lines()
            .filter_map(pointer::parse_entry)
            .filter(|pointer| !pointer.title.trim().is_empty())
            .map(|pointer| (pointer.file, pointer.title))
            .collect()
    }

    fn build_uri(&self, name: &MemoryName) -> MemoryUri {
        MemoryUri {
            scope: self.scope,
            name: name.clone(),
        }
    }

    /// The file that a name means.
    fn find(&self, text: &str) -> Result<MemoryName, MemoryError> {
        let name = MemoryName::new(text)?;
        if fs::symlink_metadata(self.dir.join(name.file_name())).is_ok() {
            return Ok(name);
        }
        let memories = self.list_memories()?.memories;
        let mut same: Vec<MemoryName> = memories
            .iter()
            .filter(|memory| memory.alias.as_deref() == Some(name.as_str()))
            .map(|memory| memory.uri.name.clone())
            .collect();
        match same.len() {
            1 => Ok(same.remove(0)),
            0 => Err(MemoryError::Missing {
                near: find_similar_name(&name, memories.iter().map(|memory| &memory.uri.name)),
                uri: self.build_uri(&name),
            }),
            _ => Err(MemoryError::Unclear {
                name: name.to_string(),
                among: same.iter().map(MemoryName::to_string).collect(),
            }),
        }
    }

    fn read_memory(&self, name: &MemoryName) -> Result<(Memory, MemoryPage), MemoryError> {
        let path = write::resolve_file(&self.dir, &name.file_name())?;
        let bytes = disk::read_bytes(&path).map_err(|refused| match refused {
            FileReadError::Missing => MemoryError::Missing {
                uri: self.build_uri(name),
                near: None,
            },
            refused => refused_error(&path, &refused),
        })?;
        let mut warnings = Vec::new();
        let text = String::from_utf8_lossy(&bytes);
        if text.contains('\u{fffd}') && std::str::from_utf8(&bytes).is_err() {
            warnings.push("holds bytes that are not UTF-8".to_owned());
        }
        let page = MemoryPage::parse(&text);
        let memory = fact::build_memory(
            self.build_uri(name),
            self.dir.join(name.file_name()),
            &page,
            warnings,
        );
        Ok((memory, page))
    }

    /// The text of a memory that is going to be changed.
    fn read_memory_text(&self, name: &MemoryName) -> Result<String, MemoryError> {
        let path = write::resolve_file(&self.dir, &name.file_name())?;
        let bytes = disk::read_bytes(&path).map_err(|refused| refused_error(&path, &refused))?;
        String::from_utf8(bytes).map_err(|_| not_text(&path))
    }

    /// A repository must not lead readers or writers out of itself.
    fn stays_within(&self) -> Result<(), MemoryError> {
        let Some(root) = &self.within else {
            return Ok(());
        };
        let real = |path: &Path| fs::canonicalize(path).map_err(MemoryError::io_at_path(path));
        if real(&self.dir)?.starts_with(real(root)?) {
            Ok(())
        } else {
            Err(MemoryError::Outside {
                path: self.dir.clone(),
            })
        }
    }
}

/// A file that says nothing of a title is called what the index calls it.
fn apply_index_title(memory: &mut Memory, titles: &BTreeMap<String, String>) {
    if memory.title == memory.uri.name.to_words()
        && let Some(title) = titles.get(&memory.uri.name.file_name())
    {
        memory.title.clone_from(title);
    }
}

/// Whether a file of a folder is a memory's.
fn parse_memory_file_name(file: &OsStr) -> Option<String> {
    let file = file.to_str()?;
    let memory = file.ends_with(MEMORY_EXTENSION)
        && !file.starts_with('.')
        && !file.eq_ignore_ascii_case(names::MEMORY_INDEX_FILE);
    memory.then(|| file.to_owned())
}

/// How an index fares, cleaned the way a prompt has it.
fn check_index_size(index: &str) -> IndexSizeVerdict {
    let (_, body) = frontmatter::split_frontmatter(index);
    let comment = |line: &&str| {
        let line = line.trim();
        line.starts_with("<!--") && line.ends_with("-->")
    };
    let lines: Vec<&str> = body.lines().filter(|line| !comment(line)).collect();
    auto_memory::judge_write(lines.join("\n").trim())
}

fn not_text(path: &Path) -> MemoryError {
    MemoryError::File {
        path: path.to_path_buf(),
        why: "is not UTF-8 text; it is not changed".to_owned(),
    }
}

fn refused_error(path: &Path, refused: &FileReadError) -> MemoryError {
    match refused {
        FileReadError::Missing => MemoryError::Io {
            path: path.to_path_buf(),
            source: io::Error::from(io::ErrorKind::NotFound),
        },
        refused => MemoryError::File {
            path: path.to_path_buf(),
            why: refused.to_string(),
        },
    }
}
