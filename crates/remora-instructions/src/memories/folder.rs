//! A folder of memories: lists, reads, adds, edits and removes them, and keeps
//! the index beside them true. Writes stay in the folder, one writer at a time.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_files::list_directory;

use crate::auto_memory::{self, Judgement};
use crate::disk::{self, Refused};
use crate::frontmatter;
use crate::names;

use super::fact;
use super::name::{self, ENDING, Name};
use super::page::Page;
use super::write::{self, Lock, Readers};
use super::{Author, Memory, MemoryError, Scope, Secrets, Type, Uri, personal, pointer};

/// Entries of a folder that are looked at: a team's folder comes with a
/// repository, which may hold any number of files.
const MAX_FOLDER_ENTRIES: usize = 10_000;

/// Where the memories of one scope lie. The folder need not exist.
#[derive(Debug, Clone)]
pub struct Folder {
    scope: Scope,
    dir: PathBuf,
    /// What the folder must not lead out of: it came with a repository.
    within: Option<PathBuf>,
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// By name.
    pub memories: Vec<Memory>,
    /// Files that could not be taken, and why.
    pub warnings: Vec<String>,
}

/// A memory to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The name of its file; made from the title when missing.
    pub name: Option<Name>,
    /// What to call it.
    pub title: String,
    /// One line that tells when it matters.
    pub description: Option<String>,
    /// What it is about.
    pub kind: Type,
    /// 1 to 5.
    pub priority: u8,
    /// Who saves it.
    pub author: Author,
    /// The fact itself.
    pub body: String,
    /// The session it comes from, if one is known.
    pub session: Option<String>,
}

/// What changes in a memory; the rest stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// A new title.
    pub title: Option<String>,
    /// A new description.
    pub description: Option<String>,
    /// Another type.
    pub kind: Option<Type>,
    /// Another weight, 1 to 5.
    pub priority: Option<u8>,
    /// Whose words they are from now on.
    pub author: Option<Author>,
    /// New words.
    pub body: Option<String>,
}

/// What a write left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The memory as it is now.
    pub memory: Memory,
    /// Whether the index still reaches a model whole.
    pub index: Judgement,
}

/// What a removal left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The memory as it was.
    pub memory: Memory,
    /// Lines of the index that still name its file in other words.
    pub mentions: Vec<usize>,
}

/// Whether an index is to be written, or only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexRun {
    /// Say whether it is true.
    Check,
    /// Make it true.
    Write,
}

/// How an index was, and how it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// Its file.
    pub path: PathBuf,
    /// What it holds; nothing when it is not there.
    pub before: Option<String>,
    /// What it should hold.
    pub after: String,
    /// Whether a model would see all of it.
    pub judgement: Judgement,
    /// Files that could not be taken.
    pub warnings: Vec<String>,
}

impl IndexState {
    /// Whether nothing had to change.
    pub fn is_true(&self) -> bool {
        self.before.as_deref().unwrap_or_default() == self.after
    }
}

impl Folder {
    /// A person's own folder.
    pub fn new(scope: Scope, dir: impl Into<PathBuf>) -> Self {
        Self {
            scope,
            dir: dir.into(),
            within: None,
        }
    }

    /// The folder that a repository shares. It must not lead out of there.
    pub fn team(root: &Path) -> Self {
        Self {
            scope: Scope::Team,
            dir: root.join(names::FOLDER).join(names::TEAM_MEMORY),
            within: Some(root.to_path_buf()),
        }
    }

    /// Whose memories.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Where they lie.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The index beside them.
    pub fn index_path(&self) -> PathBuf {
        self.dir.join(names::INDEX)
    }

    /// Whether the folder is there.
    pub fn exists(&self) -> bool {
        self.dir.is_dir()
    }

    /// All memories. A folder that is not there holds none.
    pub fn list(&self) -> Result<Listing, MemoryError> {
        self.first(usize::MAX)
    }

    /// The first memories by name, at most so many; a warning says how many are
    /// left out.
    pub fn first(&self, most: usize) -> Result<Listing, MemoryError> {
        let mut listing = Listing::default();
        if !self.exists() {
            return Ok(listing);
        }
        self.stays_within()?;
        let titles = self.titles();
        let found =
            list_directory(&self.dir, MAX_FOLDER_ENTRIES).map_err(MemoryError::io(&self.dir))?;
        if found.is_cut {
            listing.warnings.push(format!(
                "{}: holds more than {MAX_FOLDER_ENTRIES} entries; only so many are looked at",
                self.dir.display()
            ));
        }
        let names = found.entries.iter().map(fs::DirEntry::file_name);
        let mut files: Vec<String> = names.filter_map(|file| candidate(&file)).collect();
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
            match Name::new(&file).and_then(|name| self.read(&name)) {
                Ok((mut memory, _)) => {
                    entitle(&mut memory, &titles);
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
        let (mut memory, _) = self.read(&name)?;
        entitle(&mut memory, &self.titles());
        Ok(memory)
    }

    /// Writes a new memory, and its line in the index. What must not be shared
    /// never reaches a team's folder.
    pub fn add(
        &self,
        draft: &Draft,
        now: &str,
        secrets: Secrets<'_>,
    ) -> Result<Written, MemoryError> {
        let name = match &draft.name {
            Some(name) => name.clone(),
            None => Name::from_title(&draft.title)?,
        };
        let text = fact::drafted(&name, draft, now).render();
        self.may_hold(&text, secrets)?;
        write::make_folders(&self.dir, self.readers())?;
        self.stays_within()?;
        let _lock = Lock::take(&self.dir)?;
        let path = self.dir.join(name.file());
        if fs::symlink_metadata(&path).is_ok() {
            return Err(MemoryError::Exists {
                uri: self.uri(&name),
            });
        }
        // The index may refuse; nothing should have been written by then.
        write::place(&self.dir, names::INDEX)?;
        write::replace(&path, &text, self.readers())?;
        self.written(&name)
    }

    /// Changes a memory, and its line in the index.
    pub fn edit(
        &self,
        name: &str,
        change: &Change,
        now: &str,
        secrets: Secrets<'_>,
    ) -> Result<Written, MemoryError> {
        let name = self.find(name)?;
        self.stays_within()?;
        let _lock = Lock::take(&self.dir)?;
        let path = write::place(&self.dir, &name.file())?;
        write::place(&self.dir, names::INDEX)?;
        let text = self.text(&name)?;
        let mut page = Page::parse(&text);
        fact::changed(&mut page, change, now).map_err(|why| MemoryError::File {
            path: path.clone(),
            why,
        })?;
        let text = page.render();
        self.may_hold(&text, secrets)?;
        write::replace(&path, &text, self.readers())?;
        self.written(&name)
    }

    /// Removes a memory, and its line in the index.
    pub fn remove(&self, name: &str) -> Result<Removed, MemoryError> {
        let name = self.find(name)?;
        self.stays_within()?;
        let _lock = Lock::take(&self.dir)?;
        let (memory, _) = self.read(&name)?;
        // The line goes first: one that points nowhere is worse than none.
        let mut mentions = Vec::new();
        if let Some(index) = self.index_text()? {
            let after = match self.scope {
                Scope::Team => {
                    let mut memories = self.list()?.memories;
                    memories.retain(|other| other.uri.name != name);
                    pointer::made(&memories)
                }
                Scope::Project | Scope::User => pointer::without(&index, &name.file()),
            };
            mentions = pointer::mentions(&after, &name.file());
            self.write_index(&index, &after)?;
        }
        // A link goes itself, not what it leads to.
        let path = self.dir.join(name.file());
        fs::remove_file(&path).map_err(MemoryError::io(&path))?;
        Ok(Removed { memory, mentions })
    }

    /// What must not be shared in files that are there already.
    pub fn unshareable(
        &self,
        secrets: Secrets<'_>,
    ) -> Result<Vec<(Uri, Vec<String>)>, MemoryError> {
        let mut found = Vec::new();
        for memory in self.list()?.memories {
            let text = self.text(&memory.uri.name).unwrap_or_default();
            let reasons = personal::reasons(&text, secrets);
            if !reasons.is_empty() {
                found.push((memory.uri, reasons));
            }
        }
        Ok(found)
    }

    /// A team's files are as readable as the rest of the repository.
    fn readers(&self) -> Readers {
        match self.scope {
            Scope::Team => Readers::Unchanged,
            Scope::Project | Scope::User => Readers::Owner,
        }
    }

    fn may_hold(&self, text: &str, secrets: Secrets<'_>) -> Result<(), MemoryError> {
        if self.scope != Scope::Team {
            return Ok(());
        }
        // Lines are told as the person wrote them, where that is possible.
        let mut reasons = personal::reasons(Page::parse(text).body(), secrets);
        if reasons.is_empty() {
            reasons = personal::reasons(text, secrets);
        }
        if reasons.is_empty() {
            Ok(())
        } else {
            Err(MemoryError::Private { reasons })
        }
    }

    /// Makes the index true again, or says whether it is.
    pub fn index(&self, run: IndexRun) -> Result<IndexState, MemoryError> {
        let lock = match run {
            IndexRun::Write if self.exists() => {
                self.stays_within()?;
                Some(Lock::take(&self.dir)?)
            }
            _ => None,
        };
        let listing = self.list()?;
        let before = self.index_text()?;
        let after = self.true_index(before.as_deref(), &listing.memories);
        if lock.is_some() && (before.is_some() || !listing.memories.is_empty()) {
            self.write_index(before.as_deref().unwrap_or_default(), &after)?;
        }
        Ok(IndexState {
            path: self.index_path(),
            judgement: judged(&after),
            before,
            after,
            warnings: listing.warnings,
        })
    }

    fn true_index(&self, before: Option<&str>, memories: &[Memory]) -> String {
        match self.scope {
            Scope::Team if before.is_none() && memories.is_empty() => String::new(),
            Scope::Team => pointer::made(memories),
            Scope::Project | Scope::User => {
                let gone = |file: &str| {
                    !file.contains(['/', '\\', ':', '#'])
                        && file.ends_with(ENDING)
                        && fs::symlink_metadata(self.dir.join(file)).is_err()
                };
                pointer::mended(before.unwrap_or_default(), memories, gone)
            }
        }
    }

    /// Brings the index up to a memory that was just written.
    fn written(&self, name: &Name) -> Result<Written, MemoryError> {
        let before = self.index_text()?;
        let (memory, _) = self.read(name)?;
        let after = match self.scope {
            Scope::Team => pointer::made(&self.list()?.memories),
            Scope::Project | Scope::User => {
                pointer::with(before.as_deref().unwrap_or_default(), &memory)
            }
        };
        self.write_index(before.as_deref().unwrap_or_default(), &after)?;
        Ok(Written {
            memory,
            index: judged(&after),
        })
    }

    fn write_index(&self, before: &str, after: &str) -> Result<(), MemoryError> {
        if before == after {
            return Ok(());
        }
        write::replace(
            &write::place(&self.dir, names::INDEX)?,
            after,
            self.readers(),
        )
    }

    /// The index as it is. It is never written when it is not text.
    fn index_text(&self) -> Result<Option<String>, MemoryError> {
        let path = match self.scope {
            Scope::Team => write::place(&self.dir, names::INDEX)?,
            // A person's index may be a link to anywhere; it is not written then.
            Scope::Project | Scope::User => self.index_path(),
        };
        match disk::read(&path) {
            Ok(bytes) => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| not_text(&path)),
            Err(Refused::Missing) => Ok(None),
            Err(refused) => Err(refused_error(&path, &refused)),
        }
    }

    /// What a person calls the files, in an index of their own.
    fn titles(&self) -> BTreeMap<String, String> {
        if self.scope == Scope::Team {
            return BTreeMap::new();
        }
        let bytes = disk::read(&self.index_path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes)
            .lines()
            .filter_map(pointer::parse)
            .filter(|pointer| !pointer.title.trim().is_empty())
            .map(|pointer| (pointer.file, pointer.title))
            .collect()
    }

    fn uri(&self, name: &Name) -> Uri {
        Uri {
            scope: self.scope,
            name: name.clone(),
        }
    }

    /// The file that a name means.
    fn find(&self, text: &str) -> Result<Name, MemoryError> {
        let name = Name::new(text)?;
        if fs::symlink_metadata(self.dir.join(name.file())).is_ok() {
            return Ok(name);
        }
        let memories = self.list()?.memories;
        let mut same: Vec<Name> = memories
            .iter()
            .filter(|memory| memory.alias.as_deref() == Some(name.as_str()))
            .map(|memory| memory.uri.name.clone())
            .collect();
        match same.len() {
            1 => Ok(same.remove(0)),
            0 => Err(MemoryError::Missing {
                near: name::near(&name, memories.iter().map(|memory| &memory.uri.name)),
                uri: self.uri(&name),
            }),
            _ => Err(MemoryError::Unclear {
                name: name.to_string(),
                among: same.iter().map(Name::to_string).collect(),
            }),
        }
    }

    fn read(&self, name: &Name) -> Result<(Memory, Page), MemoryError> {
        let path = write::place(&self.dir, &name.file())?;
        let bytes = disk::read(&path).map_err(|refused| match refused {
            Refused::Missing => MemoryError::Missing {
                uri: self.uri(name),
                near: None,
            },
            refused => refused_error(&path, &refused),
        })?;
        let mut warnings = Vec::new();
        let text = String::from_utf8_lossy(&bytes);
        if text.contains('\u{fffd}') && std::str::from_utf8(&bytes).is_err() {
            warnings.push("holds bytes that are not UTF-8".to_owned());
        }
        let page = Page::parse(&text);
        let memory = fact::memory(self.uri(name), self.dir.join(name.file()), &page, warnings);
        Ok((memory, page))
    }

    /// The text of a memory that is going to be changed.
    fn text(&self, name: &Name) -> Result<String, MemoryError> {
        let path = write::place(&self.dir, &name.file())?;
        let bytes = disk::read(&path).map_err(|refused| refused_error(&path, &refused))?;
        String::from_utf8(bytes).map_err(|_| not_text(&path))
    }

    /// A repository must not send its readers elsewhere.
    fn stays_within(&self) -> Result<(), MemoryError> {
        let Some(root) = &self.within else {
            return Ok(());
        };
        let real = |path: &Path| fs::canonicalize(path).map_err(MemoryError::io(path));
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
fn entitle(memory: &mut Memory, titles: &BTreeMap<String, String>) {
    if memory.title == memory.uri.name.words()
        && let Some(title) = titles.get(&memory.uri.name.file())
    {
        memory.title.clone_from(title);
    }
}

/// Whether a file of a folder is a memory's.
fn candidate(file: &OsStr) -> Option<String> {
    let file = file.to_str()?;
    let memory = file.ends_with(ENDING)
        && !file.starts_with('.')
        && !file.eq_ignore_ascii_case(names::INDEX);
    memory.then(|| file.to_owned())
}

/// How an index fares, cleaned the way a prompt has it.
fn judged(index: &str) -> Judgement {
    let (_, body) = frontmatter::split(index);
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

fn refused_error(path: &Path, refused: &Refused) -> MemoryError {
    match refused {
        Refused::Missing => MemoryError::Io {
            path: path.to_path_buf(),
            source: io::Error::from(io::ErrorKind::NotFound),
        },
        refused => MemoryError::File {
            path: path.to_path_buf(),
            why: refused.to_string(),
        },
    }
}
