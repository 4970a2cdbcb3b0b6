//! The form of a handler: a line a field, what helps with the current one below.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{first_row, show_field};
use crate::form::{FormLine, HookForm};
use crate::snapshot::Snapshot;
use crate::text::{pad_text, show_path, show_text, text_width, wrap_text};
use crate::theme::Theme;

/// The column of labels: `In background` is the longest.
const LABEL_COLUMNS: usize = 14;
/// What helps is shown below the fields if so many lines are left.
const HINT_ROWS: u16 = 3;

pub(super) fn draw(
    form: &HookForm,
    snapshot: &Snapshot,
    theme: Theme,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let hint_rows = if area.height > 2 * HINT_ROWS {
        HINT_ROWS
    } else {
        0
    };
    let [fields, hint] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(hint_rows)]).areas(area);
    let lines = form.lines();
    let current = form.line.min(lines.len() - 1);
    let height = usize::from(fields.height);
    let first = first_row(current, lines.len(), height);
    let width = usize::from(fields.width);
    let label_columns = LABEL_COLUMNS.min(width / 2);
    let room = width.saturating_sub(label_columns + 3);
    for (row, (at, line)) in lines
        .iter()
        .enumerate()
        .skip(first)
        .take(height)
        .enumerate()
    {
        let y = fields
            .y
            .saturating_add(u16::try_from(row).unwrap_or(u16::MAX));
        let place = Rect {
            y,
            height: 1,
            ..fields
        };
        let is_current = at == current;
        let (text, cursor) = show_value(form, snapshot, *line, room);
        let label_style = if is_current {
            Theme::title()
        } else {
            Theme::dim()
        };
        let value_style = match line {
            _ if form.is_fixed(*line) => Theme::dim(),
            FormLine::Text(_) if is_current => Theme::plain(),
            _ if is_current => Theme::cursor(),
            _ => Theme::plain(),
        };
        let sign = if is_current { "▸" } else { " " };
        let label = pad_text(HookForm::label(*line), label_columns);
        let spans = vec![
            Span::styled(sign, theme.accent()),
            Span::styled(label, label_style),
            Span::raw(" "),
            Span::styled(text, value_style),
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
    let columns = usize::from(hint.width).saturating_sub(2);
    let help: Vec<Line<'_>> = wrap_text(&show_text(&form.hint()), columns)
        .into_iter()
        .map(|line| Line::styled(format!(" {line}"), theme.accent()))
        .collect();
    frame.render_widget(Paragraph::new(help), hint);
}

/// The value of a line, and where the cursor is in it.
fn show_value(
    form: &HookForm,
    snapshot: &Snapshot,
    line: FormLine,
    columns: usize,
) -> (String, Option<usize>) {
    let choice = |text: &str| {
        let text = show_text(text);
        let whole = if text_width(&text) + 4 <= columns && !form.is_fixed(line) {
            format!("‹ {text} ›")
        } else {
            text
        };
        (crate::text::fit_text(&whole, columns), None)
    };
    match line {
        FormLine::Event => choice(form.event_text()),
        FormLine::Kind => choice(form.kind()),
        FormLine::Background => choice(if form.is_background() { "yes" } else { "no" }),
        FormLine::File => match form.target() {
            Some((source, file)) => {
                let file = show_path(file, &snapshot.home);
                choice(&format!("{} {file}", source.label()))
            }
            None => choice("none"),
        },
        FormLine::Text(key) => {
            let (text, cursor) = show_field(form.text(key), columns);
            (text, Some(cursor))
        }
    }
}
