//! A tree's absolute paths, moved below a temporary root and back.
//!
//! Texts, settings, arguments and the folders of auto memory move along: those are named after
//! a path.

use std::path::Path;

use remora_instructions::auto_memory::slugify_path;
use serde_json::Value;

/// Where every path of a tree lies.
const PLACES: [&str; 2] = ["/home/", "/etc/claude-code"];

/// The two directions.
pub(crate) struct Moved {
    root: String,
    /// Folders of auto memory: as the tree spells them, and below the root.
    slugs: Vec<(String, String)>,
}

impl Moved {
    pub(crate) fn new(root: &Path, case: &Value) -> Self {
        let root = root.to_str().unwrap().to_owned();
        let mut slugs: Vec<(String, String)> = Vec::new();
        for path in case["files"].as_object().unwrap().keys() {
            let Some((_, rest)) = path.split_once("/projects/") else {
                continue;
            };
            let old = rest.split('/').next().unwrap().to_owned();
            if old.starts_with('-') && slugs.iter().all(|(known, _)| *known != old) {
                let new = moved_slug(&root, &old, case);
                slugs.push((old, new));
            }
        }
        Self { root, slugs }
    }

    /// Every string in a value, keys included.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(list) => list.iter().map(|value| self.value(value)).collect(),
            Value::Object(map) => {
                let pairs = map
                    .iter()
                    .map(|(key, value)| (self.text(key), self.value(value)));
                Value::Object(pairs.collect())
            }
            other => other.clone(),
        }
    }

    pub(crate) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = PLACES.iter().filter_map(|place| rest.find(place)).min() {
            let (before, found) = rest.split_at(at);
            out.push_str(before);
            // `**/home/x` and `a/home/x` name other places.
            let inside = out.ends_with(|c: char| c.is_alphanumeric() || "*_.~-".contains(c));
            if !inside {
                out.push_str(&self.root);
            }
            out.push('/');
            rest = &found[1..];
        }
        out.push_str(rest);
        for (old, new) in &self.slugs {
            out = out.replace(&format!("/projects/{old}/"), &format!("/projects/{new}/"));
        }
        out
    }

    /// The way back.
    pub(crate) fn back(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (old, new) in &self.slugs {
            out = out.replace(&format!("/projects/{new}/"), &format!("/projects/{old}/"));
        }
        out.replace(&self.root, "")
    }
}

/// The slug of the same folder below the root. A long one ends in a hash, so the folder that it
/// stands for must be known: it is the working directory, a repository or a parent of those.
fn moved_slug(root: &str, old: &str, case: &Value) -> String {
    let git = case["git"].as_array().into_iter().flatten();
    let folders = git.chain([&case["cwd"]]).filter_map(Value::as_str);
    let known = folders
        .flat_map(|folder| Path::new(folder).ancestors())
        .find(|folder| slugify_path(folder.to_str().unwrap()) == old);
    match known {
        Some(folder) => slugify_path(&format!("{root}{}", folder.display())),
        None => format!("{}{old}", slugify_path(root)),
    }
}

#[test]
fn paths_move_and_come_back() {
    let case = serde_json::json!({
        "files": {"/home/dev/.claude/projects/-home-dev-app/memory/MEMORY.md": ""},
        "cwd": "/home/dev/app/src", "git": ["/home/dev/app"],
    });
    let moved = Moved::new(Path::new("/r"), &case);
    for (old, new) in [
        ("@/home/dev/a.md", "@/r/home/dev/a.md"),
        ("**/home/dev/a.md", "**/home/dev/a.md"),
        (
            "/etc/claude-code/x /home/*/y",
            "/r/etc/claude-code/x /r/home/*/y",
        ),
        (
            "/home/dev/.claude/projects/-home-dev-app/memory/MEMORY.md",
            "/r/home/dev/.claude/projects/-r-home-dev-app/memory/MEMORY.md",
        ),
    ] {
        assert_eq!(moved.text(old), new);
        assert_eq!(moved.back(new), old);
    }
}
