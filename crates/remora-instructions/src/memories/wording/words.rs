//! A statement as words: which carry it, which only hold it together, and
//! which are denied.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Wording;

/// Say nothing about what a statement is about.
const STOP: &[&str] = &[
    "the", "a", "an", "is", "are", "be", "been", "was", "were", "to", "of", "in", "for", "on",
    "at", "with", "and", "or", "that", "this", "these", "those", "it", "its", "we", "our", "you",
    "your", "they", "their", "them", "he", "she", "his", "her", "i", "my", "me", "which", "who",
    "as", "by", "from", "all", "every", "each", "must", "should", "shall", "can", "will", "may",
    "always", "please", "just", "so", "if", "then", "than", "when", "there", "here", "has", "have",
    "had", "do", "does", "did", "also", "into", "under", "below", "need", "needs", "only", "very",
    "well", "both", "too", "such", "like",
];

/// Verbs and nouns that fit any statement; they count a little.
const WEAK: &[&str] = &[
    "use",
    "used",
    "using",
    "uses",
    "prefer",
    "preferred",
    "prefers",
    "keep",
    "kept",
    "make",
    "write",
    "written",
    "run",
    "runs",
    "running",
    "store",
    "stored",
    "live",
    "lives",
    "come",
    "comes",
    "put",
    "give",
    "add",
    "adding",
    "adds",
    "start",
    "starts",
    "begin",
    "begins",
    "happen",
    "happens",
    "allow",
    "allowed",
    "enable",
    "enabled",
    "before",
    "after",
    "first",
    "new",
    "any",
    "code",
    "max",
    "maximum",
    "most",
    "follow",
    "follows",
    "require",
    "required",
    "requires",
    "set",
    "go",
    "sure",
    "ensure",
    "directly",
    "branch",
    "project",
];

/// Deny what follows them, up to the end of the clause.
const DENY: &[&str] = &[
    "not", "never", "no", "dont", "doesnt", "mustnt", "shouldnt", "cannot", "cant", "wont", "isnt",
    "arent", "without", "avoid", "avoids", "forbid", "forbids", "disallow", "prohibit", "ban",
    "disable", "disabled", "stop", "neither", "nor", "instead", "rather", "dislike", "dislikes",
];

/// Deny what stands before them in the clause.
const DENIED: &[&str] = &[
    "forbidden",
    "banned",
    "prohibited",
    "disallowed",
    "deprecated",
];

/// Leave something out of what a statement says.
const EXCEPT: &[&str] = &["outside", "except", "elsewhere", "besides", "other"];

/// Begin statements of which many can hold at once.
const ADDITIVE: &[&str] = &[
    "run", "runs", "ask", "add", "check", "read", "see", "update", "create", "look", "remember",
    "include",
];

/// Exclude each other where both could stand.
const OPPOSITES: &[(&str, &str)] = &[
    ("tabs", "spaces"),
    ("single", "double"),
    ("async", "sync"),
    ("async", "synchronous"),
    ("asynchronous", "sync"),
    ("asynchronous", "synchronous"),
    ("short", "long"),
    ("light", "dark"),
    ("local", "utc"),
    ("capital", "lower"),
    ("upper", "lower"),
    ("uppercase", "lowercase"),
    ("optional", "mandatory"),
    ("eager", "lazy"),
    ("squash", "rebase"),
    ("merge", "rebase"),
    ("mutable", "immutable"),
    ("implicit", "explicit"),
    ("manual", "automatic"),
    ("manually", "automatically"),
    ("terse", "verbose"),
    ("concise", "detailed"),
];

const NUMBERS: &[(&str, &str)] = &[
    ("one", "1"),
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

/// Stands before the target of a link; no text holds it.
const TARGET: char = '\u{1}';

/// The longest statement that is read, in words.
const MOST: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Fits anything.
    Weak,
    /// Carries the statement.
    Plain,
    /// A number, a version, a date.
    Number,
    /// A path, a host, a name in code.
    Value,
    /// Where a link leads to: two of them are two places, no conflict.
    Target,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// Stands for the word's stem, or for a value as it is.
    pub(super) key: u64,
    pub(super) weight: f64,
    pub(super) role: Role,
    pub(super) denied: bool,
    /// Whether it is what the sentence begins with.
    pub(super) first: bool,
    /// The key of the word before it, whatever that is.
    pub(super) after: u64,
    /// Whether that word leads up to it: "is", "in", "use".
    pub(super) linked: bool,
}

impl Word {
    pub(super) fn is_value(&self) -> bool {
        matches!(self.role, Role::Number | Role::Value | Role::Target)
    }
}

/// The table of opposites in both directions.
static AGAINST: LazyLock<BTreeMap<u64, Vec<u64>>> = LazyLock::new(|| {
    let mut table: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (one, other) in OPPOSITES {
        let (one, other) = (key(&stem(one)), key(&stem(other)));
        table.entry(one).or_default().push(other);
        table.entry(other).or_default().push(one);
    }
    table
});

/// Words that a word excludes.
pub(super) fn opposites(key: u64) -> &'static [u64] {
    AGAINST.get(&key).map_or(&[], Vec::as_slice)
}

/// A number in a word's place: comparing is what takes the time.
fn key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

pub(super) fn read(text: &str) -> Wording {
    let mut words: BTreeMap<u64, Word> = BTreeMap::new();
    let mut heads = Vec::new();
    let mut exclusive = true;
    let mut denied = false;
    let mut wants_head = false;
    let mut prefers = false;
    let mut clause: Vec<u64> = Vec::new();
    let mut only = false;
    let mut excepts = false;
    let mut after = 0;
    let mut linked = false;
    for (at, token) in tokens(text).into_iter().take(MOST).enumerate() {
        let plain = token.text.as_str();
        only |= plain == "only";
        excepts |= EXCEPT.contains(&plain);
        if at == 0 && ADDITIVE.contains(&plain) {
            exclusive = false;
        }
        if DENY.contains(&plain) || (plain == "over" && prefers) {
            denied = true;
            wants_head = true;
            prefers = false;
        } else if DENIED.contains(&plain) && !denied {
            for key in &clause {
                if let Some(word) = words.get_mut(key) {
                    word.denied = true;
                }
            }
            heads.append(&mut clause);
        } else if token.code || !STOP.contains(&plain) {
            prefers |= plain.starts_with("prefer");
            let word = Word {
                after,
                linked,
                ..word(&token, denied, at == 0)
            };
            if word.role != Role::Weak {
                if wants_head {
                    wants_head = false;
                    heads.push(word.key);
                }
                clause.push(word.key);
            }
            // What is said twice, once denied and once not, is not denied.
            words.entry(word.key).or_insert(word).denied &= word.denied;
        }
        after = key(plain);
        linked = STOP.contains(&plain) || WEAK.contains(&plain);
        if token.ends_clause {
            denied = false;
            wants_head = false;
            clause.clear();
        }
    }
    Wording {
        weight: words.values().map(|word| word.weight).sum(),
        words: words.into_values().collect(),
        heads,
        exclusive,
        only,
        excepts,
    }
}

fn word(token: &Token, denied: bool, first: bool) -> Word {
    let plain = token.text.as_str();
    let marked = |c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '_' | '+' | '=');
    let weak = WEAK.contains(&plain);
    let (role, weight) = if token.target {
        (Role::Target, 1.2)
    } else if plain.starts_with(|c: char| c.is_ascii_digit()) {
        (Role::Number, 1.2)
    } else if plain.contains(marked) || (token.code && !weak) {
        (Role::Value, 1.2)
    } else if weak {
        (Role::Weak, 0.3)
    } else {
        (Role::Plain, 1.0)
    };
    let key = match role {
        Role::Number | Role::Value | Role::Target => key(plain),
        Role::Weak | Role::Plain => key(&stem(plain)),
    };
    Word {
        key,
        weight,
        role,
        denied,
        first,
        after: 0,
        linked: false,
    }
}

struct Token {
    text: String,
    code: bool,
    target: bool,
    ends_clause: bool,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut in_code = false;
    // The words of a link, and where it leads to.
    let text = text.replace("](", &format!(" {TARGET}"));
    for piece in text.split_whitespace() {
        let code = in_code || piece.starts_with('`') || piece.starts_with("(`");
        if piece.matches('`').count() % 2 == 1 {
            in_code = !in_code;
        }
        let ends = piece.trim_end_matches(['`', '"', '\'', ')', '*']);
        let ends_clause = ends.ends_with([',', ';', '.', ':', '!', '?']);
        let bare = piece
            .trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '_' | '+')))
            .to_lowercase()
            .replace(['\'', '’', '`', '*'], "");
        let bare = ["https://", "http://"]
            .into_iter()
            .find_map(|scheme| bare.strip_prefix(scheme))
            .unwrap_or(&bare);
        let bare = bare.strip_prefix("www.").unwrap_or(bare);
        let whole =
            bare.contains(['/', '.', '_', '+', '=']) || bare.contains(|c: char| c.is_ascii_digit());
        let parts: Vec<&str> = if whole {
            vec![bare.trim_end_matches('/')]
        } else {
            bare.split(['-', '\u{2013}', '\u{2014}', ':']).collect()
        };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let number = NUMBERS.iter().find(|(word, _)| *word == part);
            found.push(Token {
                text: number.map_or(part, |(_, digit)| digit).to_owned(),
                code,
                target: piece.starts_with(TARGET),
                ends_clause: false,
            });
        }
        if ends_clause && let Some(last) = found.last_mut() {
            last.ends_clause = true;
        }
    }
    found
}

/// Endings of words, the longer ones first.
const ENDINGS: &[&str] = &[
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ies", "ied", "ed", "es",
    "s", "e", "y",
];

/// A word without its most common endings; the same for both sides is all
/// that is asked of it.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let cut = ENDINGS
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= 3))
        .unwrap_or(word);
    let bytes = cut.as_bytes();
    let doubled = bytes.len() > 3
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && !matches!(bytes[bytes.len() - 1], b's' | b'l' | b'e' | b'o');
    let cut = if doubled { &cut[..cut.len() - 1] } else { cut };
    cut.strip_suffix(['e', 'y'])
        .filter(|stem| stem.len() >= 3)
        .unwrap_or(cut)
        .to_owned()
}
