//! `remora demo`: a recorded session, played through the engine, another one
//! through memory, and a third one that is given what the second one left; in a
//! folder of its own. Nothing of the person's is read or changed.

mod memory;
mod second;

use std::fs;
use std::path::Path;

use remora_client::Paths;
use remora_hooks::{Engine, Host, Options, Places};
use remora_protocol::Event;
use remora_protocol::record::Item;
use serde_json::json;

use super::hooks::show;
use crate::args::Demo;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

const SETTINGS: &str = include_str!("demo/settings.json");
const GUARD: &str = include_str!("demo/guard.sh");
const SESSION: &str = include_str!("demo/session.jsonl");
/// As the session that is remembered left it.
const RETRY: &str = "pub fn attempts(limit: u32) -> u32 {\n    let mut n = 0;\n    while n < limit {\n        n += 1;\n    }\n    n\n}\n";

pub(super) fn run(args: &Demo, out: &mut Output) -> Result<Exit, CliError> {
    let folder = tempfile::Builder::new().prefix("remora-demo-").tempdir()?;
    crate::signals::watch(Some(folder.path().to_path_buf()))?;
    let home = folder.path().join("home");
    let project = folder.path().join("project");
    write(&project.join(".claude/settings.json"), SETTINGS)?;
    write(&project.join(".claude/hooks/guard.sh"), GUARD)?;
    // The same logger in the user's settings: it must run once, not twice.
    let user = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat > /dev/null","statusMessage":"log the call"}]}]}}"#;
    write(&home.join(".claude/settings.json"), user)?;
    let engine = Engine::load(Places::new(&project, &home), Options::default())?;
    let host = Host {
        environment: Environment::read().for_handlers(&home),
        session_dir: Some(folder.path().join("session")),
        ..Host::default()
    };
    let mut counts = (0, 0, 0);
    for line in SESSION.lines().filter(|l| !l.is_empty()) {
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
            .filter(|h| h.status != remora_hooks::Status::Skipped)
            .count();
        counts.2 += usize::from(super::hooks::exit_of(&report.outcome) == Exit::Blocked);
        if args.json {
            out.json(&report)?;
        } else {
            let said = out.paint(Style::Dim, &format!("── {said}"));
            let text = format!("{said}\n{}\n", show::report(&report, out));
            out.text(&text)?;
        }
    }
    if !args.json {
        out.text(&format!("{} events, {} handlers run, {} blocked. Try your own: remora hooks try PreToolUse --command 'rm -rf /'\n", counts.0, counts.1, counts.2))?;
    }
    // A repository of its own, whatever the folder of temporary files lies in.
    write(&project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    write(&project.join("src/retry.rs"), RETRY)?;
    let paths = Paths::new(folder.path().join("data"));
    remembered(&memory::remember(&paths, &project)?, args, out)?;
    recalled(&second::play(&paths, &project)?, args, out)?;
    Ok(Exit::GoOn)
}

/// What memory keeps of another session: a bug, its cause and its end.
fn remembered(items: &[Item], args: &Demo, out: &mut Output) -> Result<(), CliError> {
    if args.json {
        return out.json(&json!({ "memory": items }));
    }
    let head = out.paint(Style::Dim, "── what memory keeps of a session");
    out.text(&format!("\n{head}\n"))?;
    for item in items {
        let id = out.paint(Style::Cyan, &format!("#{}", item.id));
        let title = out.paint(Style::Bold, &item.title);
        out.text(&format!("{id} {}: {title}\n", item.kind))?;
        for fact in item.facts.iter().take(3) {
            out.text(&format!("     {fact}\n"))?;
        }
    }
    Ok(())
}

/// What the next session is given of it.
fn recalled(steps: &[second::Step], args: &Demo, out: &mut Output) -> Result<(), CliError> {
    if args.json {
        let steps: Vec<_> = steps
            .iter()
            .map(|step| json!({ "moment": step.moment, "given": step.given }))
            .collect();
        return out.json(&json!({ "recall": steps }));
    }
    let head = out.paint(Style::Dim, "── the next session remembers");
    out.text(&format!("\n{head}\n"))?;
    for step in steps {
        let what = out.paint(Style::Bold, step.what);
        let given = step.given.as_deref().unwrap_or("nothing is given");
        out.text(&format!("{what}\n"))?;
        for line in given.lines() {
            out.text(&format!("     {line}\n"))?;
        }
    }
    out.text("\nNo key, no network. Yours: remora install claude-code\n")
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(path, text)?)
}
