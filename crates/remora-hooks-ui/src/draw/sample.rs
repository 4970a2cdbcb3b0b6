//! A made-up event, and which handlers it would run.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use remora_hooks::{ExplainedHandler, Explanation};

use super::pages::draw_scrolled;
use super::{rule_line, show_field};
use crate::model::{Model, Screen};
use crate::sample::SampleForm;
use crate::text::{fit_text, pad_text, show_text, wrap_text};
use crate::theme::Theme;

/// The column of labels.
const LABEL_COLUMNS: usize = 18;

pub(super) fn draw(model: &mut Model, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let Screen::Sample(form) = &mut model.screen else {
        return;
    };
    let wanted = u16::try_from(form.fields().len() + 1).unwrap_or(u16::MAX);
    // With little room the field that keys act on is what is seen of them.
    let field_rows = wanted.min((area.height / 2).max(1));
    let [fields, rest] =
        Layout::vertical([Constraint::Length(field_rows), Constraint::Min(0)]).areas(area);
    draw_fields(form, theme, frame, fields);
    if rest.is_empty() {
        return;
    }
    let (title, lines) = match &form.result {
        None => return,
        Some(Err(error)) => {
            let columns = usize::from(rest.width).saturating_sub(2);
            let lines = wrap_text(&show_text(error), columns).into_iter();
            let lines = lines.map(|line| Line::styled(format!(" {line}"), theme.bad()));
            ("No answer".to_owned(), lines.collect())
        }
        Some(Ok(explanation)) => (
            count_matches(explanation),
            explain_lines(explanation, theme, rest.width),
        ),
    };
    let title_rows = u16::from(rest.height > 1);
    let [top, list] =
        Layout::vertical([Constraint::Length(title_rows), Constraint::Min(0)]).areas(rest);
    frame.render_widget(
        Paragraph::new(rule_line(&title, top.width, Theme::title())),
        top,
    );
    draw_scrolled(lines, &mut form.scroll, frame, list);
}

fn draw_fields(form: &SampleForm, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let fields = form.fields();
    let lines = fields.len() + 1;
    let height = usize::from(area.height);
    let first = super::first_row(form.line, lines, height);
    let width = usize::from(area.width);
    let label_columns = LABEL_COLUMNS.min(width / 2);
    let room = width.saturating_sub(label_columns + 3);
    for row in 0..height.min(lines - first) {
        let at = first + row;
        let y = area
            .y
            .saturating_add(u16::try_from(row).unwrap_or(u16::MAX));
        let place = Rect {
            y,
            height: 1,
            ..area
        };
        let is_current = at == form.line;
        let field = at.checked_sub(1).and_then(|at| fields.get(at));
        let (label, text, cursor) = match field {
            None => (
                "Event",
                fit_text(&format!("‹ {} ›", form.event), room),
                None,
            ),
            Some((label, field)) => {
                let (text, cursor) = show_field(field, room);
                (*label, text, Some(cursor))
            }
        };
        let sign = if is_current { "▸" } else { " " };
        let style = if is_current && cursor.is_none() {
            Theme::cursor()
        } else {
            Theme::plain()
        };
        let label_style = if is_current {
            Theme::title()
        } else {
            Theme::dim()
        };
        let spans = vec![
            Span::styled(sign, theme.accent()),
            Span::styled(pad_text(label, label_columns), label_style),
            Span::raw(" "),
            Span::styled(text, style),
        ];
        frame.render_widget(Paragraph::new(Line::from(spans)), place);
        if let (true, Some(column)) = (is_current, cursor) {
            let column = u16::try_from(label_columns + 2 + column).unwrap_or(u16::MAX);
            let x = place
                .x
                .saturating_add(column)
                .min(place.right().saturating_sub(1));
            frame.set_cursor_position((x, place.y));
        }
    }
}

fn count_matches(explanation: &Explanation) -> String {
    let all = explanation.handlers.len();
    let runs = explanation.handlers.iter().filter(|h| h.matches).count();
    let query = match &explanation.query {
        Some(query) => format!(", matched against \"{}\"", show_text(query)),
        None => String::new(),
    };
    match all {
        0 => format!("{} has no hooks", explanation.event),
        _ => format!("{runs} of {all} would run{query}"),
    }
}

fn explain_lines(explanation: &Explanation, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let columns = usize::from(width);
    let mut lines = Vec::new();
    // Those that would run are what the user looks for.
    let (runs, others): (Vec<_>, Vec<_>) = explanation.handlers.iter().partition(|h| h.matches);
    for handler in runs.into_iter().chain(others) {
        let ExplainedHandler { info, matches, .. } = handler;
        let (sign, style) = if *matches {
            ("✓", theme.good())
        } else {
            ("✗", Theme::dim())
        };
        let label = pad_text(info.source.label(), 10);
        let matcher = info.matcher.as_deref().unwrap_or_default();
        let what = format!("{matcher}  {}", info.label.replace('\n', " "));
        let room = columns.saturating_sub(14);
        lines.push(Line::from(vec![
            Span::styled(format!(" {sign} "), style),
            Span::styled(label, theme.label(info.source)),
            Span::styled(
                fit_text(show_text(what.trim_start()).as_str(), room),
                Theme::plain(),
            ),
        ]));
        let why = handler.never.as_deref().unwrap_or(&handler.why);
        for part in wrap_text(&show_text(why), columns.saturating_sub(5)) {
            lines.push(Line::styled(format!("   {part}"), Theme::dim()));
        }
    }
    lines
}
