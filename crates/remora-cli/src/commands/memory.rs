//! `remora memory`: facts that users and agents keep as Markdown files, for a
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

pub(super) use accept::AcceptedMemories;
pub(super) use check::{cache_file, load_check_cache, save_check_cache};
pub(super) use look::origin_of;
pub(super) use notes::run_import as import_notes;

use std::path::PathBuf;

use remora_core::time::format_rfc3339;
use remora_files::{MAX_SETTINGS_BYTES, read_file};
use remora_instructions::{InstructionKind, Instructions};
use remora_notes::folder::MemoryFolder;
use remora_notes::{
    MEMORY_URI_SCHEME, Memory, MemoryAuthor, MemoryError, MemoryScope, MemoryType, MemoryUri,
};
use remora_redact::Redactor;
use serde_json::{Value, json};

use crate::args::{
    self, DirectoryArgs, InstructionSessionArgs, MemoryAddArgs, MemoryLocationArgs,
    MemoryOwnerArgs, MemoryRmArgs, MemoryScopeArg, MemoryTypeArg,
};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::worker::saved_index;
pub(super) use crate::commands::worker::saved_index::ended_on;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(command: &args::MemoryCommand, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        args::MemoryCommand::Add(args) => write::run_add(args, out),
        args::MemoryCommand::List(args) => look::run_list(args, out),
        args::MemoryCommand::Show(args) => look::run_show(args, out),
        args::MemoryCommand::Edit(args) => write::run_edit(args, out),
        args::MemoryCommand::Accept(args) => accept::run(args, out),
        args::MemoryCommand::Rm(args) => write::run_remove(args, out),
        args::MemoryCommand::Check(args) => check::run(args, out),
        args::MemoryCommand::Index(args) => index::run(args, out),
        args::MemoryCommand::Path(args) => look::run_path(args, out),
        args::MemoryCommand::Review(args) => review::run(args, out),
    }
}

/// `remora remember`.
pub(super) fn run_remember(args: &MemoryAddArgs, out: &mut Output) -> Result<Exit, CliError> {
    write::run_add(args, out)
}

/// Saves a fact for an agent as `remora remember` does, and says nothing.
pub(super) fn save_for_agent(args: &MemoryAddArgs) -> Result<SaveOutcome, CliError> {
    let (written, advice) = write::save_memory(args, MemoryAuthor::Agent)?;
    let advice = advice.into_iter().map(|advice| advice.text);
    let advice = advice.chain(written.index.render_advice()).collect();
    Ok(SaveOutcome {
        memory: written.memory,
        advice,
    })
}

/// A memory that was just saved.
pub(super) struct SaveOutcome {
    pub(super) memory: Memory,
    pub(super) advice: Vec<String>,
}

/// The memory at an address.
pub(super) fn find_by_uri(uri: &str, place: &MemoryLocationArgs) -> Result<Memory, CliError> {
    let shelf = MemoryWorkspace::open(place)?;
    let (_, memory) = shelf.find(uri, &MemoryOwnerArgs::default())?;
    Ok(memory)
}

/// Whether a memory is the user's: written or accepted by them.
pub(super) fn is_accepted(memory: &Memory, place: &MemoryLocationArgs) -> Result<bool, CliError> {
    let shelf = MemoryWorkspace::open(place)?;
    Ok(AcceptedMemories::load(&shelf.data.app.paths).is_accepted(&shelf.root, memory))
}

/// The names of memories here, at most so many of each folder; none where nothing
/// can be read.
pub(super) fn list_memory_names(most: usize) -> Vec<String> {
    let Ok(workspace) = MemoryWorkspace::open(&MemoryLocationArgs::default()) else {
        return Vec::new();
    };
    let listings =
        (workspace.folders.iter()).filter_map(|folder| folder.list_first_memories(most).ok());
    let memories = listings.flat_map(|listing| listing.memories);
    memories.map(|memory| memory.uri.name.to_string()).collect()
}

/// `remora forget`.
pub(super) fn run_forget(args: &MemoryRmArgs, out: &mut Output) -> Result<Exit, CliError> {
    write::run_remove(args, out)
}

/// All folders of memories that bear on a project, and what is loaded there.
struct MemoryWorkspace {
    data: DataDir,
    instructions: Instructions,
    /// The checkout.
    root: PathBuf,
    folders: [MemoryFolder; 3],
}

impl MemoryWorkspace {
    fn open(place: &MemoryLocationArgs) -> Result<Self, CliError> {
        let data = DataDir::open()?;
        let instructions = default_session_args(place.directory.clone(), place.home.clone())
            .load_instructions(&data.environment)?;
        let root = instructions.checkout_root().to_path_buf();
        let folders = [
            MemoryFolder::new(MemoryScope::Project, instructions.memory_folder()),
            MemoryFolder::for_team(&root),
            MemoryFolder::new(MemoryScope::User, data.app.paths.home().join("memory")),
        ];
        Ok(Self {
            data,
            instructions,
            root,
            folders,
        })
    }

    fn folder_for(&self, scope: MemoryScope) -> &MemoryFolder {
        match scope {
            MemoryScope::Project => &self.folders[0],
            MemoryScope::Team => &self.folders[1],
            MemoryScope::User => &self.folders[2],
        }
    }

    /// The folders that flags mean; all of them without a flag.
    fn list_folders(&self, whose: &MemoryOwnerArgs) -> Vec<&MemoryFolder> {
        match whose.memory_scope() {
            Some(scope) => vec![self.folder_for(scope)],
            None => self.folders.iter().collect(),
        }
    }

    /// The memory that a name or an address means.
    fn find(
        &self,
        text: &str,
        whose: &MemoryOwnerArgs,
    ) -> Result<(&MemoryFolder, Memory), CliError> {
        if text.starts_with(MEMORY_URI_SCHEME) {
            let uri = MemoryUri::parse(text).map_err(MemoryError::from)?;
            let folder = self.folder_for(uri.scope);
            return Ok((folder, folder.get(uri.name.as_str())?));
        }
        let mut found = Vec::new();
        let mut missing = None;
        for folder in self.list_folders(whose) {
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
    fn read_layers(&self) -> Vec<(PathBuf, InstructionKind, String)> {
        let files = self.instructions.start().iter();
        files
            .filter(|file| {
                !matches!(
                    file.kind,
                    InstructionKind::AutoMem | InstructionKind::TeamMem
                )
            })
            .map(|file| {
                let text = read_file(&file.path, MAX_SETTINGS_BYTES).map_or_else(
                    |_| file.content.clone(),
                    |bytes| String::from_utf8_lossy(&bytes).into_owned(),
                );
                (file.path.clone(), file.kind, text)
            })
            .collect()
    }

    fn build_redactor(&self) -> Result<Redactor, CliError> {
        Ok(self.data.app.build_redactor()?)
    }

    /// Files were written: the index of them is to follow.
    fn notify_changed(&self) {
        saved_index::update_memory_index(&self.data, self.instructions.cwd());
    }
}

/// A session that begins here, as usual in everything else.
pub(super) fn default_session_args(
    directory: DirectoryArgs,
    home: Option<PathBuf>,
) -> InstructionSessionArgs {
    InstructionSessionArgs {
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
fn list_secrets(redactor: &Redactor, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut line, mut at) = (1, 0);
    for finding in redactor.find_secrets(text) {
        line += text[at..finding.range.start].matches('\n').count();
        at = finding.range.start;
        found.push(format!("a secret ({}) on line {line}", finding.kind));
    }
    found.dedup();
    found
}

fn format_now() -> String {
    format_rfc3339(clock::now_ms())
}

impl MemoryOwnerArgs {
    fn memory_scope(&self) -> Option<MemoryScope> {
        match (self.scope, self.team, self.user) {
            (_, true, _) | (Some(MemoryScopeArg::Team), ..) => Some(MemoryScope::Team),
            (_, _, true) | (Some(MemoryScopeArg::User), ..) => Some(MemoryScope::User),
            (Some(MemoryScopeArg::Project), ..) => Some(MemoryScope::Project),
            (None, ..) => None,
        }
    }
}

impl From<MemoryTypeArg> for MemoryType {
    fn from(kind: MemoryTypeArg) -> Self {
        match kind {
            MemoryTypeArg::User => Self::User,
            MemoryTypeArg::Feedback => Self::Feedback,
            MemoryTypeArg::Project => Self::Project,
            MemoryTypeArg::Reference => Self::Reference,
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
        "type": memory.kind.map(MemoryType::as_str),
        "priority": memory.priority,
        "author": memory.author.as_str(),
        "modified": memory.modified,
        "ended": ended_on(memory),
        "warnings": memory.warnings,
    })
}
