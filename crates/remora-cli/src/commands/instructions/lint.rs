//! `remora instructions lint`: what should be mended. Fails when words that
//! somebody wrote do not reach the model.

use std::fmt::Write as _;

use remora_instructions::{Finding, Severity};
use serde_json::{Value, json};

use crate::args::InstructionsLint;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(super) fn run(args: &InstructionsLint, out: &mut Output) -> Result<Exit, CliError> {
    let mut instructions = args.place.load(&Environment::read())?;
    args.place.play(&mut instructions);
    let findings = instructions.lint();
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let errors = count(Severity::Error);
    let warnings = count(Severity::Warning);
    let notes = count(Severity::Note);
    if args.json {
        out.json(&json!({
            "findings": findings.iter().map(finding_json).collect::<Vec<_>>(),
            "errors": errors, "warnings": warnings, "notes": notes,
        }))?;
    } else {
        let mut text = String::new();
        for finding in &findings {
            push(&mut text, finding, out);
        }
        let files = instructions.start().len() + instructions.later().len();
        let last = if findings.is_empty() {
            format!("nothing to mend in {}", counted(files, "file"))
        } else {
            let parts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
            let parts: Vec<String> = parts
                .into_iter()
                .filter(|(number, _)| *number > 0)
                .map(|(number, word)| counted(number, word))
                .collect();
            parts.join(", ")
        };
        let _ = writeln!(text, "{last}");
        out.text(&text)?;
    }
    Ok(if errors > 0 { Exit::Failed } else { Exit::GoOn })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity.as_str(),
        "code": finding.code,
        "path": finding.path.to_string_lossy(),
        "line": finding.line,
        "message": finding.message,
        "advice": finding.advice,
    })
}

fn push(text: &mut String, finding: &Finding, out: &Output) {
    let style = match finding.severity {
        Severity::Error => Style::Red,
        Severity::Warning => Style::Yellow,
        Severity::Note => Style::Cyan,
    };
    let path = visible(&finding.path.display().to_string());
    let line = finding
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    let _ = writeln!(
        text,
        "{} {path}{line} {}",
        out.paint(style, finding.severity.as_str()),
        out.paint(Style::Dim, finding.code)
    );
    let _ = writeln!(text, "  {}", visible(&finding.message));
    let _ = writeln!(
        text,
        "  {}\n",
        out.paint(Style::Dim, &visible(&finding.advice))
    );
}

fn counted(number: usize, word: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {word}{end}")
}
