//! Lines of bounded length.

use std::io::{self, BufRead, ErrorKind};

/// The longest line that is read.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// One line, or that it was too long to keep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// Reads the next line; `None` at the end. Of one that is too long the rest is
/// read and dropped, so that the next one begins where it should.
pub(crate) fn read_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut seen = false;
    loop {
        let chunk = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        if chunk.is_empty() {
            return Ok(seen.then(|| finish_line(line, too_long)));
        }
        seen = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        too_long = too_long || line.len() + part.len() > limit;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(finish_line(line, too_long)));
        }
    }
}

fn finish_line(line: Vec<u8>, too_long: bool) -> Line {
    if too_long {
        Line::TooLong
    } else {
        Line::Text(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_cut_at_the_limit_and_the_next_is_whole() {
        let text = b"12345\n123456\n\nlast";
        // Buffers smaller than a line, as large, and larger.
        for size in [1, 5, 64] {
            let mut input = BufReader::with_capacity(size, text.as_slice());
            let mut lines = Vec::new();
            while let Some(line) = read_line(&mut input, 5).unwrap() {
                lines.push(line);
            }
            let text = |text: &str| Line::Text(text.as_bytes().to_vec());
            assert_eq!(
                lines,
                [text("12345"), Line::TooLong, text(""), text("last")],
                "buffers of {size}"
            );
        }
    }
}
