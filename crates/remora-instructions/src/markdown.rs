//! One instruction text: removes the block comments and finds the files it
//! imports, in the blocks and pieces that the client's Markdown lexer sees
//! (`remora-marked-lexer`). Pure: whether a named file exists, and whether it
//! may be loaded, is not decided here.

mod miss;
mod scan;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use remora_marked_lexer::{
    Chunk, MarkedDocument, Piece, PieceSink, View, count_newlines, trim, trim_start,
};

pub(crate) use miss::{NearImportReason, find_near_imports};

/// What is left of a text, and the files it names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CleanedMarkdown {
    /// The text without its block comments; not trimmed.
    pub text: String,
    /// In the order in which the client looks them up; repeats are kept.
    pub imports: Vec<InstructionImport>,
}

/// A file that a text asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstructionImport {
    /// The path as it is looked up: blanks without their backslash, without
    /// a fragment.
    pub path: String,
    /// The line of the text that names it, from 1.
    pub line: usize,
}

/// Bytes of a file as text: bad UTF-8 replaced, line feeds only. A byte order
/// mark stays: to the client's Markdown reader it is a letter like others.
pub(crate) fn decode_text(bytes: &[u8]) -> String {
    // Validating first is much faster than the lossy conversion, and nearly all texts are
    // valid.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    };
    // A deliberate difference: the client keeps CR in files without comments.
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.into_owned()
    }
}

/// A text without blanks and byte order marks around it.
pub(crate) fn trim_text(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Cleans a text, whose frontmatter is already off, and finds its imports.
pub(crate) fn parse_markdown(body: &str) -> CleanedMarkdown {
    let comments = body.contains("<!--");
    let marks = body.contains('@');
    // Most files hold neither, and parsing would change nothing in them.
    if !comments && !marks {
        let text = body.to_owned();
        return CleanedMarkdown {
            text,
            ..CleanedMarkdown::default()
        };
    }
    let parsed = MarkedDocument::parse(body);
    let mut imports = ImportCollector(Vec::new());
    if marks {
        parsed.walk_pieces(&mut imports);
    }
    // Only a text with a comment is rebuilt from its blocks, as in the client: rebuilding
    // loses link definitions.
    let text = if comments {
        remove_comments(&parsed)
    } else {
        body.to_owned()
    };
    CleanedMarkdown {
        text,
        imports: imports.0,
    }
}

fn remove_comments(parsed: &MarkedDocument) -> String {
    let mut text = String::new();
    for block in parsed.top_blocks() {
        // Top-level blocks only: comments in lists, quotes and other HTML stay.
        if block.is_html && is_comment(block.raw) {
            text.push_str(&without_comments(block.raw));
        } else {
            text.push_str(block.raw);
        }
    }
    text
}

/// HTML that starts with a comment that ends.
fn is_comment(raw: &str) -> bool {
    trim_start(raw).starts_with("<!--") && raw.contains("-->")
}

/// What is left of such HTML; nothing, when only blanks are.
fn without_comments(raw: &str) -> Cow<'_, str> {
    let mut left = String::new();
    for (part, _) in list_uncommented_parts(raw) {
        left.push_str(part);
    }
    if trim(&left).is_empty() {
        return Cow::Borrowed("");
    }
    Cow::Owned(left)
}

/// The parts of HTML outside its comments, each with where it starts.
fn list_uncommented_parts(raw: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let from = next.take()?;
        let rest = &raw[from..];
        let open = rest.find("<!--");
        let ends = open.and_then(|open| Some((open, open + 4 + rest[open + 4..].find("-->")? + 3)));
        let Some((open, close)) = ends else {
            return Some((rest, from));
        };
        next = Some(from + close);
        Some((&rest[..open], from))
    })
}

/// HTML without its comments, with the lines it came from.
fn strip_comments(raw: &str, lines: &[usize]) -> Chunk {
    let raw = View { text: raw, lines };
    let mut left = Chunk::default();
    let mut rest = raw;
    let mut at = 0;
    for (part, from) in list_uncommented_parts(raw.text) {
        rest = rest.skip_bytes(from - at);
        at = from;
        let part = rest.take_bytes(part.len());
        if left.lines.is_empty() {
            left = part.to_chunk();
            continue;
        }
        left.text.push_str(part.text);
        if let Some(last) = left.lines.last_mut() {
            // The text on this line now comes from after the comment.
            *last = part.line_number(0);
        }
        left.lines.extend(part.lines.iter().skip(1));
    }
    left
}

struct ImportCollector(Vec<InstructionImport>);

impl ImportCollector {
    fn scan_text(&mut self, text: &str, lines: &[usize]) {
        let view = View { text, lines };
        let (mut line, mut counted) = (0, 0);
        for mark in scan::find_import_marks(text) {
            line += count_newlines(&text[counted..mark.at]);
            counted = mark.at;
            if let Some(path) = scan::parse_import_path(mark.token) {
                let line = view.line_number(line);
                self.0.push(InstructionImport { path, line });
            }
        }
    }
}

/// Only a text that holds an import mark is worth cutting up: nearly none does.
fn may_import(text: &str) -> bool {
    text.contains('@')
}

impl PieceSink for ImportCollector {
    fn wants_marks(&self, text: &str) -> bool {
        may_import(text)
    }

    fn accept_piece(&mut self, piece: Piece<'_>, lines: &[usize]) {
        match piece {
            // The client looks at lines of a list item twice: as one text, then at their inline
            // parts. So an import in a code span of a list item can count.
            Piece::Text(text, _) | Piece::Lines(text) => self.scan_text(text, lines),
            // What shares a line with a comment is kept, and so are imports in it.
            Piece::Html(html) if is_comment(html) => {
                let left = strip_comments(html, lines);
                self.scan_text(&left.text, &left.lines);
            }
            _ => {}
        }
    }
}
