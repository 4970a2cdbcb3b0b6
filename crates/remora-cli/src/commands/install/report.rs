//! What became of a settings file, as text and as JSON.

use remora_agents::install::ChangeKind;
use remora_agents::install::file::{FileOutcome, InstallReport};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Output, Style};

pub(super) fn report_to_json(report: &InstallReport) -> Value {
    let changes: Vec<Value> = report
        .changes
        .iter()
        .map(|change| json!({ "event": change.event, "change": change_name(change.what) }))
        .collect();
    json!({
        "file": report.file,
        "outcome": outcome_name(report.outcome),
        "changes": changes,
        "warnings": report.warnings,
        "backup": report.backup,
    })
}

fn change_name(what: ChangeKind) -> &'static str {
    match what {
        ChangeKind::Added => "added",
        ChangeKind::Updated => "updated",
        ChangeKind::Removed => "removed",
    }
}

pub(super) fn outcome_name(outcome: FileOutcome) -> &'static str {
    match outcome {
        FileOutcome::Unchanged => "unchanged",
        FileOutcome::Created => "created",
        FileOutcome::Edited => "edited",
        FileOutcome::Restored => "restored",
        FileOutcome::Deleted => "deleted",
    }
}

pub(super) fn print_report(
    out: &mut Output,
    report: &InstallReport,
    verb: &str,
) -> Result<(), CliError> {
    let file = out.paint(Style::Bold, &report.file.display().to_string());
    let text = match report.outcome {
        FileOutcome::Unchanged => format!("{file}: nothing to change\n"),
        FileOutcome::Created => format!("{file} {verb} created\n"),
        FileOutcome::Edited => format!("{file} {verb} edited\n"),
        FileOutcome::Restored => format!("{file} {verb} restored, byte for byte\n"),
        FileOutcome::Deleted => format!("{file} {verb} deleted: it held nothing else\n"),
    };
    out.print_text(&text)?;
    for kind in [ChangeKind::Added, ChangeKind::Updated, ChangeKind::Removed] {
        let events: Vec<&str> = report
            .changes
            .iter()
            .filter(|change| change.what == kind)
            .map(|change| change.event.as_str())
            .collect();
        if !events.is_empty() {
            out.print_text(&format!("  {}: {}\n", change_name(kind), events.join(", ")))?;
        }
    }
    if let Some(backup) = &report.backup {
        out.print_text(&format!("  the file as it was: {}\n", backup.display()))?;
    }
    for warning in &report.warnings {
        let warning = out.paint(Style::Yellow, &format!("warning: {warning}"));
        out.print_text(&format!("  {warning}\n"))?;
    }
    Ok(())
}

/// Whether something of ours was there before.
pub(super) fn is_update(report: &InstallReport) -> bool {
    report
        .changes
        .iter()
        .any(|change| change.what == ChangeKind::Updated)
}
