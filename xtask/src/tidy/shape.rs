//! How large files are, how they begin and what they are called.

use std::collections::{BTreeMap, BTreeSet};

use super::Complaint;
use super::source::{RustSource, line_of};
use super::tree::{SourceFile, SourceTree};

/// Lines outside tests.
const MAX_FILE_LINES: usize = 600;

/// Files that may be longer, each with its reason. Tables only.
const LONG_FILES: &[(&str, &str)] = &[];

/// Bytes of one fixture.
const MAX_FIXTURE_BYTES: u64 = 4 * 1024 * 1024;

const EMPTY_NAMES: &[&str] = &[
    "utils", "util", "common", "helpers", "manager", "misc", "types",
];

pub(super) fn check_size(tree: &SourceTree) -> Vec<Complaint> {
    size_with(tree, LONG_FILES)
}

/// With its own list of exceptions, so that a test can show both directions.
pub(super) fn size_with(tree: &SourceTree, long_files: &[(&str, &str)]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in tree.rust_files().filter(|(file, _)| !file.only_tests()) {
        let lines = lines_outside_tests(file, source);
        let listed = long_files.iter().any(|(path, _)| *path == file.path);
        if lines > MAX_FILE_LINES && !listed {
            complaints.push(Complaint::for_path(
                &file.path,
                format!(
                    "{lines} lines outside tests, {MAX_FILE_LINES} are allowed; split it by what it owns, or list a table in LONG_FILES of xtask's shape.rs"
                ),
            ));
        } else if lines <= MAX_FILE_LINES && listed {
            complaints.push(Complaint::for_path(
                &file.path,
                "short enough now; remove it from LONG_FILES of xtask's shape.rs",
            ));
        }
    }
    for (path, _) in long_files {
        if tree.find_file(path).is_none() {
            complaints.push(Complaint::for_path(
                *path,
                "gone; remove it from LONG_FILES of xtask's shape.rs",
            ));
        }
    }
    complaints
}

fn lines_outside_tests(file: &SourceFile, source: &RustSource) -> usize {
    let tests: usize = source
        .tests
        .iter()
        .map(|range| line_of(&file.text, range.end) - line_of(&file.text, range.start) + 1)
        .sum();
    file.text.lines().count().saturating_sub(tests)
}

pub(super) fn check_headers(tree: &SourceTree) -> Vec<Complaint> {
    tree.rust_files()
        .filter(|(file, _)| !file.only_tests() && !file.text.starts_with("//!"))
        .map(|(file, _)| {
            Complaint::for_path(
                &file.path,
                "begin with `//!`: what this file owns, and what it must not do",
            )
        })
        .collect()
}

pub(super) fn check_names(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, _) in tree.rust_files() {
        if file.name() == "mod.rs" {
            complaints.push(Complaint::for_path(
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
            complaints.push(Complaint::for_path(
                &file.path,
                format!("`{part}` could hold anything; name it after what it owns"),
            ));
        }
    }
    complaints
}

pub(super) fn check_fixtures(tree: &SourceTree) -> Vec<Complaint> {
    tree.files
        .iter()
        .filter(|file| file.path.starts_with("fixtures/") && file.size > MAX_FIXTURE_BYTES)
        .map(|file| {
            Complaint::for_path(
                &file.path,
                format!(
                    "{} bytes, {MAX_FIXTURE_BYTES} are allowed; split it or keep fewer cases",
                    file.size
                ),
            )
        })
        .collect()
}

/// The folders under `migrations/` hold the same file names, numbered from 1
/// without a gap.
pub(super) fn check_migrations(tree: &SourceTree) -> Vec<Complaint> {
    const MIGRATIONS_DIR: &str = "crates/remora-store/migrations/";
    let mut backends: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in &tree.files {
        let own = file.path.strip_prefix(MIGRATIONS_DIR);
        if let Some((backend, name)) = own.and_then(|rest| rest.split_once('/')) {
            backends.entry(backend).or_default().insert(name);
        }
    }
    let all: BTreeSet<&str> = backends.values().flatten().copied().collect();
    let mut complaints = Vec::new();
    for (backend, names) in &backends {
        for name in all.difference(names) {
            complaints.push(Complaint::for_path(
                format!("{MIGRATIONS_DIR}{backend}/{name}"),
                "missing; another backend has a migration of this name",
            ));
        }
    }
    for (i, name) in all.iter().enumerate() {
        if !name.starts_with(&format!("{:04}_", i + 1)) {
            complaints.push(Complaint::for_path(
                format!("{MIGRATIONS_DIR}*/{name}"),
                format!(
                    "number {:04} was expected here; leave no gap and use none twice",
                    i + 1
                ),
            ));
        }
    }
    complaints
}
