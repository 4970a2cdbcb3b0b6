//! Marks that look like an import and are none, with the reason. For users who
//! wonder why a file is not loaded; nothing is loaded by this.

use remora_marked_lexer::{
    MarkedDocument, Piece, PieceSink, View, count_newlines, is_space, trim_start,
};

use super::{ImportCollector, is_comment, list_uncommented_parts, may_import, scan};

/// A mark that looks like an import, and does not import what it seems to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NearImport {
    /// The line of the text, from 1.
    pub line: usize,
    /// The path that was probably meant.
    pub token: String,
    /// Why the client does not follow it.
    pub why: NearImportReason,
}

/// Why a mark is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NearImportReason {
    /// In a code span, a fence or indented code.
    InCode,
    /// In an HTML comment.
    InComment,
    /// In an HTML block or tag, or in the text of an image.
    InHtml,
    /// Behind a character that is no white space: `(@x.md)`.
    AfterPunctuation,
    /// What follows is taken for a part of the name: `@x.md,`.
    TrailingPunctuation,
    /// Behind a backslash.
    Escaped,
    /// Emphasis marks or an escape cut the name: `@a/__init__.md`.
    BrokenByEmphasis,
    /// A path cannot start like this: `@"a b.md"`.
    FirstCharacter,
}

/// What writers put around a path or behind it.
const PATH_DELIMITERS: &[char] = &[
    ',', ';', '.', ':', ')', '(', ']', '[', '}', '{', '!', '?', '"', '\'', '`', '*', '_', '<', '>',
    '|', '~', '“', '”', '‘', '’', '«', '»', '…', '。', '、', '，',
];

/// All marks of a text, whose frontmatter is already off, that look like an
/// import and are none.
pub(crate) fn find_near_imports(body: &str) -> Vec<NearImport> {
    if !may_import(body) {
        return Vec::new();
    }
    let parsed = MarkedDocument::parse(body);
    let mut found = NearImportCollector {
        list: Vec::new(),
        imports: ImportCollector(Vec::new()),
    };
    parsed.walk_pieces(&mut found);
    let mut list = found.list;
    let imported: std::collections::HashSet<(usize, String)> = found
        .imports
        .0
        .into_iter()
        .map(|import| (import.line, import.path))
        .collect();
    // The same path may work elsewhere on the line, as in the twice-read lines of a list.
    list.retain(|miss| !imported.contains(&(miss.line, miss.token.clone())));
    list
}

struct NearImportCollector {
    list: Vec<NearImport>,
    imports: ImportCollector,
}

impl NearImportCollector {
    /// Every mark in a part that is not read for imports.
    fn add_unread_marks(&mut self, text: &str, lines: &[usize], why: NearImportReason) {
        for word in list_marked_words(text) {
            self.add_word(word.text, View { text, lines }.line_number(word.line), why);
        }
    }

    fn add_word(&mut self, word: &str, line: usize, why: NearImportReason) {
        if let Some(token) = guess_path(word) {
            self.list.push(NearImport { line, token, why });
        }
    }

    fn scan_text(&mut self, text: &str, after: &str, lines: &[usize]) {
        for word in list_marked_words(text) {
            let line = View { text, lines }.line_number(word.line);
            let before = text[..word.at].chars().next_back();
            if before.is_some_and(|c| !is_space(c)) {
                self.add_word(word.text, line, NearImportReason::AfterPunctuation);
                continue;
            }
            let last = word.at + 1 + word.text.len() == text.len();
            // The name goes on behind a mark that the lexer took for emphasis or an escape.
            if last && after.starts_with(['*', '_', '\\']) {
                let whole = format!("{}{}", word.text, first_word(after)).replace('\\', "");
                if guess_path(&whole) != guess_path(word.text) {
                    self.add_word(&whole, line, NearImportReason::BrokenByEmphasis);
                    continue;
                }
            }
            match scan::parse_import_path(word.text) {
                None => self.add_word(word.text, line, NearImportReason::FirstCharacter),
                Some(path) if path.ends_with(PATH_DELIMITERS) => {
                    self.add_word(word.text, line, NearImportReason::TrailingPunctuation);
                }
                Some(_) => {}
            }
        }
    }

    fn scan_html(&mut self, html: &str, lines: &[usize]) {
        if !is_comment(html) {
            let open = trim_start(html).starts_with("<!--");
            let why = if open {
                NearImportReason::InComment
            } else {
                NearImportReason::InHtml
            };
            self.add_unread_marks(html, lines, why);
            return;
        }
        let mut rest = View { text: html, lines };
        let mut at = 0;
        for (part, from) in list_uncommented_parts(html) {
            let comment = rest.take_bytes(from - at);
            self.add_unread_marks(comment.text, comment.lines, NearImportReason::InComment);
            rest = rest.skip_bytes(from - at);
            let kept = rest.take_bytes(part.len());
            self.scan_text(kept.text, "", kept.lines);
            rest = rest.skip_bytes(part.len());
            at = from + part.len();
        }
    }
}

impl PieceSink for NearImportCollector {
    fn wants_marks(&self, text: &str) -> bool {
        may_import(text)
    }

    fn accept_piece(&mut self, piece: Piece<'_>, lines: &[usize]) {
        match piece {
            Piece::Text(text, after) => self.scan_text(text, after, lines),
            Piece::Code(text) => self.add_unread_marks(text, lines, NearImportReason::InCode),
            Piece::Html(text) => self.scan_html(text, lines),
            Piece::Image(text) => self.add_unread_marks(text, lines, NearImportReason::InHtml),
            Piece::Escape("\\@", after) => {
                let line = View { text: "", lines }.line_number(0);
                self.add_word(first_word(after), line, NearImportReason::Escaped);
            }
            Piece::Escape(..) | Piece::Lines(_) => {}
        }
        self.imports.accept_piece(piece, lines);
    }
}

/// A word behind an `@`.
struct MarkedWord<'a> {
    at: usize,
    /// The index of its line in the text.
    line: usize,
    text: &'a str,
}

/// No path is longer than this, so no word needs to be.
const MAX_WORD_BYTES: usize = 4096;

/// The first word of a text; blanks behind a backslash belong to it.
fn first_word(text: &str) -> &str {
    let mut escaped = false;
    let end = text.char_indices().find(|(at, c)| {
        let ends = *at >= MAX_WORD_BYTES || (is_space(*c) && !(escaped && *c == ' '));
        escaped = *c == '\\';
        ends
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Each `@` that can start a path, with the word behind it. An `@` inside a
/// word is part of an address, and one in a URL is part of that.
fn list_marked_words(text: &str) -> impl Iterator<Item = MarkedWord<'_>> {
    let mut from = 0;
    let (mut line, mut counted) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find('@')?;
            let before = &text[from..at];
            let inside = |c: char| c.is_alphanumeric() || matches!(c, '@' | '\\' | '+' | '_');
            let head = before.rsplit(is_space).next().unwrap_or_default();
            let first = text[..at].chars().next_back();
            from = at + 1;
            // Mail addresses, scoped versions and URLs are not meant as imports.
            if first.is_some_and(inside) || head.contains("://") {
                continue;
            }
            let word = first_word(&text[from..]);
            from += word.len();
            line += count_newlines(&text[counted..at]);
            counted = at;
            return Some(MarkedWord {
                at,
                line,
                text: word,
            });
        }
    })
}

/// The path that a word probably means, if it looks like one at all: a file
/// name with an extension, or something that starts like a path.
fn guess_path(word: &str) -> Option<String> {
    let word = word.split(['#', '<', '`']).next().unwrap_or_default();
    let word = word.replace("\\ ", " ");
    // Without the punctuation around it: the question is what the user meant.
    let word = word.trim_end_matches(PATH_DELIMITERS);
    let word = word.trim_start_matches(['"', '\'', '(', '[', '{', '“', '‘', '«']);
    let rooted = ["./", "../", "~/", "/"].iter().any(|root| {
        word.strip_prefix(root)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric) || rest.starts_with('.'))
    });
    let name = word.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        // A version such as `@pkg/x@1.2` has digits only and is no extension.
        (1..=12).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.chars().any(|c| c.is_ascii_alphabetic())
    });
    (rooted || extension).then(|| word.to_owned())
}
