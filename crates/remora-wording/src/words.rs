//! Words as statements are compared by them: tokens, stems, and the small
//! closed lists that more than one reader asks. English only.

use std::collections::HashSet;
use std::sync::OnceLock;

use remora_core::hash::stable_hash;

/// A word of a statement, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    /// It is in a code span, so it is a name and never a negation.
    pub(super) code: bool,
    /// Where a link leads to.
    pub(super) target: bool,
    /// The mark behind it that ends a clause.
    pub(super) mark: Option<char>,
}

/// A list of words, kept as stems.
pub(super) struct List {
    words: &'static [&'static str],
    stems: OnceLock<HashSet<String>>,
}

impl List {
    /// Words, several to a text.
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        Self {
            words,
            stems: OnceLock::new(),
        }
    }

    pub(super) fn contains_stem(&self, stemmed: &str) -> bool {
        let stems = self.stems.get_or_init(|| {
            let words = self.words.iter().flat_map(|words| words.split(' '));
            words.map(stem_word).collect()
        });
        stems.contains(stemmed)
    }
}

/// Words without weight of their own.
static EMPTY_WORDS: List = List::new(&[
    "a all also always an and any anything are as at be been being both by can could did do does",
    "each either ensure every everything everywhere explicitly fine for from generally had has have",
    "he her here his i if in into is it its just let like make may me must my need needs of ok okay",
    "on only onto or our please possible project really repo repository require required shall she",
    "should simply so strictly strongly such sure than that the their them then there these they",
    "this those to too under us usually very via want was we well were when which who will with",
    "would you your codebase allowed preferred new below",
]);

/// Words that deny what follows them.
static NEGATION_WORDS: List = List::new(&[
    "never not no avoid avoids forbid forbids prohibit prohibits disallow disallows ban bans",
    "disable disabled cannot without stop neither nor",
]);

/// Words that deny the text before them.
const PROHIBITION_WORDS: &[&str] = &["forbidden", "banned", "prohibited", "disallowed"];

const NUMBER_WORDS: &[(&str, &str)] = &[
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
];

/// Words before a number that only counts things.
static COUNTED_NOUNS: List = List::new(&[
    "step phase part section chapter issue ticket pr item level option example rule note figure",
    "table page task milestone stage tier priority status code error case appendix day week http",
    "question number scenario method approach line lines",
]);

/// Marks the target of a link; no text contains this character.
const LINK_TARGET_MARK: char = '\u{1}';

/// Whether a stem has no weight of its own.
pub(super) fn is_empty(stemmed: &str) -> bool {
    EMPTY_WORDS.contains_stem(stemmed)
}

/// Whether a word denies what follows it.
pub(super) fn is_negation(word: &str) -> bool {
    !is_forbidden(word) && NEGATION_WORDS.contains_stem(&stem_word(word))
}

/// Whether a word denies the text before it.
pub(super) fn is_forbidden(word: &str) -> bool {
    PROHIBITION_WORDS.contains(&word)
}

/// Whether a number behind this word only counts.
pub(super) fn is_counted(word: &str) -> bool {
    COUNTED_NOUNS.contains_stem(&stem_word(word))
}

/// The words of a text.
pub(super) fn split_tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut in_code = false;
    // The words of a link, and where it leads to.
    let text = text.replace("](", &format!(" {LINK_TARGET_MARK}"));
    for piece in text.split_whitespace() {
        // A code span may begin inside parentheses or emphasis.
        let opened = piece.trim_start_matches(['(', '[', '*', '"', '\'']);
        let code = in_code || opened.starts_with('`');
        if piece.matches('`').count() % 2 == 1 {
            in_code = !in_code;
        }
        let ends = piece.trim_end_matches(['`', '"', '\'', ')', '*', '_']);
        let mark = ends
            .chars()
            .next_back()
            .filter(|c| [',', ';', '.', ':', '!', '?'].contains(c));
        let bare = piece
            .trim_matches(|c: char| !(c.is_alphanumeric() || "/_+#%".contains(c)))
            .to_lowercase()
            .replace('\u{2019}', "'");
        let url = bare.contains("://");
        let before = found.len();
        for text in split_word(&bare) {
            found.push(Token {
                text,
                code,
                target: url || piece.starts_with(LINK_TARGET_MARK),
                mark: None,
            });
        }
        if found.len() > before {
            join_compound_names(&mut found);
        }
        if let Some(last) = found.last_mut()
            && mark.is_some()
        {
            last.mark = mark;
        }
    }
    found
}

/// One word, or several: contractions and hyphens are taken apart.
fn split_word(bare: &str) -> Vec<String> {
    if let Some(verb) = bare.strip_suffix("n't") {
        // "don't use" becomes "not use", and "shouldn't" keeps its verb.
        let mut parts = vec!["not".to_owned()];
        if !["do", "ca", "wo", ""].contains(&verb) {
            parts.insert(0, verb.to_owned());
        }
        return parts;
    }
    let bare = bare.replace(['\'', '`', '*'], "");
    let bare = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| bare.strip_prefix(scheme))
        .unwrap_or(&bare);
    let bare = bare.strip_prefix("www.").unwrap_or(bare);
    let emphasis = bare.len() > 2 && bare.starts_with('_') && bare.ends_with('_');
    let bare = if emphasis {
        bare.trim_matches('_')
    } else {
        bare
    };
    // Paths, versions and identifiers are one word; only prose is taken apart.
    let whole = bare.contains(|c: char| c.is_ascii_digit() || "/._+=".contains(c));
    let parts: Vec<&str> = if whole {
        vec![bare.trim_end_matches('/')]
    } else {
        bare.split(['-', '\u{2013}', '\u{2014}', ':']).collect()
    };
    parts
        .into_iter()
        .filter(|part| part.contains(char::is_alphanumeric))
        .map(|part| {
            let number = NUMBER_WORDS.iter().find(|(word, _)| *word == part);
            number.map_or(part, |(_, digit)| digit).to_owned()
        })
        .collect()
}

/// Puts names of two words together at the end.
fn join_compound_names(found: &mut Vec<Token>) {
    let Some(last) = found.last_mut() else {
        return;
    };
    if last.text == "snake_case" {
        "snakecase".clone_into(&mut last.text);
    }
    let text = last.text.clone();
    let quote = ["quote", "quotes", "quoted"].contains(&text.as_str());
    let Some(before) = found.len().checked_sub(2).map(|at| &found[at]) else {
        return;
    };
    let joint = match before.text.as_str() {
        "single" if quote => "singlequote",
        "double" if quote => "doublequote",
        "camel" if text == "case" => "camelcase",
        "snake" if text == "case" => "snakecase",
        "kebab" if text == "case" => "kebabcase",
        "pascal" if text == "case" => "pascalcase",
        _ => return,
    };
    found.pop();
    if let Some(last) = found.last_mut() {
        joint.clone_into(&mut last.text);
    }
}

/// A hash in place of a word, because comparisons dominate the cost.
pub(super) fn hash_word(text: &str) -> u64 {
    stable_hash(text.as_bytes())
}

/// Endings of words, the longer ones first.
const WORD_ENDINGS: &[&str] = &[
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ies", "ied", "ed", "es",
    "s", "e", "y",
];

/// A word without its most common endings; the same for both sides is all
/// that is asked of it.
pub(super) fn stem_word(word: &str) -> String {
    // Endings of English words only; names in code are compared as they are.
    if !word.is_ascii() || word.len() < 4 || word.contains(['_', '/', '.']) {
        return word.to_owned();
    }
    let cut = WORD_ENDINGS
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= 3))
        .unwrap_or(word);
    let bytes = cut.as_bytes();
    // "running" and "run" share a stem; "pass" and "call" keep their letters.
    let doubled = bytes.len() > 3
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && !matches!(bytes[bytes.len() - 1], b's' | b'l' | b'e' | b'o');
    let cut = if doubled { &cut[..cut.len() - 1] } else { cut };
    cut.strip_suffix(['e', 'y'])
        .filter(|stem| stem.len() >= 3)
        .unwrap_or(cut)
        .to_owned()
}
