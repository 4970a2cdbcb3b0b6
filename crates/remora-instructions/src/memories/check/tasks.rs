//! The tasks that a project gives names to: scripts of package managers,
//! targets of make and just, aliases and packages of cargo, and the programs
//! it builds. Reads lines of these files leniently; runs nothing.

use std::collections::{HashMap, HashSet};

use remora_files::read_file;
use serde_json::Value;

use super::files::{Entry, Files, last, stem};
use super::words::LARGEST;

/// Whose tasks they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Runner {
    Script,
    Make,
    Just,
    Task,
    Deno,
    Composer,
    Poe,
    Alias,
    Xtask,
    Package,
    Bin,
    Example,
    Test,
    Bench,
    Program,
}

/// What is known about one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Named in this file.
    There(String),
    /// This file would name it and does not.
    Missing(String),
    /// Some names are only made when the file is read by its program.
    Unclear(String),
    /// The project has no such file.
    NoFile,
}

/// All tasks of a tree.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    names: HashMap<(Runner, String), String>,
    files: HashMap<Runner, String>,
    unclear: HashSet<Runner>,
}

impl Tasks {
    pub(super) fn read(files: &Files) -> Self {
        let mut tasks = Self::default();
        for entry in files.entries() {
            tasks.by_place(&entry.path);
            if let Some(reader) = reader(&entry.path)
                && let Some(text) = text(files, entry)
            {
                reader(&mut tasks, &entry.path, &text);
            }
        }
        tasks
    }

    pub(super) fn ask(&self, runner: Runner, name: &str) -> Answer {
        if let Some(place) = self.names.get(&(runner, name.to_owned())) {
            return Answer::There(place.clone());
        }
        match self.files.get(&runner) {
            Some(file) if self.unclear.contains(&runner) => Answer::Unclear(file.clone()),
            Some(file) => Answer::Missing(file.clone()),
            None => Answer::NoFile,
        }
    }

    /// Whether the project builds or holds a program of this name.
    pub(super) fn program(&self, name: &str) -> Option<String> {
        match self.ask(Runner::Program, name) {
            Answer::There(place) => Some(place),
            _ => None,
        }
    }

    fn add(&mut self, runner: Runner, name: &str, place: &str) {
        let name = name.trim();
        if !name.is_empty() {
            self.names
                .entry((runner, name.to_owned()))
                .or_insert_with(|| place.to_owned());
        }
    }

    fn has(&mut self, runner: Runner, path: &str) {
        self.files.entry(runner).or_insert_with(|| path.to_owned());
    }

    /// What the place of a file says: targets of cargo, programs in `bin`.
    fn by_place(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('/').collect();
        let Some((name, folders)) = parts.split_last() else {
            return;
        };
        let own = stem(name);
        let folder = folders.last().copied().unwrap_or("");
        let above = folders.len().checked_sub(2).map_or("", |i| folders[i]);
        // `src/bin/a.rs` and `src/bin/a/main.rs` are the same to cargo.
        let (kind, target) = if *name == "main.rs" {
            (above, folder)
        } else {
            (folder, own)
        };
        let rust = ending(name) == "rs";
        match kind {
            "bin" if rust => {
                self.add(Runner::Bin, target, path);
                self.add(Runner::Program, target, path);
            }
            "examples" if rust => self.add(Runner::Example, target, path),
            "tests" if rust => self.add(Runner::Test, target, path),
            "benches" if rust => self.add(Runner::Bench, target, path),
            "bin" | "scripts" | "script" | "tools" => self.add(Runner::Program, own, path),
            _ => {}
        }
        if above == "cmd" && ending(name) == "go" {
            self.add(Runner::Program, folder, path);
        }
    }
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

type Reader = fn(&mut Tasks, &str, &str);

fn reader(path: &str) -> Option<Reader> {
    let name = last(path);
    let own: Reader = match name {
        "package.json" => package_json,
        "deno.json" | "deno.jsonc" => deno_json,
        "composer.json" => composer_json,
        "Makefile" | "makefile" | "GNUmakefile" => makefile,
        "justfile" | "Justfile" | ".justfile" => justfile,
        "Taskfile.yml" | "Taskfile.yaml" | "taskfile.yml" | "taskfile.yaml" => taskfile,
        "pyproject.toml" => pyproject,
        "Cargo.toml" => cargo_toml,
        "config.toml" | "config"
            if path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config") =>
        {
            cargo_config
        }
        _ if ending(name) == "mk" => makefile,
        _ if ending(name) == "just" => justfile,
        _ if ending(name) == "rs" && path.split('/').any(|p| p == "xtask") => xtask,
        _ => return None,
    };
    Some(own)
}

fn text(files: &Files, entry: &Entry) -> Option<String> {
    if !entry.regular || entry.size > LARGEST as u64 {
        return None;
    }
    let bytes = read_file(&files.root().join(&entry.path), LARGEST as u64).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn keys<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    let object = value.get(key).and_then(Value::as_object);
    object
        .into_iter()
        .flat_map(|o| o.keys().map(String::as_str))
}

fn package_json(tasks: &mut Tasks, path: &str, text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return tasks.broken(Runner::Script, path);
    };
    // One without scripts, somewhere below, only pins a dependency.
    if path == "package.json" || keys(&value, "scripts").next().is_some() {
        tasks.has(Runner::Script, path);
    }
    for name in keys(&value, "scripts") {
        tasks.add(Runner::Script, name, path);
    }
    for name in keys(&value, "bin") {
        tasks.add(Runner::Program, name, path);
    }
    if value.get("bin").is_some_and(Value::is_string)
        && let Some(name) = value.get("name").and_then(Value::as_str)
    {
        tasks.add(Runner::Program, last(name), path);
    }
}

fn deno_json(tasks: &mut Tasks, path: &str, text: &str) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            tasks.has(Runner::Deno, path);
            for name in keys(&value, "tasks") {
                tasks.add(Runner::Deno, name, path);
            }
        }
        Err(_) => tasks.broken(Runner::Deno, path),
    }
}

fn composer_json(tasks: &mut Tasks, path: &str, text: &str) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            tasks.has(Runner::Composer, path);
            for name in keys(&value, "scripts") {
                tasks.add(Runner::Composer, name, path);
            }
        }
        Err(_) => tasks.broken(Runner::Composer, path),
    }
}

fn makefile(tasks: &mut Tasks, path: &str, text: &str) {
    tasks.has(Runner::Make, path);
    for line in text.lines() {
        if line.starts_with(['\t', '#', ' ']) {
            continue;
        }
        // Names that only make itself can work out.
        if line.starts_with("include ") || line.starts_with("-include ") || line.starts_with("$(") {
            tasks.unclear.insert(Runner::Make);
        }
        let Some((head, rest)) = line.split_once(':') else {
            continue;
        };
        if rest.starts_with('=') || rest.starts_with(":=") || head.contains('=') {
            continue;
        }
        if head.contains(['%', '$']) {
            tasks.unclear.insert(Runner::Make);
            continue;
        }
        let named = if head.trim() == ".PHONY" { rest } else { head };
        for name in named.split_whitespace() {
            tasks.add(Runner::Make, name, path);
        }
    }
}

fn justfile(tasks: &mut Tasks, path: &str, text: &str) {
    tasks.has(Runner::Just, path);
    for line in text.lines() {
        let line = line.trim_end();
        if line.starts_with([' ', '\t', '#', '[']) {
            continue;
        }
        let first = line.split_whitespace().next().unwrap_or("");
        if matches!(first, "mod" | "mod?" | "import" | "import?") {
            tasks.unclear.insert(Runner::Just);
            continue;
        }
        if let Some(alias) = line.strip_prefix("alias ") {
            tasks.add(Runner::Just, alias.split(":=").next().unwrap_or(""), path);
            continue;
        }
        let recipe = line.trim_start_matches('@');
        let end = recipe
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(recipe.len());
        let rest = &recipe[end..];
        if rest.contains(':') && !rest.trim_start().starts_with(":=") {
            tasks.add(Runner::Just, &recipe[..end], path);
        }
    }
}

fn taskfile(tasks: &mut Tasks, path: &str, text: &str) {
    tasks.has(Runner::Task, path);
    let mut depth = None;
    let mut inside = false;
    for line in text.lines() {
        let bare = line.trim_start();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let indent = line.len() - bare.len();
        if indent == 0 {
            inside = bare.starts_with("tasks:");
            if bare.starts_with("includes:") {
                tasks.unclear.insert(Runner::Task);
            }
            continue;
        }
        if inside && *depth.get_or_insert(indent) == indent {
            let name = bare
                .strip_suffix(':')
                .or_else(|| bare.rsplit_once(": ").map(|(n, _)| n));
            tasks.add(
                Runner::Task,
                name.unwrap_or("").trim_matches(['"', '\'']),
                path,
            );
        }
    }
}

/// Sections and keys of a TOML text, by lines: enough for names of tasks.
fn toml_lines(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut section = "";
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.starts_with('[') {
            section = line
                .split('#')
                .next()
                .unwrap_or(line)
                .trim()
                .trim_matches(['[', ']'])
                .trim();
            return None;
        }
        let (key, value) = line.split_once('=')?;
        Some((
            section,
            key.trim().trim_matches(['"', '\'']),
            value.trim().trim_matches(['"', '\'']),
        ))
    })
}

fn pyproject(tasks: &mut Tasks, path: &str, text: &str) {
    for (section, key, _) in toml_lines(text) {
        match section {
            "project.scripts"
            | "tool.poetry.scripts"
            | "project.gui-scripts"
            | "tool.pdm.scripts" => {
                tasks.add(Runner::Program, key, path);
            }
            "tool.poe.tasks" => {
                tasks.has(Runner::Poe, path);
                tasks.add(Runner::Poe, key, path);
            }
            _ => {}
        }
        if let Some(name) = section.strip_prefix("tool.poe.tasks.") {
            tasks.has(Runner::Poe, path);
            tasks.add(Runner::Poe, name, path);
        }
    }
}

fn cargo_toml(tasks: &mut Tasks, path: &str, text: &str) {
    for runner in [
        Runner::Package,
        Runner::Bin,
        Runner::Example,
        Runner::Test,
        Runner::Bench,
    ] {
        tasks.has(runner, path);
    }
    for (section, key, value) in toml_lines(text) {
        let value = value.split('"').next().unwrap_or(value);
        // `-p` also takes the name of a dependency.
        if section.ends_with("dependencies") {
            let name = key.split('.').next().unwrap_or(key);
            tasks.add(Runner::Package, name, path);
        }
        if key != "name" {
            continue;
        }
        match section {
            "package" => {
                tasks.add(Runner::Package, value, path);
                tasks.add(Runner::Bin, value, path);
                tasks.add(Runner::Program, value, path);
            }
            "bin" => {
                tasks.add(Runner::Bin, value, path);
                tasks.add(Runner::Program, value, path);
            }
            "example" => tasks.add(Runner::Example, value, path),
            "test" => tasks.add(Runner::Test, value, path),
            "bench" => tasks.add(Runner::Bench, value, path),
            _ => {}
        }
    }
}

fn cargo_config(tasks: &mut Tasks, path: &str, text: &str) {
    tasks.has(Runner::Alias, path);
    for (section, key, _) in toml_lines(text) {
        if section == "alias" {
            tasks.add(Runner::Alias, key, path);
        } else if let Some(name) = key.strip_prefix("alias.") {
            tasks.add(Runner::Alias, name, path);
        }
    }
}

/// Every word of the helper's sources may be one of its verbs, as written or
/// as the variant of a parsed enum.
fn xtask(tasks: &mut Tasks, path: &str, text: &str) {
    tasks.has(Runner::Xtask, path);
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':'))) {
        if word.is_empty() || word.len() > 60 {
            continue;
        }
        for part in word.split(':').chain([word]) {
            tasks.add(Runner::Xtask, part, path);
            let dashed = part.contains(['_']) || part.starts_with(|c: char| c.is_ascii_uppercase());
            if dashed {
                tasks.add(Runner::Xtask, &kebab(part), path);
            }
        }
    }
}

fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.chars().enumerate() {
        if c == '_' {
            text.push('-');
        } else {
            if c.is_ascii_uppercase() && at > 0 {
                text.push('-');
            }
            text.push(c.to_ascii_lowercase());
        }
    }
    text
}

impl Tasks {
    /// The file is there and cannot be read: nothing can be said to be missing.
    fn broken(&mut self, runner: Runner, path: &str) {
        self.has(runner, path);
        self.unclear.insert(runner);
    }
}
