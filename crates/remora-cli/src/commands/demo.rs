//! `remora demo`: a recorded session, played through the engine, another one
//! through memory, and a third one into which what the second one left is injected; in a
//! folder of its own. Nothing of the user's is read or changed.

mod memory;
mod second;

use std::fs;
use std::path::{Path, PathBuf};

use remora_agents::recorded_agent;
use remora_client::DataPaths;
use remora_core::Event;
use remora_core::record::Item;
use remora_hooks::{Engine, EngineOptions, Host, SettingsPaths, names};
use serde_json::json;

use super::hooks::show;
use crate::args::DemoArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

const SETTINGS_JSON: &str = include_str!("demo/settings.json");
const GUARD_SCRIPT: &str = include_str!("demo/guard.sh");
const SESSION_EVENTS: &str = include_str!("demo/session.jsonl");
/// As the session that is remembered left it.
const RETRY_SOURCE: &str = "pub fn attempts(limit: u32) -> u32 {\n    let mut n = 0;\n    while n < limit {\n        n += 1;\n    }\n    n\n}\n";

pub(super) fn run(args: &DemoArgs, out: &mut Output) -> Result<Exit, CliError> {
    let folder = tempfile::Builder::new().prefix("remora-demo-").tempdir()?;
    crate::signals::watch_signals(Some(folder.path().to_path_buf()))?;
    let home = folder.path().join("home");
    let project = folder.path().join("project");
    write_file(
        &settings_dir(&project).join(names::SETTINGS_FILE),
        SETTINGS_JSON,
    )?;
    write_file(&settings_dir(&project).join("hooks/guard.sh"), GUARD_SCRIPT)?;
    // The same logger in the user's settings: it must run once, not twice.
    let user = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat > /dev/null","statusMessage":"log the call"}]}]}}"#;
    write_file(&settings_dir(&home).join(names::SETTINGS_FILE), user)?;
    let engine = Engine::load(
        SettingsPaths::new(&project, &home),
        EngineOptions::default(),
    )?;
    let host = Host {
        environment: Environment::from_process().for_handlers(&home),
        session_dir: Some(folder.path().join("session")),
        ..Host::default()
    };
    let mut counts = (0, 0, 0);
    for line in SESSION_EVENTS.lines().filter(|l| !l.is_empty()) {
        let (said, json) = line.split_once('\t').unwrap_or(("", line));
        let event = Event::decode(
            json.replace("$PROJECT", &project.to_string_lossy())
                .as_bytes(),
            None,
        )?;
        let report = engine.run(&event, &host).report;
        counts.0 += 1;
        counts.1 += report
            .handlers
            .iter()
            .filter(|h| h.status != remora_hooks::HandlerStatus::Skipped)
            .count();
        counts.2 += usize::from(super::hooks::exit_of(&report.outcome) == Exit::Blocked);
        if args.json {
            out.print_json(&report)?;
        } else {
            let said = out.paint(Style::Dim, &format!("── {said}"));
            let text = format!("{said}\n{}\n", show::render_report(&report, out));
            out.print_text(&text)?;
        }
    }
    if !args.json {
        out.print_text(&format!("{} events, {} handlers run, {} blocked. Try your own: remora hooks try PreToolUse --command 'rm -rf /'\n", counts.0, counts.1, counts.2))?;
    }
    // A repository of its own, whatever the folder of temporary files lies in.
    write_file(&project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    write_file(&project.join("src/retry.rs"), RETRY_SOURCE)?;
    let paths = DataPaths::new(folder.path().join("data"));
    print_remembered(&memory::store_session(&paths, &project)?, args, out)?;
    print_recalled(&second::play_session(&paths, &project)?, args, out)?;
    Ok(Exit::GoOn)
}

/// What memory keeps of another session: a bug, its cause and its end.
fn print_remembered(items: &[Item], args: &DemoArgs, out: &mut Output) -> Result<(), CliError> {
    if args.json {
        return out.print_json(&json!({ "memory": items }));
    }
    let head = out.paint(Style::Dim, "── what memory keeps of a session");
    out.print_text(&format!("\n{head}\n"))?;
    for item in items {
        let id = out.paint(Style::Cyan, &format!("#{}", item.id));
        let title = out.paint(Style::Bold, &item.title);
        out.print_text(&format!("{id} {}: {title}\n", item.kind))?;
        for fact in item.facts.iter().take(3) {
            out.print_text(&format!("     {fact}\n"))?;
        }
    }
    Ok(())
}

/// What is injected of it into the next session.
fn print_recalled(
    steps: &[second::DemoStep],
    args: &DemoArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        let steps: Vec<_> = steps
            .iter()
            .map(|step| json!({ "moment": step.trigger, "given": step.injected }))
            .collect();
        return out.print_json(&json!({ "recall": steps }));
    }
    let head = out.paint(Style::Dim, "── the next session remembers");
    out.print_text(&format!("\n{head}\n"))?;
    for step in steps {
        let what = out.paint(Style::Bold, step.what);
        let injected = step.injected.as_deref().unwrap_or("nothing is injected");
        out.print_text(&format!("{what}\n"))?;
        for line in injected.lines() {
            out.print_text(&format!("     {line}\n"))?;
        }
    }
    let agent = recorded_agent().name;
    out.print_text(&format!(
        "\nNo key, no network. Yours: remora install {agent}\n"
    ))
}

/// Where a project or a user keeps settings.
fn settings_dir(folder: &Path) -> PathBuf {
    folder.join(names::SETTINGS_DIR)
}

fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(path, text)?)
}
