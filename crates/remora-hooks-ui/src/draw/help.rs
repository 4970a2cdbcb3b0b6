//! What every key does, and what the signs mean.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::pages::draw_scrolled;
use crate::model::Model;
use crate::text::{pad_text, wrap_text};
use crate::theme::Theme;

const KEY_COLUMNS: usize = 12;

/// Titles have no keys.
const HELP: &[(&str, &str)] = &[
    ("", "Lists"),
    ("↑ ↓ j k", "move; PgUp PgDn Home End further"),
    ("← → Tab", "between events and hooks"),
    ("Enter", "all about the hook"),
    (
        "/",
        "search in events, matchers, commands, files and [labels]",
    ),
    ("r", "read the files again"),
    ("p", "what is wrong, with file, place, key and reason"),
    ("q Ctrl-C", "leave"),
    ("", "Hooks of [User] [Project] [Local]"),
    ("a", "add one"),
    ("e", "change it"),
    ("space", "switch it off, or on again; it stays in its file"),
    ("d Delete", "remove it, after a look at what changes"),
    ("u", "take back the last edit, and the one before"),
    ("", "Events"),
    ("t", "try: which hooks would a made-up event run, and why"),
    ("", "Fields"),
    ("↑ ↓ Tab", "the next field"),
    ("← →", "another choice; a letter chooses an event"),
    ("Enter", "go on: the change is shown before it is written"),
    ("Esc", "back; nothing is written"),
    ("", "Signs"),
    ("●", "runs when its event fits"),
    ("○", "switched off"),
    ("◌", "held back by trust or a switch"),
    ("✗", "does not run as it is written"),
    ("!", "the linter has something to say"),
    (
        "",
        "[Policy], [Plugin] and [Flag] are read-only. Nothing is written when the file was changed by somebody else meanwhile; the file before the last edit stays beside it.",
    ),
];

pub(super) fn draw(model: &mut Model, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width);
    let mut lines = Vec::new();
    for (key, text) in HELP {
        if key.is_empty() {
            for part in wrap_text(text, columns.saturating_sub(2)) {
                lines.push(Line::styled(format!(" {part}"), Theme::title()));
            }
            continue;
        }
        let room = columns.saturating_sub(KEY_COLUMNS + 3);
        for (at, part) in wrap_text(text, room).into_iter().enumerate() {
            let key = if at == 0 { key } else { "" };
            lines.push(Line::from(vec![
                Span::raw(format!("  {}", pad_text(key, KEY_COLUMNS))),
                Span::styled(part, Theme::dim()),
            ]));
        }
    }
    if let Some(scroll) = &mut model.help {
        draw_scrolled(lines, scroll, frame, area);
    }
}
