//! `.pre-commit-hooks.yaml`: its entries are commands that there are, and fail where they
//! should.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, command, guard, on};

const FILE: &str = "../../.pre-commit-hooks.yaml";
const SETTINGS: &str = ".claude/settings.json";

/// One entry, as far as it is about us.
#[derive(Default)]
struct Entry {
    id: String,
    words: Vec<String>,
    takes_files: bool,
}

fn read_entries() -> Vec<Entry> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let mut entries: Vec<Entry> = Vec::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let Some((key, value)) = line.split_once(": ") else {
            continue;
        };
        if key == "- id" {
            entries.push(Entry {
                id: value.to_owned(),
                takes_files: true,
                ..Entry::default()
            });
            continue;
        }
        let entry = entries.last_mut().unwrap();
        match (key.trim(), value) {
            ("entry", _) => entry.words = value.split(' ').map(str::to_owned).collect(),
            ("pass_filenames", "false") => entry.takes_files = false,
            ("language", language) => assert_eq!(language, "system", "{}", entry.id),
            _ => {}
        }
    }
    entries
}

#[test]
fn each_entry_passes_where_hooks_are_fine_and_fails_where_they_are_not() {
    let entries = read_entries();
    let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["remora-hooks-lint", "remora-hooks-test"]);
    for entry in &entries {
        let sandbox = Sandbox::new();
        sandbox.write(
            "project/.claude/hooks.test.yaml",
            "cases:\n  - name: all is blocked\n    event: PreToolUse\n    command: ls\n    expect: {blocked: true}\n",
        );
        let mut words: Vec<&str> = entry.words.iter().map(String::as_str).collect();
        assert_eq!(words.remove(0), "remora", "{}", entry.id);
        if entry.takes_files {
            words.push(SETTINGS);
        }
        sandbox.project(&guard("echo 'never' >&2; exit 2"));
        let done = sandbox.remora(&words).go();
        assert_eq!(done.code, Some(0), "{}: {done}", entry.id);
        // Never matches, so it blocks nothing.
        sandbox.project(&on("PreToolUse", "Bash(ls)", &[command("exit 2")]));
        let done = sandbox.remora(&words).go();
        assert_eq!(done.code, Some(1), "{}: {done}", entry.id);
    }
}
