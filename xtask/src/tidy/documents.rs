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

/// The same for fields and variants, which are lower case in the one and upper
/// case in the other.
const RETIRED_MEMBERS: &[&str] = &[
    "told", "given", "giving", "scene", "ground", "mended", "gist", "digest", "digester", "inbox",
    "intake", "letters", "moment", "moments", "person", "nobody", "somebody", "truth", "likeness",
    "poke", "glance", "heard", "stands",
];

/// Where members carry such a word all the same, and why.
const NAMED_AS_WRITTEN: &[(&str, &str)] = &[
    (
        "crates/remora-memory/",
        "weights, JSON and columns that are stored have these names",
    ),
    (
        "crates/remora-store/",
        "columns that are stored have these names",
    ),
    (
        "crates/remora-cli/src/commands/bench/",
        "sets of situations are written with these keys",
    ),
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
        .flat_map(|(at, text)| {
            let expanded = expand_names(text).into_iter();
            expanded.map(move |name| (at, text, name))
        })
        .filter(|(_, _, name)| is_rust_name(name) && !words.contains(name))
        .map(|(at, text, name)| {
            let advice = if text.ends_with('}') {
                format!("no code is called `{name}` of `{text}`; correct the name or remove it")
            } else {
                format!("no code is called `{text}`; correct the name or remove it")
            };
            Complaint::at_offset(glossary, at, advice)
        })
        .collect()
}

/// The names that code must have: of `a::B` it is `B`, of `A::{B, C}` all three.
fn expand_names(text: &str) -> Vec<&str> {
    let listed = text
        .strip_suffix('}')
        .and_then(|text| text.split_once("::{"));
    let (path, members) = listed.unwrap_or((text, ""));
    let owner = path.rsplit("::").next().into_iter();
    let members = members.split(',').map(str::trim);
    owner
        .chain(members)
        .filter(|name| !name.is_empty())
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
                let has_members = matches!(*word, "struct" | "enum");
                let is_checked = !NAMED_AS_WRITTEN
                    .iter()
                    .any(|(folder, _)| file.path.starts_with(folder));
                if is_defined && has_members && is_checked {
                    let start = code.len() - rest.len();
                    let retired = list_members(code, start).into_iter().filter(|(_, name)| {
                        RETIRED_MEMBERS.contains(&name.to_ascii_lowercase().as_str())
                    });
                    for (at, name) in retired {
                        let advice = format!("`{name}`: take the word of {GLOSSARY_FILE}");
                        complaints.push(Complaint::at_offset(file, at, advice));
                    }
                }
            }
        }
    }
    complaints
}

/// The fields of the struct, or the variants of the enum, whose name is at
/// `start`; none for a type without braces. Comments and literals are blank in
/// `code`.
fn list_members(code: &str, start: usize) -> Vec<(usize, &str)> {
    let mut members = Vec::new();
    let Some(open) = code[start..].find(['{', ';', '(']).map(|at| at + start) else {
        return members;
    };
    if !code[open..].starts_with('{') {
        return members;
    }
    // How many brackets are open, this type's own included. Commas between type
    // arguments separate no members, so angle brackets count; those of `->` do not.
    let mut depth = 1_usize;
    let mut expects_member = true;
    let mut at = open + 1;
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        if expects_member && depth == 1 && is_name_char(c) {
            let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            if &rest[..end] == "pub" {
                // `pub(super)` and its like.
                let scope = rest[end..]
                    .strip_prefix('(')
                    .and_then(|rest| rest.find(')'));
                at += end + scope.map_or(0, |close| close + 2);
            } else {
                members.push((at, &rest[..end]));
                expects_member = false;
                at += end;
            }
            continue;
        }
        match c {
            _ if rest.starts_with("->") => at += 1,
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth -= 1,
            ',' if depth == 1 => expects_member = true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        at += c.len_utf8();
    }
    members
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
