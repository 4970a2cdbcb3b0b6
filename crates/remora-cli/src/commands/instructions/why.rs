//! `remora instructions why`: whether a file is in the prompt, and why or why
//! not. Every answer is a success, except that there is no such file.

use std::fmt::Write as _;
use std::path::Path;

use remora_instructions::{Answer, Out, Place, Reason, Verdict};
use serde_json::{Value, json};

use crate::args::InstructionsWhy;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

/// The code of an answer about a file that is not there.
const MISSING: &str = "missing";

pub(super) fn run(args: &InstructionsWhy, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::read();
    let mut instructions = args.place.load(&environment)?;
    args.place.play(&mut instructions);
    // A path is meant from where the person is, not from --cwd; the name of a
    // text from settings is no path.
    let listed = instructions
        .start()
        .iter()
        .any(|file| file.path == args.file);
    let file = match environment.directory() {
        Some(here) if !listed => here.join(&args.file),
        _ => args.file.clone(),
    };
    let answer = instructions.why(&file);
    if args.json {
        out.json(&json(&answer))?;
    } else {
        let text = text(&answer, out);
        out.text(&text)?;
    }
    Ok(match &answer.verdict {
        Verdict::Out(why) if why.code == MISSING => Exit::Failed,
        _ => Exit::GoOn,
    })
}

fn json(answer: &Answer) -> Value {
    let path = answer.path.to_string_lossy();
    match &answer.verdict {
        Verdict::In(place) => json!({
            "path": path, "verdict": "in",
            "listed": place.listed.to_string_lossy(),
            "position": place.position, "of": place.of,
            "kind": place.kind.as_str(), "reason": place.reason.as_str(),
            "imported_by": paths(&place.chain),
            "trigger": place.trigger.as_ref().map(|p| p.to_string_lossy()),
            "globs": place.globs, "label": place.label, "tokens": place.tokens,
        }),
        Verdict::OnDemand {
            when,
            globs,
            touched,
        } => json!({
            "path": path, "verdict": "on_demand",
            "when": when, "globs": globs, "touched": paths(touched),
        }),
        Verdict::Injected { why } => json!({
            "path": path, "verdict": "injected",
            "by": "remora", "when": "session_start", "why": why,
        }),
        Verdict::Out(Out { code, why, advice }) => json!({
            "path": path, "verdict": "out",
            "code": code, "why": why, "advice": advice,
        }),
    }
}

fn paths(list: &[impl AsRef<Path>]) -> Vec<String> {
    let paths = list.iter().map(AsRef::as_ref);
    paths
        .map(|p: &Path| p.to_string_lossy().into_owned())
        .collect()
}

fn text(answer: &Answer, out: &Output) -> String {
    let (style, word) = match answer.verdict {
        Verdict::In(_) => (Style::Green, "in"),
        Verdict::OnDemand { .. } => (Style::Yellow, "on demand"),
        Verdict::Injected { .. } => (Style::Green, "injected"),
        Verdict::Out(_) => (Style::Red, "out"),
    };
    let mut text = format!("{} {}\n", out.paint(style, word), shown(&answer.path));
    match &answer.verdict {
        Verdict::In(place) => push_place(&mut text, answer, place),
        Verdict::OnDemand { when, touched, .. } => {
            let _ = writeln!(text, "  comes when {}", visible(when));
            if !touched.is_empty() {
                let files: Vec<String> = touched.iter().map(|p| shown(p)).collect();
                let _ = writeln!(text, "  touched so far: {}", files.join(", "));
            }
        }
        Verdict::Injected { why } => {
            let why = visible(why);
            let _ = writeln!(
                text,
                "  the client does not load it; Remora adds it to the session's start, {why}"
            );
        }
        Verdict::Out(why) => {
            let _ = writeln!(text, "  {}", visible(&why.why));
            if let Some(advice) = &why.advice {
                let _ = writeln!(text, "  {}", out.paint(Style::Cyan, &visible(advice)));
            }
        }
    }
    text
}

fn push_place(text: &mut String, answer: &Answer, place: &Place) {
    if place.listed != answer.path {
        let _ = writeln!(text, "  as {}", shown(&place.listed));
    }
    let _ = writeln!(
        text,
        "  {} of {} in the prompt, about {} tokens",
        place.position, place.of, place.tokens
    );
    for parent in &place.chain {
        let _ = writeln!(text, "  imported by {}", shown(parent));
    }
    match (&place.trigger, place.reason) {
        (Some(trigger), Reason::PathGlobMatch) => {
            let globs = visible(&place.globs.join(", "));
            let _ = writeln!(text, "  {} matches {globs}", shown(trigger));
        }
        (Some(trigger), _) => {
            let _ = writeln!(text, "  {} was touched", shown(trigger));
        }
        (None, _) => {
            let _ = writeln!(text, "  {}", place.label);
        }
    }
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}
