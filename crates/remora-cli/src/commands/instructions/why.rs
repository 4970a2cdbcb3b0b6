//! `remora instructions why`: whether a file is in the prompt, and why or why
//! not. Every answer is a success, except that there is no such file.

use std::fmt::Write as _;
use std::path::Path;

use remora_instructions::{FileExplanation, FileVerdict, LoadReason, Omission, PromptPosition};
use serde_json::{Value, json};

use crate::args::InstructionsWhyArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

/// The code of an answer about a file that is not there.
const MISSING_CODE: &str = "missing";

pub(super) fn run(args: &InstructionsWhyArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let mut instructions = args.place.load_instructions(&environment)?;
    args.place.replay_reads(&mut instructions);
    // A path is meant from where the user is, not from --cwd; the name of a
    // text from settings is no path.
    let listed = instructions
        .start()
        .iter()
        .any(|file| file.path == args.file);
    let file = match environment.directory() {
        Some(here) if !listed => here.join(&args.file),
        _ => args.file.clone(),
    };
    let answer = instructions.explain_file(&file);
    if args.json {
        out.print_json(&explanation_to_json(&answer))?;
    } else {
        let text = render_explanation(&answer, out);
        out.print_text(&text)?;
    }
    Ok(match &answer.verdict {
        FileVerdict::Out(why) if why.code == MISSING_CODE => Exit::Failed,
        _ => Exit::GoOn,
    })
}

fn explanation_to_json(answer: &FileExplanation) -> Value {
    let path = answer.path.to_string_lossy();
    match &answer.verdict {
        FileVerdict::In(place) => json!({
            "path": path, "verdict": "in",
            "listed": place.listed.to_string_lossy(),
            "position": place.position, "of": place.of,
            "kind": place.kind.as_str(), "reason": place.reason.as_str(),
            "imported_by": paths_to_strings(&place.chain),
            "trigger": place.trigger.as_ref().map(|p| p.to_string_lossy()),
            "globs": place.globs, "label": place.label, "tokens": place.tokens,
        }),
        FileVerdict::OnDemand {
            when,
            globs,
            touched,
        } => json!({
            "path": path, "verdict": "on_demand",
            "when": when, "globs": globs, "touched": paths_to_strings(touched),
        }),
        FileVerdict::Injected { why } => json!({
            "path": path, "verdict": "injected",
            "by": "remora", "when": "session_start", "why": why,
        }),
        FileVerdict::Out(Omission { code, why, advice }) => json!({
            "path": path, "verdict": "out",
            "code": code, "why": why, "advice": advice,
        }),
    }
}

fn paths_to_strings(list: &[impl AsRef<Path>]) -> Vec<String> {
    let paths = list.iter().map(AsRef::as_ref);
    paths
        .map(|p: &Path| p.to_string_lossy().into_owned())
        .collect()
}

fn render_explanation(answer: &FileExplanation, out: &Output) -> String {
    let (style, word) = match answer.verdict {
        FileVerdict::In(_) => (Style::Green, "in"),
        FileVerdict::OnDemand { .. } => (Style::Yellow, "on demand"),
        FileVerdict::Injected { .. } => (Style::Green, "injected"),
        FileVerdict::Out(_) => (Style::Red, "out"),
    };
    let mut text = format!("{} {}\n", out.paint(style, word), format_path(&answer.path));
    match &answer.verdict {
        FileVerdict::In(place) => push_place(&mut text, answer, place),
        FileVerdict::OnDemand { when, touched, .. } => {
            let _ = writeln!(text, "  comes when {}", escape_invisible(when));
            if !touched.is_empty() {
                let files: Vec<String> = touched.iter().map(|p| format_path(p)).collect();
                let _ = writeln!(text, "  touched so far: {}", files.join(", "));
            }
        }
        FileVerdict::Injected { why } => {
            let why = escape_invisible(why);
            let _ = writeln!(
                text,
                "  the client does not load it; Remora adds it to the session's start, {why}"
            );
        }
        FileVerdict::Out(why) => {
            let _ = writeln!(text, "  {}", escape_invisible(&why.why));
            if let Some(advice) = &why.advice {
                let _ = writeln!(
                    text,
                    "  {}",
                    out.paint(Style::Cyan, &escape_invisible(advice))
                );
            }
        }
    }
    text
}

fn push_place(text: &mut String, answer: &FileExplanation, place: &PromptPosition) {
    if place.listed != answer.path {
        let _ = writeln!(text, "  as {}", format_path(&place.listed));
    }
    let _ = writeln!(
        text,
        "  {} of {} in the prompt, about {} tokens",
        place.position, place.of, place.tokens
    );
    for parent in &place.chain {
        let _ = writeln!(text, "  imported by {}", format_path(parent));
    }
    match (&place.trigger, place.reason) {
        (Some(trigger), LoadReason::PathGlobMatch) => {
            let globs = escape_invisible(&place.globs.join(", "));
            let _ = writeln!(text, "  {} matches {globs}", format_path(trigger));
        }
        (Some(trigger), _) => {
            let _ = writeln!(text, "  {} was touched", format_path(trigger));
        }
        (None, _) => {
            let _ = writeln!(text, "  {}", place.label);
        }
    }
}

fn format_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}
