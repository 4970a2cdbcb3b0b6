//! Text into terms: code words by part and as a whole, English words by their
//! stem, scripts without spaces by overlapping pairs of characters.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::{Deref, Range};
use std::rc::Rc;

use remora_core::hash::{HASH_START, extend_hash};
use rust_stemmers::{Algorithm, Stemmer};

use super::fold::{self, CharRole};

/// How many bytes a term has at most; longer ones are truncated.
pub const MAX_TERM_BYTES: usize = 64;

/// A compound of more parts than this has no term as a whole: it is a path or data,
/// not a name that is searched for.
const MAX_COMPOUND_PARTS: usize = 8;

/// What a term is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermRole {
    /// A word, or a part of a compound word.
    Part,
    /// A compound as a whole, in addition to its parts.
    Whole,
    /// A piece of a part, in addition to it.
    Piece,
}

/// A stretch of text that is split by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPiece<'a> {
    /// Letters and digits with single `_`, `-`, `.` or apostrophes between them.
    Segment(&'a str),
    /// A run of a script without spaces.
    Dense(&'a str),
}

/// Calls `take` with every term of the text, in order.
pub fn for_each_term(text: &str, take: impl FnMut(&str, TermRole)) {
    TermSplitter::new().for_each_term(text, take);
}

pub(super) fn to_composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(fold::compose_text(text))
    }
}

fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '\'' | '\u{2019}')
}

/// The character that begins at this byte.
fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
        Some(_) => text[at..].chars().next(),
        None => None,
    }
}

/// Splits the text where words end and where the script changes.
pub(super) fn for_each_piece<'a>(text: &'a str, mut take: impl FnMut(TextPiece<'a>)) {
    let mut start: Option<(usize, CharRole)> = None;
    let mut end = 0;
    while let Some(c) = char_at(text, end) {
        let at = end;
        end += c.len_utf8();
        let class = fold::classify_char(c);
        if let Some((from, running)) = start {
            if class == running {
                continue;
            }
            if running == CharRole::Word && is_joiner(c) {
                let next = char_at(text, end);
                if next.is_some_and(|next| fold::classify_char(next) == CharRole::Word) {
                    continue;
                }
            }
            // `c++` and `c#` are names of languages, not a letter and noise.
            if running == CharRole::Word && at - from == 1 {
                let rest = &text[at..];
                // Also its compiler, of which one letter would be left. Any other
                // letter is a variable that is counted up.
                let is_cpp = matches!(text.as_bytes()[from], b'c' | b'C' | b'g' | b'G');
                if is_cpp && rest.starts_with("++") {
                    take(TextPiece::Segment("cpp"));
                    start = None;
                    continue;
                }
                let sharp = match text.as_bytes()[from] {
                    b'c' | b'C' => Some("csharp"),
                    b'f' | b'F' => Some("fsharp"),
                    _ => None,
                };
                if let Some(name) = sharp.filter(|_| rest.starts_with('#')) {
                    take(TextPiece::Segment(name));
                    start = None;
                    continue;
                }
            }
            take(classify_piece(running, &text[from..at]));
            start = None;
        }
        if class != CharRole::Gap {
            start = Some((at, class));
        }
    }
    if let Some((from, running)) = start {
        take(classify_piece(running, &text[from..]));
    }
}

fn classify_piece(class: CharRole, text: &str) -> TextPiece<'_> {
    if class == CharRole::Dense {
        TextPiece::Dense(text)
    } else {
        TextPiece::Segment(text)
    }
}

/// Overlapping pairs of characters. The last character is also a term of its own,
/// so that every character begins some term and can be found by a prefix.
pub(super) fn split_dense_run(run: &str, take: &mut impl FnMut(&str, TermRole)) {
    let mut folded = String::with_capacity(run.len());
    for c in run.chars() {
        fold::push_folded(&mut folded, c);
    }
    let mut ends = folded.char_indices().map(|(at, _)| at).skip(1);
    let mut from = 0;
    let mut middle = ends.next().unwrap_or(folded.len());
    for next in ends.chain([folded.len()]) {
        if middle == folded.len() {
            break;
        }
        take(&folded[from..next], TermRole::Part);
        from = middle;
        middle = next;
    }
    if from < folded.len() {
        let role = if from == 0 {
            TermRole::Part
        } else {
            TermRole::Piece
        };
        take(&folded[from..], role);
    }
}

/// How many stems a thread remembers at most.
const MAX_CACHED_STEMS: usize = 16 * 1024;

thread_local! {
    /// Words are repeated, in one text and in many, and stemming takes longer than
    /// all else: all splitters of a thread share the cache.
    static STEM_CACHE: RefCell<StemCache> = RefCell::new(StemCache::new());
}

/// Splits one text after the other.
pub struct TermSplitter {
    parts: Vec<Range<usize>>,
    folded: String,
    whole: String,
}

impl Default for TermSplitter {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TermSplitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splitter").finish_non_exhaustive()
    }
}

impl TermSplitter {
    /// One with empty buffers.
    pub fn new() -> Self {
        Self {
            parts: Vec::new(),
            folded: String::new(),
            whole: String::new(),
        }
    }

    /// Calls `take` with every term of the text, in order.
    pub fn for_each_term(&mut self, text: &str, mut take: impl FnMut(&str, TermRole)) {
        let text = to_composed(text);
        for_each_piece(&text, |piece| match piece {
            TextPiece::Segment(segment) => self.split_segment(segment, &mut take),
            TextPiece::Dense(run) => split_dense_run(run, &mut take),
        });
    }

    /// Calls `take` with the parts of a segment, then with the segment as a whole.
    pub(super) fn split_segment(&mut self, segment: &str, take: &mut impl FnMut(&str, TermRole)) {
        // Most are a lower-case word, which is its only part.
        if segment.len() <= MAX_TERM_BYTES && segment.bytes().all(|b| b.is_ascii_lowercase()) {
            take(&stem_of(segment), TermRole::Part);
            return;
        }
        self.parts.clear();
        split_compound(segment, &mut self.parts);
        self.whole.clear();
        let mut words = 0;
        for part in &self.parts {
            let part = &segment[part.clone()];
            self.folded.clear();
            if part.bytes().all(|b| b.is_ascii_alphanumeric()) {
                self.folded.push_str(part);
                self.folded.make_ascii_lowercase();
            } else {
                for c in part.chars().filter(|c| !is_joiner(*c)) {
                    fold::push_folded(&mut self.folded, c);
                }
            }
            truncate_term(&mut self.folded);
            if self.folded.is_empty() {
                continue;
            }
            words += 1;
            take(&stem_of(&self.folded), TermRole::Part);
            if let Some((letters, digits)) = split_letters_digits(&self.folded) {
                for run in [letters, digits] {
                    if run.len() > 2 || (run.len() == 2 && letters.len() > 1) {
                        take(run, TermRole::Piece);
                    }
                }
            }
            if self.parts.len() > 1 && self.whole.len() <= MAX_TERM_BYTES {
                // `1.12` and `11.2` must not become the same term.
                let digit = |c: Option<char>| c.is_some_and(char::is_numeric);
                if digit(self.whole.chars().next_back()) && digit(self.folded.chars().next()) {
                    self.whole.push('_');
                }
                self.whole.push_str(&self.folded);
            }
        }
        if words > 1 && words <= MAX_COMPOUND_PARTS {
            truncate_term(&mut self.whole);
            take(&stem_of(&self.whole), TermRole::Whole);
        }
    }
}

fn truncate_term(term: &mut String) {
    term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
}

/// A fast hash for short words. It does not resist collisions on purpose, which
/// would only make a batch slower.
struct FnvHasher(u64);

impl Default for FnvHasher {
    fn default() -> Self {
        Self(HASH_START)
    }
}

impl Hasher for FnvHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = extend_hash(self.0, bytes);
    }
}

struct StemCache {
    stemmer: Stemmer,
    known: HashMap<Box<str>, KnownStem, BuildHasherDefault<FnvHasher>>,
}

enum KnownStem {
    /// So many bytes of the word: most stems are the word without its ending, and
    /// need no string of their own.
    Beginning(usize),
    Other(Rc<str>),
}

impl StemCache {
    fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: HashMap::default(),
        }
    }

    fn find<'a>(&mut self, word: &'a str) -> Stem<'a> {
        if let Some(stem) = self.known.get(word) {
            return match stem {
                KnownStem::Beginning(len) => Stem::Beginning(&word[..*len]),
                KnownStem::Other(stem) => Stem::Other(Rc::clone(stem)),
            };
        }
        if self.known.len() >= MAX_CACHED_STEMS {
            self.known.clear();
        }
        let stem = self.stemmer.stem(word);
        let (known, stem) = if word.starts_with(&*stem) {
            let len = stem.len();
            (KnownStem::Beginning(len), Stem::Beginning(&word[..len]))
        } else {
            let stem: Rc<str> = stem.into();
            (KnownStem::Other(Rc::clone(&stem)), Stem::Other(stem))
        };
        self.known.insert(word.into(), known);
        stem
    }
}

/// A stem, or a word that is its own.
enum Stem<'a> {
    Beginning(&'a str),
    Other(Rc<str>),
}

impl Deref for Stem<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Beginning(stem) => stem,
            Self::Other(stem) => stem,
        }
    }
}

/// Whether the stemmer leaves a word as it is, because no suffix that it removes
/// ends in these letters. For other words the stemmer has to be asked; the test
/// compares both for every ending of three letters.
fn is_own_stem(word: &str) -> bool {
    let ends = |ending: &str| word.ends_with(ending);
    match word.as_bytes().last() {
        Some(b'c') => !ends("ic"),
        Some(b'd') => !ends("ed"),
        Some(b'g') => !ends("ing"),
        Some(b'm') => !ends("ism"),
        Some(b'n') => !ends("ion"),
        Some(b'r') => !ends("er") && !ends("or"),
        Some(b't') => !ends("nt"),
        Some(b'e' | b'i' | b'l' | b's' | b'y') | None => false,
        Some(_) => true,
    }
}

fn stem_of(word: &str) -> Stem<'_> {
    // The stemmer knows English only.
    if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Stem::Beginning(word);
    }
    if is_own_stem(word) {
        return Stem::Beginning(word);
    }
    // The stem is returned and the cache released before `take` is called with it:
    // the caller may split another text there.
    STEM_CACHE.with_borrow_mut(|stems| stems.find(word))
}

/// Letters followed by digits, as in `e0502`.
fn split_letters_digits(word: &str) -> Option<(&str, &str)> {
    let at = word.bytes().position(|b| b.is_ascii_digit())?;
    let (letters, digits) = word.split_at(at);
    (!letters.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some((letters, digits))
}

/// The parts of a segment: split at its joiners, and where the case changes.
fn split_compound(segment: &str, parts: &mut Vec<Range<usize>>) {
    let mut from = 0;
    let mut before: Option<char> = None;
    let mut end = 0;
    while let Some(c) = char_at(segment, end) {
        let at = end;
        end += c.len_utf8();
        let next = char_at(segment, end);
        if matches!(c, '\'' | '\u{2019}') {
            // The `'s` of a possessive is no part of the name.
            let possessive = matches!(next, Some('s' | 'S')) && end + 1 == segment.len();
            if possessive {
                parts.push(from..at);
                return;
            }
        } else if is_joiner(c) {
            parts.push(from..at);
            from = end;
            before = None;
            continue;
        } else if c.is_uppercase()
            && before.is_some_and(|b| {
                let next_is_small = next.is_some_and(char::is_lowercase);
                b.is_lowercase() || ((b.is_uppercase() || b.is_numeric()) && next_is_small)
            })
        {
            parts.push(from..at);
            from = at;
        }
        before = Some(c);
    }
    if from < segment.len() {
        parts.push(from..segment.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_stemmed_right(word: &str) -> bool {
        !is_own_stem(word) || Stemmer::create(Algorithm::English).stem(word) == word
    }

    #[test]
    fn what_counts_as_its_own_stem_is() {
        // Every ending of three letters, behind something that leaves it room.
        let letters = || (b'a'..=b'z').map(char::from);
        for (a, b) in letters().flat_map(|a| letters().map(move |b| (a, b))) {
            for c in letters() {
                for start in ["", "y", "sky", "gener", "rational"] {
                    let word = format!("{start}{a}{b}{c}");
                    assert!(is_stemmed_right(&word), "{word}");
                }
            }
        }
        assert!(is_own_stem("index") && !is_own_stem("header"));
    }

    proptest! {
        #[test]
        fn any_word_that_counts_as_its_own_stem_is(word in "[a-z]{3,14}") {
            prop_assert!(is_stemmed_right(&word));
        }
    }
}
