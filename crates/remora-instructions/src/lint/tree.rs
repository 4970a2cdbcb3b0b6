//! For tests: a tree of files from a case, laid under a folder of its own.
#![cfg(test)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    ExternalImports, InstructionOptions, InstructionPaths, InstructionSources, Instructions,
};

/// A case's files, on the disk.
pub(crate) struct CaseTree {
    root: PathBuf,
    case: Value,
    _folder: TempDir,
}

/// The cases of a file.
pub(crate) fn read_cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases/lint")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

impl CaseTree {
    pub(crate) fn write_case(case: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let tree = Self {
            root,
            case: case.clone(),
            _folder: folder,
        };
        for dir in ["home", "p", "q", "etc", tree.cwd()] {
            fs::create_dir_all(tree.root.join(dir)).unwrap();
        }
        for (name, what) in case["files"].as_object().unwrap() {
            let path = tree.root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(to) = what.get("link").and_then(Value::as_str) {
                symlink(to, path).unwrap();
            } else if let Some(parts) = what.get("repeat") {
                let times = usize::try_from(parts[1].as_u64().unwrap()).unwrap();
                fs::write(path, parts[0].as_str().unwrap().repeat(times)).unwrap();
            } else {
                fs::write(path, tree.with_root(what.as_str().unwrap())).unwrap();
            }
        }
        tree
    }

    fn cwd(&self) -> &str {
        self.case.get("cwd").and_then(Value::as_str).unwrap_or("p")
    }

    /// A text with the folder's own path in it.
    pub(crate) fn with_root(&self, text: &str) -> String {
        text.replace("ROOT", self.root.to_str().unwrap())
    }

    /// And without it again.
    pub(crate) fn without_root(&self, text: &str) -> String {
        text.replace(self.root.to_str().unwrap(), "ROOT")
    }

    /// A path of the case; a bare name stays as it is.
    pub(crate) fn resolve_name(&self, name: &str) -> PathBuf {
        if name.contains('/') {
            self.root.join(name)
        } else {
            name.into()
        }
    }

    /// The session that the case describes, with its reads played.
    pub(crate) fn load_session(&self) -> Instructions {
        let mut places = InstructionPaths::new(self.root.join(self.cwd()), self.root.join("home"));
        places.managed = Some(self.root.join("etc"));
        places.user_memories = Some(self.root.join("user-memories"));
        let list = |key: &str| -> Vec<PathBuf> {
            let list = self.case.get(key).and_then(Value::as_array);
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            names.map(|name| self.root.join(name)).collect()
        };
        places.added = list("added");
        let mut options = InstructionOptions {
            settings: self
                .case
                .get("settings")
                .map(|s| self.with_root(&s.to_string())),
            ..InstructionOptions::default()
        };
        if let Some(sources) = self.case.get("sources").and_then(Value::as_str) {
            options.sources = InstructionSources {
                user: sources.contains("user"),
                project: sources.contains("project"),
                local: sources.contains("local"),
            };
        }
        if self.case.get("approved").is_some() {
            options.external = ExternalImports::Approved;
        }
        if let Some(variables) = self.case.get("variables") {
            let read: BTreeMap<String, String> = serde_json::from_value(variables.clone()).unwrap();
            options.variables = read;
        }
        let mut session = Instructions::load(places, options);
        for file in list("reads") {
            session.on_read(&file);
        }
        session
    }
}
