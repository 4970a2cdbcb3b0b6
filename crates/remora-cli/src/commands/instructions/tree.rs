//! One line per file: layer, path, reason, and what it costs.

use std::fmt::Write as _;
use std::path::Path;

use remora_instructions::{InstructionKind, Instructions, LoadReason, LoadedFile};
use remora_notes::check::ClaimVerdict;

use super::CachedVerdicts;
use crate::commands::show::lines::format_count;
use crate::output::{Output, Style, escape_invisible};

/// Cells of a bar.
const BAR_CHARS: usize = 10;

pub(super) fn render_tree(
    instructions: &Instructions,
    doubts: &CachedVerdicts,
    budget: u32,
    out: &Output,
) -> String {
    let mut text = String::new();
    let start = instructions.start();
    let later = instructions.loaded_on_demand();
    if start.is_empty() && later.is_empty() {
        text.push_str("no instruction file is in the prompt\n");
    }
    let mut trigger: Option<&Path> = None;
    for file in start.iter().chain(later) {
        if file.trigger.as_deref() != trigger {
            trigger = file.trigger.as_deref();
            let path = trigger.map(|p| p.display().to_string()).unwrap_or_default();
            let _ = writeln!(
                text,
                "after {}",
                out.paint(Style::Bold, &escape_invisible(&path))
            );
        }
        push_file_line(&mut text, file, doubts, budget, out);
    }
    let total: u32 = start
        .iter()
        .chain(later)
        .map(LoadedFile::estimate_tokens)
        .sum();
    if total > 0 {
        let _ = writeln!(
            text,
            "{total} tokens in {}, {} of a budget of {budget}",
            format_count((start.len() + later.len()) as u64, "file", "files"),
            format_percent(total, budget),
        );
    }
    let mut skipped = instructions.skipped().peekable();
    if skipped.peek().is_some() {
        let _ = writeln!(text, "\nleft out");
        for file in skipped {
            let path = escape_invisible(&file.path.display().to_string());
            let why = escape_invisible(&file.why.to_string());
            let _ = writeln!(text, "  {path}: {}", out.paint(Style::Dim, &why));
        }
    }
    let warnings: Vec<&str> = instructions.warnings().collect();
    if !warnings.is_empty() {
        text.push('\n');
        for warning in warnings {
            let _ = writeln!(
                text,
                "{} {}",
                out.paint(Style::Yellow, "warning:"),
                escape_invisible(warning)
            );
        }
    }
    text
}

fn push_file_line(
    text: &mut String,
    file: &LoadedFile,
    doubts: &CachedVerdicts,
    budget: u32,
    out: &Output,
) {
    let tokens = file.estimate_tokens();
    let indent = if file.parent.is_some() { "  " } else { "" };
    let path = escape_invisible(&file.path.display().to_string());
    let doubt = match doubts.verdict_for(file) {
        Some(verdict @ (ClaimVerdict::Gone | ClaimVerdict::Moved)) => {
            let mark = format!(" [{}]", verdict.as_str());
            out.paint(Style::Red, &mark)
        }
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "{:>7} {} {:<9} {indent}{path}{doubt} {}",
        tokens,
        out.paint(Style::Cyan, &format_bar(tokens, budget)),
        layer_name(file.kind),
        out.paint(
            Style::Dim,
            &format!("({}, {} bytes)", format_reason(file), file.bytes)
        ),
    );
}

fn layer_name(kind: InstructionKind) -> &'static str {
    match kind {
        InstructionKind::Managed => "managed",
        InstructionKind::User => "user",
        InstructionKind::Project => "project",
        InstructionKind::Local => "local",
        InstructionKind::AutoMem => "memory",
        InstructionKind::TeamMem => "team",
    }
}

fn format_reason(file: &LoadedFile) -> String {
    let name = |path: &Path| escape_invisible(&path.display().to_string());
    if !file.is_loaded_by_client() {
        return match &file.parent {
            Some(parent) => format!(
                "named by {}; from Remora, not from the client",
                name(parent)
            ),
            None => "not loaded by the client".to_owned(),
        };
    }
    match (file.reason, &file.parent, &file.globs) {
        (LoadReason::Include, Some(parent), _) => format!("imported by {}", name(parent)),
        (LoadReason::PathGlobMatch, _, Some(globs)) => {
            format!("matches {}", escape_invisible(&globs.join(", ")))
        }
        (LoadReason::NestedTraversal, ..) => "nested".to_owned(),
        (LoadReason::Compact, ..) => "after compaction".to_owned(),
        _ => "session start".to_owned(),
    }
}

/// A share of the budget, drawn in eighths of a cell.
fn format_bar(tokens: u32, budget: u32) -> String {
    const EIGHTH_BLOCKS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = u64::from(tokens) * (BAR_CHARS * 8) as u64;
    let eighths = share.div_ceil(u64::from(budget.max(1)));
    let eighths = usize::try_from(eighths).map_or(BAR_CHARS * 8, |n| n.min(BAR_CHARS * 8));
    let drawn = format!("{}{}", "█".repeat(eighths / 8), EIGHTH_BLOCKS[eighths % 8]);
    format!("▕{drawn:<BAR_CHARS$}▏")
}

fn format_percent(tokens: u32, budget: u32) -> String {
    let share = u64::from(tokens) * 100 / u64::from(budget.max(1));
    format!("{share}%")
}
