//! The compact diff: changed lines only, under the name of what holds them.

use super::MAX_DIFF_CHARS;
use super::cut::truncate_chars;
use super::patch::{DiffSide, Patch};

const MAX_LINE_CHARS: usize = 160;

pub(super) fn render_diff(patch: &Patch<'_>) -> String {
    let mut text = String::new();
    let mut count = 0;
    let mut place = None;
    for (at, line) in patch.lines.iter().enumerate() {
        let holder = line.holder.as_ref().map(|h| h.name.as_str());
        let mut piece = String::new();
        if place != Some((holder, line.run)) {
            let known = place.is_some_and(|(h, _)| h == holder);
            // A new run under the same name needs no second heading.
            if !known || holder.is_none() {
                piece.push_str("@@");
                if let Some(name) = holder {
                    piece.push(' ');
                    piece.push_str(&truncate_chars(name, 100));
                }
                piece.push('\n');
            }
            place = Some((holder, line.run));
        }
        piece.push(if line.side == DiffSide::Gone {
            '-'
        } else {
            '+'
        });
        piece.push_str(&truncate_chars(&strip_controls(line.text), MAX_LINE_CHARS));
        piece.push('\n');
        let length = piece.chars().count();
        // Room is kept for the line that says how much was left out.
        // Whole lines only: half a line of code says something else than the
        // line.
        if count + length > MAX_DIFF_CHARS - 40 {
            let left = patch.lines.len() - at;
            text.push_str("... ");
            text.push_str(&left.to_string());
            text.push_str(" more lines\n");
            break;
        }
        count += length;
        text.push_str(&piece);
    }
    text
}

fn strip_controls(text: &str) -> String {
    text.chars()
        .take(MAX_LINE_CHARS + 1)
        .filter(|c| *c == '\t' || !c.is_control())
        .collect()
}
