//! What a child says while it runs, in pieces: one a second at most, each short.

use std::time::{Duration, Instant};

/// The least time between two pieces.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// The most of each stream in one piece. Of more, the end is shown.
const MAX_PROGRESS_BYTES: usize = 1024;

/// Receives a piece: new standard output and new standard error.
pub(crate) type ProgressSink<'a> = &'a dyn Fn(&str, &str);

/// What of a child's output was passed on, and when the next piece may be.
pub(super) struct ProgressReporter<'a> {
    sink: ProgressSink<'a>,
    /// From when on; `None` before the first piece.
    next: Option<Instant>,
    passed: [usize; 2],
}

impl<'a> ProgressReporter<'a> {
    pub(super) fn new(sink: ProgressSink<'a>) -> Self {
        Self {
            sink,
            next: None,
            passed: [0, 0],
        }
    }

    /// Passes on what is new, unless it is too early. Returns how long to wait for
    /// the time to be there, if something is left to pass on.
    pub(super) fn report(&mut self, streams: [&[u8]; 2], now: Instant) -> Option<Duration> {
        let ends = streams.map(find_whole_end);
        if ends == self.passed {
            return None;
        }
        if let Some(left) = self
            .next
            .and_then(|next| next.checked_duration_since(now))
            .filter(|left| !left.is_zero())
        {
            return Some(left);
        }
        let [stdout, stderr] =
            [0, 1].map(|at| cut_piece(&streams[at][self.passed[at].min(ends[at])..ends[at]]));
        (self.sink)(&stdout, &stderr);
        self.passed = ends;
        self.next = Some(now + PROGRESS_INTERVAL);
        None
    }
}

/// The end without a character that has not come whole.
fn find_whole_end(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    for (at, byte) in bytes.iter().enumerate().skip(tail).rev() {
        let length = match byte {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        return if at + length > bytes.len() {
            at
        } else {
            bytes.len()
        };
    }
    bytes.len()
}

fn cut_piece(bytes: &[u8]) -> String {
    let mut start = bytes.len().saturating_sub(MAX_PROGRESS_BYTES);
    while start > 0 && start < bytes.len() && matches!(bytes[start], 0x80..=0xBF) {
        start += 1;
    }
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn pieces_are_new_short_and_not_too_many() {
        let pieces = RefCell::new(Vec::new());
        let sink =
            |out: &str, err: &str| pieces.borrow_mut().push((out.to_owned(), err.to_owned()));
        let mut reporter = ProgressReporter::new(&sink);
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let long = "x".repeat(5000);
        let rows: [(&str, &str, u64, Option<u64>); 7] = [
            ("", "", 0, None),
            ("a\n", "", 10, None),
            ("a\nb\n", "", 400, Some(610)),
            ("a\nb\n", "why", 1010, None),
            ("a\nb\n", "why", 1020, None),
            (&long, "why", 1500, Some(510)),
            (&long, "why", 9000, None),
        ];
        for (out, err, millis, left) in rows {
            let left = left.map(Duration::from_millis);
            let streams = [out.as_bytes(), err.as_bytes()];
            assert_eq!(reporter.report(streams, at(millis)), left, "{millis}");
        }
        let own = |out: &str, err: &str| (out.to_owned(), err.to_owned());
        assert_eq!(
            *pieces.borrow(),
            [own("a\n", ""), own("b\n", "why"), own(&long[..1024], "")]
        );
    }

    #[test]
    fn characters_are_passed_on_whole() {
        for (bytes, end) in [
            (b"".as_slice(), 0),
            (b"ab", 2),
            ("ä".as_bytes(), 2),
            (b"a\xC3", 1),
            (b"\xE2\x82", 0),
            ("€".as_bytes(), 3),
            (b"a\xF0\x9F\x98", 1),
            ("😀".as_bytes(), 4),
            // Not UTF-8 at all: nothing to wait for.
            (b"\x80\x80\x80\x80", 4),
            (b"\xFF", 1),
        ] {
            assert_eq!(find_whole_end(bytes), end, "{bytes:?}");
        }
        let text = format!("{}€", "x".repeat(MAX_PROGRESS_BYTES - 1));
        assert_eq!(cut_piece(&text.as_bytes()[1..]).chars().last(), Some('€'));
        let text = format!("€{}", "x".repeat(MAX_PROGRESS_BYTES - 1));
        assert_eq!(cut_piece(text.as_bytes()), text[3..]);
    }
}
