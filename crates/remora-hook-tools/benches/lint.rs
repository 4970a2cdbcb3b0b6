//! How long a lint of many handlers takes: every handler with a matcher, a
//! condition and a script of its own to read.
//!
//! `cargo bench -p remora-hook-tools -- 2000` takes so many handlers; 500 by
//! default.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use remora_hook_tools::lint::{LintFile, Surroundings, lint_files};
use remora_hooks::LayerSource;
use serde_json::{Value, json};

const EVENTS: [&str; 4] = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"];
const SCRIPT: &str = "#!/bin/sh\ninput=$(cat)\nif echo \"$input\" | grep -q stop_hook_active; then\n  exit 0\nfi\necho checking >&2\nexit 2\n";

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let asked = std::env::args().find_map(|a| a.parse::<usize>().ok());
    let handlers = asked.unwrap_or(500);
    let rounds = if quick { 1 } else { 50 };
    let folder = tempfile::tempdir().unwrap();
    let files = write_settings(folder.path(), handlers);
    let surroundings = Surroundings {
        project: folder.path(),
        home: Path::new("/home/me"),
        search_path: None,
        find_secret: &|_| None,
    };
    let mut took: Vec<Duration> = Vec::new();
    let mut findings = 0;
    for _ in 0..rounds {
        let start = Instant::now();
        findings = black_box(lint_files(&files, &surroundings)).len();
        took.push(start.elapsed());
    }
    took.sort();
    let (median, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    println!(
        "lint of {handlers} handlers: median {median:.1?}, slowest of {rounds} {slowest:.1?}, {findings} findings"
    );
}

fn write_settings(project: &Path, handlers: usize) -> Vec<LintFile> {
    let scripts = project.join(".claude/hooks");
    fs::create_dir_all(&scripts).unwrap();
    let mut hooks = serde_json::Map::new();
    for at in 0..handlers {
        let name = format!("h{at}.sh");
        fs::write(scripts.join(&name), SCRIPT).unwrap();
        let event = EVENTS[at % EVENTS.len()];
        let mut handler = json!({
            "type": "command",
            "command": format!("sh \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/{name}"),
            "timeout": 30,
        });
        if event.ends_with("ToolUse") {
            handler["if"] = json!("Bash(git push *)");
        }
        let group = json!({"matcher": "^(Bash|Edit|Write)$", "hooks": [handler]});
        let groups = hooks
            .entry(event)
            .or_insert_with(|| json!([]))
            .as_array_mut();
        groups.unwrap().push(group);
    }
    let text = serde_json::to_string_pretty(&json!({"hooks": Value::Object(hooks)})).unwrap();
    vec![LintFile {
        source: LayerSource::Project,
        path: project.join(".claude/settings.json"),
        plugin_root: None,
        text,
    }]
}
