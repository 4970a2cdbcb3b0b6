//! One line per file: layer, path, reason, and what it costs.

use std::fmt::Write as _;
use std::path::Path;

use remora_instructions::memories::check::Verdict;
use remora_instructions::{Instructions, Kind, Loaded, Reason};

use super::Doubts;
use crate::commands::show::lines::count;
use crate::output::{Output, Style, visible};

/// Cells of a bar.
const BAR: usize = 10;

pub(super) fn text(
    instructions: &Instructions,
    doubts: &Doubts,
    budget: u32,
    out: &Output,
) -> String {
    let mut text = String::new();
    let start = instructions.start();
    let later = instructions.later();
    if start.is_empty() && later.is_empty() {
        text.push_str("no instruction file is in the prompt\n");
    }
    let mut trigger: Option<&Path> = None;
    for file in start.iter().chain(later) {
        if file.trigger.as_deref() != trigger {
            trigger = file.trigger.as_deref();
            let path = trigger.map(|p| p.display().to_string()).unwrap_or_default();
            let _ = writeln!(text, "after {}", out.paint(Style::Bold, &visible(&path)));
        }
        line(&mut text, file, doubts, budget, out);
    }
    let total: u32 = start.iter().chain(later).map(Loaded::tokens).sum();
    if total > 0 {
        let _ = writeln!(
            text,
            "{total} tokens in {}, {} of a budget of {budget}",
            count((start.len() + later.len()) as u64, "file", "files"),
            percent(total, budget),
        );
    }
    let mut skipped = instructions.skipped().peekable();
    if skipped.peek().is_some() {
        let _ = writeln!(text, "\nleft out");
        for file in skipped {
            let path = visible(&file.path.display().to_string());
            let why = visible(&file.why.to_string());
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
                visible(warning)
            );
        }
    }
    text
}

fn line(text: &mut String, file: &Loaded, doubts: &Doubts, budget: u32, out: &Output) {
    let tokens = file.tokens();
    let indent = if file.parent.is_some() { "  " } else { "" };
    let path = visible(&file.path.display().to_string());
    let doubt = match doubts.about(file) {
        Some(verdict @ (Verdict::Gone | Verdict::Moved)) => {
            let mark = format!(" [{}]", verdict.word());
            out.paint(Style::Red, &mark)
        }
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "{:>7} {} {:<9} {indent}{path}{doubt} {}",
        tokens,
        out.paint(Style::Cyan, &bar(tokens, budget)),
        layer(file.kind),
        out.paint(
            Style::Dim,
            &format!("({}, {} bytes)", reason(file), file.bytes)
        ),
    );
}

fn layer(kind: Kind) -> &'static str {
    match kind {
        Kind::Managed => "managed",
        Kind::User => "user",
        Kind::Project => "project",
        Kind::Local => "local",
        Kind::AutoMem => "memory",
        Kind::TeamMem => "team",
    }
}

fn reason(file: &Loaded) -> String {
    let name = |path: &Path| visible(&path.display().to_string());
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
        (Reason::Include, Some(parent), _) => format!("imported by {}", name(parent)),
        (Reason::PathGlobMatch, _, Some(globs)) => {
            format!("matches {}", visible(&globs.join(", ")))
        }
        (Reason::NestedTraversal, ..) => "nested".to_owned(),
        (Reason::Compact, ..) => "after compaction".to_owned(),
        _ => "session start".to_owned(),
    }
}

/// A share of the budget, drawn in eighths of a cell.
fn bar(tokens: u32, budget: u32) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = u64::from(tokens) * (BAR * 8) as u64;
    let eighths = share.div_ceil(u64::from(budget.max(1)));
    let eighths = usize::try_from(eighths).map_or(BAR * 8, |n| n.min(BAR * 8));
    let drawn = format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8]);
    format!("▕{drawn:<BAR$}▏")
}

fn percent(tokens: u32, budget: u32) -> String {
    let share = u64::from(tokens) * 100 / u64::from(budget.max(1));
    format!("{share}%")
}
