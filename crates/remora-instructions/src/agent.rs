//! What a subagent gets: instructions or none, and a memory of its own.

use std::path::{Path, PathBuf};

use crate::file::Kind;
use crate::frontmatter::Value;
use crate::start::Scene;
use crate::{names, pages};

/// Built-in agents that look around and get neither instructions nor memory.
const BARE: &[&str] = &["Explore", "Plan"];

/// How an agent is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Agent {
    /// Which instruction files it gets.
    pub(crate) gets: Gets,
    /// The index of its own memory.
    pub(crate) memory: Option<PathBuf>,
}

/// Which instruction files an agent gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Gets {
    /// All, and auto memory.
    #[default]
    All,
    /// Only the organisation's.
    Managed,
    Nothing,
}

impl Gets {
    pub(crate) fn takes(self, kind: Kind) -> bool {
        match self {
            Self::All => true,
            Self::Managed => kind == Kind::Managed,
            Self::Nothing => false,
        }
    }
}

/// Looks an agent up: its file in the project, then the person's; without one
/// it is built in.
pub(crate) fn find(scene: &Scene, name: &str) -> Agent {
    if BARE.contains(&name) {
        return Agent {
            gets: Gets::Nothing,
            memory: None,
        };
    }
    let folders = [
        scene.loader.cwd.join(names::FOLDER),
        scene.places.config_dir(),
    ];
    let mut folders = folders.iter().map(|dir| dir.join(names::AGENTS));
    let values = folders.find_map(|dir| definition(&dir, name));
    let value = |key: &str| {
        let mut values = values.iter().flatten();
        values.find(|(k, _)| k == key).map(|(_, v)| v)
    };
    let gets = match value("omitClaudeMd") {
        Some(Value::Bool(true)) => Gets::Managed,
        _ => Gets::All,
    };
    let memory = match value("memory") {
        Some(Value::Text(scope)) if scene.memory_off().is_none() => memory(scene, scope, name),
        _ => None,
    };
    Agent { gets, memory }
}

/// Where an agent keeps its own index.
fn memory(scene: &Scene, scope: &str, name: &str) -> Option<PathBuf> {
    let project = scene.loader.cwd.join(names::FOLDER);
    let folder = match scope {
        "user" => scene.places.config_dir().join("agent-memory"),
        "project" => project.join("agent-memory"),
        "local" => project.join("agent-memory-local"),
        _ => return None,
    };
    // Agents of plugins have a colon in their names.
    let name = name.replace([':', '/'], "-");
    Some(folder.join(name).join(names::INDEX))
}

/// The frontmatter of the agent of that name in a folder.
fn definition(folder: &Path, name: &str) -> Option<Vec<(String, Value)>> {
    let page = pages::of(folder).find(|page| page.name() == Some(name));
    page.map(|page| page.values)
}
