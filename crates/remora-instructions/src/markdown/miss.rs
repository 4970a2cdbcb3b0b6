//! Marks that look like an import and are none, with the reason. For people
//! who wonder why a file is not loaded; nothing is loaded by this.

use super::chars::is_space;
use super::inline::{Piece, Sink};
use super::view::{View, count};
use super::{Imports, Parsed, is_comment, outside, scan};

/// A mark that looks like an import, and does not import what it seems to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Miss {
    /// The line of the text, from 1.
    pub line: usize,
    /// The path that was probably meant.
    pub token: String,
    /// Why the client does not follow it.
    pub why: MissKind,
}

/// Why a mark is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissKind {
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

/// What people put around a path or behind it.
const AROUND: &[char] = &[
    ',', ';', '.', ':', ')', '(', ']', '[', '}', '{', '!', '?', '"', '\'', '`', '*', '_', '<', '>',
    '|', '~', '“', '”', '‘', '’', '«', '»', '…', '。', '、', '，',
];

/// All marks of a text, whose frontmatter is already off, that look like an
/// import and are none.
pub(crate) fn misses(body: &str) -> Vec<Miss> {
    if !body.contains('@') {
        return Vec::new();
    }
    let parsed = Parsed::new(body);
    let mut found = Misses {
        list: Vec::new(),
        imports: Imports(Vec::new()),
    };
    parsed.walk(&mut found);
    let mut list = found.list;
    let taken: std::collections::HashSet<(usize, String)> = found
        .imports
        .0
        .into_iter()
        .map(|import| (import.line, import.path))
        .collect();
    list.retain(|miss| !taken.contains(&(miss.line, miss.token.clone())));
    list
}

struct Misses {
    list: Vec<Miss>,
    imports: Imports,
}

impl Misses {
    /// Every mark in a part that is not read for imports.
    fn unread(&mut self, text: &str, lines: &[usize], why: MissKind) {
        for word in words(text) {
            self.add(word.text, View { text, lines }.line(word.line), why);
        }
    }

    fn add(&mut self, word: &str, line: usize, why: MissKind) {
        if let Some(token) = meant(word) {
            self.list.push(Miss { line, token, why });
        }
    }

    fn text(&mut self, text: &str, after: &str, lines: &[usize]) {
        for word in words(text) {
            let line = View { text, lines }.line(word.line);
            let before = text[..word.at].chars().next_back();
            if before.is_some_and(|c| !is_space(c)) {
                self.add(word.text, line, MissKind::AfterPunctuation);
                continue;
            }
            let last = word.at + 1 + word.text.len() == text.len();
            if last && after.starts_with(['*', '_', '\\']) {
                let whole = format!("{}{}", word.text, start(after)).replace('\\', "");
                if meant(&whole) != meant(word.text) {
                    self.add(&whole, line, MissKind::BrokenByEmphasis);
                    continue;
                }
            }
            match scan::path(word.text) {
                None => self.add(word.text, line, MissKind::FirstCharacter),
                Some(path) if path.ends_with(AROUND) => {
                    self.add(word.text, line, MissKind::TrailingPunctuation);
                }
                Some(_) => {}
            }
        }
    }

    fn html(&mut self, html: &str, lines: &[usize]) {
        if !is_comment(html) {
            let open = super::chars::trim_start(html).starts_with("<!--");
            let why = if open {
                MissKind::InComment
            } else {
                MissKind::InHtml
            };
            self.unread(html, lines, why);
            return;
        }
        let mut rest = View { text: html, lines };
        let mut at = 0;
        for (part, from) in outside(html) {
            let comment = rest.take(from - at);
            self.unread(comment.text, comment.lines, MissKind::InComment);
            rest = rest.skip(from - at);
            let kept = rest.take(part.len());
            self.text(kept.text, "", kept.lines);
            rest = rest.skip(part.len());
            at = from + part.len();
        }
    }
}

impl Sink for Misses {
    fn piece(&mut self, piece: Piece<'_>, lines: &[usize]) {
        match piece {
            Piece::Text(text, after) => self.text(text, after, lines),
            Piece::Code(text) => self.unread(text, lines, MissKind::InCode),
            Piece::Html(text) => self.html(text, lines),
            Piece::Image(text) => self.unread(text, lines, MissKind::InHtml),
            Piece::Escape("\\@", after) => {
                let line = View { text: "", lines }.line(0);
                self.add(start(after), line, MissKind::Escaped);
            }
            Piece::Escape(..) | Piece::Lines(_) => {}
        }
        self.imports.piece(piece, lines);
    }
}

/// A word behind an `@`.
struct Word<'a> {
    at: usize,
    /// The index of its line in the text.
    line: usize,
    text: &'a str,
}

/// No path is longer than this, so no word needs to be.
const WORD: usize = 4096;

/// The first word of a text; blanks behind a backslash belong to it.
fn start(text: &str) -> &str {
    let mut escaped = false;
    let end = text.char_indices().find(|(at, c)| {
        let ends = *at >= WORD || (is_space(*c) && !(escaped && *c == ' '));
        escaped = *c == '\\';
        ends
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Each `@` that can start a path, with the word behind it. An `@` inside a
/// word is part of an address, and one in a URL is part of that.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
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
            if first.is_some_and(inside) || head.contains("://") {
                continue;
            }
            let word = start(&text[from..]);
            from += word.len();
            line += count(&text[counted..at]);
            counted = at;
            return Some(Word {
                at,
                line,
                text: word,
            });
        }
    })
}

/// The path that a word probably means, if it looks like one at all: a file
/// name with an extension, or something that starts like a path.
fn meant(word: &str) -> Option<String> {
    let word = word.split(['#', '<', '`']).next().unwrap_or_default();
    let word = word.replace("\\ ", " ");
    let word = word.trim_end_matches(AROUND);
    let word = word.trim_start_matches(['"', '\'', '(', '[', '{', '“', '‘', '«']);
    let rooted = ["./", "../", "~/", "/"].iter().any(|root| {
        word.strip_prefix(root)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric) || rest.starts_with('.'))
    });
    let name = word.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=12).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.chars().any(|c| c.is_ascii_alphabetic())
    });
    (rooted || extension).then(|| word.to_owned())
}
