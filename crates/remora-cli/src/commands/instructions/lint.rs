//! `remora instructions lint`: what should be fixed. Fails when words that the
//! user wrote do not reach the model.

use std::fmt::Write as _;

use remora_instructions::{LintFinding, Severity};
use serde_json::{Value, json};

use crate::args::InstructionsLintArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

pub(super) fn run(args: &InstructionsLintArgs, out: &mut Output) -> Result<Exit, CliError> {
    let mut instructions = args.place.load_instructions(&Environment::from_process())?;
    args.place.replay_reads(&mut instructions);
    let findings = instructions.lint();
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let errors = count(Severity::Error);
    let warnings = count(Severity::Warning);
    let notes = count(Severity::Note);
    if args.json {
        out.print_json(&json!({
            "findings": findings.iter().map(finding_json).collect::<Vec<_>>(),
            "errors": errors, "warnings": warnings, "notes": notes,
        }))?;
    } else {
        let mut text = String::new();
        for finding in &findings {
            push_finding(&mut text, finding, out);
        }
        let files = instructions.start().len() + instructions.loaded_on_demand().len();
        let last = if findings.is_empty() {
            format!("nothing to fix in {}", format_count(files, "file"))
        } else {
            let parts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
            let parts: Vec<String> = parts
                .into_iter()
                .filter(|(number, _)| *number > 0)
                .map(|(number, word)| format_count(number, word))
                .collect();
            parts.join(", ")
        };
        let _ = writeln!(text, "{last}");
        out.print_text(&text)?;
    }
    Ok(if errors > 0 { Exit::Failed } else { Exit::GoOn })
}

fn finding_json(finding: &LintFinding) -> Value {
    json!({
        "severity": finding.severity.as_str(),
        "code": finding.code,
        "path": finding.path.to_string_lossy(),
        "line": finding.line,
        "message": finding.message,
        "advice": finding.advice,
    })
}

fn push_finding(text: &mut String, finding: &LintFinding, out: &Output) {
    let style = match finding.severity {
        Severity::Error => Style::Red,
        Severity::Warning => Style::Yellow,
        Severity::Note => Style::Cyan,
    };
    let path = escape_invisible(&finding.path.display().to_string());
    let line = finding
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    let _ = writeln!(
        text,
        "{} {path}{line} {}",
        out.paint(style, finding.severity.as_str()),
        out.paint(Style::Dim, finding.code)
    );
    let _ = writeln!(text, "  {}", escape_invisible(&finding.message));
    let _ = writeln!(
        text,
        "  {}\n",
        out.paint(Style::Dim, &escape_invisible(&finding.advice))
    );
}

fn format_count(number: usize, word: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {word}{end}")
}
