//! Which project of ours each of theirs is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use remora_core::record::Project;
use remora_memory::store::Store;

use crate::commands::data::DataDir;
use crate::error::CliError;

/// Their projects are names of folders; ours have keys.
#[derive(Debug)]
pub(super) struct ProjectMapping {
    ours: Vec<Project>,
    /// What the user said: their name, and our key.
    asked: HashMap<String, String>,
    all: Option<String>,
    made: HashMap<String, String>,
    /// Folders that the user named and that nothing is known of yet.
    new: Vec<Project>,
    /// The project of the current folder.
    here: Option<Project>,
}

impl ProjectMapping {
    pub(super) fn new(
        data: &DataDir,
        store: &dyn Store,
        asked: &[String],
    ) -> Result<Self, CliError> {
        let mut projects = Self {
            ours: store.list_projects()?,
            asked: HashMap::new(),
            all: None,
            made: HashMap::new(),
            new: Vec::new(),
            here: data
                .environment
                .directory()
                .map(|here| data.app.locate_folder(here).project),
        };
        for text in asked {
            match text.split_once('=') {
                Some((theirs, ours)) if !theirs.is_empty() && !ours.is_empty() => {
                    let ours = projects.resolve_named(data, store, ours)?;
                    projects.asked.insert(theirs.to_owned(), ours);
                }
                Some(_) => {
                    return Err(CliError::Usage(format!(
                        "--project: `{text}` names no project on one side; write THEIRS=OURS"
                    )));
                }
                None => projects.all = Some(projects.resolve_named(data, store, text)?),
            }
        }
        Ok(projects)
    }

    /// The key of a project of ours, by key, name or folder. An unknown name
    /// would make a project that no folder belongs to.
    fn resolve_named(
        &mut self,
        data: &DataDir,
        store: &dyn Store,
        text: &str,
    ) -> Result<String, CliError> {
        let key = data.app.resolve_named_project(store, text)?;
        let folder = data.environment.directory().map(|here| here.join(text));
        if let Some(folder) = folder.filter(|folder| folder.is_dir())
            && !self.ours.iter().any(|ours| ours.key == key)
        {
            self.new.push(data.app.locate_folder(&folder).project);
        }
        Ok(key.into_string())
    }

    pub(super) fn drain_new_projects(&mut self) -> Vec<Project> {
        self.ours.extend(self.new.iter().cloned());
        std::mem::take(&mut self.new)
    }

    /// Whether what an import put into `from` goes to `to`: the user named it,
    /// or no folder belongs to where it is now.
    pub(super) fn should_move(&self, from: &str, to: &str) -> bool {
        let asked = self.asked.values().chain(&self.all).any(|key| key == to);
        from != to && (asked || self.is_apart(from) && !self.is_apart(to))
    }

    /// Whether it is but a name of theirs: no folder of ours has such a key.
    pub(super) fn is_apart(&self, key: &str) -> bool {
        let known = self.ours.iter().find(|ours| ours.key == key);
        known.is_some_and(is_name)
    }

    /// Our key for their name, and the project if it is new.
    pub(super) fn map_project(&mut self, theirs: &str) -> (String, Option<Project>) {
        if let Some(key) = self.made.get(theirs) {
            return (key.clone(), None);
        }
        let (key, new) = self.find(theirs);
        self.made.insert(theirs.to_owned(), key.clone());
        let is_new = !self.ours.iter().any(|ours| ours.key == key);
        let new = new.filter(|_| is_new);
        self.ours.extend(new.clone());
        (key, new)
    }

    /// What the user named, the project of this folder if it has that name, or
    /// the only one that has it.
    fn find(&self, theirs: &str) -> (String, Option<Project>) {
        if let Some(key) = self.asked.get(theirs).or(self.all.as_ref()) {
            return (key.clone(), None);
        }
        if let Some(here) = self.here.as_ref().filter(|here| is_called(here, theirs)) {
            return (here.key.to_string(), Some(here.clone()));
        }
        let mut named = self
            .ours
            .iter()
            .filter(|ours| ours.name == theirs && !is_name(ours));
        // Two projects of one name: a guess would mix their memories, so the
        // items stay apart.
        if let (Some(one), None) = (named.next(), named.next()) {
            return (one.key.to_string(), None);
        }
        let apart = Project {
            key: theirs.into(),
            name: theirs.to_owned(),
            root: String::new(),
        };
        (theirs.to_owned(), Some(apart))
    }

    /// Which of theirs became the project of this folder without a request, and
    /// which the user named that they do not have.
    pub(super) fn into_summary(self) -> (BTreeMap<String, String>, BTreeSet<String>) {
        let mut asked = self.asked;
        let mut made = self.made;
        let unmet = asked.keys().filter(|name| !made.contains_key(*name));
        let unmet = unmet.cloned().collect();
        let here = self.here.filter(|_| self.all.is_none());
        made.retain(|theirs, key| {
            asked.remove(theirs).is_none() && here.as_ref().is_some_and(|here| here.key == *key)
        });
        (made.into_iter().collect(), unmet)
    }

    /// The project of this key, with a root.
    pub(super) fn project_with_root(&self, key: &str, cwd: &str) -> Project {
        let known = self.ours.iter().find(|ours| ours.key == key);
        let mut project = known.cloned().unwrap_or_else(|| Project {
            key: key.into(),
            name: key.to_owned(),
            root: String::new(),
        });
        if project.root.is_empty() {
            cwd.clone_into(&mut project.root);
        }
        project
    }
}

fn is_name(project: &Project) -> bool {
    project.key == project.name
}

/// Whether they would call our project so: they go by the name of the folder.
fn is_called(ours: &Project, theirs: &str) -> bool {
    let folder = Path::new(&ours.root).file_name();
    ours.name == theirs || folder.is_some_and(|folder| folder == theirs)
}
