//! The tasks that a project defines: scripts of package managers, targets of make
//! and just, aliases and packages of cargo, and the programs it builds. Reads
//! lines of these files leniently; runs nothing, because a repository may be
//! hostile.

use std::collections::{HashMap, HashSet};

use remora_files::read_file;
use serde_json::Value;

use super::files::{TreeFile, TreeListing, file_stem, last_part};
use super::words::MAX_FILE_BYTES;

/// Whose tasks they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TaskRunner {
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
pub(super) enum TaskLookup {
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
pub(super) struct ProjectTasks {
    names: HashMap<(TaskRunner, String), String>,
    files: HashMap<TaskRunner, String>,
    unclear: HashSet<TaskRunner>,
}

impl ProjectTasks {
    pub(super) fn read_tasks(files: &TreeListing) -> Self {
        let mut tasks = Self::default();
        for entry in files.entries() {
            // Cargo and others find targets by their place, without a line in any file.
            tasks.by_place(&entry.path);
            if let Some(reader) = find_parser(&entry.path)
                && let Some(text) = read_entry_text(files, entry)
            {
                reader(&mut tasks, &entry.path, &text);
            }
        }
        tasks
    }

    pub(super) fn find_task(&self, runner: TaskRunner, name: &str) -> TaskLookup {
        if let Some(place) = self.names.get(&(runner, name.to_owned())) {
            return TaskLookup::There(place.clone());
        }
        match self.files.get(&runner) {
            // A file that includes others may get the task from there.
            Some(file) if self.unclear.contains(&runner) => TaskLookup::Unclear(file.clone()),
            Some(file) => TaskLookup::Missing(file.clone()),
            None => TaskLookup::NoFile,
        }
    }

    /// Whether the project builds or holds a program of this name.
    pub(super) fn find_program(&self, name: &str) -> Option<String> {
        match self.find_task(TaskRunner::Program, name) {
            TaskLookup::There(place) => Some(place),
            _ => None,
        }
    }

    fn add_task(&mut self, runner: TaskRunner, name: &str, place: &str) {
        let name = name.trim();
        if !name.is_empty() {
            self.names
                .entry((runner, name.to_owned()))
                // Entries are sorted, so evidence points to the same file in every run.
                .or_insert_with(|| place.to_owned());
        }
    }

    fn add_file(&mut self, runner: TaskRunner, path: &str) {
        self.files.entry(runner).or_insert_with(|| path.to_owned());
    }

    /// What the place of a file says: targets of cargo, programs in `bin`.
    fn by_place(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('/').collect();
        let Some((name, folders)) = parts.split_last() else {
            return;
        };
        let own = file_stem(name);
        let folder = folders.last().copied().unwrap_or("");
        let above = folders.len().checked_sub(2).map_or("", |i| folders[i]);
        // `src/bin/a.rs` and `src/bin/a/main.rs` are the same to cargo.
        let (kind, target) = if *name == "main.rs" {
            (above, folder)
        } else {
            (folder, own)
        };
        let rust = find_ending(name) == "rs";
        match kind {
            "bin" if rust => {
                self.add_task(TaskRunner::Bin, target, path);
                self.add_task(TaskRunner::Program, target, path);
            }
            "examples" if rust => self.add_task(TaskRunner::Example, target, path),
            "tests" if rust => self.add_task(TaskRunner::Test, target, path),
            "benches" if rust => self.add_task(TaskRunner::Bench, target, path),
            "bin" | "scripts" | "script" | "tools" => self.add_task(TaskRunner::Program, own, path),
            _ => {}
        }
        if above == "cmd" && find_ending(name) == "go" {
            self.add_task(TaskRunner::Program, folder, path);
        }
    }
}

fn find_ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

type TaskParser = fn(&mut ProjectTasks, &str, &str);

fn find_parser(path: &str) -> Option<TaskParser> {
    let name = last_part(path);
    let own: TaskParser = match name {
        "package.json" => package_json,
        "deno.json" | "deno.jsonc" => deno_json,
        "composer.json" => composer_json,
        "Makefile" | "makefile" | "GNUmakefile" => parse_makefile,
        "justfile" | "Justfile" | ".justfile" => parse_justfile,
        "Taskfile.yml" | "Taskfile.yaml" | "taskfile.yml" | "taskfile.yaml" => parse_taskfile,
        "pyproject.toml" => parse_pyproject,
        "Cargo.toml" => cargo_toml,
        "config.toml" | "config"
            if path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config") =>
        {
            cargo_config
        }
        _ if find_ending(name) == "mk" => parse_makefile,
        _ if find_ending(name) == "just" => parse_justfile,
        _ if find_ending(name) == "rs" && path.split('/').any(|p| p == "xtask") => parse_xtask,
        _ => return None,
    };
    Some(own)
}

fn read_entry_text(files: &TreeListing, entry: &TreeFile) -> Option<String> {
    if !entry.regular || entry.size > MAX_FILE_BYTES as u64 {
        return None;
    }
    let bytes = read_file(&files.root().join(&entry.path), MAX_FILE_BYTES as u64).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn list_keys<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    let object = value.get(key).and_then(Value::as_object);
    object
        .into_iter()
        .flat_map(|o| o.keys().map(String::as_str))
}

fn package_json(tasks: &mut ProjectTasks, path: &str, text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return tasks.add_broken_file(TaskRunner::Script, path);
    };
    // One without scripts, somewhere below, only pins a dependency.
    if path == "package.json" || list_keys(&value, "scripts").next().is_some() {
        tasks.add_file(TaskRunner::Script, path);
    }
    for name in list_keys(&value, "scripts") {
        tasks.add_task(TaskRunner::Script, name, path);
    }
    for name in list_keys(&value, "bin") {
        tasks.add_task(TaskRunner::Program, name, path);
    }
    if value.get("bin").is_some_and(Value::is_string)
        && let Some(name) = value.get("name").and_then(Value::as_str)
    {
        tasks.add_task(TaskRunner::Program, last_part(name), path);
    }
}

fn deno_json(tasks: &mut ProjectTasks, path: &str, text: &str) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            tasks.add_file(TaskRunner::Deno, path);
            for name in list_keys(&value, "tasks") {
                tasks.add_task(TaskRunner::Deno, name, path);
            }
        }
        Err(_) => tasks.add_broken_file(TaskRunner::Deno, path),
    }
}

fn composer_json(tasks: &mut ProjectTasks, path: &str, text: &str) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            tasks.add_file(TaskRunner::Composer, path);
            for name in list_keys(&value, "scripts") {
                tasks.add_task(TaskRunner::Composer, name, path);
            }
        }
        Err(_) => tasks.add_broken_file(TaskRunner::Composer, path),
    }
}

fn parse_makefile(tasks: &mut ProjectTasks, path: &str, text: &str) {
    tasks.add_file(TaskRunner::Make, path);
    for line in text.lines() {
        if line.starts_with(['\t', '#', ' ']) {
            continue;
        }
        // Only make itself can expand these, so no name can be said to be missing.
        if line.starts_with("include ") || line.starts_with("-include ") || line.starts_with("$(") {
            tasks.unclear.insert(TaskRunner::Make);
        }
        let Some((head, rest)) = line.split_once(':') else {
            continue;
        };
        // Assignments, not rules: `X := y`, `X ::= y`, `X = a:b`.
        if rest.starts_with('=') || rest.starts_with(":=") || head.contains('=') {
            continue;
        }
        if head.contains(['%', '$']) {
            tasks.unclear.insert(TaskRunner::Make);
            continue;
        }
        let named = if head.trim() == ".PHONY" { rest } else { head };
        for name in named.split_whitespace() {
            tasks.add_task(TaskRunner::Make, name, path);
        }
    }
}

fn parse_justfile(tasks: &mut ProjectTasks, path: &str, text: &str) {
    tasks.add_file(TaskRunner::Just, path);
    for line in text.lines() {
        let line = line.trim_end();
        if line.starts_with([' ', '\t', '#', '[']) {
            continue;
        }
        let first = line.split_whitespace().next().unwrap_or("");
        if matches!(first, "mod" | "mod?" | "import" | "import?") {
            tasks.unclear.insert(TaskRunner::Just);
            continue;
        }
        if let Some(alias) = line.strip_prefix("alias ") {
            tasks.add_task(
                TaskRunner::Just,
                alias.split(":=").next().unwrap_or(""),
                path,
            );
            continue;
        }
        let recipe = line.trim_start_matches('@');
        let end = recipe
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(recipe.len());
        let rest = &recipe[end..];
        if rest.contains(':') && !rest.trim_start().starts_with(":=") {
            tasks.add_task(TaskRunner::Just, &recipe[..end], path);
        }
    }
}

fn parse_taskfile(tasks: &mut ProjectTasks, path: &str, text: &str) {
    tasks.add_file(TaskRunner::Task, path);
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
                tasks.unclear.insert(TaskRunner::Task);
            }
            continue;
        }
        // Keys of the first level below `tasks:` are names; deeper ones belong to a task.
        if inside && *depth.get_or_insert(indent) == indent {
            let name = bare
                .strip_suffix(':')
                .or_else(|| bare.rsplit_once(": ").map(|(n, _)| n));
            tasks.add_task(
                TaskRunner::Task,
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

fn parse_pyproject(tasks: &mut ProjectTasks, path: &str, text: &str) {
    for (section, key, _) in toml_lines(text) {
        match section {
            "project.scripts"
            | "tool.poetry.scripts"
            | "project.gui-scripts"
            | "tool.pdm.scripts" => {
                tasks.add_task(TaskRunner::Program, key, path);
            }
            "tool.poe.tasks" => {
                tasks.add_file(TaskRunner::Poe, path);
                tasks.add_task(TaskRunner::Poe, key, path);
            }
            _ => {}
        }
        // A task can also be a table of its own.
        if let Some(name) = section.strip_prefix("tool.poe.tasks.") {
            tasks.add_file(TaskRunner::Poe, path);
            tasks.add_task(TaskRunner::Poe, name, path);
        }
    }
}

fn cargo_toml(tasks: &mut ProjectTasks, path: &str, text: &str) {
    for runner in [
        TaskRunner::Package,
        TaskRunner::Bin,
        TaskRunner::Example,
        TaskRunner::Test,
        TaskRunner::Bench,
    ] {
        tasks.add_file(runner, path);
    }
    for (section, key, value) in toml_lines(text) {
        let value = value.split('"').next().unwrap_or(value);
        // `-p` also takes the name of a dependency.
        if section.ends_with("dependencies") {
            let name = key.split('.').next().unwrap_or(key);
            tasks.add_task(TaskRunner::Package, name, path);
        }
        if key != "name" {
            continue;
        }
        match section {
            "package" => {
                tasks.add_task(TaskRunner::Package, value, path);
                tasks.add_task(TaskRunner::Bin, value, path);
                tasks.add_task(TaskRunner::Program, value, path);
            }
            "bin" => {
                tasks.add_task(TaskRunner::Bin, value, path);
                tasks.add_task(TaskRunner::Program, value, path);
            }
            "example" => tasks.add_task(TaskRunner::Example, value, path),
            "test" => tasks.add_task(TaskRunner::Test, value, path),
            "bench" => tasks.add_task(TaskRunner::Bench, value, path),
            _ => {}
        }
    }
}

fn cargo_config(tasks: &mut ProjectTasks, path: &str, text: &str) {
    tasks.add_file(TaskRunner::Alias, path);
    for (section, key, _) in toml_lines(text) {
        if section == "alias" {
            tasks.add_task(TaskRunner::Alias, key, path);
        } else if let Some(name) = key.strip_prefix("alias.") {
            tasks.add_task(TaskRunner::Alias, name, path);
        }
    }
}

/// Every word of the helper's sources may be one of its verbs, as written or as
/// the variant of a parsed enum. Far too many, but a name that is not even among
/// them is certainly missing.
fn parse_xtask(tasks: &mut ProjectTasks, path: &str, text: &str) {
    tasks.add_file(TaskRunner::Xtask, path);
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':'))) {
        if word.is_empty() || word.len() > 60 {
            continue;
        }
        for part in word.split(':').chain([word]) {
            tasks.add_task(TaskRunner::Xtask, part, path);
            let dashed = part.contains(['_']) || part.starts_with(|c: char| c.is_ascii_uppercase());
            if dashed {
                tasks.add_task(TaskRunner::Xtask, &to_kebab_case(part), path);
            }
        }
    }
}

fn to_kebab_case(name: &str) -> String {
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

impl ProjectTasks {
    /// The file is there and cannot be read: nothing can be said to be missing.
    fn add_broken_file(&mut self, runner: TaskRunner, path: &str) {
        self.add_file(runner, path);
        self.unclear.insert(runner);
    }
}
