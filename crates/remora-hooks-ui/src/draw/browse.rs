//! The list of events, the hooks of one, and what the chosen hook is.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use remora_core::EventName;

use super::pages::describe_row;
use super::{first_row, rule_line};
use crate::model::{Model, Pane};
use crate::snapshot::{HookRow, RowState};
use crate::text::{fit_text, pad_text, show_text, text_width};
use crate::theme::Theme;

/// Both lists side by side need this much.
const MIN_COLUMNS_FOR_PANES: u16 = 56;
/// The list of events beside the hooks.
const EVENT_COLUMNS: u16 = 26;
/// `[Callback]`, the longest.
const LABEL_COLUMNS: usize = 10;
/// The widest column of matchers.
const MATCHER_COLUMNS: usize = 16;
/// What a hook runs has at least so much, or matchers have no column of their own.
const MIN_WHAT_COLUMNS: usize = 24;
/// Below this width the hooks of all events are listed without their events.
const MIN_COLUMNS_FOR_EVENTS: usize = 30;
/// The details below the lists, by how much room there is.
const DETAIL_ROWS: [(u16, u16); 3] = [(30, 12), (20, 8), (12, 4)];

pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let wanted = DETAIL_ROWS
        .iter()
        .find(|(height, _)| area.height + 2 >= *height);
    let detail_rows = wanted.map_or(0, |(_, rows)| *rows);
    let [lists, details] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(detail_rows)]).areas(area);
    if lists.width >= MIN_COLUMNS_FOR_PANES {
        let [left, right] =
            Layout::horizontal([Constraint::Length(EVENT_COLUMNS), Constraint::Min(1)])
                .areas(lists);
        draw_events(model, theme, frame, left);
        let block = Block::new()
            .borders(Borders::LEFT)
            .border_style(Theme::dim());
        let inner = block.inner(right);
        frame.render_widget(block, right);
        draw_hooks(model, theme, frame, inner);
    } else if model.pane == Pane::Events {
        draw_events(model, theme, frame, lists);
    } else {
        draw_hooks(model, theme, frame, lists);
    }
    if details.height > 0 {
        draw_details(model, theme, frame, details);
    }
}

fn pane_title(is_active: bool) -> Style {
    if is_active {
        Theme::title()
    } else {
        Theme::dim()
    }
}

/// The title, if there is room for anything below it.
fn with_title<'a>(
    title: &str,
    is_active: bool,
    frame: &mut Frame<'_>,
    area: Rect,
    lines: impl FnOnce(Rect) -> Vec<Line<'a>>,
) {
    let title_rows = u16::from(area.height > 2);
    let [top, rest] =
        Layout::vertical([Constraint::Length(title_rows), Constraint::Min(0)]).areas(area);
    if title_rows > 0 {
        let line = rule_line(title, top.width, pane_title(is_active));
        frame.render_widget(Paragraph::new(line), top);
    }
    let lines = lines(rest);
    frame.render_widget(Paragraph::new(lines), rest);
}

fn draw_events(model: &Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let is_active = model.pane == Pane::Events && !model.is_searching;
    with_title("Events", is_active, frame, area, |area| {
        let lines = model.event_lines();
        let chosen = model.event_index();
        let height = usize::from(area.height);
        let first = first_row(chosen, lines.len(), height);
        let width = usize::from(area.width);
        let shown = lines.iter().enumerate().skip(first).take(height);
        shown
            .map(|(at, line)| {
                let count = match line.count {
                    0 => String::new(),
                    count => count.to_string(),
                };
                let name = line.event.as_deref().unwrap_or("All events");
                let is_unknown = line
                    .event
                    .as_deref()
                    .is_some_and(|e| EventName::parse(e).is_none());
                let sign = if is_unknown { "✗" } else { " " };
                let room = width.saturating_sub(text_width(&count) + 4);
                let text = format!("{sign} {} {count} ", pad_text(&show_text(name), room));
                let style = if at == chosen && is_active {
                    Theme::cursor()
                } else if at == chosen {
                    Theme::idle_cursor()
                } else if is_unknown {
                    theme.bad()
                } else if line.count == 0 {
                    Theme::dim()
                } else {
                    Theme::plain()
                };
                Line::styled(fit_text(&text, width), style)
            })
            .collect()
    });
}

fn draw_hooks(model: &Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let is_active = model.pane == Pane::Hooks && !model.is_searching;
    let title = match &model.event {
        None => "All hooks".to_owned(),
        Some(event) => match EventName::parse(event) {
            Some(known) => {
                let doc = known.def().doc.trim().trim_end_matches('.').to_owned();
                format!("{event}: {doc}")
            }
            None => format!("{}: no event has this name", show_text(event)),
        },
    };
    with_title(&title, is_active, frame, area, |area| {
        let rows = model.shown_rows();
        let width = usize::from(area.width);
        if rows.is_empty() {
            let text = if !model.search.is_empty() {
                " no hook holds these words; Esc ends the search"
            } else if model.event.is_none() {
                " no hooks yet; a adds one"
            } else {
                " no hooks at this event; a adds one"
            };
            return vec![Line::styled(fit_text(text, width), Theme::dim())];
        }
        let height = usize::from(area.height);
        let first = first_row(model.row, rows.len(), height);
        let event_columns = match model.event {
            None if width >= MIN_COLUMNS_FOR_EVENTS => event_width(&rows, width),
            _ => 0,
        };
        let others = 4 + LABEL_COLUMNS + event_columns + MIN_WHAT_COLUMNS;
        let matcher_columns = matcher_width(&rows).min(MATCHER_COLUMNS);
        let fits = others + matcher_columns <= width;
        let matcher_columns = if fits { matcher_columns } else { 0 };
        let shown = rows.iter().enumerate().skip(first).take(height);
        shown
            .map(|(at, row)| {
                let columns = RowColumns {
                    event: event_columns,
                    matcher: matcher_columns,
                    all: width,
                };
                hook_line(row, &columns, at == model.row, is_active, theme)
            })
            .collect()
    });
}

/// How wide the parts of a row are.
struct RowColumns {
    event: usize,
    matcher: usize,
    all: usize,
}

fn event_width(rows: &[&HookRow], width: usize) -> usize {
    let longest = rows
        .iter()
        .map(|row| text_width(&show_text(&row.event)))
        .max();
    longest.unwrap_or(0).min(width / 3).min(20)
}

fn matcher_width(rows: &[&HookRow]) -> usize {
    let longest = rows
        .iter()
        .filter_map(|row| row.matcher.as_ref())
        .map(|matcher| text_width(&show_text(matcher)))
        .max();
    longest.unwrap_or(0)
}

/// The sign of a state, and how it looks.
pub(super) fn state_sign(state: &RowState, theme: Theme) -> (&'static str, Style) {
    match state {
        RowState::Active => ("●", theme.good()),
        RowState::Disabled => ("○", Theme::dim()),
        RowState::HeldBack(_) => ("◌", theme.warning()),
        RowState::Broken(_) => ("✗", theme.bad()),
    }
}

fn hook_line(
    row: &HookRow,
    columns: &RowColumns,
    is_chosen: bool,
    is_active: bool,
    theme: Theme,
) -> Line<'static> {
    let (sign, sign_style) = state_sign(&row.state, theme);
    let mut what = match &row.condition {
        Some(condition) => format!("if {condition}: {}", row.label),
        None => row.label.clone(),
    };
    if let (0, Some(matcher)) = (columns.matcher, &row.matcher) {
        what = format!("{matcher}: {what}");
    }
    let text_style = if row.state == RowState::Disabled {
        Theme::dim()
    } else {
        Theme::plain()
    };
    let mut spans = vec![
        Span::raw(" "),
        Span::styled(sign, sign_style),
        Span::raw(" "),
        Span::styled(
            pad_text(row.source.label(), LABEL_COLUMNS),
            theme.label(row.source),
        ),
    ];
    let mut used = 3 + LABEL_COLUMNS;
    for (text, width) in [
        (row.event.as_str(), columns.event),
        (row.matcher.as_deref().unwrap_or(""), columns.matcher),
    ] {
        if width > 0 {
            let text = pad_text(&show_text(text), width);
            spans.push(Span::styled(format!("{text} "), text_style));
            used += width + 1;
        }
    }
    let room = columns.all.saturating_sub(used);
    let has_finding = !row.findings.is_empty();
    let sign_columns = if has_finding { 2 } else { 0 };
    let what = pad_text(&show_text(&what), room.saturating_sub(sign_columns));
    spans.push(Span::styled(what, text_style));
    if has_finding {
        spans.push(Span::styled(" !", theme.warning()));
    }
    let line = Line::from(spans);
    if is_chosen && is_active {
        line.patch_style(Theme::cursor())
    } else if is_chosen {
        line.patch_style(Theme::idle_cursor())
    } else {
        line
    }
}

fn draw_details(model: &Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let row = model.selected_row();
    let title = row.map_or_else(|| "Nothing chosen".to_owned(), |row| show_text(&row.id));
    with_title(&title, false, frame, area, |area| {
        let Some(row) = row else { return Vec::new() };
        let mut lines = describe_row(row, &model.snapshot, theme, area.width);
        let height = usize::from(area.height);
        if lines.len() > height {
            lines.truncate(height);
            if let Some(last) = lines.last_mut() {
                *last = Line::styled(" … Enter shows all of it", Theme::dim());
            }
        }
        lines
    });
}
