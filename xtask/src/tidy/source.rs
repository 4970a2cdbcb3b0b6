//! Tells code, comments and string literals of a Rust file apart.
//!
//! Not a parser: just enough of the lexical grammar that a rule about code is
//! not tripped by a comment, and a rule about text is not tripped by code.

use std::ops::Range;

/// A Rust file, split into code, strings and tests.
pub(crate) struct RustSource {
    /// The text with comments and the insides of literals blanked out; every
    /// byte keeps its place, so offsets and lines agree with the original.
    pub(crate) code: String,
    /// Every string literal: where it starts and the text between the quotes.
    pub(crate) strings: Vec<(usize, String)>,
    /// Byte ranges of items marked `#[cfg(test)]`.
    pub(crate) tests: Vec<Range<usize>>,
}

impl RustSource {
    pub(crate) fn parse_text(text: &str) -> Self {
        let (code, strings) = Lexer::new(text).run();
        let tests = test_items(&code);
        Self {
            code,
            strings,
            tests,
        }
    }

    /// Whether this offset lies in an item that only tests see.
    pub(crate) fn in_tests(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// Offsets at which `word` occurs in code, not as part of a longer name.
    pub(crate) fn find(&self, word: &str) -> Vec<usize> {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        self.code
            .match_indices(word)
            .filter(|(at, _)| {
                let before = self.code[..*at].chars().next_back();
                let after = self.code[at + word.len()..].chars().next();
                let open = |edge: Option<char>, own: Option<char>| {
                    !(edge.is_some_and(part) && own.is_some_and(part))
                };
                open(before, word.chars().next()) && open(after, word.chars().next_back())
            })
            .map(|(at, _)| at)
            .collect()
    }
}

/// The 1-based line of a byte offset.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    code: Vec<u8>,
    strings: Vec<(usize, String)>,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            code: text.as_bytes().to_vec(),
            strings: Vec::new(),
        }
    }

    fn run(mut self) -> (String, Vec<(usize, String)>) {
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(b"//") {
                let end = rest.iter().position(|byte| *byte == b'\n');
                self.blank_range(self.at..self.at + end.unwrap_or(rest.len()));
            } else if rest.starts_with(b"/*") {
                self.block_comment();
            } else if rest[0] == b'"' {
                self.skip_string();
            } else if rest[0] == b'\'' {
                self.skip_quote();
            } else if let Some(hashes) = self.raw_string() {
                self.skip_raw_string(hashes);
            } else {
                self.at += 1;
            }
        }
        (
            String::from_utf8_lossy(&self.code).into_owned(),
            self.strings,
        )
    }

    /// Blanks a range, keeping line ends, and goes on behind it.
    fn blank_range(&mut self, range: Range<usize>) {
        self.at = range.end;
        for byte in &mut self.code[range] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut end = start + 2;
        let mut depth = 1;
        while depth > 0 && end < self.bytes.len() {
            if self.bytes[end..].starts_with(b"/*") {
                depth += 1;
                end += 2;
            } else if self.bytes[end..].starts_with(b"*/") {
                depth -= 1;
                end += 2;
            } else {
                end += 1;
            }
        }
        self.blank_range(start..end.min(self.bytes.len()));
    }

    fn skip_string(&mut self) {
        let start = self.at + 1;
        let mut end = start;
        while end < self.bytes.len() && self.bytes[end] != b'"' {
            end += if self.bytes[end] == b'\\' { 2 } else { 1 };
        }
        self.record_literal(start, end.min(self.bytes.len()), 1);
    }

    /// `r"`, `r#"`, `br"`, `cr#"` at the cursor, if it does not end a name:
    /// the number of hashes.
    fn raw_string(&self) -> Option<usize> {
        let named = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if self.at > 0 && self.bytes.get(self.at - 1).is_some_and(named) {
            return None;
        }
        let rest = &self.bytes[self.at..];
        let rest = rest
            .strip_prefix(b"b")
            .or_else(|| rest.strip_prefix(b"c"))
            .unwrap_or(rest);
        let rest = rest.strip_prefix(b"r")?;
        let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
        (rest.get(hashes) == Some(&b'"')).then_some(hashes)
    }

    fn skip_raw_string(&mut self, hashes: usize) {
        let open = self.bytes[self.at..].iter().position(|byte| *byte == b'"');
        let start = self.at + open.unwrap_or(0) + 1;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = self.text[start..]
            .find(&close)
            .map_or(self.bytes.len(), |length| start + length);
        self.record_literal(start, end, close.len());
    }

    fn record_literal(&mut self, start: usize, end: usize, close: usize) {
        let text = String::from_utf8_lossy(&self.bytes[start..end]).into_owned();
        self.strings.push((start, text));
        self.blank_range(start..end);
        self.at = (end + close).min(self.bytes.len());
    }

    /// A character literal is blanked; a lifetime is left alone.
    fn skip_quote(&mut self) {
        let start = self.at + 1;
        if self.bytes.get(start) == Some(&b'\\') {
            let rest = self.bytes.get(start + 2..).unwrap_or_default();
            let end = rest.iter().position(|byte| *byte == b'\'');
            self.blank_range(start..end.map_or(self.bytes.len(), |length| start + 2 + length));
            self.at += 1;
            return;
        }
        let width = self.text[start..].chars().next().map_or(0, char::len_utf8);
        if self.bytes.get(start + width) == Some(&b'\'') {
            self.blank_range(start..start + width);
        }
        self.at += 1;
    }
}

/// Finds `#[cfg(test)]` and the item behind it, up to its closing brace or
/// semicolon.
fn test_items(code: &str) -> Vec<Range<usize>> {
    const TEST_ATTRIBUTE: &str = "#[cfg(test)]";
    let mut items: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices(TEST_ATTRIBUTE) {
        if items.last().is_some_and(|last| last.contains(&start)) {
            continue;
        }
        let mut depth = 0_usize;
        let mut end = code.len();
        for (offset, byte) in code.bytes().enumerate().skip(start + TEST_ATTRIBUTE.len()) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => {}
                _ => continue,
            }
            if depth == 0 {
                end = offset + 1;
                break;
            }
        }
        items.push(start..end);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let text = r##"
            // todo!() one
            /* todo!() /* nested */ still todo!() */
            let a = "todo!() \" still";
            let b = r#"todo!() " still"#;
            let c: &'static str = "x"; let d = '"'; let e = '\''; let f = b"todo!()";
            todo!("why");
        "##;
        let source = RustSource::parse_text(text);
        let found = source.find("todo!");
        assert_eq!(found.len(), 1);
        assert_eq!(line_of(text, found[0]), 7);
        let strings: Vec<_> = source.strings.iter().map(|(_, s)| s.as_str()).collect();
        assert_eq!(
            strings,
            [
                "todo!() \\\" still",
                "todo!() \" still",
                "x",
                "todo!()",
                "why"
            ]
        );
    }

    #[test]
    fn names_are_found_whole() {
        let source = RustSource::parse_text("env::var_os(x); my_env::var(x); env::var(x)");
        assert_eq!(source.find("env::var").len(), 1);
    }

    #[test]
    fn test_items_end_with_their_brace_or_semicolon() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { } }\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}";
        let source = RustSource::parse_text(text);
        let inside = |word: &str| source.in_tests(text.find(word).unwrap());
        assert!(inside("fn b") && inside("mod more"));
        assert!(!inside("fn a") && !inside("fn c") && !inside("fn d"));
    }

    #[test]
    fn unfinished_text_does_not_panic() {
        for text in [
            "\"abc", "r#\"abc", "/* abc", "'", "'\\", "b", "'é'", "\"\\", "// x",
        ] {
            RustSource::parse_text(text);
        }
    }
}
