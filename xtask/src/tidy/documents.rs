//! What the documents promise: the map, the names in it, the first commands.

use std::collections::BTreeSet;

use super::Complaint;
use super::tree::Tree;

/// Documents whose path names must exist.
const CHECKED: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"];

/// Names in those documents that are files of the people who use Remora.
const FOREIGN: &[&str] = &[
    ".claude/",
    ".claude.json",
    "settings.json",
    "settings.local.json",
    "managed-settings.json",
    "managed-settings.d/",
    "hooks.json",
    "hooks/hooks.json",
    "plugin.json",
    "MEMORY.md",
];

const ENDINGS: &[&str] = &["rs", "md", "toml", "json", "sh", "sql", "yml", "lock"];

/// The newcomer's commands, word for word.
const COMMANDS: &[&str] = &["cargo run --release -- demo", "cargo test"];

/// First folders of paths that exist on one machine only.
const MACHINE: &[&str] = &["root", "work"];

pub(super) fn map(tree: &Tree) -> Vec<Complaint> {
    const MAP: &str = "ARCHITECTURE.md";
    let Some(map) = tree.file(MAP) else {
        return vec![Complaint::of(MAP, "write the map of the workspace")];
    };
    let crates: BTreeSet<&str> = tree.files.iter().filter_map(|file| file.krate()).collect();
    crates
        .iter()
        .filter(|name| !map.text.contains(&format!("`{name}`")))
        .map(|name| Complaint::of(MAP, format!("name `{name}` and say what it owns")))
        .collect()
}

pub(super) fn names(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in CHECKED.iter().filter_map(|path| tree.file(path)) {
        for (at, text) in backticked(&file.text) {
            if looks_like_a_path(text) && !tree.has(text) {
                complaints.push(Complaint::at(
                    file,
                    at,
                    format!("`{text}` does not exist; correct the name or remove it"),
                ));
            }
        }
    }
    complaints
}

/// Texts between single backticks on one line, outside fenced blocks.
fn backticked(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut offset = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let mut at = offset;
            for (i, piece) in line.split('`').enumerate() {
                if i % 2 == 1 {
                    found.push((at, piece));
                }
                at += piece.len() + 1;
            }
        }
        offset += line.len();
    }
    found
}

fn looks_like_a_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let ending = text.rsplit_once('.').map(|(_, end)| end);
    !text.is_empty()
        && text.chars().all(plain)
        && !text.starts_with('/')
        && !FOREIGN.iter().any(|name| {
            text == *name
                || (name.starts_with('.') && name.ends_with('/') && text.starts_with(name))
        })
        && (text.ends_with('/') || ending.is_some_and(|end| ENDINGS.contains(&end)))
}

pub(super) fn commands(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for path in ["README.md", ".ci/run"] {
        for command in COMMANDS {
            let said = tree
                .file(path)
                .is_some_and(|file| file.text.lines().any(|line| line.trim() == *command));
            if !said {
                complaints.push(Complaint::of(
                    path,
                    format!("give the command `{command}` a line of its own, exactly so"),
                ));
            }
        }
    }
    complaints
}

/// A checkout without symbolic links holds the target's name as text.
pub(super) fn one_page(tree: &Tree) -> Vec<Complaint> {
    const PAGE: &str = "AGENTS.md";
    const LINK: &str = "CLAUDE.md";
    let linked = tree.file(LINK).is_some_and(|file| {
        file.link.as_deref() == Some(PAGE) || (file.link.is_none() && file.text.trim() == PAGE)
    });
    let mut complaints = Vec::new();
    if tree.file(PAGE).is_none() {
        complaints.push(Complaint::of(PAGE, "write the one screen of rules"));
    }
    if !linked {
        complaints.push(Complaint::of(
            LINK,
            "make it a symbolic link to AGENTS.md and write there",
        ));
    }
    complaints
}

pub(super) fn machine_paths(tree: &Tree) -> Vec<Complaint> {
    let part =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '}' | ')' | '*' | '>');
    let mut complaints = Vec::new();
    for file in &tree.files {
        for folder in MACHINE {
            for (at, _) in file.text.match_indices(&format!("/{folder}/")) {
                if !file.text[..at].chars().next_back().is_some_and(part) {
                    complaints.push(Complaint::at(
                        file,
                        at,
                        format!("a path under /{folder} exists on one machine only; use a relative or a made-up one"),
                    ));
                }
            }
        }
    }
    complaints
}
