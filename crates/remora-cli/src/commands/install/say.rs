//! What became of a settings file, for people and for programs.

use remora_agents::install::What;
use remora_agents::install::file::{Outcome, Report};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Output, Style};

pub(super) fn told(report: &Report) -> Value {
    let changes: Vec<Value> = report
        .changes
        .iter()
        .map(|change| json!({ "event": change.event, "change": word(change.what) }))
        .collect();
    json!({
        "file": report.file,
        "outcome": outcome(report.outcome),
        "changes": changes,
        "warnings": report.warnings,
        "backup": report.backup,
    })
}

fn word(what: What) -> &'static str {
    match what {
        What::Added => "added",
        What::Updated => "updated",
        What::Removed => "removed",
    }
}

pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unchanged => "unchanged",
        Outcome::Created => "created",
        Outcome::Edited => "edited",
        Outcome::Restored => "restored",
        Outcome::Deleted => "deleted",
    }
}

pub(super) fn say(out: &mut Output, report: &Report, verb: &str) -> Result<(), CliError> {
    let file = out.paint(Style::Bold, &report.file.display().to_string());
    let text = match report.outcome {
        Outcome::Unchanged => format!("{file}: nothing to change\n"),
        Outcome::Created => format!("{file} {verb} created\n"),
        Outcome::Edited => format!("{file} {verb} edited\n"),
        Outcome::Restored => format!("{file} {verb} restored, byte for byte\n"),
        Outcome::Deleted => format!("{file} {verb} deleted: it held nothing else\n"),
    };
    out.text(&text)?;
    for kind in [What::Added, What::Updated, What::Removed] {
        let events: Vec<&str> = report
            .changes
            .iter()
            .filter(|change| change.what == kind)
            .map(|change| change.event.as_str())
            .collect();
        if !events.is_empty() {
            out.text(&format!("  {}: {}\n", word(kind), events.join(", ")))?;
        }
    }
    if let Some(backup) = &report.backup {
        out.text(&format!("  the file as it was: {}\n", backup.display()))?;
    }
    for warning in &report.warnings {
        let warning = out.paint(Style::Yellow, &format!("warning: {warning}"));
        out.text(&format!("  {warning}\n"))?;
    }
    Ok(())
}

/// Whether something of ours was there before.
pub(super) fn is_update(report: &Report) -> bool {
    report
        .changes
        .iter()
        .any(|change| change.what == What::Updated)
}
