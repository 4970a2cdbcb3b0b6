//! `remora memory`: facts that people and agents keep as Markdown files, for a
//! project, a team or everywhere.

mod accept;
mod check;
mod clean;
mod diff;
mod index;
mod look;
mod notes;
mod review;
mod write;

pub(super) use accept::Accepted;
pub(super) use check::{cache, cache_file, keep};
pub(super) use look::origin_of;
pub(super) use notes::import as import_notes;

use std::path::PathBuf;

use remora_files::{MAX_SETTINGS_BYTES, read_file};
use remora_instructions::memories::folder::Folder;
use remora_instructions::memories::{Author, Memory, MemoryError, SCHEME, Scope, Type, Uri};
use remora_instructions::{Instructions, Kind};
use remora_memory::redact::Redactor;
use remora_protocol::time::rfc3339;
use serde_json::{Value, json};

use crate::args::{
    self, Directory, MemoryAdd, MemoryRm, SavedPlace, SavedType, Scene, Whose, WhoseScope,
};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::import;
use crate::commands::worker::saved_index;
pub(super) use crate::commands::worker::saved_index::ended_on;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(command: &args::Memory, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        args::Memory::Add(args) => write::add(args, out),
        args::Memory::List(args) => look::list(args, out),
        args::Memory::Show(args) => look::show(args, out),
        args::Memory::Edit(args) => write::edit(args, out),
        args::Memory::Accept(args) => accept::run(args, out),
        args::Memory::Rm(args) => write::remove(args, out),
        args::Memory::Check(args) => check::run(args, out),
        args::Memory::Index(args) => index::run(args, out),
        args::Memory::Path(args) => look::path(args, out),
        args::Memory::Review(args) => review::run(args, out),
    }
}

/// `remora remember`.
pub(super) fn remember(args: &MemoryAdd, out: &mut Output) -> Result<Exit, CliError> {
    write::add(args, out)
}

/// Saves a fact for an agent as `remora remember` does, and says nothing.
pub(super) fn save_for_agent(args: &MemoryAdd) -> Result<Saved, CliError> {
    let (written, advice) = write::save(args, Author::Agent)?;
    let advice = advice.into_iter().map(|advice| advice.text);
    let advice = advice.chain(written.index.advice()).collect();
    Ok(Saved {
        memory: written.memory,
        advice,
    })
}

/// A memory that was just saved.
pub(super) struct Saved {
    pub(super) memory: Memory,
    pub(super) advice: Vec<String>,
}

/// The memory at an address.
pub(super) fn at(uri: &str, place: &SavedPlace) -> Result<Memory, CliError> {
    let shelf = Shelf::open(place)?;
    let (_, memory) = shelf.find(uri, &Whose::default())?;
    Ok(memory)
}

/// Whether a memory is the user's: written or accepted by them.
pub(super) fn is_accepted(memory: &Memory, place: &SavedPlace) -> Result<bool, CliError> {
    let shelf = Shelf::open(place)?;
    Ok(Accepted::load(&shelf.data.paths).holds(&shelf.root, memory))
}

/// `remora forget`.
pub(super) fn forget(args: &MemoryRm, out: &mut Output) -> Result<Exit, CliError> {
    write::remove(args, out)
}

/// All folders of memories that bear on a project, and what is loaded there.
struct Shelf {
    data: Data,
    instructions: Instructions,
    /// The checkout.
    root: PathBuf,
    folders: [Folder; 3],
}

impl Shelf {
    fn open(place: &SavedPlace) -> Result<Self, CliError> {
        let data = Data::open()?;
        let instructions =
            scene(place.directory.clone(), place.home.clone()).load(&data.environment)?;
        let root = instructions.checkout().to_path_buf();
        let folders = [
            Folder::new(Scope::Project, instructions.memory_folder()),
            Folder::team(&root),
            Folder::new(Scope::User, data.paths.home().join("memory")),
        ];
        Ok(Self {
            data,
            instructions,
            root,
            folders,
        })
    }

    fn folder(&self, scope: Scope) -> &Folder {
        match scope {
            Scope::Project => &self.folders[0],
            Scope::Team => &self.folders[1],
            Scope::User => &self.folders[2],
        }
    }

    /// The folders that flags mean; all of them without a flag.
    fn folders(&self, whose: &Whose) -> Vec<&Folder> {
        match whose.scope() {
            Some(scope) => vec![self.folder(scope)],
            None => self.folders.iter().collect(),
        }
    }

    /// The memory that a name or an address means.
    fn find(&self, text: &str, whose: &Whose) -> Result<(&Folder, Memory), CliError> {
        if text.starts_with(SCHEME) {
            let uri = Uri::parse(text)?;
            let folder = self.folder(uri.scope);
            return Ok((folder, folder.get(uri.name.as_str())?));
        }
        let mut found = Vec::new();
        let mut missing = None;
        for folder in self.folders(whose) {
            match folder.get(text) {
                Ok(memory) => found.push((folder, memory)),
                Err(error @ MemoryError::Missing { .. }) => {
                    // The one that has a guess says more.
                    let guesses = matches!(&error, MemoryError::Missing { near: Some(_), .. });
                    if missing.is_none() || guesses {
                        missing = Some(error);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        match (found.len(), missing) {
            (1, _) => Ok(found.remove(0)),
            (0, Some(error)) => Err(error.into()),
            _ => {
                let uris = found.iter().map(|(_, memory)| memory.uri.to_string());
                let uris: Vec<String> = uris.collect();
                Err(CliError::Usage(format!(
                    "`{text}` means more than one memory; say which: {}",
                    uris.join(", ")
                )))
            }
        }
    }

    /// Instruction files as they are on the disk, which memories may repeat.
    fn layers(&self) -> Vec<(PathBuf, Kind, String)> {
        let files = self.instructions.start().iter();
        files
            .filter(|file| !matches!(file.kind, Kind::AutoMem | Kind::TeamMem))
            .map(|file| {
                let text = read_file(&file.path, MAX_SETTINGS_BYTES).map_or_else(
                    |_| file.content.clone(),
                    |bytes| String::from_utf8_lossy(&bytes).into_owned(),
                );
                (file.path.clone(), file.kind, text)
            })
            .collect()
    }

    fn redactor(&self) -> Result<Redactor, CliError> {
        import::redactor(&self.data)
    }

    /// Files were written: the index of them is to follow.
    fn changed(&self) {
        saved_index::tell(&self.data, self.instructions.cwd());
    }
}

/// A session that begins here, as usual in everything else.
pub(super) fn scene(directory: Directory, home: Option<PathBuf>) -> Scene {
    Scene {
        directory,
        home,
        managed: None,
        add_dir: Vec::new(),
        setting_sources: None,
        settings: None,
        bare: false,
        agent: None,
        read: Vec::new(),
    }
}

/// Secrets in a text, by kind and line.
fn secrets(redactor: &Redactor, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut line, mut at) = (1, 0);
    for finding in redactor.scan(text) {
        line += text[at..finding.range.start].matches('\n').count();
        at = finding.range.start;
        found.push(format!("a secret ({}) on line {line}", finding.kind));
    }
    found.dedup();
    found
}

fn now() -> String {
    rfc3339(clock::millis())
}

impl Whose {
    fn scope(&self) -> Option<Scope> {
        match (self.scope, self.team, self.user) {
            (_, true, _) | (Some(WhoseScope::Team), ..) => Some(Scope::Team),
            (_, _, true) | (Some(WhoseScope::User), ..) => Some(Scope::User),
            (Some(WhoseScope::Project), ..) => Some(Scope::Project),
            (None, ..) => None,
        }
    }
}

impl From<SavedType> for Type {
    fn from(kind: SavedType) -> Self {
        match kind {
            SavedType::User => Self::User,
            SavedType::Feedback => Self::Feedback,
            SavedType::Project => Self::Project,
            SavedType::Reference => Self::Reference,
        }
    }
}

/// A memory for programs, without its words.
fn as_json(memory: &Memory) -> Value {
    json!({
        "uri": memory.uri.to_string(),
        "scope": memory.uri.scope.as_str(),
        "name": memory.uri.name.as_str(),
        "path": memory.path,
        "title": memory.title,
        "description": memory.description,
        "type": memory.kind.map(Type::as_str),
        "priority": memory.priority,
        "author": memory.author.as_str(),
        "modified": memory.modified,
        "ended": ended_on(memory),
        "warnings": memory.warnings,
    })
}
