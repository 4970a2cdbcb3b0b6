//! What a subagent inherits: instructions or none, and a memory of its own.

use std::path::{Path, PathBuf};

use crate::file::InstructionKind;
use crate::frontmatter::FrontmatterValue;
use crate::start::LoadContext;
use crate::{names, pages};

/// Built-in agents that only explore. The client starts them without
/// instructions and memory.
const AGENTS_WITHOUT_INSTRUCTIONS: &[&str] = &["Explore", "Plan"];

/// How an agent is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SubagentConfig {
    /// Which instruction files it inherits.
    pub(crate) gets: InheritedInstructions,
    /// The index of its own memory.
    pub(crate) memory: Option<PathBuf>,
}

/// Which instruction files an agent inherits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum InheritedInstructions {
    /// All, and auto memory.
    #[default]
    All,
    /// Only the organisation's.
    Managed,
    Nothing,
}

impl InheritedInstructions {
    pub(crate) fn includes_kind(self, kind: InstructionKind) -> bool {
        match self {
            Self::All => true,
            Self::Managed => kind == InstructionKind::Managed,
            Self::Nothing => false,
        }
    }
}

/// Looks an agent up: its file in the project, then the user's; without one it
/// is built in.
pub(crate) fn load_subagent(context: &LoadContext, name: &str) -> SubagentConfig {
    if AGENTS_WITHOUT_INSTRUCTIONS.contains(&name) {
        return SubagentConfig {
            gets: InheritedInstructions::Nothing,
            memory: None,
        };
    }
    let folders = [
        context.loader.cwd.join(names::SETTINGS_DIR),
        context.places.config_dir(),
    ];
    let mut folders = folders.iter().map(|dir| dir.join(names::AGENTS_DIR));
    let values = folders.find_map(|dir| find_definition(&dir, name));
    let value = |key: &str| {
        let mut values = values.iter().flatten();
        values.find(|(k, _)| k == key).map(|(_, v)| v)
    };
    let gets = match value("omitClaudeMd") {
        Some(FrontmatterValue::Bool(true)) => InheritedInstructions::Managed,
        _ => InheritedInstructions::All,
    };
    let memory = match value("memory") {
        Some(FrontmatterValue::Text(scope)) if context.memory_off().is_none() => {
            resolve_memory_index(context, scope, name)
        }
        _ => None,
    };
    SubagentConfig { gets, memory }
}

/// Where an agent keeps its own index.
fn resolve_memory_index(context: &LoadContext, scope: &str, name: &str) -> Option<PathBuf> {
    let project = context.loader.cwd.join(names::SETTINGS_DIR);
    let folder = match scope {
        "user" => context.places.config_dir().join("agent-memory"),
        "project" => project.join("agent-memory"),
        "local" => project.join("agent-memory-local"),
        _ => return None,
    };
    // Agents of plugins have a colon in their names.
    let name = name.replace([':', '/'], "-");
    Some(folder.join(name).join(names::MEMORY_INDEX_FILE))
}

/// The frontmatter of the agent of that name in a folder.
fn find_definition(folder: &Path, name: &str) -> Option<Vec<(String, FrontmatterValue)>> {
    let page = pages::list_pages(folder).find(|page| page.name() == Some(name));
    page.map(|page| page.values)
}
