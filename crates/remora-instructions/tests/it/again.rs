//! What comes again: everything after a compaction, nothing before it. And what hooks are told.

use remora_instructions::{HookNotice, LoadReason, LoadedFile, ResetReason};
use serde_json::json;

use crate::tree::Tree;

fn tree() -> Tree {
    Tree::lay(&json!({
        "name": "again",
        "files": {
            "/home/dev/.claude/CLAUDE.md": "user @~/more.md\n",
            "/home/dev/more.md": "more\n",
            "/home/dev/app/CLAUDE.md": "project\n",
            "/home/dev/app/src/CLAUDE.md": "nested\n",
            "/home/dev/app/.claude/rules/py.md": "---\npaths: \"src/**\"\n---\nrule\n",
            "/home/dev/app/src/a.py": "x\n",
            "/home/dev/.claude/projects/-home-dev-app/memory/MEMORY.md": "- index\n",
        },
        "cwd": "/home/dev/app",
        "git": ["/home/dev/app"],
    }))
}

/// Path, reason, and whether hooks hear of it.
fn short(tree: &Tree, files: &[LoadedFile]) -> Vec<String> {
    let lines = files.iter().map(|file| {
        let entry = tree.entry(file);
        let heard = match file.announce {
            HookNotice::Yes => "heard",
            HookNotice::No => "silent",
        };
        format!("{} {} {heard}", entry.path, entry.reason)
    });
    lines.collect()
}

const LATER: [&str; 2] = [
    "/home/dev/app/src/CLAUDE.md nested_traversal heard",
    "/home/dev/app/.claude/rules/py.md path_glob_match heard",
];

#[test]
fn a_compaction_reads_the_start_again_and_forgets_what_came_on_demand() {
    let tree = tree();
    let mut session = tree.load();
    let file = tree.path("/home/dev/app/src/a.py");
    assert_eq!(
        short(&tree, session.start()),
        [
            "/home/dev/.claude/CLAUDE.md session_start heard",
            "/home/dev/more.md include heard",
            "/home/dev/app/CLAUDE.md session_start heard",
            "/home/dev/.claude/projects/-home-dev-app/memory/MEMORY.md session_start silent",
        ]
    );
    assert_eq!(short(&tree, &session.on_read(&file)), LATER);
    assert!(session.on_read(&file).is_empty());
    std::fs::write(tree.path("/home/dev/app/CLAUDE.md"), "changed\n").unwrap();
    session.reset(ResetReason::Compact);
    assert_eq!(
        short(&tree, session.start()),
        [
            "/home/dev/.claude/CLAUDE.md compact heard",
            "/home/dev/more.md include heard",
            "/home/dev/app/CLAUDE.md compact heard",
            "/home/dev/.claude/projects/-home-dev-app/memory/MEMORY.md compact silent",
        ]
    );
    assert_eq!(session.start()[2].content, "changed");
    assert!(session.loaded_on_demand().is_empty());
    assert_eq!(short(&tree, &session.on_read(&file)), LATER);
}

#[test]
fn a_plain_clear_reads_again_and_tells_nobody() {
    let tree = tree();
    let mut session = tree.load();
    session.reset(ResetReason::Clear);
    let start = session.start();
    assert_eq!(start.len(), 4);
    assert!(start.iter().all(|file| file.announce == HookNotice::No));
    assert!(start.iter().all(|file| file.reason != LoadReason::Compact));
}

#[test]
fn two_sessions_know_nothing_of_each_other() {
    let tree = tree();
    let (mut one, mut other) = (tree.load(), tree.load());
    let file = tree.path("/home/dev/app/src/a.py");
    assert_eq!(short(&tree, &one.on_read(&file)), LATER);
    assert_eq!(short(&tree, &other.on_read(&file)), LATER);
}
