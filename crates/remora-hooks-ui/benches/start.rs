//! How long the first screen takes: settings read and linted, the engine
//! compiled, one frame drawn into memory.
//!
//! `cargo bench -p remora-hooks-ui -- 500` takes so many hooks; 100 by default.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use remora_hooks::{EngineOptions, SampleSession, SettingsPaths};
use remora_hooks_ui::{HooksUi, Theme, WorkspaceOptions};
use serde_json::{Value, json};

const EVENTS: [&str; 4] = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"];

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let asked = std::env::args().find_map(|a| a.parse::<usize>().ok());
    let hooks = asked.unwrap_or(100);
    let rounds = if quick { 1 } else { 50 };
    let home = tempfile::tempdir().unwrap();
    write_settings(home.path(), hooks);
    let mut took: Vec<Duration> = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let mut ui = HooksUi::open(options(home.path()), Theme::new(true));
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| ui.draw(frame, frame.area())).unwrap();
        black_box(terminal.backend());
        took.push(start.elapsed());
    }
    took.sort();
    let (median, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    println!(
        "first frame with {hooks} hooks: median {median:.1?}, slowest of {rounds} {slowest:.1?}"
    );
}

fn options(home: &Path) -> WorkspaceOptions {
    let places = SettingsPaths::new(home.join("app"), home);
    WorkspaceOptions {
        sample: SampleSession {
            project: places.project.display().to_string(),
            transcript: home.join("transcript.jsonl"),
        },
        places,
        engine: EngineOptions::default(),
        search_path: None,
    }
}

fn write_settings(home: &Path, hooks: usize) {
    let folder = home.join("app/.claude/hooks");
    fs::create_dir_all(&folder).unwrap();
    let mut events = serde_json::Map::new();
    for at in 0..hooks {
        let script = format!("h{at}.sh");
        fs::write(
            folder.join(&script),
            "#!/bin/sh\ncat >/dev/null\necho checked >&2\n",
        )
        .unwrap();
        let command = format!("sh \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/{script}");
        let groups = events
            .entry(EVENTS[at % EVENTS.len()])
            .or_insert_with(|| json!([]));
        let group = json!({
            "matcher": format!("Tool{at}"),
            "hooks": [{ "type": "command", "command": command }],
        });
        groups.as_array_mut().unwrap().push(group);
    }
    let settings = json!({ "hooks": Value::Object(events) });
    fs::write(home.join("app/.claude/settings.json"), settings.to_string()).unwrap();
}
