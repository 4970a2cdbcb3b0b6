//! Pages that are read: one hook in full, what an edit changes, what is wrong.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use remora_core::EventName;
use remora_hook_tools::edit::LineChange;
use remora_hook_tools::lint::{LintFinding, Severity};
use remora_hooks::inspect::{MatcherReading, WrittenMatcher};

use super::browse::state_sign;
use crate::edit::{HookChange, Preview};
use crate::model::{Model, Screen};
use crate::snapshot::{HookRow, Problem, RowState, Snapshot};
use crate::text::{fit_text, pad_text, show_path, show_text, wrap_text};
use crate::theme::Theme;

/// The column of names, such as `command`.
const NAME_COLUMNS: usize = 10;

pub(super) fn draw(model: &mut Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let lines = match &model.screen {
        Screen::Details { .. } => match model.selected_row() {
            Some(row) => details_page(row, &model.snapshot, theme, area.width),
            None => Vec::new(),
        },
        Screen::Problems { .. } => problems_page(&model.snapshot.problems, theme, area.width),
        Screen::Review(review) => review_page(&review.preview, &model.snapshot, theme, area.width),
        _ => return,
    };
    let scroll = match &mut model.screen {
        Screen::Details { scroll } | Screen::Problems { scroll } => scroll,
        Screen::Review(review) => &mut review.scroll,
        _ => return,
    };
    draw_scrolled(lines, scroll, frame, area);
}

/// The lines from `scroll` on, which is put back to where the end allows.
pub(super) fn draw_scrolled(
    lines: Vec<Line<'static>>,
    scroll: &mut usize,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let height = usize::from(area.height);
    *scroll = (*scroll).min(lines.len().saturating_sub(height));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(*scroll).take(height).collect();
    frame.render_widget(Paragraph::new(shown), area);
}

/// A name and a text behind it, on as many lines as it takes.
fn named_lines(name: &str, text: &str, style: Style, width: u16) -> Vec<Line<'static>> {
    let columns = usize::from(width).saturating_sub(NAME_COLUMNS + 2);
    let wrapped = wrap_text(&show_text(text), columns);
    wrapped
        .into_iter()
        .enumerate()
        .map(|(at, line)| {
            let name = if at == 0 { name } else { "" };
            Line::from(vec![
                Span::styled(format!(" {}", pad_text(name, NAME_COLUMNS)), Theme::dim()),
                Span::styled(line, style),
            ])
        })
        .collect()
}

/// What a hook is, what keeps it from running, and where it is written.
pub(super) fn describe_row(
    row: &HookRow,
    snapshot: &Snapshot,
    theme: Theme,
    width: u16,
) -> Vec<Line<'static>> {
    let plain = Theme::plain();
    let mut lines = Vec::new();
    let (sign, style) = state_sign(&row.state, theme);
    let state = match &row.state {
        RowState::Active => None,
        RowState::Disabled => Some("switched off; space switches it on".to_owned()),
        RowState::HeldBack(why) => Some(format!("held back: {why}")),
        RowState::Broken(why) => Some(format!("does not run: {why}")),
    };
    if let Some(state) = state {
        lines.extend(named_lines(sign, &state, style, width));
    }
    for finding in &row.findings {
        lines.extend(finding_lines(finding, theme, width));
    }
    lines.extend(named_lines(&show_text(&row.kind), &row.label, plain, width));
    if let Some(matcher) = &row.matcher {
        let reading = describe_matcher(&row.event, matcher);
        lines.extend(named_lines(
            "matcher",
            &format!("{matcher}{reading}"),
            plain,
            width,
        ));
    }
    if let Some(condition) = &row.condition {
        lines.extend(named_lines("if", condition, plain, width));
    }
    if let Some(timeout) = row.timeout {
        lines.extend(named_lines(
            "timeout",
            &format!("{timeout} s"),
            plain,
            width,
        ));
    }
    let file = match &row.file {
        Some(file) => show_path(file, &snapshot.home),
        None => "--settings".to_owned(),
    };
    let file = match &row.written {
        Some(written) => format!("{file}  {}", written.place.path()),
        None => file,
    };
    lines.extend(named_lines("file", &file, plain, width));
    if let Some(plugin) = &row.plugin {
        lines.extend(named_lines("plugin", plugin, plain, width));
    }
    if !row.is_editable() {
        lines.extend(named_lines("", row.read_only_reason(), Theme::dim(), width));
    }
    lines
}

fn describe_matcher(event: &str, matcher: &str) -> String {
    let Some(event) = EventName::parse(event) else {
        return String::new();
    };
    match WrittenMatcher::new(Some(matcher), event).reading() {
        MatcherReading::All => "  (everything)".to_owned(),
        MatcherReading::Ignored => "  (this event has nothing to match)".to_owned(),
        MatcherReading::Regex => "  (a JavaScript expression)".to_owned(),
        // The list of names says so itself, and lint says what never matches.
        MatcherReading::Names(_) | MatcherReading::Invalid(_) => String::new(),
    }
}

fn severity_style(severity: Severity, theme: Theme) -> Style {
    match severity {
        Severity::Error => theme.bad(),
        Severity::Warning => theme.warning(),
        Severity::Note => Theme::dim(),
    }
}

fn finding_lines(finding: &LintFinding, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let style = severity_style(finding.severity, theme);
    let name = finding.severity.as_str();
    let mut lines = named_lines(name, &finding.message, style, width);
    lines.extend(named_lines("", &finding.advice, Theme::plain(), width));
    lines
}

fn details_page(
    row: &HookRow,
    snapshot: &Snapshot,
    theme: Theme,
    width: u16,
) -> Vec<Line<'static>> {
    let columns = usize::from(width);
    let mut lines = vec![Line::from(vec![
        Span::raw(" "),
        Span::styled(row.source.label(), theme.label(row.source)),
        Span::styled(format!(" {}", show_text(&row.id)), Theme::title()),
    ])];
    lines.extend(named_lines("event", &row.event, Theme::plain(), width));
    lines.extend(describe_row(row, snapshot, theme, width));
    if let Some(written) = &row.written {
        lines.push(Line::default());
        let text = serde_json::to_string_pretty(&written.entry).unwrap_or_default();
        for line in text.lines() {
            for part in wrap_text(&show_text(line), columns.saturating_sub(2)) {
                lines.push(Line::styled(format!(" {part}"), Theme::dim()));
            }
        }
    }
    lines
}

fn review_page(
    preview: &Preview,
    snapshot: &Snapshot,
    theme: Theme,
    width: u16,
) -> Vec<Line<'static>> {
    let columns = usize::from(width);
    let verb = match preview.edit.change {
        HookChange::Add { .. } => "add",
        HookChange::Replace { .. } => "change",
        HookChange::Toggle(_) => "switch",
        HookChange::Remove(_) => "remove",
    };
    let file = show_path(&preview.edit.file, &snapshot.home);
    let mut lines = named_lines("file", &file, Theme::plain(), width);
    lines.extend(named_lines(verb, &preview.key, Theme::title(), width));
    for finding in &preview.findings {
        lines.extend(finding_lines(finding, theme, width));
    }
    lines.push(Line::default());
    if preview
        .lines
        .iter()
        .all(|(change, _)| *change == LineChange::Kept)
    {
        lines.push(Line::styled(" nothing changes", Theme::dim()));
    }
    for (change, line) in &preview.lines {
        let (mark, style) = match change {
            LineChange::Kept => (' ', Theme::dim()),
            LineChange::Removed => ('-', theme.bad()),
            LineChange::Added => ('+', theme.good()),
        };
        let text = show_text(line.trim_end_matches('\r'));
        if *change == LineChange::Kept {
            lines.push(Line::styled(
                fit_text(&format!("   {text}"), columns),
                style,
            ));
            continue;
        }
        // All of what changes is to be seen, also in a file that is one long line.
        for part in wrap_text(&text, columns.saturating_sub(3)) {
            lines.push(Line::styled(format!(" {mark} {part}"), style));
        }
    }
    lines
}

fn problems_page(problems: &[Problem], theme: Theme, width: u16) -> Vec<Line<'static>> {
    let columns = usize::from(width).saturating_sub(4);
    if problems.is_empty() {
        return vec![Line::styled(" nothing to fix", theme.good())];
    }
    let mut lines = Vec::new();
    for problem in problems {
        for part in wrap_text(&show_text(&problem.place), columns) {
            lines.push(Line::styled(format!(" {part}"), theme.warning()));
        }
        for text in &problem.lines {
            for part in wrap_text(&show_text(text), columns) {
                lines.push(Line::raw(format!("   {part}")));
            }
        }
    }
    lines
}
