//! A line that shows how far long work is, on stderr, and only when a person
//! sits there. It leaves nothing behind.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// A person cannot read faster.
const BEAT: Duration = Duration::from_millis(100);
const WIDTH: usize = 24;

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
    pub(crate) fn at(&mut self, done: u64, all: u64, note: &str) {
        let fresh = self.shown.is_some_and(|at| at.elapsed() < BEAT);
        if !self.terminal || fresh {
            return;
        }
        self.shown = Some(Instant::now());
        // With stderr gone there is nobody to look.
        let _ = write!(
            io::stderr(),
            "\r{}\u{1b}[K",
            line(self.label, done, all, note)
        );
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

fn line(label: &str, done: u64, all: u64, note: &str) -> String {
    let part = |of: u64| match all {
        0 => of,
        all => (u128::from(done.min(all)) * u128::from(of) / u128::from(all))
            .try_into()
            .unwrap_or(of),
    };
    let full = usize::try_from(part(WIDTH as u64)).unwrap_or(WIDTH);
    let bar = format!("{}{}", "#".repeat(full), "-".repeat(WIDTH - full));
    format!("{label} [{bar}] {:>3} % {note}", part(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_its_part() {
        assert_eq!(
            line("importing", 1, 4, "512 lines"),
            "importing [######------------------]  25 % 512 lines"
        );
        assert_eq!(line("x", 9, 3, ""), "x [########################] 100 % ");
        assert_eq!(line("x", 0, 0, ""), "x [########################] 100 % ");
        let long = line("x", u64::MAX / 2, u64::MAX, "");
        assert!(long.contains(" 49 %"), "{long}");
    }
}
