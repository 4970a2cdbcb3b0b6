//! What the documents promise: the map, the names in it, the first commands.

use std::collections::BTreeSet;

use super::Complaint;
use super::tree::SourceTree;

/// Documents whose path names must exist.
const CHECKED_DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"];

/// Names in those documents that are files of the people who use Remora.
const FOREIGN_NAMES: &[&str] = &[
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

const FILE_EXTENSIONS: &[&str] = &["rs", "md", "toml", "json", "sh", "sql", "yml", "lock"];

/// The newcomer's commands, word for word.
const NEWCOMER_COMMANDS: &[&str] = &["cargo run --release -- demo", "cargo test"];

/// First folders of paths that exist on one machine only.
const MACHINE_DIRS: &[&str] = &["root", "work"];

pub(super) fn check_map(tree: &SourceTree) -> Vec<Complaint> {
    const MAP_FILE: &str = "ARCHITECTURE.md";
    let Some(map) = tree.find_file(MAP_FILE) else {
        return vec![Complaint::for_path(
            MAP_FILE,
            "write the map of the workspace",
        )];
    };
    let crates: BTreeSet<&str> = tree
        .files
        .iter()
        .filter_map(|file| file.crate_name())
        .collect();
    crates
        .iter()
        .filter(|name| !map.text.contains(&format!("`{name}`")))
        .map(|name| Complaint::for_path(MAP_FILE, format!("name `{name}` and say what it owns")))
        .collect()
}

pub(super) fn check_names(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in CHECKED_DOCUMENTS
        .iter()
        .filter_map(|path| tree.find_file(path))
    {
        for (at, text) in list_backticked(&file.text) {
            if looks_like_a_path(text) && !tree.contains_path(text) {
                complaints.push(Complaint::at_offset(
                    file,
                    at,
                    format!("`{text}` does not exist; correct the name or remove it"),
                ));
            }
        }
    }
    complaints
}

const GLOSSARY_FILE: &str = "docs/glossary.md";

/// Words that the glossary has another one for. A type or function of such a name
/// is found by nobody who searches with the field's words.
const RETIRED_NAMES: &[&str] = &[
    "Told",
    "told",
    "Given",
    "Giving",
    "GivenFile",
    "Moment",
    "Scene",
    "Ground",
    "Mind",
    "Chosen",
    "Passed",
    "Seen",
    "Truth",
    "Likeness",
    "Digester",
    "Digest",
    "Inbox",
    "Letter",
    "Intake",
    "Meaning",
    "Gister",
    "gist",
    "Light",
    "Lights",
    "Reach",
    "Spread",
    "Settled",
    "Stir",
    "Glance",
    "glance",
    "wake",
    "mend",
    "Place",
    "Found",
    "Heard",
    "Said",
    "Asked",
];

/// The types and functions that the glossary names exist.
pub(super) fn check_glossary(tree: &SourceTree) -> Vec<Complaint> {
    let Some(glossary) = tree.find_file(GLOSSARY_FILE) else {
        return vec![Complaint::for_path(GLOSSARY_FILE, "write the glossary")];
    };
    let words: BTreeSet<&str> = tree
        .rust_files()
        .flat_map(|(file, _)| file.text.split(|c: char| !is_name_char(c)))
        .collect();
    let named = list_backticked(&glossary.text).into_iter();
    named
        .filter_map(|(at, text)| Some((at, text, text.rsplit("::").next()?)))
        .filter(|(_, _, name)| is_rust_name(name) && !words.contains(name))
        .map(|(at, text, _)| {
            let advice = format!("no code is called `{text}`; correct the name or remove it");
            Complaint::at_offset(glossary, at, advice)
        })
        .collect()
}

/// Whether a text is the name of a type or of a function, not a plain word.
fn is_rust_name(text: &str) -> bool {
    let is_name = !text.is_empty() && text.chars().all(is_name_char);
    is_name && (text.starts_with(char::is_uppercase) || text.contains('_'))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Nothing is defined under a word that the glossary has another one for.
pub(super) fn check_retired_names(tree: &SourceTree) -> Vec<Complaint> {
    const DEFINED_BY: &[&str] = &["struct", "enum", "trait", "type", "fn"];
    let mut complaints = Vec::new();
    for (file, source) in tree.rust_files().filter(|(file, _)| !file.only_tests()) {
        let code = &source.code;
        for word in DEFINED_BY {
            for (at, _) in code.match_indices(&format!("{word} ")) {
                let before = code[..at].chars().next_back();
                let rest = &code[at + word.len() + 1..];
                let name = rest.split(|c: char| !is_name_char(c)).next();
                let name = name.unwrap_or_default();
                let is_tested = source.tests.iter().any(|range| range.contains(&at));
                let is_defined = !before.is_some_and(is_name_char) && !is_tested;
                if is_defined && RETIRED_NAMES.contains(&name) {
                    let advice = format!("`{name}`: take the word of {GLOSSARY_FILE}");
                    complaints.push(Complaint::at_offset(file, at, advice));
                }
            }
        }
    }
    complaints
}

/// Texts between single backticks on one line, outside fenced blocks.
fn list_backticked(text: &str) -> Vec<(usize, &str)> {
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
        && !FOREIGN_NAMES.iter().any(|name| {
            text == *name
                || (name.starts_with('.') && name.ends_with('/') && text.starts_with(name))
        })
        && (text.ends_with('/') || ending.is_some_and(|end| FILE_EXTENSIONS.contains(&end)))
}

pub(super) fn check_commands(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for path in ["README.md", ".ci/run"] {
        for command in NEWCOMER_COMMANDS {
            let said = tree
                .find_file(path)
                .is_some_and(|file| file.text.lines().any(|line| line.trim() == *command));
            if !said {
                complaints.push(Complaint::for_path(
                    path,
                    format!("give the command `{command}` a line of its own, exactly so"),
                ));
            }
        }
    }
    complaints
}

/// A checkout without symbolic links holds the target's name as text.
pub(super) fn one_page(tree: &SourceTree) -> Vec<Complaint> {
    const AGENTS_FILE: &str = "AGENTS.md";
    const LINK_FILE: &str = "CLAUDE.md";
    let linked = tree.find_file(LINK_FILE).is_some_and(|file| {
        file.link.as_deref() == Some(AGENTS_FILE)
            || (file.link.is_none() && file.text.trim() == AGENTS_FILE)
    });
    let mut complaints = Vec::new();
    if tree.find_file(AGENTS_FILE).is_none() {
        complaints.push(Complaint::for_path(
            AGENTS_FILE,
            "write the one screen of rules",
        ));
    }
    if !linked {
        complaints.push(Complaint::for_path(
            LINK_FILE,
            "make it a symbolic link to AGENTS.md and write there",
        ));
    }
    complaints
}

pub(super) fn machine_paths(tree: &SourceTree) -> Vec<Complaint> {
    let part =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '}' | ')' | '*' | '>');
    let mut complaints = Vec::new();
    for file in &tree.files {
        for folder in MACHINE_DIRS {
            for (at, _) in file.text.match_indices(&format!("/{folder}/")) {
                if !file.text[..at].chars().next_back().is_some_and(part) {
                    complaints.push(Complaint::at_offset(
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
