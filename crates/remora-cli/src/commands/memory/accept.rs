//! `remora memory accept`: memories that others wrote and that the user has read
//! and accepted: those of a repository, and those that an agent saved. A clone
//! brings its team memories along, so they are the repository's words until
//! then. What is accepted of a repository is a content, not a name: a memory that
//! changes waits again. A memory that an agent saved says so in its own file,
//! and says otherwise once it is accepted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use remora_client::DataPaths;
use remora_files::{Durability, MAX_SETTINGS_BYTES, ReplaceOptions, read_file, replace_file};
use remora_notes::folder::MemoryChange;
use remora_notes::{Memory, MemoryAuthor, MemoryScope, MemoryType};
use ring::digest::{SHA256, digest};
use serde_json::json;

use super::{MemoryWorkspace, as_json, format_now, list_secrets};
use crate::args::{MemoryAcceptArgs, MemoryOwnerArgs};
use crate::commands::show::lines::{flatten_text, format_count};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Names of accepted memories and the hash of what each said, by checkout.
#[derive(Debug, Default)]
pub(in crate::commands) struct AcceptedMemories(BTreeMap<String, BTreeMap<String, String>>);

impl AcceptedMemories {
    /// Where they are written down.
    pub(in crate::commands) fn accepted_path(paths: &DataPaths) -> PathBuf {
        paths.home().join("accepted.json")
    }

    /// Reads them; a damaged file accepts nothing.
    pub(in crate::commands) fn load(paths: &DataPaths) -> Self {
        let bytes = read_file(&Self::accepted_path(paths), MAX_SETTINGS_BYTES).unwrap_or_default();
        Self(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Whether the user wrote this memory or accepted what it says now. Memories
    /// outside the repository are the user's own unless an agent saved them.
    pub(in crate::commands) fn is_accepted(&self, root: &Path, memory: &Memory) -> bool {
        let names = self.0.get(root.to_string_lossy().as_ref());
        let known = names.and_then(|names| names.get(memory.uri.name.as_str()));
        match memory.uri.scope {
            MemoryScope::Team => known == Some(&content_hash(memory)),
            MemoryScope::Project | MemoryScope::User => memory.author == MemoryAuthor::User,
        }
    }

    fn insert(&mut self, root: &Path, memory: &Memory) {
        let names = self.0.entry(root.to_string_lossy().into_owned());
        let name = memory.uri.name.as_str().to_owned();
        names.or_default().insert(name, content_hash(memory));
    }

    fn save(&self, paths: &DataPaths) -> Result<(), CliError> {
        let file = Self::accepted_path(paths);
        let write = || -> io::Result<()> {
            paths.prepare_data_dir()?;
            let text = serde_json::to_vec(&self.0)?;
            replace_file(&file, &text, &ReplaceOptions::private(Durability::None))
        };
        write().map_err(|source| CliError::File {
            path: file.clone(),
            source,
        })
    }
}

/// What a memory says, apart from when it was written.
fn content_hash(memory: &Memory) -> String {
    let content = json!([
        memory.title,
        memory.description,
        memory.kind.map(MemoryType::as_str),
        memory.priority,
        memory.body,
    ]);
    let hash = digest(&SHA256, content.to_string().as_bytes());
    hash.as_ref().iter().fold(String::new(), |mut hex, byte| {
        // Writing into a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Where the user wrote this memory there is nothing to accept later.
pub(super) fn accept_own(shelf: &MemoryWorkspace, memory: &Memory) -> Result<(), CliError> {
    if memory.uri.scope != MemoryScope::Team || memory.author != MemoryAuthor::User {
        return Ok(());
    }
    accept_content(shelf, std::slice::from_ref(memory))
}

fn accept_content(shelf: &MemoryWorkspace, memories: &[Memory]) -> Result<(), CliError> {
    let mut accepted = AcceptedMemories::load(&shelf.data.app.paths);
    for memory in memories {
        accepted.insert(&shelf.root, memory);
    }
    accepted.save(&shelf.data.app.paths)
}

/// The files of agents' memories say from now on that they are the user's.
fn accept_authorship(shelf: &MemoryWorkspace, memories: &[Memory]) -> Result<(), CliError> {
    let redactor = shelf.build_redactor()?;
    let find = |text: &str| list_secrets(&redactor, text);
    let change = MemoryChange {
        author: Some(MemoryAuthor::User),
        ..MemoryChange::default()
    };
    for memory in memories {
        let folder = shelf.folder_for(memory.uri.scope);
        folder.edit(memory.uri.name.as_str(), &change, &format_now(), &find)?;
    }
    Ok(())
}

/// The memory of this name that waits, else the one that the name means.
fn find_waiting(
    shelf: &MemoryWorkspace,
    accepted: &AcceptedMemories,
    name: &str,
) -> Result<Memory, CliError> {
    let folders = shelf.list_folders(&MemoryOwnerArgs::default()).into_iter();
    let mut waiting: Vec<Memory> = folders
        .filter_map(|folder| folder.get(name).ok())
        .filter(|memory| !accepted.is_accepted(&shelf.root, memory))
        .collect();
    match waiting.pop() {
        Some(memory) if waiting.is_empty() => Ok(memory),
        _ => Ok(shelf.find(name, &MemoryOwnerArgs::default())?.1),
    }
}

pub(super) fn run(args: &MemoryAcceptArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    // An agent must not make its own words the user's.
    shelf.data.app.require_user("memories are accepted")?;
    let accepted = AcceptedMemories::load(&shelf.data.app.paths);
    let mut memories = Vec::new();
    if args.all {
        for folder in shelf.list_folders(&MemoryOwnerArgs::default()) {
            memories.extend(folder.list_memories()?.memories);
        }
        memories.retain(|memory| !accepted.is_accepted(&shelf.root, memory));
    }
    for name in &args.names {
        memories.push(find_waiting(&shelf, &accepted, name)?);
    }
    let is_own = |memory: &&Memory| {
        memory.uri.scope != MemoryScope::Team && accepted.is_accepted(&shelf.root, memory)
    };
    if let Some(own) = memories.iter().find(is_own) {
        return Err(CliError::Usage(format!(
            "{} is your own: only memories of the repository and of agents are accepted",
            own.uri
        )));
    }
    if !memories.is_empty() {
        let (team, agents): (Vec<Memory>, Vec<Memory>) = memories
            .iter()
            .cloned()
            .partition(|memory| memory.uri.scope == MemoryScope::Team);
        accept_content(&shelf, &team)?;
        accept_authorship(&shelf, &agents)?;
        shelf.notify_changed();
    }
    if args.place.json {
        let list: Vec<_> = memories.iter().map(as_json).collect();
        out.print_json(&json!({ "accepted": list }))?;
        return Ok(Exit::GoOn);
    }
    for memory in &memories {
        let uri = out.paint(Style::Cyan, &memory.uri.to_string());
        out.print_text(&format!(
            "accepted {uri}  {}\n",
            flatten_text(&memory.index_summary())
        ))?;
    }
    out.print_text(&match memories.len() {
        0 => "no memory waits to be accepted\n".to_owned(),
        n => format!(
            "{} now {} as yours; one of the repository that changes waits again\n",
            format_count(n as u64, "memory", "memories"),
            if n == 1 { "counts" } else { "count" }
        ),
    })?;
    Ok(Exit::GoOn)
}
