//! How the model looks. Works in any area, however small: what does not fit is
//! left out, what matters most last.

mod browse;
mod form;
mod help;
mod pages;
mod sample;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::field::TextField;
use crate::model::{Model, Notice, Screen};
use crate::text::{fit_text, pad_text, show_char, show_path, show_text, text_width};
use crate::theme::Theme;

/// Below this height only what keys act on is shown.
const MIN_ROWS_FOR_FRAME: u16 = 6;

/// What keys do, as pairs of a key and a word, the most useful first.
type Hints = &'static [(&'static str, &'static str)];

/// Draws all of it.
pub fn draw(model: &mut Model, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
    let area = area.intersection(frame.area());
    if area.is_empty() {
        return;
    }
    frame.render_widget(Clear, area);
    if area.height < MIN_ROWS_FOR_FRAME {
        draw_screen(model, *theme, frame, area);
        draw_notice_over(model, *theme, frame, area);
        return;
    }
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(title_line(model, *theme, top.width)), top);
    draw_screen(model, *theme, frame, body);
    let line = match status_line(model, *theme, bottom.width) {
        Some(line) => line,
        None => hint_line(hints(model), bottom.width),
    };
    // An error is worth more than the last lines of a list.
    if let Some(Notice::Failed(text)) = &model.notice {
        draw_error(text, *theme, frame, area);
    } else {
        frame.render_widget(Paragraph::new(line), bottom);
        place_search_cursor(model, frame, bottom);
    }
}

fn draw_screen(model: &mut Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    if model.help.is_some() {
        help::draw(model, frame, area);
        return;
    }
    match &model.screen {
        Screen::Browse => browse::draw(model, theme, frame, area),
        Screen::Form(form) => form::draw(form, &model.snapshot, theme, frame, area),
        Screen::Sample(_) => sample::draw(model, theme, frame, area),
        Screen::Details { .. } | Screen::Problems { .. } | Screen::Review(_) => {
            pages::draw(model, theme, frame, area);
        }
    }
}

fn title_line(model: &Model, theme: Theme, width: u16) -> Line<'static> {
    let snapshot = &model.snapshot;
    let name = if model.help.is_some() {
        "Help"
    } else {
        match &model.screen {
            Screen::Browse => "Hooks",
            Screen::Details { .. } => "Hook",
            Screen::Form(form) if form.original.is_some() => "Change a hook",
            Screen::Form(_) => "Add a hook",
            Screen::Review(_) => "Is this right?",
            Screen::Sample(_) => "Try an event",
            Screen::Problems { .. } => "Problems",
        }
    };
    let hooks = snapshot.rows.len();
    let counts = match snapshot.problems.len() {
        0 => format!("{hooks} hook{} ", if hooks == 1 { "" } else { "s" }),
        1 => format!("{hooks} hooks, 1 problem "),
        problems => format!("{hooks} hooks, {problems} problems "),
    };
    let width = usize::from(width);
    let left = format!(" {name}");
    let room = width.saturating_sub(text_width(&left) + text_width(&counts) + 2);
    let project = if room < 6 {
        String::new()
    } else {
        fit_text(&show_path(&snapshot.project, &snapshot.home), room)
    };
    let filling = width.saturating_sub(text_width(&left) + 2 + text_width(&project));
    let counts = if filling > text_width(&counts) {
        counts
    } else {
        String::new()
    };
    let gap = filling.saturating_sub(text_width(&counts));
    let count_style = if snapshot.problems.is_empty() {
        Theme::dim()
    } else {
        theme.warning()
    };
    Line::from(vec![
        Span::styled(left, Theme::title()),
        Span::raw("  "),
        Span::styled(project, Theme::dim()),
        Span::raw(" ".repeat(gap)),
        Span::styled(counts, count_style),
    ])
}

/// The search or what was done last.
fn status_line(model: &Model, theme: Theme, width: u16) -> Option<Line<'static>> {
    let width = usize::from(width);
    match &model.notice {
        Some(Notice::Done(text)) => {
            let text = fit_text(&show_text(text), width.saturating_sub(2));
            return Some(Line::styled(format!(" {text}"), theme.good()));
        }
        Some(Notice::Failed(_)) => return None,
        None => {}
    }
    let is_browsing = model.screen == Screen::Browse && model.help.is_none();
    if !is_browsing || (model.search.is_empty() && !model.is_searching) {
        return None;
    }
    let count = model.shown_rows().len();
    let help = if model.is_searching {
        "Enter keeps it, Esc ends it"
    } else {
        "Esc ends the search"
    };
    let words = show_text(&model.search.text());
    let text = format!(" /{words}  ({count})");
    let room = width.saturating_sub(text_width(&text) + 2);
    let mut spans = vec![Span::styled(fit_text(&text, width), theme.accent())];
    if text_width(help) <= room {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(help, Theme::dim()));
    }
    Some(Line::from(spans))
}

fn place_search_cursor(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    if !model.is_searching || model.screen != Screen::Browse || model.help.is_some() {
        return;
    }
    let (before, _) = model.search.parts();
    let shown: String = before.iter().fold(String::new(), |mut text, c| {
        show_char(*c, &mut text);
        text
    });
    let column = u16::try_from(text_width(&shown) + 2).unwrap_or(u16::MAX);
    let last = area.width.saturating_sub(1);
    frame.set_cursor_position((area.x.saturating_add(column.min(last)), area.y));
}

/// An error with file, key and reason takes as many lines as it needs.
fn draw_error(text: &str, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width.saturating_sub(2));
    let mut lines = crate::text::wrap_text(&show_text(text), columns);
    let most = usize::from(area.height / 2).max(1);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} …");
            *last = fit_text(&longer, columns);
            if !last.ends_with('…') {
                last.push('…');
            }
        }
    }
    let height = u16::try_from(lines.len())
        .unwrap_or(area.height)
        .min(area.height);
    let place = Rect {
        y: area.bottom() - height,
        height,
        ..area
    };
    let width = usize::from(area.width);
    let lines: Vec<Line<'_>> = lines
        .iter()
        .map(|line| Line::styled(pad_text(&format!(" {line}"), width), theme.bad()))
        .collect();
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines), place);
}

/// In an area without a line at the bottom.
fn draw_notice_over(model: &Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let (text, style) = match &model.notice {
        Some(Notice::Failed(text)) => (text, theme.bad()),
        Some(Notice::Done(text)) => (text, theme.good()),
        None => return,
    };
    let place = Rect {
        y: area.bottom() - 1,
        height: 1,
        ..area
    };
    let width = usize::from(area.width);
    let line = Line::styled(pad_text(&show_text(text), width), style);
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(line), place);
}

fn hints(model: &Model) -> Hints {
    if model.help.is_some() {
        return &[("Esc", "back"), ("↑↓", "scroll")];
    }
    match &model.screen {
        Screen::Browse => &[
            ("?", "help"),
            ("a", "add"),
            ("e", "edit"),
            ("space", "on/off"),
            ("d", "remove"),
            ("u", "undo"),
            ("t", "try"),
            ("/", "search"),
            ("p", "problems"),
            ("q", "quit"),
        ],
        Screen::Details { .. } => &[
            ("Esc", "back"),
            ("e", "edit"),
            ("space", "on/off"),
            ("d", "remove"),
            ("↑↓", "scroll"),
            ("?", "help"),
        ],
        Screen::Form(_) => &[
            ("Enter", "go on"),
            ("Esc", "leave it"),
            ("↑↓", "next field"),
        ],
        Screen::Review(_) => &[("Enter", "write it"), ("Esc", "back"), ("↑↓", "scroll")],
        Screen::Sample(_) => &[
            ("Esc", "back"),
            ("↑↓", "next field"),
            ("←→", "another event"),
            ("PgUp PgDn", "scroll"),
        ],
        Screen::Problems { .. } => &[("Esc", "back"), ("↑↓", "scroll"), ("?", "help")],
    }
}

/// As many hints as fit, whole ones only; with more air between them if there is
/// room for all.
fn hint_line(hints: Hints, width: u16) -> Line<'static> {
    let width = usize::from(width);
    let columns = |hint: &(&str, &str)| text_width(hint.0) + text_width(hint.1) + 2;
    let all: usize = hints.iter().map(|hint| columns(hint) + 1).sum();
    let gap = if all <= width { "  " } else { " " };
    let mut spans = vec![Span::raw(" ")];
    let mut used = 0;
    for hint in hints {
        used += columns(hint);
        if used > width {
            break;
        }
        spans.push(Span::styled(hint.0, Theme::title()));
        spans.push(Span::styled(format!(" {}", hint.1), Theme::dim()));
        spans.push(Span::raw(gap));
    }
    Line::from(spans)
}

/// The first of so many rows of which `height` are seen, with the cursor in the
/// middle as far as the ends allow.
fn first_row(cursor: usize, count: usize, height: usize) -> usize {
    let last_first = count.saturating_sub(height);
    cursor.saturating_sub(height / 2).min(last_first)
}

/// A rule with a title in it.
fn rule_line(title: &str, width: u16, style: Style) -> Line<'static> {
    let width = usize::from(width);
    let title = fit_text(title, width.saturating_sub(4));
    let rest = width.saturating_sub(text_width(&title) + 3);
    Line::from(vec![
        Span::styled("─ ", Theme::dim()),
        Span::styled(title, style),
        Span::raw(" "),
        Span::styled("─".repeat(rest), Theme::dim()),
    ])
}

/// The part of a typed text around its cursor, and the column of the cursor.
fn show_field(field: &TextField, columns: usize) -> (String, usize) {
    let (before, behind) = field.parts();
    let show = |chars: &[char]| {
        let mut shown = String::new();
        for c in chars {
            show_char(*c, &mut shown);
        }
        shown
    };
    let room = columns.saturating_sub(1);
    // What is left of the window goes, until the cursor is in it.
    let mut start = before.len().saturating_sub(columns);
    let mut left = show(&before[start..]);
    while text_width(&left) > room && start < before.len() {
        start += 1;
        left = show(&before[start..]);
    }
    let column = text_width(&left).min(room);
    let ahead = &behind[..behind.len().min(columns)];
    (fit_text(&format!("{left}{}", show(ahead)), columns), column)
}
