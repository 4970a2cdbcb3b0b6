//! Where our MCP server was installed, as far as we did it: a small file that a
//! hook reads, so that it can call tools by their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{DataPaths, replace_our_file};

/// For whom it was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallTarget<'a> {
    /// All projects of the person.
    Person,
    /// The project at this root.
    Project(&'a Path),
}

/// The note.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpInstallations {
    #[serde(default)]
    user: bool,
    #[serde(default)]
    projects: Vec<String>,
}

impl McpInstallations {
    /// What is noted; nothing if the file is missing or not ours to understand.
    pub fn read(paths: &DataPaths) -> Self {
        let bytes = fs::read(installations_file(paths)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Whether sessions in this folder have the server.
    pub fn contains_folder(&self, folder: &Path) -> bool {
        self.user || self.projects.iter().any(|root| folder.starts_with(root))
    }

    /// Whether it was installed for all projects.
    pub fn for_person(&self) -> bool {
        self.user
    }

    /// The roots of projects that it was installed for.
    pub fn projects(&self) -> impl Iterator<Item = &Path> {
        self.projects.iter().map(Path::new)
    }

    /// Notes that it is there.
    pub fn add(&mut self, whom: InstallTarget<'_>) {
        self.remove(whom);
        match whom {
            InstallTarget::Person => self.user = true,
            InstallTarget::Project(root) => self.projects.push(root.to_string_lossy().into_owned()),
        }
    }

    /// Notes that it is gone.
    pub fn remove(&mut self, whom: InstallTarget<'_>) {
        match whom {
            InstallTarget::Person => self.user = false,
            InstallTarget::Project(root) => self.projects.retain(|other| Path::new(other) != root),
        }
    }

    /// Writes the note beside and renames it; one that says nothing goes.
    pub fn write(&self, paths: &DataPaths) -> io::Result<()> {
        let file = installations_file(paths);
        if *self == Self::default() {
            return match fs::remove_file(&file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            };
        }
        paths.prepare_data_dir()?;
        replace_our_file("mcp.json.new".as_ref(), &file, &serde_json::to_vec(self)?)
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
        served.add(InstallTarget::Person);
        served.remove(InstallTarget::Project(shop));
        served.write(&paths).unwrap();
        assert!(covered("/anywhere"));
        served.remove(InstallTarget::Person);
        served.write(&paths).unwrap();
        served.write(&paths).unwrap();
        assert!(!dir.path().join("data/mcp.json").exists());
        fs::write(dir.path().join("data/mcp.json"), "[1]").unwrap();
        assert!(!covered("/anywhere"));
    }
}
