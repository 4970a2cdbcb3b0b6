//! `remora context`: exactly what would be injected into a session at a
//! trigger, and why each item was selected or not. Writes nothing.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use remora_app::App;
use remora_app::preview::{PreviewRequest, PreviewResponse, PreviewTrigger, RecallSwitch};
use remora_core::time::format_date;
use remora_memory::recall::{Freshness, Selected};

use super::data::DataDir;
use super::install::find_agent;
use super::show::lines::{flatten_text, hang_at};
use crate::args::{ContextArgs, ContextEvent};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF_VARIABLE, RECALL_VARIABLE};
use crate::output::{self, Output, Style, escape_invisible};
use crate::tools::find_tool_prefix;

/// The most that is read from stdin.
const MAX_STDIN_BYTES: u64 = 16 * 1024 * 1024;

pub(super) fn run(args: &ContextArgs, out: &mut Output) -> Result<Exit, CliError> {
    let DataDir { app, environment } = DataDir::open()?;
    let off = environment.is_on(OFF_VARIABLE) || environment.is_off(RECALL_VARIABLE);
    let found = app.preview(&PreviewRequest {
        trigger: parse_trigger(args)?,
        session: args.session.clone(),
        tool_prefix: choose_tool_prefix(args, &app, &environment)?,
        switch: if off {
            RecallSwitch::Off
        } else {
            RecallSwitch::On
        },
    })?;
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    if found.paused {
        output::print_note(
            "Remora is paused here: nothing is injected now; `remora pause --status` says more",
        );
    }
    let here = environment.directory();
    if let (Some(file), Some(here)) = (&args.file, here)
        && !here.join(file).exists()
    {
        output::print_note(&format!("{}: no such file", escape_invisible(file)));
    }
    if args.text {
        let text = found.text.unwrap_or_default();
        if !text.is_empty() {
            out.print_text(&format!("{text}\n"))?;
        }
    } else {
        print_result(&found, out)?;
    }
    Ok(Exit::GoOn)
}

fn parse_trigger(args: &ContextArgs) -> Result<PreviewTrigger, CliError> {
    if let Some(prompt) = &args.prompt {
        return Ok(PreviewTrigger::Prompt(prompt.clone()));
    }
    if let Some(task) = &args.task {
        return Ok(PreviewTrigger::Subagent(Some(task.clone())));
    }
    if let Some(path) = &args.file {
        return Ok(PreviewTrigger::Read(path.clone()));
    }
    if let Some(error) = &args.error {
        return Ok(PreviewTrigger::Failure {
            command: args.command.clone().unwrap_or_default(),
            error: read_error(error)?,
        });
    }
    let needs = |what| {
        let text = format!(
            "{what} is about one session: name it with --session ID (`remora sessions` lists them)"
        );
        Err(CliError::Usage(text))
    };
    Ok(match (args.event, &args.session) {
        (ContextEvent::Start, _) => PreviewTrigger::Start,
        (ContextEvent::Resume, None) => return needs("--event resume"),
        (ContextEvent::Compact, None) => return needs("--event compact"),
        (ContextEvent::Subagent, None) => return needs("--event subagent"),
        (ContextEvent::Resume, _) => PreviewTrigger::Resume,
        (ContextEvent::Compact, _) => PreviewTrigger::Compact,
        (ContextEvent::Subagent, _) => PreviewTrigger::Subagent(None),
    })
}

fn read_error(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_STDIN_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How the names of our tools begin in the imagined session: that of the agent
/// that was named, else of the one that was here last.
fn choose_tool_prefix(
    args: &ContextArgs,
    app: &App,
    environment: &Environment,
) -> Result<Option<&'static str>, CliError> {
    let spec = match &args.agent {
        Some(name) => Some(find_agent(name)?),
        None => app.guess_agent()?,
    };
    let Some((spec, here)) = spec.zip(environment.directory()) else {
        return Ok(None);
    };
    let root = app.locate_folder(here).project.root;
    Ok(find_tool_prefix(
        environment,
        &app.paths,
        spec,
        Path::new(&root),
    ))
}

fn print_result(preview: &PreviewResponse, out: &mut Output) -> Result<(), CliError> {
    let mut text = String::new();
    let found = &preview.found;
    if let Some(intent) = preview.intent {
        let mut read = format!("read as {intent}");
        if let (Some(tier), Some(why)) = (preview.tier, preview.tier_why) {
            let _ = write!(read, ", {} tier: {why}", tier.name());
        }
        let _ = writeln!(text, "{}", out.paint(Style::Dim, &read));
    }
    match &found.text {
        Some(context) => {
            let cost = format!("{} tokens, as the model gets it:", preview.tokens);
            let _ = writeln!(text, "{}", out.paint(Style::Dim, &cost));
            let _ = writeln!(text, "{}", escape_invisible(context));
        }
        None => text.push_str("Nothing would be injected.\n"),
    }
    if !found.given.is_empty() {
        let _ = writeln!(text, "\n{}", out.paint(Style::Bold, "Why each was chosen"));
    }
    for selected in &found.given {
        let reason = format!(
            "{} ({} tokens{}){}",
            selected.why,
            selected.tokens,
            format_freshness(selected),
            format_parts(&selected.parts)
        );
        text.push_str(&format_reason(&selected.item, &reason, out));
    }
    if !found.passed.is_empty() {
        let _ = writeln!(
            text,
            "\n{}",
            out.paint(Style::Bold, "Looked at and left out")
        );
    }
    for rejected in &found.passed {
        let reason = format!(
            "{}: {}{}",
            rejected.title,
            rejected.why,
            format_parts(&rejected.parts)
        );
        text.push_str(&format_reason(&rejected.item, &reason, out));
    }
    out.print_text(&text)
}

/// What is said of an item, behind its name.
fn format_reason(item: &str, reason: &str, out: &Output) -> String {
    let name = flatten_text(item);
    let lines = hang_at(2, &format!("{name} "), &flatten_text(reason));
    lines.replacen(&name, &out.paint(Style::Cyan, &name), 1)
}

fn format_freshness(selected: &Selected) -> String {
    match selected.truth {
        Freshness::Holds | Freshness::Gone => String::new(),
        Freshness::Unchecked => ", file not compared".to_owned(),
        Freshness::Changed(when) => format!(", file changed {}", format_date(when)),
    }
}

fn format_parts(parts: &[(&str, f64)]) -> String {
    let reason: Vec<String> = parts
        .iter()
        .filter(|(_, part)| *part > 0.0)
        .map(|(name, part)| format!("{name} {part:.2}"))
        .collect();
    if reason.is_empty() {
        return String::new();
    }
    format!(" [{}]", reason.join(", "))
}
