//! Text that remembers which line of the file each of its lines came from.
//! Containers (quotes, list items) take their marks off and read the rest as
//! a text of its own; the line numbers survive that.

/// A borrowed text with the file's line number of each of its lines.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The text.
    pub text: &'a str,
    /// The number of each of its lines.
    pub lines: &'a [usize],
}

impl<'a> View<'a> {
    /// The text behind its first `bytes` bytes.
    #[must_use]
    pub fn skip_bytes(self, bytes: usize) -> View<'a> {
        let (front, text) = self.text.split_at(bytes);
        let lines = self.lines.get(count_newlines(front)..).unwrap_or_default();
        View { text, lines }
    }

    /// The first `bytes` bytes.
    #[must_use]
    pub fn take_bytes(self, bytes: usize) -> View<'a> {
        let text = &self.text[..bytes];
        let lines = self
            .lines
            .get(..=count_newlines(text))
            .unwrap_or(self.lines);
        View { text, lines }
    }

    /// The file's line number of the line with this index.
    pub fn line_number(self, index: usize) -> usize {
        // A raw text may have more lines than its source (see `quote`); the last one is near.
        let line = self.lines.get(index).or(self.lines.last());
        line.copied().unwrap_or(1)
    }

    /// The same, owned.
    pub fn to_chunk(self) -> Chunk {
        Chunk {
            text: self.text.to_owned(),
            lines: self.lines.to_vec(),
        }
    }

    /// Its lines, each with its number in the file.
    pub(super) fn numbered_lines(self) -> impl Iterator<Item = (&'a str, usize)> {
        let lines = self.text.split('\n').enumerate();
        lines.map(move |(index, line)| (line, self.line_number(index)))
    }
}

/// The same, owned.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// The text.
    pub text: String,
    /// The number of each of its lines.
    pub lines: Vec<usize>,
}

impl Chunk {
    pub(super) fn as_view(&self) -> View<'_> {
        View {
            text: &self.text,
            lines: &self.lines,
        }
    }

    /// Appends a line, or lines, below what is there.
    pub(super) fn push(&mut self, more: View<'_>) {
        if !self.lines.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(more.text);
        self.lines.extend_from_slice(more.lines);
    }

    pub(super) fn push_line(&mut self, text: &str, line: usize) {
        self.push(View {
            text,
            lines: &[line],
        });
    }
}

/// How many lines end in a text.
pub fn count_newlines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}
