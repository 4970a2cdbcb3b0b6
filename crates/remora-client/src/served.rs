//! Where our MCP server was installed, as far as we did it: a small file that a
//! hook reads, so that it can call tools by their names.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{DataPaths, replace_our_file};

/// For whom it was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallTarget<'a> {
    /// All projects of the user.
    User,
    /// The project at this root.
    Project(&'a Path),
}

/// The note, as one agent's part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpInstallations {
    note: InstallationNote,
    /// Whose part is read and changed; `None` for the part without a name.
    agent: Option<String>,
}

/// The file. Its own two fields belong to the one agent that Remora supported
/// before parts had names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct InstallationNote {
    #[serde(flatten)]
    unnamed: InstallationPart,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<String, InstallationPart>,
}

/// Where one agent has the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct InstallationPart {
    #[serde(default)]
    user: bool,
    #[serde(default)]
    projects: Vec<String>,
}

static NOWHERE: InstallationPart = InstallationPart {
    user: false,
    projects: Vec::new(),
};

impl McpInstallations {
    /// What is noted in the part without a name; nothing if the file is missing
    /// or not ours to understand.
    pub fn read(paths: &DataPaths) -> Self {
        Self::read_for_agent(paths, None)
    }

    /// What is noted for an agent, by the name of its part.
    pub fn read_for_agent(paths: &DataPaths, agent: Option<&str>) -> Self {
        let bytes = fs::read(installations_file(paths)).unwrap_or_default();
        Self {
            // Only decides whether a hook names tools; a broken note must not
            // fail the hook.
            note: serde_json::from_slice(&bytes).unwrap_or_default(),
            agent: agent.map(str::to_owned),
        }
    }

    fn part(&self) -> &InstallationPart {
        match &self.agent {
            None => &self.note.unnamed,
            Some(agent) => self.note.agents.get(agent).unwrap_or(&NOWHERE),
        }
    }

    fn part_mut(&mut self) -> &mut InstallationPart {
        match &self.agent {
            None => &mut self.note.unnamed,
            Some(agent) => self.note.agents.entry(agent.clone()).or_default(),
        }
    }

    /// Whether sessions in this folder have the server.
    pub fn contains_folder(&self, folder: &Path) -> bool {
        let part = self.part();
        part.user || part.projects.iter().any(|root| folder.starts_with(root))
    }

    /// Whether it was installed for all projects.
    pub fn is_for_user(&self) -> bool {
        self.part().user
    }

    /// The roots of projects that it was installed for.
    pub fn projects(&self) -> impl Iterator<Item = &Path> {
        self.part().projects.iter().map(Path::new)
    }

    /// Notes that it is there.
    pub fn add(&mut self, whom: InstallTarget<'_>) {
        self.remove(whom);
        let part = self.part_mut();
        match whom {
            InstallTarget::User => part.user = true,
            InstallTarget::Project(root) => part.projects.push(root.to_string_lossy().into_owned()),
        }
    }

    /// Notes that it is gone.
    pub fn remove(&mut self, whom: InstallTarget<'_>) {
        let part = self.part_mut();
        match whom {
            InstallTarget::User => part.user = false,
            InstallTarget::Project(root) => part.projects.retain(|other| Path::new(other) != root),
        }
        // A part that says nothing goes, so that the file of the first agent is
        // again what it was without others.
        self.note.agents.retain(|_, part| *part != NOWHERE);
    }

    /// Replaces the note as a whole; an empty one is removed.
    pub fn write(&self, paths: &DataPaths) -> io::Result<()> {
        let file = installations_file(paths);
        if self.note == InstallationNote::default() {
            return match fs::remove_file(&file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            };
        }
        paths.prepare_data_dir()?;
        replace_our_file(
            "mcp.json.new".as_ref(),
            &file,
            &serde_json::to_vec(&self.note)?,
        )
    }
}

fn installations_file(paths: &DataPaths) -> PathBuf {
    paths.home().join("mcp.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        let shop = Path::new("/home/dev/shop");
        let covered =
            |folder: &str| McpInstallations::read(&paths).contains_folder(Path::new(folder));
        assert!(!covered("/home/dev/shop"));
        let mut served = McpInstallations::read(&paths);
        served.add(InstallTarget::Project(shop));
        served.add(InstallTarget::Project(shop));
        served.write(&paths).unwrap();
        assert_eq!(McpInstallations::read(&paths), served);
        assert_eq!(served.projects().collect::<Vec<_>>(), [shop]);
        assert!(covered("/home/dev/shop/src"));
        assert!(!covered("/home/dev/shopping"));
        served.add(InstallTarget::User);
        served.remove(InstallTarget::Project(shop));
        served.write(&paths).unwrap();
        assert!(covered("/anywhere"));
        served.remove(InstallTarget::User);
        served.write(&paths).unwrap();
        served.write(&paths).unwrap();
        assert!(!dir.path().join("data/mcp.json").exists());
        fs::write(dir.path().join("data/mcp.json"), "[1]").unwrap();
        assert!(!covered("/anywhere"));
    }

    #[test]
    fn each_agent_has_its_part_and_leaves_the_others_alone() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        let file = dir.path().join("data/mcp.json");
        let shop = Path::new("/home/dev/shop");
        let mut unnamed = McpInstallations::read(&paths);
        unnamed.add(InstallTarget::User);
        unnamed.write(&paths).unwrap();
        let old = fs::read_to_string(&file).unwrap();
        assert_eq!(old, r#"{"user":true,"projects":[]}"#);
        let mut other = McpInstallations::read_for_agent(&paths, Some("other"));
        assert!(!other.contains_folder(shop) && !other.is_for_user());
        other.add(InstallTarget::Project(shop));
        other.write(&paths).unwrap();
        let other = McpInstallations::read_for_agent(&paths, Some("other"));
        assert_eq!(other.projects().collect::<Vec<_>>(), [shop]);
        assert!(McpInstallations::read(&paths).is_for_user());
        assert!(McpInstallations::read(&paths).projects().next().is_none());
        let mut other = other;
        other.remove(InstallTarget::Project(shop));
        other.write(&paths).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), old);
    }
}
