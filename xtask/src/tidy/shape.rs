//! How large files are, how they begin and what they are called.

use std::collections::{BTreeMap, BTreeSet};

use super::Complaint;
use super::source::{Source, line_of};
use super::tree::{File, Tree};

/// Lines outside tests.
const MOST_LINES: usize = 600;

/// Files that may be longer, each with its reason. Tables only.
const LONG_FILES: &[(&str, &str)] = &[];

/// Bytes of one fixture.
const LARGEST_FIXTURE: u64 = 4 * 1024 * 1024;

const EMPTY_NAMES: &[&str] = &[
    "utils", "util", "common", "helpers", "manager", "misc", "types",
];

pub(super) fn size(tree: &Tree) -> Vec<Complaint> {
    size_with(tree, LONG_FILES)
}

/// With its own list of exceptions, so that a test can show both directions.
pub(super) fn size_with(tree: &Tree, long_files: &[(&str, &str)]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in tree.rust().filter(|(file, _)| !file.only_tests()) {
        let lines = lines_outside_tests(file, source);
        let listed = long_files.iter().any(|(path, _)| *path == file.path);
        if lines > MOST_LINES && !listed {
            complaints.push(Complaint::of(
                &file.path,
                format!(
                    "{lines} lines outside tests, {MOST_LINES} are allowed; split it by what it owns, or list a table in LONG_FILES of xtask's shape.rs"
                ),
            ));
        } else if lines <= MOST_LINES && listed {
            complaints.push(Complaint::of(
                &file.path,
                "short enough now; remove it from LONG_FILES of xtask's shape.rs",
            ));
        }
    }
    for (path, _) in long_files {
        if tree.file(path).is_none() {
            complaints.push(Complaint::of(
                *path,
                "gone; remove it from LONG_FILES of xtask's shape.rs",
            ));
        }
    }
    complaints
}

fn lines_outside_tests(file: &File, source: &Source) -> usize {
    let tests: usize = source
        .tests
        .iter()
        .map(|range| line_of(&file.text, range.end) - line_of(&file.text, range.start) + 1)
        .sum();
    file.text.lines().count().saturating_sub(tests)
}

pub(super) fn headers(tree: &Tree) -> Vec<Complaint> {
    tree.rust()
        .filter(|(file, _)| !file.only_tests() && !file.text.starts_with("//!"))
        .map(|(file, _)| {
            Complaint::of(
                &file.path,
                "begin with `//!`: what this file owns, and what it must not do",
            )
        })
        .collect()
}

pub(super) fn names(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, _) in tree.rust() {
        if file.name() == "mod.rs" {
            complaints.push(Complaint::of(
                &file.path,
                "call it by its folder's name and put it beside the folder",
            ));
        }
        let empty = file
            .path
            .trim_end_matches(".rs")
            .split('/')
            .find(|part| EMPTY_NAMES.contains(part));
        if let Some(part) = empty {
            complaints.push(Complaint::of(
                &file.path,
                format!("`{part}` could hold anything; name it after what it owns"),
            ));
        }
    }
    complaints
}

pub(super) fn fixtures(tree: &Tree) -> Vec<Complaint> {
    tree.files
        .iter()
        .filter(|file| file.path.starts_with("fixtures/") && file.size > LARGEST_FIXTURE)
        .map(|file| {
            Complaint::of(
                &file.path,
                format!(
                    "{} bytes, {LARGEST_FIXTURE} are allowed; split it or keep fewer cases",
                    file.size
                ),
            )
        })
        .collect()
}

/// The folders under `migrations/` hold the same file names, numbered from 1
/// without a gap.
pub(super) fn migrations(tree: &Tree) -> Vec<Complaint> {
    const ROOT: &str = "crates/remora-store/migrations/";
    let mut backends: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in &tree.files {
        let own = file.path.strip_prefix(ROOT);
        if let Some((backend, name)) = own.and_then(|rest| rest.split_once('/')) {
            backends.entry(backend).or_default().insert(name);
        }
    }
    let all: BTreeSet<&str> = backends.values().flatten().copied().collect();
    let mut complaints = Vec::new();
    for (backend, names) in &backends {
        for name in all.difference(names) {
            complaints.push(Complaint::of(
                format!("{ROOT}{backend}/{name}"),
                "missing; another backend has a migration of this name",
            ));
        }
    }
    for (i, name) in all.iter().enumerate() {
        if !name.starts_with(&format!("{:04}_", i + 1)) {
            complaints.push(Complaint::of(
                format!("{ROOT}*/{name}"),
                format!(
                    "number {:04} was expected here; leave no gap and use none twice",
                    i + 1
                ),
            ));
        }
    }
    complaints
}
