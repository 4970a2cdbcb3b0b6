//! A line that shows how far long work is, on stderr, and only when a user sits
//! there. It leaves nothing behind.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use terminal_size::{Width, terminal_size_of};

use crate::commands::show::lines::{text_width, truncate_columns};

/// Users cannot read faster.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
/// Characters of the bar.
const MAX_BAR_CHARS: usize = 24;
const MIN_BAR_CHARS: usize = 8;
/// Columns of a terminal that does not say how many it has.
const DEFAULT_COLUMNS: usize = 80;

/// The line.
#[derive(Debug)]
pub(crate) struct Progress {
    label: &'static str,
    shown: Option<Instant>,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new(label: &'static str) -> Self {
        Self {
            label,
            shown: None,
            terminal: io::stderr().is_terminal(),
        }
    }

    /// `done` of `all`, in whatever unit; `note` says it in words.
    pub(crate) fn update_line(&mut self, done: u64, all: u64, note: &str) {
        let fresh = self.shown.is_some_and(|at| at.elapsed() < REDRAW_INTERVAL);
        if !self.terminal || fresh {
            return;
        }
        self.shown = Some(Instant::now());
        // With stderr gone no reader is left.
        let line = format_line(read_terminal_columns(), self.label, done, all, note);
        let _ = write!(io::stderr(), "\r{line}\u{1b}[K");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

/// How wide the terminal is now; the user may resize it.
fn read_terminal_columns() -> usize {
    match terminal_size_of(io::stderr()) {
        Some((Width(columns), _)) if columns > 0 => usize::from(columns),
        _ => DEFAULT_COLUMNS,
    }
}

/// The line, with a shorter bar or cut where it would take all columns: what is
/// wider goes on in the next row, and stays there.
fn format_line(columns: usize, label: &str, done: u64, all: u64, note: &str) -> String {
    let part = |of: usize| match all {
        0 => of,
        all => (u128::from(done.min(all)) * of as u128 / u128::from(all))
            .try_into()
            .unwrap_or(of),
    };
    let room = columns.saturating_sub(1);
    let tail = format!("{:>3} % {note}", part(100));
    let others = text_width(label) + " [] ".len() + text_width(&tail);
    let long = room
        .saturating_sub(others)
        .clamp(MIN_BAR_CHARS, MAX_BAR_CHARS);
    let full = part(long);
    let bar = format!("{}{}", "#".repeat(full), "-".repeat(long - full));
    let line = format!("{label} [{bar}] {tail}");
    match room {
        0 => String::new(),
        room => truncate_columns(&line, room),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_its_part() {
        let line = |label, done, all, note| format_line(80, label, done, all, note);
        assert_eq!(
            line("importing", 1, 4, "512 lines"),
            "importing [######------------------]  25 % 512 lines"
        );
        assert_eq!(line("x", 9, 3, ""), "x [########################] 100 % ");
        assert_eq!(line("x", 0, 0, ""), "x [########################] 100 % ");
        let long = line("x", u64::MAX / 2, u64::MAX, "");
        assert!(long.contains(" 49 %"), "{long}");
    }

    #[test]
    fn it_stays_on_one_row() {
        let at = |columns| format_line(columns, "embedding", 1, 2, "128 of 256 rows, 折扣");
        for columns in 0..100 {
            let shown = at(columns);
            assert!(text_width(&shown) <= columns.saturating_sub(1), "{columns}");
        }
        assert_eq!(
            at(80),
            "embedding [############------------]  50 % 128 of 256 rows, 折扣"
        );
        assert_eq!(
            at(60),
            "embedding [#########----------]  50 % 128 of 256 rows, 折扣"
        );
        assert_eq!(at(42), "embedding [####----]  50 % 128 of 256 ro…");
    }
}
