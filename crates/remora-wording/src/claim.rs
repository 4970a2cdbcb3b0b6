//! What a sentence asks for: for or against, which words, which number, which
//! of several things that exclude each other. English only; what is not
//! understood asks for nothing.

mod choice;
mod number;

use super::words::{
    List, Token, hash_word, is_empty, is_forbidden, is_negation, split_tokens, stem_word,
};

pub(super) use choice::Choice;
pub(super) use number::{Bound, Number};

/// For or against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    For,
    Against,
}

/// Whether a sentence holds always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applicability {
    Always,
    /// Only when or if something; the condition is not compared.
    Sometimes,
    /// Unless or except; the exception is not compared.
    Unless,
    /// With an exception that may be anywhere in it.
    Mostly,
}

/// How much a sentence sounds like a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    /// It may describe anything.
    Tale,
    /// It begins with the very thing, as an order without `use` does.
    Order,
    /// It says must, never, use, or names a thing and its value.
    Rule,
}

/// One thing that a sentence asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatementClaim {
    pub(super) side: Side,
    /// Weighty words, as stems, in order.
    pub(super) core: Vec<String>,
    /// A hash of these words, in any order.
    pub(super) key: u64,
    /// The same words as they were written, for messages.
    pub(super) named: String,
    /// What is to be done with them, by group: use, add, run.
    pub(super) verb: Option<&'static str>,
    pub(super) holds: Applicability,
    /// `never` or `always`, or a word as strong.
    pub(super) strict: bool,
    /// How much the sentence sounds like a rule.
    pub(super) tone: Tone,
    /// Order of words matters: before, after, to.
    pub(super) ordered: bool,
    pub(super) number: Option<Number>,
    /// The word of a set of things that exclude each other.
    pub(super) choice: Option<Choice>,
}

/// A longer sentence is an essay, not a rule; in bytes.
const MAX_CLAIM_BYTES: usize = 300;

/// Words that turn a sentence around, in addition to those that deny.
static OMISSION_VERBS: List = List::new(&["refrain skip omit forget ignore exclude bypass"]);
/// Words that leave no way out.
static STRICT_WORDS: List = List::new(&["never always must forbidden prohibited banned every"]);
/// Words of sentences that describe the past or only show an example.
static NON_RULE_WORDS: List = List::new(&[
    "previously previous prior formerly was were had deprecated migrated historically originally",
    "bad wrong incorrect example might perhaps maybe sometimes unclear considering todo fixme",
]);
/// Why something is so, which is not compared.
const REASON_WORDS: &[&str] = &["because", "since", "otherwise"];
const CONDITION_WORDS: &[&str] = &["when", "if", "whenever", "where", "while", "once"];
const EXCEPTION_WORDS: &[&str] = &["unless", "except", "until"];
const MODAL_WORDS: &[&str] = &["should", "shall", "only", "required", "allowed", "ensure"];
/// Before `not`, these describe how things are instead of forbidding them.
const DESCRIPTIVE_VERBS: &[&str] = &[
    "does", "did", "is", "are", "has", "have", "will", "would", "could", "may", "it's",
];
const ORDER_WORDS: &[&str] = &[
    "before", "after", "to", "from", "into", "over", "then", "onto", "between",
];

const VERB_GROUPS: &[(&str, &[&str])] = &[
    (
        "use",
        &[
            "use", "using", "prefer", "favor", "favour", "choose", "employ", "adopt", "apply",
            "follow", "stick",
        ],
    ),
    (
        "add",
        &[
            "write", "add", "include", "put", "create", "insert", "place",
        ],
    ),
    ("run", &["run", "execute", "invoke"]),
    ("keep", &["keep", "leave", "limit"]),
];

/// Whether a statement only asks, describes the past, shows an example or links
/// elsewhere.
pub(super) fn is_tale(text: &str) -> bool {
    let words = split_tokens(&without_brackets(text));
    let past = words.windows(2).any(|w| {
        matches!(
            (w[0].text.as_str(), w[1].text.as_str()),
            ("used", "to") | ("has" | "have", "been") | ("not", "just" | "only" | "yet")
        )
    });
    let shows = |w: &Token| !w.code && NON_RULE_WORDS.contains_stem(&stem_word(&w.text));
    let link = text.starts_with('[') && text.contains("](");
    past || link || text.trim_end().ends_with('?') || words.iter().any(shows)
}

/// Words that need another one to say what they are of.
static VAGUE_WORDS: List = List::new(&[
    "default defaults value type size count total number range limit version length level width",
    "height maximum minimum min max amount rate",
]);

/// Whether a stem says too little by itself.
pub(super) fn is_vague(stemmed: &str) -> bool {
    VAGUE_WORDS.contains_stem(stemmed)
}

fn is_against(word: &Token) -> bool {
    is_negation(&word.text)
        || is_forbidden(&word.text)
        || OMISSION_VERBS.contains_stem(&stem_word(&word.text))
}

/// What a statement asks for.
pub(super) fn parse_claims(text: &str) -> Vec<StatementClaim> {
    if text.len() > MAX_CLAIM_BYTES {
        return Vec::new();
    }
    text.split("; ").flat_map(read_part).collect()
}

fn read_part(text: &str) -> Vec<StatementClaim> {
    let text = without_brackets(text);
    let mut words = with_commas(split_tokens(&text));
    let find = |words: &[Token], list: &[&str]| {
        let mut words = words.iter();
        words.position(|w| !w.code && list.contains(&w.text.as_str()))
    };
    // Two rules with different reasons are still the same rule.
    if let Some(at) = find(&words, REASON_WORDS) {
        words.truncate(at);
    }
    let mut holds = match find(&words, &["only"]) {
        Some(_) => Applicability::Mostly,
        None => Applicability::Always,
    };
    for (list, weaker) in [
        (EXCEPTION_WORDS, Applicability::Unless),
        (CONDITION_WORDS, Applicability::Sometimes),
    ] {
        let Some(at) = find(&words, list) else {
            continue;
        };
        // "When x, do y": without a parser the end of the condition is unknown, so the whole
        // sentence is left out.
        if at == 0 {
            return Vec::new();
        }
        words.truncate(at);
        if holds == Applicability::Always {
            holds = weaker;
        }
    }
    // After an enumeration, `without` may apply to all of it.
    let listed = words.iter().any(|w| w.text == ",") && words.iter().any(|w| w.text == "without");
    if listed {
        holds = Applicability::Mostly;
    }
    let rule = sounds_like_a_rule(&text, &words);
    // With two numbers it is unclear which one the sentence is about.
    let single = words.iter().filter(|w| number::is_number(w)).count() == 1;
    let mut claims: Vec<StatementClaim> = Vec::new();
    for (at, (clause, contrast)) in split_clauses(&words).into_iter().enumerate() {
        let mut clause = clause.to_vec();
        let begins = clause
            .iter()
            .map(|w| stem_word(&w.text))
            .find(|root| !is_empty(root));
        // A number in an aside belongs to something else.
        let counts = single && at == 0 && !contrast;
        let number = if counts {
            number::remove_number(&mut clause)
        } else {
            None
        };
        let Some(mut claim) = parse_claim(&clause, holds, number) else {
            continue;
        };
        claim.tone = match begins {
            _ if rule => Tone::Rule,
            Some(root) if at == 0 && claim.core.first() == Some(&root) => Tone::Order,
            _ => Tone::Tale,
        };
        if contrast {
            claim.side = Side::Against;
        }
        // "use tabs, not spaces": the verb of the first clause holds for the second.
        if claim.verb.is_none() {
            claim.verb = claims.first().and_then(|first| first.verb);
        }
        claims.push(claim);
    }
    claims
}

/// Whether a sentence says must or never, begins with something to do, or
/// names a thing and its value.
fn sounds_like_a_rule(text: &str, words: &[Token]) -> bool {
    let said = |w: &Token| {
        !w.code
            && (STRICT_WORDS.contains_stem(&stem_word(&w.text))
                || MODAL_WORDS.contains(&w.text.as_str()))
    };
    let mut first = words.iter().skip_while(|w| {
        ["please", "we", "you", "always", "never", "just"].contains(&w.text.as_str())
    });
    let verb = first.next().is_some_and(|w| {
        let root = stem_word(&w.text);
        is_against(w)
            || VERB_GROUPS
                .iter()
                .any(|(_, verbs)| verbs.iter().any(|v| stem_word(v) == root))
    });
    let label = text
        .split_once(": ")
        .is_some_and(|(label, _)| label.split_whitespace().count() <= 4);
    let forbids = words.iter().enumerate().any(|(at, w)| {
        let before = at.checked_sub(1).map_or("", |at| words[at].text.as_str());
        !w.code && w.text == "not" && !DESCRIPTIVE_VERBS.contains(&before)
    });
    verb || label || forbids || words.iter().any(said)
}

/// The text without parentheses and without what follows a dash: both explain,
/// and neither asks for anything.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    for dash in [" \u{2014} ", " \u{2013} ", " - ", " -- "] {
        if let Some((head, _)) = out.split_once(dash)
            && head.split_whitespace().count() > 2
        {
            out = head.to_owned();
        }
    }
    out
}

/// Every comma as a word of its own.
fn with_commas(words: Vec<Token>) -> Vec<Token> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        let comma = word.mark == Some(',') && !word.code;
        out.push(word);
        if comma {
            out.push(Token {
                text: ",".to_owned(),
                code: false,
                target: false,
                mark: None,
            });
        }
    }
    out
}

/// The parts of a sentence, and whether each is what is NOT wanted: behind
/// `over`, `instead of`, `rather than`, `, not`.
fn split_clauses(words: &[Token]) -> Vec<(&[Token], bool)> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut contrast = false;
    let mut at = 0;
    let word = |at: usize| {
        words
            .get(at)
            .filter(|w| !w.code)
            .map_or("", |w| w.text.as_str())
    };
    while at < words.len() {
        let prefers = start == 0 && ["prefer", "favor", "favour", "choose"].contains(&word(0));
        let (skip, turns) = match (word(at), word(at + 1), word(at + 2)) {
            // The longest form first; shorter ones are part of it.
            (",", "and" | "but", "not" | "never") => (3, true),
            ("instead", "of", _)
            | ("rather", "than", _)
            | (",", "not" | "never" | "no", _)
            | ("and" | "but", "not" | "never", _) => (2, true),
            ("over", ..) if prefers => (1, true),
            (",", "but" | "and", _) => (2, false),
            ("," | "but", ..) => (1, false),
            _ => (0, false),
        };
        if skip > 0 {
            out.push((&words[start..at], contrast));
            contrast = turns;
            start = at + skip;
            at = start;
        } else {
            at += 1;
        }
    }
    out.push((&words[start.min(words.len())..], contrast));
    out
}

fn parse_claim(
    words: &[Token],
    holds: Applicability,
    number: Option<Number>,
) -> Option<StatementClaim> {
    let mut against = 0;
    let mut strict = false;
    let mut ordered = false;
    let mut verb = None;
    let mut core = Vec::new();
    let mut raw = Vec::new();
    for word in words {
        let root = stem_word(&word.text);
        if word.code {
            raw.push(word);
            core.push(root);
            continue;
        }
        strict |= STRICT_WORDS.contains_stem(&root);
        ordered |= ORDER_WORDS.contains(&word.text.as_str());
        if is_against(word) {
            against += 1;
            continue;
        }
        let group = VERB_GROUPS
            .iter()
            .find(|(_, verbs)| verbs.iter().any(|v| stem_word(v) == root));
        if let Some((group, _)) = group {
            verb = verb.or(Some(*group));
            continue;
        }
        if is_empty(&root) || (ORDER_WORDS.contains(&word.text.as_str()) && word.text == "to") {
            continue;
        }
        raw.push(word);
        core.push(root);
    }
    if core.is_empty() && number.is_none() {
        return None;
    }
    // "to" alone orders nothing: "to install", "answer to".
    ordered &= words
        .iter()
        .any(|w| w.text != "to" && ORDER_WORDS.contains(&w.text.as_str()));
    let choice = choice::find_choice(words, &raw, &core);
    let mut sorted = core.clone();
    sorted.sort();
    sorted.dedup();
    Some(StatementClaim {
        key: hash_word(&sorted.join(" ")),
        named: raw
            .iter()
            .map(|w| w.text.as_str())
            .collect::<Vec<_>>()
            .join(" "),
        // "never skip tests" denies twice and asks for tests.
        side: if against % 2 == 0 {
            Side::For
        } else {
            Side::Against
        },
        core,
        verb,
        holds,
        strict,
        tone: Tone::Tale,
        ordered,
        number,
        choice,
    })
}
